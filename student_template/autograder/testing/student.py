"""The `student` of a test: calls of a submission that obey the same rules on a laptop and in a grading run.

Every call is made twice, with arguments that cannot be changed, and its result crosses as plain data.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from autograder.runtime import loading, wire
from autograder.runtime.time_limit import TimeUp
from autograder.testing.callbacks import Callback, Refusal, bulk
from autograder.testing.errors import (
    TOO_LARGE,
    UNDONE,
    AlreadyStopped,
    Mismatch,
    NotDone,
    Stopped,
    StudentError,
    cannot_be_called,
    student_error,
    undefined,
)
from autograder.testing.memory_limit import memory_limit


class Answer(NamedTuple):
    """What a call gave: one value, or two where it was made twice and they are not the same to the bit."""

    values: list[Any]
    warnings: list[str]


MAX_KEPT = 2**20  # bytes of arguments, and of an answer, that are kept
MAX_KEPT_IN_ALL = 2**26  # bytes of all answers of a submission that are kept
MAX_CALL = 2**24  # bytes of arguments that are kept to explain a failure


class Runner(ABC):
    """Where the submission's code runs, and what it answered so far."""

    def __init__(self) -> None:
        self._answers: dict[bytes, Answer | loading.Report] = {}
        self._stopped: dict[str, str] = {}
        self._kept = 0  # bytes

    def ask(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], *, repeat: bool) -> Answer:
        """What `name` answers to these arguments; raises a `StudentError` for what it raises, and if it cannot be called.

        A call that was made twice already, in this test or another, is not made a third time, and no function is called
        again that did not return.
        """
        handles: list[Callable[..., Any]] = []
        try:
            case = wire.Deferred.of((args, kwargs), handles)
        except wire.WireError as error:
            raise cannot_be_called(name, error) from None
        # Nobody knows what a function of the test may answer, so a call that takes one is always made.
        digest = call_digest(name, case) if repeat and not handles and case.size <= MAX_KEPT else b""
        known = self._answers.get(digest)
        if isinstance(known, Answer):
            return known
        if name in self._stopped:
            raise AlreadyStopped(f"not run again: {self._stopped[name]}")
        if known is None:
            answer = self.call(name, case, [Callback.of(handle) for handle in handles], repeat=repeat)
            self.keep(digest, answer if isinstance(answer, Answer) else answer.report)
        else:
            answer = student_error(name, known)
        if isinstance(answer, Answer):
            return answer
        if isinstance(answer, Stopped):
            self._stopped[name] = answer.safe
        raise answer

    def keep(self, digest: bytes, answer: Answer | loading.Report) -> None:
        """Remember what a call answered, or the report of what it raised, unless it is too large."""
        size = bulk(answer) if isinstance(answer, dict) else bulk(answer.values)
        if digest and answer and size <= MAX_KEPT and self._kept + size <= MAX_KEPT_IN_ALL:
            self._kept += size
            self._answers[digest] = answer

    def begin(self, test: str, seconds: float) -> None:  # noqa: B027 (most runners need not know)
        """The next calls are those of `test`, and may take `seconds` each."""

    @abstractmethod
    def call(self, name: str, case: wire.Deferred, handles: Sequence[Callback], *, repeat: bool) -> Answer | StudentError:
        """Call a function, twice with `repeat`; `handles` are the test's own functions among the arguments.

        Returns its answer or what it raised; raises a `StudentError` if it cannot be called at all.
        """

    @abstractmethod
    def read(self, name: str) -> Any:
        """Read a variable; raises a `StudentError` if it cannot be read."""


@dataclass(frozen=True)
class Call:
    """A call as a test made it, kept to explain a failure. `error` is the exception's type name, empty if it returned.

    `said` is the exception's message; `once` says that the call was made only once, because it takes long. An answer of more
    than `MAX_KEPT` bytes is not kept, nor are arguments that cannot be sent: the error is then `TOO_LARGE`, so that nothing
    is said of it.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    value: Any = None
    error: str = ""
    said: str = ""
    once: bool = False


@dataclass(frozen=True)
class StudentFunction(wire.Named):
    """A function of the submission. Passed as an argument, it arrives as the submission's own object."""

    student: Student = field(repr=False, compare=False)
    repeat: bool = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.student.ask(self.name, args, kwargs, repeat=self.repeat)

    def each(self, cases: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """The answers to many calls in turn, by their positional arguments."""
        return (self(*case) for case in cases)


class Student:
    """A submission, as tests see it: `student.softmax(scores)`, `student.value("reading")`.

    `warnings` holds the texts of the warnings that the last call gave ("RuntimeWarning: divide by zero ..."), `names` what
    was asked for.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._repeat = True
        self.calls: list[Call] = []
        self.names: set[str] = set()
        self.warnings: list[str] = []

    def __getattr__(self, name: str) -> StudentFunction:
        if name.startswith("_"):
            raise AttributeError(name)
        self.names.add(name)
        return StudentFunction(name, self, self._repeat)

    @property
    def once(self) -> Student:
        """The same submission, each call made only once: for calls that take long."""
        once = copy.copy(self)
        once._repeat = False
        return once

    def value(self, name: str) -> Any:
        """The value of a variable; raises `NotDone` while it is `None`."""
        self.names.add(name)
        value = self._runner.read(name)
        if value is None:
            raise NotDone(f"{UNDONE}: `{name}`")
        self._keep(Call(name, (), {}, value))
        return value

    def ask(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], *, repeat: bool) -> Any:
        """Call `name`; `Mismatch` if a second call with the same arguments gives another answer."""
        try:
            answer = self._runner.ask(name, args, kwargs, repeat=repeat)
        except StudentError as error:
            said = error.report.get("message", "")
            self._keep(Call(name, args, kwargs, error=error.type_name, said=said, once=not repeat))
            raise
        value = answer.values[0]
        self._keep(Call(name, args, kwargs, value, once=not repeat))
        self.warnings[:] = answer.warnings
        if not all(alike(value, again) for again in answer.values[1:]):
            raise Mismatch(f"`{name}` gave a different answer when called again with the same arguments")
        return value

    def _keep(self, call: Call) -> None:
        # A submission that answers with 64 MB every time must not fill the host's memory.
        fits = (
            call.error != TOO_LARGE
            and bulk(call.value) <= MAX_KEPT
            and bulk([*call.args, *call.kwargs.values()]) <= MAX_CALL
        )
        self.calls.append(call if fits else Call(call.name, (), {}, error=TOO_LARGE))


def call_digest(name: str, case: wire.Deferred) -> bytes:
    """The digest of a call as the bytes that cross: the same bytes are the same call."""
    return sha256(b"".join((name.encode(), b"(", case.header, *case.buffers))).digest()


class LocalRunner(Runner):
    """Runs the submission in this process, with the same copies and checks as a grading run.

    With `memory_mb`, a call that is made once fails with `MemoryError` if it holds more than that, as it would in a guest.
    """

    def __init__(
        self,
        namespace: dict[str, Any],
        report: loading.Report,
        *,
        asked: Collection[str] = (),
        seconds: float = 30.0,
        memory_mb: float | None = None,
    ) -> None:
        super().__init__()
        self.namespace = namespace
        self.report = report
        self.asked = asked
        self.seconds = seconds
        self.memory_mb = memory_mb

    def find(self, name: str) -> Any:
        """What the submission calls `name`; raises `Undefined`, with the likely reason, if there is nothing."""
        if name not in self.namespace:
            raise undefined(name, self.report, self.asked)
        return self.namespace[name]

    def call(self, name: str, case: wire.Deferred, handles: Sequence[Callback], *, repeat: bool) -> Answer | StudentError:
        payload = b"".join(case.buffers)

        def handle_callable(index: int) -> Callable[..., Any]:
            def call_back(*args: Any, **kwargs: Any) -> Any:
                try:
                    return through_wire(handles[index](*through_wire(args), **through_wire(kwargs)))
                except Refusal as refusal:
                    raise ValueError(str(refusal)) from None

            return call_back

        def receive() -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
            function = self.find(name)
            args, kwargs = wire.decode(case.header, payload, handle_callable=handle_callable, look_up=self.find)
            return function, args, kwargs

        try:
            with memory_limit(None if repeat else self.memory_mb):
                answers, warned = loading.invoke(receive, case.header, self.seconds, repeat=repeat)
            return Answer([answer.decode() for answer in answers], warned)
        except StudentError:
            raise
        except (Exception, TimeUp, SystemExit) as error:
            return student_error(name, loading.describe_error(error))

    def read(self, name: str) -> Any:
        return through_wire(self.find(name))


def through_wire(value: Any) -> Any:
    """`value` as it would arrive on the other side. Raises `wire.WireError` if it cannot."""
    return wire.Encoded.of(value).decode()


def alike(one: Any, other: Any) -> bool:
    """Whether two answers to the same call are the same, up to the rounding that a threaded BLAS may add.

    The band is ten thousand eps of the largest number: far above rounding, far below any difference that matters.
    """
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray | np.generic):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        # The common case, and far cheaper than telling how large a difference is.
        if one.tobytes() == other.tobytes():
            return True
        if one.dtype.kind not in "fc":
            return bool(np.array_equal(one, other))
        finite = np.abs(np.asarray(one)[np.isfinite(one)])
        band = min(1e-3, 1e4 * float(np.finfo(one.dtype).eps)) * float(finite.max() if finite.size else 0.0)
        return bool(np.allclose(one, other, rtol=0, atol=band, equal_nan=True))
    if isinstance(one, float | complex):
        return alike(np.asarray(one)[()], np.asarray(other)[()])
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if hasattr(one, "__dataclass_fields__"):
        return alike(vars(one), vars(other))
    return bool(one == other)
