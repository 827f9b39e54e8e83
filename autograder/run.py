"""Hand submissions to grading workers, one a core, and put every record into the journal as it arrives."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Generic, TypeVar

from autograder import __version__, scoring
from autograder.course import ProblemSet
from autograder.intake import Submission
from autograder.journal import Attempt, Journal, Record, Stored

# A worker that is silent for longer than a submission's whole time and this has a fault of its own.
MARGIN_SECONDS = 60.0
TRIES = 2
SHOWN = 10  # tests named in one message
Key = TypeVar("Key", bound=Hashable)


class WorkerError(Exception):
    """A worker could not start, or the tests could not be collected; the message is its own output."""


@dataclass
class _Worker(Generic[Key]):
    process: subprocess.Popen[bytes]
    connection: Connection
    complaints: Any
    ready: bool = False
    key: Key | None = None
    deadline: float = field(default_factory=lambda: time.monotonic() + MARGIN_SECONDS)

    def give(self, key: Key, task: Task, seconds: float) -> None:
        self.key = key
        self.deadline = time.monotonic() + seconds + MARGIN_SECONDS
        header = {
            "student": task.submission.student,
            "filename": task.submission.filename,
            "tests": task.tests,
            "first_failure": task.first_failure,
        }
        # One that has just ended is found out when its answer is read.
        with contextlib.suppress(ConnectionError):
            self.connection.send_bytes(json.dumps(header).encode())
            self.connection.send_bytes(task.submission.source)

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


@dataclass(frozen=True)
class Conditions:
    """What submissions are graded under: which sandbox (empty: the first that works), and which share of the limits.

    With `unsound`, also by tests that the reference solution itself fails: for their author, who wants to see all of it.
    """

    backend: str = ""
    share: float = 1.0
    unsound: bool = False


@dataclass(frozen=True)
class Task:
    """A submission to grade: by all tests, or only by those named, in that order; with `first_failure`, up to the first."""

    submission: Submission
    tests: tuple[str, ...] | None = None
    first_failure: bool = False


def grade(
    root: Path,
    problem_set: ProblemSet,
    attempts: Sequence[Attempt],
    journal: Journal,
    known: Callable[[Attempt], Stored | None],
    *,
    jobs: int,
    conditions: Conditions = Conditions(),
    on_done: Callable[[Stored], None] = lambda stored: None,
) -> list[Stored]:
    """Grade every attempt for which `known` has no grading; each record is in the journal before the next is taken.

    Returns one grading an attempt, in their order.
    """
    found = {attempt: stored for attempt in attempts if (stored := known(attempt))}
    for stored in found.values():
        on_done(stored)
    waiting = {(attempt.student, attempt.number): attempt for attempt in attempts if attempt not in found}
    for key, record in graded(root, problem_set, _Tasks(waiting, journal), jobs=jobs, conditions=conditions):
        found[waiting[key]] = journal.append(waiting[key], record)
        on_done(found[waiting[key]])
    return [found[attempt] for attempt in attempts]


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
    root: Path, problem_set: ProblemSet, tasks: Mapping[Key, Task], *, jobs: int, conditions: Conditions = Conditions()
) -> Iterator[tuple[Key, Record]]:
    """Yield each task's key with its record. What the grader failed at is tried once more, by a new worker."""
    queue = deque(tasks)
    tries: dict[Key, int] = {}
    failures: dict[Key, Record] = {}
    workers: list[_Worker[Key]] = [_start(root, problem_set.slug, conditions) for _ in range(min(jobs, len(queue)))]
    try:
        while queue or any(worker.key is not None for worker in workers):
            if not workers:
                workers.append(_start(root, problem_set.slug, conditions))
            timeout = max(0.0, min(worker.deadline for worker in workers) - time.monotonic())
            ready = wait([worker.connection for worker in workers], timeout)
            for worker in list(workers):
                if worker.connection not in ready:
                    if time.monotonic() < worker.deadline or not (worker.key is not None or not worker.ready):
                        continue
                    worker.process.kill()
                answer = _receive(worker)
                key = worker.key
                worker.key = None
                if answer is None:
                    workers.remove(worker)
                    worker.stop()
                    if not worker.ready:
                        raise WorkerError(worker.said() or "a grading worker ended before it was ready")
                    answer = {"fault": f"the grading worker ended: {worker.said()[-300:] or worker.process.returncode}"}
                elif "failed" in answer:
                    raise WorkerError(answer["failed"])
                elif not worker.ready:
                    worker.ready = True
                    if answer["unsound"] and not conditions.unsound:
                        raise WorkerError(_unsound(answer["unsound"], problem_set.slug))
                if key is not None:
                    tries[key] = tries.get(key, 0) + 1
                    fault = "fault" in answer or answer["extra_data"]["provenance"]["fault"]
                    if not fault:
                        yield key, answer
                    elif tries[key] < TRIES:
                        failures[key] = answer
                        queue.append(key)
                    else:
                        yield key, _sound(answer, failures.get(key), tasks[key].submission, problem_set)
                if queue and worker in workers:
                    worker.give(queue[0], tasks[queue.popleft()], problem_set.limits.submission_seconds)
                elif worker in workers:
                    worker.deadline = float("inf")
    finally:
        for worker in workers:
            worker.stop()


def _unsound(tests: list[str], slug: str) -> str:
    lines = ["the reference solution fails tests here, so nothing is graded by them:", *tests[:SHOWN]]
    if len(tests) > SHOWN:
        lines.append(f"and {len(tests) - SHOWN} more")
    advice = (
        f"`course validate {slug}` says more; a package of another version than the course was made with may be the reason"
    )
    return "\n".join([*lines, advice])


def _sound(answer: Record, earlier: Record | None, submission: Submission, problem_set: ProblemSet) -> Record:
    """A record for a submission that the grader failed at, even where no worker lived to write one."""
    for candidate in (answer, earlier):
        if candidate and "extra_data" in candidate:
            return candidate
    return scoring.record(
        problem_set,
        [],
        slips={},
        answers={},
        figures={},
        report={"problems": [], "names": []},
        output="",
        staff_output="",
        fault=str(answer["fault"]),
        peak_memory=0,
        provenance={
            "student": submission.student,
            "problem_set": problem_set.slug,
            "filename": submission.filename,
            "submission": submission.sha256,
            "suite": problem_set.suite_hash(),
            "engine": __version__,
        },
        started=time.time(),
        seconds=0.0,
    )


def _receive(worker: _Worker[Key]) -> Record | None:
    with contextlib.suppress(EOFError, OSError):
        answer: Record = json.loads(worker.connection.recv_bytes())
        return answer
    return None


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
                json.dumps(asdict(conditions)),
            ],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=complaints,
            stderr=complaints,
            # The tests' own arithmetic is small; threads would only get in the way of the other workers.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"},
        )
    return _Worker(process, Connection(ours.detach()), complaints)
