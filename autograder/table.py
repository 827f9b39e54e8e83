"""The tables a TA reads."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from autograder.changes import Change
from autograder.course import CourseSettings, ProblemSet
from autograder.grades import Grade
from autograder.intake import Unreadable
from autograder.journal import Journal, Run, Stored
from autograder.record import QuestionScore
from autograder.sheet import Column, Row, Sheet
from autograder.text import MARK, bounded, points_text
from autograder.totals import Contribution, Total

if TYPE_CHECKING:
    from autograder.authoring.check import Check  # loads what makes notebooks, which takes seconds

NOTE, LISTED = 240, 400  # characters shown of a reason, and of a file's name with its reason


def grades_table(
    problem_set: ProblemSet,
    stored: Sequence[Stored],
    listed: Sequence[Unreadable],
    grades: Sequence[Grade] = (),
) -> Sheet:
    """Student, points per question, total, and what needs a look; below, what the questions are called, and other files.

    Where lateness or a person changes what the tests gave anybody, two columns more say how late the attempt that counts is
    and which grade it has.
    """
    counting = {(grade.student, grade.attempt.number): grade for grade in grades}
    differ = any(grade.days_late > 0 or grade.manual for grade in grades)
    questions = problem_set.assignment.questions
    automatic = sum(question.points for question in questions if question.kind != "written")
    columns = [Column("student")]
    for place, question in enumerate(questions, start=1):
        columns.append(Column(question.id, str(place), f"/{points_text(question.points)}", right=True))
    columns.append(Column("total", "total", f"/{points_text(automatic)}", right=True))
    if differ:
        columns += [Column("late"), Column("grade", right=True)]
    rows = []
    for grading in stored:
        record = grading.record
        grade = counting.get((record.provenance.student, grading.attempt))
        cells = [_cell(question, record.is_sound) for question in record.questions]
        total = Text(points_text(record.score), "bold") if record.is_sound else Text("?", "red")
        student = record.provenance.student + (f" #{grading.attempt}" if grading.attempt > 1 else "")
        notes = [plain(line, NOTE) for line in record.look_lines]
        of_grade = [Text(grade.lateness if grade else "", "yellow"), Text(points_text(grade.points) if grade else "")]
        rows.append(
            Row([Text(student), *_for(problem_set, record.questions, cells), total, *(of_grade if differ else [])], notes)
        )
    legend = Text("   ".join(f"{place} {question.id}" for place, question in enumerate(questions, start=1)), "dim")
    title = f"{problem_set.slug}: {problem_set.assignment.title}"
    return Sheet(title, columns, rows, "needs a look", legend=legend, below=[_other(entry) for entry in listed])


def _for(problem_set: ProblemSet, graded: Sequence[QuestionScore], cells: Sequence[Text]) -> list[Text]:
    """A cell for each question of today; one that a grading does not know is empty."""
    known = {question.id: cell for question, cell in zip(graded, cells, strict=True)}
    return [known.get(question.id, Text("")) for question in problem_set.assignment.questions]


def _other(entry: Unreadable) -> Text:
    """A file that needs a person."""
    mark = Text("graded, but look: " if entry.graded else "not graded: ", "yellow" if entry.graded else "red")
    whose = f" ({entry.student})" if entry.student else ""
    return mark + plain(f"{entry.name}{whose}: {entry.reason}", LISTED)


def changes_table(problem_set: ProblemSet, run: Run, changes: Sequence[Change], faults: Sequence[Stored]) -> Sheet:
    """What a regrade changes: a line a student, attempt and question."""
    columns = [
        Column("student"),
        Column("attempt"),
        Column("question"),
        Column("old", right=True),
        Column("new", right=True),
    ]
    rows = []
    for change in changes:
        new = Text(points_text(change.new), "green" if change.new > change.old else "red")
        where = (change.student, str(change.attempt), change.question, points_text(change.old))
        rows.append(Row([*map(Text, where), new], [plain(why, NOTE) for why in change.why]))
    for fault in faults:
        where = (fault.record.provenance.student, str(fault.attempt), "", "")
        # A traceback's last line says what went wrong; the paths above it do not help a TA.
        reason = fault.record.fault.strip().splitlines()[-1] if fault.record.fault.strip() else "no reason is known"
        why = plain(f"grader fault, points stay: {reason}", LISTED)
        rows.append(Row([*map(Text, where), Text("?", "red")], [why]))
    attempts = sum(map(len, run.records.values()))
    changed = len({(change.student, change.attempt) for change in changes})
    title = f"{problem_set.slug}: regrade {run.number}: {changed} of {attempts} attempts change"
    return Sheet(title, columns, rows, "why")


def checks_table(problem_set: ProblemSet, checks: Sequence[Check], seconds: float) -> Sheet:
    """A line a check with what was found; problems and remarks below it."""
    rows = []
    for check in checks:
        mark = Text("fails", "bold red") if check.problems else Text("look" if check.warnings else "good", "green")
        summary, *remarks = check.detail.split("\n")
        lines = [summary, *check.problems, *check.warnings, *remarks]
        rows.append(Row([Text(check.name), mark], [Text(line) for line in lines if line]))
    failed = sum(bool(check.problems) for check in checks)
    verdict = f"{failed} of {len(checks)} checks fail" if failed else f"all {len(checks)} checks are good"
    title = f"{problem_set.slug}: {problem_set.assignment.title}: {verdict} ({seconds:.0f} s)"
    return Sheet(title, [Column("check"), Column("verdict")], rows, "what was found")


def history_table(
    problem_set: ProblemSet, journal: Journal, student: str, grade: Grade | None, zone: datetime.tzinfo
) -> Sheet:
    """All attempts and gradings of a student, and the grade they give, if they do; times in the course's zone."""
    columns = [Column("attempt"), Column("submitted"), Column("grading"), Column("points", right=True), Column("counts")]
    counting = journal.in_force(student)
    records = journal.records(student)
    rows = []
    for attempt in journal.attempts(student):
        there = attempt.submitted and attempt.submitted.astimezone(zone)
        submitted = there.isoformat(" ", "minutes") if there else "unknown"
        origin = plain(attempt.origin, LISTED)
        own = [stored for stored in records if stored.attempt == attempt.number]
        for stored in own:
            counts = "yes" if counting.get(attempt.number) == stored else ""
            if counts and grade and grade.attempt == attempt:
                counts = "yes: the grade"
            made = f"{stored.run}: {stored.record.provenance.started[:16]}"
            points = Text(points_text(stored.record.score)) if stored.record.is_sound else Text("fault", "red")
            cells = [Text(str(attempt.number)), Text(submitted), Text(made), points, Text(counts)]
            rows.append(Row(cells, [origin]))
        if not own:
            cells = [Text(str(attempt.number)), Text(submitted), Text("not graded yet"), Text(""), Text("")]
            rows.append(Row(cells, [origin]))
    below = []
    if grade:
        below = [Text(f"grade: {grade.in_words}"), *map(Text, grade.notes)]
    title = f"{problem_set.slug}: {problem_set.assignment.title}: {student}"
    return Sheet(title, columns, rows, "from", below=below)


def totals_table(settings: CourseSettings, totals: Sequence[Total]) -> Sheet:
    """What each problem set contributes to a student's total, in percent of the course."""
    listings = settings.problem_sets
    columns = [
        Column("student"),
        *(Column(listing.slug, "", f"/{points_text(listing.weight)}", right=True) for listing in listings),
        Column("total", "", f"/{points_text(sum(listing.weight for listing in listings))}", right=True),
    ]
    rows = []
    for total in totals:
        notes = [Text(f"more may come from {', '.join(total.waiting)}")] if total.waiting else []
        cells = [*map(_contribution, total.contributions), Text(points_text(total.percent), "bold")]
        rows.append(Row([Text(total.student), *cells], notes))
    return Sheet(f"{settings.title}: totals, in percent of the course", columns, rows, "what is not graded yet")


def _contribution(own: Contribution) -> Text:
    if own.grade is None:
        return Text("?", "red") if own.attempted else Text("-", "dim")
    return Text(points_text(own.percent))


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
