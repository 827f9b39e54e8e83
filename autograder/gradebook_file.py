"""A gradebook file that was downloaded from a platform, filled in: only cells of the assignment change.

It has its own reader because `csv` cannot write a file back: it forgets which cells were quoted and how lines ended, and
platforms compare the file with what they gave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from autograder.exporting import ExportError, Written
from autograder.grades import Grade
from autograder.text import points_text

_CELL = re.compile(r'(?P<cell>"(?:[^"]|"")*"|[^",\r\n][^,\r\n]*|)(?P<end>,|\r\n|\n|\r|\Z)')


class Sheet:
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


def fill_rows(
    sheet: Sheet,
    rows: Sequence[int],
    student: Callable[[int], str | None],
    shown: Callable[[int], str],
    put: Callable[[int, Grade], str],
    grades: Sequence[Grade],
) -> Written:
    """Put each grade into its row: `student` says whose a row is, `shown` what it is called; `put` returns what is wrong."""
    written = Written()
    missing = {grade.student: grade for grade in grades}
    seen: set[str] = set()
    for row in rows:
        name = student(row)
        if name is None:
            written.untouched.append(f"{shown(row)} is not in the roster")
        elif name in seen:
            written.problems.append(f"{shown(row)} is {name}, who already has a row; the second one is left unchanged")
        elif name not in missing:
            written.untouched.append(f"{name} has no grade to enter")
        else:
            grade = missing.pop(name)
            problem = put(row, grade)
            written.problems += [problem] if problem else []
            written.count += 1
        seen |= {name} if name else set()
    written.problems += [f"{name} has a grade, but no row" for name in missing]
    written.files[""] = sheet.content()
    return written


def check_possible(said: str, grades: Sequence[Grade], platform: str) -> None:
    """Raise `ExportError` if other points are possible on the platform than here; what is no number is passed over."""
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
