"""The page a student reads: points, what each test says, their own output and figures, and what lateness cost.

Of a test, only its title, its outcome and its `output` are used. What else a record holds of it is for staff.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from autograder import figure_record
from autograder.assignment import Question
from autograder.course import ProblemSet
from autograder.feedback import drawing
from autograder.feedback.html import render
from autograder.grades import Grade
from autograder.testing.bench import BLOCKED, FAILED, FAULT, PASSED

WORDS = {PASSED: "passed", FAILED: "not passed", BLOCKED: "not run", FAULT: "fault of the grader"}
_SLIP, _HINT = "Likely slip: ", "Hint: "


@dataclass(frozen=True)
class TestView:
    """One test, as its student may see it."""

    title: str
    outcome: str
    hidden: bool
    score: float
    possible: float
    said: str
    slip: str
    hint: str

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

    `score` is `None` until a person has read it; `overruled` says that a person's points stand in place of the tests'.
    """

    question: Question
    score: float | None
    overruled: bool
    undone: bool
    answer: str
    comment: str
    tests: list[TestView]
    figure: FigureImage | None

    @property
    def passed(self) -> list[TestView]:
        return [test for test in self.tests if test.outcome == PASSED]

    @property
    def others(self) -> list[TestView]:
        return [test for test in self.tests if test.outcome != PASSED]


def student_page(
    problem_set: ProblemSet, grade: Grade, *, made: datetime.datetime, closes: datetime.datetime | None = None
) -> str:
    """The page as one HTML document that loads nothing.

    `made` is now; the questions' explanations, which give answers away, appear once `closes` is over, and never without it.
    """
    questions = [_question(question, grade) for question in problem_set.assignment.questions]
    return render(
        "page.html",
        assignment=problem_set.assignment,
        grade=grade,
        record=grade.stored.record,
        questions=questions,
        unread=[view for view in questions if view.score is None],
        explanations=problem_set.explanations if closes is not None and made > closes else {},
        closes=closes,
        made=made,
    )


def _question(question: Question, grade: Grade) -> QuestionView:
    extra = grade.stored.record["extra_data"]
    # A question that the problem set got later is not in an older record.
    absent: dict[str, Any] = {"score": 0.0, "undone": True}
    entry = next((entry for entry in extra["questions"] if entry["id"] == question.id), absent)
    return QuestionView(
        question=question,
        score=grade.by_question.get(question.id, 0.0 if entry["undone"] else None),
        overruled=question.kind != "written" and question.id in grade.manual,
        undone=entry["undone"],
        answer=entry.get("answer", ""),
        comment=grade.comments.get(question.id, ""),
        tests=[_test(test) for test in grade.stored.record["tests"] if test["extra_data"]["question"] == question.id],
        figure=_figure(extra.get("figures", {}), question.id),
    )


def _test(test: dict[str, Any]) -> TestView:
    lines = test["output"].split("\n")
    # Hint and slip are written last, so that what a submission printed before cannot pass for them.
    hint = lines.pop().removeprefix(_HINT) if lines and lines[-1].startswith(_HINT) else ""
    slip = lines.pop().removeprefix(_SLIP) if lines and lines[-1].startswith(_SLIP) else ""
    return TestView(
        title=test["name"].partition(": ")[2],
        outcome=test["extra_data"]["outcome"],
        hidden=test["extra_data"]["hidden"],
        score=test["score"],
        possible=test["max_score"],
        said="\n".join(lines),
        slip=slip,
        hint=hint,
    )


def _figure(figures: dict[str, Any], question: str) -> FigureImage | None:
    if question not in figures:
        return None
    if figures[question] is None:
        return FigureImage("", "Your figure holds too much data to be shown here; the tests saw all of it.")
    try:
        view = figure_record.from_json(figures[question])
    except (ValueError, TypeError):
        return FigureImage("", "Your figure cannot be shown here; the tests saw it.")
    return FigureImage(drawing.image_source(view), drawing.description(view))
