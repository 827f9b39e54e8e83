"""`course watch`."""

from __future__ import annotations

import datetime
import functools
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from autograder.commands.common import (
    Backend,
    Jobs,
    ProblemSetName,
    Results,
    RosterFile,
    Scheduler,
    check_backend,
    check_form,
    explaining,
    open_grader,
    open_journal,
    open_problem_set,
    open_roster,
    refuse,
    say_exposed,
    say_waiting,
)
from autograder.course import Course, ProblemSet
from autograder.intake import FORM_NAMES, FormError, Unreadable
from autograder.intake.arrivals import Arrivals
from autograder.journal import Attempt, Journal
from autograder.kit.delivery import feedback_folder
from autograder.record import Record
from autograder.standing import named
from autograder.text import points_text, visible


def watch(
    problem_set: ProblemSetName,
    place: Annotated[Path, typer.Argument(help="A folder in which submissions arrive: an inbox, an exchange, clones.")],
    feedback: Annotated[
        Path | None,
        typer.Option(help="Where students' pages go; PLACE-feedback, or the exchange's folder `feedback`, if not given."),
    ] = None,
    jobs: Jobs = 0,
    scheduler: Scheduler = None,
    roster: RosterFile = None,
    form: Annotated[
        str | None, typer.Option(help=f"What the folder is, if that is not recognised: {', '.join(FORM_NAMES)}.")
    ] = None,
    results: Results = None,
    backend: Backend = None,
) -> None:
    """Grade what arrives in a folder, as it arrives, and write each student a page; Ctrl-C ends it.

    Students take turns, and each has as many attempts graded a day as `attempts_a_day` in course.yml says. What it has
    seen and graded is in the journal, so it goes on where it ended.
    """
    course, chosen = open_problem_set(problem_set)
    say_exposed(course)
    check_backend(backend)
    check_form(form)
    place = place.resolve()
    if not place.is_dir():
        refuse(f"{place} is not a folder; `course grade {chosen.slug} {place}` grades a file")
    grader = open_grader(jobs, scheduler)
    known = open_roster(course, roster)
    names = [name for question in chosen.assignment.questions for name in question.names]
    journal = open_journal(course, chosen, results)
    # Imported here: only this command and `grade` need what grades, and what draws pages takes a second to load.
    from autograder.messages import Conditions

    with explaining(journal), journal.locked(say_waiting):
        arrivals = Arrivals(place, chosen.assignment.module, known, names, form=form, zone=course.zone)
        watching = _Watching(course, chosen, journal, arrivals, place, feedback)
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            _print(f"watching {place}; Ctrl-C ends")
            for done in grader(course.root, chosen, watching.turns, conditions=Conditions(backend=backend or "")):
                if done:
                    watching.keep(*done)
                watching.look()
        except KeyboardInterrupt:
            pass
        finally:
            signal.signal(signal.SIGTERM, before)
        for line in watching.summary():
            _print(line)


def _print(line: str) -> None:
    print(visible(line), flush=True)


class _Watching:
    """One run of the command: what has arrived, and what became of it."""

    def __init__(
        self,
        course: Course,
        problem_set: ProblemSet,
        journal: Journal,
        arrivals: Arrivals,
        place: Path,
        feedback: Path | None,
    ) -> None:
        from autograder.feedback.attempt_page import Pages
        from autograder.turns import Turns

        self.journal = journal
        self.arrivals = arrivals
        self.turns = Turns(course, problem_set, journal)
        own = place.parent / "feedback" if place.name == "inbound" else feedback_folder(place)
        self.pages = Pages(course, problem_set, journal, feedback or own)
        self.counts: Counter[str] = Counter()
        self.said_held: Counter[tuple[str, datetime.date]] = Counter()
        self.problem = ""

    def look(self) -> None:
        """Take up what has arrived, and bring pages up to date that the due date has changed."""
        try:
            submissions, listed = self.arrivals.look()
            self.problem = ""
        except (FormError, OSError) as error:
            if str(error) != self.problem:
                _print(f"cannot look: {error}")
            self.problem = str(error)
            return
        for submission in submissions:
            attempt = self.journal.add(submission)
            name = PurePosixPath(submission.feedback) if submission.feedback else None
            if self.turns.add(attempt):
                self.counts["arrived"] += 1
                self.pages.expect(attempt, name)
            else:
                self._try(attempt, functools.partial(self.pages.renew, attempt, name))
        for entry in listed:
            self._list(entry)
        for student, count in self.turns.held().items():
            if count > self.said_held[student, self.turns.today()]:
                self.said_held[student, self.turns.today()] = count
                verb = "waits" if count == 1 else "wait"
                _print(f"{student}: {self.turns.most} attempts a day are graded; {count} more {verb} for tomorrow")
        for attempt in self.pages.due():
            self._try(attempt, functools.partial(self.pages.renew, attempt))

    def keep(self, attempt: Attempt, record: Record) -> None:
        """Keep a record, and write its student's page."""
        stored = self.journal.append(attempt, record)
        if self.turns.done(attempt, stored):
            self.counts["graded"] += 1
            self._try(attempt, functools.partial(self.pages.write, attempt, stored))
            possible = sum(question.points for question in record.questions if question.kind != "written")
            _print(f"{_named(attempt)}: {points_text(record.score)} of {points_text(possible)} by tests")
        elif record.is_sound:
            self.counts["graded again"] += 1
        else:
            _print(f"{_named(attempt)}: a fault of the grader: {record.look_lines[0]}")

    def summary(self) -> list[str]:
        """What a person should know at the end."""
        counts = [f"{self.counts[word]} {word}" for word in ("arrived", "graded", "graded again") if self.counts[word]]
        held, failed = self.turns.held(), sorted({attempt.student for attempt in self.turns.failed})
        waiting = sorted(set(self.turns.waiting()) - held.keys())
        lines = [
            "; ".join(counts) or "nothing new",
            f"waits for tomorrow: {named([f'{student} ({count})' for student, count in held.items()])}" if held else "",
            f"not graded yet: {named(waiting)}" if waiting else "",
            f"the grader failed at: {named(failed)}" if failed else "",
            f"records: {self.journal.root}",
            f"pages: {self.pages.folder}",
        ]
        return list(filter(None, lines))

    def _list(self, entry: Unreadable) -> None:
        graded = "graded, but look" if entry.graded else "not graded"
        _print(f"{graded}: {entry.name}{f' ({entry.student})' if entry.student else ''}: {entry.reason}")

    def _try(self, attempt: Attempt, write: Callable[[], object]) -> None:
        """Write a page; without one, grading goes on."""
        try:
            write()
        except OSError as error:
            _print(f"{_named(attempt)}: no page could be written: {error.strerror or error} ({error.filename})")


def _named(attempt: Attempt) -> str:
    return f"{attempt.student}, attempt {attempt.number}"
