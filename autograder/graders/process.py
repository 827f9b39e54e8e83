"""One grading worker, seen from the process that started it."""

from __future__ import annotations

import contextlib
import datetime
import math
import os
import socket
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

from autograder.course import CourseError, ProblemSet
from autograder.intake import Submission
from autograder.messages import CannotGrade, Conditions, Graded, Ready, Task, dump_conditions, receive_reply, send_task
from autograder.record import Record
from autograder.secret import VARIABLE
from autograder.suite_hash import suite_hash

# A worker that is silent for longer than a submission's whole time and this has a fault of its own.
MARGIN_SECONDS = 60.0
# So long may a worker take to collect the tests and to run them on the reference.
START_SECONDS = 300.0
SHOWN = 10  # tests named in one message


class WorkerError(CourseError):
    """A worker could not start, or the tests could not be collected; the message is its own output."""


class WorkerProcess:
    """A grading worker, started for one problem set.

    `deadline` is when it must have said something, by the monotonic clock. With a `secret`, hidden tests draw from that.
    """

    def __init__(self, root: Path, slug: str, conditions: Conditions, secret: str = "") -> None:
        ours, theirs = socket.socketpair()
        # In memory: a full disk must not take away the words that would say so.
        self._complaints = os.fdopen(os.memfd_create("complaints"), "w+b")
        # The tests' own arithmetic is small; threads would only get in the way of the other workers.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
        arguments = [str(root), slug, str(theirs.fileno()), dump_conditions(conditions)]
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "autograder.worker", *arguments],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._complaints,
                stderr=self._complaints,
                env=environment | ({VARIABLE: secret} if secret else {}),
            )
        self.connection = Connection(ours.detach())
        self.slug = slug
        self.conditions = conditions
        self.ready: Ready | None = None
        self.deadline = time.monotonic() + START_SECONDS

    def give(self, task: Task, seconds: float) -> None:
        """Let it grade a task that may take so many seconds."""
        self.deadline = time.monotonic() + seconds + MARGIN_SECONDS
        # One that has just ended is found out when its reply is read.
        with contextlib.suppress(ConnectionError):
            send_task(self.connection, task)

    def rest(self) -> None:
        """Nothing is asked of it, so its silence means nothing."""
        self.deadline = math.inf

    def take(self) -> Graded | Ready | None:
        """Its reply, `None` if it has ended. Raises `WorkerError` if it cannot grade, or if its tests are not to be used."""
        reply = receive_reply(self.connection)
        if isinstance(reply, CannotGrade):
            raise WorkerError(reply.reason)
        if isinstance(reply, Ready):
            self.ready = reply
            if reply.unsound and not self.conditions.unsound:
                raise WorkerError(_unsound(reply.unsound, self.slug))
        elif self.ready is None:
            raise WorkerError(self.said() or "a grading worker ended before it was ready")
        return reply if isinstance(reply, Graded | Ready) else None

    def wait(self) -> Graded | Ready | None:
        """The same, once there is one; a worker that is overdue is killed."""
        if not self.connection.poll(max(0.0, self.deadline - time.monotonic())):
            self.process.kill()
        return self.take()

    def said(self) -> str:
        """The end of what it has printed, or else how it ended."""
        self._complaints.seek(0)
        return str(self._complaints.read()[-4000:].decode("utf-8", "replace")).strip()

    def ended(self) -> str:
        """Why it ended, as far as is known."""
        return f"the grading worker ended: {self.said()[-300:] or self.process.returncode}"

    def stop(self) -> None:
        """End it.

        With its connection closed a worker ends by itself and takes its sandbox along; kill is for one that hangs.
        """
        self.connection.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def fault_record(problem_set: ProblemSet, submission: Submission, fault: str) -> Record:
    """The record of a submission whose worker did not live to write one."""
    # Imported here: it is rarely needed, and loads what workers grade with, which takes a quarter of a second.
    from autograder import scoring

    now = datetime.datetime.now(datetime.UTC)
    provenance = scoring.provenance(problem_set, submission, suite=suite_hash(problem_set), started=now)
    return scoring.record(problem_set, provenance, scoring.Findings(), fault=fault)


def _unsound(tests: list[str], slug: str) -> str:
    lines = ["the reference solution fails tests here, so nothing is graded by them:", *tests[:SHOWN]]
    if len(tests) > SHOWN:
        lines.append(f"and {len(tests) - SHOWN} more")
    advice = (
        f"`course validate {slug}` says more; a package of another version than the course was made with may be the reason"
    )
    return "\n".join([*lines, advice])
