"""The pytest plugin that gives tests their fixtures and turns each test's end into an outcome."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from autograder.testing.ledger import Ledger
from autograder.testing.marks import Graded, graded_mark
from autograder.testing.student import UNDONE, AlreadyStopped, Runner, Student, StudentError

PASSED, FAILED, BLOCKED, FAULT = "passed", "failed", "blocked", "fault"

MAX_MESSAGE = 4000
HIDDEN = "test_hidden.py"


class Blocked(Exception):
    """The test was not run, because another one did not pass."""


@dataclass(frozen=True)
class Outcome:
    """How one test ended. `message` may tell of the test's inputs and expected values; `safe`, `title` and `hint` do not.

    `uses` are the names of the submission that the test asked for, whether or not it got them.
    """

    test: str
    question: str
    title: str
    hint: str
    points: float
    hidden: bool
    status: str
    message: str
    safe: str
    seconds: float
    uses: tuple[str, ...] = ()

    @property
    def earned(self) -> float:
        return self.points if self.status == PASSED else 0.0


def is_undone(outcome: Outcome) -> bool:
    """Whether a test met nothing but the stub."""
    return outcome.status == FAILED and outcome.message.startswith(UNDONE)


def all_undone(outcomes: Sequence[Outcome]) -> bool:
    """Whether a question has not been begun: its tests met the stub, or were not run because others did."""
    return any(map(is_undone, outcomes)) and all(is_undone(one) or one.status == BLOCKED for one in outcomes)


class Bench:
    """Fixtures and outcomes for one submission at a time; `runner` is where its code runs."""

    def __init__(self, ledger: Ledger, seed: int, runner: Runner | None = None) -> None:
        self.ledger_rows = ledger
        self.seed = seed
        self.runner = runner
        self.outcomes: dict[str, Outcome] = {}
        self.current: Student | None = None

    @pytest.fixture
    def student(self) -> Student:
        """The submission under test."""
        assert self.runner is not None, "no submission to test"
        self.current = Student(self.runner)
        return self.current

    @pytest.fixture
    def ledger(self) -> Ledger:
        """The documents' numbers."""
        return self.ledger_rows

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> np.random.Generator:
        """A generator seeded from the problem set's seed and the test's name."""
        return seeded(self.seed, request.node.name)

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "graded(mark): a test that earns points; see autograder.testing.graded")

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.current = None
        mark = graded_mark(item)
        if mark:
            block(mark, self.outcomes)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport | None:
        """Note the outcome, and report it without the traceback that pytest would spend most of its time on."""
        mark = graded_mark(item)
        if mark is None or call.when == "collect":
            return None
        outcome = outcome_of(item.name, mark, is_hidden(item), call.excinfo, call.duration, self.current)
        if call.when == "call" or call.excinfo is not None:
            self.outcomes[item.name] = outcome
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
    """The generator of a test: the same for every submission, and another for every test."""
    return np.random.default_rng([seed, zlib.crc32(test.encode())])


def block(mark: Graded, outcomes: Mapping[str, Outcome]) -> None:
    """Raise `Blocked` if the test that this one requires was run and did not pass."""
    needed = outcomes.get(mark.requires)
    if needed is not None and needed.status != PASSED:
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
    )


def is_hidden(item: pytest.Item) -> bool:
    """Whether a test is one that students never see."""
    return item.path.name == HIDDEN


def classify(excinfo: pytest.ExceptionInfo[BaseException] | None) -> tuple[str, str, str]:
    """Status, message and safe message for what a test raised. Only a submission's own doing counts against it."""
    if excinfo is None:
        return PASSED, "", ""
    error: Any = excinfo.value
    if isinstance(error, Blocked | AlreadyStopped):
        return BLOCKED, str(error), error.safe if isinstance(error, AlreadyStopped) else str(error)
    if isinstance(error, StudentError):
        return FAILED, str(error)[:MAX_MESSAGE], error.safe
    if isinstance(error, AssertionError | pytest.fail.Exception):
        return FAILED, str(error)[:MAX_MESSAGE], ""
    return FAULT, str(excinfo.getrepr(style="short")), ""


def missing_requirements(items: Iterable[pytest.Item]) -> list[str]:
    """Tests that require a test which is not there or comes later; each as a sentence."""
    seen: dict[str, str] = {}
    problems = []
    for item in items:
        mark = graded_mark(item)
        if mark is None:
            continue
        if mark.requires and seen.get(mark.requires) != mark.question:
            problems.append(f"{item.name} requires {mark.requires}, which is no earlier test of {mark.question}")
        seen[item.name] = mark.question
    return problems
