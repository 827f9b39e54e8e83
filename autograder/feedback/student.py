"""The page for staff about one student: the code with its line numbers, and beside it all that the tests said of it.

It holds the inputs of hidden tests, so it never lies where students' pages are.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.assignment import Question
from autograder.course import ProblemSet
from autograder.feedback.html import render
from autograder.grades import Grade
from autograder.intake.roster import Person
from autograder.journal import Attempt, Journal, Stored
from autograder.pieces import Piece, cells_of, pieces_of
from autograder.record import Verdict

MAX_LINES, MAX_WIDTH = 5000, 400  # of one file, and of one line
FOLDER = "staff"


@dataclass(frozen=True)
class Block:
    """Lines that stand together, and the number of the first in the file or cell; `cell` is empty in a module."""

    cell: str
    first: int
    lines: list[str]


@dataclass(frozen=True)
class Answer:
    """One question: its code, and what the tests and people said of it; `score` is `None` until a person has read it."""

    question: Question
    score: float | None
    undone: bool
    text: str
    comment: str
    slips: list[tuple[str, str]]
    verdicts: list[Verdict]
    code: list[Block]


@dataclass(frozen=True)
class History:
    """One attempt with its gradings, and which of them counts, if one does."""

    attempt: Attempt
    gradings: list[Stored]
    counting: Stored | None


def page_name(student: str) -> str:
    """The page's path beside the report."""
    return f"{FOLDER}/{student}.html"


def staff_folder(report: Path) -> Path:
    """Where the pages for a report go. Raises `ValueError` if students' pages are there."""
    if "feedback" in report.resolve().parts:
        raise ValueError(f"{report} is under a folder `feedback`, whose pages go to students; choose another place")
    return report.parent / FOLDER


def student_page(
    problem_set: ProblemSet,
    journal: Journal,
    student: str,
    grade: Grade | None,
    person: Person,
    *,
    made: datetime.datetime,
    report: str,
) -> str:
    """The page as one HTML document that loads nothing; `report` is the name of the page that leads here."""
    records, counting = journal.records(student), journal.in_force(student)
    history = [
        History(attempt, [stored for stored in records if stored.attempt == attempt.number], counting.get(attempt.number))
        for attempt in journal.attempts(student)
    ]
    cells = cells_of(grade.attempt.filename, journal.source(grade.attempt)) if grade else []
    pieces = pieces_of(problem_set, cells, by_definition=True)
    return render(
        "student.html",
        assignment=problem_set.assignment,
        student=student,
        person=person,
        grade=grade,
        record=grade.stored.record if grade else None,
        answers=[_answer(question, grade, pieces) for question in problem_set.assignment.questions] if grade else [],
        rest=_blocks([piece for piece in pieces if not piece.question]),
        history=history,
        made=made,
        report=report,
    )


def _answer(question: Question, grade: Grade, pieces: Sequence[Piece]) -> Answer:
    record = grade.stored.record
    scored = record.question(question.id)
    undone = scored.undone if scored else True
    return Answer(
        question,
        grade.by_question.get(question.id, 0.0 if undone else None),
        undone,
        scored.answer if scored else "",
        grade.comments.get(question.id, ""),
        [(slip.mutant, slip.hint) for slip in scored.slips] if scored else [],
        record.verdicts_of(question.id),
        _blocks([piece for piece in pieces if piece.question == question.id]),
    )


def _blocks(pieces: Sequence[Piece]) -> list[Block]:
    blocks, room = [], MAX_LINES
    for piece in (piece for piece in pieces if not piece.is_blank):
        lines = [text if len(text) <= MAX_WIDTH else f"{text[:MAX_WIDTH]}…" for text in piece.lines[:room]]
        room -= len(lines)
        blocks.append(Block(piece.cell, piece.first_line, lines))
    return blocks
