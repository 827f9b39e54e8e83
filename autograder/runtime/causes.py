"""Why tests fail, said once: what to fix first, and tests that say the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from autograder.runtime.outcomes import Outcome, Status

Test = TypeVar("Test")
LOST = (Status.FAILED, Status.BLOCKED)


def broken_uses(
    uses: Mapping[str, Sequence[str]], owners: Mapping[str, str], outcomes: Collection[Outcome]
) -> dict[str, list[str]]:
    """The questions that lost a test, each with those functions it builds on that failed a test of their own.

    `uses` has the functions that a question builds on, `owners` the question of each name; what is carried over from an
    earlier problem set has none, and no tests here.
    """
    failed = {(outcome.question, name) for outcome in outcomes if outcome.status is Status.FAILED for name in outcome.uses}
    lost = {outcome.question for outcome in outcomes if outcome.status in LOST}
    broken = {
        question: [name for name in names if (owners.get(name), name) in failed]
        for question, names in uses.items()
        if question in lost
    }
    return {question: names for question, names in broken.items() if names}


def blame(names: Sequence[str]) -> str:
    """What a student reads where these functions, which a test builds on, fail tests of their own."""
    if not names:
        return ""
    quoted = [f"`{name}`" for name in names]
    listed = " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
    return f"{listed} fails: fix it first." if len(names) == 1 else f"{listed} fail: fix them first."


def grouped(tests: Iterable[Test], said: Callable[[Test], str]) -> list[list[Test]]:
    """Tests that say the same stand together, at the place of the first; one that says nothing stands alone."""
    groups: dict[str, list[Test]] = {}
    for place, test in enumerate(tests):
        groups.setdefault(said(test) or str(place), []).append(test)
    return list(groups.values())
