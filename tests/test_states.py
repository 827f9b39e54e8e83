"""States that the world brings: ids that change, points that change, file systems and terminals of all kinds."""

from __future__ import annotations

import contextlib
import datetime
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.course import Course, load_course
from autograder.grades import changed_points, grades
from autograder.intake import Submission
from autograder.journal import Journal, JournalError
from tests.support import records
from tests.support.signals import hear_ctrl_c

TINY = Path(__file__).resolve().parent / "tiny_course"
COURSE = Path(sys.executable).parent / "course"
NOON = datetime.datetime(2026, 9, 20, 12, tzinfo=datetime.UTC)
SET = load_course(TINY).problem_set("tiny")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The tiny course, to be changed."""
    shutil.copytree(TINY, tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "course"


@pytest.fixture
def journal(root: Path) -> Journal:
    return Journal(root / "results/tiny")


def hand_in(journal: Journal, student: str, points: float, *, suite: str = "v1", answered: bool = True) -> None:
    """An attempt of a student and its grading, in which the first question earned `points`."""
    attempt = journal.add(Submission(student, "tiny.py", f"{student} {points}".encode(), NOON))
    first, *others = SET.assignment.questions
    questions = [records.score(first, points), *(records.score(other, undone=not answered) for other in others)]
    journal.append(attempt, records.record(questions, provenance=records.provenance(student=student, suite=suite)))


def run(root: Path, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(COURSE), *map(str, arguments)]
    return subprocess.run(
        command, cwd=root, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=False
    )


# --- ids


def test_a_student_whose_id_changes_keeps_attempts_gradings_and_regrades(root: Path, journal: Journal) -> None:
    for points in (1, 2):
        hand_in(journal, "x17", points)
    regraded = records.record(records.record().questions, provenance=records.provenance(student="x17", suite="v2"))
    journal.append(journal.attempts("x17")[1], replace(regraded, questions=journal.records("x17")[1].record.questions))
    journal.decide("apply", journal.add_run("v2", "1", "", {"x17": {2: "002.r2.json"}}).number)
    answer = run(root, "rename", "x17", "s001")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("x17 is s001 in tiny\n")
    assert journal.students() == ["s001"]
    assert [stored.record.provenance.student for stored in journal.records("s001")] == ["s001"] * 3
    assert {number: stored.run for number, stored in journal.in_force("s001").items()} == {1: 1, 2: 2}
    (found,) = grades(load_course(root), SET, journal)
    assert (found.student, found.points) == ("s001", 2)
    # Somebody else may have the old id from now on.
    hand_in(journal, "x17", 3)
    run_of_another = journal.add_run("v2", "1", "", {"x17": {1: "001.json"}})
    assert list(journal.runs()[run_of_another.number - 1].records) == ["x17"]


def test_two_students_never_become_one(root: Path, journal: Journal) -> None:
    hand_in(journal, "x17", 1)
    hand_in(journal, "s001", 2)
    answer = run(root, "rename", "x17", "s001")
    assert answer.returncode == 2
    assert "s001 has attempts in tiny already" in answer.stderr
    with pytest.raises(JournalError, match="has attempts of its own"):
        journal.rename("x17", "s001")
    assert journal.students() == ["s001", "x17"]
    assert "no attempt of y18" in run(root, "rename", "y18", "s002").stderr
    assert "is not a student id" in run(root, "rename", "x17", "../x").stderr


# --- points


def with_points(course: Course, points: float) -> Course:
    path = course.root / "assignments/tiny/assignment.yml"
    path.write_text(path.read_text().replace("points: 3", f"points: {points:g}", 1))
    return load_course(course.root)


def test_points_that_changed_after_grading_are_said(root: Path, journal: Journal) -> None:
    for student in ("s001", "s002"):
        hand_in(journal, student, 3)
    course = load_course(root)
    assert changed_points(course.problem_set("tiny"), grades(course, course.problem_set("tiny"), journal)) == []
    course = with_points(course, 9)
    first = SET.assignment.questions[0].id
    said = f"{first} is worth 9 points, not 3 as when 2 of 2 were graded; `course regrade tiny` grades them by today's"
    assert changed_points(course.problem_set("tiny"), grades(course, course.problem_set("tiny"), journal)) == [said]
    assert said in run(root, "export", "tiny", "csv").stderr
    # It reads this student's grading only.
    assert said.replace("2 of 2", "1 of 1") in run(root, "show", "s001").stderr


@pytest.mark.parametrize("form", ["csv", "gradescope"])
def test_an_export_says_whose_written_answers_wait(root: Path, journal: Journal, form: str) -> None:
    hand_in(journal, "s001", 3)
    hand_in(journal, "s002", 3, answered=False)
    answer = run(root, "export", "tiny", form)
    assert answer.returncode == 1
    assert "written answers not read yet: s001\n" in answer.stdout


# --- file systems, terminals, keys


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP])
def test_a_journal_lives_without_hard_links(journal: Journal, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    for points in (1, 2):
        hand_in(journal, "s001", points)
    journal.append(journal.attempts("s001")[0], journal.records("s001")[0].record)
    names = [path.name for path in sorted((journal.root / "s001").iterdir())]
    assert names == ["001.attempt.json", "001.json", "001.r2.json", "002.attempt.json", "002.json"]


def test_what_a_terminal_cannot_encode_is_shown_as_a_code(root: Path, journal: Journal) -> None:
    hand_in(journal, "s001", 3)
    path = journal.root / "s001/001.attempt.json"
    path.write_text(path.read_text().replace('"origin": ""', '"origin": "Zo\\u00eb \\u2192"'))
    answer = run(root, "show", "s001", PYTHONIOENCODING="ascii")
    assert answer.returncode == 0, answer.stderr
    assert "Zo\\xeb \\u2192" in answer.stdout


def test_the_doctor_needs_no_home(root: Path) -> None:
    """An account without a home and without an entry in the list of users, as containers have it."""
    command = ["unshare", "--user", "--map-user=54321", "--map-group=54321", "env", "-i", "PATH=/usr/bin:/bin"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a user namespace is needed to have an account without a home")
    answer = subprocess.run([*command, COURSE, "doctor"], cwd=root, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in answer.stderr
    assert "sandlock" in answer.stdout


@pytest.mark.slow
def test_ctrl_c_says_what_is_kept_and_how_to_go_on(root: Path) -> None:
    place = root / "submissions"
    place.mkdir()
    for number in range(400):
        (place / f"s{number:03d}.py").write_text("def double(values):\n    return 2 * values\n")
    process = subprocess.Popen(
        [COURSE, "grade", "tiny", place, "--jobs", "1"], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
        preexec_fn=hear_ctrl_c,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not list(root.glob("results/tiny/s*/001.json")) and time.monotonic() < deadline:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it: to the workers too
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"stopped. What was graded until now is kept in {root / 'results/tiny'}; run the command again to go on." in said
    assert "Traceback" not in said
    assert list(root.glob("results/tiny/s*/001.json"))


# --- broken test files


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        ("assignments/tiny/test_hidden.py", "def broken(:", "SyntaxError: invalid syntax"),
        ("assignments/tiny/test_public.py", "import nothing_such", "ModuleNotFoundError: No module named 'nothing_such'"),
        ("solutions/tiny.py", "1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_broken_file_of_the_course_is_one_line_with_file_and_line(root: Path, file: str, line: str, said: str) -> None:
    path = root / file
    text = path.read_text()
    path.write_text(f"{text}{line}\n")
    where = f"{path}:{len(text.splitlines()) + 1}: {said}"
    (root / "s001.py").write_text("x = 1\n")
    answer = run(root, "grade", "tiny", "s001.py")
    assert (answer.returncode, answer.stderr.strip()) == (2, f"course: {where}")


@pytest.mark.slow
def test_the_gate_collects_the_tests_first(root: Path) -> None:
    path = root / "assignments/tiny/test_hidden.py"
    path.write_text("def broken(:\n" + path.read_text())
    answer = run(root, "validate", "tiny")
    assert answer.returncode == 1
    fails = [line for line in answer.stdout.splitlines() if "\tfails\t" in line]
    assert fails[-1] == f"tests can be collected\tfails\t{path}:1: SyntaxError: invalid syntax"
    assert "the student's own run" not in answer.stdout
