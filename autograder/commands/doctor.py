"""`course doctor`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.padding import Padding
from rich.text import Text

from autograder.commands.common import NEEDS_YOU, AsJson, out
from autograder.course import CourseError, find_root

if TYPE_CHECKING:
    from autograder.doctor import Finding


def doctor(as_json: AsJson = False) -> None:
    """Try the sandboxes of this machine, and say what they enforce, what is missing, and how to get it.

    Inside a course it also says whether the secret that hidden tests draw from is kept.

    Exit code 0: grading works here. 1: no sandbox works, so nothing can be graded; or the secret is not kept.
    """
    # Imported here: no other command needs a sandbox in its own process.
    from autograder.doctor import Finding, sandboxes, secret

    findings = sandboxes()
    try:
        kept = secret(find_root(Path.cwd()))
    except CourseError:
        kept = Finding("secret", None, ("not checked: this is not a course folder",))
    if as_json:
        sys.stdout.write(json.dumps({"sandboxes": [asdict(finding) for finding in findings], "secret": asdict(kept)}) + "\n")
    else:
        _show([*findings, kept])
    if not any(finding.good for finding in findings) or kept.good is False:
        raise typer.Exit(NEEDS_YOU)


def _show(findings: list[Finding]) -> None:
    for finding in findings:
        mark = f"[{'green' if finding.good else 'red'}]{finding.word}[/]" if finding.word else ""
        out.print(f"[bold]{finding.name}[/] {mark}")
        for line in finding.lines:
            out.print(Padding(Text(line), (0, 0, 0, 4)))
