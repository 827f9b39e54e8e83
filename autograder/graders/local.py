"""Grading on this machine: worker processes, one per core."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Generic

from autograder.course import ProblemSet
from autograder.graders import TICK_SECONDS, Key, Waiting
from autograder.graders.process import WorkerProcess, fault_record
from autograder.messages import USUAL, Conditions, Graded, Task
from autograder.record import Record


def cores() -> int:
    """The number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class LocalGrader:
    """Grades in at most `jobs` processes of this machine."""

    jobs: int

    def __call__(
        self,
        root: Path,
        problem_set: ProblemSet,
        tasks: Iterable[tuple[Key, Task] | None],
        *,
        conditions: Conditions = USUAL,
    ) -> Iterator[tuple[Key, Record] | None]:
        pool = _Pool(root, problem_set, Waiting(tasks), self.jobs, conditions)
        try:
            while pool.busy():
                records = pool.next_records()
                yield from records
                if not records:
                    yield None
        finally:
            for worker in pool.workers:
                worker.stop()


class _Pool(Generic[Key]):
    """The workers, each with the task that it has or, as long as it starts, is to have."""

    def __init__(
        self, root: Path, problem_set: ProblemSet, waiting: Waiting[Key], jobs: int, conditions: Conditions
    ) -> None:
        self.root = root
        self.problem_set = problem_set
        self.waiting = waiting
        self.jobs = jobs
        self.conditions = conditions
        self.workers: dict[WorkerProcess, tuple[Key, Task] | None] = {}

    def busy(self) -> bool:
        """Give out what waits; returns whether anything is left to do."""
        for worker, held in self.workers.items():
            if held is None and (following := self.waiting.take()):
                self.workers[worker] = following
                if worker.ready:
                    self._give(worker, following[1])
        while len(self.workers) < self.jobs:
            following = self.waiting.take()
            if following is None and self.waiting.over:
                break
            # Where more may come, a worker without a task is one that will not have to be waited for.
            self.workers[WorkerProcess(self.root, self.problem_set.slug, self.conditions)] = following
        return not self.waiting.over or any(self.workers.values())

    def next_records(self) -> list[tuple[Key, Record]]:
        """Wait for replies, not for long, and return the records among them."""
        records = []
        for worker in self._replying():
            was_ready, reply = worker.ready, worker.take()
            held = self.workers[worker]
            if not was_ready and reply is not None:
                if held:
                    self._give(worker, held[1])
                else:
                    worker.rest()
                continue
            if reply is None:
                del self.workers[worker]
                worker.stop()
            else:
                self.workers[worker] = None
                worker.rest()
            if held is not None:
                key, task = held
                if isinstance(reply, Graded):
                    record = reply.record
                else:
                    record = fault_record(self.problem_set, task.submission, worker.ended())
                if settled := self.waiting.settle(key, task, record):
                    records.append((key, settled))
        return records

    def _give(self, worker: WorkerProcess, task: Task) -> None:
        worker.give(task, self.problem_set.limits.submission_seconds)

    def _replying(self) -> list[WorkerProcess]:
        """Wait until a worker has a reply or is overdue; returns those. An overdue worker is killed, so it has ended."""
        ready = wait([worker.connection for worker in self.workers], TICK_SECONDS)
        now = time.monotonic()
        overdue = [worker for worker in self.workers if worker.connection not in ready and now >= worker.deadline]
        for worker in overdue:
            worker.process.kill()
        return [worker for worker in self.workers if worker.connection in ready or worker in overdue]
