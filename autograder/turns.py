"""Whose attempt is graded next, where attempts arrive one by one: students take turns, and each has so many a day."""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from collections.abc import Callable, Iterator

from autograder import __version__
from autograder.course import Course, ProblemSet
from autograder.journal import Attempt, Journal, Stored
from autograder.messages import Task
from autograder.run import task_of
from autograder.suite_hash import suite_hash


class Turns(Iterator[tuple[Attempt, Task] | None]):
    """The tasks of a journal, as a grader takes them; `None` where there is none now.

    The student whose last turn is longest ago is next, with the newest attempt that is not graded. Who has had as many
    attempts graded today as the policy allows waits for tomorrow. Only when nobody is left are attempts graded again that
    earlier tests have graded; those gradings count after `course regrade --apply`. All of it is worked out from the journal.
    """

    def __init__(
        self,
        course: Course,
        problem_set: ProblemSet,
        journal: Journal,
        now: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
    ) -> None:
        self._journal = journal
        self._now = now
        self._zone = course.zone
        self.most = course.settings.policy.attempts_a_day
        self._suite = suite_hash(problem_set)
        self._turn = itertools.count(1)
        self._last_turn: Counter[str] = Counter()
        self._waiting: dict[str, list[Attempt]] = {}
        self._begun: Counter[tuple[str, datetime.date]] = Counter()
        self._outdated: list[Attempt] = []
        self._known: set[Attempt] = set()
        self._again: set[Attempt] = set()
        self.failed: list[Attempt] = []
        for student in journal.students():
            self._recall(student)

    def __next__(self) -> tuple[Attempt, Task] | None:
        today = self.today()
        ready = [student for student in self._waiting if self._begun[student, today] < self.most]
        if ready:
            student = min(ready, key=self._last_turn.__getitem__)
            attempt = self._waiting[student].pop()
            if not self._waiting[student]:
                del self._waiting[student]
            self._last_turn[student] = next(self._turn)
            self._begun[student, today] += 1
        elif self._outdated:
            attempt = self._outdated.pop()
            self._again.add(attempt)
        else:
            return None
        return attempt, task_of(attempt, self._journal)

    def today(self) -> datetime.date:
        """The day in the course's time zone."""
        return self._now().astimezone(self._zone).date()

    def add(self, attempt: Attempt) -> bool:
        """Let an attempt wait. Returns whether it is new."""
        if attempt in self._known:
            return False
        self._known.add(attempt)
        self._waiting.setdefault(attempt.student, []).append(attempt)
        return True

    def waiting(self) -> dict[str, int]:
        """How many attempts of each student are not graded."""
        return {student: len(attempts) for student, attempts in self._waiting.items()}

    def done(self, attempt: Attempt, stored: Stored) -> bool:
        """Note how a task ended. Returns whether the attempt was graded for the first time."""
        again = attempt in self._again
        self._again.discard(attempt)
        if not stored.record.is_sound and not again:
            self.failed.append(attempt)
            self._begun[attempt.student, self.today()] -= 1  # a grader's fault is nobody's attempt
        return stored.record.is_sound and not again

    def held(self) -> dict[str, int]:
        """How many attempts of each student wait for tomorrow."""
        today = self.today()
        return {
            student: len(attempts) for student, attempts in self._waiting.items() if self._begun[student, today] >= self.most
        }

    def _recall(self, student: str) -> None:
        """Take up from the journal what waits, and what was begun today."""
        in_force = self._journal.in_force(student)
        records = self._journal.records(student)
        first = {stored.attempt: stored for stored in reversed(records) if stored.record.is_sound}
        for stored in first.values():
            started = datetime.datetime.fromisoformat(stored.record.provenance.started).astimezone(self._zone)
            self._begun[student, started.date()] += 1
        current = {
            stored.attempt
            for stored in records
            if (stored.record.provenance.suite, stored.record.provenance.engine) == (self._suite, __version__)
            and stored.record.is_sound
        }
        for attempt in self._journal.attempts(student):
            if attempt.number not in in_force:
                self.add(attempt)
            else:
                self._known.add(attempt)
                if attempt.number not in current:
                    self._outdated.append(attempt)
