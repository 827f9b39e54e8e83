"""The page for staff on which the code of two students stands side by side, what they share marked."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from autograder.assignment import Assignment
from autograder.feedback.html import render
from autograder.feedback.similarity import Pair
from autograder.feedback.student import FOLDER, MAX_LINES, MAX_WIDTH


@dataclass(frozen=True)
class Line:
    """A line of code with its number, and whether the other file has it too."""

    number: int
    text: str
    shared: bool


def pair_name(pair: Pair) -> str:
    """The page's path beside the report."""
    return f"{FOLDER}/{pair.one}+{pair.other}.html"


def pair_page(
    assignment: Assignment,
    pair: Pair,
    texts: tuple[str, str],
    shared: tuple[Set[int], Set[int]],
    *,
    made: datetime.datetime,
    report: str,
) -> str:
    """The page as one HTML document that loads nothing. `shared` are the numbers, from 1, of each text's shared lines."""
    sides = [
        (student, share, list(_lines(text.split("\n"), marked)))
        for student, share, text, marked in zip(
            (pair.one, pair.other), (pair.of_one, pair.of_other), texts, shared, strict=True
        )
    ]
    return render("pair.html", assignment=assignment, sides=sides, made=made, report=report)


def _lines(lines: Sequence[str], marked: Set[int]) -> Iterator[Line]:
    for number, text in enumerate(lines[:MAX_LINES], start=1):
        cut = text if len(text) <= MAX_WIDTH else f"{text[:MAX_WIDTH]}…"
        yield Line(number, cut, number in marked)
