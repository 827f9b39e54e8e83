"""A question's tests on what a notebook has defined so far: `check("softmax")`, and the test cells of nbgrader."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.runtime import loading


def check(question: str) -> None:
    """Run the public tests of `question` on this notebook's functions and print points and reasons.

    Raises `ValueError` for a question that does not exist, naming those that do.
    """
    if loading.loading_now:
        return
    # Imported here, so that grading runs and tests do not load the student's own side.
    import pytest

    from autograder.kit.local import LocalBench

    namespace = sys._getframe(1).f_globals
    folder = Path.cwd()
    bench = LocalBench(folder, namespace, question)
    known = [entry["id"] for entry in bench.description["questions"]]
    if question not in known:
        raise ValueError(f"there is no question {question!r}; there are {', '.join(known)}")
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(
            [str(folder / "test_public.py"), "-q", "--no-header", "--tb=no", "-rN", "-p", "no:cacheprovider",
             "--import-mode=importlib", "--capture=no", f"--rootdir={folder}", "-p", "no:conftest",
             "--noconftest"],
            plugins=[bench],
        )  # fmt: skip
    print("\n".join(bench.summary()))


def cell_points(suite: Mapping[str, Any]) -> float | None:
    """Run a suite (see `kit.embedded`) in a test cell of nbgrader, print what a student may read, and return the points.

    `None`, which nbgrader takes for full points, if all tests passed: a released cell lacks the hidden tests, and
    `nbgrader validate` should not call it failed for that.
    """
    if loading.loading_now:
        return None
    # Imported here, as above.
    from autograder.kit.embedded import report, run_tests
    from autograder.testing.bench import PASSED

    outcomes = run_tests(sys._getframe(1).f_globals, suite)
    print(report(outcomes))
    return None if all(outcome.status == PASSED for outcome in outcomes) else sum(outcome.earned for outcome in outcomes)
