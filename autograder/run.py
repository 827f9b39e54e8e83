"""Hand submissions to grading workers, one per core, and put every record into the journal as it arrives."""

from __future__ import annotations

import contextlib
import datetime
import math
import os
import socket
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Generic, TypeVar

from autograder import scoring
from autograder.course import CourseError, ProblemSet
from autograder.intake import Submission
from autograder.journal import Attempt, Journal, Stored
from autograder.messages import (
    USUAL,
    CannotGrade,
    Conditions,
    Graded,
    Ready,
    Task,
    dump_conditions,
    receive_reply,
    send_task,
)
from autograder.record import Record
from autograder.suite_hash import suite_hash

# A worker that is silent for longer than a submission's whole time and this has a fault of its own.
MARGIN_SECONDS = 60.0
# So long may a worker take to collect the tests and to run them on the reference.
START_SECONDS = 300.0
TRIES = 2
SHOWN = 10  # tests named in one message
Key = TypeVar("Key", bound=Hashable)


class WorkerError(CourseError):
    """A worker could not start, or the tests could not be collected; the message is its own output."""


@dataclass
class _Worker(Generic[Key]):
    process: subprocess.Popen[bytes]
    connection: Connection
    complaints: Any
    ready: bool = False
    key: Key | None = None
    deadline: float = field(default_factory=lambda: time.monotonic() + START_SECONDS)

    def give(self, key: Key, task: Task, seconds: float) -> None:
        self.key = key
        self.deadline = time.monotonic() + seconds + MARGIN_SECONDS
        # One that has just ended is found out when its reply is read.
        with contextlib.suppress(ConnectionError):
            send_task(self.connection, task)

    def rest(self) -> None:
        """Nothing is asked of it, so its silence means nothing."""
        self.deadline = math.inf

    def take(self) -> tuple[Key | None, Ready | CannotGrade | Graded | None]:
        """Its reply, `None` if it has ended, and the key of the task that this ends."""
        key, self.key = self.key, None
        return key, receive_reply(self.connection)

    def said(self) -> str:
        self.complaints.seek(0)
        return str(self.complaints.read()[-4000:].decode("utf-8", "replace")).strip()

    def stop(self) -> None:
        self.connection.close()
        # With its connection closed a worker ends by itself and takes its sandbox along; kill is for one that hangs.
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def cores() -> int:
    """The number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def grade(
    root: Path,
    problem_set: ProblemSet,
    attempts: Sequence[Attempt],
    journal: Journal,
    known: Callable[[Attempt], Stored | None],
    *,
    jobs: int,
    conditions: Conditions = USUAL,
    at_most: float = math.inf,
    on_done: Callable[[Stored], None] = lambda stored: None,
) -> list[Stored]:
    """Grade every attempt for which `known` has no grading; each record is in the journal before the next is taken.

    After `at_most` seconds no other one is begun. Returns the gradings in the order of their attempts.
    """
    gradings = {attempt: stored for attempt in attempts if (stored := known(attempt))}
    for stored in gradings.values():
        on_done(stored)
    waiting = {(attempt.student, attempt.number): attempt for attempt in attempts if attempt not in gradings}
    tasks = _Tasks(waiting, journal)
    for key, record in graded(root, problem_set, tasks, jobs=jobs, conditions=conditions, at_most=at_most):
        attempt = waiting[key]
        gradings[attempt] = journal.append(attempt, record)
        on_done(gradings[attempt])
    return [gradings[attempt] for attempt in attempts if attempt in gradings]


class _Tasks(Mapping[tuple[str, int], Task]):
    """The tasks of attempts. Bytes are read when a task is asked for: all together may not fit into memory."""

    def __init__(self, attempts: Mapping[tuple[str, int], Attempt], journal: Journal) -> None:
        self._attempts = attempts
        self._journal = journal

    def __getitem__(self, key: tuple[str, int]) -> Task:
        attempt = self._attempts[key]
        return Task(Submission(attempt.student, attempt.filename, self._journal.source(attempt)))

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._attempts)

    def __len__(self) -> int:
        return len(self._attempts)


def graded(
    root: Path,
    problem_set: ProblemSet,
    tasks: Mapping[Key, Task],
    *,
    jobs: int,
    conditions: Conditions = USUAL,
    at_most: float = math.inf,
) -> Iterator[tuple[Key, Record]]:
    """Yield each task's key with its record. What the grader failed at is tried once more, by a new worker.

    After `at_most` seconds none is begun, and the rest has no record.
    """
    until = time.monotonic() + at_most
    waiting = deque(tasks)
    tries: Counter[Key] = Counter()
    faults: dict[Key, Record] = {}
    workers: list[_Worker[Key]] = [_start(root, problem_set.slug, conditions) for _ in range(min(jobs, len(waiting)))]
    try:
        while waiting or any(worker.key is not None for worker in workers):
            if not workers:
                workers.append(_start(root, problem_set.slug, conditions))
            for worker in _replying(workers):
                key, reply = worker.take()
                if reply is None:
                    workers.remove(worker)
                    worker.stop()
                if not isinstance(reply, Graded):
                    _check_start(worker, reply, problem_set, conditions)
                if key is not None:
                    tries[key] += 1
                    if isinstance(reply, Graded):
                        record = reply.record
                    else:
                        record = faults.get(key) or _fault_record(worker, tasks[key], problem_set)
                    if record.is_sound or tries[key] == TRIES:
                        yield key, record
                    else:
                        faults[key] = record
                        waiting.append(key)
                if worker not in workers:
                    continue
                if time.monotonic() >= until:
                    waiting.clear()
                if waiting:
                    following = waiting.popleft()
                    worker.give(following, tasks[following], problem_set.limits.submission_seconds)
                else:
                    worker.rest()
    finally:
        for worker in workers:
            worker.stop()


def _replying(workers: Sequence[_Worker[Key]]) -> list[_Worker[Key]]:
    """Wait until a worker has a reply or is overdue; returns those. An overdue worker is killed, so it has ended."""
    timeout = max(0.0, min(worker.deadline for worker in workers) - time.monotonic())
    ready = wait([worker.connection for worker in workers], None if timeout == math.inf else timeout)
    overdue = [worker for worker in workers if worker.connection not in ready and time.monotonic() >= worker.deadline]
    for worker in overdue:
        worker.process.kill()
    return [worker for worker in workers if worker.connection in ready or worker in overdue]


def _check_start(
    worker: _Worker[Key], reply: Ready | CannotGrade | None, problem_set: ProblemSet, conditions: Conditions
) -> None:
    """Note that a worker is ready. Raises `WorkerError` if it never will be, or if its tests are not to be graded by."""
    if isinstance(reply, CannotGrade):
        raise WorkerError(reply.reason)
    if isinstance(reply, Ready):
        worker.ready = True
        if reply.unsound and not conditions.unsound:
            raise WorkerError(_unsound(reply.unsound, problem_set.slug))
    elif not worker.ready:
        raise WorkerError(worker.said() or "a grading worker ended before it was ready")


def _unsound(tests: list[str], slug: str) -> str:
    lines = ["the reference solution fails tests here, so nothing is graded by them:", *tests[:SHOWN]]
    if len(tests) > SHOWN:
        lines.append(f"and {len(tests) - SHOWN} more")
    advice = (
        f"`course validate {slug}` says more; a package of another version than the course was made with may be the reason"
    )
    return "\n".join([*lines, advice])


def _fault_record(worker: _Worker[Key], task: Task, problem_set: ProblemSet) -> Record:
    """The record of a submission whose worker did not live to write one."""
    fault = f"the grading worker ended: {worker.said()[-300:] or worker.process.returncode}"
    now = datetime.datetime.now(datetime.UTC)
    provenance = scoring.provenance(problem_set, task.submission, suite=suite_hash(problem_set), started=now)
    return scoring.record(problem_set, provenance, scoring.Findings(), fault=fault)


def _start(root: Path, slug: str, conditions: Conditions) -> _Worker[Any]:
    ours, theirs = socket.socketpair()
    # In memory: a full disk must not take away the words that would say so.
    complaints = os.fdopen(os.memfd_create("complaints"), "w+b")
    with theirs:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "autograder.worker",
                str(root),
                slug,
                str(theirs.fileno()),
                dump_conditions(conditions),
            ],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=complaints,
            stderr=complaints,
            # The tests' own arithmetic is small; threads would only get in the way of the other workers.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"},
        )
    return _Worker(process, Connection(ours.detach()), complaints)
