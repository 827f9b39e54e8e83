"""The tables a TA reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autograder.course import ProblemSet
from autograder.grades import Grade
from autograder.intake import Unreadable
from autograder.journal import Journal, Run, Stored
from autograder.record import QuestionScore
from autograder.regrade import Change
from autograder.text import MARK, bounded, points_text

if TYPE_CHECKING:
    from autograder.authoring.sources import Check  # loads what makes notebooks, which takes seconds


def grades_table(problem_set: ProblemSet, stored: Sequence[Stored], listed: Sequence[Unreadable]) -> Group:
    """Student, points a question, total, and what needs a look; below, what the questions are called, and other files."""
    questions = problem_set.assignment.questions
    automatic = sum(question.points for question in questions if question.kind != "written")
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("student", no_wrap=True)
    for place, question in enumerate(questions, start=1):
        table.add_column(f"{place}\n/{points_text(question.points)}", justify="right", no_wrap=True)
    table.add_column(f"total\n/{points_text(automatic)}", justify="right", style="bold", no_wrap=True)
    table.add_column("needs a look", overflow="fold")
    for grading in stored:
        record = grading.record
        cells = [_cell(question, record.is_sound) for question in record.questions]
        total = Text(points_text(record.score)) if record.is_sound else Text("?", "red")
        student = record.provenance.student + (f" #{grading.attempt}" if grading.attempt > 1 else "")
        table.add_row(student, *cells, total, plain("; ".join(record.look_lines), 110))
    legend = "   ".join(f"{place} {question.id}" for place, question in enumerate(questions, start=1))
    others = [_other(entry) for entry in listed]
    return Group(Text(f"{problem_set.slug}: {problem_set.assignment.title}", "bold"), table, Text(legend, "dim"), *others)


def _other(entry: Unreadable) -> Text:
    """A file that needs a person."""
    mark = Text("graded, but look: " if entry.graded else "not graded: ", "yellow" if entry.graded else "red")
    whose = f" ({entry.student})" if entry.student else ""
    return mark + plain(f"{entry.name}{whose}: {entry.reason}", 360)


def changes_table(problem_set: ProblemSet, run: Run, changes: Sequence[Change], faults: Sequence[Stored]) -> Group:
    """What a regrade changes: a line a student, attempt and question."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("student", "attempt", "question"):
        table.add_column(name, no_wrap=True)
    for name in ("old", "new"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("why", overflow="fold")
    for change in changes:
        new = Text(points_text(change.new), "green" if change.new > change.old else "red")
        where = (change.student, str(change.attempt), change.question)
        table.add_row(*where, points_text(change.old), new, "\n".join(change.why))
    for fault in faults:
        where = (fault.record.provenance.student, str(fault.attempt), "")
        table.add_row(*where, "", Text("?", "red"), plain(f"grader fault, points stay: {fault.record.fault}", 110))
    attempts = sum(map(len, run.records.values()))
    changed = len({(change.student, change.attempt) for change in changes})
    title = f"{problem_set.slug}: regrade {run.number}: {changed} of {attempts} attempts change"
    return Group(Text(title, "bold"), *([table] if changes or faults else []))


def checks_table(problem_set: ProblemSet, checks: Sequence[Check], seconds: float) -> Group:
    """A line a check, and below the table the problems of those that fail and the remarks of the others."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("check", overflow="fold")
    table.add_column("", no_wrap=True)
    table.add_column("what was found", overflow="fold")
    lines = []
    for check in checks:
        mark = Text("fails", "bold red") if check.problems else Text("good", "green")
        found, *remarks = check.detail.split("\n")
        table.add_row(Text(check.name), mark, Text(found))
        if check.problems or remarks:
            lines += [Text(check.name, "bold red" if check.problems else "dim")]
            lines += [Text(f"  {line}") for line in [*check.problems, *remarks]]
    failed = sum(bool(check.problems) for check in checks)
    verdict = f"{failed} of {len(checks)} checks fail" if failed else f"all {len(checks)} checks are good"
    title = f"{problem_set.slug}: {problem_set.assignment.title}: {verdict} ({seconds:.0f} s)"
    return Group(Text(title, "bold"), table, *lines)


def history_table(problem_set: ProblemSet, journal: Journal, student: str, found: Grade | None) -> Group:
    """All attempts and gradings of a student, and the grade they give, if they do."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("attempt", "submitted", "grading", "points", "counts", "from"):
        table.add_column(name, overflow="fold", no_wrap=name != "from", justify="right" if name == "points" else "left")
    counting = journal.in_force(student)
    records = journal.records(student)
    for attempt in journal.attempts(student):
        submitted = attempt.submitted.isoformat(" ", "minutes") if attempt.submitted else "unknown"
        own = [stored for stored in records if stored.attempt == attempt.number]
        for stored in own:
            counts = "yes" if counting.get(attempt.number) == stored else ""
            if counts and found and found.attempt == attempt:
                counts = "yes: the grade"
            made = f"{stored.run}: {stored.record.provenance.started[:16]}"
            points = points_text(stored.record.score) if stored.record.is_sound else Text("fault", "red")
            table.add_row(str(attempt.number), submitted, made, points, counts, plain(attempt.origin, 60))
        if not own:
            table.add_row(str(attempt.number), submitted, "not graded yet", "", "", plain(attempt.origin, 60))
    lines: list[RenderableType] = [Text(f"{problem_set.slug}: {problem_set.assignment.title}: {student}", "bold"), table]
    if found:
        lines += [Text(f"grade: {points_text(found.points)} of {points_text(found.possible)}"), *map(Text, found.notes)]
    return Group(*lines)


def _cell(question: QuestionScore, is_sound: bool) -> Text:
    if not is_sound:
        return Text("?", "red")
    if question.kind == "written":
        return Text("-" if question.undone else "read", "" if question.undone else "cyan")
    if question.undone:
        return Text("-", "dim")
    full = question.score == question.points
    return Text(points_text(question.score), "green" if full else "yellow" if question.score else "red")


def plain(text: str, width: int) -> Text:
    """Text from a submission, so that a terminal shows it and obeys nothing in it."""
    return Text(re.sub(r"[\n\t]", MARK, bounded(text, width)))
