"""From a platform's download to its gradebook filled in, by the commands, for a class with names from many scripts.

Students are s001, s002, …; their names on the platform are samples of letters that are nobody's.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from tests.support import platform_forms as forms

TINY = Path(__file__).resolve().parent / "tiny_course"
COURSE = Path(sys.executable).parent / "course"
RIGHT = b"def double(values):\n    return 2 * values\n"
WRONG = b"def double(values):\n    return 3 * values\n"
# What people write into rosters, and what a platform keeps of it.
NAMES = [*forms.SCRIPTS, "O'Neil", "d\u2019Test", "Anne-Test", 'Test "T" Test', "A  B", "T\u200cT"]
STUDENTS = [f"s{number:03d}" for number in range(1, len(NAMES) + 1)]
DUPLICATE = ("s901", "s902")  # two students whom Moodle writes alike


def source(student: str) -> bytes:
    """Every third student has it wrong, so that no two neighbours can be exchanged unseen."""
    return (WRONG if int(student[1:]) % 3 == 0 else RIGHT) + f"# {student}\n".encode()


def points(student: str) -> str:
    return "0" if int(student[1:]) % 3 == 0 else "3"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    root = tmp_path / "course"
    shutil.copytree(TINY, root, ignore=shutil.ignore_patterns("__pycache__"))
    settings = root / "course.yml"
    # Which points are whose is asked here; a busy machine must not take any away.
    generous = re.sub(r"(call|load|submission|processor)_seconds: [\d.]+", r"\1_seconds: 600", settings.read_text())
    settings.write_text(generous)
    return root


def run(root: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(COURSE), *map(str, arguments)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300, check=False)


def cells(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def moodles(name: str) -> str:
    """A name as Moodle makes a file name of it, unpacked by a program that decomposes letters."""
    return unicodedata.normalize("NFD", "".join(character for character in name if character not in "'\"`&<>|:\\/"))


def canvases(name: str) -> str:
    """A name as Canvas makes a file name of it: word characters only, in lower case."""
    return "".join(letter for letter in name if letter.isalnum() or unicodedata.category(letter)[0] == "M").lower()


@pytest.mark.slow
def test_moodle_there_and_back(course: Path) -> None:
    people = dict(zip(STUDENTS, NAMES, strict=True)) | dict(zip(DUPLICATE, ("T'est Test", "Test Test"), strict=True))
    forms.write(course / "roster.csv", forms.csv_bytes([("student", "moodle"), *people.items()]))
    ids = {student: str(1_500_000 + place) for place, student in enumerate(people)}
    download = {
        f"{moodles(name)}_{ids[student]}_assignsubmission_file_/tiny.py": source(student) for student, name in people.items()
    }
    place = forms.zipped(course / "download.zip", download)
    answer = run(course, "grade", "tiny", place)
    assert answer.returncode == 1, answer.stderr
    listed = [line for line in answer.stdout.splitlines() if line.startswith("not graded: ")]
    assert len(listed) == 2
    assert all("may be of s901 or s902" in line and "roster.csv, column `moodle`" in line for line in listed)
    header = ("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Feedback comments")
    rows = [(f"Participant {ids[student]}", name, "", "", "", "11.00", "") for student, name in people.items()]
    worksheet = forms.write(course / "worksheet.csv", b"\xef\xbb\xbf" + forms.csv_bytes([header, *rows]))
    answer = run(course, "export", "tiny", "moodle", "--into", worksheet, "--to", "filled.csv")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "s901 has no grade to enter" in answer.stdout
    filled = {row["Full name"]: row["Grade"] for row in cells(course / "filled.csv")}
    assert filled == {name: "" if student in DUPLICATE else points(student) for student, name in people.items()}


@pytest.mark.slow
def test_canvas_there_and_back(course: Path) -> None:
    forms.make_roster(course, STUDENTS)
    download = {
        f"{canvases(name)}_{forms.canvas_id(student)}_{9_000_000 + place}_tiny.py": source(student)
        for place, (student, name) in enumerate(zip(STUDENTS, NAMES, strict=True))
    }
    answer = run(course, "grade", "tiny", forms.zipped(course / "submissions.zip", download))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    header = ("Student", "ID", "SIS Login ID", "Section", "Tiny (101)")
    rows = [(f"{name}, Test", forms.canvas_id(student), "", "", "") for student, name in zip(STUDENTS, NAMES, strict=True)]
    gradebook = forms.csv_bytes([header, ("    Points Possible", "", "", "", "11.00"), *rows])
    forms.write(course / "gradebook.csv", gradebook)
    answer = run(course, "export", "tiny", "canvas", "--into", "gradebook.csv", "--column", "101", "--to", "filled.csv")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    filled = {row["ID"]: row["Tiny (101)"] for row in cells(course / "filled.csv")[1:]}
    assert filled == {forms.canvas_id(student): points(student) for student in STUDENTS}
    # Only the cells of the assignment are new.
    old, new = gradebook.decode().splitlines(), (course / "filled.csv").read_text(encoding="utf-8").splitlines()
    assert [line.rpartition(",")[0] for line in old] == [line.rpartition(",")[0] for line in new]
