"""Where a student stands with each question, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Any

from autograder.runtime.outcomes import Outcome, Status, all_undone
from autograder.testing.errors import UNDONE


class State(Enum):
    """Where a student stands with a question, as far as their own run can tell."""

    PASSES = auto()
    FAILS = auto()
    OPEN = auto()  # not begun, or not complete


def state_of(outcomes: Sequence[Outcome]) -> State:
    """The state of a question that has been tested."""
    if all_undone(outcomes) or all(outcome.missing and not outcome.similar for outcome in outcomes):
        return State.OPEN
    return State.PASSES if all(outcome.status is Status.PASSED for outcome in outcomes) else State.FAILS


def is_open(namespace: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Whether one of these names is a stub, `None` or missing: what can be said without running anything."""
    return any(_is_stub(namespace.get(name)) for name in names)


def _is_stub(value: object) -> bool:
    code = getattr(value, "__code__", None)
    return value is None or (isinstance(value, str) and not value) or UNDONE in getattr(code, "co_consts", ())


def next_step(states: Mapping[str, State], *, is_notebook: bool, command: str, is_whole: bool) -> str:
    """A sentence on what to do next. `command` checks all questions; `is_whole` if this run has tested all of them."""
    fails = next((question for question, state in states.items() if state is State.FAILS), None)
    if fails is not None:
        hint = f'check("{fails}", hint=1)' if is_notebook else f"{command} {fails} --hint 1"
        return f"Next: `{fails}`. If you are stuck: {hint}"
    still_open = next((question for question, state in states.items() if state is State.OPEN), None)
    if still_open is not None:
        return f"Next: `{still_open}`."
    everything = "check()" if is_notebook else command
    return "Next: hand it in." if is_whole else f"Next: {everything} tests all questions."
