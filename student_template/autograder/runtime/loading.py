"""Turn a submission, a module or a notebook, into a namespace, and call what it defines.

The same code runs in the guest and on a student's laptop, so both give the same verdict. A submission is loaded in
*units*: a module is one, a notebook's code cells are one each. A unit that fails leaves what it defined before, and the
units after it still run.
"""

from __future__ import annotations

import ast
import builtins
import io
import json
import linecache
import re
import signal
import sys
import threading
import traceback
import types
import warnings
from collections.abc import Callable, Collection
from typing import Any

from autograder.runtime import figures, wire

Report = dict[str, Any]
MAX_TEXT = 1000
MAX_FRAMES = 8
MAX_WARNINGS = 20
FILE = "<submission>"
# A guest's limit is on processor time; by the clock it gets this many times as much, for a busy machine is slow.
WAITING_SHARE = 3
CHANGED = "the function changes its argument in place; work on a copy"

# Cell magics whose body is ordinary Python; cells with any other one are not Python and are passed over.
_BODY_MAGICS = {"time", "timeit", "capture", "prun"}
_ASSIGNED_MAGIC = re.compile(r"^(\s*[\w, ]+=\s*)[!%].*$")
_TIMED_LINE = re.compile(r"^(\s*)%time\s+(?=\S)")
_MAGIC_LINE = re.compile(r"^(\s*)([!%?].*|[\w.]+\?{1,2})$")


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
    keep_input: bool = True,
) -> tuple[dict[str, Any], Report]:
    """Run a submission and return its namespace and a report: `problems`, a list of errors, and `names` it defined.

    `filename` tells the form (`.ipynb` or `.py`); `source` is the file's bytes; `seconds` bounds each unit. A unit named in
    `definitions_only` hung or ended the process before: of it, only imports, functions, classes and constants are run.
    `input()` answers with nothing while the submission loads, and ever after unless `keep_input`.
    """
    notebook = filename.endswith(".ipynb")
    module = types.ModuleType("__main__" if notebook else filename.rpartition("/")[2].removesuffix(".py"))
    namespace = module.__dict__
    if not notebook:
        sys.modules[module.__name__] = module
    namespace.update(_notebook_names() if notebook else {})
    asks, builtins.input = builtins.input, _no_input
    given = set(namespace)
    problems: list[Report] = []
    try:
        units = code_cells(source) if notebook else [("", source)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        units = []
        problems.append({**describe_error(error), "message": f"this is not a notebook that can be read: {error}"[:MAX_TEXT]})
    global loading_now
    loading_now = True
    sys.modules.setdefault("autograder.kit", _kit_stand_in())
    for unit, text in units:
        on_unit(unit)
        try:
            _run_unit(unit, text, namespace, seconds, unit in definitions_only)
        except BaseException as error:
            problems.append(describe_error(error, unit))
    loading_now = False
    if keep_input:
        builtins.input = asks
    names = [name for name in namespace if name not in given and not name.startswith("_")]
    return namespace, {"problems": problems[:50], "names": [name[:100] for name in names[:500]]}


def _run_unit(unit: str, text: bytes | str, namespace: dict[str, Any], seconds: float, definitions_only: bool) -> None:
    filename = f"{FILE} {unit}".strip()
    if unit and isinstance(text, str):
        text = _without_magics(text)
    # Without this module's own `from __future__` imports.
    code = compile(_definitions_of(text, filename) if definitions_only else text, filename, "exec", dont_inherit=True)
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    linecache.cache[filename] = (len(shown), None, io.StringIO(shown).readlines(), filename)
    with time_limit(seconds):
        exec(code, namespace)


def _definitions_of(text: bytes | str, filename: str) -> ast.Module:
    """What is run of a unit that hung or ended the process: imports, functions, classes and constants."""
    tree = compile(text, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    tree.body = [node for node in tree.body if _is_definition(node)]
    return tree


def _is_definition(node: ast.stmt) -> bool:
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


def _without_magics(text: str) -> str:
    """Blank out what only IPython understands, keeping line numbers; text that is plain Python stays as it is."""
    first, _, body = text.lstrip().partition("\n")
    if first.startswith("%%"):
        if not set(first[2:].split()[:1]) & _BODY_MAGICS:
            return ""
        # A blank line stands for the magic, so that line numbers stay right.
        text = f"\n{body}"
    try:
        ast.parse(text)
        return text
    except (SyntaxError, ValueError):
        lines = [_ASSIGNED_MAGIC.sub(r"\1None", _TIMED_LINE.sub(r"\1", line)) for line in text.split("\n")]
        return "\n".join(_MAGIC_LINE.sub(r"\1pass", line) for line in lines)


def _no_input(prompt: object = "") -> str:
    """Stands in for `input()`: nobody sits at a grader's keyboard."""
    return ""


def _notebook_names() -> dict[str, Any]:
    def display(*_values: object, **_options: object) -> None:
        """IPython's `display`; there is no page to show anything on."""

    return {"display": display, "get_ipython": lambda: None}


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
