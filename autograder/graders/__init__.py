"""The ways to spread grading: on this machine (`local`), or over the workers of a Dask cluster (`cluster`).

A grader takes tasks from whoever has them and gives records as they are done; it knows no journal. `process` is one grading
worker seen from outside, which both use, and `packed` what a worker of a cluster needs of the course.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from autograder.course import ProblemSet
from autograder.messages import USUAL, Conditions, Task
from autograder.record import Record

TRIES = 2
TICK_SECONDS = 0.25
Key = TypeVar("Key", bound=Hashable)


class Grader(Protocol):
    """A way from tasks to records."""

    def __call__(
        self,
        root: Path,
        problem_set: ProblemSet,
        tasks: Iterable[tuple[Key, Task] | None],
        *,
        conditions: Conditions = USUAL,
    ) -> Iterator[tuple[Key, Record] | None]:
        """Yield each task's key with its record, in whatever order they are done.

        A task is taken when a worker is free; `None` among `tasks` says that there is none now. `None` is yielded every
        `TICK_SECONDS` in which nothing was done, so that whoever asks can do other things. What the grader fails at is tried
        once more. Raises `WorkerError` if nothing can be graded.
        """
        ...


class Waiting(Generic[Key]):
    """The tasks that no worker has yet: those to be tried again, and new ones as they are asked for."""

    def __init__(self, tasks: Iterable[tuple[Key, Task] | None]) -> None:
        self._tasks = iter(tasks)
        self._again: deque[tuple[Key, Task]] = deque()
        self._tries: Counter[Key] = Counter()
        self._faults: dict[Key, Record] = {}
        self._closed = False

    def take(self) -> tuple[Key, Task] | None:
        """The next task, `None` if there is none now."""
        if self._again:
            return self._again.popleft()
        if not self._closed:
            try:
                return next(self._tasks)
            except StopIteration:
                self._closed = True
        return None

    @property
    def over(self) -> bool:
        """Whether there is none and, unless one that was taken is put back, will be none."""
        return self._closed and not self._again

    def put_back(self, key: Key, task: Task) -> None:
        """A task whose worker was lost, which is no try."""
        self._again.append((key, task))

    def settle(self, key: Key, task: Task, record: Record) -> Record | None:
        """The record that a task ends with; `None` if it is tried again, because the grader failed at it."""
        self._tries[key] += 1
        if record.is_sound or self._tries[key] == TRIES:
            del self._tries[key]
            first = self._faults.pop(key, record)
            return record if record.is_sound else first
        self._faults[key] = record
        self._again.append((key, task))
        return None
