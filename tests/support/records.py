"""Records made by hand, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autograder import figure_record
from autograder.course import ProblemSet, Question
from autograder.essays import Essay
from autograder.record import Provenance, QuestionScore, Record, Verdict
from autograder.runtime.figures import AxesView, FigureView
from autograder.runtime.outcomes import Cause, Outcome, Status
from autograder.scoring import Findings
from autograder.scoring import record as scored

PROVENANCE = Provenance(
    student="s001",
    problem_set="ps1",
    version="1.0.0",
    filename="ps1.py",
    submission="0" * 64,
    suite="v1",
    engine="1",
    started="2026-09-20T12:00:00+00:00",
)


def provenance(**changes: Any) -> Provenance:
    return replace(PROVENANCE, **changes)


def record(questions: Sequence[QuestionScore] = (), verdicts: Sequence[Verdict] = (), **changes: Any) -> Record:
    """A record; what is not said is empty."""
    return Record(**{"provenance": PROVENANCE, "questions": tuple(questions), "verdicts": tuple(verdicts), **changes})


def score(question: Question, points: float = 0.0, **changes: Any) -> QuestionScore:
    """`points` for a question of a problem set."""
    values = {"id": question.id, "title": question.title, "kind": question.kind, "points": question.points, "undone": False}
    return QuestionScore(**{**values, "score": points, **changes})


def verdict(test: str, question: str, status: Status = Status.FAILED, points: float = 1.0, **changes: Any) -> Verdict:
    values = {"title": "What it is about.", "hidden": False, **changes}
    return Verdict(test=test, question=question, status=status, points=points, **values)


# A character that takes most room on a page, and one that takes most in the file.
LONG = ("'" * 99 + "\N{GRINNING FACE}") * 10_000


def busy_figure(ticks: int) -> dict[str, Any]:
    labels = [(float(place), "l" * 100) for place in range(ticks)]
    panel = AxesView(title=LONG[:2000], xticks=labels, yticks=labels, xlim=(0.0, 60.0), ylim=(0.0, 60.0))
    plain = figure_record.to_json(FigureView(axes=[panel]))
    assert plain is not None
    return plain


def worst(problem_set: ProblemSet) -> Record:
    """A record in which a hostile submission has filled whatever it can, of a hundred tests."""
    outcomes = [
        Outcome(
            test=f"test_{place}",
            question=problem_set.assignment.questions[place % 9].id,
            title="What it is about.",
            hint="Look again.",
            points=1.0,
            hidden=bool(place % 2),
            status=Status.FAILED,
            message=LONG,
            safe=LONG,
            seconds=1.0,
            cause=Cause.UNDEFINED,
            missing="mix",
            similar=LONG,
        )
        for place in range(100)
    ]
    essays = {question.id: Essay(LONG) for question in problem_set.assignment.questions}
    text = LONG[:2000]  # the sandbox takes no longer ones
    problem = {"type": text, "message": text, "where": [text], "bases": [], "unit": ""}
    findings = Findings(outcomes, essays=essays, problems=[problem] * 60, output=LONG, staff_output=LONG)
    made = scored(problem_set, PROVENANCE, findings)
    return replace(made, figures={question.id: busy_figure(50) for question in problem_set.assignment.questions})
