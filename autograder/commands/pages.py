"""`course feedback` and `course report`."""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.common import (
    AsJson,
    Only,
    ProblemSetName,
    Results,
    RosterFile,
    Section,
    explaining,
    in_section,
    open_grades,
    open_journal,
    open_problem_set,
    open_roster,
    out,
    plain_grade,
    progress,
    refuse,
    say,
)
from autograder.grades import closes
from autograder.intake import FormError
from autograder.intake.roster import Person
from autograder.standing import Standing, named, standing


def feedback(
    problem_set: ProblemSetName,
    to: Annotated[Path | None, typer.Option(help="Where the pages go; results/<problem set>/feedback if not given.")] = None,
    mail: Annotated[
        Path | None, typer.Option(help="Also write one .eml file per student here, the page attached; nothing is sent.")
    ] = None,
    mail_text: Annotated[
        Path | None, typer.Option(help="What the mails say, with $name, $points, $title, $student and $problem_set.")
    ] = None,
    exchange: Annotated[
        Path | None,
        typer.Option(
            help="Also put them into this folder, the course's in nbgrader's exchange, for `nbgrader fetch_feedback`."
        ),
    ] = None,
    only: Only = None,
    section: Section = None,
    roster: RosterFile = None,
    results: Results = None,
) -> None:
    """Write one HTML page per student, with points, what each test says, and comments.

    Pages need no network and no script. Explanations of answers are left out until nothing can be earned any more.
    """
    # Imported here, as below: drawing and templates take a second to load, and no other command needs them.
    from autograder.feedback.exchange import fill_exchange, place_names
    from autograder.feedback.mail import TEXT
    from autograder.feedback.mail import mail as mail_of
    from autograder.feedback.page import student_page

    course, chosen = open_problem_set(problem_set)
    journal = open_journal(course, chosen, results)
    known = open_roster(course, roster)
    wanted = in_section(known, section)
    every = open_grades(course, chosen, journal)
    with explaining(journal):
        now = standing(chosen, journal, every, known).of(wanted)
    counting = [grade for grade in now.grades if not only or grade.student in only]
    missing = sorted(set(only or []) - {grade.student for grade in counting})
    if missing:
        refuse(f"no grade of {', '.join(missing)} in {journal.root}; `course grade {chosen.slug} FOLDER` gives them one")
    if not counting:
        refuse(f"no grades in {journal.root}; `course grade {chosen.slug} FOLDER` gives them")
    place = to or journal.root / "feedback"
    made, end = datetime.datetime.now(datetime.UTC), closes(course, chosen.slug)
    unreached: list[str] = []
    pages = []
    try:
        names = place_names(exchange, course, chosen, known) if exchange else {}
    except (FileNotFoundError, FormError) as error:
        refuse(f"--exchange {exchange}: {error}")
    with explaining(journal), progress("writing") as bar:
        text = mail_text.read_text(encoding="utf-8") if mail_text else TEXT
        for grade in bar.track(counting):
            path = place / grade.student / f"{chosen.slug}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            page = student_page(chosen, grade, made=made, closes=end)
            path.write_text(page, encoding="utf-8")
            pages.append((grade, page))
            person = known.person(grade.student) if known else Person()
            if mail and person.email:
                mail.mkdir(parents=True, exist_ok=True)
                try:
                    (mail / f"{grade.student}.eml").write_bytes(mail_of(chosen, grade, person, page, text))
                except ValueError as error:
                    refuse(str(error))
            elif mail:
                unreached.append(grade.student)
        elsewhere = fill_exchange(exchange, names, pages) if exchange else []
    out.print(f"{len(counting)} pages: {place}", highlight=False, soft_wrap=True)
    if mail:
        out.print(f"{len(counting) - len(unreached)} mails: {mail}", highlight=False, soft_wrap=True)
        if unreached:
            say(f"no address in roster.csv, column `email`: {named(unreached)}")
    if exchange:
        done = len(counting) - len(elsewhere)
        out.print(f"{done} to fetch with nbgrader: {exchange / 'feedback'}", highlight=False, soft_wrap=True)
        if elsewhere:
            say(f"the attempt that counts did not come through this exchange: {named(elsewhere)}")
    say(*now.lines())


def report(
    problem_set: ProblemSetName,
    to: Annotated[Path | None, typer.Option(help="The page's file; results/<problem set>/report.html if not given.")] = None,
    section: Section = None,
    anonymous: Annotated[
        bool,
        typer.Option("--anonymous", help="Call students by numbers, and write no page for each: report-anonymous.html."),
    ] = False,
    roster: RosterFile = None,
    results: Results = None,
    as_json: AsJson = False,
) -> None:
    """Write one HTML page for staff, with a page per student beside it.

    It has every student of the roster, scores, questions, tests, mistakes, faults, attempts, and code that students share.
    """
    from autograder.feedback.report import MOST_PAIRS, staff_page
    from autograder.feedback.shared import pair_name, pair_page
    from autograder.feedback.similarity import code_of, shared_lines, similar_pairs
    from autograder.feedback.student import page_name, staff_folder, student_page

    course, chosen = open_problem_set(problem_set)
    journal = open_journal(course, chosen, results)
    known = open_roster(course, roster)
    wanted = in_section(known, section)
    path = to or journal.root / ("report-anonymous.html" if anonymous else "report.html")
    try:
        staff_folder(path)
    except ValueError as error:
        refuse(str(error))
    with explaining(journal):
        now = standing(chosen, journal, open_grades(course, chosen, journal), known).of(wanted)
        counting = now.grades
        sources = {grade.student: (grade.attempt.filename, journal.source(grade.attempt)) for grade in counting}
    if not journal.students():
        refuse(f"there are no attempts in {journal.root}; `course grade {chosen.slug} FOLDER` brings them in")
    template = [
        (released.name, released.read_bytes())
        for form in (".py", ".ipynb")
        if (released := course.root / "student_template" / chosen.slug / f"{chosen.assignment.module}{form}").is_file()
    ]
    made = datetime.datetime.now(datetime.UTC)
    students = [] if anonymous else [*(grade.student for grade in counting), *now.ungraded]
    pairs = similar_pairs(sources, template)
    page = staff_page(
        chosen,
        journal,
        now,
        roster=None if anonymous else known,
        pairs=pairs,
        discounted=bool(template),
        due=course.listing(chosen.slug).due,
        made=made,
        linked=students,
        anonymous=anonymous,
    )
    graded = {grade.student: grade for grade in counting}
    with explaining(journal), progress("writing") as bar:
        staff_folder(path).mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
        for student in bar.track(students):
            person = known.person(student) if known else Person()
            own = student_page(chosen, journal, student, graded.get(student), person, made=made, report=path.name)
            (path.parent / page_name(student)).write_text(own, encoding="utf-8")
        for pair in [] if anonymous else pairs[:MOST_PAIRS]:
            one, other = sources[pair.one], sources[pair.other]
            lines = shared_lines(one, other, template)
            texts = code_of(*one), code_of(*other)
            both = pair_page(chosen.assignment, pair, texts, lines, made=made, report=path.name)
            (path.parent / pair_name(pair)).write_text(both, encoding="utf-8")
    if as_json:
        sys.stdout.write(json.dumps({"problem_set": chosen.slug, "report": str(path), **_plain(now)}) + "\n")
        return
    out.print(f"report: {path}", highlight=False, soft_wrap=True)
    say(*now.lines(), f"next: {now.next_command}")


def _plain(now: Standing) -> dict[str, object]:
    """Where everybody stands, for `--json`."""
    return {
        "students": [{"student": grade.student, **plain_grade(grade)} for grade in now.grades],
        "not_graded": now.ungraded,
        "missing": now.missing,
        "strangers": now.strangers,
        "to_read": now.unread,
    }
