"""Which lines of a submission answer which question, told by the template's own marks."""

from __future__ import annotations

import ast
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.authoring.frame import banners
from autograder.course import ProblemSet
from autograder.platforms.targets.nbgrader import answer_cell

_HEADING = "# --- "


@dataclass(frozen=True)
class Piece:
    """Lines that stand together: of which question (empty: of none), of which cell of a notebook, and from which line on."""

    question: str
    cell: str
    first_line: int
    lines: tuple[str, ...]

    @property
    def is_blank(self) -> bool:
        return not any(line.strip() for line in self.lines)


def cells_of(filename: str, source: bytes) -> list[tuple[str, str]]:
    """The code of a submission as text: its cells with their names, or one without a name."""
    text = source.decode("utf-8", "replace")
    if filename.endswith(".ipynb"):
        try:
            return [
                (str(cell.get("id", "")), "".join(cell["source"]))
                for cell in json.loads(text)["cells"]
                if cell["cell_type"] == "code"
            ]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            pass
    return [("", text)]


def pieces_of(problem_set: ProblemSet, cells: Sequence[tuple[str, str]], *, by_definition: bool = False) -> list[Piece]:
    """All lines of the cells in their order, cut where another question begins: at a cell's name, or at a stub's heading.

    With `by_definition`, a question whose marks are gone has the definitions of its names.
    """
    by_cell = {answer_cell(question): question.id for question in problem_set.assignment.questions}
    headings = {name: f"{_HEADING}{title}" for name, title in banners(problem_set).items()}
    owners = []
    for name, text in cells:
        current = by_cell.get(name, "")
        for line in map(str.strip, text.splitlines()):
            if line.startswith(_HEADING):
                # The template breaks long headings, so a line may be the beginning of one.
                current = next((question for question, heading in headings.items() if heading.startswith(line)), current)
            owners.append(current)
    if by_definition:
        owners = _with_definitions(problem_set, cells, owners)
    pieces, place = [], iter(owners)
    for name, text in cells:
        numbered = [(next(place), number, line) for number, line in enumerate(text.splitlines(), start=1)]
        for owner, group in itertools.groupby(numbered, key=lambda entry: entry[0]):
            lines = list(group)
            pieces.append(Piece(owner, name, lines[0][1], tuple(line for _, _, line in lines)))
    return pieces


def _with_definitions(problem_set: ProblemSet, cells: Sequence[tuple[str, str]], owners: Sequence[str]) -> list[str]:
    """The question of each line, those of definitions added for questions that own no line."""
    marked, owners = set(owners), list(owners)
    questions = {name: question.id for question in problem_set.assignment.questions for name in question.names}
    start = 0
    for _, text in cells:
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError):
            body = []
        for node in body:
            names = [node.name] if isinstance(node, ast.FunctionDef) else []
            names += [name.id for name in getattr(node, "targets", []) if isinstance(name, ast.Name)]
            question = next((questions[name] for name in names if name in questions), "")
            if question and question not in marked:
                for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                    owners[start + number] = question
        start += len(text.splitlines())
    return owners
