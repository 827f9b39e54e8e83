"""Grades as plain CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from autograder.assignment import Question
from autograder.exporting import Export, Wanted, Written, defused
from autograder.grades import Grade
from autograder.text import points_text


def plain_csv(grades: Sequence[Grade], questions: Sequence[Question]) -> bytes:
    """A row a student: a column a question, then the sums. The points of a written question are empty until it is graded."""
    header = ["student", "attempt", "submitted", *(question.id for question in questions)]
    sums = ["automatic", "manual", "days late", "penalty", "points", "possible", "complete"]
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*header, *sums])
    for grade in grades:
        by_question = [grade.by_question.get(question.id) for question in questions]
        submitted = grade.attempt.submitted
        numbers = [grade.automatic, sum(grade.manual.values()), grade.days_late, grade.penalty, grade.points, grade.possible]
        writer.writerow(
            [
                defused(grade.student),
                grade.attempt.number,
                submitted.isoformat(timespec="seconds") if submitted else "",
                *("" if points is None else points_text(points) for points in by_question),
                *map(points_text, numbers),
                "yes" if grade.complete else "no",
            ]
        )
    return text.getvalue().encode()


def _write(wanted: Wanted) -> Written:
    return Written({"": plain_csv(wanted.grades, wanted.questions)}, len(wanted.grades))


EXPORT = Export("csv", _write)
