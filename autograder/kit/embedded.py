"""A question's tests inside somebody else's grader: nbgrader's test cells and otter's test cases call these functions.

There a submission's code, the tests and the points share one process, so nothing here holds against hostile work. On
honest work the verdict is the engine's own, because the same test functions run under the same rules.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import sys
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from autograder.kit.own_run import explain
from autograder.runtime import figures
from autograder.runtime.ledger import Ledger
from autograder.runtime.outcomes import Outcome, Status
from autograder.testing.bench import HIDDEN, block, keyed, outcome_of, seeded
from autograder.testing.computed import arguments
from autograder.testing.forms import read_prediction
from autograder.testing.marks import Graded
from autograder.testing.student import LocalRunner, Student

# One question's tests as plain data, fit for JSON; `autograder.platforms.suite` makes it.
Suite = Mapping[str, Any]
Test = Callable[..., None]


class NotPassed(Exception):
    """A test did not pass; the message is what the student may read."""


def run_tests(namespace: dict[str, Any], suite: Suite, only: str = "") -> list[Outcome]:
    """Run one question's tests on what `namespace`, the globals of a notebook or a module, defines.

    With `only`, that test alone and before it what it requires: its outcome is the last.
    """
    tests = graded_tests(suite)
    wanted = set(tests)
    if only in tests:
        wanted = {only}
        while needed := {tests[name][1].requires for name in wanted} - wanted - {""}:
            wanted |= needed
    names = [name for name in namespace if not name.startswith("_")]
    runner = LocalRunner(
        namespace,
        {"names": names},
        asked=suite["asked"],
        seconds=suite["call_seconds"],
        memory_mb=suite["memory_mb"],
    )
    if suite["prediction"]:
        outcome, _ = read_prediction(suite["question"], runner=runner, **suite["prediction"])
        return [outcome]
    outcomes: dict[str, Outcome] = {}
    with _quiet():
        reference = _module("reference", suite["reference"])
        for name in (name for name in tests if name in wanted):
            test, mark, hidden = tests[name]
            student = Student(runner)
            given = {"student": student, "ledger": Ledger(suite["ledger"]), "reference": reference}
            key, seed = suite["key"], suite["seed"]
            generators = functools.partial(keyed, bytes.fromhex(key)) if hidden else functools.partial(seeded, seed)
            started, raised = time.perf_counter(), None
            try:
                block(mark, outcomes)
                test(**arguments(test, given, generators))
            except (Exception, pytest.fail.Exception) as error:
                raised = pytest.ExceptionInfo.from_exception(error)
            outcomes[name] = outcome_of(name, mark, hidden, raised, time.perf_counter() - started, student)
    return list(outcomes.values())


def report(outcomes: Sequence[Outcome]) -> str:
    """What a student may read of these outcomes: points, and why a test did not pass. Of a hidden test no numbers."""
    earned, possible = sum(outcome.earned for outcome in outcomes), sum(outcome.points for outcome in outcomes)
    lines = [line for outcome in outcomes for line in explain(outcome)]
    return "\n".join([f"{earned:g} of {possible:g} points", *lines])


def require_passed(namespace: dict[str, Any], suite: str, test: str) -> None:
    """Run one test of the suite in the file `suite`; raises `NotPassed`, with what a student may read, if it fails."""
    outcome = run_tests(namespace, json.loads(Path(suite).read_text(encoding="utf-8")), test)[-1]
    if outcome.status is not Status.PASSED:
        # The first line is the test's title, which otter shows by itself.
        reasons = [line.strip() for line in explain(outcome)[1:]]
        raise NotPassed("\n".join(reasons) or "the answer is not right")


def graded_tests(suite: Suite) -> dict[str, tuple[Test, Graded, bool]]:
    """The tests of a suite by name, in the order of their text, each with its mark and whether it is hidden."""
    return {
        name: (value, marker.args[0], filename == HIDDEN)
        for filename, source in suite["tests"].items()
        for name, value in vars(_module(filename, source)).items()
        for marker in getattr(value, "pytestmark", [])
        if marker.name == "graded"
    }


@functools.lru_cache(maxsize=16)
def _module(name: str, source: str) -> types.ModuleType:
    """A module of the suite's; kept, for what it computes once is kept with it."""
    module = types.ModuleType(name.removesuffix(".py"))
    exec(compile(source, name, "exec", dont_inherit=True), vars(module))
    return module


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Drop all that a submission prints or shows: it may tell a hidden test's inputs.

    nbgrader also gives no points to a cell that wrote to the error stream.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(figures.closing())
        if "IPython" in sys.modules:
            from IPython.utils.capture import capture_output

            stack.enter_context(capture_output())
        else:
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
            stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        yield
