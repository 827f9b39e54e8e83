"""What an export is given and what it gives; the exports themselves are the modules of `exports`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from autograder.assignment import Question
from autograder.grades import Grade
from autograder.intake import Roster
from autograder.standing import named

# What a spreadsheet may take for the beginning of a formula, also after white space, and also in full width.
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")


class ExportError(Exception):
    """A gradebook file cannot be filled in; the message says what is wrong with it and what to do."""


@dataclass(frozen=True)
class Wanted:
    """What is to be written.

    `titles` are what the assignment may be called on the platform, and `gradebook` is the file that was downloaded there,
    empty for an export that fills in none.
    """

    grades: Sequence[Grade]
    questions: Sequence[Question]
    titles: Sequence[str] = ()
    gradebook: bytes = b""
    roster: Roster | None = None


@dataclass
class Written:
    """Files by name, with the grades in them; the name is empty where an export writes one file.

    `problems` need a person: a grade that found no place, or a cell that was left unchanged although there is a grade.
    `untouched` are the rows without a grade.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    count: int = 0
    problems: list[str] = field(default_factory=list)
    untouched: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Export:
    """One way to write grades. `fills_in` names the platform whose gradebook file it fills in, if it does."""

    name: str
    write: Callable[[Wanted], Written]
    fills_in: str = ""
    file_per_student: bool = False


def defused(text: str) -> str:
    """A text that no spreadsheet takes for a formula: a quote in front makes it a text."""
    return f"'{text}" if _FORMULA.match(text) else text


def waiting_answers(grades: Sequence[Grade]) -> list[str]:
    """Whose written answers a person has still to read, as a sentence; empty if there is none."""
    students = [grade.student for grade in grades if not grade.complete]
    return [f"written answers not read yet: {named(students)}"] if students else []
