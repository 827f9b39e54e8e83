"""The roster: a CSV file that says which student of this course is which user of a platform."""

from __future__ import annotations

import csv
import functools
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course import Course, CourseError
from autograder.intake.names import exact, normal
from autograder.schema import ID_RULE, STUDENT_ID

PLATFORMS = ("canvas", "moodle", "gradescope", "github", "inbox")
MAX_BYTES = 10 * 2**20
_ADDRESS = re.compile(r"[^\s@<>,;:\"()\[\]\\]+@[^\s@<>,;:\"()\[\]\\]+")


@dataclass(frozen=True)
class Person:
    """How staff know and reach a student: name, section and e-mail address, empty where the roster has none."""

    name: str = ""
    section: str = ""
    email: str = ""


@dataclass(frozen=True)
class Roster:
    """Who is in the course, and who is who: `users[platform][exact id there]` is a student, `formerly[old id]` too."""

    students: tuple[str, ...]
    users: dict[str, dict[str, str]] = field(default_factory=dict)
    formerly: dict[str, str] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)

    def person(self, student: str) -> Person:
        """The student's name and section."""
        return self.people.get(student, Person())

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections, sorted."""
        return tuple(sorted({person.section for person in self.people.values() if person.section}))

    def check_settings(self, course: Course) -> None:
        """Raise `CourseError` if course.yml gives more time, or notes lateness, for somebody who is not in the roster."""
        for what, entries in (("extensions", course.settings.extensions), ("late", course.settings.late)):
            for entry in entries:
                today = self.own(entry.student)
                if today != entry.student:
                    instead = f"; that is now {today}" if today else ""
                    raise CourseError(f"course.yml: {what}: {entry.student} is not in the roster{instead}")

    def search(self, text: str) -> list[str]:
        """The students of that id, today's or a former one; or else those whose name holds the text."""
        if student := self.own(text):
            return [student]
        wanted = normal(text)
        return [student for student in self.students if wanted and wanted in normal(self.person(student).name)]

    def find(self, platform: str, keys: Iterable[str], *, cleaned: bool = False) -> list[str]:
        """The students who may have one of these ids on a platform; without a column for it, ids there are the course's own.

        A name that stands in the roster letter by letter is that student's alone, unless the platform has `cleaned` it: then
        it is also that of every student whose name the platform would write alike.
        """
        known = self.users.get(platform)
        students: dict[str, None] = {}
        for key in keys:
            if known is None:
                student = self.own(key)
                students |= {student: None} if student else {}
            elif (student := known.get(exact(key))) and not cleaned:
                students[student] = None
            else:
                students |= dict.fromkeys(self._alike[platform].get(normal(key), ()))
        return list(students)

    def student(self, platform: str, keys: Iterable[str]) -> str | None:
        """The one student who has one of these ids on a platform."""
        students = self.find(platform, keys)
        return students[0] if len(students) == 1 else None

    def own(self, student: str) -> str | None:
        """The student whose id in this course this is, or was."""
        return student if student in self._ids else self.formerly.get(student)

    def knows(self, name: str) -> bool:
        """Whether a name is some student's id or, on any platform, user."""
        return self.own(name) is not None or any(normal(name) in alike for alike in self._alike.values())

    @functools.cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(self.students)

    @functools.cached_property
    def _alike(self) -> dict[str, dict[str, list[str]]]:
        """By platform and normal form of an id there, the students with such an id."""
        alike: dict[str, dict[str, list[str]]] = {platform: {} for platform in self.users}
        for platform, known in self.users.items():
            for key, student in known.items():
                alike[platform].setdefault(normal(key), []).append(student)
        return alike


def find_roster(root: Path, given: Path | None) -> Roster | None:
    """The roster that was given, or else `roster.csv` in the course's folder, if there is one."""
    path = given or root / "roster.csv"
    return read_roster(path) if given or path.exists() else None


def read_roster(path: Path) -> Roster:
    """Read and check a roster. Raises `CourseError`, which names the line."""
    table = read_table(path)
    if "student" not in table.header:
        raise CourseError(f"{path}: line 1: there is no column `student`; there are: {', '.join(table.header)}")
    header = table.header
    for name in ("student", *PLATFORMS, "formerly", "name", "section", "email"):
        if header.count(name) > 1:
            raise CourseError(f"{path}: line 1: the column `{name}` appears twice")
    students: dict[str, int] = {}
    people: dict[str, Person] = {}
    users: dict[str, dict[str, str]] = {name: {} for name in PLATFORMS if name in header}
    lines: dict[tuple[str, str], int] = {}
    former: dict[str, str] = {}
    for number, cells in table.rows:
        student = cells["student"]
        if not STUDENT_ID.fullmatch(student):
            raise CourseError(f"{path}: line {number}: {student!r} is not a student id; {ID_RULE}")
        if student in students:
            raise CourseError(f"{path}: line {number}: the student {student} is already in line {students[student]}")
        students[student] = number
        people[student] = Person(cells.get("name", ""), cells.get("section", ""), cells.get("email", ""))
        if (address := people[student].email) and not _ADDRESS.fullmatch(address):
            raise CourseError(f"{path}: line {number}: {address!r} is not an e-mail address")
        for platform, known in users.items():
            key = exact(cells[platform])
            if key in known:
                first = lines[platform, key]
                raise CourseError(f"{path}: line {number}: {platform} {cells[platform]!r} is already in line {first}")
            if key:
                known[key] = student
                lines[platform, key] = number
        for old in cells.get("formerly", "").split():
            if old in former:
                raise CourseError(f"{path}: line {number}: {old!r} is already the former id of {former[old]}")
            former[old] = student
    if not students:
        raise CourseError(f"{path}: there is no student in it")
    for old in former:
        if old in students:
            raise CourseError(f"{path}: {old!r} was the id of {former[old]}, but is a student in line {students[old]}")
    known_people = {student: person for student, person in people.items() if person != Person()}
    return Roster(tuple(students), users, former, known_people)


@dataclass(frozen=True)
class Table:
    """A CSV file: the names of its columns in lower case, and its rows that are not empty, each with its line's number."""

    header: list[str]
    rows: list[tuple[int, dict[str, str]]]


def read_table(path: Path) -> Table:
    """Read a CSV file whose first line names the columns. Raises `CourseError`, which names the line."""
    rows = _rows(path)
    header = [cell.strip().lower() for cell in rows[0]]
    for mark, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(header) == 1 and mark in header[0]:
            raise CourseError(f"{path}: the columns are separated by {name}; save the file with commas")
    lines = []
    for number, row in enumerate(rows[1:], start=2):
        if any(cell.strip() for cell in row):
            if len(row) != len(header):
                raise CourseError(f"{path}: line {number}: there are {len(row)} cells, but {len(header)} columns")
            lines.append((number, {name: cell.strip() for name, cell in zip(header, row, strict=True)}))
    return Table(header, lines)


def _rows(path: Path) -> list[list[str]]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CourseError(f"{path}: larger than {MAX_BYTES // 2**20} MB; is it the roster?")
        # Spreadsheets put a byte order mark in front; it is no part of the first column's name.
        text = path.read_bytes().decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except OSError as error:
        raise CourseError(f"{path}: the roster cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CourseError(f"{path}: this is not UTF-8 text; save it as CSV in UTF-8") from None
    except csv.Error as error:
        raise CourseError(f"{path}: this is not valid CSV: {error}") from None
    if not rows or not any(cell.strip() for cell in rows[0]):
        raise CourseError(f"{path}: the first line must name the columns, such as student,canvas")
    return rows
