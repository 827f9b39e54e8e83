"""From records to grades: which attempt of a student counts, what a person gave, and what lateness costs."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from autograder.course import Course, Policy, ProblemSet
from autograder.journal import Attempt, Journal, Stored
from autograder.text import points_text

DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Manual:
    """What a person gave for one question: points (`None`: not yet) and a comment."""

    points: float | None = None
    comment: str = ""


@dataclass(frozen=True)
class Grade:
    """A student's grade for a problem set, on the attempt that counts.

    `manual` holds the points that a person gave, by question: of written ones, and of others in place of what tests gave,
    which `automatic` then leaves out. A written question without an entry is not graded yet. `days_late` are counted after
    grace and extension; `points` is what is left after `penalty`, rounded to a cent.
    """

    student: str
    attempt: Attempt
    stored: Stored
    automatic: float
    manual: dict[str, float] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    possible: float = 0.0
    days_late: float = 0.0
    penalty: float = 0.0
    points: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def by_question(self) -> dict[str, float]:
        """Points before any penalty, by question; one that waits for a person has no entry."""
        tested = {
            question.id: question.score
            for question in self.stored.record.questions
            if question.kind != "written" or question.undone
        }
        return {**tested, **self.manual}

    @property
    def unread(self) -> float:
        """Points of the written answers that a person has still to read."""
        return math.fsum(
            question.points
            for question in self.stored.record.questions
            if question.kind == "written" and question.id not in self.manual and not question.undone
        )

    @property
    def in_words(self) -> str:
        """The points as every list and page says them: "25 of 47 by tests, 5 to be read", or "28 of 52"."""
        if not self.unread:
            return f"{points_text(self.points)} of {points_text(self.possible)}"
        so_far = "so far" if self.manual else "by tests"
        possible = points_text(self.possible - self.unread)
        return f"{points_text(self.points)} of {possible} {so_far}, {points_text(self.unread)} to be read"

    @property
    def lateness(self) -> str:
        """How late it is, in days begun; empty if it is in time."""
        return _days(math.ceil(self.days_late)) if self.days_late > 0 else ""

    @property
    def complete(self) -> bool:
        """Whether every written question that was answered has its points."""
        return all(
            question.id in self.manual or question.undone
            for question in self.stored.record.questions
            if question.kind == "written"
        )


def grades(
    course: Course,
    problem_set: ProblemSet,
    journal: Journal,
    manual: Mapping[str, Mapping[str, Manual]] | None = None,
    students: Iterable[str] | None = None,
) -> list[Grade]:
    """The grade of each of `students`, all if not given, whose counting attempt is graded. Others are `ungraded`.

    `manual` is what people gave, by student and question.
    """
    counting = []
    for student in journal.students() if students is None else students:
        own = _own(course, problem_set, journal, student, (manual or {}).get(student, {}))
        if own is not None:
            counting.append(own)
    return counting


def changed_points(problem_set: ProblemSet, grades: Sequence[Grade]) -> list[str]:
    """Questions that are worth more or less today than when grades were made, each a sentence."""
    counts: Counter[str] = Counter()
    for grade in grades:
        worth = {question.id: question.points for question in grade.stored.record.questions}
        for question in problem_set.assignment.questions:
            before = worth.get(question.id)
            if before is None:
                counts[f"{question.id} is new since"] += 1
            elif abs(before - question.points) > 1e-9:
                counts[
                    f"{question.id} is worth {points_text(question.points)} points, not {points_text(before)} as when"
                ] += 1
    advice = f"`course regrade {problem_set.slug}` grades them by today's"
    return [f"{change} {count} of {len(grades)} were graded; {advice}" for change, count in counts.items()]


def ungraded(journal: Journal, grades: Iterable[Grade]) -> list[str]:
    """Students who have no grade: their counting attempt is not graded, or the grader failed at it."""
    graded = {grade.student for grade in grades}
    return [student for student in journal.students() if student not in graded]


def _own(
    course: Course, problem_set: ProblemSet, journal: Journal, student: str, manual: Mapping[str, Manual]
) -> Grade | None:
    policy = course.settings.policy
    due, noted = course.due(problem_set.slug, student), course.noted_days(problem_set.slug, student)
    attempts = in_order(journal.attempts(student))
    counting = journal.in_force(student)
    if policy.attempt == "best":
        # A grader's fault on one attempt must not cost the points of another, but might hide better ones.
        graded = [
            grade(problem_set, policy, due, at, counting[at.number], manual, noted)
            for at in attempts
            if at.number in counting
        ]
        return max(reversed(graded), key=lambda grade: grade.points, default=None)
    if policy.attempt == "latest_in_time":
        in_time = [attempt for attempt in attempts if not days_late(attempt, due, policy.grace_days, noted)]
        attempts = in_time or attempts
    if not attempts or attempts[-1].number not in counting:
        return None
    return grade(problem_set, policy, due, attempts[-1], counting[attempts[-1].number], manual, noted)


def grade(
    problem_set: ProblemSet,
    policy: Policy,
    due: datetime.datetime,
    attempt: Attempt,
    stored: Stored,
    manual: Mapping[str, Manual],
    noted: float | None = None,
) -> Grade:
    """The grade that one attempt gives; `noted` are its days after the due date by `course.yml`, for want of a time."""
    questions = problem_set.assignment.questions
    given = {
        question.id: points for question in questions if (points := manual.get(question.id, Manual()).points) is not None
    }
    automatic = math.fsum(question.score for question in stored.record.questions if question.id not in given)
    earned = automatic + math.fsum(given.values())
    late = days_late(attempt, due, policy.grace_days, noted)
    penalty, notes = _penalty(earned, late, policy)
    if attempt.submitted is None:
        notes.append(
            "The time of submission is not known; it counts as in time."
            if noted is None
            else f"Handed in {_days(noted)} after it was due, as the course staff noted."
        )
    return Grade(
        student=attempt.student,
        attempt=attempt,
        stored=stored,
        automatic=automatic,
        manual=given,
        comments={question: entry.comment for question, entry in manual.items() if entry.comment},
        possible=math.fsum(question.points for question in questions),
        days_late=late,
        penalty=penalty,
        points=cents(earned - penalty),
        notes=notes,
    )


def in_order(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Attempts from the first to the last, given in the order of their arrival.

    By the time of submission, and of equal times by arrival. One whose time is not known comes after all that arrived before
    it: when it was received is read from this machine's clock, which may have been set back in between.
    """
    latest = datetime.datetime.min.replace(tzinfo=datetime.UTC)
    moments = {}
    for attempt in attempts:
        moments[attempt.number] = attempt.submitted or latest
        latest = max(latest, moments[attempt.number])
    return sorted(attempts, key=lambda attempt: (moments[attempt.number], attempt.number))


def days_late(attempt: Attempt, due: datetime.datetime, grace_days: float, noted: float | None = None) -> float:
    """Days between the end of grace and the submission; 0 if in time, or if no time is known and none is `noted`.

    Days are those of the calendar in the time zone of `due`: one that is an hour longer or shorter is one day too.
    """
    if attempt.submitted is None:
        return max(0.0, (noted or 0.0) - grace_days)
    submitted = attempt.submitted.astimezone(datetime.UTC)

    def end(days: int) -> datetime.datetime:
        """When so many days after the grace are over."""
        return after(due, grace_days * DAY + days * DAY).astimezone(datetime.UTC)

    if submitted <= end(0):
        return 0.0
    days = (submitted - end(0)) // DAY
    days += (end(days + 1) <= submitted) - (submitted < end(days))  # a longer or a shorter day lies in between
    return days + (submitted - end(days)) / (end(days + 1) - end(days))


def closes(course: Course, slug: str) -> datetime.datetime:
    """When nothing more can be earned by anyone: the last due date, grace and late days over."""
    policy = course.settings.policy
    days = policy.grace_days + (policy.closes_after_days or 0)
    return after(course.last_due(slug), datetime.timedelta(days=days))


def after(moment: datetime.datetime, time: datetime.timedelta) -> datetime.datetime:
    """When clocks in the zone of `moment` will have gone on by `time`: at the same hour, if that is a number of days."""
    return moment + time  # Python adds to what the clock shows


def _penalty(earned: float, late: float, policy: Policy) -> tuple[float, list[str]]:
    if late <= 0:
        return 0.0, []
    begun = math.ceil(late)
    if policy.closes_after_days is not None and late > policy.closes_after_days:
        return cents(earned), [f"{_days(begun)} late: nothing is earned after {_days(policy.closes_after_days)}."]
    percent = min(100.0, begun * policy.percent_a_day)
    penalty = cents(earned * percent / 100)
    return penalty, [f"{_days(begun)} late: {policy.percent_a_day:g} % a day begun, {penalty:g} points off."]


def _days(count: float) -> str:
    return f"{count:g} day" + ("" if count == 1 else "s")


def cents(points: float) -> float:
    """Points rounded to 0.01, halves up; the ninth decimal is taken for rounding of binary fractions."""
    return math.floor(round(points * 100, 7) + 0.5) / 100
