"""`course export`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.common import (
    NEEDS_YOU,
    AsJson,
    ProblemSetName,
    Results,
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
)
from autograder.exporting import ExportError, Wanted, waiting_answers
from autograder.exports import EXPORTS
from autograder.standing import named, standing


def export(
    problem_set: ProblemSetName,
    form: Annotated[str, typer.Argument(help=f"What to write: {', '.join(EXPORTS)}.")],
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
    section: Section = None,
    roster: Annotated[Path | None, typer.Option(help="Who is who; the course's roster.csv if not given.")] = None,
    results: Results = None,
    as_json: AsJson = False,
) -> None:
    """Write grades for other programs: plain CSV, the gradebook of Canvas or Moodle filled in, or Gradescope's results.json.

    Exit code 0: all grades are in it. 1: written, but something needs a person. 2: nothing was written.
    """
    if form not in EXPORTS:
        refuse(f"there is no export {form!r}; there are {', '.join(EXPORTS)}")
    course, chosen = open_problem_set(problem_set)
    journal = open_journal(course, chosen, results)
    questions = chosen.assignment.questions
    known = open_roster(course, roster)
    wanted = in_section(known, section)
    with explaining(journal):
        now = standing(chosen, journal, open_grades(course, chosen, journal), known).of(wanted)
    counting = now.grades
    if not counting:
        refuse(f"no grades in {journal.root}; `course grade {chosen.slug} FOLDER` gives them")
    chosen_export = EXPORTS[form]
    place = to or journal.root / "exports" / (form if chosen_export.file_per_student else f"{form}.csv")
    downloaded = b""
    if chosen_export.fills_in:
        if into is None:
            refuse(f"--into FILE is needed: the gradebook that was downloaded from {chosen_export.fills_in}")
        if place.resolve() == into.resolve():
            refuse(f"--to is the file that was downloaded, {into}; name another one")
        try:
            downloaded = into.read_bytes()
        except OSError as error:
            refuse(f"{into}: {error.strerror}")
    titles = [column] if column else [chosen.slug, chosen.assignment.title]
    try:
        written = chosen_export.write(Wanted(counting, questions, titles, downloaded, known))
    except ExportError as error:
        refuse(f"{into}: {error}")
    with explaining(journal):
        _write({place / name if name else place: content for name, content in written.files.items()})
    problems = [*written.problems, *waiting_answers(counting), *(f"{student} is not graded" for student in now.ungraded)]
    if as_json:
        document = {
            "problem_set": chosen.slug,
            "written": written.count,
            "grades": len(counting),
            "place": str(place),
            "problems": problems,
            "untouched": written.untouched,
            "not_graded": now.ungraded,
            "missing": now.missing,
        }
        sys.stdout.write(json.dumps(document) + "\n")
        raise typer.Exit(NEEDS_YOU if problems else 0)
    for line in [*problems, *written.untouched]:
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    out.print(f"{written.count} of {len(counting)} grades: {place}", markup=False, highlight=False, soft_wrap=True)
    if now.missing:
        say(f"nothing handed in: {named(now.missing)}")
    if problems:
        raise typer.Exit(NEEDS_YOU)


def _write(files: dict[Path, bytes]) -> None:
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.new")
        temporary.write_bytes(content)
        temporary.replace(path)
