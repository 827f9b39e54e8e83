"""What the records of a problem set say about its questions, tests and gradings, in numbers."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autograder.assignment import Question
from autograder.course import ProblemSet
from autograder.grades import Grade
from autograder.journal import Stored
from autograder.record import Verdict
from autograder.runtime.outcomes import Status

# With fewer students a correlation is mostly noise: at 20 its standard error is about 0.2.
FEWEST = 20
CONFIDENT = 1.96  # standard errors on both sides of 95 % of a normal distribution


@dataclass(frozen=True)
class QuestionFigures:
    """How a question went. `mean` is the mean share of its points; `discrimination` its correlation with all the others.

    Both are `None` where too few students have points for it, or where all have the same. With 95 % confidence, as if the
    class were a sample, the mean share lies in `interval` (1.96 standard errors), and the discrimination in
    `discrimination_interval` (Fisher's transformation).
    """

    question: Question
    count: int
    mean: float | None
    full: int
    none: int
    undone: int
    discrimination: float | None
    interval: tuple[float, float] = (0.0, 1.0)
    discrimination_interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class TestFigures:
    """How a test went: students by outcome, and seconds."""

    title: str
    question: str
    hidden: bool
    outcomes: Mapping[Status, int]
    median: float
    longest: float

    @property
    def rate(self) -> float | None:
        """The share that passed, of those it was run for."""
        run = self.outcomes[Status.PASSED] + self.outcomes[Status.FAILED]
        return self.outcomes[Status.PASSED] / run if run else None

    @property
    def blocked(self) -> int:
        return self.outcomes[Status.BLOCKED]

    @property
    def faults(self) -> int:
        return self.outcomes[Status.FAULT]


@dataclass(frozen=True)
class Mistake:
    """A known mistake, by the hint its mutant gives, and the students who made it."""

    question: str
    slip: str
    hint: str
    students: list[str]


@dataclass(frozen=True)
class Fault:
    """A grading that failed by the grader's doing; `settled` if the attempt has a sound one since."""

    student: str
    attempt: int
    run: int
    reason: str
    settled: bool


def by_question(problem_set: ProblemSet, grades: Sequence[Grade]) -> list[QuestionFigures]:
    """The figures of each question, in the order of the problem set."""
    shares = [grade.by_question for grade in grades]
    figures = []
    for question in problem_set.assignment.questions:
        own = [points for points in shares if question.id in points]
        scores = [points[question.id] for points in own]
        rest = [sum(points.values()) - points[question.id] for points in own]
        correlation = _correlation(scores, rest)
        figures.append(
            QuestionFigures(
                question=question,
                count=len(scores),
                mean=statistics.fmean(scores) / question.points if scores else None,
                full=sum(score == question.points for score in scores),
                none=sum(score == 0 for score in scores),
                undone=sum(_is_undone(grade, question.id) for grade in grades),
                discrimination=correlation,
                interval=_mean_interval([score / question.points for score in scores]),
                discrimination_interval=_correlation_interval(correlation, len(scores)),
            )
        )
    return figures


def _is_undone(grade: Grade, question: str) -> bool:
    scored = grade.stored.record.question(question)
    return scored is None or scored.undone


def _correlation(some: Sequence[float], others: Sequence[float]) -> float | None:
    if len(some) < FEWEST or len(set(some)) == 1 or len(set(others)) == 1:
        return None
    return statistics.correlation(some, others)


def _mean_interval(shares: Sequence[float]) -> tuple[float, float]:
    """The mean with 95 % confidence, within 0 and 1; all of it if there are fewer than two values."""
    if len(shares) < 2:
        return 0.0, 1.0
    mean, half = statistics.fmean(shares), CONFIDENT * statistics.stdev(shares) / math.sqrt(len(shares))
    return max(0.0, mean - half), min(1.0, mean + half)


def _correlation_interval(correlation: float | None, count: int) -> tuple[float, float] | None:
    """A correlation with 95 % confidence: its inverse hyperbolic tangent is nearly normal, with variance 1/(count - 3)."""
    if correlation is None or abs(correlation) >= 1 - 1e-12 or count <= 3:
        return None
    middle, half = math.atanh(correlation), CONFIDENT / math.sqrt(count - 3)
    return math.tanh(middle - half), math.tanh(middle + half)


def by_test(grades: Sequence[Grade]) -> list[TestFigures]:
    """The figures of each test that any of the counting records has, in the order in which they were run."""
    verdicts: dict[str, list[Verdict]] = defaultdict(list)
    for grade in grades:
        for verdict in grade.stored.record.verdicts:
            verdicts[verdict.test].append(verdict)
    return [
        TestFigures(
            # The newest wording, as the tests may have been changed between two gradings.
            title=own[-1].title,
            question=own[-1].question,
            hidden=own[-1].hidden,
            outcomes=Counter(verdict.status for verdict in own),
            median=statistics.median(verdict.seconds for verdict in own),
            longest=max(verdict.seconds for verdict in own),
        )
        for own in verdicts.values()
    ]


def mistakes(grades: Sequence[Grade]) -> list[Mistake]:
    """The likely slips that students were told, the most common first; a student counts once for each."""
    students: dict[tuple[str, str], list[str]] = defaultdict(list)
    hints: dict[tuple[str, str], str] = {}
    for grade in grades:
        for question in grade.stored.record.questions:
            for slip in question.slips:
                students[question.id, slip.mutant].append(grade.student)
                hints[question.id, slip.mutant] = slip.hint
    mistakes = [Mistake(*key, hints[key], who) for key, who in students.items()]
    return sorted(mistakes, key=lambda mistake: (-len(mistake.students), mistake.question, mistake.slip))


def faults(records: Iterable[tuple[str, Sequence[Stored]]]) -> list[Fault]:
    """Every grading at which the grader failed, by students and their gradings."""
    return [
        Fault(
            student=student,
            attempt=stored.attempt,
            run=stored.run,
            reason=stored.record.fault.strip().splitlines()[-1],
            settled=any(other.record.is_sound and other.attempt == stored.attempt for other in gradings),
        )
        for student, gradings in records
        for stored in gradings
        if not stored.record.is_sound
    ]
