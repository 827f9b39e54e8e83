"""What `run` and its workers say to each other, as typed values that cross a connection as JSON.

A worker says once that it is `Ready`, or that it `CannotGrade`. Then each `Task` is answered by a `Graded`.
"""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from autograder.intake import Submission
from autograder.record import MAX_BYTES, Record


@dataclass(frozen=True)
class Conditions:
    """What submissions are graded under: which sandbox (empty: the first that works), and which share of the limits.

    With `unsound`, also by tests that the reference solution itself fails: for their author, who wants to see all of it.
    """

    backend: str = ""
    share: float = 1.0
    unsound: bool = False


USUAL = Conditions()


@dataclass(frozen=True)
class Task:
    """A submission to grade: by all tests, or only by those named, in that order; with `first_failure`, up to the first."""

    submission: Submission
    tests: tuple[str, ...] | None = None
    first_failure: bool = False


@dataclass(frozen=True)
class Ready:
    """The tests are collected and a sandbox is open. `unsound` are the tests that the reference fails, with reasons."""

    unsound: list[str]
    kind: Literal["ready"] = "ready"


@dataclass(frozen=True)
class CannotGrade:
    """No submission can be graded here."""

    reason: str
    kind: Literal["cannot grade"] = "cannot grade"


@dataclass(frozen=True)
class Graded:
    """A submission is graded."""

    record: Record
    kind: Literal["graded"] = "graded"


Reply = Annotated[Ready | CannotGrade | Graded, Field(discriminator="kind")]


@dataclass(frozen=True)
class _Header:
    """A task without the submission's bytes, which follow in a message of their own."""

    student: str
    filename: str
    tests: tuple[str, ...] | None
    first_failure: bool


_CONDITIONS = TypeAdapter(Conditions)
_HEADER = TypeAdapter(_Header)
_REPLY: TypeAdapter[Ready | CannotGrade | Graded] = TypeAdapter(Reply)


def dump_conditions(conditions: Conditions) -> str:
    """Conditions as a command line's argument."""
    return _CONDITIONS.dump_json(conditions).decode()


def load_conditions(text: str) -> Conditions:
    return _CONDITIONS.validate_json(text)


def send_task(connection: Connection, task: Task) -> None:
    submission = task.submission
    header = _Header(submission.student, submission.filename, task.tests, task.first_failure)
    connection.send_bytes(_HEADER.dump_json(header))
    connection.send_bytes(submission.source)


def receive_task(connection: Connection) -> Task | None:
    """The next task; `None` when the other side has closed the connection."""
    try:
        header = _HEADER.validate_json(connection.recv_bytes())
        source = connection.recv_bytes()
    except EOFError:
        return None
    return Task(Submission(header.student, header.filename, source), header.tests, header.first_failure)


def send_reply(connection: Connection, reply: Ready | CannotGrade | Graded) -> None:
    connection.send_bytes(_REPLY.dump_json(reply))


def receive_reply(connection: Connection) -> Ready | CannotGrade | Graded | None:
    """The next reply; `None` if the worker has ended, or says more than any record holds."""
    try:
        return _REPLY.validate_json(connection.recv_bytes(2 * MAX_BYTES))
    except (EOFError, OSError):
        return None
