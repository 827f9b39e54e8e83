"""`course grade`: hand submissions to workers, one a core, and put every record into the journal as it arrives."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from autograder import __version__
from autograder.course import ProblemSet
from autograder.journal import Journal, Stored
from autograder.submissions import Submission

# A worker that is silent for longer than a submission's whole time and this has a fault of its own.
MARGIN_SECONDS = 60.0
TRIES = 2


class WorkerError(Exception):
    """A worker could not start, or the tests could not be collected; the message is its own output."""


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    connection: Connection
    complaints: Any
    ready: bool = False
    task: Submission | None = None
    deadline: float = field(default_factory=lambda: time.monotonic() + MARGIN_SECONDS)

    def give(self, submission: Submission, seconds: float) -> None:
        self.task = submission
        self.deadline = time.monotonic() + seconds + MARGIN_SECONDS
        task = {"student": submission.student, "filename": submission.filename}
        self.connection.send_bytes(json.dumps(task).encode())
        self.connection.send_bytes(submission.source)

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
    submissions: Iterable[Submission],
    journal: Journal,
    *,
    jobs: int,
    backend: str | None = None,
    on_done: Callable[[Stored], None] = lambda stored: None,
) -> list[Stored]:
    """Grade every submission that the journal does not hold yet for this suite; returns one record each, in order."""
    done: dict[str, Stored] = {}
    queue: deque[Submission] = deque()
    students = []
    suite = problem_set.suite_hash()
    for submission in submissions:
        students.append(submission.student)
        known = journal.find(submission.student, {"submission": submission.sha256, "suite": suite, "engine": __version__})
        if known:
            done[submission.student] = known
            on_done(known)
        else:
            queue.append(submission)
    for submission, record in _graded(root, problem_set, queue, jobs, backend):
        done[submission.student] = journal.append(submission.student, record)
        on_done(done[submission.student])
    return [done[student] for student in students]


def _graded(
    root: Path, problem_set: ProblemSet, queue: deque[Submission], jobs: int, backend: str | None
) -> Iterator[tuple[Submission, dict[str, Any]]]:
    """Yield each submission of the queue with its record. What the grader failed at is tried once more, by a new worker."""
    tries: dict[str, int] = {}
    failures: dict[str, dict[str, Any]] = {}
    workers = [_start(root, problem_set.slug, backend) for _ in range(min(jobs, len(queue)))]
    try:
        while queue or any(worker.task for worker in workers):
            if not workers:
                workers.append(_start(root, problem_set.slug, backend))
            timeout = max(0.0, min(worker.deadline for worker in workers) - time.monotonic())
            ready = wait([worker.connection for worker in workers], timeout)
            for worker in list(workers):
                if worker.connection not in ready:
                    if time.monotonic() < worker.deadline or not (worker.task or not worker.ready):
                        continue
                    worker.process.kill()
                answer = _receive(worker)
                task = worker.task
                worker.task = None
                if answer is None:
                    workers.remove(worker)
                    worker.stop()
                    if not worker.ready:
                        raise WorkerError(worker.said() or "a grading worker ended before it was ready")
                    answer = {"fault": f"the grading worker ended: {worker.said()[-300:] or worker.process.returncode}"}
                elif not worker.ready:
                    worker.ready = True
                if task is not None:
                    tries[task.student] = tries.get(task.student, 0) + 1
                    fault = "fault" in answer or answer["extra_data"]["provenance"]["fault"]
                    if not fault:
                        yield task, answer
                    elif tries[task.student] < TRIES:
                        failures[task.student] = answer
                        queue.append(task)
                    else:
                        yield task, _sound(answer, failures.get(task.student), task, problem_set)
                if queue and worker in workers:
                    worker.give(queue.popleft(), problem_set.limits.submission_seconds)
                elif worker in workers:
                    worker.deadline = float("inf")
    finally:
        for worker in workers:
            worker.stop()


def _sound(
    answer: dict[str, Any], earlier: dict[str, Any] | None, task: Submission, problem_set: ProblemSet
) -> dict[str, Any]:
    """A record for a submission that the grader failed at, even where no worker lived to write one."""
    for candidate in (answer, earlier):
        if candidate and "extra_data" in candidate:
            return candidate
    fault = str(answer["fault"])
    questions = [
        {"id": question.id, "title": question.title, "kind": question.kind, "score": 0, "max_score": question.points,
         "undone": False}
        for question in problem_set.assignment.questions
    ]  # fmt: skip
    provenance = {
        "student": task.student,
        "problem_set": problem_set.slug,
        "filename": task.filename,
        "submission": task.sha256,
        "suite": problem_set.suite_hash(),
        "engine": __version__,
        "fault": fault,
    }
    extra = {"questions": questions, "problems": [], "look": [f"grader fault: {fault}"], "provenance": provenance}
    return {"score": 0, "output": "", "tests": [], "extra_data": extra}


def _receive(worker: _Worker) -> dict[str, Any] | None:
    with contextlib.suppress(EOFError, OSError):
        answer: dict[str, Any] = json.loads(worker.connection.recv_bytes())
        return answer
    return None


def _start(root: Path, slug: str, backend: str | None) -> _Worker:
    ours, theirs = socket.socketpair()
    complaints = tempfile.TemporaryFile()  # noqa: SIM115
    with theirs:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "autograder.worker",
                str(root),
                slug,
                str(theirs.fileno()),
                *([backend] if backend else []),
            ],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=complaints,
            stderr=complaints,
            # The tests' own arithmetic is small; threads would only get in the way of the other workers.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"},
        )
    return _Worker(process, Connection(ours.detach()), complaints)
