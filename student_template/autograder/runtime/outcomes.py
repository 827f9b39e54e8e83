"""How tests end: a value that a student's own run and the grader share, and that nothing heavy is needed to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a test ended. Only `FAILED` and `BLOCKED` count against a student."""

    PASSED = "passed"
    FAILED = "failed"  # the answer is wrong, or the submission raised or was stopped
    BLOCKED = "blocked"  # not run: what it needs did not pass, or was stopped before
    FAULT = "fault"  # the test or the grader failed


class Cause(StrEnum):
    """What a failed test met where that was no wrong answer."""

    STUB = "stub"
    UNDEFINED = "undefined"
    STOPPED = "stopped"
    BEYOND = "beyond"  # the test's own code took more time or memory than it may
    OTHER = ""


@dataclass(frozen=True)
class Outcome:
    """How one test ended. `message` may tell of the test's inputs and expected values; `safe`, `title` and `hint` do not.

    `uses` are the names of the submission that the test asked for, whether or not it got them; `missing` is the one that is
    not defined, and `similar` one that is defined and may be meant instead.

    `fix_first` are functions of other questions that the test builds on and that fail their own tests. `follow_through` is
    how the test ends where these are right, and `credit` the share of the points that it earns by that.
    """

    test: str
    question: str
    title: str
    hint: str
    points: float
    hidden: bool
    status: Status
    message: str
    safe: str
    seconds: float
    uses: tuple[str, ...] = ()
    cause: Cause = Cause.OTHER
    missing: str = ""
    similar: str = ""
    fix_first: tuple[str, ...] = ()
    follow_through: Status | None = None
    credit: float = 0.0

    @property
    def earned(self) -> float:
        return self.points if self.status is Status.PASSED else self.points * self.credit

    @property
    def is_undone(self) -> bool:
        """Whether the test met nothing but the stub."""
        return self.cause is Cause.STUB


def all_undone(outcomes: Sequence[Outcome]) -> bool:
    """Whether a question has not been begun: its tests met the stub, or were not run because others did."""
    undone = [outcome.is_undone for outcome in outcomes if outcome.status is not Status.BLOCKED]
    return bool(undone) and all(undone)
