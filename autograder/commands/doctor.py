"""`course doctor`."""

from __future__ import annotations

import typer
from rich.padding import Padding
from rich.text import Text

from autograder.commands.common import NEEDS_YOU, out
from autograder.doctor import examine


def doctor() -> None:
    """Try the sandboxes of this machine, and say what they enforce, what is missing, and how to get it.

    Exit code 0: grading works here. 1: no sandbox works, so nothing can be graded.
    """
    findings = examine()
    for finding in findings:
        mark = {True: "[green]works[/]", False: "[red]missing[/]", None: ""}[finding.good]
        out.print(f"[bold]{finding.name}[/] {mark}")
        for line in finding.lines:
            out.print(Padding(Text(line), (0, 0, 0, 4)))
    if not any(finding.good for finding in findings):
        raise typer.Exit(NEEDS_YOU)
