"""`course read`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.common import (
    NEEDS_YOU,
    ProblemSetName,
    Results,
    RosterFile,
    Section,
    explaining,
    in_section,
    open_grades,
    open_journal,
    open_problem_set,
    open_roster,
    out,
    refuse,
    say,
    say_waiting,
)
from autograder.commands.gradebook import bring_up_to_date
from autograder.course import CourseError
from autograder.files import write_new
from autograder.gradebook import give, gradebook_url
from autograder.reading import essays, from_csv, to_csv


def read(
    problem_set: ProblemSetName,
    back: Annotated[Path | None, typer.Option(help="Save the points and comments of this file, filled in.")] = None,
    to: Annotated[
        Path | None, typer.Option(help="The file to write; results/<problem set>/essays.csv if not given.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Also the answers that have points.")] = False,
    section: Section = None,
    roster: RosterFile = None,
    results: Results = None,
) -> None:
    """Read written answers in a spreadsheet: write them to a CSV file, anonymous, and take it back with --back.

    Fill in `points`, and `comment` if you like; leave `key` and `saved` as they are. Points that somebody else gave
    meanwhile, here or in formgrader, are not overwritten.

    Exit code 0: all is written or saved. 1: some rows were not saved, and are listed. 2: nothing was done.
    """
    course, chosen = open_problem_set(problem_set)
    journal = open_journal(course, chosen, results)
    wanted = in_section(open_roster(course, roster), section)
    if back is not None:
        with explaining(journal), journal.locked(say_waiting):
            try:
                answers = essays(chosen, open_grades(course, chosen, journal))
                returned = from_csv(back, answers)
            except CourseError as error:
                refuse(str(error))
            url = gradebook_url(journal.root.parent)
            if returned.given:
                bring_up_to_date(course, chosen, journal, journal.root.parent, url)
                give(url, course, chosen, returned.given)
        for problem in returned.problems:
            out.print(problem, markup=False, highlight=False, soft_wrap=True)
        unread = f"; {returned.unread} rows have no points yet" if returned.unread else ""
        say(
            f"{len(returned.given)} saved{unread}",
            f"next: course feedback {chosen.slug}",
        )
        raise typer.Exit(NEEDS_YOU if returned.problems else 0)
    answers = [
        essay
        for essay in essays(chosen, open_grades(course, chosen, journal))
        if wanted(essay.student) and (every or essay.given.points is None)
    ]
    if not answers:
        refuse(f"no written answer waits to be read in {journal.root}")
    path = to or journal.root / "essays.csv"
    with explaining(journal):
        if not write_new(path, to_csv(answers)):
            refuse(f"{path} is there already, perhaps with your points; move it away, or name another file with --to")
    for question in dict.fromkeys(essay.question.id for essay in answers):
        for item in chosen.question(question).rubric:
            say(f"  {question}: {item.points:g} for: {item.text}")
    say(f"{len(answers)} written answers: {path}", f"next: fill in points, then course read {chosen.slug} --back {path}")
