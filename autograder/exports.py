"""Grades out: as plain CSV, into the gradebook files of Canvas and Moodle, and as Gradescope's results.json.

A gradebook file of a platform is filled in, not written anew: only the cells of the assignment change, and every other byte
stays. A grade without a row and a row without a grade are both told.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.assignment import Question
from autograder.grades import Grade
from autograder.intake import Roster
from autograder.platforms.gradescope_results import TEXT, result_of_test
from autograder.text import points_text

# What a spreadsheet may take for the beginning of a formula, also after white space, and also in full width.
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")
_CELL = re.compile(r'(?P<cell>"(?:[^"]|"")*"|[^",\r\n][^,\r\n]*|)(?P<end>,|\r\n|\n|\r|\Z)')
_ID_BEHIND = re.compile(r"\s*\(([0-9]+)\)$")


class ExportError(Exception):
    """A gradebook file cannot be filled in; the message says what is wrong with it and what to do."""


@dataclass
class Filled:
    """A gradebook file with the grades in it.

    `problems` need a person: a grade that found no place, or a cell that was left although there is a grade. `untouched` are
    the rows without a grade.
    """

    content: bytes
    count: int = 0
    problems: list[str] = field(default_factory=list)
    untouched: list[str] = field(default_factory=list)


def defused(text: str) -> str:
    """A text that no spreadsheet takes for a formula: a quote in front makes it a text."""
    return f"'{text}" if _FORMULA.match(text) else text


# --- plain


def plain_csv(grades: Sequence[Grade], questions: Sequence[Question]) -> bytes:
    """A row a student: a column a question, then the sums. The points of a written question are empty until it is graded."""
    header = ["student", "attempt", "submitted", *(question.id for question in questions)]
    sums = ["automatic", "manual", "days late", "penalty", "points", "possible", "complete"]
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*header, *sums])
    for grade in grades:
        by_question = [grade.by_question.get(question.id) for question in questions]
        submitted = grade.attempt.submitted
        numbers = [grade.automatic, sum(grade.manual.values()), grade.days_late, grade.penalty, grade.points, grade.possible]
        writer.writerow(
            [
                defused(grade.student),
                grade.attempt.number,
                submitted.isoformat(timespec="seconds") if submitted else "",
                *("" if points is None else points_text(points) for points in by_question),
                *map(points_text, numbers),
                "yes" if grade.complete else "no",
            ]
        )
    return text.getvalue().encode()


# --- gradebooks of platforms


def fill_canvas(content: bytes, grades: Sequence[Grade], titles: Sequence[str], roster: Roster | None) -> Filled:
    """Canvas's exported gradebook with the points in the assignment's column.

    The column is the one whose name, with or without the number behind it, is one of `titles`, or whose number is.
    """
    sheet = _Sheet(content)
    ids = sheet.column("ID", "Canvas's exported gradebook has it")
    wanted = {title.casefold() for title in titles}
    named = [
        place
        for place, name in enumerate(sheet.header)
        if {name.casefold(), _ID_BEHIND.sub("", name).casefold(), *_ID_BEHIND.findall(name)} & wanted
    ]
    if len(named) != 1:
        assignments = [name for name in sheet.header if _ID_BEHIND.search(name)]
        found = "more than one column" if named else "no column"
        raise ExportError(f"{found} is called {' or '.join(titles)}; name one of: {', '.join(assignments)}")
    column = named[0]

    def student(row: int) -> str | None:
        user = sheet.value(row, ids).strip()
        return roster.student("canvas", [user]) if roster else f"canvas-{user}"

    rows = []
    for row in sheet.rows:
        if sheet.value(row, 0).strip() == "Points Possible":
            _check_possible(sheet.value(row, column), grades, "Canvas")
        elif sheet.value(row, ids).strip():  # the rows without an id are Canvas's own
            rows.append(row)

    def put(row: int, grade: Grade) -> str:
        old = sheet.value(row, column).strip()
        if old.upper() in ("EX", "N/A"):
            return f"{grade.student} has {old} in Canvas; the cell is left"
        sheet.put(row, column, points_text(grade.points))
        return ""

    return _fill(sheet, rows, student, lambda row: f"Canvas's user {sheet.value(row, ids)}", put, grades)


def fill_moodle(content: bytes, grades: Sequence[Grade], roster: Roster | None) -> Filled:
    """Moodle's grading worksheet with points and feedback. Feedback that somebody wrote in Moodle is left."""
    sheet = _Sheet(content)
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
        _check_possible(sheet.value(row, maximum), grades, "Moodle")
        if locked is not None and sheet.value(row, locked).strip().lower() == "no":
            return f"{grade.student}'s grade is locked in Moodle; the row is left"
        sheet.put(row, points, points_text(grade.points))
        feedback = defused("<br>".join(html.escape(line) for line in _feedback(grade)))
        if comments is None or not feedback:
            return ""
        old = sheet.value(row, comments)
        if old.strip() and old != feedback:
            return f"{grade.student} has feedback in Moodle; it is left, only the points are new"
        sheet.put(row, comments, feedback)
        return ""

    return _fill(sheet, sheet.rows, student, lambda row: f"Moodle's {sheet.value(row, identifiers)}", put, grades)


def _fill(
    sheet: _Sheet,
    rows: Sequence[int],
    student: Callable[[int], str | None],
    shown: Callable[[int], str],
    put: Callable[[int, Grade], str],
    grades: Sequence[Grade],
) -> Filled:
    filled = Filled(b"")
    missing = {grade.student: grade for grade in grades}
    seen: set[str] = set()
    for row in rows:
        name = student(row)
        if name is None:
            filled.untouched.append(f"{shown(row)} is not in the roster")
        elif name in seen:
            filled.problems.append(f"{shown(row)} is {name}, who has a row already; the second one is left")
        elif name not in missing:
            filled.untouched.append(f"{name} has no grade")
        else:
            grade = missing.pop(name)
            problem = put(row, grade)
            filled.problems += [problem] if problem else []
            filled.count += 1
        seen |= {name} if name else set()
    filled.problems += [f"{name} has a grade, but no row" for name in missing]
    filled.content = sheet.content()
    return filled


def waiting_answers(grades: Sequence[Grade]) -> list[str]:
    """Whose written answers a person has still to grade, as a sentence; empty if there is none."""
    students = [grade.student for grade in grades if not grade.complete]
    return [f"written answers are not graded yet of: {', '.join(students)}"] if students else []


def _check_possible(said: str, grades: Sequence[Grade], platform: str) -> None:
    try:
        possible = float(said.replace(",", "."))
    except ValueError:
        return
    for grade in grades:
        if abs(possible - grade.possible) > 0.005:
            there, here = points_text(possible), points_text(grade.possible)
            raise ExportError(
                f"{there} points are possible in {platform}, but {here} here; change it there, and export again"
            )


def _feedback(grade: Grade) -> list[str]:
    """What a person commented, and why points were taken off."""
    return [*(f"{question}: {text}" for question, text in grade.comments.items() if text.strip()), *grade.notes]


class _Sheet:
    """A CSV file whose cells can be changed one by one, every other byte staying as it is."""

    def __init__(self, content: bytes) -> None:
        try:
            self.mark = b"\xef\xbb\xbf" if content.startswith(b"\xef\xbb\xbf") else b""
            text = content[len(self.mark) :].decode("utf-8")
        except UnicodeDecodeError:
            raise ExportError(
                "this is not UTF-8 text; download the file again, and do not save it in a spreadsheet"
            ) from None
        if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(","):
            raise ExportError("the columns are separated by semicolons; download the file with commas")
        self.lines: list[list[str]] = [[]]
        self.ends: list[list[str]] = [[]]
        place = 0
        while place < len(text) or (self.ends[-1] and self.ends[-1][-1] == ","):
            match = _CELL.match(text, place)
            if match is None:
                raise ExportError(f"row {len(self.lines)}: this is not valid CSV: a quote stands in the middle of a cell")
            self.lines[-1].append(match["cell"])
            self.ends[-1].append(match["end"])
            place = match.end()
            if match["end"] != "," and place < len(text):
                self.lines.append([])
                self.ends.append([])
        self.header = [self.value(0, column).strip() for column in range(len(self.lines[0]))]
        self.rows = range(1, len(self.lines))

    def column(self, name: str, hint: str) -> int:
        """The place of a column. Raises `ExportError` if it is not there, or twice."""
        if self.header.count(name) == 1:
            return self.header.index(name)
        raise ExportError(f"there is no column {name!r} ({hint}); there are: {', '.join(self.header)}")

    def value(self, row: int, column: int) -> str:
        """What a cell says."""
        cells = self.lines[row]
        raw = cells[column] if column < len(cells) else ""
        return raw[1:-1].replace('""', '"') if raw.startswith('"') else raw

    def put(self, row: int, column: int, text: str) -> None:
        """Let a cell say something else."""
        if column >= len(self.lines[row]):
            raise ExportError(f"row {row + 1}: there are {len(self.lines[row])} cells, but {len(self.header)} columns")
        if text != self.value(row, column):
            needs_quotes = re.search(r'[",\r\n]', text)
            self.lines[row][column] = '"{}"'.format(text.replace('"', '""')) if needs_quotes else text

    def content(self) -> bytes:
        """The file."""
        cells = (
            cell + end
            for line, ends in zip(self.lines, self.ends, strict=True)
            for cell, end in zip(line, ends, strict=True)
        )
        return self.mark + "".join(cells).encode()


# --- Gradescope


def gradescope_results(grade: Grade, questions: Sequence[Question]) -> dict[str, Any]:
    """One student's results.json, with what the student may see and nothing else."""
    record = grade.stored.record
    tests = [result_of_test(record, verdict) for verdict in record.verdicts]
    for question in questions:
        if question.kind == "written":
            tests.append(
                {
                    "name": f"{question.id}: {question.title}",
                    "max_score": question.points,
                    "output": grade.comments.get(question.id, "" if question.id in grade.manual else "Not graded yet."),
                    "visibility": "visible",
                    "tags": [question.id],
                    **({"score": grade.manual[question.id]} if question.id in grade.manual else {}),
                }
            )
    return {
        "score": grade.points,
        "output": "\n".join([*grade.notes, *([record.output] if record.output else [])]),
        "output_format": TEXT,
        "test_output_format": TEXT,
        "test_name_format": TEXT,
        "stdout_visibility": "hidden",
        "tests": tests,
    }
