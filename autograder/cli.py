"""The `course` command: every command of `commands/` under its name."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import typer

from autograder.commands import authoring, doctor, export, gradebook, grading, pages, read, receipt, rename, show, totals

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)


@app.callback()
def course() -> None:
    """Grade and release the problem sets of this course."""


COMMANDS = (
    grading.grade,
    grading.regrade,
    show.show,
    totals.totals,
    receipt.receipt,
    rename.rename,
    gradebook.gradebook,
    read.read,
    pages.feedback,
    pages.report,
    export.export,
    authoring.new,
    authoring.validate,
    authoring.release,
    doctor.doctor,
)
for command in COMMANDS:
    app.command()(command)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal or pipe that cannot show a character gets its code, as in "caf\\xe9"; no table is lost for it.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = "/nonexistent"  # libraries ask for it as they are loaded; an account in a container has none
    app()
