"""What `run` and its workers say to each other, as typed values that cross a connection as JSON.

A worker says once that it is `Ready`, or that it `CannotGrade`. Then each `Task` is answered by a `Graded`. A machine of a
cluster answers each task by a `Graded`, by `CannotGrade`, or, for a worker that could not, by `Ended`.
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
    """The tests are collected and a sandbox is open.

    `unsound` are the tests that the reference fails, with reasons; `suite` is the hash of what it grades by.
    """

    unsound: list[str]
    suite: str
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


@dataclass(frozen=True)
class Ended:
    """The worker ended before the submission was graded; `said` is what it said last."""

    said: str
    kind: Literal["ended"] = "ended"


Reply = Ready | CannotGrade | Graded | Ended


@dataclass(frozen=True)
class _Header:
    """A task without the submission's bytes, which follow in a message of their own."""

    student: str
    filename: str
    tests: tuple[str, ...] | None
    first_failure: bool


_CONDITIONS = TypeAdapter(Conditions)
_HEADER = TypeAdapter(_Header)
_REPLY: TypeAdapter[Reply] = TypeAdapter(Annotated[Reply, Field(discriminator="kind")])


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


def dump_reply(reply: Reply) -> bytes:
    """A reply as it crosses a connection."""
    return _REPLY.dump_json(reply)


def load_reply(content: bytes) -> Reply:
    """The reply that bytes hold. Raises `ValueError` if they hold none, or more than any record does."""
    if len(content) > 2 * MAX_BYTES:
        raise ValueError(f"{len(content)} bytes, more than any record has")
    return _REPLY.validate_json(content)


def send_reply(connection: Connection, reply: Reply) -> None:
    connection.send_bytes(dump_reply(reply))


def receive_reply(connection: Connection) -> Reply | None:
    """The next reply; `None` if the worker has ended, or says more than any record holds."""
    try:
        return _REPLY.validate_json(connection.recv_bytes(2 * MAX_BYTES))
    except (EOFError, OSError):
        return None
