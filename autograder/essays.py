"""Written answers: the text in its variable, or else wherever the student typed it, so that no essay goes unread."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.authoring.release import shipped_lines
from autograder.authoring.rendering import module, notebook_lines, readme
from autograder.authoring.stubs import solution_blocks, stub
from autograder.course import CourseError, ProblemSet
from autograder.intake import Submission
from autograder.runtime import loading
from autograder.testing.errors import StudentError
from autograder.testing.student import Runner

MAX_TEXT = 20_000
MAX_VARIABLES = 30  # strings under other names that are looked at
FEWEST_WORDS = 5  # fewer are a remark, not an essay
_QUOTES = ('"""', "'''")
# What stands above a question's stub, in whatever version of the template.
_BANNER = re.compile(r"# (?:--- )?Question \d+: ")
_NO_PYTHON = {"SyntaxError", "IndentationError", "TabError"}
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Essay:
    """A written answer. `place` says where it stands, if that is not its variable: then a person should look."""

    text: str = ""
    place: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook, or a whole module. `readable` unless it is code that is no Python."""

    number: int
    is_code: bool
    text: str
    readable: bool = True


class EssayFinder:
    """Reads the written answers of submissions to one problem set."""

    def __init__(self, problem_set: ProblemSet) -> None:
        self._problem_set = problem_set
        questions = problem_set.assignment.questions
        self._names = {question.id: question.names[0] for question in questions if question.kind == "written"}
        self._asked = {name for question in questions for name in question.names}

    def find(self, submission: Submission, runner: Runner, report: loading.Report) -> dict[str, Essay]:
        """The written answers by question. `runner` has loaded the submission, with the `report` given."""
        essays = {question: in_variable(_read(runner, name)) for question, name in self._names.items()}
        missing = [question for question, essay in essays.items() if not essay.text.strip()]
        if missing:
            others = [name for name in report["names"] if name not in self._asked][:MAX_VARIABLES]
            # One after the other: each may be as large as a message.
            values = ((name, _read(runner, name)) for name in others)
            strings = {name: value[:MAX_TEXT] for name, value in values if isinstance(value, str)}
            broken = [problem["unit"] for problem in report["problems"] if problem["type"] in _NO_PYTHON]
            cells = cells_of(submission.filename, submission.source, broken)
            for question in missing:
                name = self._names[question]
                own = strings_for(name, strings, alone=len(missing) == 1)
                essays[question] = outside(name, cells, own, self._template_lines)
        return essays

    @functools.cached_property
    def _template_lines(self) -> frozenset[str]:
        """All lines of what students received, also in earlier releases."""
        try:
            blocks = solution_blocks(self._problem_set)
            stubs = {name: stub(block, self._problem_set.solution) for name, block in blocks.questions.items()}
            texts = [readme(self._problem_set), module(self._problem_set, blocks.given, stubs)]
            texts += [*notebook_lines(self._problem_set, stubs), *shipped_lines(self._problem_set)]
        except CourseError:
            return frozenset()  # then the course's own lines are shown to the reader as well
        return frozenset(line.strip() for text in texts for line in text.splitlines())


def _read(runner: Runner, name: str) -> Any:
    """The value of a submission's variable, None if it has none that can be read."""
    try:
        return runner.read(name)
    except StudentError:
        return None


def in_variable(value: Any) -> Essay:
    """The text of a variable that holds a string, or strings in a list or tuple."""
    if isinstance(value, str):
        return Essay(value[:MAX_TEXT])
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return Essay("\n".join(value)[:MAX_TEXT], f"a {type(value).__name__}")
    return Essay()


def cells_of(filename: str, source: bytes, broken: Iterable[str] = ()) -> list[Cell]:
    """The cells of a notebook, in order, or one cell for a module. `broken` names the cells that could not be compiled."""
    if not filename.endswith(".ipynb"):
        return [Cell(0, True, source.decode("utf-8", "replace"))]
    try:
        cells = loading.parsed(source)["cells"]
        return [
            Cell(number, cell["cell_type"] == "code", "".join(cell["source"]), f"cell {number}" not in broken)
            for number, cell in enumerate(cells, start=1)
        ]
    except _UNREADABLE:
        return []


def outside(name: str, cells: Sequence[Cell], strings: Mapping[str, str], template: frozenset[str]) -> Essay:
    """What seems to be the essay that belongs into the variable `name`, empty if there is none.

    It is looked for beside the variable, and under the other names in `strings`. `template` are the lines that the course
    wrote itself.
    """
    pieces = list(_beside(name, cells, template))
    pieces += [(text, f"the variable `{other}`") for other, text in strings.items() if _is_essay(text)]
    text = "\n\n".join(text for text, _ in pieces)
    return Essay(text[:MAX_TEXT], " and ".join(place for _, place in pieces)[:200]) if _is_essay(text) else Essay()


def strings_for(name: str, strings: Mapping[str, str], *, alone: bool) -> dict[str, str]:
    """The strings under other names that may be meant for `name`: all if it is the only one missing, else those like it."""
    close = set(strings) if alone else set(difflib.get_close_matches(name, strings, n=3, cutoff=0.6))
    return {other: text for other, text in strings.items() if other in close}


def _is_essay(text: str) -> bool:
    return len(text.split(maxsplit=FEWEST_WORDS)) >= FEWEST_WORDS


def _beside(name: str, cells: Sequence[Cell], template: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Texts around the variable's assignment, each with its place; without an assignment, all cells of prose."""
    assignment = re.compile(rf"^{re.escape(name)}\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
    own = [index for index, cell in enumerate(cells) if cell.is_code and assignment.search(cell.text)]
    for cell in _neighbours(cells, own[-1], template) if own else [cell for cell in cells if not cell.is_code]:
        if not cell.is_code or not cell.readable:
            lines: Iterable[str] = cell.text.splitlines()
        elif assignment.search(cell.text):
            lines = _prose_around(cell.text, assignment)
        else:
            lines = filter(_is_comment, cell.text.splitlines())
        own_lines = (line for line in lines if line.strip() not in template and not _BANNER.match(line.strip()))
        text = "\n".join(own_lines).strip()
        if text:
            yield text, f"{'cell' if cell.number else 'comments'} {cell.number or 'beside the variable'}"


def _neighbours(cells: Sequence[Cell], own: int, template: frozenset[str]) -> Sequence[Cell]:
    """The cell at `own`, the prose before it, and what follows up to the next code of the template."""
    first = own
    while first > 0 and not cells[first - 1].is_code:
        first -= 1
    last = own + 1
    while last < len(cells) and not (cells[last].is_code and _has_line_of(cells[last], template)):
        last += 1
    return cells[first:last]


def _has_line_of(cell: Cell, template: frozenset[str]) -> bool:
    return any(line.strip() in template for line in cell.text.splitlines() if line.strip())


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _prose_around(text: str, assignment: re.Pattern[str]) -> Iterator[str]:
    """The comments above the last assignment in a code, and the comments and texts that stand alone below it."""
    lines = text.splitlines()
    place = max(number for number, line in enumerate(lines) if assignment.match(line))
    above = place
    while above > 0 and (_is_comment(lines[above - 1]) or not lines[above - 1].strip()):
        above -= 1
    yield from lines[above:place]
    closing = ""
    for line in lines[place + 1 :]:
        bare = line.strip()
        if closing:
            closing = "" if closing in bare else closing
        elif bare.startswith(_QUOTES):
            closing = "" if bare[:3] in bare[3:] else bare[:3]
        elif bare and not _is_comment(line) and bare[0] not in "\"'":
            return
        yield line
