"""Turn a submission, a module or a notebook, into a namespace, and call what it defines.

The same code runs in the guest and on a student's laptop, so both give the same verdict. A submission is loaded in
*units*: a module is one, a notebook's code cells are one each. A unit that fails leaves what it defined before, and the
units after it still run.

A statement of a module that raises an exception costs only itself: those after it still run, because an unused import of
a missing package must not cost everything. A cell ends where it fails, as in Jupyter, unless the statement failed for want
of a package or a file, which the student's own machine has. A timeout or `SystemExit` ends any unit.
"""

from __future__ import annotations
import __future__

import ast
import bisect
import dis
import functools
import io
import json
import linecache
import operator
import os
import signal
import sys
import threading
import traceback
import types
import warnings
from collections.abc import Callable, Collection, Iterator
from typing import Any

from autograder.runtime import figures, surroundings, wire

Report = dict[str, Any]
MAX_TEXT = 1000
MAX_FRAMES = 8
MAX_WARNINGS = 20
FILE = "<submission>"
# A guest's limit is on processor time; by the clock it gets this many times as much, for a busy machine is slow.
WAITING_SHARE = 3
CHANGED = "the function changes its argument in place; work on a copy"

MAX_PROBLEMS = 50
MAX_NAMES = 5000  # `from pylab import *` alone brings a thousand
IGNORED = "Ignored"  # the type of a report about what has no effect here; it is no error
_FUTURE = functools.reduce(operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))


# Set while a submission is loaded: `check` cells in it then have nothing to do.
loading_now = False


class TimeUp(BaseException):
    """The time of a call or unit is over; no `Exception`, so that a broad `except` does not swallow it."""


class time_limit:
    """Raises `TimeUp` in the running code after `seconds`, where the platform has timers; the host has its own deadline.

    A context manager as a class: entered for every call, a generator would cost more than the timer.
    """

    _for_good = False
    _seconds = 0.0

    def __init__(self, seconds: float) -> None:
        self._own = seconds
        self._works = time_limit._for_good or (
            hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        )

    @classmethod
    def for_good(cls) -> None:
        """Leave the signals' handlers in place from now on, as a guest does: placing them costs more than the timers.

        The limit is then one of processor time, beside `WAITING_SHARE` times as much by the clock. A laptop's is one of the
        clock alone: its linear algebra may use every core.
        """
        signal.signal(signal.SIGALRM, cls._stop)
        signal.signal(signal.SIGPROF, cls._stop)
        cls._for_good = True

    @staticmethod
    def _stop(number: int, _frame: types.FrameType | None) -> None:
        seconds = time_limit._seconds
        if number == signal.SIGPROF or not time_limit._for_good:
            raise TimeUp(f"did not finish within {seconds:g} s")
        raise TimeUp(f"did not finish within {WAITING_SHARE * seconds:g} s, computing for less than {seconds:g} s of them")

    def __enter__(self) -> None:
        if self._works:
            time_limit._seconds = self._own
            # More alarms follow the first, for code that catches everything once.
            if time_limit._for_good:
                signal.setitimer(signal.ITIMER_PROF, self._own, 0.05)
                signal.setitimer(signal.ITIMER_REAL, WAITING_SHARE * self._own, 0.05)
            else:
                self._previous = signal.signal(signal.SIGALRM, time_limit._stop)
                signal.setitimer(signal.ITIMER_REAL, self._own, 0.05)

    def __exit__(self, *_: object) -> None:
        if self._works:
            signal.setitimer(signal.ITIMER_REAL, 0)
            if time_limit._for_good:
                signal.setitimer(signal.ITIMER_PROF, 0)
            else:
                signal.signal(signal.SIGALRM, self._previous)


def describe_error(error: BaseException, unit: str = "") -> Report:
    """What a student needs to know of an exception of theirs: its type, text, and the lines of their own that led to it."""
    try:
        message = str(error)
    except BaseException:
        message = "(its message could not be read)"
    # Mapping to the built-in base lets a test expect ValueError of a subclass; NotImplementedError is the stub's own.
    bases = [base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins"]
    where = [
        f"{_unit_of(frame.filename)}line {frame.lineno}, in {frame.name}: {(frame.line or '').strip()}"[:MAX_TEXT]
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(FILE)
    ][-MAX_FRAMES:]
    if isinstance(error, SyntaxError) and (error.filename or "").startswith(FILE):
        where = [f"{_unit_of(error.filename or '')}line {error.lineno}: {(error.text or '').strip()}"[:MAX_TEXT]]
        message = error.msg
    return {
        "type": type(error).__name__[:100],
        "bases": bases,
        "message": message[:MAX_TEXT],
        "where": where,
        "unit": unit,
    }


def _unit_of(filename: str) -> str:
    unit = filename.removeprefix(FILE).strip()
    return f"{unit}, " if unit else ""


def load(
    filename: str,
    source: bytes,
    *,
    seconds: float = 60.0,
    definitions_only: Collection[str] = (),
    on_unit: Callable[[str], None] = lambda unit: None,
) -> tuple[dict[str, Any], Report]:
    """Run a submission and return its namespace and a report: `problems`, a list of errors, and `names` it defined.

    `filename`, with or without a folder, tells the form (`.ipynb` or `.py`); `source` is the file's bytes; `seconds` bounds
    each unit. A unit named in `definitions_only` hung or ended the process before: of it, only imports, functions, classes
    and constants are run. Nobody is there meanwhile to answer `input()` or to look at figures.
    """
    path = os.path.abspath(filename)
    problems = _Problems()
    global loading_now
    loading_now = True
    sys.modules.setdefault("autograder.kit", _kit_stand_in())
    with surroundings.unattended(path):
        load_form = _load_notebook if filename.endswith(".ipynb") else _load_module
        namespace, given = load_form(path, source, seconds, definitions_only, on_unit, problems)
    loading_now = False
    names = [name for name, value in namespace.items() if name not in given and name[:1] != "_" and not _is_future(value)]
    return namespace, {"problems": problems.reports, "names": [name[:100] for name in names[-MAX_NAMES:]]}


def _is_future(value: object) -> bool:
    """Whether this is what a `from __future__` import defines, which nobody means as a name."""
    return type(value) is __future__._Feature


Loaded = tuple[dict[str, Any], set[str]]  # the namespace, and the names in it that are not the submission's own


class _Problems:
    """What went wrong while a submission was loaded. An error is reported once, and not again by what depended on it."""

    def __init__(self) -> None:
        self.reports: list[Report] = []
        self._lost: set[str] = set()

    def add(self, unit: str, error: BaseException, code: types.CodeType | None = None) -> bool:
        """Report an error of the statement `code`; returns whether it comes from what is absent here."""
        follows = isinstance(error, NameError) and error.name in self._lost
        if code is not None:
            self._lost.update(_stored(code))
        if not follows and len(self.reports) < MAX_PROBLEMS:
            self.reports.append(describe_error(error, unit))
        return follows or isinstance(error, ImportError | OSError)

    def ignored(self, what: str, unit: str) -> None:
        """Report something that has no effect here."""
        if len(self.reports) < MAX_PROBLEMS:
            message = f"ignored in {unit}: {what}"
            self.reports.append({"type": IGNORED, "bases": [], "message": message, "where": [], "unit": unit})


def _stored(code: types.CodeType) -> Iterator[str]:
    """The names that a statement would have defined."""
    return (step.argval for step in dis.get_instructions(code) if step.opname in ("STORE_NAME", "STORE_GLOBAL"))


def _load_module(
    path: str,
    source: bytes,
    seconds: float,
    definitions_only: Collection[str],
    on_unit: Callable[[str], None],
    problems: _Problems,
) -> Loaded:
    module = types.ModuleType(os.path.basename(path).removesuffix(".py"))
    sys.modules[module.__name__] = module
    namespace = module.__dict__
    namespace["__file__"] = path
    given = set(namespace)
    on_unit("")
    try:
        text = io.StringIO(source.decode("utf-8", "replace")).readlines()
        linecache.cache[FILE] = (len(source), None, text, FILE)
        with time_limit(seconds):
            _run_module(source, namespace, bool(definitions_only), problems)
    except BaseException as error:
        problems.add("", error)
    return namespace, given


def _run_module(source: bytes, namespace: dict[str, Any], definitions_only: bool, problems: _Problems) -> None:
    """Run a module as a whole; if that fails, run what follows the failed statement one by one."""
    code: Any = compile(source, FILE, "exec", dont_inherit=True)  # without this module's own `from __future__` imports
    future = code.co_flags & _FUTURE
    statements: list[ast.stmt] = []
    if definitions_only:
        statements = list(filter(_is_definition, _parsed(source).body))
    else:
        try:
            exec(code, namespace)
        except Exception as error:
            body = _parsed(source).body
            failed = _failed_statement(body, error, code)
            problems.add("", error, _compiled(body[failed], future))
            statements = body[failed + 1 :]
    for statement in statements:
        code = _compiled(statement, future)
        try:
            exec(code, namespace)
        except Exception as error:
            problems.add("", error, code)


def _parsed(source: bytes) -> ast.Module:
    tree = compile(source, FILE, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    return tree


def _compiled(statement: ast.stmt, future: int) -> types.CodeType:
    # A text that stands alone is not the module's docstring.
    first = ast.copy_location(ast.Pass(), statement)
    code: types.CodeType = compile(ast.Module([first, statement], []), FILE, "exec", future, dont_inherit=True)
    return code


def _failed_statement(body: list[ast.stmt], error: BaseException, code: types.CodeType) -> int:
    """The index of the statement of a module's body at which its code was when `error` left it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is not code:
        trace = trace.tb_next
    line, _, column, _ = list(code.co_positions())[trace.tb_lasti // 2] if trace is not None else (None,) * 4
    place = (line or 0, column or 0)
    # Decorators stand above the line that a definition begins in.
    starts = [min((node.lineno, node.col_offset) for node in [one, *getattr(one, "decorator_list", [])]) for one in body]
    return max(bisect.bisect_right(starts, place) - 1, 0)


def _load_notebook(
    path: str,
    source: bytes,
    seconds: float,
    definitions_only: Collection[str],
    on_unit: Callable[[str], None],
    problems: _Problems,
) -> Loaded:
    try:
        cells = code_cells(source)
        from autograder.runtime import notebook
    except ImportError:
        problems.add("", ImportError("a notebook needs IPython, which Jupyter brings: pip install jupyterlab"))
        return {}, set()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        problems.add("", ValueError(f"this is not a notebook that can be read: {error}"))
        return {}, set()
    shell = notebook.new_shell()
    shell.be_the_shell()
    namespace: dict[str, Any] = shell.user_ns
    given = set(namespace)
    for unit, text in cells:
        on_unit(unit)
        shell.on_error = functools.partial(problems.add, unit)
        shell.on_ignored = functools.partial(problems.ignored, unit=unit)
        try:
            with time_limit(seconds):
                shell.run(f"{FILE} {unit}", text, keep=_is_definition if unit in definitions_only else None)
        except BaseException as error:
            problems.add(unit, error)
        # As Jupyter does after each cell: the next one draws a figure of its own.
        surroundings.close_figures()
    return namespace, given


def _is_definition(node: ast.stmt) -> bool:
    """Whether this is run of a unit that hung or ended the process."""
    constant = isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant)
    return constant or isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def code_cells(source: bytes) -> list[tuple[str, str]]:
    """The code cells of a notebook, each with its name. Numbers count all cells, as a reader does."""
    notebook = json.loads(source.decode("utf-8-sig"))
    if notebook.get("nbformat") != 4:
        raise ValueError("its format is not nbformat 4; open it in Jupyter and save it again")
    cells = []
    for number, cell in enumerate(notebook["cells"], start=1):
        if cell["cell_type"] == "code":
            text = cell["source"]
            cells.append((f"cell {number}", text if isinstance(text, str) else "".join(text)))
    return cells


def _kit_stand_in() -> types.ModuleType:
    """What `from autograder.kit import check, draw` finds where the kit is not: in the guest, which holds no tests."""

    def check(*_arguments: object, **_options: object) -> None:
        """Does nothing; the grader runs the tests."""

    kit = types.ModuleType("autograder.kit")
    kit.check = kit.draw = kit.cell_points = check  # type: ignore[attr-defined]
    return kit


Receive = Callable[[], tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]


def invoke(receive: Receive, sent: bytes, seconds: float, *, repeat: bool) -> tuple[list[wire.Encoded], list[str]]:
    """Call a student's function, twice with `repeat`; `receive` looks it up anew each time and makes its arguments anew.

    `sent` is the header of the arguments as they came. Returns the answers, encoded at once so that a later call cannot
    change them (one, if both are the same to the bit), and the texts of the warnings of the last call. The function's
    exceptions pass through; `ValueError` if it changed an argument.
    """
    answers: list[wire.Encoded] = []
    for _ in range(2 if repeat else 1):
        function, args, kwargs = receive()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with time_limit(seconds):
                value = function(*args, **kwargs)
        # The numbers of arrays cannot be changed; all else is compared with what it was. A function among the arguments
        # is not what was sent for it, so then they are made once more.
        after = wire.encode((args, kwargs))[0]
        if after != sent and after != wire.encode(receive()[1:])[0]:
            raise ValueError(CHANGED)
        answer = wire.Encoded.of(value)
        figures.close(value)
        if answer not in answers:
            answers.append(answer)
    texts = [f"{warning.category.__name__}: {warning.message}"[:MAX_TEXT] for warning in caught[:MAX_WARNINGS]]
    return answers, texts
