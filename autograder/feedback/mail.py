"""Feedback as mail files: one `.eml` per student, for a mail program to send. Nothing is sent from here."""

from __future__ import annotations

import string
from email.message import EmailMessage
from email.policy import SMTP

from autograder.course import ProblemSet
from autograder.grades import Grade
from autograder.intake.roster import Person

TEXT = """Hello $name,

your feedback for $title is attached; open it in a browser. You have $points points.
"""
FIELDS = ("student", "name", "title", "problem_set", "points")


def mail(problem_set: ProblemSet, grade: Grade, person: Person, page: str, text: str = TEXT) -> bytes:
    """A message with the page attached; `text` may hold `$student`, `$name`, `$title`, `$problem_set` and `$points`.

    Raises `ValueError` if the text has another placeholder, or the address cannot stand in a header.
    """
    assignment = problem_set.assignment
    values = (grade.student, person.name or grade.student, assignment.title, problem_set.slug, grade.in_words)
    try:
        body = string.Template(text).substitute(dict(zip(FIELDS, values, strict=True)))
    except (KeyError, ValueError) as error:
        raise ValueError(f"the mail's text: {error} is not one of {', '.join(f'${name}' for name in FIELDS)}") from None
    message = EmailMessage(policy=SMTP)
    message["To"] = person.email
    message["Subject"] = f"{problem_set.slug}: feedback"
    message["X-Unsent"] = "1"  # some mail programs then open it as a draft
    message.set_content(body)
    message.add_attachment(page, subtype="html", filename=f"{problem_set.slug}.html")
    return message.as_bytes()
