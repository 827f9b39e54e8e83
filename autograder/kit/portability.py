"""What in a student's file works on their own machine and will not work for the grader, found without running it.

These are the packages that the grader lacks, files that it does not get, and what is newer than its Python.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_ABSOLUTE = re.compile(
    r"^(?:[A-Za-z]:[\\/]|\\\\|~[\\/]|/(?:Users|home|root|content|mnt|media|kaggle|Volumes|private|opt|data)/)"
)
_READERS = {
    *("open", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "imread", "read_csv", "read_json", "read_excel"),
    *("read_text", "read_bytes", "run_path", "listdir", "iterdir", "glob"),
}
_WRITERS = {"save", "savez", "savez_compressed", "savetxt", "savefig", "imsave", "tofile", "write_text", "write_bytes"}
_WRITTEN_BY_MAGIC = re.compile(r"^%%(?:writefile|file)\s+(?:-a\s+)?(\S+)", re.MULTILINE)
_EXPECTED = {"ImportError", "ModuleNotFoundError", "OSError", "FileNotFoundError", "IOError", "Exception", "BaseException"}
# What is new in the standard library, and what is gone. Students' own Python may be newer than the grader's, or older.
_NEW = {
    (3, 12): """
        asyncio.eager_task_factory collections.abc.Buffer itertools.batched math.sumprod random.binomialvariate
        sys.monitoring types.get_original_bases typing.TypeAliasType typing.override
    """,
    (3, 13): """
        copy.replace glob.translate math.fma os.process_cpu_count pathlib.UnsupportedOperation queue.ShutDown re.PatternError
        statistics.kde statistics.kde_random typing.NoDefault typing.ReadOnly typing.TypeIs typing.get_protocol_members
        typing.is_protocol warnings.deprecated
    """,
    (3, 14): """
        annotationlib compression concurrent.interpreters functools.Placeholder heapq.heapify_max heapq.heappop_max
        heapq.heappush_max heapq.heappushpop_max heapq.heapreplace_max io.Reader io.Writer operator.is_none
        operator.is_not_none pathlib.types string.templatelib typing.evaluate_forward_ref
    """,
}
_GONE = {
    (3, 12): "asynchat asyncore distutils imp smtpd",
    (3, 13): """
        aifc audioop cgi cgitb chunk crypt imghdr lib2to3 mailcap msilib nis nntplib ossaudiodev pipes sndhdr spwd sunau
        telnetlib uu xdrlib
    """,
}
_WINDOWS = {"_winapi", "msilib", "msvcrt", "nt", "winreg", "winsound"}
_LIBRARY = sys.stdlib_module_names | {name for names in (*_NEW.values(), *_GONE.values()) for name in names.split()}
_FSTRING_STARTS = {"FSTRING_START", "TSTRING_START"}
_FSTRING_ENDS = {"FSTRING_END", "TSTRING_END"}


@dataclass(frozen=True)
class Grader:
    """What students are told of the grader: its Python ("3.11"), its packages, and all `modules` that these bring."""

    python: str
    packages: Sequence[str]
    modules: Collection[str]

    @property
    def version(self) -> tuple[int, int]:
        major, minor = self.python.split(".")
        return int(major), int(minor)


@dataclass
class _Facts:
    """The places of each kind of trouble, by what it is about; each is reported once.

    `modules` are what names of the file stand for: `np` for `numpy`. `used` are dotted names of what was imported.
    """

    imports: dict[str, str] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    absolute: dict[str, str] = field(default_factory=dict)
    read: dict[str, str] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)


def warnings_for(units: Sequence[tuple[str, str]], folder: Path, module: str, grader: Grader) -> list[str]:
    """Sentences for the author of a file: what in its `units` (pairs of a name and Python text) the grader will not have.

    `folder` is where the file lies; `module` is the name that it is handed in under. Texts that are no Python are left out.
    """
    facts, syntax = _Facts(), []
    for unit, text in units:
        facts.written.update(_WRITTEN_BY_MAGIC.findall(text))
        python = _as_python(text)
        newer = newer_syntax(python, grader.version)
        if newer:
            place = f"{unit}, line {newer[0]}" if unit else f"line {newer[0]}"
            syntax.append(f"{place}: {newer[1]} is newer than the grader's Python {grader.python}, which cannot read it")
        try:
            tree = ast.parse(python)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        _Visitor(unit, facts).visit(tree)
    own = {name.removesuffix(".py") for name in facts.written} | {module, "autograder"}
    lines = syntax[:1] + list(_library(facts, grader))
    for name, place in facts.imports.items():
        if name in own or name in grader.modules or (name in _LIBRARY and name not in _WINDOWS):
            continue
        if (folder / f"{name}.py").is_file() or (folder / name).is_dir():
            lines.append(f"{place}: `{name}` lies beside your file, and only {module} is handed in; copy what you need")
        elif name in _WINDOWS:
            lines.append(f"{place}: `{name}` is there on Windows only, and the grader runs Linux")
        else:
            packages = ", ".join(grader.packages)
            lines.append(f"{place}: the grader has no `{name}`, only {packages} and the standard library")
    lines += [
        f"{place}: the grader has no {path!r}; a path on your own machine is not there"
        for path, place in facts.absolute.items()
    ]
    lines += [
        f"{place}: the grader has no file {path!r}; only {module} is handed in"
        for path, place in facts.read.items()
        if path not in facts.written | facts.absolute.keys() and Path(path).name != f"{module}.py"
    ]
    return lines


def _library(facts: _Facts, grader: Grader) -> Iterator[str]:
    """Sentences on what the standard library of the grader's Python lacks."""
    for version, names in _NEW.items():
        for name in names.split() if version > grader.version else ():
            if place := facts.used.get(name):
                yield f"{place}: `{name}` is new in Python {_dotted(version)}, and the grader has {grader.python}"
    for version, names in _GONE.items():
        for name in names.split() if version <= grader.version else ():
            if place := facts.imports.get(name):
                yield f"{place}: `{name}` was removed in Python {_dotted(version)}, and the grader has {grader.python}"


def _dotted(version: tuple[int, int]) -> str:
    return "{}.{}".format(*version)


def newer_syntax(text: str, version: tuple[int, int]) -> tuple[int, str] | None:
    """The line and the kind of the first syntax that is valid here, but not in the Python of `version`; None if all is."""
    if sys.version_info[:2] <= version:
        return None
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # it does not run here either
    try:
        ast.parse(text, feature_version=version)
    except SyntaxError as error:
        return error.lineno or 1, "this syntax"
    # The parser accepts these for any version.
    return _newer_f_string(text) if version < (3, 12) else None


def _newer_f_string(text: str) -> tuple[int, str] | None:
    """The first f-string that Python 3.11 cannot read: its quotes inside its braces, a backslash, a comment or a line end.

    From Python 3.12 on, f-strings come in several tokens; those between the outer ones are expressions.
    """
    open_quotes: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if open_quotes and kind not in ("FSTRING_MIDDLE", "TSTRING_MIDDLE", *_FSTRING_ENDS):
            outer = open_quotes[-1]
            if any(quote in token.string for quote in open_quotes) or "\\" in token.string:
                return token.start[0], "an f-string with quotes or a backslash inside its braces"
            if kind == "COMMENT" or (kind in ("NL", "NEWLINE") and len(outer) == 1):
                return token.start[0], "an f-string with a comment or a line end inside its braces"
        if kind in _FSTRING_STARTS:
            open_quotes.append(token.string.lstrip("rRbBfFtTuU"))
        elif kind in _FSTRING_ENDS:
            open_quotes.pop()
    return None


def _as_python(text: str) -> str:
    """A cell as IPython makes it Python, where IPython is there; other text as it is."""
    try:
        ast.parse(text)
        return text
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    try:
        # Imported only now: it takes a tenth of a check's time.
        from IPython.core.inputtransformer2 import TransformerManager

        return str(TransformerManager().transform_cell(text))
    except Exception:
        return text


class _Visitor(ast.NodeVisitor):
    """Notes imports and paths of one unit. What stands under `try` with a handler for its failure is left out."""

    def __init__(self, unit: str, facts: _Facts) -> None:
        self._unit = unit
        self._facts = facts

    def _place(self, node: ast.expr | ast.stmt) -> str:
        return f"{self._unit}, line {node.lineno}" if self._unit else f"line {node.lineno}"

    def visit_Try(self, node: ast.Try) -> None:
        kinds = [handler.type for handler in node.handlers]
        caught = {name.id for kind in kinds if kind for name in ast.walk(kind) if isinstance(name, ast.Name)}
        expects = None in kinds or caught & _EXPECTED
        for part in [*([] if expects else node.body), *node.handlers, *node.orelse, *node.finalbody]:
            self.visit(part)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            self._facts.imports.setdefault(top, self._place(node))
            self._facts.used.setdefault(alias.name, self._place(node))
            self._facts.modules[alias.asname or top] = alias.name if alias.asname else top

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module and not node.level:
            self._facts.imports.setdefault(node.module.partition(".")[0], self._place(node))
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                self._facts.used.setdefault(name, self._place(node))
            for alias in node.names:
                self._facts.modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        names, owner = [node.attr], node.value
        while isinstance(owner, ast.Attribute):
            names, owner = [owner.attr, *names], owner.value
        if isinstance(owner, ast.Name) and owner.id in self._facts.modules:
            self._facts.used.setdefault(".".join([self._facts.modules[owner.id], *names]), self._place(node))

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and len(node.value) < 200 and _ABSOLUTE.match(node.value):
            self._facts.absolute.setdefault(node.value, self._place(node))

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        texts = list(_texts(node))
        mode = "".join(texts[1:2] + [str(word.value.value) for word in node.keywords
                                     if word.arg == "mode" and isinstance(word.value, ast.Constant)])  # fmt: skip
        if texts and (name in _WRITERS or (name == "open" and set(mode) & set("wax"))):
            self._facts.written.add(texts[0])
        elif texts and name in _READERS:
            self._facts.read.setdefault(texts[0], self._place(node))


def _texts(call: ast.Call) -> Iterator[str]:
    """The strings among a call's arguments, and that in `Path("...").read_text()`."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    arguments = [*(owner.args[:1] if isinstance(owner, ast.Call) else []), *call.args]
    return (node.value for node in arguments if isinstance(node, ast.Constant) and isinstance(node.value, str))
