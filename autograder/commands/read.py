"""`course read`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

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
from autograder.course import Course, CourseError, ProblemSet
from autograder.files import write_new
from autograder.gradebook import give, gradebook_url
from autograder.journal import Journal
from autograder.reading import Essay, essays, from_csv, to_csv


def read(
    problem_set: ProblemSetName,
    to: Annotated[Path | None, typer.Option(help="Write the answers to this CSV file instead.")] = None,
    back: Annotated[Path | None, typer.Option(help="Save the points and comments of this CSV file, filled in.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Also the answers that have points.")] = False,
    names: Annotated[bool, typer.Option("--names", help="Show on the page whose answer each is.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The page's port; 0 means any that is free.")] = 0,
    section: Section = None,
    roster: RosterFile = None,
    results: Results = None,
) -> None:
    """Read written answers on a page of this machine, question by question and anonymous, or in a spreadsheet.

    The page is worked by keyboard: digits for rubric items, Enter to save and go on. Ctrl-C ends it. With --to, the answers
    go to a CSV file instead: fill in `points`, and `comment` if you like, and take it back with --back. Points that somebody
    else gave meanwhile, here or in formgrader, are not overwritten.

    Exit code 0: all is read, written or saved. 1: some rows were not saved, and are listed, or some answers are still to be
    read. 2: nothing was done.
    """
    course, chosen = open_problem_set(problem_set)
    journal = open_journal(course, chosen, results)
    wanted = in_section(open_roster(course, roster), section)
    if back is not None:
        _take_back(course, chosen, journal, back)
    answers = [
        essay
        for essay in essays(chosen, open_grades(course, chosen, journal))
        if wanted(essay.student) and (every or essay.given.points is None)
    ]
    if not answers:
        refuse(f"no written answer waits to be read in {journal.root}; --all shows those that have points, too")
    if to is None:
        _serve(course, chosen, journal, answers, named=names, port=port)
    with explaining(journal):
        if not write_new(to, to_csv(answers)):
            refuse(f"{to} is there already, perhaps with your points; move it away, or name another file with --to")
    for question in dict.fromkeys(essay.question.id for essay in answers):
        for item in chosen.question(question).rubric:
            say(f"  {question}: {item.points:g} for: {item.text}")
    say(f"{len(answers)} written answers: {to}", f"next: fill in points, then course read {chosen.slug} --back {to}")


def _take_back(course: Course, chosen: ProblemSet, journal: Journal, back: Path) -> NoReturn:
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
    say(f"{len(returned.given)} saved{unread}", f"next: course feedback {chosen.slug}")
    raise typer.Exit(NEEDS_YOU if returned.problems else 0)


def _serve(
    course: Course, chosen: ProblemSet, journal: Journal, answers: Sequence[Essay], *, named: bool, port: int
) -> NoReturn:
    # Imported here: what makes pages takes a second to load.
    from autograder.reading.desk import Desk
    from autograder.reading.server import ReadingServer

    with explaining(journal), journal.locked(say_waiting):
        bring_up_to_date(course, chosen, journal, journal.root.parent, gradebook_url(journal.root.parent))
    desk = Desk(course, chosen, journal, answers, on_wait=say_waiting)
    with explaining(journal), ReadingServer(desk, named=named, port=port) as server:
        say(f"{len(answers)} written answers to read: {server.address}", "Ctrl-C here ends it; each save is kept at once.")
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    left = desk.still_unread
    say(f"{len(desk.saved)} read, {left.total()} still to be read")
    for question, count in left.items():
        say(f"  {question}: {count}")
    say(f"next: course {'read' if left else 'feedback'} {chosen.slug}")
    raise typer.Exit(NEEDS_YOU if left else 0)
