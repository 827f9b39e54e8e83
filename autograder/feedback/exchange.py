"""Pages where `nbgrader fetch_feedback` looks for them: in the folder `feedback` beside the exchange's `inbound`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from autograder.course import Course, ProblemSet
from autograder.feedback.outbox import put
from autograder.grades import Grade
from autograder.intake import Roster, find_submissions


def place_names(
    folder: Path, course: Course, problem_set: ProblemSet, roster: Roster | None
) -> dict[tuple[str, str], list[str]]:
    """The names of the pages that nbgrader fetches, by student and hash of the submission.

    `folder` is the course's in the exchange. Raises `FormError` or `FileNotFoundError` if it has no submissions.
    """
    questions = problem_set.assignment.questions
    answers = [name for question in questions for name in question.names]
    inbound, module = folder / "inbound", problem_set.assignment.module
    submissions, _ = find_submissions(inbound, module, roster, answers, form="exchange", zone=course.zone)
    names: dict[tuple[str, str], list[str]] = {}
    for submission in submissions:
        if submission.feedback:
            names.setdefault((submission.student, submission.sha256), []).append(submission.feedback)
    return names


def fill_exchange(
    folder: Path, names: Mapping[tuple[str, str], Sequence[str]], pages: Sequence[tuple[Grade, str]]
) -> list[str]:
    """Write each page under its names; returns the students whose counting attempt did not come through this exchange."""
    unreached = []
    for grade, page in pages:
        own = names.get((grade.student, grade.attempt.sha256), ())
        for name in own:
            # Anyone may read a file whose name they know; only its author can work out this one.
            put(folder / "feedback", PurePosixPath(name), page.encode(), 0o644)
        if not own:
            unreached.append(grade.student)
    return unreached
