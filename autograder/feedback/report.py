"""The page for staff about a problem set: scores, questions, tests, mistakes, faults, attempts and shared code."""

from __future__ import annotations

import base64
import datetime
import hashlib
import secrets
import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from markupsafe import Markup

from autograder.course import ProblemSet
from autograder.feedback import charts
from autograder.feedback.html import render
from autograder.feedback.shared import pair_name
from autograder.feedback.similarity import RUN, Pair
from autograder.feedback.statistics import FEWEST, by_question, by_test, faults, mistakes
from autograder.feedback.student import page_name
from autograder.grades import Grade
from autograder.intake import Roster
from autograder.intake.roster import Person
from autograder.journal import Journal
from autograder.standing import Standing

MOST_COSTLY, MOST_PAIRS = 10, 100


def staff_page(
    problem_set: ProblemSet,
    journal: Journal,
    standing: Standing,
    *,
    roster: Roster | None = None,
    pairs: Sequence[Pair],
    discounted: bool,
    due: datetime.datetime,
    made: datetime.datetime,
    linked: Collection[str] = (),
    anonymous: bool = False,
) -> str:
    """The page as one HTML document that loads nothing. The students in `linked` have pages of their own beside it.

    `pairs` are the students with shared code; `discounted` says that the template's own was left out of it. If `anonymous`,
    students have numbers, drawn anew for each page.
    """
    grades = standing.grades
    script = files("autograder.feedback").joinpath("templates", "sort.js").read_text(encoding="utf-8")
    attempts = {student: journal.attempts(student) for student in journal.students()}
    moments = [attempt.moment for own in attempts.values() for attempt in own]
    points = [grade.points for grade in grades]
    students = {*attempts, *standing.missing, *standing.ungraded, *(grade.student for grade in grades)}
    called = _called(sorted(students | {student for pair in pairs for student in (pair.one, pair.other)}), anonymous)
    return render(
        "report.html",
        assignment=problem_set.assignment,
        grades=grades,
        points=points,
        median=statistics.median(points) if points else None,
        mean=statistics.fmean(points) if points else None,
        incomplete=[grade for grade in grades if not grade.complete],
        late=[grade for grade in grades if grade.days_late > 0],
        histogram=charts.score_histogram(points, grades[0].possible) if grades else "",
        questions=by_question(problem_set, grades),
        fewest=FEWEST,
        written=[question for question in problem_set.assignment.questions if question.kind == "written"],
        model_answers=problem_set.model_answers(),
        tests=by_test(grades),
        mistakes=mistakes(grades),
        faults=faults((student, journal.records(student)) for student in attempts),
        ungraded=standing.ungraded,
        missing=standing.missing,
        students=sorted(_students(standing, roster, attempts), key=lambda row: called[row.student]),
        called=called,
        anonymous=anonymous,
        sections=_sections(grades, roster),
        shares=charts.question_shares(by_question(problem_set, grades)) if grades else "",
        linked=frozenset(linked),
        page_name=page_name,
        pair_name=pair_name,
        look=[(grade.student, look) for grade in grades if (look := grade.stored.record.look_lines)],
        attempts=attempts,
        counts=sorted(Counter(map(len, attempts.values())).items()),
        timeline=charts.attempts_over_time(moments, due) if moments else "",
        due=due,
        seconds=[grade.stored.record.seconds for grade in grades],
        costly=_costly(grades),
        same=_same_files(grades),
        pairs=pairs,
        most_pairs=MOST_PAIRS,
        run=RUN,
        discounted=discounted,
        made=made,
        script=Markup(script),
        script_hash="sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _called(students: Sequence[str], anonymous: bool) -> dict[str, str]:
    """What each student is called on the page."""
    if not anonymous:
        return {student: student for student in students}
    # Drawn without a seed, for whoever could draw them again would know whose they are.
    numbers = secrets.SystemRandom().sample(range(1, len(students) + 1), len(students))
    digits = len(str(len(students)))
    return {student: f"student {number:0{digits}}" for student, number in zip(students, numbers, strict=True)}


@dataclass(frozen=True)
class StudentRow:
    """One student of the roster, or one who handed in without being in it; `state` says why there is no grade."""

    student: str
    person: Person
    grade: Grade | None
    attempts: int
    state: str


def _students(standing: Standing, roster: Roster | None, attempts: Mapping[str, Sequence[object]]) -> list[StudentRow]:
    graded = {grade.student: grade for grade in standing.grades}
    states = {**dict.fromkeys(standing.ungraded, "not graded"), **dict.fromkeys(standing.missing, "nothing handed in")}
    return [
        StudentRow(
            student,
            roster.person(student) if roster else Person(),
            graded.get(student),
            len(attempts.get(student, ())),
            states.get(student, ""),
        )
        for student in sorted({*graded, *states})
    ]


@dataclass(frozen=True)
class SectionRow:
    """One section: its students with a grade, and their mean and median points."""

    name: str
    count: int
    mean: float
    median: float


def _sections(grades: Sequence[Grade], roster: Roster | None) -> list[SectionRow]:
    """Empty where the roster has no two sections."""
    points: dict[str, list[float]] = defaultdict(list)
    for grade in grades:
        points[roster.person(grade.student).section if roster else ""].append(grade.points)
    if len(points) < 2:
        return []
    return [
        SectionRow(name or "none", len(own), statistics.fmean(own), statistics.median(own))
        for name, own in sorted(points.items())
    ]


def _costly(grades: Sequence[Grade]) -> list[tuple[str, float, int]]:
    """Student, seconds and bytes of the gradings that took longest and of those that held most memory, the slowest first."""
    costs = [(grade.student, grade.stored.record.seconds, grade.stored.record.peak_memory) for grade in grades]
    most = {cost for at in (1, 2) for cost in sorted(costs, key=lambda cost: cost[at], reverse=True)[:MOST_COSTLY]}
    return sorted(most, key=lambda cost: (-cost[1], cost[0]))


def _same_files(grades: Sequence[Grade]) -> list[list[str]]:
    """Students whose counting files are equal to the byte, in groups; those who have not begun are left out."""
    groups: dict[str, list[str]] = defaultdict(list)
    for grade in grades:
        if not all(question.undone for question in grade.stored.record.questions):
            groups[grade.attempt.content].append(grade.student)
    return [students for students in groups.values() if len(students) > 1]
