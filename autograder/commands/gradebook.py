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
from autograder.gradebook import gradebook_url, manual_scores, sync
from autograder.grades import closes, grades, ungraded


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
        # Imported here: it loads what makes notebooks, which takes seconds.
        from autograder.platforms.formgrader import stale_pages, write_config

        counting = grades(course, chosen, journal, manual_scores(url, course, chosen))
        failed = ungraded(course, chosen, journal)
        # nbgrader makes pages for students of these notebooks, so they hold no model answer before.
        is_closed = datetime.datetime.now(datetime.UTC) > closes(course, chosen.slug)
        pages = stale_pages(place, chosen, journal, counting, model_answers=chosen.model_answers() if is_closed else {})
        changed = {(page.student, question) for page in pages for question in page.changed}
        done = sync(url, course, chosen, counting, failed=failed, changed_answers=changed)
        for page in pages:
            page.write()
        write_config(place, course)
    out.print(f"{len(counting)} students in the gradebook, {done.changed} brought up to date", highlight=False)
    for question, count in done.waiting.items():
        out.print(f"  {question}: {count} to grade by hand", highlight=False)
    if done.waiting:
        start = f"cd {shlex.quote(str(place))} && jupyter lab"
        out.print(f"to grade: {start}\nthen Nbgrader > Formgrader > Manual Grading", highlight=False, soft_wrap=True)
    if failed:
        out.print(f"the grader failed on: {', '.join(failed)}; their points stay as they were", soft_wrap=True)
        raise typer.Exit(NEEDS_YOU)
