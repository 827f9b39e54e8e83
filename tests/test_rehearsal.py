"""What a worker learns from the reference before it grades: which calls the tests make."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from autograder.rehearsal import MAX_AHEAD, Rehearsal
from autograder.runtime import wire
from autograder.testing.student import Student, StudentError


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
