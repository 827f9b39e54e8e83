"""What a worker learns from the reference before it grades: which calls the tests make."""

from __future__ import annotations

import types
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from autograder.rehearsal import MAX_AHEAD, Rehearsal, Rehearsed, otherwise, rehearse
from autograder.runtime import wire
from autograder.runtime.ledger import Ledger
from autograder.testing.bench import Bench
from autograder.testing.errors import StudentError
from autograder.testing.student import Student


@pytest.fixture
def rehearsal() -> Rehearsal:
    reference = types.ModuleType("reference")
    exec(
        "calls = []\n"
        "def same(x):\n    calls.append(x)\n    return x\n"
        "def apply(function, x): return function(x)\n"
        "def refuse(x): raise ValueError('no')\n",
        vars(reference),
    )
    found = Rehearsal(reference, {"same"})
    found.begin("test_it", 5.0)
    return found


def arguments(rehearsal: Rehearsal, test: str = "test_it") -> list[Any]:
    """Name and first argument of each call noted, as a guest would see them."""
    return [
        (ask.name, wire.decode(ask.case.header, ask.case.buffers[0], look_up=lambda name: name)[0][0])
        for ask in rehearsal.asks[test]
    ]


def test_each_question_is_noted_once_by_the_test_that_asks_first(rehearsal: Rehearsal) -> None:
    student = Student(rehearsal)
    assert [student.same(1), student.same(2), student.same(1)] == [1, 2, 1]
    with pytest.raises(ValueError, match="no"):
        student.refuse(3)
    rehearsal.begin("test_another", 9.0)
    assert [student.same(2), student.same(4)] == [2, 4]
    assert arguments(rehearsal) == [("same", 1), ("same", 2), ("refuse", 3)]
    assert arguments(rehearsal, "test_another") == [("same", 4)]
    assert [ask.seconds for ask in rehearsal.asks["test_another"]] == [9.0]
    # The reference is only learnt from, not checked: one call is enough.
    assert rehearsal.namespace["calls"] == [1, 2, 4]


def test_arguments_are_noted_as_they_were_when_they_were_asked(rehearsal: Rehearsal) -> None:
    x = np.zeros(3)
    Student(rehearsal).same(x)
    x[0] = 7
    ((_, noted),) = arguments(rehearsal)
    assert noted.tolist() == [0, 0, 0]


def test_calls_that_cannot_be_made_ahead_are_not_noted(rehearsal: Rehearsal) -> None:
    student = Student(rehearsal)
    # Nobody knows what a function of the test will answer.
    assert student.apply(lambda x: x + 1, 1) == 2
    student.same(np.zeros(MAX_AHEAD // 8 + 1))
    assert arguments(rehearsal) == []
    assert student.apply(student.same, 1) == 1
    assert arguments(rehearsal) == [("apply", "same")]


def test_a_call_that_takes_long_ends_the_rehearsal_of_its_test(rehearsal: Rehearsal) -> None:
    student = Student(rehearsal)
    student.same(1)
    with pytest.raises(StudentError, match="takes long"):
        student.once.same(2)
    assert rehearsal.namespace["calls"] == [1]
    assert rehearsal.cut_short == {"test_it"}
    # Another test may still ask the same function.
    rehearsal.begin("test_another", 5.0)
    student.same(3)
    assert arguments(rehearsal, "test_another") == [("same", 3)]


# --- what depends on an answer

TESTS = """
import numpy as np
from autograder.testing import array, close, graded, rounding

@graded("same", points=1)
def test_plain(student):
    "Inputs of the test alone."
    for x in (1.0, 2.0):
        close(student.same(x), x, atol=rounding(x), name="same")

@graded("same", points=1)
def test_chain(student):
    "Each answer is the next argument."
    value = np.array([3.0, 5.0])
    for _ in range(3):
        value = array(student.plus_one(value), shape=(2,), name="plus_one")
    close(value, [6.0, 8.0], atol=1e-9, name="plus_one, three times")

@graded("same", points=1)
def test_chosen_tolerance(student):
    "The scale is the answer's own."
    answer = student.same(7.0)
    close(answer, 7.0, atol=1e-5 * abs(answer), name="same")

@graded("same", points=1)
def test_wrong(student):
    "The reference fails."
    close(student.same(9.0), 8.0, atol=0.1, name="same")
"""


class Plain(Bench):
    """Rehearses the tests that it collects, with a reference of two functions."""

    def __init__(self) -> None:
        super().__init__(Ledger({}), 0)
        self.found = Rehearsed()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        reference = types.ModuleType("reference")
        exec("def same(x): return x\ndef plus_one(x): return x + 1", vars(reference))
        self.found = rehearse(self, session.items, reference, {"same", "plus_one"}, lambda item: 5.0)
        return True


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Rehearsed:
    path = tmp_path_factory.mktemp("tests") / "test_hidden.py"
    path.write_text(TESTS)
    bench = Plain()
    pytest.main(["-q", "-p", "no:cacheprovider", "--import-mode=importlib", "--noconftest", str(path)], plugins=[bench])
    return bench.found


def test_calls_that_carry_answers_are_not_asked_ahead(found: Rehearsed) -> None:
    assert len(found.asks["test_plain"]) == 2
    # The first link of a chain is the test's own, all others carry what the reference answered.
    assert len(found.asks["test_chain"]) == 1
    assert found.dependent == {"test_chain": ["plus_one"]}


def test_a_tolerance_made_of_an_answer_is_found(found: Rehearsed) -> None:
    assert [sentence.partition(",")[0] for sentence in found.tolerances] == ["test_chosen_tolerance"]


def test_what_the_reference_fails_is_found_although_the_second_run_lets_nothing_fail(found: Rehearsed) -> None:
    assert [sentence.partition(":")[0] for sentence in found.unsound] == ["test_wrong"]


@pytest.mark.parametrize(
    "value",
    [
        np.array([[0.0, 1.0], [np.nan, np.inf]]),
        np.zeros(3, np.float32),
        np.array([True, False]),
        np.arange(4, dtype=np.int8),
        np.float64(2.0),
        np.bool_(True),
        True,
        3,
        0.0,
        1j,
        Fraction(1, 2),
        "text",
        (1.0, [2.0, None], {"key": 3.0}),
    ],
)
def test_another_answer_has_the_form_of_the_first(value: Any) -> None:
    other = otherwise(value, np.random.default_rng(0))
    assert type(other) is type(value)
    if isinstance(value, np.ndarray):
        assert (other.dtype, other.shape) == (value.dtype, value.shape)
        assert (np.isfinite(other) == np.isfinite(value)).all()
        assert not np.any((other == value) & np.isfinite(value))
    else:
        assert other != value
