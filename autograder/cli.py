"""The `course` command: every command of `commands/` under its name."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from autograder import __version__
from autograder.commands import authoring, doctor, export, gradebook, grading, pages, read, receipt, rename, show, totals

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"course {__version__}")
        raise typer.Exit


@app.callback()
def course(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
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
    command = typer.main.get_command(app)
    for described in (command, *getattr(command, "commands", {}).values()):
        for parameter in described.params:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""  # a flag takes no value, so help shows none
    command(prog_name="course")
