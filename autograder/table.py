"""The table a TA reads after grading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from autograder.course import ProblemSet
from autograder.journal import Stored
from autograder.submissions import Unreadable


def number(value: float) -> str:
    """A score without needless decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def grades_table(problem_set: ProblemSet, stored: Sequence[Stored], unreadable: Sequence[Unreadable]) -> Group:
    """Student, points a question, total, and what needs a look. Questions are numbered; the last line names them."""
    questions = problem_set.assignment.questions
    automatic = sum(question.points for question in questions if question.kind != "written")
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("student", no_wrap=True)
    for place, question in enumerate(questions, start=1):
        table.add_column(f"{place}\n/{number(question.points)}", justify="right", no_wrap=True)
    table.add_column(f"total\n/{number(automatic)}", justify="right", style="bold", no_wrap=True)
    table.add_column("needs a look", overflow="fold")
    for one in stored:
        extra = one.record["extra_data"]
        fault = bool(extra["provenance"]["fault"])
        cells = [_cell(question, fault) for question in extra["questions"]]
        total = Text("?", "red") if fault else Text(number(one.record["score"]))
        table.add_row(one.provenance["student"], *cells, total, plain("; ".join(extra["look"]), 110))
    for entry in unreadable:
        table.add_row(plain(entry.name, 24), *["" for _ in questions], "", plain(f"not graded: {entry.reason}", 110))
    legend = "   ".join(f"{place} {question.id}" for place, question in enumerate(questions, start=1))
    return Group(Text(f"{problem_set.slug}: {problem_set.assignment.title}", "bold"), table, Text(legend, "dim"))


def _cell(question: dict[str, Any], fault: bool) -> Text:
    if fault:
        return Text("?", "red")
    if question["kind"] == "written":
        return Text("-" if question["undone"] else "read", "" if question["undone"] else "cyan")
    if question["undone"]:
        return Text("-", "dim")
    full = question["score"] == question["max_score"]
    return Text(number(question["score"]), "green" if full else "yellow" if question["score"] else "red")


def plain(text: str, width: int) -> Text:
    """Text from a submission, so that a terminal shows it and obeys nothing in it."""
    shown = "".join(character if character.isprintable() else "�" for character in text)
    return Text(shown if len(shown) <= width else shown[: width - 1] + "…")
