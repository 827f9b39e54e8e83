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
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Collection, Iterator
from typing import Any

from autograder.runtime import figures, surroundings, wire
from autograder.runtime.time_limit import time_limit

Report = dict[str, Any]
MAX_TEXT = 1000
MAX_FRAMES = 8
MAX_WARNINGS = 20
FILE = "<submission>"
CHANGED = "the function changes its argument in place; work on a copy"

# Brackets and commas of a notebook: a list of nothing takes 80 bytes for its three, a number 40 for its two.
MAX_CONTAINERS, MAX_ITEMS = 250_000, 2_000_000
MAX_PROBLEMS = 50
MAX_NAMES = 5000  # `from pylab import *` alone brings a thousand
IGNORED = "Ignored"  # the type of a report about what has no effect here; it is no error
_FUTURE = functools.reduce(operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))


# Set while a submission is loaded: `check` cells in it then have nothing to do.
loading_now = False


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
        # Another version of Python may read it.
        message = (
            error.msg if type(error) is not SyntaxError else "{} (in Python {}.{})".format(error.msg, *sys.version_info)
        )
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
    namespace: dict[str, Any] = {}
    given: set[str] = set()
    with surroundings.unattended(path):
        try:
            form = _Notebook(source) if filename.endswith(".ipynb") else _Module(path, source)
            namespace, given = form.namespace, set(form.namespace)
            for unit in form.units:
                on_unit(unit)
                try:
                    with time_limit(seconds):
                        form.run(unit, problems, definitions_only=unit in definitions_only)
                except BaseException as error:
                    problems.add(unit, error)
        except NoNotebook as error:
            problems.add("", error)
    loading_now = False
    names = [name for name, value in namespace.items() if name not in given and name[:1] != "_" and not _is_future(value)]
    return namespace, {"problems": problems.reports, "names": [name[:100] for name in names[-MAX_NAMES:]]}


def _is_future(value: object) -> bool:
    """Whether this is what a `from __future__` import defines, which nobody means as a name."""
    return type(value) is __future__._Feature


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


class _Module:
    """A module: a single unit, whose name is empty."""

    units = ("",)

    def __init__(self, path: str, source: bytes) -> None:
        module = types.ModuleType(os.path.basename(path).removesuffix(".py"))
        sys.modules[module.__name__] = module
        self.namespace = module.__dict__
        self.namespace["__file__"] = path
        self._source = source
        text = io.StringIO(source.decode("utf-8", "replace")).readlines()
        linecache.cache[FILE] = (len(source), None, text, FILE)

    def run(self, unit: str, problems: _Problems, *, definitions_only: bool) -> None:
        """Run the module as a whole; if that fails, run what follows the failed statement one by one."""
        # Without this module's own `from __future__` imports.
        code: Any = compile(self._source, FILE, "exec", dont_inherit=True)
        future = code.co_flags & _FUTURE
        statements: list[ast.stmt] = []
        if definitions_only:
            statements = list(filter(_is_definition, _parsed(self._source).body))
        else:
            try:
                exec(code, self.namespace)
            except Exception as error:
                body = _parsed(self._source).body
                failed = _failed_statement(body, error, code)
                problems.add(unit, error, _compiled(body[failed], future))
                statements = body[failed + 1 :]
        for statement in statements:
            code = _compiled(statement, future)
            try:
                exec(code, self.namespace)
            except Exception as error:
                problems.add(unit, error, code)


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
    starts = [
        min((node.lineno, node.col_offset) for node in [statement, *getattr(statement, "decorator_list", [])])
        for statement in body
    ]
    return max(bisect.bisect_right(starts, place) - 1, 0)


class NoNotebook(ValueError):
    """A notebook cannot be run, and why."""


class _Notebook:
    """A notebook, whose units are its code cells. Raises `NoNotebook` if it cannot be read, or if there is no IPython."""

    def __init__(self, source: bytes) -> None:
        try:
            self._cells = dict(code_cells(source))
            from autograder.runtime import notebook
        except ImportError:
            raise NoNotebook("a notebook needs IPython, which Jupyter brings: pip install jupyterlab") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise NoNotebook(f"this is not a notebook that can be read: {error}") from None
        self.units = tuple(self._cells)
        self._shell = notebook.new_shell()
        self._shell.be_the_shell()
        self.namespace: dict[str, Any] = self._shell.user_ns

    def run(self, unit: str, problems: _Problems, *, definitions_only: bool) -> None:
        """Run a cell."""
        self._shell.on_error = functools.partial(problems.add, unit)
        self._shell.on_ignored = functools.partial(problems.ignored, unit=unit)
        try:
            self._shell.run(f"{FILE} {unit}", self._cells[unit], keep=_is_definition if definitions_only else None)
        finally:
            # As Jupyter does after each cell: the next one draws a figure of its own.
            surroundings.close_figures()


def _is_definition(node: ast.stmt) -> bool:
    """Whether this is run of a unit that hung or ended the process."""
    constant = isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant)
    return constant or isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def parsed(notebook: bytes) -> Any:
    """A notebook as the JSON that it is. `ValueError` for one that would take far more memory than its size."""
    if notebook.count(b"[") + notebook.count(b"{") > MAX_CONTAINERS or notebook.count(b",") > MAX_ITEMS:
        raise ValueError("it holds millions of values; clear its outputs and save it again")
    return json.loads(notebook.decode("utf-8-sig"))


def code_cells(source: bytes) -> list[tuple[str, str]]:
    """The code cells of a notebook, each with its name. Numbers count all cells, as a reader does."""
    notebook = parsed(source)
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
    kit.check = kit.draw = kit.souvenir = kit.cell_points = check  # type: ignore[attr-defined]
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
