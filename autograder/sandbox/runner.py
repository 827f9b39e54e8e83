"""Runs one submission's code in guests: loads it, calls it, and starts a fresh guest when one was lost."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autograder.guest import loading, wire
from autograder.kit.student import (
    AlreadyStopped,
    Answer,
    Stopped,
    StudentError,
    cannot_be_called,
    student_error,
    undefined,
)
from autograder.sandbox.guest import NO_ANSWER, Guest, GuestEnded
from autograder.sandbox.zygote import GuestLimits, Zygote

# After this the guest's own timer should have ended the call; the host then ends the guest.
GRACE_SECONDS = 0.5


@dataclass(frozen=True)
class Limits:
    """Everything a submission may use. Seconds are wall time, for one call, for loading one unit, and in all."""

    call_seconds: float = 5.0
    load_seconds: float = 20.0
    submission_seconds: float = 120.0
    message_bytes: int = 64 * 2**20
    output_bytes: int = 4 * 2**20
    guest: GuestLimits = field(default_factory=GuestLimits)

    def at_share(self, share: float) -> Limits:
        """A share of the time and memory, and all of the rest."""
        guest = replace(
            self.guest,
            memory_bytes=int(self.guest.memory_bytes * share),
            cpu_seconds=math.ceil(self.guest.cpu_seconds * share),
        )
        seconds = {name: getattr(self, name) * share for name in ("call_seconds", "load_seconds", "submission_seconds")}
        return replace(self, guest=guest, **seconds)


class GuestRunner:
    """The `kit.student.Runner` of a grading run."""

    def __init__(self, zygote: Zygote, filename: str, source: bytes, limits: Limits, asked: Collection[str] = ()) -> None:
        self._zygote = zygote
        self._filename = filename
        self._source = source
        self._limits = limits
        self._asked = asked
        self._deadline = time.monotonic() + limits.submission_seconds
        self._guest: Guest | None = None
        self._definitions_only: list[str] = []
        self._stopped: dict[str, str] = {}
        self._output = ""
        self.peak_memory = 0  # bytes, of the largest guest that is gone
        self.answers: dict[bytes, Answer] = {}
        self.call_seconds = limits.call_seconds
        self.report: loading.Report = {"problems": [], "names": []}

    @property
    def output(self) -> str:
        """What the submission printed, from its first guest to its last, truncated."""
        return (self._output + (self._guest.output if self._guest else ""))[: 64 * 1024]

    def load(self) -> None:
        """Load the submission into a fresh guest. A unit that hangs or ends the process is loaded again in part."""
        self._drop_guest()
        for _ in range(20):
            if time.monotonic() >= self._deadline:
                break
            unit = ""
            self._guest = Guest(
                self._zygote,
                self._limits.guest,
                message_bytes=self._limits.message_bytes,
                output_bytes=self._limits.output_bytes,
            )
            message: tuple[Any, ...] = (
                "load",
                self._filename,
                np.frombuffer(self._source, np.uint8),  # as an array, whose size no header bounds
                self._limits.load_seconds,
                self._definitions_only,
            )
            try:
                kind, *rest = self._guest.ask(message, self._until(self._limits.load_seconds))
                while kind == "unit" and rest and isinstance(rest[0], str):
                    unit = rest[0]
                    kind, *rest = self._guest.next(self._until(self._limits.load_seconds))
                report = rest[0] if kind == "loaded" and rest else None
                if not _is_load_report(report):
                    self._drop_guest()
                    raise GuestEnded(NO_ANSWER)
                self._note(report)
                return
            except GuestEnded as end:
                self._drop_guest()
                place = unit or "your file"
                self._note({"problems": [_problem(unit, f"stopped: {place} {end}")], "names": []})
                if unit in self._definitions_only:
                    break
                self._definitions_only.append(unit)
        self._deadline = min(self._deadline, time.monotonic())

    def _note(self, report: Any) -> None:
        known = self.report["problems"]
        fresh = [problem for problem in report["problems"] if problem not in known]
        self.report = {"problems": known + fresh, "names": report["names"]}

    def call(
        self, name: str, cases: Sequence[wire.Deferred], handles: Sequence[Callable[..., Any]], *, repeat: bool
    ) -> list[Answer | StudentError]:
        guest = self._ready(name)
        # The guest's own timer ends each call; this ends a guest that has switched it off.
        until = self._until(self.call_seconds * (2 if repeat else 1) * len(cases))
        try:
            kind, *rest = guest.ask(("call", name, list(cases), self.call_seconds, repeat), until)
            while kind == "callback":
                kind, *rest = _ask_back(guest, _answer_callback(handles, rest), until)
            found = _results(name, kind, rest, len(cases))
        except wire.WireError as error:
            raise cannot_be_called(name, error) from None
        except GuestEnded as end:
            self._drop_guest()
            self._stopped[name] = f"stopped: `{name}` {end.safe}"
            return [Stopped(f"stopped: `{name}` {end}", safe=self._stopped[name])]
        if isinstance(found[-1], Stopped):
            self._stopped[name] = found[-1].safe
        return found

    def read(self, name: str) -> Any:
        guest = self._ready(name)
        try:
            kind, *rest = guest.ask(("read", name), self._until(self.call_seconds))
            found = _results(name, kind, rest, 1)[0]
            if isinstance(found, StudentError):
                raise found
            return found.values[0]
        except GuestEnded as end:
            self._drop_guest()
            raise Stopped(f"stopped: reading `{name}`, your code {end}", safe=f"stopped: reading `{name}`") from None

    def __enter__(self) -> GuestRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self._drop_guest()

    def _ready(self, name: str) -> Guest:
        if name in self._stopped:
            raise AlreadyStopped(f"not run again: {self._stopped[name]}")
        if self._guest is None and time.monotonic() < self._deadline:
            self.load()
        if self._guest is None or time.monotonic() >= self._deadline:
            problems = [problem["message"] for problem in self.report["problems"]]
            reason = problems[-1] if problems and self._guest is None else "the time for one submission is used up"
            raise AlreadyStopped(f"not run: {reason}")
        if name not in self.report["names"]:
            raise undefined(name, self.report, self._asked)
        return self._guest

    def _until(self, seconds: float) -> float:
        return min(self._deadline, time.monotonic() + seconds + GRACE_SECONDS)

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
    except wire.WireError as error:
        return guest.ask(("error", {"type": "ValueError", "message": str(error)}), until)


def _results(name: str, kind: str, rest: list[Any], count: int) -> list[Answer | StudentError]:
    """Check the answer to `count` cases: as many results, or fewer and what the next one raised."""
    if kind != "answers" or len(rest) != 2 or not isinstance(rest[0], list):
        raise GuestEnded(NO_ANSWER)
    results, report = rest
    if not all(map(_is_result, results)) or not (report is None or _is_error_report(report)):
        raise GuestEnded(NO_ANSWER)
    if len(results) > count or (len(results) == count) != (report is None):
        raise GuestEnded(NO_ANSWER)
    answers: list[Answer | StudentError] = [Answer(*result) for result in results]
    return answers if report is None else [*answers, student_error(name, report)]


def _answer_callback(handles: Sequence[Callable[..., Any]], rest: list[Any]) -> tuple[Any, ...]:
    """Run the test's own function that the submission called back; its exceptions go to the submission."""
    if len(rest) != 3 or type(rest[0]) is not int or not isinstance(rest[1], tuple) or not isinstance(rest[2], dict):
        raise GuestEnded(NO_ANSWER)
    index, args, kwargs = rest
    if not 0 <= index < len(handles) or not all(isinstance(name, str) for name in kwargs):
        raise GuestEnded(NO_ANSWER)
    try:
        return "value", handles[index](*args, **kwargs)
    except Exception as error:
        return "error", {"type": type(error).__name__, "message": str(error)}


def _problem(unit: str, message: str) -> loading.Report:
    return {"type": "Stopped", "bases": [], "message": message, "where": [], "unit": unit}


def _is_result(value: Any) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and isinstance(value[0], list)
        and len(value[0]) in (1, 2)
        and _is_texts(value[1])
    )


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
        and _is_texts(value["names"])
    )
