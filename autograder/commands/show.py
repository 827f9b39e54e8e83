"""`course show`."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from autograder.commands.common import (
    AsJson,
    Results,
    RosterFile,
    explaining,
    open_course,
    open_grades,
    open_journal,
    open_roster,
    out,
    plain_grade,
    print_sheet,
    refuse,
)
from autograder.course import Course, CourseError, ProblemSet
from autograder.grades import Grade
from autograder.intake import Roster
from autograder.journal import Journal
from autograder.record import to_plain
from autograder.table import history_table


def show(
    student: Annotated[str, typer.Argument(help="The student: an id such as s001, or part of a name in the roster.")],
    problem_set: Annotated[
        str | None, typer.Argument(metavar="[PROBLEM_SET]", help="Say why points were lost in this problem set.")
    ] = None,
    code: Annotated[bool, typer.Option("--code", help="Show the code of each answer that lost points, too.")] = False,
    roster: RosterFile = None,
    results: Results = None,
    as_json: AsJson = False,
) -> None:
    """Show all attempts, gradings and grades of one student; with a problem set, why points were lost.

    What is shown is for staff: it holds the inputs of hidden tests.
    """
    course = open_course()
    known = open_roster(course, roster)
    who = _found(student, known)
    slugs = [problem_set] if problem_set else [listing.slug for listing in course.settings.problem_sets]
    shown = []
    for slug in slugs:
        try:
            chosen = course.problem_set(slug)
        except CourseError as error:
            refuse(str(error))
        journal = open_journal(course, chosen, results)
        with explaining(journal):
            if journal.attempts(who):
                grade = next(iter(open_grades(course, chosen, journal, [who])), None)
                shown.append(_plain(chosen, journal, who, grade))
                if not as_json:
                    _print(course, chosen, journal, who, grade, in_detail=problem_set is not None, code=code)
    if not shown:
        refuse(f"no attempt of {who}{f' at {problem_set}' if problem_set else ''} in {results or course.root / 'results'}")
    if as_json:
        person = known.person(who) if known else None
        document = {
            "student": who,
            "name": person.name if person else "",
            "section": person.section if person else "",
            "problem_sets": shown,
        }
        sys.stdout.write(json.dumps(document) + "\n")


def _found(text: str, roster: Roster | None) -> str:
    """The student who is meant."""
    students = roster.search(text) if roster else [text]
    if len(students) > 1:
        refuse(f"{text!r} may be {', '.join(students)}; name one of them")
    return students[0] if students else text


def _print(
    course: Course,
    problem_set: ProblemSet,
    journal: Journal,
    student: str,
    grade: Grade | None,
    *,
    in_detail: bool,
    code: bool,
) -> None:
    print_sheet(history_table(problem_set, journal, student, grade, course.zone))
    if in_detail and grade:
        # Imported here: it loads what makes notebooks, which takes seconds.
        from autograder.details import details
        from autograder.pieces import cells_of, pieces_of

        cells = cells_of(grade.attempt.filename, journal.source(grade.attempt)) if code else []
        for line in details(problem_set, grade, pieces_of(problem_set, cells, by_definition=True)):
            out.print(line, soft_wrap=True)


def _plain(problem_set: ProblemSet, journal: Journal, student: str, grade: Grade | None) -> dict[str, object]:
    """What `--json` says of one problem set."""
    attempts = [
        {
            "attempt": attempt.number,
            "filename": attempt.filename,
            "submitted": attempt.submitted.isoformat() if attempt.submitted else None,
            "received": attempt.received.isoformat(),
            "origin": attempt.origin,
        }
        for attempt in journal.attempts(student)
    ]
    if grade is None:
        return {"problem_set": problem_set.slug, "attempts": attempts, "grade": None}
    counting = {**plain_grade(grade), "comments": grade.comments, "record": to_plain(grade.stored.record)}
    return {"problem_set": problem_set.slug, "attempts": attempts, "grade": counting}
