"""Written answers for a reader, anonymous: here as a CSV file that goes out and comes back with points and comments.

`desk` and `server` are the same on a page.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.assignment import Question
from autograder.course import CourseError, ProblemSet
from autograder.exporting import defused
from autograder.grades import Grade, Manual
from autograder.intake.roster import read_table
from autograder.text import points_text, visible

COLUMNS = ("key", "question", "out of", "saved", "points", "comment", "answer")
GIVEN_BY_READER = ("key", "saved", "points", "comment")


@dataclass(frozen=True)
class Essay:
    """One written answer that was begun. `given` is what people gave so far.

    `key` names it without saying whose it is; another text, or another student, has another key.
    """

    student: str
    question: Question
    answer: str
    given: Manual

    @property
    def key(self) -> str:
        # A letter first: a spreadsheet would take 12e45678 for a number.
        text = "\n".join((self.student, self.question.id, self.answer))
        return "k" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]


@dataclass
class Returned:
    """What came back: points and comments by student and question, and what was not taken, each a sentence."""

    given: dict[tuple[str, str], Manual] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unread: int = 0


def essays(problem_set: ProblemSet, grades: Sequence[Grade]) -> list[Essay]:
    """The written answers, question by question, and in the order of their keys, which say nothing of the student."""
    return [
        essay
        for question in problem_set.assignment.questions
        if question.kind == "written"
        for essay in sorted(_of_question(question, grades), key=lambda essay: essay.key)
    ]


def _of_question(question: Question, grades: Sequence[Grade]) -> Iterator[Essay]:
    for grade in grades:
        scored = grade.stored.record.question(question.id)
        if scored and not scored.undone:
            given = Manual(grade.manual.get(question.id), grade.comments.get(question.id, ""))
            yield Essay(grade.student, question, scored.answer, given)


def to_csv(answers: Sequence[Essay]) -> bytes:
    """The file that goes out, with the byte order mark by which spreadsheets recognise UTF-8."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for essay in answers:
        saved = "" if essay.given.points is None else points_text(essay.given.points)
        shown = defused(visible(essay.answer))
        writer.writerow(
            [essay.key, essay.question.id, points_text(essay.question.points), saved, saved, essay.given.comment, shown]
        )
    return text.getvalue().encode("utf-8-sig", "replace")


def from_csv(path: Path, answers: Sequence[Essay]) -> Returned:
    """What a reader gave. Raises `CourseError` if the file cannot be read, or is not one of `to_csv`.

    A row is not taken if its answer has changed, if somebody else gave points meanwhile, or if its points are not a
    number between 0 and the question's points. A row without points is unread; an empty comment leaves the old one.
    """
    table = read_table(path)
    if missing := [name for name in GIVEN_BY_READER if name not in table.header]:
        raise CourseError(f"{path}: line 1: there is no column `{missing[0]}`; is it a file of `course read`?")
    by_key = {essay.key: essay for essay in answers}
    returned = Returned()
    for number, cells in table.rows:
        essay, points = by_key.get(cells["key"]), cells["points"]
        if not points:
            returned.unread += 1
        elif essay is None:
            returned.problems.append(
                f"row {number}: {cells['key']} is not a current answer; the student handed in again, or the answer is gone"
            )
        elif (problem := _problem(essay, cells["saved"], points)) is not None:
            returned.problems.append(f"row {number}: {essay.key}: {problem}; nothing of this row is saved")
        else:
            own = essay.student, essay.question.id
            manual = Manual(_number(points), cells["comment"] or essay.given.comment)
            if manual != essay.given:
                returned.given[own] = manual
    return returned


def _problem(essay: Essay, saved: str, points: str) -> str | None:
    """Why a row may not be taken."""
    given, now = _number(points), essay.given.points
    if not 0 <= given <= essay.question.points:
        return f"{points!r} is not between 0 and {points_text(essay.question.points)}"
    if now is not None and now != given and (not saved or abs(now - _number(saved)) > 0.005):
        return f"somebody gave {points_text(now)} points meanwhile"
    return None


def _number(text: str) -> float:
    """A number as people write it, also with a comma; NaN if it is none."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan
