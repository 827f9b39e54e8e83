"""A page per attempt, as soon as it is graded, where its student finds it.

Hidden tests say nothing there before the due date, unless the course's policy says otherwise.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from autograder.course import Course, ProblemSet
from autograder.feedback.outbox import put
from autograder.feedback.page import student_page
from autograder.feedback.withheld import public_part
from autograder.grades import closes, grade
from autograder.journal import Attempt, Journal, Stored


class Pages:
    """The pages in `folder`: `s001/ps1-1.html`, or as the platform calls them."""

    def __init__(
        self,
        course: Course,
        problem_set: ProblemSet,
        journal: Journal,
        folder: Path,
        now: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
    ) -> None:
        self.course = course
        self.problem_set = problem_set
        self.journal = journal
        self.folder = folder
        self._now = now
        self._names: dict[Attempt, PurePosixPath] = {}
        self._withheld: dict[Attempt, datetime.datetime] = {}

    def expect(self, attempt: Attempt, name: PurePosixPath | None) -> None:
        """Note where the page of an attempt belongs, if its platform says so."""
        if name:
            self._names[attempt] = name

    def write(self, attempt: Attempt, stored: Stored) -> None:
        """Write the page of one grading. Raises `OSError`."""
        made, until = self._now(), self._withheld_until(attempt)
        withheld = until if until and made < until else None
        problem_set, record = self.problem_set, stored.record
        self._withheld.pop(attempt, None)
        if withheld:
            self._withheld[attempt] = withheld
            problem_set, record = public_part(problem_set, record)
        slug, policy = problem_set.slug, self.course.settings.policy
        noted = self.course.noted_days(slug, attempt.student)
        own = grade(problem_set, policy, self._due(attempt), attempt, replace(stored, record=record), {}, noted)
        page = student_page(problem_set, own, made=made, closes=closes(self.course, slug), withheld=withheld)
        # What a platform fetches, its users fetch: all may read it who know its name.
        put(self.folder, self._name(attempt), page.encode(), mode=0o644 if attempt in self._names else 0o640)

    def renew(self, attempt: Attempt, name: PurePosixPath | None = None) -> None:
        """Write the page of a graded attempt that has none, or one from before its due date. Raises `OSError`."""
        self.expect(attempt, name)
        self._withheld.pop(attempt, None)
        due = self._withheld_until(attempt)
        try:
            made = (self.folder / self._name(attempt)).lstat().st_mtime
        except FileNotFoundError:
            made = 0.0
        if made and due and made < due.timestamp() and self._now() < due:
            self._withheld[attempt] = due
            return
        is_current = made and (due is None or made >= due.timestamp())
        if not is_current and (stored := self.journal.in_force(attempt.student).get(attempt.number)):
            self.write(attempt, stored)

    def due(self) -> list[Attempt]:
        """The attempts whose pages still withhold what is due by now."""
        now = self._now()
        return [attempt for attempt, until in self._withheld.items() if until <= now]

    def _withheld_until(self, attempt: Attempt) -> datetime.datetime | None:
        at_once = self.course.settings.policy.hidden_feedback == "at_once"
        return None if at_once else self._due(attempt)

    def _due(self, attempt: Attempt) -> datetime.datetime:
        return self.course.due(self.problem_set.slug, attempt.student)

    def _name(self, attempt: Attempt) -> PurePosixPath:
        return self._names.get(attempt, PurePosixPath(attempt.student, f"{self.problem_set.slug}-{attempt.number}.html"))
