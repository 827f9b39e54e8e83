"""Three-way merge of code: the template a student began with (the base), the student's text, and the new template.

All three are cut into pieces: statements with the comments above them, headings, and loose comments. A piece that the
student left alone becomes the new template's. A piece that the template left alone stays the student's. Where both changed,
the student's piece stays, letter by letter, and the report shows what changed in the template.
"""

from __future__ import annotations

import ast
import difflib
import functools
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

# What `read_text` and `read_template` raise for a text that is not Python.
NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
_HEADING = re.compile(r"# (?:--- )?Question \d+: ")
_MAGIC = re.compile(r"^(\s*)[%!?].*$", re.MULTILINE)
# Cell magics whose body is ordinary Python.
_TIMED = re.compile(r"\s*%%(?:time|timeit|capture|prun)\b")
_DEFINES = re.compile(r"^\s*(?:(?:async\s+)?def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_TOP = "the text at the top of the file"
_SHOWN_LINES = 14

Questions = Mapping[str, Sequence[str]]  # the names that each question asks for


@dataclass(frozen=True)
class Piece:
    """Lines `start` to `end` of a text, and the number of blank lines above them.

    `names` are what it binds; `keys` identify it: its names, or its content if it binds none. `question` is the question
    of a template that it belongs to, empty for the template's set-up.
    """

    text: str
    start: int
    end: int
    gap: int
    names: frozenset[str]
    keys: frozenset[str]
    question: str = ""

    @property
    def is_heading(self) -> bool:
        return bool(_HEADING.match(self.text))

    @property
    def title(self) -> str:
        """What to call it in a report."""
        if self.keys == {_TOP}:
            return _TOP
        line = self.text.strip().partition("\n")[0]
        return f"`{line}`" if not self.names or line.startswith(("import ", "from ")) else _quoted(self.names)

    @functools.cached_property
    def content(self) -> tuple[str, frozenset[str]]:
        """The code without its layout, and the comments: what a formatter leaves unchanged."""
        try:
            tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
            comments = frozenset(token.string.strip() for token in tokens if token.type == tokenize.COMMENT)
            return ast.dump(ast.parse(self.text)), comments
        except (*NOT_PYTHON, tokenize.TokenError):
            return self.text.strip(), frozenset()


@dataclass
class Text:
    """A student's module, or one code cell of a notebook, with the edits to make in it.

    A cell that does not parse has no pieces; `guessed` holds the names it seems to define.
    """

    lines: list[str]
    pieces: list[Piece]
    guessed: frozenset[str] = frozenset()
    edits: list[tuple[int, int, str]] = field(default_factory=list)

    def merged(self) -> str:
        """The text with its edits made. Lines that were not edited keep every byte."""
        newline = "\r\n" if self.lines and self.lines[0].endswith("\r\n") else "\n"
        result, done = "", 0
        for start, end, text in sorted(self.edits, key=lambda edit: edit[:2]):
            result += "".join(self.lines[done:start])
            if result and not result.endswith(("\n", "\r")):
                result += newline
            result += text.replace("\n", newline)
            done = end
        if done == len(self.lines) and done and not self.lines[-1].endswith(("\n", "\r")):
            result = result.removesuffix(newline)
        return result + "".join(self.lines[done:])


@dataclass
class Report:
    """What became of the questions, for people. The first three lists hold each label once."""

    kept: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    look: list[str] = field(default_factory=list)

    def add(self, labels: list[str], piece: Piece) -> None:
        """Add the question of a piece to one of the lists, or the piece itself if it belongs to none."""
        label = piece.question or piece.title
        if label not in labels:
            labels.append(label)

    def show(self, what: str, old: Sequence[Piece], new: Piece) -> None:
        """Show what changed in the template between the old pieces and the new one."""
        before = [line for piece in old for line in piece.text.splitlines()]
        diff = list(difflib.unified_diff(before, new.text.splitlines(), lineterm="", n=0))[2:]
        lines = [line for line in diff if not line.startswith("@@")]
        more = ["..."] if len(lines) > _SHOWN_LINES else []
        self.look.append("\n".join([f"{what}; the template changed here:", *lines[:_SHOWN_LINES], *more]))


def read_text(source: str, *, notebook: bool = False) -> Text:
    """Cut a student's text into pieces. Raises one of `NOT_PYTHON` for a module that does not parse."""
    lines = _lines(source)
    if not notebook:
        return Text(lines, list(_pieces(source, lines)))
    if source.lstrip().startswith("%%") and not _TIMED.match(source):
        return Text(lines, [])
    for code in (source, _MAGIC.sub(r"\1pass", source)):
        try:
            return Text(lines, list(_pieces(code, lines)))
        except NOT_PYTHON:
            continue
    return Text(lines, [], frozenset(name for pair in _DEFINES.findall(source) for name in pair if name))


def read_template(source: str, questions: Questions) -> list[Piece]:
    """The pieces of a template, or of one of its cells, each with its question. A question begins at its heading."""
    owner = {name: question for question, names in questions.items() for name in names}
    pieces = list(_pieces(source, _lines(source)))
    asked = [next((owner[name] for name in sorted(piece.names) if name in owner), "") for piece in pieces]
    question = ""
    for number, piece in enumerate(pieces):
        if piece.is_heading:
            question = next(filter(None, asked[number:]), "")
            piece = replace(piece, keys=frozenset([f"the heading of {question}"]))
        question = asked[number] or question
        pieces[number] = replace(piece, question=question)
    return pieces


def merge(texts: Sequence[Text], base: Sequence[Piece], new: Sequence[Piece], report: Report) -> None:
    """Edit `texts` from the base towards the new template, and report what became of each piece."""
    headings = {piece.text.strip(): piece.keys for piece in [*base, *new] if piece.is_heading}
    mine = [
        (text, replace(piece, keys=headings.get(piece.text.strip(), piece.keys))) for text in texts for piece in text.pieces
    ]
    old_questions = {piece.question for piece in base} - {""}
    place: tuple[Text, int] | None = None  # behind the template's previous piece in the student's text
    waiting: list[Piece] = []  # new pieces that have no place yet
    replaced: set[tuple[int, int]] = set()
    for piece in new:
        old = [other for other in base if other.keys & piece.keys]
        keys = piece.keys.union(*(other.keys for other in old))
        here = [(text, other) for text, other in mine if other.keys & keys]
        old_content, my_content = [other.content for other in old], [other.content for _, other in here]
        changed = old_content != [piece.content]
        if not here:
            if any(text.guessed & keys for text in texts):
                report.add(report.kept, piece)
            elif not old and place:
                _insert(*_behind_docstring(place, piece), piece, report, old_questions)
            elif not old:
                waiting.append(piece)
            elif changed and not piece.is_heading:
                report.show(_missing(piece), old, piece)
            continue
        text, first = here[0]
        for number, early in enumerate(waiting):
            gap = [*waiting, first][number + 1].gap
            _insert(text, first.start, replace(early, text=early.text + "\n" * gap, gap=0), report, old_questions)
        waiting.clear()
        if old and my_content == old_content:
            if changed and (id(text), first.start) in replaced:  # the template cut one piece into two
                text.edits.append((first.end, first.end, "\n" * piece.gap + piece.text))
            elif changed:
                for text, other in here:
                    text.edits.append((other.start, other.end, "" if (id(text), other.start) in replaced else piece.text))
                    replaced.add((id(text), other.start))
                report.add(report.updated, replace(piece, question="the headings") if piece.is_heading else piece)
        elif my_content != [piece.content]:
            if piece.question or changed:
                report.add(report.kept, piece)
            if changed:
                report.show(f"{piece.title} stays as it is in your file", old, piece)
        place = here[-1][0], here[-1][1].end
    for piece in waiting:
        if not piece.is_heading:
            report.show(_missing(piece), [], piece)
    # What binds no name, such as a call, and left the template: nothing of the student's can depend on it.
    kept = {key for piece in new for key in piece.keys}
    gone = {key for piece in base if not piece.names and not piece.is_heading for key in piece.keys - kept}
    for text, other in mine:
        if other.keys & gone:
            text.edits.append((other.start, other.end, ""))


def _insert(text: Text, line: int, piece: Piece, report: Report, old_questions: set[str]) -> None:
    text.edits.append((line, line, "\n" * piece.gap + piece.text))
    report.add(report.updated if piece.question in old_questions else report.new, piece)


def _behind_docstring(place: tuple[Text, int], piece: Piece) -> tuple[Text, int]:
    """The place for a new piece; a `__future__` import goes in front of everything but the module's docstring."""
    text, _ = place
    if not piece.text.startswith("from __future__"):
        return place
    return text, max((first.end for first in text.pieces[:1] if first.keys == {_TOP}), default=0)


def _missing(piece: Piece) -> str:
    return f"{piece.title}{f' of question {piece.question}' if piece.question else ''} is not in your file"


def _quoted(names: frozenset[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _pieces(source: str, lines: list[str]) -> Iterator[Piece]:
    """Cut a text; `lines` are the ones to quote. Raises one of `NOT_PYTHON`."""
    spans: list[tuple[int, int, list[ast.stmt]]] = []
    for node in ast.parse(source).body:
        start = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))]) - 1
        end = node.end_lineno or node.lineno
        if spans and start < spans[-1][1]:  # statements that share a line are one piece
            first, before, nodes = spans.pop()
            spans.append((first, max(before, end), [*nodes, node]))
        else:
            spans.append((start, end, [node]))

    def piece(start: int, end: int, names: frozenset[str], key: str) -> Piece:
        above = start
        while above and not lines[above - 1].strip():
            above -= 1
        text = "".join(lines[start:end]).replace("\r\n", "\n").replace("\r", "\n").rstrip("\n") + "\n"
        return Piece(text, start, end, start - above, names, names or frozenset([key]))

    done = 0
    for start, end, nodes in [*spans, (len(lines), len(lines), [])]:
        top = done  # where the comments begin that touch what follows
        for line in range(done, start):
            is_heading = _HEADING.match(lines[line])
            if is_heading or not lines[line].startswith("#"):
                if top < line:
                    yield piece(top, line, frozenset(), "".join(lines[top:line]).strip())
                if is_heading:
                    yield piece(line, line + 1, frozenset(), lines[line].strip())
                top = line + 1
        if nodes:
            is_docstring = nodes is spans[0][2] and _is_text(nodes[0])
            names = frozenset(name for node in nodes for name in _bound(node))
            yield piece(top, end, names, _TOP if is_docstring else "".join(ast.dump(node) for node in nodes))
        elif top < start:
            yield piece(top, start, frozenset(), "".join(lines[top:start]).strip())
        done = end


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a statement defines where it stands; not those inside functions and comprehensions."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            yield node.id
    elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        for child in ast.iter_child_nodes(node):
            yield from _bound(child)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _lines(text: str) -> list[str]:
    """The lines as Python counts them, with their ends; `str.splitlines` knows more ends of lines."""
    return list(io.StringIO(text, newline=""))
