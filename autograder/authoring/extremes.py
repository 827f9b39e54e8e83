"""What do the tests make of answers that nobody gives by mistake? None of these may upset the grader or earn a point.

Each test runs again with the same extreme answer to every call: values of other kinds and sizes than any right answer has,
and the reference's own answers with their numbers replaced. It runs in this process, with the time and memory that a test
has in a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from _pytest.runner import runtestprotocol

from autograder.allowance import allowance
from autograder.assignment import Question
from autograder.runtime import wire
from autograder.runtime.outcomes import Cause, Outcome, Status
from autograder.suite import mark_of
from autograder.testing.bench import Bench, Trial
from autograder.testing.callbacks import Callback
from autograder.testing.errors import StudentError
from autograder.testing.forms import read_prediction
from autograder.testing.student import Answer, LocalRunner, call_digest, through_wire

LARGEST = 1.7e308  # nearly the largest double: its double is infinite
ONE_HUGE = "the largest number first"  # the rest is right, and so may earn points
SECONDS = 60.0  # for a call of the reference


def _nested(depth: int) -> list[Any]:
    """Lists in lists, as deep as a message may have them."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


# What a submission may answer to every call, whatever is asked; large enough to show what is not bounded.
ANSWERS: Mapping[str, Callable[[], Any]] = {
    "NaN": lambda: float("nan"),
    "an integer beyond all floats": lambda: 10**2000,
    "a fraction with two thousand digits": lambda: Fraction(10**1000 + 1, 10**1000),
    "a complex number": lambda: complex(LARGEST, -LARGEST),
    "an empty list": list,
    "an empty text": str,
    "an empty array": lambda: np.zeros(0),
    "an array without rows": lambda: np.zeros((0, 10**6)),
    "an array of many axes": lambda: np.zeros((1,) * wire.MAX_DIMENSIONS),
    "a long array": lambda: np.ones(200_000),
    "a large square": lambda: np.full((600, 600), LARGEST),
    "many arrays": lambda: [np.full(900, 1 / 3)] * 3_000,  # NumPy shows them in full, which takes half a minute
    "a long list": lambda: [0] * 3_000,
    "a long text": lambda: "1" * 1_000_000,
    "a long text among numbers": lambda: ["A" * 1_000_000, *[0] * 1_000],  # gigabytes, if NumPy makes an array of it
    "a large dictionary": lambda: {str(number): np.full((3, 3), 1 / 3) for number in range(500)},
    "deeply nested lists": lambda: _nested(16),
    "things of all kinds": lambda: [None, "x", [], {}, 1.0, np.nan],
}
# What replaces the numbers of the reference's own answers.
NUMBERS: Mapping[str, Callable[[np.ndarray], None]] = {
    "only NaN": lambda numbers: numbers.fill(np.nan),
    "only infinities": lambda numbers: numbers.fill(np.inf),
    "only the largest number": lambda numbers: numbers.fill(LARGEST),
    ONE_HUGE: lambda numbers: numbers.__setitem__(slice(0, 1), LARGEST),
}


class Extreme(LocalRunner):
    """Answers every call, and every variable that is read, with one value, which is `wrong` whatever the test asks."""

    wrong = True

    def __init__(self, value: Any, names: Sequence[str]) -> None:
        super().__init__({}, {"names": list(names)})
        self._value = value

    def call(self, name: str, case: wire.Deferred, handles: Sequence[Callback], *, repeat: bool) -> Answer | StudentError:
        return Answer([self._value], [])

    def read(self, name: str) -> Any:
        return self._value


class Replaced(LocalRunner):
    """Answers as the reference does, with other numbers: `wrong`, once an answer is not the reference's."""

    def __init__(
        self, reference: Mapping[str, Any], change: Callable[[np.ndarray], None], known: dict[bytes, Answer | StudentError]
    ) -> None:
        super().__init__(dict(reference), {"names": list(reference)}, seconds=SECONDS)
        self._change = change
        self._known = known
        self.wrong = False

    def call(self, name: str, case: wire.Deferred, handles: Sequence[Callback], *, repeat: bool) -> Answer | StudentError:
        if not repeat:
            raise StudentError(f"`{name}` takes long")
        digest = call_digest(name, case)
        answer = None if handles else self._known.get(digest)
        if answer is None:
            answer = super().call(name, case, handles, repeat=False)
            if not handles:
                self._known[digest] = answer
        if not isinstance(answer, Answer):
            return answer
        return Answer([self._replaced(value) for value in answer.values], answer.warnings)

    def read(self, name: str) -> Any:
        return self._replaced(super().read(name))

    def _replaced(self, value: Any) -> Any:
        """`value` with other numbers, in the same containers."""
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in "fc" or not value.size:
                return value
            numbers = value.copy()
            self._change(numbers.reshape(-1))
            self.wrong |= not np.array_equal(numbers, value, equal_nan=True)
            return numbers
        if isinstance(value, np.generic):
            return self._replaced(np.array([value]))[0]
        if isinstance(value, float | complex):
            return self._replaced(np.array([value]))[0].item()
        if isinstance(value, list | tuple):
            return type(value)(map(self._replaced, value))
        if isinstance(value, dict):
            return {key: self._replaced(item) for key, item in value.items()}
        if is_dataclass(value) and not isinstance(value, type):
            before = self.wrong
            other = replace(value, **{name: self._replaced(item) for name, item in vars(value).items()})
            self.wrong = before  # the words of a figure are still right
            return other
        return value


def extreme_problems(
    bench: Bench, items: Sequence[pytest.Item], questions: Sequence[Question], reference: Mapping[str, Any], memory: int
) -> Iterator[str]:
    """What is wrong with how the tests take extreme answers, each a sentence. `memory` is what a test may take, in bytes."""
    names = [name for question in questions for name in question.names]
    cases: dict[str, Callable[[], Extreme | Replaced]] = {
        f"every answer is {said}": partial(Extreme, through_wire(value()), names) for said, value in ANSWERS.items()
    }
    known: dict[bytes, Answer | StudentError] = {}
    cases |= {f"right answers hold {said}": partial(Replaced, reference, change, known) for said, change in NUMBERS.items()}
    for case, make_runner in cases.items():
        outcomes: dict[str, Outcome] = {}
        for item in items:
            runner = make_runner()  # anew, so that no test is blocked by another one, or gets its answers
            bench.trial = Trial(runner)
            with allowance(memory):
                runtestprotocol(item, nextitem=None, log=False)
            outcome = outcomes[item.name] = bench.trial.outcomes[item.name]
            needed = outcomes.get(mark_of(item).requires)
            allowed = needed is None or needed.status is Status.PASSED
            if outcome.cause is Cause.BEYOND:
                yield f"{item.name} takes more time or memory than a test may, where {case}"
            elif outcome.status is Status.FAULT:
                yield f"{item.name} is at fault itself, where {case}: {outcome.message.splitlines()[-1]}"
            elif outcome.status is Status.PASSED and allowed and runner.wrong and ONE_HUGE not in case:
                yield f"{item.name} gives {outcome.points:g} points, where {case}"
        for question in questions:
            if question.kind == "prediction":
                [name] = question.names
                try:
                    read_prediction(question.id, name, question.choices(name), question.points, make_runner())
                except Exception as error:
                    yield f"{question.id}: the prediction cannot be read, where {case}: {error!r}"
    bench.trial = None
