"""What a student reads before the due date, where hidden tests are withheld: what public tests say, and nothing else."""

from __future__ import annotations

import math
from dataclasses import replace

from autograder.course import ProblemSet
from autograder.record import QuestionScore, Record, Verdict
from autograder.runtime.outcomes import Status


def public_part(problem_set: ProblemSet, record: Record) -> tuple[ProblemSet, Record]:
    """The problem set and the record as if there were no hidden tests.

    Follow-through goes too: that a function has a mistake may be what a hidden test found out.
    """
    verdicts = tuple(
        replace(verdict, fix_first=(), follow_through=None, credit=0.0) for verdict in record.verdicts if not verdict.hidden
    )
    questions = tuple(_question(question, verdicts) for question in record.questions)
    points = {question.id: question.points for question in questions}
    assignment = problem_set.assignment.model_copy(
        update={
            "questions": [
                question.model_copy(update={"points": points.get(question.id, question.points)})
                for question in problem_set.assignment.questions
            ]
        }
    )
    return replace(problem_set, assignment=assignment), replace(record, verdicts=verdicts, questions=questions)


def _question(question: QuestionScore, verdicts: tuple[Verdict, ...]) -> QuestionScore:
    if question.kind in ("written", "prediction"):
        return question  # no test decides on it
    own = [verdict for verdict in verdicts if verdict.question == question.id]
    slips = {verdict.slip for verdict in own if verdict.status is Status.FAILED}
    return replace(
        question,
        score=math.fsum(verdict.score for verdict in own),
        points=math.fsum(verdict.points for verdict in own),
        slips=tuple(slip for slip in question.slips if slip.mutant in slips),
    )
