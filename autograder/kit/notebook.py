"""What the cells of a notebook call: `check("softmax")`, `draw("softmax")`, and the test cells of nbgrader."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.runtime import loading

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check(question: str | None = None, *, hint: int | None = None) -> None:
    """Run the public tests of `question` on this notebook's functions and print points and reasons.

    Without a question, all are tested, also from the saved file, run from top to bottom in a fresh process. With `hint`, a
    number from 1 to 3, print that hint of the question instead. Raises `ValueError` for a question or a hint that does not
    exist, naming those that do.
    """
    if loading.loading_now or (question is None and os.environ.get("NBGRADER_EXECUTION")):
        return
    # Imported here, so that grading runs and tests do not load the student's own side.
    from autograder.kit.folder import hint_text, known_question, read_description
    from autograder.kit.fresh import compared
    from autograder.kit.local import run_public_tests
    from autograder.kit.own_run import OwnRun

    namespace = sys._getframe(1).f_globals
    folder = Path.cwd()
    description = read_description(folder)
    if hint is not None:
        if question is None:
            raise ValueError('name the question too, for example: check("softmax", hint=1)')
        print(hint_text(description, question, hint))
        return
    if question is not None:
        known_question(description, question)
    run = OwnRun(folder, namespace, question)
    run_public_tests(run)
    print("\n".join(run.summary()))
    if question is None:
        print("\n".join(compared(run)))


def draw(question: str) -> Figure | None:
    """Draw what this notebook's functions do for `question`, and print what to look at. Nothing happens in a grading run."""
    if loading.loading_now or os.environ.get("NBGRADER_EXECUTION"):
        return None
    from autograder.kit.folder import known_question, read_description
    from autograder.kit.payoff import NoPayoff, payoff

    folder = Path.cwd()
    description = read_description(folder)
    known_question(description, question)
    try:
        figure, caption = payoff(folder, description, question, sys._getframe(1).f_globals)
    except NoPayoff as error:
        print(error)
        return None
    print(caption)
    return figure


def souvenir() -> Figure | None:
    """Draw the page to keep with this notebook's functions, as SVG and PDF too. Nothing happens in a grading run."""
    if loading.loading_now or os.environ.get("NBGRADER_EXECUTION"):
        return None
    from autograder.kit.payoff import NoPayoff, write_souvenir

    try:
        figure, paths = write_souvenir(Path.cwd(), sys._getframe(1).f_globals)
    except NoPayoff as error:
        print(error)
        return None
    print("written:", ", ".join(path.name for path in paths))
    return figure


def cell_points(suite: Mapping[str, Any]) -> float | None:
    """Run a suite (see `kit.embedded`) in a test cell of nbgrader, print what a student may read, and return the points.

    `None`, which nbgrader takes for full points, if all tests passed: a released cell lacks the hidden tests, and
    `nbgrader validate` should not call it failed for that.
    """
    if loading.loading_now:
        return None
    # Imported here, as above.
    from autograder.kit.embedded import report, run_tests
    from autograder.runtime.outcomes import Status

    outcomes = run_tests(sys._getframe(1).f_globals, suite)
    print(report(outcomes))
    return (
        None if all(outcome.status is Status.PASSED for outcome in outcomes) else sum(outcome.earned for outcome in outcomes)
    )
