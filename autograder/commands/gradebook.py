"""`course gradebook`."""

from __future__ import annotations

import datetime
import shlex
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.common import (
    NEEDS_YOU,
    ProblemSetName,
    Results,
    explaining,
    open_journal,
    open_problem_set,
    out,
    refuse,
    say_waiting,
)
from autograder.course import Course, ProblemSet
from autograder.gradebook import Synced, gradebook_url, manual_scores, sync
from autograder.grades import closes, grades, ungraded
from autograder.journal import Journal


def bring_up_to_date(
    course: Course, problem_set: ProblemSet, journal: Journal, place: Path, url: str
) -> tuple[int, list[str], Synced]:
    """Fill gradebook and notebooks; how many students have a grade, for whom the grader failed, and what was written."""
    # Imported here: it loads what makes notebooks, which takes seconds.
    from autograder.platforms.formgrader import stale_pages, write_config

    counting = grades(course, problem_set, journal, manual_scores(url, course, problem_set))
    failed = ungraded(journal, counting)
    # nbgrader makes pages for students of these notebooks, so they hold no model answer before.
    is_closed = datetime.datetime.now(datetime.UTC) > closes(course, problem_set.slug)
    model_answers = problem_set.model_answers() if is_closed else {}
    pages = stale_pages(place, problem_set, journal, counting, model_answers=model_answers)
    changed = {(page.student, question) for page in pages for question in page.changed}
    done = sync(url, course, problem_set, counting, failed=failed, changed_answers=changed)
    for page in pages:
        page.write()
    write_config(place, course)
    return len(counting), failed, done


def gradebook(
    problem_set: ProblemSetName,
    results: Results = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="nbgrader's course folder, for gradebook.db and autograded/; the results if not given."),
    ] = None,
) -> None:
    """Bring nbgrader's gradebook up to date, and say what is to be graded by hand, in formgrader.

    What people entered there stays. The variable COURSE_GRADEBOOK can name another database, such as one of PostgreSQL.

    Exit code 0: up to date. 1: up to date, but the grader failed at a submission, whose points stay as they were.
    """
    course, chosen = open_problem_set(problem_set)
    journal = open_journal(course, chosen, results)
    place = folder or journal.root.parent
    url = gradebook_url(place)
    if not journal.students():
        refuse(f"there are no attempts in {journal.root}; `course grade {chosen.slug} FOLDER` brings them in")
    with explaining(journal), journal.locked(say_waiting):
        count, failed, done = bring_up_to_date(course, chosen, journal, place, url)
    out.print(f"{count} students in the gradebook, {done.changed} brought up to date", highlight=False)
    for question, count in done.waiting.items():
        out.print(f"  {question}: {count} to grade by hand", highlight=False)
    if done.waiting:
        start = f"cd {shlex.quote(str(place))} && jupyter lab"
        out.print(f"to grade: {start}\nthen Nbgrader > Formgrader > Manual Grading", highlight=False, soft_wrap=True)
    if failed:
        out.print(f"the grader failed on: {', '.join(failed)}; their points stay as they were", soft_wrap=True)
        raise typer.Exit(NEEDS_YOU)
