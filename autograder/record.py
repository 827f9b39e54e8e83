"""The record of one grading: a typed value with a version, and the one place where its texts are bounded.

A record is what the journal keeps and what everything after grading reads. It knows no platform; the shape that Gradescope
wants is made in `platforms.gradescope_results`. Whatever is put into a record is bounded here: each text is cut and made
visible, each list is shortened, so a record has a largest size whatever a submission did.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from autograder import record_v1
from autograder.runtime.causes import blame
from autograder.runtime.outcomes import Status
from autograder.text import bounded

VERSION: Literal[2] = 2
# No record of a course with up to a thousand tests comes near it.
MAX_BYTES = 16 * 2**20
# Messages share this, so that a problem set of many tests has shorter ones.
MESSAGES_IN_ALL = 400_000
GRADER_FAULT = "This test could not be run: a fault of the grader, not of your work."


class RecordError(Exception):
    """A record cannot be read; the message says what is wrong with it."""


def _text(most: int) -> BeforeValidator:
    # Interned: the records of a class share most of their texts, such as titles, and many records are held at once.
    return BeforeValidator(lambda value: sys.intern(bounded(value, most)) if isinstance(value, str) else value)


def _at_most(most: int) -> BeforeValidator:
    return BeforeValidator(lambda value: value[:most] if isinstance(value, list | tuple) else value)


Line = Annotated[str, _text(500)]
SafeMessage = Annotated[str, _text(1000)]
Message = Annotated[str, _text(4000)]
Answer = Annotated[str, _text(20_000)]
Output = Annotated[str, _text(2**16)]

_STRICT = ConfigDict(extra="forbid")


class Reason(StrEnum):
    """Why a person should look at a grading, the most serious first."""

    FAULT = "fault"  # the grader failed
    MISPLACED = "misplaced"  # a written answer stands outside its variable
    PROBLEM = "problem"  # part of the file stopped with an error
    STOPPED = "stopped"  # a call was ended: time, memory, or the process itself
    RENAMED = "renamed"  # a name that is asked for is missing, and a similar one is there
    UNDEFINED = "undefined"  # a name that is asked for is missing


@dataclass(frozen=True, slots=True, config=_STRICT)
class Look:
    """One reason to look; `detail` is a sentence, and of `Reason.UNDEFINED` the name."""

    reason: Reason
    detail: Line


@dataclass(frozen=True, slots=True, config=_STRICT)
class Slip:
    """A likely slip: the mutant that gives the same wrong answers, and its hint, which the student reads."""

    mutant: Line
    hint: Message


@dataclass(frozen=True, slots=True, config=_STRICT)
class Verdict:
    """How one test ended, and what is said of it.

    `message` may tell of the test's inputs and expected values; `safe` does not. `slip` names one of the question's slips.
    `hint` is empty where the student gets none. `seconds` are those of the test and its calls; `uses` are the names of the
    submission that it asked for. `fix_first`, `follow_through` and `credit` are an `Outcome`'s.
    """

    test: Line
    question: Line
    title: Line
    hidden: bool
    status: Status
    points: float
    message: Message = ""
    safe: SafeMessage = ""
    hint: Message = ""
    slip: Line = ""
    seconds: float = 0.0
    uses: Annotated[tuple[Line, ...], _at_most(50)] = ()
    fix_first: Annotated[tuple[Line, ...], _at_most(50)] = ()
    follow_through: Status | None = None
    credit: float = 0.0

    @property
    def score(self) -> float:
        return self.points if self.status is Status.PASSED else self.points * self.credit

    @property
    def blame(self) -> str:
        """What the student reads where functions that the test builds on fail tests of their own."""
        return blame(self.fix_first)

    @property
    def followed(self) -> str:
        """What the student reads of the second run, in which those functions were right."""
        them = "it" if len(self.fix_first) == 1 else "them"
        if self.follow_through is Status.PASSED:
            return f"With {them} right this test passes. Follow-through: {self.score:g} of {self.points:g} points."
        return f"Even with {them} right this test does not pass." if self.follow_through is Status.FAILED else ""

    @property
    def said(self) -> str:
        """What the student may read of how it ended."""
        if self.status is Status.FAULT:
            return GRADER_FAULT
        return self.safe if self.hidden else self.message


@dataclass(frozen=True, slots=True, config=_STRICT)
class QuestionScore:
    """What one question earned.

    `answer` is the text that a person grades, or what was predicted, and `place` where it stands if not in its variable;
    `slips` are those behind the failed tests.
    """

    id: Line
    title: Line
    kind: Literal["code", "choice", "written", "prediction"]
    score: float
    points: float
    undone: bool
    answer: Answer = ""
    place: Line = ""
    slips: Annotated[tuple[Slip, ...], _at_most(50)] = ()

    def slip_hint(self, mutant: str) -> str:
        return next((slip.hint for slip in self.slips if slip.mutant == mutant), "")


@dataclass(frozen=True, slots=True, config=_STRICT)
class Provenance:
    """What was graded, by which tests, with what. `started` is a moment in ISO form."""

    student: Line
    problem_set: Line
    version: Line
    filename: Line
    submission: Line
    suite: Line
    engine: Line
    started: Line
    python: Line = ""
    numpy: Line = ""
    backend: Line = ""
    hidden_key: Line = ""  # the fingerprint of what hidden tests drew from


@dataclass(frozen=True, slots=True, config=_STRICT)
class Record:
    """One grading of one attempt.

    `fault` is empty unless the grader itself failed: then the scores mean nothing. `output` is what the submission printed
    before it had seen a hidden test's inputs, `staff_output` what came after. `problems` are errors of the submission's own
    while it was loaded. `figures` were drawn for public tests, by question, as `figure_record` writes them; `None` stands
    for one of too much data. `peak_memory` is in bytes, 0 if it is not known; `seconds` is wall-clock time.
    """

    provenance: Provenance
    questions: tuple[QuestionScore, ...]
    verdicts: tuple[Verdict, ...]
    fault: Message = ""
    look: Annotated[tuple[Look, ...], _at_most(20)] = ()
    problems: Annotated[tuple[SafeMessage, ...], _at_most(50)] = ()
    output: Output = ""
    staff_output: Output = ""
    figures: dict[str, dict[str, Any] | None] = dataclasses.field(default_factory=dict)
    seconds: float = 0.0
    peak_memory: int = 0
    version: Literal[2] = VERSION

    @property
    def is_sound(self) -> bool:
        """Whether it says something of the submission, rather than of a grader that failed."""
        return not self.fault

    @property
    def score(self) -> float:
        """Points by tests, of all questions."""
        return sum(question.score for question in self.questions)

    def question(self, name: str) -> QuestionScore | None:
        """A question's score; `None` if the problem set did not have it when this was graded."""
        return next((question for question in self.questions if question.id == name), None)

    def verdicts_of(self, question: str) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.question == question]

    def slip_hint(self, verdict: Verdict) -> str:
        """The hint of the slip behind a verdict; empty if there is none."""
        question = self.question(verdict.question)
        return question.slip_hint(verdict.slip) if question and verdict.slip else ""

    def told(self, verdict: Verdict) -> str:
        """All that a student may read of a test that did not pass, as text; a slip is said of the first that it explains."""
        first = next((other for other in self.verdicts_of(verdict.question) if other.slip == verdict.slip), verdict)
        slip, hint = self.slip_hint(verdict) if first.test == verdict.test else "", verdict.hint
        lines = [
            f"{verdict.blame} {verdict.followed}".strip(),
            verdict.said,
            slip and f"Likely slip: {slip}",
            hint and f"Hint: {hint}",
        ]
        return "\n".join(filter(None, lines))

    @property
    def look_lines(self) -> list[str]:
        """Why a person should look, as sentences."""
        lines = [
            f"grader fault: {look.detail}" if look.reason is Reason.FAULT else look.detail
            for look in self.look
            if look.reason is not Reason.UNDEFINED
        ]
        absent = [look.detail for look in self.look if look.reason is Reason.UNDEFINED]
        return [*lines, f"not defined: {', '.join(absent)}"] if absent else lines


_RECORD = TypeAdapter(Record)


def message_room(tests: int) -> int:
    """How many characters a message may have where there are so many tests."""
    return min(4000, MESSAGES_IN_ALL // max(1, tests))


def to_json(record: Record) -> bytes:
    """A record as JSON in UTF-8."""
    return _RECORD.dump_json(record, indent=1) + b"\n"


def to_plain(record: Record) -> dict[str, Any]:
    """A record as plain data that JSON can hold."""
    plain: dict[str, Any] = _RECORD.dump_python(record, mode="json")
    return plain


def from_json(content: bytes | str) -> Record:
    """The record that `to_json` wrote, or one of an earlier version, brought to today's. Raises `RecordError`."""
    try:
        plain = json.loads(content)
        if isinstance(plain, dict) and "version" not in plain:
            plain = record_v1.upgraded(plain)
        return _RECORD.validate_python(plain)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise RecordError(f"{place}: {first['msg']}" if place else first["msg"]) from None
    except KeyError as error:
        raise RecordError(f"it has no {error}") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise RecordError(str(error)) from None


def read(path: Path) -> Record:
    """The record in a file. Raises `RecordError`, without reading it, if it is larger than any record is."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise RecordError(f"it has {size / 2**20:.0f} MB, and no record has more than {MAX_BYTES // 2**20}")
    return from_json(path.read_bytes())
