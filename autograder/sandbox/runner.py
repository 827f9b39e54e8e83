"""Runs one submission's code in guests: loads it, calls it, and starts a fresh guest when one was lost."""

from __future__ import annotations

import math
import re
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.limits import Limits
from autograder.runtime import loading, wire
from autograder.runtime.time_limit import WAITING_SHARE
from autograder.sandbox.guest import NO_ANSWER, Guest, GuestEnded
from autograder.sandbox.zygote import Zygote
from autograder.testing.callbacks import RESULT_TOO_LARGE, Callback, Refusal
from autograder.testing.errors import (
    AlreadyStopped,
    Stopped,
    StudentError,
    cannot_be_called,
    problem_text,
    student_error,
    undefined,
)
from autograder.testing.student import Answer, Runner

# After this the guest's own timer should have ended the call; the host then ends the guest.
GRACE_SECONDS = 0.5
# Functions that take long are not worth asking ahead: a test may fail before it wants all their answers.
AHEAD_SECONDS = 1.0
ENDED = "your code had ended, or its time was used up"


@dataclass(frozen=True)
class Ask:
    """A call that tests make of every submission: its `call_digest`, and the seconds it may take."""

    name: str
    case: wire.Deferred
    digest: bytes
    seconds: float


class GuestRunner(Runner):
    """The runner of a grading run."""

    def __init__(
        self,
        zygote: Zygote,
        filename: str,
        source: bytes,
        limits: Limits,
        asked: Collection[str] = (),
        *,
        bound: Mapping[str, Callable[..., Any]] | None = None,
        until: float = math.inf,
    ) -> None:
        """`bound` are functions of the host that take the place of the submission's own once it is loaded; they raise
        `Refusal` or `RuntimeError`. `until` is a `time.monotonic()` value after which nothing is run any more.
        """
        super().__init__()
        self._bound = bound or {}
        self._zygote = zygote
        self._filename = filename
        self._source = source
        self._limits = limits
        self._asked = asked
        self._deadline = min(until, time.monotonic() + limits.submission_seconds)
        self._guest: Guest | None = None
        self._definitions_only: list[str] = []
        self._output = ""
        self.peak_memory = 0  # bytes, of the largest guest that is gone
        self._call_seconds = limits.call_seconds
        self.spent_ahead: dict[bytes, float] = {}  # seconds that a call made ahead took, by its digest
        self._report: loading.Report = {"problems": [], "names": []}
        self._frozen: tuple[str, loading.Report] | None = None

    def freeze(self) -> None:
        """From here on the submission may have seen the input of a hidden test: no word of it is shown to its author."""
        if self._frozen is None:
            self._frozen = self._printed, self._report

    @property
    def output(self) -> str:
        """What the submission printed before `freeze`."""
        return self._frozen[0] if self._frozen else self._printed

    @property
    def report(self) -> loading.Report:
        """What loading the submission gave before `freeze`."""
        return self._frozen[1] if self._frozen else self._report

    @property
    def staff_output(self) -> str:
        """What the submission printed after `freeze`, and what went wrong when it had to be loaded again: for staff only."""
        shown = self.report["problems"]
        later = [problem_text(problem) for problem in self._report["problems"] if problem not in shown]
        return "\n".join([self._printed[len(self.output) :], *later]).removeprefix("\n")

    @property
    def _printed(self) -> str:
        """All that the submission printed, from its first guest to its last, truncated."""
        return (self._output + (self._guest.output if self._guest else ""))[: 64 * 1024]

    @property
    def deadline(self) -> float:
        """When the submission's time is used up, as `time.monotonic()` counts."""
        return self._deadline

    def begin(self, test: str, seconds: float) -> None:
        self._call_seconds = seconds

    def load(self) -> None:
        """Load the submission into a fresh guest. A unit that hangs or ends the process is loaded again in part."""
        self._drop_guest()
        for _ in range(20):
            if time.monotonic() >= self._deadline:
                break
            unit = ""
            self._guest = Guest(self._zygote, self._limits)
            message: tuple[Any, ...] = (
                "load",
                self._filename,
                np.frombuffer(self._source, np.uint8),  # as an array, whose size no header bounds
                self._limits.load_seconds,
                self._definitions_only,
            )
            try:
                kind, *rest = self._guest.ask(message, self._until(self._limits.load_seconds))
                while kind == "unit" and len(rest) == 1 and _is_unit(rest[0]):
                    unit = rest[0]
                    kind, *rest = self._guest.next(self._until(self._limits.load_seconds))
                report = rest[0] if kind == "loaded" and rest else None
                if not _is_load_report(report):
                    self._drop_guest()
                    raise GuestEnded(NO_ANSWER)
                self._note(report)
                self._bind(self._guest)
                return
            except GuestEnded as end:
                self._drop_guest()
                place = unit or "your file"
                self._note({"problems": [_problem(unit, f"stopped: {place} {end}")], "names": []})
                if unit in self._definitions_only:
                    break
                self._definitions_only.append(unit)
        self._deadline = min(self._deadline, time.monotonic())

    def _bind(self, guest: Guest) -> None:
        """Put the host's functions in place of the submission's own."""
        if self._bound:
            if guest.ask(("bind", list(self._bound)), self._until(self._limits.call_seconds)) != ("bound",):
                raise GuestEnded(NO_ANSWER)
            self._report = {**self._report, "names": [*self._report["names"], *self._bound]}

    def _note(self, report: Any) -> None:
        known = self._report["problems"]
        fresh = [problem for problem in report["problems"] if problem not in known]
        self._report = {"problems": known + fresh, "names": report["names"]}

    def call(self, name: str, case: wire.Deferred, handles: Sequence[Callback], *, repeat: bool) -> Answer | StudentError:
        guest = self._ready(name)
        # The guest's own timer ends each call; this ends a guest that has switched it off.
        until = self._until((2 if repeat else 1) * self._call_seconds)
        try:
            kind, *rest = guest.ask(("call", [(name, case, self._call_seconds, repeat)], math.inf), until)
            while kind == "callback":
                kind, *rest = _ask_back(guest, self._answer_callback(handles, rest), until)
            result = _only_result(kind, rest)
        except wire.WireError as error:
            raise cannot_be_called(name, error) from None
        except GuestEnded as end:
            self._drop_guest()
            return Stopped(f"stopped: `{name}` {end}", safe=f"stopped: `{name}` {end.safe}")
        except BaseException:
            # The test was ended in the midst of the call: what this guest sends next would be taken for another answer.
            self._drop_guest()
            raise
        return result if isinstance(result, Answer) else student_error(name, result)

    def _answer_callback(self, handles: Sequence[Callback], rest: list[Any]) -> tuple[Any, ...]:
        """Run the function that the submission called: a test's own, by its number, or one that was bound, by its name.

        What it raises is told in the words of `Callback`.
        """
        if len(rest) != 3 or not isinstance(rest[1], tuple) or not isinstance(rest[2], dict):
            raise GuestEnded(NO_ANSWER)
        key, args, kwargs = rest
        functions: Mapping[Any, Callable[..., Any]] = self._bound if type(key) is str else dict(enumerate(handles))
        if type(key) not in (int, str) or key not in functions or not all(isinstance(name, str) for name in kwargs):
            raise GuestEnded(NO_ANSWER)
        try:
            return "value", functions[key](*args, **kwargs)
        except Refusal as refusal:
            return "error", {"type": "ValueError", "message": str(refusal)[: loading.MAX_TEXT]}
        except RuntimeError as error:
            return "error", {"type": "RuntimeError", "message": str(error)}

    def ask_ahead(self, asks: Iterable[Ask]) -> None:
        """Make calls that tests will ask for, all together, which is far quicker than one by one.

        This decides nothing: whatever is not answered here is asked when its turn comes, and judged then.
        """
        names = set(self._report["names"]) - self._stopped.keys()
        waiting = deque(ask for ask in asks if ask.name in names)
        if self._guest is None or not waiting:
            return
        patience = 2 * max(ask.seconds for ask in waiting)
        message = ("call", [(ask.name, ask.case, ask.seconds, True) for ask in waiting], AHEAD_SECONDS)
        begun = time.monotonic()
        try:
            kind, *rest = self._guest.ask(message, self._until(patience))
            while True:
                results = _results(kind, rest, len(waiting))
                seconds = (time.monotonic() - begun) / len(results)
                for result in results:
                    ask = waiting.popleft()
                    if result is not None:
                        self.keep(ask.digest, result)
                        self.spent_ahead[ask.digest] = seconds
                if not waiting:
                    return
                begun = time.monotonic()
                kind, *rest = self._guest.next(self._until(patience))
        except wire.WireError:
            return  # more than a message holds
        except GuestEnded:
            self._drop_guest()

    def read(self, name: str) -> Any:
        guest = self._ready(name)
        try:
            kind, *rest = guest.ask(("read", name), self._until(self._call_seconds))
            result = _only_result(kind, rest)
        except BaseException as end:
            self._drop_guest()
            if not isinstance(end, GuestEnded):
                raise
            raise Stopped(f"stopped: reading `{name}`, your code {end}", safe=f"stopped: reading `{name}`") from None
        if not isinstance(result, Answer):
            raise student_error(name, result)
        return result.values[0]

    def __enter__(self) -> GuestRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self._drop_guest()

    def _ready(self, name: str) -> Guest:
        if self._guest is None and time.monotonic() < self._deadline:
            self.load()
        if self._guest is None or time.monotonic() >= self._deadline:
            problems = [problem["message"] for problem in self._report["problems"]]
            reason = problems[-1] if problems and self._guest is None else "the time for one submission is used up"
            raise AlreadyStopped(f"not run: {reason}", safe=f"not run: {ENDED if self._frozen else reason}")
        if name not in self._report["names"]:
            error = undefined(name, self._report, self._asked)
            # A submission that is loaded again decides then what it defines.
            known = name in self.report["names"]
            error.safe = f"`{name}` is not defined" if known else str(undefined(name, self.report, self._asked))
            raise error
        return self._guest

    def _until(self, seconds: float) -> float:
        return min(self._deadline, time.monotonic() + WAITING_SHARE * seconds + GRACE_SECONDS)

    def _drop_guest(self) -> None:
        if self._guest is not None:
            self._guest.close()
            self._output += self._guest.output
            self.peak_memory = max(self.peak_memory, self._guest.peak_memory)
            self._guest = None


def _ask_back(guest: Guest, answer: tuple[Any, ...], until: float) -> tuple[Any, ...]:
    """Send the answer of a callback; if it cannot be sent, the submission's own call gets the error."""
    try:
        return guest.ask(answer, until)
    except wire.WireError:
        return guest.ask(("error", {"type": "RuntimeError", "message": RESULT_TOO_LARGE}), until)


def _results(kind: str, rest: list[Any], most: int) -> list[Answer | loading.Report | None]:
    """Check what should be results of calls, at least one and at most `most`; None stands for a call that was not made."""
    if kind != "answers" or len(rest) != 1 or not isinstance(rest[0], list) or not 0 < len(rest[0]) <= most:
        raise GuestEnded(NO_ANSWER)
    return [None if value is None else _result(value) for value in rest[0]]


def _only_result(kind: str, rest: list[Any]) -> Answer | loading.Report:
    result = _results(kind, rest, 1)[0]
    if result is None:
        raise GuestEnded(NO_ANSWER)
    return result


def _is_unit(value: Any) -> bool:
    """Whether a text may name a part of a submission; it goes back to the next guest, and into what a student reads."""
    return isinstance(value, str) and re.fullmatch(r"cell [0-9]{1,6}|", value) is not None


def _problem(unit: str, message: str) -> loading.Report:
    return {"type": "Stopped", "bases": [], "message": message, "where": [], "unit": unit}


def _result(value: Any) -> Answer | loading.Report:
    if _is_error_report(value):
        return value  # type: ignore[no-any-return]
    if isinstance(value, tuple) and len(value) == 2:
        values, warnings = value
        if isinstance(values, list) and len(values) in (1, 2) and _is_texts(warnings):
            return Answer(values, warnings)
    raise GuestEnded(NO_ANSWER)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= 500 and all(map(_is_text, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 2 * loading.MAX_TEXT


def _is_error_report(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"type", "bases", "message", "where", "unit"}
        and all(_is_text(value[key]) for key in ("type", "message", "unit"))
        and _is_texts(value["bases"])
        and _is_texts(value["where"])
    )


def _is_load_report(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"problems", "names"}
        and isinstance(value["problems"], list)
        and len(value["problems"]) <= 50
        and all(map(_is_error_report, value["problems"]))
        and isinstance(value["names"], list)
        and len(value["names"]) <= loading.MAX_NAMES
        and all(map(_is_text, value["names"]))
    )
