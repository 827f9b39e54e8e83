"""Answers to problem sets 1 to 3 that were judged by hand before they were graded; `benchmarks/judgements.py` grades them.

A verdict is what the docstring promises, not what the tests ask: "right" if the function keeps every promise, and otherwise
the promise that it breaks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Judged:
    """One answer: the question, the name that it defines, and the promise that it breaks (empty: it is right)."""

    question: str
    name: str
    function: Callable[..., Any]
    breaks: str = ""


ANSWERS: dict[str, list[Judged]] = {}


def right(question: str, name: str = "") -> Callable[[Function], Function]:
    """Judge an answer to be right."""
    return wrong(question, "", name)


def wrong(question: str, breaks: str, name: str = "") -> Callable[[Function], Function]:
    """Judge an answer to break a promise."""

    def judge(function: Function) -> Function:
        problem_set = function.__module__.rpartition(".")[2]
        ANSWERS.setdefault(problem_set, []).append(Judged(question, name, function, breaks))
        return function

    return judge
