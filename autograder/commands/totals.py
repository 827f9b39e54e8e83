"""`course totals`."""

from __future__ import annotations

from autograder.commands.common import Results, explaining, open_course, open_grades, open_journal, print_sheet, refuse
from autograder.table import totals_table
from autograder.totals import totals as add_up


def totals(results: Results = None) -> None:
    """Show what each student has earned in the whole course, by the weights of the problem sets.

    A problem set that was not handed in counts as nothing.
    """
    course = open_course()
    grades = {}
    for listing in course.settings.problem_sets:
        problem_set = course.problem_set(listing.slug)
        journal = open_journal(course, problem_set, results)
        own = {grade.student: grade for grade in open_grades(course, problem_set, journal)}
        with explaining(journal):
            grades[listing] = {student: own.get(student) for student in journal.students()}
    sums = add_up(grades)
    if not sums:
        refuse(f"no attempts in {results or course.root / 'results'}; `course grade ps1 FOLDER` brings them in")
    print_sheet(totals_table(course.settings, sums))
