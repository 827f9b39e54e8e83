"""`course receipt`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from autograder.commands.common import NEEDS_YOU, Results, explaining, open_journal, open_problem_set, out, refuse
from autograder.journal import Journal
from autograder.text import bounded

MAX_BYTES = 65_536


def receipt(
    file: Annotated[Path, typer.Argument(help="A receipt that a student kept, of `python -m autograder.kit.submit`.")],
    results: Results = None,
) -> None:
    """Say whether and when the bytes of a receipt arrived, and whether they were graded.

    Exit code 0: they arrived. 1: they did not.
    """
    content = _read(file)
    course, problem_set = open_problem_set(str(content.get("problem_set", "")))
    digest = content.get("sha256")
    if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
        refuse(f"{file} holds no SHA-256; give a file from a student's folder `receipts`")
    journal = open_journal(course, problem_set, results)
    with explaining(journal):
        lines = list(_arrivals(journal, digest))
    said = bounded(f"{content.get('bytes')} bytes, by the student's clock at {content.get('time')}", 200)
    out.print(f"{problem_set.slug}: the receipt is of {said}", highlight=False, markup=False)
    for line in lines:
        out.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
    if not lines:
        out.print(f"  these bytes have not arrived in {journal.root}", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(NEEDS_YOU)


def _arrivals(journal: Journal, digest: str) -> list[str]:
    """A line for each attempt that has these bytes."""
    lines = []
    for student in journal.students():
        in_force = journal.in_force(student)
        for attempt in journal.attempts(student):
            if attempt.content == digest:
                graded = in_force.get(attempt.number)
                points = f"graded with {graded.record.score:g} points" if graded and graded.record.score is not None else ""
                handed_in = f"handed in at {attempt.submitted:%Y-%m-%d %H:%M:%S %Z}, " if attempt.submitted else ""
                arrived = f"arrived at {attempt.received:%Y-%m-%d %H:%M:%S %Z}"
                lines.append(f"{student}, attempt {attempt.number}: {handed_in}{arrived}, {points or 'not graded'}")
    return lines


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            content = json.loads(opened.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        refuse(f"{file} cannot be read as a receipt: {error}")
    if not isinstance(content, dict):
        refuse(f"{file} is not a receipt")
    return content
