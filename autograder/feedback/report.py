"""The page for staff about a problem set: scores, questions, tests, mistakes, faults, attempts and shared code."""

from __future__ import annotations

import base64
import datetime
import hashlib
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from importlib.resources import files

from markupsafe import Markup

from autograder.course import ProblemSet
from autograder.feedback import charts
from autograder.feedback.html import render
from autograder.feedback.similarity import RUN, Pair
from autograder.feedback.statistics import FEWEST, by_question, by_test, faults, mistakes
from autograder.grades import Grade
from autograder.journal import Journal

MOST_COSTLY, MOST_PAIRS = 10, 100


def staff_page(
    problem_set: ProblemSet,
    journal: Journal,
    grades: Sequence[Grade],
    *,
    ungraded: Sequence[str],
    pairs: Sequence[Pair],
    discounted: bool,
    due: datetime.datetime,
    made: datetime.datetime,
) -> str:
    """The page as one HTML document that loads nothing.

    `pairs` are the students with shared code; `discounted` says that the template's own was left out of it.
    """
    script = files("autograder.feedback").joinpath("templates", "sort.js").read_text(encoding="utf-8")
    attempts = {student: journal.attempts(student) for student in journal.students()}
    moments = [attempt.moment for own in attempts.values() for attempt in own]
    points = [grade.points for grade in grades]
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
        ungraded=ungraded,
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
