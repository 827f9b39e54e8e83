"""`course rename`."""

from __future__ import annotations

from typing import Annotated

import typer

from autograder.commands.common import Results, explaining, open_course, open_journal, out, refuse, say_waiting
from autograder.course import CourseError
from autograder.schema import ID_RULE, STUDENT_ID


def rename(
    old: Annotated[str, typer.Argument(help="The id that a student had, such as x17.")],
    new: Annotated[str, typer.Argument(help="The student's id from now on, such as s001.")],
    results: Results = None,
) -> None:
    """Let a student have another id: all attempts, gradings and regrades of the old one are those of the new one.

    Exit code 0: renamed. 2: nothing was changed, as nothing is kept under the old id, or something under the new one.
    """
    course = open_course()
    if not STUDENT_ID.fullmatch(new):
        refuse(f"{new!r} is not a student id; {ID_RULE}")
    try:
        problem_sets = [course.problem_set(listing.slug) for listing in course.settings.problem_sets]
    except CourseError as error:
        refuse(str(error))
    journals = {problem_set.slug: open_journal(course, problem_set, results) for problem_set in problem_sets}
    kept = {slug: journal for slug, journal in journals.items() if old in journal.students()}
    if not kept:
        refuse(f"no attempt of {old} in {results or course.root / 'results'}")
    taken = [slug for slug in kept if new in journals[slug].students()]
    if taken:
        refuse(f"{new} has attempts in {', '.join(taken)} already, so {old} cannot become {new}")
    for journal in kept.values():
        with explaining(journal), journal.locked(say_waiting):
            journal.rename(old, new)
    out.print(f"{old} is {new} in {', '.join(kept)}", markup=False, highlight=False)
    advice = [f"write {old} into the column `formerly` of {new} in roster.csv, if it may be handed in under still"]
    if any(extension.student == old for extension in course.settings.extensions):
        advice.append(f"course.yml has an extension of {old}; write {new} there")
    for line in advice:
        out.print(line, markup=False, highlight=False, soft_wrap=True)
