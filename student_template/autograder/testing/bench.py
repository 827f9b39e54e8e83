"""The pytest plugin that gives tests their fixtures and turns each test's end into an outcome."""

from __future__ import annotations

import functools
import hmac
import time
import zlib
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from autograder.runtime.ledger import Ledger
from autograder.runtime.outcomes import Cause, Outcome, Status
from autograder.testing.computed import Generators
from autograder.testing.errors import AlreadyStopped, Mismatch, NotDone, Stopped, StudentError, Undefined
from autograder.testing.marks import Graded, graded_mark
from autograder.testing.student import Runner, Student

MAX_MESSAGE = 4000
HIDDEN = "test_hidden.py"


class OverAllowance(BaseException):
    """A test used more of the grading worker than it may. No `Exception`, so that no test takes it for an answer."""


class Blocked(Exception):
    """The test was not run, because another one did not pass."""


@dataclass
class Trial:
    """One submission under test: where its code runs, and how its tests ended so far."""

    runner: Runner
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    student: Student | None = None  # as the test that is running sees it; None if it did not ask for it

    def begin(self, test: str, mark: Graded) -> None:
        """A test begins. Raises `Blocked` if the one that it requires did not pass."""
        self.student = None
        block(mark, self.outcomes)

    def end(self, outcome: Outcome) -> None:
        """A test has ended."""
        self.outcomes[outcome.test] = outcome


class Bench:
    """Fixtures and outcomes for the submission that is on `trial`."""

    def __init__(self, ledger: Ledger, seed: int, trial: Trial | None = None) -> None:
        self.ledger_rows = ledger
        self.seed = seed
        self.trial = trial
        self.cpu_seconds = 0.0  # of the last test's own code, without what was computed for it

    @pytest.fixture
    def student(self) -> Student:
        """The submission under test."""
        assert self.trial is not None, "no submission to test"
        self.trial.student = Student(self.trial.runner)
        return self.trial.student

    @pytest.fixture
    def ledger(self) -> Ledger:
        """The documents' numbers."""
        return self.ledger_rows

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> np.random.Generator:
        """A generator of the test's own: the same for every submission, and another for every test."""
        return self.generator(request.node.name, is_hidden(request.node))

    @pytest.fixture
    def generators(self, request: pytest.FixtureRequest) -> Generators:
        """The generators of what is computed once for the tests of this file."""
        return functools.partial(self.generator, hidden=is_hidden(request.node))

    def generator(self, name: str, hidden: bool) -> np.random.Generator:
        """What a test of that name draws from: the problem set's published seed."""
        return seeded(self.seed, name)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self) -> Generator[None, object, object]:
        begun = time.process_time()
        try:
            return (yield)
        finally:
            self.cpu_seconds = time.process_time() - begun

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "graded(mark): a test that earns points; see autograder.testing.graded")

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        mark = graded_mark(item)
        if mark and self.trial:
            self.trial.begin(item.name, mark)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport | None:
        """Note the outcome, and report it without the traceback that pytest would spend most of its time on."""
        mark = graded_mark(item)
        if mark is None or call.when == "collect" or self.trial is None:
            return None
        outcome = outcome_of(item.name, mark, is_hidden(item), call.excinfo, call.duration, self.trial.student)
        if call.when == "call" or call.excinfo is not None:
            self.trial.end(outcome)
        return pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="failed" if call.excinfo is not None else "passed",
            longrepr=outcome.message or None,
            when=call.when,
            duration=call.duration,
            start=call.start,
            stop=call.stop,
        )


def seeded(seed: int, test: str) -> np.random.Generator:
    """The generator of a public test, from the problem set's published seed."""
    return np.random.default_rng([seed, zlib.crc32(test.encode())])


def keyed(key: bytes, test: str) -> np.random.Generator:
    """The generator of a hidden test, from 256 bits that nobody knows who does not hold `key`."""
    return np.random.default_rng(int.from_bytes(hmac.digest(key, test.encode(), "sha256"), "little"))


def block(mark: Graded, outcomes: Mapping[str, Outcome]) -> None:
    """Raise `Blocked` if the test that this one requires was run and did not pass."""
    needed = outcomes.get(mark.requires)
    if needed is not None and needed.status is not Status.PASSED:
        raise Blocked(f"not run, because this did not pass: {needed.title}")


def outcome_of(
    test: str,
    mark: Graded,
    hidden: bool,
    excinfo: pytest.ExceptionInfo[BaseException] | None,
    seconds: float,
    student: Student | None,
) -> Outcome:
    """The outcome of a test of `student` that raised `excinfo`, or passed."""
    status, message, safe = classify(excinfo)
    error = excinfo.value if excinfo is not None and status in (Status.FAILED, Status.FAULT) else None
    return Outcome(
        test=test,
        question=mark.question,
        title=mark.title,
        hint=mark.hint,
        points=mark.points,
        hidden=hidden,
        status=status,
        message=message,
        safe=safe,
        seconds=round(seconds, 6),
        uses=tuple(sorted(student.names)) if student is not None else (),
        cause=next((cause for kind, cause in _CAUSES.items() if isinstance(error, kind)), Cause.OTHER),
        missing=error.name if isinstance(error, Undefined) else "",
        similar=error.similar if isinstance(error, Undefined) else "",
    )


_CAUSES: dict[type[BaseException], Cause] = {
    NotDone: Cause.STUB,
    Undefined: Cause.UNDEFINED,
    Stopped: Cause.STOPPED,
    StudentError: Cause.OTHER,
    MemoryError: Cause.BEYOND,
    OverAllowance: Cause.BEYOND,
}


def is_hidden(item: pytest.Item) -> bool:
    """Whether a test is one that students never see."""
    return item.path.name == HIDDEN


def classify(excinfo: pytest.ExceptionInfo[BaseException] | None) -> tuple[Status, str, str]:
    """Status, message and safe message for what a test raised. Only a submission's own doing counts against it."""
    if excinfo is None:
        return Status.PASSED, "", ""
    error: Any = excinfo.value
    if isinstance(error, Blocked | AlreadyStopped):
        return Status.BLOCKED, str(error), error.safe if isinstance(error, AlreadyStopped) else str(error)
    if isinstance(error, StudentError):
        return Status.FAILED, str(error)[:MAX_MESSAGE], error.safe
    if isinstance(error, AssertionError | pytest.fail.Exception):
        return Status.FAILED, str(error)[:MAX_MESSAGE], error.safe if isinstance(error, Mismatch) else ""
    return Status.FAULT, str(excinfo.getrepr(style="short")), ""


def missing_requirements(items: Iterable[pytest.Item]) -> list[str]:
    """Tests that require a test which is not there or comes later; each as a sentence."""
    seen: dict[str, str] = {}
    problems = []
    for item in items:
        mark = graded_mark(item)
        if mark is None:
            continue
        if mark.requires and seen.get(mark.requires) != mark.question:
            problems.append(f"{item.name} requires {mark.requires}, which is not an earlier test of {mark.question}")
        seen[item.name] = mark.question
    return problems
