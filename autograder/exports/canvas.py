"""Grades in the gradebook file of Canvas."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograder.exporting import Export, ExportError, Written
from autograder.gradebook_file import Sheet, check_possible, fill_rows
from autograder.grades import Grade
from autograder.intake import Roster
from autograder.text import points_text

_ID_BEHIND = re.compile(r"\s*\(([0-9]+)\)$")


def fill_canvas(content: bytes, grades: Sequence[Grade], titles: Sequence[str], roster: Roster | None) -> Written:
    """Canvas's exported gradebook with the points in the assignment's column.

    The column is the one whose name, with or without the number behind it, is one of `titles`, or whose number is.
    """
    sheet = Sheet(content)
    ids = sheet.column("ID", "Canvas's exported gradebook has it")
    wanted = {title.casefold() for title in titles}
    named = [
        place
        for place, name in enumerate(sheet.header)
        if {name.casefold(), _ID_BEHIND.sub("", name).casefold(), *_ID_BEHIND.findall(name)} & wanted
    ]
    if len(named) != 1:
        assignments = [name for name in sheet.header if _ID_BEHIND.search(name)]
        count = "more than one column" if named else "no column"
        raise ExportError(f"{count} is called {' or '.join(titles)}; name one of: {', '.join(assignments)}")
    column = named[0]

    def student(row: int) -> str | None:
        user = sheet.value(row, ids).strip()
        return roster.student("canvas", [user]) if roster else f"canvas-{user}"

    rows = []
    for row in sheet.rows:
        if sheet.value(row, 0).strip() == "Points Possible":
            check_possible(sheet.value(row, column), grades, "Canvas")
        elif sheet.value(row, ids).strip():  # the rows without an id are Canvas's own
            rows.append(row)

    def put(row: int, grade: Grade) -> str:
        old = sheet.value(row, column).strip()
        if old.upper() in ("EX", "N/A"):
            return f"{grade.student} has {old} in Canvas; the cell is left unchanged"
        sheet.put(row, column, points_text(grade.points))
        return ""

    return fill_rows(sheet, rows, student, lambda row: f"Canvas's user {sheet.value(row, ids)}", put, grades)


EXPORT = Export(
    "canvas",
    lambda wanted: fill_canvas(wanted.gradebook, wanted.grades, wanted.titles, wanted.roster),
    fills_in="Canvas",
)
