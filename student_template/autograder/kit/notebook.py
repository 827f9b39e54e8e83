"""`check("softmax")` in a notebook: the question's public tests on what the notebook has defined so far."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

from autograder.guest import loading


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
