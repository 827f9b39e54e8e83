"""The guides that are written from the sources: where each row of the ledger is graded, and the syllabus.

`python -m autograder.authoring.guides` writes both into docs/, for the course in the current folder.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.frame import overview
from autograder.course import Course, ProblemSet, load_course
from autograder.testing.bench import HIDDEN

NOTE = "<!-- Written by `python -m autograder.authoring.guides`; edit the sources instead. -->"
PUBLIC = "test_public.py"
_READS = re.compile(r"""ledger\.\w+\(\s*["']([A-Z]\d+-\d+)["']""")
_DOCUMENT = re.compile(r"^[A-Z]\d+")
# An entry of a handout's reading list.
_READING = re.compile(r"\*\*What to read next\.\*\*\s*(.+?)(?=\n\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Use:
    """One question that names a row: the tests of it that read the row, or how else it is graded."""

    problem_set: str
    question: str
    tests: tuple[str, ...]
    reason: str = ""

    @property
    def how(self) -> str:
        """The tests, or the reason, for a cell of the table."""
        return ", ".join(f"`{test}`" for test in self.tests) or self.reason


def uses(course: Course) -> dict[str, list[Use]]:
    """Where each row of the ledger is graded, in the order of the ledger; a row that nothing grades has an empty list."""
    found: dict[str, list[Use]] = {row: [] for row in course.ledger}
    for listing in course.settings.problem_sets:
        problem_set = course.problem_set(listing.slug)
        readers = _readers(problem_set)
        by_reason = problem_set.assignment.ledger_by_reason
        for question in problem_set.assignment.questions:
            for row in question.ledger:
                tests = tuple(test for test, asked, rows in readers if asked == question.id and row in rows)
                elsewhere = "read by tests of another question of this problem set"
                reason = "" if tests else by_reason.get(row, elsewhere)
                found[row].append(Use(problem_set.slug, question.id, tests, reason))
    return found


def ungraded(course: Course) -> list[str]:
    """The rows that may be graded and are not: no question names them."""
    return [row for row, found in uses(course).items() if not found and course.ledger.gradable(row)]


def _readers(problem_set: ProblemSet) -> list[tuple[str, str, set[str]]]:
    """Every graded test with its question and the rows that it reads, itself or by a helper of its file."""
    readers = []
    for filename in (PUBLIC, HIDDEN):
        text = (problem_set.folder / filename).read_text(encoding="utf-8")
        functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
        for name, node in functions.items():
            question = next(_questions(node), "")
            if question:
                reached = _reached(name, functions)
                rows = {row for other in reached for row in _READS.findall(ast.unparse(functions[other]))}
                readers.append((name, question, rows))
    return readers


def _questions(node: ast.FunctionDef) -> Iterator[str]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "graded":
            yield str(ast.literal_eval(decorator.args[0]))


def _reached(name: str, functions: dict[str, ast.FunctionDef]) -> set[str]:
    """A function and those of its file that it calls, directly or not."""
    reached, waiting = set(), {name}
    while waiting:
        current = waiting.pop()
        reached.add(current)
        called = {part.id for part in ast.walk(functions[current]) if isinstance(part, ast.Name)}
        waiting |= (called & functions.keys()) - reached
    return reached


def ledger_guide(course: Course) -> str:
    """The table row, problem set, question, test."""
    lines = [
        "# Where the documents' numbers are graded",
        "",
        NOTE,
        "",
        "Every row of `assignments/ledger.yml`, with the questions that grade it and the tests that read it.",
        "",
        "| row | what it says | problem set | question | test, or how else |",
        "|---|---|---|---|---|",
    ]
    for row, found in uses(course).items():
        quantity = _cell(course.ledger.quantity(row))
        if not found:
            reason = "nothing yet" if course.ledger.gradable(row) else f"not gradable: {_cell(course.ledger.note(row))}"
            lines.append(f"| {row} | {quantity} | – | – | {reason} |")
        for place, use in enumerate(found):
            first = (row, quantity) if place == 0 else ("", "")
            lines.append(f"| {first[0]} | {first[1]} | {use.problem_set} | {use.question} | {_cell(use.how)} |")
    return "\n".join(lines) + "\n"


def syllabus(course: Course) -> str:
    """What each problem set teaches, how long it takes, what it builds on, and what to read."""
    lines = [f"# {course.settings.title}: syllabus", "", NOTE, ""]
    lines += ["| problem set | weight | out | due | points |", "|---|---:|---|---|---:|"]
    sets = [(listing, course.problem_set(listing.slug)) for listing in course.settings.problem_sets]
    for listing, problem_set in sets:
        points = sum(question.points for question in problem_set.assignment.questions)
        dates = f"{listing.released:%d %B %Y} | {listing.due:%d %B %Y}"
        lines.append(f"| {listing.slug}: {problem_set.assignment.title} | {listing.weight:g} % | {dates} | {points:g} |")
    for _, problem_set in sets:
        lines += ["", *_chapter(problem_set)]
    return "\n".join(lines) + "\n"


def _chapter(problem_set: ProblemSet) -> list[str]:
    assignment = problem_set.assignment
    handout = (problem_set.folder / "handout.md").read_text(encoding="utf-8")
    lines = [f"## {assignment.slug}: {assignment.title}"]
    if line := overview(assignment):
        lines += ["", line]
    lines.append("")
    for tier in ("core", "deepen", "research"):
        titles = [
            question.title for question in assignment.questions if question.tier == tier and question.kind != "prediction"
        ]
        if titles:
            lines.append(f"- **{tier.capitalize()}:** {'; '.join(titles).rstrip('.')}")
    lines += ["", f"Builds on: {_builds_on(problem_set)}."]
    documents = sorted({_DOCUMENT.match(row)[0] for question in assignment.questions for row in question.ledger})  # type: ignore[index]
    if documents:
        lines += ["", f"Follows: {', '.join(documents)} (see [the documents](documents.md))."]
    if reading := _READING.search(handout):
        lines += ["", f"Reading: {' '.join(reading[1].split())}"]
    return lines


def _builds_on(problem_set: ProblemSet) -> str:
    carried = problem_set.assignment.carried
    brought = [f"`{name}` of {entry.problem_set}" for entry in carried for name in entry.names]
    return "Python, NumPy, and what the problem sets before it teach" + (
        f"; students bring {', '.join(brought)}" if brought else ""
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def guides(course: Course) -> dict[str, str]:
    """The guides by their names in docs/."""
    return {"ledger.md": ledger_guide(course), "syllabus.md": syllabus(course)}


def main() -> None:
    """Write the guides of the course in the current folder."""
    course = load_course(Path.cwd())
    for name, text in guides(course).items():
        (course.root / "docs" / name).write_text(text, encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
