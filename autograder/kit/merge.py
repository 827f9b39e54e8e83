"""A student's file and a new template of it: what is done stays, letter by letter; what was never begun becomes new.

Nothing here reads or writes files. A file is a list of *units*: a module is one, a notebook's code cells are one each.
"""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autograder.testing.student import UNDONE

BANNER = re.compile(r"^# (?:--- )?Question \d+: .+ \((?:core|deepen|research), [\d.]+ points?(?:, read by a person)?\)$")
_MAGIC = re.compile(r"^(\s*)[%!?].*$", re.MULTILINE)
# Cell magics whose body is ordinary Python.
_TIMED = re.compile(r"\s*%%(?:time|timeit|capture|prun)\b")
_DEFINES = re.compile(r"^\s*(?:(?:async\s+)?def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_DIFF_LINES = 14

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Unreadable(Exception):
    """A text that is no Python; the message says where."""


@dataclass(frozen=True)
class Statement:
    """A statement at top level. Lines count from 0; `top` is where the comments begin that touch it from above."""

    node: ast.stmt
    text: str
    top: int
    start: int
    end: int
    alone: bool

    @property
    def names(self) -> set[str]:
        """What it defines."""
        return set(_bound(self.node))


@dataclass(frozen=True)
class Unit:
    """A text, its lines with their ends, its statements, and the names that a text which does not parse seems to define."""

    lines: list[str]
    statements: list[Statement]
    guessed: frozenset[str] = frozenset()
    readable: bool = True

    def headings(self) -> list[int]:
        """The lines that are headings of questions, and no part of a statement."""
        inside = {line for statement in self.statements for line in range(statement.start, statement.end)}
        return [line for line, text in enumerate(self.lines) if line not in inside and BANNER.match(text.rstrip())]


@dataclass(frozen=True)
class Block:
    """What a new template says for one question (for "", its set-up): its text, and the statements in it."""

    question: str
    names: tuple[str, ...]
    text: str
    statements: tuple[Statement, ...]

    @property
    def banner(self) -> str:
        """Its heading, or an empty text."""
        first = self.text.partition("\n")[0]
        return first if BANNER.match(first) else ""

    @property
    def loose(self) -> list[str]:
        """Comment lines that touch no statement."""
        told = {line for statement in self.statements for line in statement.text.splitlines()}
        return [line for line in self.text.splitlines()[bool(self.banner) :] if line.startswith("#") and line not in told]


@dataclass
class Report:
    """What became of the questions, for people."""

    kept: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    look: list[str] = field(default_factory=list)


@dataclass
class Merge:
    """The edits of a student's units towards a new template.

    `old_names` are the names that the student's version asked for. `other` holds the lines of the student's other form, in
    which the template's own text usually stands as it came; without it, remarks above a stub are taken for the template's.
    """

    units: Sequence[Unit]
    blocks: Sequence[Block]
    old_names: Collection[str]
    other: Collection[str] | None
    report: Report = field(default_factory=Report)
    absent: list[Block] = field(default_factory=list)
    _edits: dict[int, list[tuple[int, int, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._mine = {line.strip() for unit in self.units for line in unit.lines}
        for block in self.blocks:
            if block.question:
                self._question(block)
        self._headings()

    def text(self, number: int) -> str:
        """A unit with its edits made. Lines that were not edited keep every byte."""
        lines = self.units[number].lines
        newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
        result, done = "", 0
        for start, end, text in sorted(self._edits.get(number, []), key=lambda edit: edit[:2]):
            result += "".join(lines[done:start])
            if result and not result.endswith(("\n", "\r")):
                result += newline
            result += text.replace("\n", newline)
            done = end
        if done == len(lines) and done and not lines[-1].endswith(("\n", "\r")):
            result = result.removesuffix(newline)
        return result + "".join(lines[done:])

    def insert(self, number: int, line: int, text: str) -> None:
        """Put text in front of a line."""
        self._edits.setdefault(number, []).append((line, line, text))

    def places(self, names: Collection[str]) -> list[tuple[int, Statement]]:
        """Where the student defines one of these names: unit and statement."""
        return [
            (number, statement)
            for number, unit in enumerate(self.units)
            for statement in unit.statements
            if not statement.names.isdisjoint(names)
        ]

    def guessed(self, name: str) -> bool:
        """Whether a unit that does not parse seems to define it."""
        return any(name in unit.guessed for unit in self.units)

    def set_up(self, block: Block, home: int) -> None:
        """Add what the template's set-up has and the student's file lacks; `home` is the unit for it."""
        top, imports = _import_lines(self.units[home])
        have = {alias for unit in self.units for statement in unit.statements for alias in _imported(statement.node)}
        place = (home, imports)
        for statement in block.statements:
            node = statement.node
            if isinstance(node, ast.Import | ast.ImportFrom):
                if not set(_imported(node)) <= have:
                    future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
                    self.insert(home, top if future else imports, statement.text)
                    self.report.new.append(f"`{ast.unparse(node)}`")
            elif _is_text(node):
                first = next((mine for mine in self.units[home].statements if _is_text(mine.node)), None)
                if first is None or first.text.split() != statement.text.split():
                    self._differs("the text at the top of the file", "" if first is None else first.text, statement.text)
            else:
                place = self._given(statement, place)

    def _question(self, block: Block) -> None:
        places = self.places(block.names)
        wanted = [statement for statement in block.statements if not statement.names.isdisjoint(block.names)]
        found = [name for name in block.names if self.places([name]) or self.guessed(name)]
        if not found and not set(block.names) & set(self.old_names):
            self.absent.append(block)
            self.report.new.append(block.question)
            return
        states = []
        place = (places[0][0], places[0][1].top) if places else None
        for statement in block.statements:
            if statement not in wanted:
                place = self._given(statement, place) if place else None
                continue
            mine = self.places(statement.names)
            if mine:
                states.append(self._named(statement, mine))
                place = (mine[-1][0], mine[-1][1].end)
            elif any(self.guessed(name) for name in statement.names):
                states.append("kept")
            elif statement.names & set(self.old_names) or place is None:
                names = ", ".join(f"`{name}`" for name in sorted(statement.names))
                self.report.look.append(f"{names} of question {block.question} is not in your file")
            else:
                self.insert(*place, f"\n\n{statement.text}")
                states.append("updated")
        if "kept" in states:
            self.report.kept.append(block.question)
        if "updated" in states:
            self.report.updated.append(block.question)
        new = [line for line in block.loose if line.strip() not in self._mine]
        if new:
            self.report.look.append(f"question {block.question} has a new remark:\n" + "\n".join(new))

    def _named(self, new: Statement, mine: list[tuple[int, Statement]]) -> str:
        """Replace an untouched stub; of an answer, tell if its task changed. Returns what became of it."""
        name = next(iter(sorted(new.names)))
        stubs = [_is_stub(statement, new) for _, statement in mine]
        if all(stubs) and not any(self._own_remarks(statement, new) for _, statement in mine):
            changed = [(number, one) for number, one in mine if _plain(one.text).rstrip("\n") != new.text.rstrip("\n")]
            for number, statement in changed:
                self._edits.setdefault(number, []).append((statement.top, statement.end, new.text))
            return "updated" if changed else ""
        head = {line.strip() for line in _head(new)}
        mine_lines = {line.strip() for _, statement in mine for line in statement.text.splitlines()}
        if not head <= mine_lines and (self.other is None or not head <= set(self.other)):
            old = next((one for _, one in mine if isinstance(one.node, _DEFINITIONS)), mine[0][1])
            what = f"`{name}` (still a stub, with remarks of yours)" if all(stubs) else f"`{name}`"
            self._differs(what, "\n".join(_head(old)), "\n".join(_head(new)))
        return "kept"

    def _own_remarks(self, mine: Statement, new: Statement) -> bool:
        """Whether a stub holds comments, or lines of its docstring, that no template wrote."""
        if self.other is None:
            inside = "".join(_lines(mine.text)[mine.start - mine.top :])
            return not _comments(inside) <= _comments(new.text)
        return not _remarks(mine) <= _remarks(new) | set(self.other)

    def _given(self, new: Statement, place: tuple[int, int]) -> tuple[int, int]:
        """A statement that the template gives and no question asks for. Returns the place behind it."""
        mine = self.places(new.names) if new.names else [
            (number, one)
            for number, unit in enumerate(self.units)
            for one in unit.statements
            if ast.dump(one.node) == ast.dump(new.node)
        ]  # fmt: skip
        what = ", ".join(f"`{name}`" for name in sorted(new.names)) or f"`{ast.unparse(new.node)}`"
        if not mine:
            if not any(self.guessed(name) for name in new.names):
                self.insert(*place, f"\n\n{new.text}\n\n" if isinstance(new.node, _DEFINITIONS) else f"\n{new.text}\n")
                self.report.new.append(what)
            return place
        if all(ast.dump(one.node) != ast.dump(new.node) for _, one in mine):
            self._differs(what, mine[-1][1].text, new.text)
        return mine[0][0], mine[0][1].end

    def _differs(self, what: str, mine: str, new: str) -> None:
        lines = list(difflib.unified_diff(_plain(mine).splitlines(), new.splitlines(), lineterm="", n=0))[2:]
        lines = [line for line in lines if not line.startswith("@@")]
        more = ["..."] if len(lines) > _DIFF_LINES else []
        self.report.look.append(
            f"{what} stays as it is in your file; the new template has it like this (+):\n"
            + "\n".join(lines[:_DIFF_LINES] + more)
        )

    def _headings(self) -> None:
        """Give the headings of questions their new number, title and points."""
        new = {name: block.banner for block in self.blocks for name in block.names if block.banner}
        asked = {*new, *self.old_names}
        changed = False
        for number, unit in enumerate(self.units):
            heads = unit.headings()
            for line, following in zip(heads, [*heads, len(unit.lines)][1:], strict=True):
                below = [one.names & asked for one in unit.statements if line < one.start < following]
                first = next((sorted(names)[0] for names in below if names), "")
                if new.get(first, "") not in ("", unit.lines[line].rstrip()):
                    self._edits.setdefault(number, []).append((line, line + 1, f"{new[first]}\n"))
                    changed = True
        if changed:
            self.report.updated.append("the headings")


def read_unit(source: str, *, notebook: bool = False) -> Unit:
    """Cut a text into its statements. Of a notebook's cell that does not parse, the names it defines are guessed; a cell in
    another language than Python defines none.

    Raises `Unreadable` for a module that does not parse.
    """
    lines = _lines(source)
    if notebook and source.lstrip().startswith("%%") and not _TIMED.match(source):
        return Unit(lines, [], readable=False)
    try:
        tree = _parse(source, notebook=notebook)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if not notebook:
            raise Unreadable(str(error)) from None
        return Unit(lines, [], frozenset(name for pair in _DEFINES.findall(source) for name in pair if name), False)
    return Unit(lines, list(_statements(tree.body, lines)))


def cut(source: str, questions: Mapping[str, Sequence[str]]) -> list[Block]:
    """Cut a template at its questions: a block begins at its heading, or at the first name of its question."""
    unit = read_unit(source)
    owner = {name: question for question, names in questions.items() for name in names}

    def asked(statements: Iterable[Statement]) -> str:
        return next((owner[name] for one in statements for name in sorted(one.names) if name in owner), "")

    begins: list[tuple[int, str]] = [(0, "")]
    done = 0
    for number, statement in enumerate(unit.statements):
        heads = [line for line in unit.headings() if done <= line < statement.start]
        if heads:
            begins.append((heads[0], asked(unit.statements[number:])))
        elif asked([statement]) not in ("", begins[-1][1]):
            begins.append((statement.top, asked([statement])))
        done = statement.end
    ends = [line for line, _ in begins[1:]] + [len(unit.lines)]
    return [
        Block(
            question,
            tuple(questions.get(question, ())),
            "".join(unit.lines[begin:end]).strip() + "\n",
            tuple(statement for statement in unit.statements if begin <= statement.start < end),
        )
        for (begin, question), end in zip(begins, ends, strict=True)
        if begin < end
    ]


def merge_module(
    source: str, merge_with: Sequence[Block], old_names: Collection[str], other: Collection[str] | None
) -> Merge:
    """A student's module and the blocks of a new template; raises `Unreadable` if the module does not parse."""
    merge = Merge([read_unit(source)], merge_with, old_names, other)
    for block in merge_with:
        if not block.question:
            merge.set_up(block, 0)
    place: int | None = None
    for block in merge_with:
        here = [statement for _, statement in merge.places(block.names)]
        if block not in merge.absent:
            place = max((statement.end for statement in here), default=place)
        elif place is not None:
            merge.insert(0, place, f"\n\n{block.text}")
        else:
            merge.insert(0, _first_question(merge), f"{block.text}\n\n")
    return merge


def words(texts: Iterable[str]) -> set[str]:
    """The lines of these texts, without the space around them."""
    return {line.strip() for text in texts for line in text.splitlines()}


def _first_question(merge: Merge) -> int:
    """The line where a module's first question begins; the end of the file if there is none."""
    unit = merge.units[0]
    places = [statement.top for block in merge.blocks for _, statement in merge.places(block.names)]
    return min([*places, *unit.headings()], default=len(unit.lines))


def _parse(source: str, *, notebook: bool) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError:
        if not notebook:
            raise
        return ast.parse(_MAGIC.sub(r"\1pass", source))


def _statements(nodes: list[ast.stmt], lines: list[str]) -> Iterator[Statement]:
    spans = [[min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))]) - 1, node.end_lineno or 0]
             for node in nodes]  # fmt: skip
    shared = [False] * len(nodes)
    # Statements that share a line are one piece: nothing can be put between them.
    for number in range(1, len(nodes)):
        if spans[number][0] < spans[number - 1][1]:
            shared[number - 1] = shared[number] = True
            spans[number][0] = spans[number - 1][0]
    for number in range(len(nodes) - 1, 0, -1):
        if spans[number][0] < spans[number - 1][1]:
            spans[number - 1][1] = spans[number][1]
    before = 0
    for node, (start, end), together in zip(nodes, spans, shared, strict=True):
        top = start
        while top > before and lines[top - 1].startswith("#") and not BANNER.match(lines[top - 1].rstrip()):
            top -= 1
        yield Statement(node, "".join(lines[top:end]), top, start, end, not together)
        before = end


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a statement defines where it stands; not those inside functions and comprehensions."""
    if isinstance(node, _DEFINITIONS):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            yield node.id
    elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        for child in ast.iter_child_nodes(node):
            yield from _bound(child)


def _imported(node: ast.stmt) -> Iterator[tuple[str, str, str]]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        module = "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            yield module, alias.name, alias.asname or alias.name


def _import_lines(unit: Unit) -> tuple[int, int]:
    """Where a `__future__` import goes, and where the others go: behind the imports that stand on top."""
    top = imports = 0
    for statement in unit.statements:
        node = statement.node
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            top = imports = statement.end
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports = statement.end
        elif _is_text(node) and statement is unit.statements[0]:
            top = imports = statement.end
        else:
            break
    return top, imports


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _after_docstring(node: Definition) -> list[ast.stmt]:
    return node.body[1:] if _is_text(node.body[0]) else node.body


def _is_stub(mine: Statement, new: Statement) -> bool:
    """Whether nothing has been done: the error, or `None`, is all there is, or the same code as in the new template."""
    node = mine.node
    if not mine.alone:
        return False
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and isinstance(node.value, ast.Constant):
            return node.value.value is None or ast.dump(node) == ast.dump(new.node)
    if not isinstance(node, _DEFINITIONS):
        return False
    wrapped = [ast.dump(one) for one in node.decorator_list]
    if wrapped != [ast.dump(one) for one in getattr(new.node, "decorator_list", [])]:
        return False
    body = _after_docstring(node)
    if (
        len(body) == 1
        and isinstance(body[0], ast.Raise)
        and ast.unparse(body[0]) == f"raise NotImplementedError('{UNDONE}')"
    ):
        return True
    return isinstance(new.node, type(node)) and _bare(node) == _bare(new.node)


def _bare(node: ast.stmt) -> list[str]:
    """A definition's code without its docstrings."""
    bodies = [_after_docstring(one) for one in ast.walk(node) if isinstance(one, _DEFINITIONS)]
    inner = [statement for body in bodies for statement in body if not isinstance(statement, _DEFINITIONS)]
    return [ast.dump(statement) for statement in inner] + [
        one.name for one in ast.walk(node) if isinstance(one, _DEFINITIONS)
    ]


def _head(statement: Statement) -> list[str]:
    """The lines that set a task: comments above, and a definition down to the end of its docstring."""
    lines = [line.rstrip("\r\n") for line in _lines(statement.text)]
    node = statement.node
    if not isinstance(node, _DEFINITIONS):
        return lines[: statement.start - statement.top]
    last = node.body[0].end_lineno if _is_text(node.body[0]) else node.body[0].lineno - 1
    return lines[: (last or 0) - statement.top]


def _comments(text: str) -> set[str]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return {text}
    return {token.string.strip() for token in tokens if token.type == tokenize.COMMENT}


def _remarks(statement: Statement) -> set[str]:
    """Comments, and the lines of a docstring."""
    node = statement.node
    if not isinstance(node, _DEFINITIONS) or not _is_text(node.body[0]):
        return _comments(statement.text)
    docstring = _head(statement)[node.body[0].lineno - 1 - statement.top :]
    return _comments(statement.text) | {line.strip() for line in docstring} - {""}


def _lines(text: str) -> list[str]:
    """The lines as Python counts them, with their ends; `str.splitlines` knows more ends of lines."""
    return list(io.StringIO(text, newline=""))


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
