"""Points and feedback in the grading worksheet of Moodle."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from autograder.exporting import Export, Written, defused
from autograder.gradebook_file import Sheet, check_possible, fill_rows
from autograder.grades import Grade
from autograder.intake import Roster
from autograder.text import points_text


def fill_moodle(content: bytes, grades: Sequence[Grade], roster: Roster | None) -> Written:
    """Moodle's grading worksheet with points and feedback. Feedback that somebody wrote in Moodle is left."""
    sheet = Sheet(content)
    hint = "Moodle's grading worksheet has it, in English"
    identifiers, points = sheet.column("Identifier", hint), sheet.column("Grade", hint)
    maximum = sheet.column("Maximum Grade", hint)
    comments = sheet.header.index("Feedback comments") if "Feedback comments" in sheet.header else None
    locked = sheet.header.index("Grade can be changed") if "Grade can be changed" in sheet.header else None
    others = [sheet.header.index(name) for name in ("Email address", "ID number", "Full name") if name in sheet.header]

    def student(row: int) -> str | None:
        number = re.sub(r"\D", "", sheet.value(row, identifiers))
        keys = [number, *(sheet.value(row, place).strip() for place in others)]
        return roster.student("moodle", keys) if roster else f"moodle-{number}"

    def put(row: int, grade: Grade) -> str:
        check_possible(sheet.value(row, maximum), grades, "Moodle")
        if locked is not None and sheet.value(row, locked).strip().lower() == "no":
            return f"{grade.student}'s grade is locked in Moodle; the row is left unchanged"
        sheet.put(row, points, points_text(grade.points))
        feedback = defused("<br>".join(html.escape(line) for line in _feedback(grade)))
        if comments is None or not feedback:
            return ""
        old = sheet.value(row, comments)
        if old.strip() and old != feedback:
            return f"{grade.student} has feedback in Moodle; it is kept, and only the points change"
        sheet.put(row, comments, feedback)
        return ""

    return fill_rows(sheet, sheet.rows, student, lambda row: f"Moodle's {sheet.value(row, identifiers)}", put, grades)


def _feedback(grade: Grade) -> list[str]:
    """What a person commented, and why points were taken off."""
    return [*(f"{question}: {text}" for question, text in grade.comments.items() if text.strip()), *grade.notes]


EXPORT = Export(
    "moodle",
    lambda wanted: fill_moodle(wanted.gradebook, wanted.grades, wanted.roster),
    fills_in="Moodle",
)
