"""What a submission may use: every limit, its default, and how a problem set or a question changes it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from autograder.guest.confine import GuestLimits
from autograder.schema import Count, Positive, Strict

MB, KB = 2**20, 2**10


class AssignmentLimits(Strict):
    """The limits that a problem set sets for itself; what it leaves out is the course's."""

    call_seconds: Positive | None = None
    submission_seconds: Positive | None = None
    processor_seconds: Count | None = None


class QuestionLimits(Strict):
    """The limits of one question. `call_seconds` replaces the problem set's; the others are added to it."""

    call_seconds: Positive | None = None
    submission_seconds: Annotated[float, Field(ge=0)] = 0
    processor_seconds: Annotated[int, Field(ge=0)] = 0


class Limits(Strict):
    """The `limits` of `course.yml`, and what becomes of them for one problem set.

    `call_seconds` and `load_seconds` (one call; the module or one cell) are CPU time, and `WAITING_SHARE` times as
    much wall-clock time. `submission_seconds` is wall-clock time. `processor_seconds` is CPU time of one guest process.
    """

    call_seconds: Positive = 5.0
    load_seconds: Positive = 20.0
    submission_seconds: Positive = 120.0
    processor_seconds: Count = 120
    memory_mb: Count = 1024  # on top of the warm interpreter's
    scratch_mb: Count = 64
    scratch_files: Count = 1000
    open_files: Annotated[int, Field(ge=16)] = 64
    threads: Count = 32
    message_mb: Annotated[int, Field(gt=0, le=256)] = 64
    output_kb: Count = 4096

    def for_problem_set(self, own: AssignmentLimits, questions: Sequence[QuestionLimits]) -> Limits:
        """These limits with what a problem set and its questions say about theirs."""
        changed = own.model_dump(exclude_none=True)
        for name in ("submission_seconds", "processor_seconds"):
            changed[name] = changed.get(name, getattr(self, name)) + sum(getattr(question, name) for question in questions)
        return self.model_copy(update=changed)

    def at_share(self, share: float) -> Limits:
        """A share of the time and memory, and all of the rest."""
        seconds = {name: getattr(self, name) * share for name in ("call_seconds", "load_seconds", "submission_seconds")}
        counts = {name: math.ceil(getattr(self, name) * share) for name in ("processor_seconds", "memory_mb")}
        return self.model_copy(update={**seconds, **counts})

    @property
    def message_bytes(self) -> int:
        """The largest message that a guest may send."""
        return self.message_mb * MB

    @property
    def output_bytes(self) -> int:
        """How much one guest may print."""
        return self.output_kb * KB

    @property
    def guest(self) -> GuestLimits:
        """What the kernel enforces on one guest."""
        return GuestLimits(
            memory_bytes=self.memory_mb * MB,
            cpu_seconds=self.processor_seconds,
            scratch_bytes=self.scratch_mb * MB,
            scratch_files=self.scratch_files,
            open_files=self.open_files,
            threads=self.threads,
        )
