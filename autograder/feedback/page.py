"""The page a student reads: points, what each test says, their own output and figures, and what lateness cost.

Of a hidden test, only title, outcome, safe message, slip and hint are used. What else a record holds of it is for staff.
"""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass

from autograder import figure_record
from autograder.assignment import Question
from autograder.course import ProblemSet
from autograder.feedback import drawing
from autograder.feedback.html import render
from autograder.grades import Grade
from autograder.record import Record, Verdict
from autograder.runtime.causes import grouped
from autograder.runtime.outcomes import Status

# Of all figures on a page: that many parts are drawn in less than half a second, and five heat maps have fewer.
MAX_PARTS = 150
WORDS = {
    Status.PASSED: "passed",
    Status.FAILED: "not passed",
    Status.BLOCKED: "not run",
    Status.FAULT: "fault of the grader",
}


@dataclass(frozen=True)
class TestView:
    """One test's title and points."""

    title: str
    hidden: bool
    score: float
    possible: float


@dataclass(frozen=True)
class TestGroup:
    """Tests that ended alike, and what their student may read of it."""

    outcome: Status
    said: str
    followed: str
    hint: str
    tests: list[TestView]

    @property
    def words(self) -> str:
        return WORDS[self.outcome]


@dataclass(frozen=True)
class FigureImage:
    """A drawn-again figure; `source` is empty if there is nothing to show, and `text` says it in words."""

    source: str
    text: str


@dataclass(frozen=True)
class QuestionView:
    """One question with all that is said of a student's answer.

    `section` is the heading of the handout's section; `causes` are functions of other questions to fix first, as sentences;
    `slips` are the hints of likely slips. `score` is `None` until a person has read it; `overruled` says that a person's
    points stand in place of the tests'.
    """

    question: Question
    score: float | None
    overruled: bool
    undone: bool
    answer: str
    comment: str
    section: str
    causes: list[str]
    slips: list[str]
    passed: list[TestGroup]
    others: list[TestGroup]
    figure: FigureImage | None


def student_page(
    problem_set: ProblemSet,
    grade: Grade,
    *,
    made: datetime.datetime,
    closes: datetime.datetime | None = None,
    withheld: datetime.datetime | None = None,
) -> str:
    """The page as one HTML document that loads nothing.

    `withheld` is the time until which it is to say that hidden tests are left out, as they have been.
    `made` is now; the questions' explanations, which give answers away, appear once `closes` is over, and never without it.
    """
    figures, sections = _figures(grade.stored.record), problem_set.sections()
    questions = [
        _question(question, grade, figures, sections.get(question.id, "")) for question in problem_set.assignment.questions
    ]
    closed = closes is not None and made > closes
    return render(
        "page.html",
        assignment=problem_set.assignment,
        grade=grade,
        record=grade.stored.record,
        questions=questions,
        unread=[view for view in questions if view.score is None],
        unreadable=_unreadable(grade.stored.record),
        explanations=problem_set.explanations if closed else {},
        model_answers=problem_set.model_answers() if closed else {},
        closes=closes,
        made=made,
        withheld=withheld,
    )


def _unreadable(record: Record) -> bool:
    """Whether Python could not read the module, so that nothing in it ran. A cell of a notebook leaves the others alone."""
    errors = ("SyntaxError: ", "IndentationError: ", "TabError: ")
    return record.provenance.filename.endswith(".py") and any(problem.startswith(errors) for problem in record.problems)


def _question(question: Question, grade: Grade, figures: Mapping[str, FigureImage], section: str) -> QuestionView:
    record = grade.stored.record
    # A question that the problem set got later is not in an older record.
    scored = record.question(question.id)
    undone = scored.undone if scored else True
    return QuestionView(
        question=question,
        score=grade.by_question.get(question.id, 0.0 if undone else None),
        overruled=question.kind != "written" and question.id in grade.manual,
        undone=undone,
        answer=scored.answer if scored else "",
        comment=grade.comments.get(question.id, ""),
        section=section,
        causes=list(dict.fromkeys(verdict.blame for verdict in record.verdicts_of(question.id) if verdict.blame)),
        slips=[slip.hint for slip in scored.slips] if scored else [],
        passed=_groups(record.verdicts_of(question.id), passed=True),
        others=_groups(record.verdicts_of(question.id), passed=False),
        figure=figures.get(question.id),
    )


def _groups(verdicts: list[Verdict], *, passed: bool) -> list[TestGroup]:
    """The tests that passed, or those that did not, those of one cause together."""
    chosen = [verdict for verdict in verdicts if (verdict.status is Status.PASSED) is passed]
    groups = grouped(chosen, lambda verdict: verdict.said and f"{verdict.status} {verdict.said} {verdict.followed}")
    return [_group(group) for group in groups]


def _group(verdicts: list[Verdict]) -> TestGroup:
    first = verdicts[0]
    tests = [TestView(verdict.title, verdict.hidden, verdict.score, verdict.points) for verdict in verdicts]
    return TestGroup(first.status, first.said, first.followed, first.hint if len(tests) == 1 else "", tests)


def _figures(record: Record) -> dict[str, FigureImage]:
    """The figures of a record, drawn again, by question; one that is too costly is only said to be there."""
    images = {}
    room = MAX_PARTS
    for question, plain in record.figures.items():
        images[question], used = _figure(json.dumps(plain), room)
        room -= used
    return images


# Students who are right draw the same; drawing it takes longer than the rest of a page.
@functools.lru_cache(maxsize=256)
def _figure(plain: str, room: int) -> tuple[FigureImage, int]:
    """A figure, given as JSON, and how much of the room for parts it takes."""
    try:
        content = json.loads(plain)
        view = figure_record.from_json(content) if content is not None else None
    except (ValueError, TypeError):
        return FigureImage("", "Your figure cannot be shown here; the tests saw it."), 0
    if view is None or drawing.parts(view) > room:
        return FigureImage("", "Your figure holds too much data to be shown here; the tests saw all of it."), 0
    return FigureImage(drawing.image_source(view), drawing.description(view)), drawing.parts(view)
