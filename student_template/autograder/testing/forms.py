"""The form of answers that are variables: is a choice one of its letters, a prediction a number, and is there any text?

Nothing here knows what is true, so a student's own run may say all of it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

import pytest

from autograder.runtime.outcomes import Outcome
from autograder.testing.bench import outcome_of
from autograder.testing.errors import Mismatch, StudentError
from autograder.testing.marks import Graded
from autograder.testing.student import Runner, Student

MAX_SHOWN = 40


def form_problem(name: str, value: Any, options: Collection[str]) -> str:
    """What is wrong with the form of an answer that must be one of `options`, or a finite number if there are none."""
    if options:
        if isinstance(value, str) and value in options:
            return ""
        letters = list(options)
        run = [chr(ord(letters[0][0]) + place) for place in range(len(letters))]
        listed = f"one of {letters[0]}–{letters[-1]}" if len(letters) > 2 and letters == run else " or ".join(letters)
        return f"`{name}` must be {listed}"
    # Compared, not converted: some integers are larger than any float.
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return "" if number else f"`{name}` must be a number"


def shown(value: Any) -> str:
    """An answer in a few characters, for its author."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)[:MAX_SHOWN]


def read_prediction(
    question: str, name: str, options: Collection[str], points: float, runner: Runner
) -> tuple[Outcome, str]:
    """The outcome of a prediction, which earns its points by its form alone, and its text, empty if the form is another.

    It is read once, for a submission that is asked again may say something else.
    """
    student = Student(runner)
    value = raised = None
    try:
        value = student.value(name)
        problem = form_problem(name, value, options)
        if problem:
            raise Mismatch(problem)
    except (StudentError, Mismatch) as error:
        raised = pytest.ExceptionInfo.from_exception(error)
    mark = Graded(question, points, title="You committed to a prediction")
    outcome = outcome_of(f"prediction_{question}", mark, False, raised, 0.0, student)
    return outcome, "" if raised else shown(value)
