"""Runs the cells of a notebook as Jupyter does: in IPython's own shell, cut off from everything outside the notebook.

Input transformers, magics, top-level `await` and `__future__` imports are IPython's own. History, profiles, extensions,
completion and the display of results are off. Shell commands, and magics that would reach outside, do nothing; each is
reported once. Importing this module imports IPython, so `loading` imports it only for notebooks.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import re
import sys
import tempfile
import types
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, needs_local_scope, no_var_expand
from IPython.core.profiledir import ProfileDir
from IPython.display import display
from IPython.utils.text import SList
from traitlets.config import Config

from autograder.runtime.event_loop import SocketlessLoop

# Called with an error and the code object that raised it, if any; returns whether the following statements are run.
OnError = Callable[[BaseException, types.CodeType | None], bool]
OnIgnored = Callable[[str], None]

# Magics of IPython that need nothing outside the notebook. All its others are ignored; those that a student registers run.
_LINE_MAGICS = """
    alias_magic autoawait autocall automagic cd colors config env lsmagic matplotlib pdb pprint precision prun pwd pylab
    reset reset_selective run set_env sx system time timeit who who_ls whos xdel xmode
"""
_CELL_MAGICS = "! HTML SVG capture file html javascript js latex markdown prun svg sx system time timeit writefile"
_KEPT = {"line": set(_LINE_MAGICS.split()), "cell": set(_CELL_MAGICS.split())}
# These only show help to a person.
_HELP = {"page", "pdef", "pdoc", "pfile", "pinfo", "pinfo2", "psearch", "psource", "quickref"}
# The body of these runs as an ordinary cell.
_TRANSPARENT = {"capture", "prun", "time"}
_TIMEIT_COUNTS = re.compile(r"(?<!\S)-[nr]\s*\d+\s*")


class _Compiler(CachingCompiler):
    """Names each cell's code after the cell."""

    filename = ""

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return self.filename


class _Results(DisplayHook):
    """Keeps a cell's result in `_` and `Out` without showing it."""

    def __call__(self, result: object = None) -> None:
        self.check_for_underscore()
        if result is not None and not self.quiet():
            self.update_user_ns(result)
            self.fill_exec_result(result)


class _Publisher(DisplayPublisher):
    """Drops what `display` shows, because there is no page to show it on."""

    def publish(self, *_: object, **__: object) -> None:
        pass


@magics_class
class _Timing(Magics):
    """Replaces IPython's magics of these names: the code runs once, and no times are printed, because they always differ."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._original_timeit = shell.find_line_magic("timeit")

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def time(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        """Run the cell, or evaluate the line."""
        if cell is not None:
            return self.shell.run_cell(cell) and None
        tree = self.shell.compile.ast_parse(self.shell.transform_cell(line))
        if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
            code = self.shell.compile(ast.Expression(tree.body[0].value), "<timed>", "eval")
            return eval(code, self.shell.user_ns, local_ns)
        exec(self.shell.compile(tree, "<timed>", "exec"), self.shell.user_ns, local_ns)
        return None

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def prun(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        """Run the cell or the line without profiling it."""
        _, statement = self.parse_options(line, "D:l:rs:T:q", list_all=True, posix=False)
        self.time(statement, cell, local_ns)

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def timeit(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        """IPython's own, with a single run."""
        return self._original_timeit(f"-n1 -r1 -q {_TIMEIT_COUNTS.sub('', line)}", cell, local_ns)


class Shell(InteractiveShell):
    """The shell of one notebook, whose namespace is `user_ns`.

    `on_error` is told what cells raise, and decides whether the cell goes on; `on_ignored` is told once of each thing that
    was not done.
    """

    compiler_class = _Compiler
    displayhook_class = _Results
    display_pub_class = _Publisher

    def __init__(self) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        config.HistoryManager.hist_file = ":memory:"
        super().__init__(config=config, user_module=types.ModuleType("__main__"))
        self.db: dict[str, Any] = {}  # where `%cd` notes folders; IPython's own is in a profile
        self.register_magics(_Timing(self))
        self._own_magics = {kind: set(names) for kind, names in self.magics_manager.magics.items()}
        self.loop = SocketlessLoop()
        self.on_error: OnError = lambda error, code: False
        self.on_ignored: OnIgnored = lambda what: None
        self._ignored: set[str] = set()
        self._keep: Callable[[ast.stmt], bool] | None = None
        self._first_line = self._lines_above = 0

    def be_the_shell(self) -> None:
        """Become what `get_ipython()` returns, and make the notebook `__main__`."""
        builtins.display = display  # type: ignore[attr-defined]
        builtins.__IPYTHON__ = True  # type: ignore[attr-defined]
        sys.modules["__main__"] = self.user_module
        for ancestor in type(self)._walk_mro():
            ancestor._instance = self
        asyncio.set_event_loop(self.loop)
        # A notebook imports what lies beside it, such as files that it has written.
        if "" not in sys.path:
            sys.path.insert(0, "")

    def run(self, name: str, text: str, keep: Callable[[ast.stmt], bool] | None = None) -> None:
        """Run a cell whose code is called `name`; with `keep`, only those of its statements."""
        self.compile.filename = name
        self._keep = keep
        self.run_cell(text, store_history=True)

    def run_cell(
        self, raw_cell: str, store_history: bool = False, silent: bool = False, shell_futures: bool = True, **_: object
    ) -> Any:
        """Run a cell in the notebook's event loop, as a kernel does."""
        try:
            transformed, failure = self.transform_cell(raw_cell), None
        except Exception:
            transformed, failure = raw_cell, sys.exc_info()
        coroutine = self.run_cell_async(
            raw_cell,
            store_history=store_history,
            silent=silent,
            shell_futures=shell_futures,
            transformed_cell=transformed,
            preprocessing_exc_tuple=failure,
        )
        if self.loop.is_running():
            result = _finish(coroutine)
        else:
            with _outside_of_loops():
                result = self.loop.run_until_complete(coroutine)
                # Tasks that the cell started go on meanwhile.
                self.loop.run_until_complete(asyncio.sleep(0))
        if result.error_before_exec is not None:
            self.on_error(result.error_before_exec, None)
        self.events.trigger("post_execute")
        if not silent:
            self.events.trigger("post_run_cell", result)
        return result

    def transform_cell(self, raw_cell: str) -> str:
        """IPython's own, with the blank lines that it drops at the top put back, so that line numbers are right."""
        lines = raw_cell.splitlines()
        blank = next((number for number, line in enumerate(lines) if line.strip()), 0)
        self._lines_above = self._first_line + blank
        return "\n" * self._lines_above + str(super().transform_cell(raw_cell))

    def transform_ast(self, node: Any) -> Any:
        if self._keep is not None:
            node.body = [statement for statement in node.body if self._keep(statement) or _is_transparent(statement)]
        return super().transform_ast(node)

    async def run_code(self, code_obj: types.CodeType, result: Any = None, *, async_: bool = False) -> bool:
        """Run one statement; returns whether the cell ends here."""
        try:
            if async_:
                await eval(code_obj, self.user_ns)
            else:
                exec(code_obj, self.user_ns)
        except BaseException as error:
            if result is not None:
                result.error_in_exec = error
            return not self.on_error(error, code_obj)
        return False

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        if self._may_run("line", magic_name) and not (magic_name == "config" and not self._knows(line)):
            return super().run_line_magic(magic_name, line, _stack_depth + 1)
        return None

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
        if not self._may_run("cell", magic_name):
            return None
        above = self._first_line
        self._first_line = self._lines_above + 1
        try:
            return super().run_cell_magic(magic_name, line, cell)
        finally:
            self._first_line = above

    def _may_run(self, kind: str, name: str) -> bool:
        known = self.magics_manager.magics[kind]
        if name in known and (name in _KEPT[kind] or name not in self._own_magics[kind]):
            return True
        if name not in _HELP:
            self._ignore(f"the magic `{'%' if kind == 'line' else '%%'}{name}`")
        return False

    def _knows(self, line: str) -> bool:
        """Whether `%config` can set this: what belongs to a page, such as `InlineBackend`, is not here."""
        name = line.strip().partition(".")[0].split("=")[0].strip()
        return not name or name in {type(part).__name__ for part in self.configurables}

    def _ignore(self, what: str) -> None:
        if what not in self._ignored:
            self._ignored.add(what)
            self.on_ignored(what)

    def system(self, cmd: str) -> None:
        """Run no shell command."""
        self._ignore("shell commands, such as lines with `!`")

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """Run no shell command, so that there is no output."""
        self.system(cmd)
        return SList() if split else ""

    system_raw = system_piped = system

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str | None, str]:
        """Leave figures where they are: nothing shows them."""
        return gui, "agg"

    def enable_gui(self, gui: str | None = None) -> None:
        """Start no window system."""

    def ask_exit(self) -> None:
        """`exit` and `quit`."""
        raise SystemExit

    def showtraceback(self, *_: object, **__: object) -> None:
        """Show nothing: `on_error` is told, and formatting would take a quarter of a second."""

    showsyntaxerror = showindentationerror = showtraceback

    def _format_exception_for_storage(self, *_: object, **__: object) -> dict[str, Any]:
        return {}

    # What is left out: files of a profile, completion, the modules and the prompts of the process, and the end of a session.

    def _leave_out(self, *_: object) -> None:
        pass

    init_ipython_dir = init_completer = init_virtualenv = _leave_out
    init_sys_modules = init_prompts = atexit_operations = _leave_out

    def init_profile_dir(self, *_: object) -> None:
        """Make no profile, unless IPython is older than 9.17, as on some laptops, and does not start without one."""
        if not hasattr(InteractiveShell, "_db"):
            self._profile = tempfile.TemporaryDirectory()
            self.profile_dir = ProfileDir(location=self._profile.name)


def _finish(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a cell inside another one, which must not wait for anything."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise RuntimeError("`await` cannot wait inside a cell that another cell runs")


@contextmanager
def _outside_of_loops() -> Iterator[None]:
    """A kernel has a loop of its own running when it checks a notebook's file, as `%run check.py ps1` does."""
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(running)


def _is_transparent(statement: ast.stmt) -> bool:
    """Whether this is how IPython writes a cell magic whose body is run as an ordinary cell."""
    return any(ast.unparse(statement).startswith(f"get_ipython().run_cell_magic('{name}'") for name in _TRANSPARENT)


_warm: list[Shell] = []


def warm_up() -> None:
    """Run a few cells, so that processes forked later find all that takes time in memory, and a shell that is new."""
    with process_unchanged():
        shell = Shell()
        shell.be_the_shell()
        shell.run("<warm>", "import asyncio\nawait asyncio.sleep(0)")
        shell.run("<warm>", "%matplotlib inline\n%time 1\n!true\n_")
        _warm[:] = [Shell()]


def new_shell() -> Shell:
    """A shell that has run nothing yet."""
    return _warm.pop() if _warm else Shell()


@contextmanager
def process_unchanged() -> Iterator[None]:
    """Take back what a shell leaves in the process: a module is to run as if there were no IPython."""
    main, path, names = sys.modules["__main__"], list(sys.path), set(vars(builtins))
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        sys.path[:] = path
        for name in set(vars(builtins)) - names:
            delattr(builtins, name)
        Shell.clear_instance()
        asyncio.set_event_loop(None)
