"""The guides that are written from the sources: where each row of the ledger is graded, and the syllabus.

`python -m autograder.authoring.guides` writes both into docs/, for the course in the current folder.
"""

from __future__ import annotations

import re
from pathlib import Path

from autograder.authoring.citations import citations, cited_by
from autograder.authoring.frame import overview
from autograder.course import Course, ProblemSet, load_course

NOTE = "<!-- Written by `python -m autograder.authoring.guides`; edit the sources instead. -->"
# An entry of a handout's reading list.
_READING = re.compile(r"\*\*What to read next\.\*\*\s*(.+?)(?=\n\n|\Z)", re.DOTALL)


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
    for row, graded_by in citations(course).items():
        quantity = _cell(course.ledger.quantity(row))
        if not graded_by:
            reason = "nothing yet" if course.ledger.gradable(row) else f"not gradable: {_cell(course.ledger.note(row))}"
            lines.append(f"| {row} | {quantity} | – | – | {reason} |")
        for place, citation in enumerate(graded_by):
            first = f"| {row} | {quantity} |" if place == 0 else "|  |  |"
            lines.append(f"{first} {citation.problem_set} | {citation.question} | {_cell(citation.how)} |")
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
    documents = sorted({row.partition("-")[0] for row, _ in cited_by(problem_set)})
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
