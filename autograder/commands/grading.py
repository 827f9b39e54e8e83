"""`course grade` and `course regrade`."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from autograder.changes import changes, counts
from autograder.commands.common import (
    NEEDS_YOU,
    AsJson,
    Backend,
    Jobs,
    Only,
    ProblemSetName,
    Results,
    RosterFile,
    Scheduler,
    Section,
    check_backend,
    check_form,
    explaining,
    in_section,
    open_grader,
    open_grades,
    open_journal,
    open_problem_set,
    open_roster,
    out,
    print_sheet,
    progress,
    refuse,
    say,
    say_exposed,
    say_waiting,
)
from autograder.course import CourseError, ProblemSet
from autograder.intake import FORM_NAMES, FormError, Unreadable, find_submissions
from autograder.intake.times import read_times, with_times
from autograder.journal import Journal, Stored
from autograder.record import to_plain
from autograder.standing import named, standing
from autograder.suite_hash import suite_hash
from autograder.table import changes_table, grades_table


def grade(
    problem_set: ProblemSetName,
    folder: Annotated[Path, typer.Argument(help="What the course platform gave: a zip, a folder, or one file.")],
    jobs: Jobs = 0,
    scheduler: Scheduler = None,
    only: Only = None,
    section: Section = None,
    roster: RosterFile = None,
    form: Annotated[
        str | None, typer.Option(help=f"What it is, if that is not recognised: {', '.join(FORM_NAMES)}.")
    ] = None,
    at_most: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Begin no submission after this time (90s, 30m, 2h); run again for the rest."),
    ] = None,
    times: Annotated[
        Path | None,
        typer.Option(help="For platforms that give no times: a CSV with the columns student and submitted."),
    ] = None,
    results: Results = None,
    backend: Backend = None,
    as_json: AsJson = False,
) -> None:
    """Grade submissions in the sandbox, keep every attempt and its record, and show the table.

    What is graded stays as it is; after a change of the tests, see `course regrade`.

    Exit code 0: all graded. 1: graded, but something needs a person (see the last column). 2: nothing could be graded.
    """
    # Imported here, as below: most commands grade nothing, and what grades takes half a second to load.
    from autograder.messages import Conditions
    from autograder.run import grade as grade_attempts

    seconds = _seconds(at_most)
    course, chosen = open_problem_set(problem_set)
    say_exposed(course)
    check_backend(backend)
    grader = open_grader(jobs, scheduler)
    check_form(form)
    names = [name for question in chosen.assignment.questions for name in question.names]
    known = open_roster(course, roster)
    wanted = in_section(known, section)
    try:
        submissions, listed = find_submissions(folder, chosen.assignment.module, known, names, form=form, zone=course.zone)
        handed_in = read_times(times, known, course.zone) if times else {}
        submissions = with_times(submissions, handed_in)
    except (FileNotFoundError, FormError, CourseError) as error:
        refuse(str(error))
    if only:
        _check_students(only, [submission.student for submission in submissions], str(folder))
        submissions = [submission for submission in submissions if submission.student in only]
        listed = []
    submissions = [submission for submission in submissions if wanted(submission.student)]
    listed = [entry for entry in listed if not entry.student or wanted(entry.student)]
    if not submissions and not listed:
        module = chosen.assignment.module
        refuse(
            f"no submissions in {folder}; expected files like s001.py, folders like s001/{module}.py, or a platform's zip"
        )
    listed = [
        entry
        for entry in listed
        if not (entry.late and (entry.student in handed_in or course.noted_days(chosen.slug, entry.student)))
    ]
    journal = open_journal(course, chosen, results)
    with explaining(journal), journal.locked(say_waiting), progress("grading") as bar:
        attempts = [journal.add(submission) for submission in submissions]
        in_force = {student: journal.in_force(student) for student in {attempt.student for attempt in attempts}}
        before = {attempt: in_force[attempt.student].get(attempt.number) for attempt in attempts}
        task = bar.add_task("", total=len(attempts))
        stored = grade_attempts(
            course.root,
            chosen,
            attempts,
            journal,
            before.get,
            grader=grader,
            conditions=Conditions(backend=backend or ""),
            at_most=seconds,
            on_done=lambda _: bar.advance(task),
        )
    begun = {(grading.record.provenance.student, grading.attempt) for grading in stored}
    counting = open_grades(course, chosen, journal)
    late = [attempt.student for attempt in attempts if (attempt.student, attempt.number) not in begun]
    if as_json:
        document = {
            "problem_set": chosen.slug,
            "results": [
                {
                    "student": grading.record.provenance.student,
                    "attempt": grading.attempt,
                    "run": grading.run,
                    "score": grading.record.score,
                    **to_plain(grading.record),
                }
                for grading in stored
            ],
            "not_graded": [_listed(entry) for entry in listed if not entry.graded]
            + [{"name": student, "student": student, "reason": "the time of --at-most was up"} for student in late],
            "look_at": [_listed(entry) for entry in listed if entry.graded],
        }
        sys.stdout.write(json.dumps(document, ensure_ascii=True) + "\n")
    else:
        print_sheet(grades_table(chosen, stored, listed, [grade for grade in counting if grade.student in in_force]))
        _say_outdated(chosen, stored)
        if late:
            noun = "submission is" if len(late) == 1 else "submissions are"
            why = f"because the time of --at-most {at_most} was up"
            out.print(f"[bold]{len(late)} {noun} not graded yet[/], {why}; run the command again.")
        out.print(f"records: {journal.root}", highlight=False, soft_wrap=True)
        kept = sum(stored is not None for stored in before.values())
        now = standing(chosen, journal, counting, known, listed=[entry.student for entry in listed]).of(wanted)
        say(_counts(len(stored) - kept, kept, listed), *now.lines(), f"next: {now.next_command}")
    raise typer.Exit(NEEDS_YOU if listed or late or not all(grading.record.is_sound for grading in stored) else 0)


def _counts(graded: int, kept: int, listed: Sequence[Unreadable]) -> str:
    """The first line of the summary."""
    parts = [f"{graded} graded", f"{kept} graded before" if kept else ""]
    for word, entries in (
        ("not graded", [entry for entry in listed if not entry.graded]),
        ("graded, but look", [entry for entry in listed if entry.graded]),
    ):
        students = sorted({entry.student for entry in entries if entry.student})
        whose = f" ({named(students)})" if students else ""
        files = "file" if len(entries) == 1 else "files"
        parts.append(f"{word}: {len(entries)} {files}{whose}" if entries else "")
    return "; ".join(filter(None, parts))


def _seconds(text: str | None) -> float:
    """A duration as people write it, in seconds; without one, there is no end."""
    if text is None:
        return math.inf
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if match is None:
        refuse(f"--at-most {text}: write a number of seconds, minutes or hours, such as 90s, 30m or 2h")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


def _listed(entry: Unreadable) -> dict[str, str | None]:
    return {"name": entry.name, "student": entry.student or None, "reason": entry.reason}


def regrade(
    problem_set: ProblemSetName,
    apply: Annotated[bool, typer.Option("--apply", help="Let the new points count.")] = False,
    revert: Annotated[int | None, typer.Option(metavar="RUN", help="Go back to the points before this regrade.")] = None,
    why: Annotated[str, typer.Option(help="The reason, kept with the regrade.")] = "",
    only: Only = None,
    jobs: Jobs = 0,
    scheduler: Scheduler = None,
    results: Results = None,
    backend: Backend = None,
    as_json: AsJson = False,
) -> None:
    """Grade the stored attempts again by today's tests, and show whose points would change, and why.

    Nothing counts until --apply; --revert goes back. What people graded never changes, and a grader's fault changes nothing.
    """
    from autograder.messages import Conditions
    from autograder.regrade import regrade as regrade_attempts

    course, chosen = open_problem_set(problem_set)
    say_exposed(course)
    check_backend(backend)
    grader = open_grader(jobs, scheduler)
    journal = open_journal(course, chosen, results)
    students = journal.students()
    if only:
        _check_students(only, students, str(journal.root))
        students = [student for student in students if student in only]
    if not students:
        refuse(f"there are no attempts in {journal.root}; `course grade {chosen.slug} FOLDER` brings them in")
    if revert is not None:
        _revert(chosen, journal, revert)
        return
    with explaining(journal), journal.locked(say_waiting), progress("regrading") as bar:
        task = bar.add_task("", total=sum(len(journal.attempts(student)) for student in students))
        run, faults = regrade_attempts(
            course.root,
            chosen,
            journal,
            students,
            why,
            grader=grader,
            conditions=Conditions(backend=backend or ""),
            on_done=lambda _: bar.advance(task),
        )
        changed = changes(journal, run)
        if apply and not counts(journal, run):
            journal.decide("apply", run.number)
        applied = counts(journal, run)
    if as_json:
        document = {
            "problem_set": chosen.slug,
            "run": run.number,
            "applied": applied,
            "changes": [vars(change) for change in changed],
            "faults": [{"student": fault.record.provenance.student, "attempt": fault.attempt} for fault in faults],
        }
        sys.stdout.write(json.dumps(document) + "\n")
    else:
        print_sheet(changes_table(chosen, run, changed, faults))
        if applied:
            out.print(f"it counts; `course regrade {chosen.slug} --revert {run.number}` goes back", highlight=False)
        elif changed:
            out.print(f"it does not count yet; `course regrade {chosen.slug} --apply` applies it", highlight=False)
    raise typer.Exit(NEEDS_YOU if faults else 0)


def _revert(problem_set: ProblemSet, journal: Journal, run: int) -> None:
    with explaining(journal), journal.locked(say_waiting):
        applied = [other.number for other in journal.applied()]
        if run not in applied:
            known = ", ".join(map(str, applied)) or "none"
            refuse(f"regrade {run} is not applied to {problem_set.slug}; applied are: {known}")
        journal.decide("revert", run)
    out.print(f"regrade {run} no longer counts; `course regrade {problem_set.slug} --apply` can bring it back")


def _check_students(wanted: Sequence[str], known: Sequence[str], where: str) -> None:
    missing = sorted(set(wanted) - set(known))
    if missing:
        refuse(f"no submission of {', '.join(missing)} in {where}")


def _say_outdated(problem_set: ProblemSet, stored: Sequence[Stored]) -> None:
    suite = suite_hash(problem_set)
    outdated = sum(grading.record.provenance.suite != suite for grading in stored)
    if outdated:
        out.print(
            f"{outdated} of {len(stored)} were graded by earlier tests; "
            f"`course regrade {problem_set.slug}` shows what changes",
            highlight=False,
            soft_wrap=True,
        )
