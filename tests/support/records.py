"""Records made by hand, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autograder.course import Question
from autograder.record import Provenance, QuestionScore, Record, Verdict
from autograder.testing.bench import Status

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
