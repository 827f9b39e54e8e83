"""What the commands share: where they print, how they end, and which course they are in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from autograder.course import Course, CourseError, ProblemSet, find_root, load_course
from autograder.gradebook import GradebookError, gradebook_url, manual_scores
from autograder.grades import Grade, Manual, changed_points, grades
from autograder.intake import FORM_NAMES, Roster, find_roster
from autograder.journal import Journal, JournalError
from autograder.secret import exposure
from autograder.sheet import Sheet

if TYPE_CHECKING:
    from autograder.graders import Grader

out = Console()
err = Console(stderr=True)

# Exit codes: 0 for success, 1 for "ran, and something needs you", 2 for wrong usage or a course that is wrong.
NEEDS_YOU, WRONG = 1, 2
INTERRUPTED = 130  # as shells count it: 128 and the number of the signal

ProblemSetName = Annotated[str, typer.Argument(metavar="PROBLEM_SET", help="The problem set, such as ps1.")]
Only = Annotated[list[str] | None, typer.Option(help="Only this student; can be given more than once.")]
Jobs = Annotated[int, typer.Option(min=0, help="Grading workers; 0 means one per core.")]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Grade on the workers of this Dask scheduler, such as tls://grader:8786."),
]
Results = Annotated[Path | None, typer.Option(help="Where records are kept; the course's results/ if not given.")]
RosterFile = Annotated[Path | None, typer.Option(help="Who is who on the platforms; the course's roster.csv if not given.")]
Section = Annotated[str | None, typer.Option(help="Only students of this section of the roster.")]
Backend = Annotated[str | None, typer.Option(help="bubblewrap or sandlock; the first that works if not given.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")]


def refuse(message: str) -> NoReturn:
    """End with exit code 2 and a message that says what is wrong."""
    err.print(Text.assemble(("course: ", "bold red"), message), soft_wrap=True)
    raise typer.Exit(WRONG)


def open_course() -> Course:
    """The course in or above the current folder."""
    try:
        return load_course(find_root(Path.cwd()))
    except CourseError as error:
        refuse(str(error))


def open_problem_set(slug: str) -> tuple[Course, ProblemSet]:
    """The course and one of its problem sets."""
    course = open_course()
    try:
        return course, course.problem_set(slug)
    except CourseError as error:
        refuse(str(error))


def open_grader(jobs: int, scheduler: str | None) -> Grader:
    """The way to spread grading that was asked for: over workers of this machine, or of a cluster."""
    # Imported here: most commands grade nothing, and what grades takes half a second to load.
    from autograder.graders.local import LocalGrader, cores

    if scheduler is None:
        return LocalGrader(jobs or cores())
    try:
        from autograder.graders.cluster import ClusterGrader

        return ClusterGrader(scheduler, say=say_beside)
    except ModuleNotFoundError as error:
        refuse(f"--scheduler needs Dask ({error}): install the extra `cluster`, as in `pip install -e .[cluster]`")
    except CourseError as error:
        refuse(str(error))


def open_journal(course: Course, problem_set: ProblemSet, results: Path | None) -> Journal:
    """The journal of a problem set."""
    return Journal((results or course.root / "results") / problem_set.slug)


def open_grades(
    course: Course, problem_set: ProblemSet, journal: Journal, students: Sequence[str] | None = None
) -> list[Grade]:
    """The grades of a problem set, those of `students` or all, with what people gave in the gradebook."""
    with explaining(journal):
        manual: dict[str, dict[str, Manual]] = {}
        for student, given in manual_scores(gradebook_url(journal.root.parent), course, problem_set).items():
            today = journal.today(student)
            manual[today] = manual.get(today, {}) | given if today == student else given | manual.get(today, {})
        counting = grades(course, problem_set, journal, manual, students)
    for line in changed_points(problem_set, counting):
        err.print(line, markup=False, highlight=False, soft_wrap=True)
    return counting


def open_roster(course: Course, given: Path | None) -> Roster | None:
    """The roster, if there is one; an extension or a lateness of nobody in it is an error."""
    try:
        roster = find_roster(course.root, given)
        if roster:
            roster.check_settings(course)
        return roster
    except CourseError as error:
        refuse(str(error))


def plain_grade(grade: Grade) -> dict[str, object]:
    """What `--json` says of a grade."""
    return {
        "attempt": grade.attempt.number,
        "points": grade.points,
        "possible": grade.possible,
        "unread": grade.unread,
        "days_late": grade.days_late,
        "penalty": grade.penalty,
        "questions": grade.by_question,
    }


def in_section(roster: Roster | None, section: str | None) -> Callable[[str], bool]:
    """Whether a student is in the section that was asked for; without one, everybody is."""
    if section is None:
        return lambda student: True
    known = roster.sections if roster else ()
    if roster is None or section not in known:
        refuse(f"there is no section {section!r} in roster.csv, column `section`; there are: {', '.join(known) or 'none'}")
    return lambda student: roster.person(student).section == section


def say(*lines: str) -> None:
    """Say something to a person: beside a pipe, which only programs read."""
    for line in lines:
        (out if out.is_terminal else err).print(line, markup=False, highlight=False, soft_wrap=True)


def check_backend(backend: str | None) -> None:
    """Refuse a backend that there is not."""
    from autograder.backends import BACKENDS

    if backend is not None and backend not in BACKENDS:
        refuse(f"there is no backend {backend!r}; there are {', '.join(BACKENDS)}")


def check_form(form: str | None) -> None:
    """Refuse a form that there is not."""
    if form is not None and form not in FORM_NAMES:
        refuse(f"there is no form {form!r}; there are {', '.join(FORM_NAMES)}")


def say_beside(line: str) -> None:
    """Say something to a person while something else is printed."""
    err.print(line, markup=False, highlight=False, soft_wrap=True)


def say_exposed(course: Course) -> None:
    """Say that others may read the course's secret, where they may."""
    if problem := exposure(course.root):
        err.print(Text.assemble(("note: ", "bold yellow"), problem), soft_wrap=True)


def print_sheet(sheet: Sheet) -> None:
    """Print a table. Into a pipe goes what programs read; its title, which a person reads, is said beside it."""
    if not out.is_terminal:
        err.print(sheet.title, markup=False, highlight=False, soft_wrap=True)
    out.print(sheet, soft_wrap=True)


def say_waiting() -> None:
    """Say why nothing happens for a while."""
    err.print(
        "another `course` command is at work on this problem set; waiting for its end (`course watch` ends with Ctrl-C)",
        highlight=False,
    )


@contextlib.contextmanager
def explaining(journal: Journal) -> Iterator[None]:
    """Where the grader, the journal or the machine is at fault, end with what to do instead of a traceback."""
    try:
        yield
    except (CourseError, JournalError, GradebookError) as error:
        refuse(str(error))
    except OSError as error:
        refuse(
            f"cannot go on: {error.strerror or error} ({error.filename or journal.root}). "
            "What was graded until now is kept; fix this and run the command again."
        )
    except KeyboardInterrupt:
        err.print(f"stopped. What was graded until now is kept in {journal.root}; run the command again to go on.",
                  markup=False, highlight=False, soft_wrap=True)  # fmt: skip
        raise typer.Exit(INTERRUPTED) from None


def progress(what: str) -> Progress:
    """A progress bar that is gone when its work is done."""
    return Progress(TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=err, transient=True)
