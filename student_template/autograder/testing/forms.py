"""The form of answers that are variables: is a choice one of its letters, a prediction a number, and is there any text?

Nothing here knows what is true, so a student's own run may say all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

from autograder.testing.bench import FAILED, PASSED, Outcome
from autograder.testing.student import UNDONE, StudentError

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
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return "" if number else f"`{name}` must be a number"


def shown(value: Any) -> str:
    """An answer in a few characters, for its author."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)[:MAX_SHOWN]


def prediction_outcome(
    question: str, name: str, options: Collection[str], points: float, read: Callable[[str], Any]
) -> Outcome:
    """The outcome of a prediction, which earns its points by its form alone; `read` reads a variable of the submission."""
    try:
        value = read(name)
    except StudentError as error:
        message = str(error)
    else:
        message = f"{UNDONE}: `{name}`" if value is None else form_problem(name, value, options)
    return Outcome(
        test=f"prediction_{question}",
        question=question,
        title="You committed to a prediction",
        hint="",
        points=points,
        hidden=False,
        status=FAILED if message else PASSED,
        message=message,
        safe=message,
        seconds=0.0,
        uses=(name,),
    )
