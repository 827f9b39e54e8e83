"""Times of submission from a file, for platforms whose downloads have none: a CSV with the columns student and submitted."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.course import CourseError
from autograder.intake.roster import Roster, read_table
from autograder.intake.submission import Submission


def read_times(path: Path, roster: Roster | None, zone: datetime.tzinfo) -> dict[str, datetime.datetime]:
    """When each student handed in. A time without a zone is the course's. Raises `CourseError`, which names the line."""
    table = read_table(path)
    for column in ("student", "submitted"):
        if column not in table.header:
            raise CourseError(f"{path}: line 1: there is no column `{column}`; there are: {', '.join(table.header)}")
    times: dict[str, datetime.datetime] = {}
    for number, cells in table.rows:
        student = roster.own(cells["student"]) if roster else cells["student"]
        if student is None:
            raise CourseError(f"{path}: line {number}: {cells['student']!r} is not in the roster")
        if student in times:
            raise CourseError(f"{path}: line {number}: {student} appears twice")
        try:
            moment = datetime.datetime.fromisoformat(cells["submitted"])
        except ValueError:
            raise CourseError(
                f"{path}: line {number}: {cells['submitted']!r} is not a time; write it as in 2026-09-20 12:00"
            ) from None
        times[student] = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    return times


def with_times(submissions: Sequence[Submission], times: Mapping[str, datetime.datetime]) -> list[Submission]:
    """The submissions, those without a time of their own with the one in `times`."""
    return [
        replace(submission, submitted=times.get(submission.student)) if submission.submitted is None else submission
        for submission in submissions
    ]
