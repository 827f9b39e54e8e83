"""Learn from the reference solution what the tests do, before a submission is graded by them: which calls they make, so
that a guest can be asked many of them at once, and whether anything that they decide by comes from an answer.

Each test runs twice. The second time the reference's answers are replaced by others of the same form, and no check fails.
A call that is then made with other arguments carries answers in them. It must not be asked ahead: a submission would be
handed what the reference answered. A tolerance that is then another one is chosen by whoever answers.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from _pytest.runner import runtestprotocol

from autograder.runtime import wire
from autograder.runtime.outcomes import Status
from autograder.sandbox.runner import Ask
from autograder.testing.bench import Bench, Trial
from autograder.testing.callbacks import Callback
from autograder.testing.errors import StudentError
from autograder.testing.student import Answer, LocalRunner, call_digest
from autograder.testing.values import audited

# The reference is the course's own and ends by itself; this only keeps a broken one from holding up a worker for ever.
SECONDS = 60.0
MAX_AHEAD = 2**16  # bytes of a call's arguments: with more of them, a message of its own hardly matters


@dataclass
class Rehearsed:
    """What is known of the tests, by their names."""

    asks: dict[str, list[Ask]] = field(default_factory=dict)  # calls that can be made ahead
    dependent: dict[str, list[str]] = field(default_factory=dict)  # functions that are called with what was answered
    tolerances: list[str] = field(default_factory=list)  # of checks that are made of answers, each a sentence
    unsound: list[str] = field(default_factory=list)  # tests that the reference fails, each with the reason
    failed: set[str] = field(default_factory=set)  # those tests
    seconds: dict[str, float] = field(default_factory=dict)  # CPU time, mostly the reference's
    cut_short: set[str] = field(default_factory=set)  # tests whose end the rehearsal does not know


def rehearse(
    bench: Bench,
    items: Sequence[pytest.Item],
    reference: ModuleType,
    asked: set[str],
    call_seconds: Callable[[pytest.Item], float],
) -> Rehearsed:
    """Run the tests twice, as the module says; `call_seconds` is what a call of a test may take."""
    rehearsed = Rehearsed()
    first = Rehearsal(reference, asked)
    tolerances: dict[str, list[tuple[int, float]]] = {}
    bench.trial = rehearsal = Trial(first)
    for item in items:
        first.begin(item.name, call_seconds(item))
        with audited(lenient=False) as audit:
            runtestprotocol(item, nextitem=None, log=False)
        tolerances[item.name] = audit.tolerances
        rehearsed.seconds[item.name] = bench.cpu_seconds
    rehearsed.cut_short = first.cut_short
    failures = [
        outcome
        for outcome in rehearsal.outcomes.values()
        if outcome.status in (Status.FAILED, Status.FAULT) and outcome.test not in first.cut_short
    ]
    rehearsed.failed = {outcome.test for outcome in failures}
    rehearsed.unsound = [
        # Of a fault the last line says what it was, of a failure the first.
        f"{outcome.test}: {outcome.message.splitlines()[-1 if outcome.status is Status.FAULT else 0]}"
        for outcome in failures
    ]
    second = Counterfactual(first, reference, asked)
    for item in items:
        bench.trial = Trial(second)  # so that no test is blocked by another one
        with audited(lenient=True) as audit:
            runtestprotocol(item, nextitem=None, log=False)
        for (line, before), (other_line, after) in zip(tolerances[item.name], audit.tolerances, strict=False):
            if line != other_line:
                break
            if before != after and not (np.isnan(before) and np.isnan(after)):
                rehearsed.tolerances.append(f"{item.name}, line {line}: the tolerance depends on what is answered")
                break
    bench.trial = None
    for test, asks in first.asks.items():
        rehearsed.asks[test] = [ask for ask in asks if ask.digest in second.digests]
        if names := dict.fromkeys(ask.name for ask in asks if ask.digest not in second.digests):
            rehearsed.dependent[test] = list(names)
    return rehearsed


def rehearse_to_the_end(
    bench: Bench, item: pytest.Item, reference: ModuleType, asked: set[str], rehearsed: Rehearsed
) -> None:
    """Run a test that was cut short once more, with the calls that take long: how long is it by itself, and does it pass?"""
    runner = Patient(reference, asked)
    before, bench.trial = bench.trial, Trial(runner)
    runtestprotocol(item, nextitem=None, log=False)
    rehearsed.seconds[item.name] = bench.cpu_seconds - runner.spent
    rehearsed.cut_short.discard(item.name)
    if bench.trial.outcomes[item.name].status is not Status.PASSED:
        rehearsed.failed.add(item.name)
    bench.trial = before


class Patient(LocalRunner):
    """Makes every call on the reference; `spent` is the CPU time of those that were not called back by it."""

    def __init__(self, reference: ModuleType, asked: set[str]) -> None:
        super().__init__(vars(reference), {"names": list(vars(reference))}, asked=asked, seconds=SECONDS)
        self.spent = 0.0

    def call(self, name: str, case: wire.Deferred, handles: Sequence[Callback], *, repeat: bool) -> Answer | StudentError:
        begun = time.process_time()
        answer = super().call(name, case, handles, repeat=False)
        self.spent += 0.0 if handles else time.process_time() - begun
        return answer


class Rehearsal(LocalRunner):
    """Runs the tests on the reference, and notes the calls of each with their answers.

    Where a test makes arguments of earlier answers, a submission that answers otherwise is asked something else than was
    noted; that call is then made in its turn.
    """

    def __init__(self, reference: ModuleType, asked: set[str]) -> None:
        super().__init__(vars(reference), {"names": list(vars(reference))}, asked=asked, seconds=SECONDS)
        self.asks: dict[str, list[Ask]] = {}
        self.answers: dict[bytes, deque[Answer | StudentError]] = {}
        self.cut_short: set[str] = set()
        self._test = ""
        self._seconds = 0.0

    def begin(self, test: str, seconds: float) -> None:
        """The next calls are those of `test`, which may take `seconds` each."""
        self._test = test
        self.asks[test] = []
        self._seconds = seconds

    def call(self, name: str, case: wire.Deferred, handles: Sequence[Callback], *, repeat: bool) -> Answer | StudentError:
        if not repeat:
            # A call that takes long is not asked ahead, and the rest of its test is not worth the wait.
            self.cut_short.add(self._test)
            raise StudentError(f"`{name}` takes long")
        # A copy, for a test may change its arrays later.
        frozen = wire.Deferred(case.header, (memoryview(b"".join(case.buffers)),))
        digest = call_digest(name, frozen)
        if not handles and case.size <= MAX_AHEAD:
            self.asks[self._test].append(Ask(name, frozen, digest, self._seconds))
        answer = super().call(name, case, handles, repeat=False)
        self.answers.setdefault(digest, deque()).append(answer)
        return answer


class Counterfactual(LocalRunner):
    """Answers as the reference did, but with other values of the same form; notes what it is asked all the same.

    To a call that was not made before, the reference answers once more.
    """

    def __init__(self, first: Rehearsal, reference: ModuleType, asked: set[str]) -> None:
        super().__init__(vars(reference), first.report, asked=asked, seconds=SECONDS)
        self.digests: set[bytes] = set()
        self._known = {digest: deque(answers) for digest, answers in first.answers.items()}
        self._rng = np.random.default_rng(0)

    def call(self, name: str, case: wire.Deferred, handles: Sequence[Callback], *, repeat: bool) -> Answer | StudentError:
        if not repeat:
            raise StudentError(f"`{name}` takes long")
        digest = call_digest(name, case)
        self.digests.add(digest)
        known = self._known.get(digest)
        answer = known.popleft() if known else super().call(name, case, handles, repeat=False)
        if not isinstance(answer, Answer):
            return answer
        return Answer([otherwise(value, self._rng) for value in answer.values], answer.warnings)

    def read(self, name: str) -> Any:
        return otherwise(super().read(name), self._rng)


def otherwise(value: Any, rng: np.random.Generator, *, texts: bool = True) -> Any:
    """Another value of the same type, shape and dtype, finite where `value` is, and of about its size.

    The texts of a figure stay, for they lead a test to its numbers; without `texts` all do.
    """
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "b":
            return ~value
        if value.dtype.kind in "iu":
            return (value + rng.integers(1, 4, value.shape)).astype(value.dtype)
        size = np.max(np.abs(value), initial=0.0, where=np.isfinite(value)) or 1.0
        return (value * rng.uniform(0.5, 0.9, value.shape) - rng.uniform(0.01, 0.1, value.shape) * size).astype(value.dtype)
    if isinstance(value, np.generic):
        return otherwise(np.asarray(value), rng)[()]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + int(rng.integers(1, 4))
    if isinstance(value, float | complex):
        return value * rng.uniform(0.5, 0.9) - 0.01
    if isinstance(value, Fraction):
        return value * Fraction(6, 7)
    if isinstance(value, str):
        return f"{value}?" if texts else value
    if isinstance(value, list | tuple):
        return type(value)(otherwise(item, rng, texts=texts) for item in value)
    if isinstance(value, dict):
        return {key: otherwise(item, rng, texts=texts) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{name: otherwise(item, rng, texts=False) for name, item in vars(value).items()})
    return value
