"""The same class of submissions in the form of every platform that the intake reads, and the files that exports fill in.

Each maker takes a folder to write into and submissions, and returns the place to hand to the intake. Where a platform keeps
one attempt only, the last one in the list is written. `make_roster` writes the roster that fits.
"""

from __future__ import annotations

import csv
import datetime
import io
import os
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from autograder.intake import Roster, read_roster

# Samples of letters that are nobody's name: with combining marks, composed and decomposed, joined, and from right to left.
SCRIPTS = (
    "alpha", "Zoe\u0308", "Å\u0301bc", "हिन", "ชื่อ", "ক্ষি", "தமிழ்", "کتاب", "שלום", "漢字かな", "한글", "\u1112\u1161\u11ab",
    "Ελλάς", "Кирилл", "ქართული", "አማርኛ", "ភាសា", "မြန်မာ", "བོད", "Tiếng", "ǅ", "İi", "straße", "ᏣᎳᎩ",
)  # fmt: skip


class HandedIn(Protocol):
    """What a maker needs of a submission; `autograder.intake.Submission` has it."""

    @property
    def student(self) -> str: ...
    @property
    def filename(self) -> str: ...
    @property
    def source(self) -> bytes: ...
    @property
    def submitted(self) -> datetime.datetime | None: ...


def canvas_id(student: str) -> str:
    """The number of a student's user in Canvas."""
    return str(70_000 + _number(student))


def moodle_id(student: str) -> str:
    """The participant number of a student in a Moodle assignment."""
    return str(1_500_000 + _number(student))


def email(student: str) -> str:
    """The address that Gradescope and Moodle know a student by."""
    return f"{student}@example.edu"


def github_name(student: str) -> str:
    """The name of a student's account where repositories are kept."""
    return f"git-{student}"


def _number(student: str) -> int:
    return int("".join(character for character in student if character.isdigit()) or 0)


def make_roster(folder: Path, students: Iterable[str]) -> Path:
    """`roster.csv` for the users that the makers invent."""
    rows = [("student", "canvas", "moodle", "gradescope", "github")]
    rows += [(each, canvas_id(each), moodle_id(each), email(each), github_name(each)) for each in sorted(set(students))]
    return write(folder / "roster.csv", csv_bytes(rows))


def read_makers_roster(folder: Path, students: Iterable[str]) -> Roster:
    """The same, read."""
    return read_roster(make_roster(folder, students))


def members(archive: Path) -> dict[str, bytes]:
    """What is in a zip archive, by name."""
    with zipfile.ZipFile(archive) as file:
        return {name: file.read(name) for name in file.namelist()}


# --- submissions


def make_flat_folder(folder: Path, submissions: Sequence[HandedIn]) -> Path:
    """One file a student: `s001.py`."""
    for each in _last(submissions):
        write(folder / "flat" / f"{each.student}{Path(each.filename).suffix}", each.source)
    return folder / "flat"


def make_student_folders(folder: Path, submissions: Sequence[HandedIn]) -> Path:
    """One folder a student: `s001/ps1.py`."""
    for each in _last(submissions):
        write(folder / "folders" / each.student / each.filename, each.source)
    return folder / "folders"


def make_canvas_zip(folder: Path, submissions: Sequence[HandedIn], late: Iterable[str] = ()) -> Path:
    """Canvas's "Download Submissions"; a second attempt's file has Canvas's `-1` in its name."""
    members = {}
    marked = set(late)
    for number, each in enumerate(_last(submissions), start=1):
        earlier = sum(other.student == each.student for other in submissions) - 1
        stem, suffix = os.path.splitext(each.filename)
        original = f"{stem}-{earlier}{suffix}" if earlier else each.filename
        flag = "LATE_" if each.student in marked else ""
        members[f"student{each.student}_{flag}{canvas_id(each.student)}_{9_000_000 + number}_{original}"] = each.source
    return zipped(folder / "canvas.zip", members)


def make_moodle_zip(folder: Path, submissions: Sequence[HandedIn]) -> Path:
    """Moodle's "Download all submissions", in folders."""
    members = {f"{_moodle_prefix(each)}/{each.filename}": each.source for each in _last(submissions)}
    return zipped(folder / "moodle.zip", members)


def make_moodle_flat_zip(folder: Path, submissions: Sequence[HandedIn]) -> Path:
    """Moodle's "Download all submissions", without folders."""
    members = {f"{_moodle_prefix(each)}{each.filename}": each.source for each in _last(submissions)}
    return zipped(folder / "moodle-flat.zip", members)


def make_gradescope_zip(folder: Path, submissions: Sequence[HandedIn]) -> Path:
    """Gradescope's "Export submissions", with all attempts of each student."""
    return zipped(
        folder / "gradescope.zip", {f"assignment_4_export/{name}": text for name, text in _gradescope(submissions)}
    )


def make_gradescope_folder(folder: Path, submissions: Sequence[HandedIn]) -> Path:
    """The same, unpacked."""
    for name, content in _gradescope(submissions):
        write(folder / "gradescope" / name, content)
    return folder / "gradescope"


def make_nbgrader_tree(folder: Path, submissions: Sequence[HandedIn]) -> Path:
    """nbgrader's `submitted/`, with the times in `timestamp.txt`."""
    for each in _last(submissions):
        place = folder / "submitted" / each.student / Path(each.filename).stem
        write(place / each.filename, each.source)
        if each.submitted:
            write(place / "timestamp.txt", f"{each.submitted.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S.%f} UTC".encode())
    return folder / "submitted"


def make_clones(folder: Path, submissions: Sequence[HandedIn]) -> Path:
    """A folder of git repositories, one a student, with one commit an attempt."""
    for student in {each.student: None for each in submissions}:
        place = folder / "clones" / f"ps1-{github_name(student)}"
        place.mkdir(parents=True)
        make_repository(place, [each for each in submissions if each.student == student])
    return folder / "clones"


def make_repository(place: Path, attempts: Sequence[HandedIn]) -> None:
    """A git repository in `place` with a commit an attempt, its last file checked out."""
    git = ["git", "-C", str(place), "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "--quiet", "--template="], check=True)
    commits = []
    for each in attempts:
        seconds = int(each.submitted.timestamp()) if each.submitted else 0
        path = f"{Path(each.filename).stem}/{each.filename}"
        write(place / path, each.source)
        commits.append(
            b"commit refs/heads/main\ncommitter - <-> %d +0000\ndata 0\nM 100644 inline %s\ndata %d\n%s\n"
            % (seconds, path.encode(), len(each.source), each.source)
        )
    subprocess.run([*git, "fast-import", "--quiet"], input=b"".join(commits), check=True)


Maker = Callable[[Path, Sequence[HandedIn]], Path]
MAKERS: dict[str, Maker] = {
    "flat folder": make_flat_folder,
    "folder a student": make_student_folders,
    "Canvas": make_canvas_zip,
    "Moodle": make_moodle_zip,
    "Moodle, flat": make_moodle_flat_zip,
    "Gradescope": make_gradescope_zip,
    "Gradescope, unpacked": make_gradescope_folder,
    "nbgrader": make_nbgrader_tree,
    "git clones": make_clones,
}


# --- gradebooks


def make_canvas_gradebook(folder: Path, students: Sequence[str], possible: str = "45.00") -> Path:
    """Canvas's "Export Entire Gradebook", with two assignments."""
    rows = [
        ("Student", "ID", "SIS Login ID", "Section", "Problem set 0 (101)", "Problem set 1 (102)", "Current Score"),
        ("", "", "", "", "", "Manual Posting", ""),
        ("    Points Possible", "", "", "", "10.00", possible, "(read only)"),
        *((f"{each}, Student", canvas_id(each), email(each), "Section 1", "7.50", "", "75.00") for each in students),
        ("Student, Test", "1", "0123abc", "Section 1", "", "", ""),
    ]
    return write(folder / "canvas.csv", csv_bytes(rows))


def make_moodle_worksheet(folder: Path, students: Sequence[str], possible: str = "45.00") -> Path:
    """Moodle's "Download grading worksheet"."""
    rows = [
        ("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
         "Last modified (submission)", "Last modified (grade)", "Feedback comments"),
        *((f"Participant {moodle_id(each)}", f"Student {each}", email(each), "Submitted for grading", "", possible, "Yes",
           "Sunday, 20 September 2026, 12:00 PM", "-", "") for each in students),
    ]  # fmt: skip
    return write(folder / "moodle.csv", b"\xef\xbb\xbf" + csv_bytes(rows))


# --- shared


def _last(submissions: Sequence[HandedIn]) -> list[HandedIn]:
    return list({each.student: each for each in submissions}.values())


def _moodle_prefix(each: HandedIn) -> str:
    return f"Student {each.student}_{moodle_id(each.student)}_assignsubmission_file_"


def _gradescope(submissions: Sequence[HandedIn]) -> Iterable[tuple[str, bytes]]:
    ids = {id(each): 300_000 + number for number, each in enumerate(submissions)}
    lines = ["---"]
    for last in _last(submissions):
        lines += [
            f"submission_{ids[id(last)]}:",
            "  :submitters:",
            f"  - :name: Student {last.student}",
            "    :sid: ''",
            f"    :email: {email(last.student)}",
            *_created(last, "  "),
            "  :score: 0.0",
            "  :status: processed",
            "  :results:",
            "    tests: []",
        ]
        earlier = [each for each in submissions if each.student == last.student and each is not last]
        lines.append("  :history:" if earlier else "  :history: []")
        for each in earlier:
            lines += [f"  - :id: {ids[id(each)]}", *_created(each, "    "), "    :score: 0.0", "    :submitters: []"]
    yield "submission_metadata.yml", "\n".join([*lines, ""]).encode()
    for each in submissions:
        yield f"submission_{ids[id(each)]}/{each.filename}", each.source


def _created(each: HandedIn, indent: str) -> list[str]:
    if each.submitted is None:
        return []
    return [f"{indent}:created_at: {each.submitted.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S.%f}000 Z"]


def csv_bytes(rows: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
