"""`course export`."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.common import (
    NEEDS_YOU,
    ProblemSetName,
    Results,
    explaining,
    open_grades,
    open_journal,
    open_problem_set,
    out,
    refuse,
)
from autograder.course import CourseError
from autograder.exports import ExportError, Filled, fill_canvas, fill_moodle, gradescope_results, plain_csv, waiting_answers
from autograder.grades import ungraded
from autograder.intake import find_roster


class Form(StrEnum):
    """The forms that grades can be written in."""

    CSV = "csv"
    CANVAS = "canvas"
    MOODLE = "moodle"
    GRADESCOPE = "gradescope"


def export(
    problem_set: ProblemSetName,
    form: Annotated[Form, typer.Argument(help="What to write.")],
    into: Annotated[
        Path | None,
        typer.Option(help="For canvas and moodle: the gradebook file that was downloaded there. It stays as it is."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(help="The file to write (gradescope: the folder); results/<problem set>/exports/… if not given."),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="For canvas: the assignment's column; the one called as the problem set if not given.")
    ] = None,
    roster: Annotated[Path | None, typer.Option(help="Who is who; the course's roster.csv if not given.")] = None,
    results: Results = None,
) -> None:
    """Write grades for other programs: plain CSV, the gradebook of Canvas or Moodle filled in, or Gradescope's results.json.

    Exit code 0: all grades are in it. 1: written, but something needs a person. 2: nothing was written.
    """
    course, chosen = open_problem_set(problem_set)
    journal = open_journal(course, chosen, results)
    questions = chosen.assignment.questions
    found = open_grades(course, chosen, journal)
    with explaining(journal):
        missing = ungraded(course, chosen, journal)
    try:
        known = find_roster(course.root, roster)
    except CourseError as error:
        refuse(str(error))
    if not found:
        refuse(f"no grades in {journal.root}; `course grade {chosen.slug} FOLDER` gives them")
    place = to or journal.root / "exports" / (form if form is Form.GRADESCOPE else f"{form}.csv")
    filled = Filled(b"", len(found))
    files: dict[Path, bytes] = {}
    if form in (Form.CANVAS, Form.MOODLE):
        if into is None:
            refuse(f"--into FILE is needed: the gradebook that was downloaded from {form.title()}")
        if place.resolve() == into.resolve():
            refuse(f"--to is the file that was downloaded, {into}; name another one")
        titles = [column] if column else [chosen.slug, chosen.assignment.title]
        try:
            content = into.read_bytes()
            if form is Form.CANVAS:
                filled = fill_canvas(content, found, titles, known)
            else:
                filled = fill_moodle(content, found, known)
        except OSError as error:
            refuse(f"{into}: {error.strerror}")
        except ExportError as error:
            refuse(f"{into}: {error}")
        files = {place: filled.content}
    elif form is Form.CSV:
        files = {place: plain_csv(found, questions)}
    else:
        for grade in found:
            files[place / f"{grade.student}.json"] = (
                json.dumps(gradescope_results(grade, questions), indent=1).encode() + b"\n"
            )
    with explaining(journal):
        _write(files)
    problems = [*filled.problems, *waiting_answers(found), *(f"{student} is not graded" for student in missing)]
    for line in [*problems, *filled.untouched]:
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    out.print(f"{filled.count} of {len(found)} grades: {place}", markup=False, highlight=False, soft_wrap=True)
    if problems:
        raise typer.Exit(NEEDS_YOU)


def _write(files: dict[Path, bytes]) -> None:
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.new")
        temporary.write_bytes(content)
        temporary.replace(path)
