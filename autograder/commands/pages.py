"""`course feedback` and `course report`."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.common import (
    Only,
    ProblemSetName,
    Results,
    explaining,
    open_grades,
    open_journal,
    open_problem_set,
    out,
    progress,
    refuse,
)
from autograder.grades import closes, ungraded


def feedback(
    problem_set: ProblemSetName,
    to: Annotated[Path | None, typer.Option(help="Where the pages go; results/<problem set>/feedback if not given.")] = None,
    only: Only = None,
    results: Results = None,
) -> None:
    """Write one HTML page a student, with points, what each test says, and comments.

    Pages need no network and no script. Explanations of answers are left out until nothing can be earned any more.
    """
    # Imported here, as below: drawing and templates take a second to load, and no other command needs them.
    from autograder.feedback.page import student_page

    course, chosen = open_problem_set(problem_set)
    journal = open_journal(course, chosen, results)
    counting = [grade for grade in open_grades(course, chosen, journal) if not only or grade.student in only]
    missing = sorted(set(only or []) - {grade.student for grade in counting})
    if missing:
        refuse(f"no grade of {', '.join(missing)} in {journal.root}; `course grade {chosen.slug} FOLDER` gives them one")
    if not counting:
        refuse(f"no grades in {journal.root}; `course grade {chosen.slug} FOLDER` gives them")
    place = to or journal.root / "feedback"
    made, end = datetime.datetime.now(datetime.UTC), closes(course, chosen.slug)
    with explaining(journal), progress("writing") as bar:
        for grade in bar.track(counting):
            path = place / grade.student / f"{chosen.slug}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(student_page(chosen, grade, made=made, closes=end), encoding="utf-8")
    out.print(f"{len(counting)} pages: {place}", highlight=False, soft_wrap=True)


def report(
    problem_set: ProblemSetName,
    to: Annotated[Path | None, typer.Option(help="The page's file; results/<problem set>/report.html if not given.")] = None,
    results: Results = None,
) -> None:
    """Write one HTML page for staff: scores, questions, tests, mistakes, faults, attempts, and code that students share."""
    from autograder.feedback.report import staff_page
    from autograder.feedback.similarity import similar_pairs

    course, chosen = open_problem_set(problem_set)
    journal = open_journal(course, chosen, results)
    counting = open_grades(course, chosen, journal)
    with explaining(journal):
        without = ungraded(course, chosen, journal)
        sources = {grade.student: (grade.attempt.filename, journal.source(grade.attempt)) for grade in counting}
    if not counting and not without:
        refuse(f"there are no attempts in {journal.root}; `course grade {chosen.slug} FOLDER` brings them in")
    template = [
        (path.name, path.read_bytes())
        for form in (".py", ".ipynb")
        if (path := course.root / "student_template" / chosen.slug / f"{chosen.assignment.module}{form}").is_file()
    ]
    page = staff_page(
        chosen,
        journal,
        counting,
        ungraded=without,
        pairs=similar_pairs(sources, template),
        discounted=bool(template),
        due=course.listing(chosen.slug).due,
        made=datetime.datetime.now(datetime.UTC),
    )
    path = to or journal.root / "report.html"
    with explaining(journal):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    out.print(f"report: {path}", highlight=False, soft_wrap=True)
