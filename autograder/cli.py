"""The `course` command."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from autograder.course import CourseError, find_root, load_course
from autograder.doctor import examine
from autograder.journal import Journal
from autograder.run import WorkerError, cores
from autograder.run import grade as grade_submissions
from autograder.sandbox.backends import BACKENDS
from autograder.submissions import find_submissions
from autograder.table import grades_table

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
out = Console()
err = Console(stderr=True)

# Exit codes: 0 for success, 1 for "ran, and something needs you", 2 for wrong usage or a course that is wrong.
NEEDS_YOU, WRONG = 1, 2


@app.callback()
def course() -> None:
    """Grade and release the problem sets of this course."""


def _refuse(message: str) -> NoReturn:
    err.print(Text.assemble(("course: ", "bold red"), message), soft_wrap=True)
    raise typer.Exit(WRONG)


@app.command()
def grade(
    problem_set: Annotated[str, typer.Argument(help="The problem set, such as ps1.")],
    folder: Annotated[Path, typer.Argument(help="A folder of submissions (s001.py, s002.ipynb, s003/ps1.py), or one file.")],
    jobs: Annotated[int, typer.Option(min=0, help="Grading workers; 0 means one a core.")] = 0,
    only: Annotated[list[str] | None, typer.Option(help="Grade only this student; can be given more than once.")] = None,
    results: Annotated[Path | None, typer.Option(help="Where records are kept; the course's results/ if not given.")] = None,
    backend: Annotated[str | None, typer.Option(help="bubblewrap or sandlock; the first that works if not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Grade submissions in the sandbox, keep a record of each, and show the table.

    Exit code 0: all graded. 1: graded, but something needs a person (see the last column). 2: nothing could be graded.
    """
    try:
        found = load_course(find_root(Path.cwd()))
        chosen = found.problem_set(problem_set)
        submissions, unreadable = find_submissions(folder, chosen.assignment.module)
    except (CourseError, FileNotFoundError) as error:
        _refuse(str(error))
    if backend is not None and backend not in BACKENDS:
        _refuse(f"there is no backend {backend!r}; there are {', '.join(BACKENDS)}")
    if only:
        missing = sorted(set(only) - {submission.student for submission in submissions})
        if missing:
            _refuse(f"no submission of {', '.join(missing)} in {folder}")
        submissions = [submission for submission in submissions if submission.student in only]
        unreadable = []
    if not submissions and not unreadable:
        _refuse(
            f"no submissions in {folder}; expected files like s001.py or folders like s001/{chosen.assignment.module}.py"
        )
    journal = Journal((results or found.root / "results") / chosen.slug)
    columns = (TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=err, transient=True) as progress:
            task = progress.add_task("", total=len(submissions))
            stored = grade_submissions(
                found.root,
                chosen,
                submissions,
                journal,
                jobs=jobs or cores(),
                backend=backend,
                on_done=lambda _: progress.advance(task),
            )
    except (WorkerError, OSError) as error:
        _refuse(f"{error}")
    if as_json:
        document = {
            "problem_set": chosen.slug,
            "results": [{"attempt": one.attempt, "run": one.run, **one.record} for one in stored],
            "not_graded": [{"name": entry.name, "reason": entry.reason} for entry in unreadable],
        }
        sys.stdout.write(json.dumps(document, ensure_ascii=True) + "\n")
    else:
        out.print(grades_table(chosen, stored, unreadable))
        out.print(f"records: {journal.root}", highlight=False, soft_wrap=True)
    needs = any(one.record["extra_data"]["provenance"]["fault"] for one in stored) or bool(unreadable)
    raise typer.Exit(NEEDS_YOU if needs else 0)


@app.command()
def release(
    problem_set: Annotated[str, typer.Argument(help="The problem set, such as ps1.")],
    check: Annotated[bool, typer.Option("--check", help="Write nothing; say what differs from the sources.")] = False,
) -> None:
    """Generate the problem set's part of student_template/ from its sources.

    With --check, exit code 1 means that generated files are stale.
    """
    # Imported here: nbformat's validator takes seconds to load, and no other command needs it.
    from autograder.authoring.release import problem_set_files, stale, template_files, write

    try:
        found = load_course(find_root(Path.cwd()))
        chosen = found.problem_set(problem_set)
        files = {**template_files(found), **problem_set_files(found, chosen)}
    except CourseError as error:
        _refuse(str(error))
    folder = found.root / "student_template"
    names = stale(files, folder) if check else write(files, folder)
    for name in names:
        out.print(f"{'stale' if check else 'wrote'}  student_template/{name}", highlight=False, soft_wrap=True)
    out.print(f"{len(files) - len(names)} of {len(files)} files are up to date" + ("" if check else ", the rest is now"))
    if check and names:
        raise typer.Exit(NEEDS_YOU)


@app.command()
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


def main() -> None:
    """Run the command line."""
    app()
