"""What hidden tests draw from: made once, kept to its owner, in nothing that leaves the machine."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from autograder import doctor
from autograder import run as engine
from autograder.authoring.leaks import leaks
from autograder.course import load_course
from autograder.intake import Submission
from autograder.messages import Task
from autograder.platforms.suite import question_suite
from autograder.platforms.targets.gradescope import release_files
from autograder.record import Record, to_json
from autograder.secret import FILE, VARIABLE, Key, SecretError, course_key, exposure
from autograder.testing.bench import keyed, seeded

ROOT = Path(__file__).resolve().parents[1]
TINY = ROOT / "tests/tiny_course"
# Says which numbers the hidden test of `double` drew, by the answer that it gets wrong.
SOLUTION = (TINY / "solutions/tiny.py").read_bytes()


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)


@pytest.mark.usefixtures("unset")
def test_a_secret_is_made_when_it_is_first_needed_for_its_owner_alone(tmp_path: Path) -> None:
    key = course_key(tmp_path)
    path = tmp_path / FILE
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(path.read_text().strip()) == 64
    assert course_key(tmp_path) == key
    assert [found.name for found in tmp_path.iterdir()] == [FILE]


@pytest.mark.usefixtures("unset")
def test_workers_that_start_together_get_one_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(course_key, [tmp_path] * 64))
    assert len(keys) == 1
    assert [found.name for found in tmp_path.iterdir()] == [FILE]


def test_a_variable_takes_the_place_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "0f" * 16)
    assert course_key(tmp_path) == Key(bytes.fromhex("0f" * 16))
    assert not (tmp_path / FILE).exists()


@pytest.mark.usefixtures("unset")
@pytest.mark.parametrize("text", ["", "0f" * 15, "password" * 8, "0f" * 16 + "\n" + "0f" * 16])
def test_a_secret_that_could_be_guessed_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(SecretError, match="at least 32 hexadecimal digits"):
        course_key(tmp_path)


@pytest.mark.usefixtures("unset")
def test_a_secret_that_cannot_be_kept_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SecretError, match=f"set the variable {VARIABLE}"):
        course_key(tmp_path / "no-such-folder")


@pytest.mark.usefixtures("unset")
def test_a_secret_that_others_may_read_is_told_with_what_to_do(tmp_path: Path) -> None:
    assert exposure(tmp_path) == ""
    course_key(tmp_path)
    assert exposure(tmp_path) == ""
    for mode in (0o640, 0o604, 0o620):
        (tmp_path / FILE).chmod(mode)
        assert f"(mode {mode:04o})" in exposure(tmp_path)
        assert "chmod 600" in exposure(tmp_path)


@pytest.mark.usefixtures("unset")
def test_the_doctor_says_whether_the_secret_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.secret(tmp_path).good is None
    course_key(tmp_path)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    told = doctor.secret(tmp_path)
    assert (told.good, told.word) == (False, "exposed")
    assert "git does not ignore it" in told.lines[-1]
    shutil.copy(ROOT / ".gitignore", tmp_path)
    told = doctor.secret(tmp_path)
    assert (told.good, told.word) == (True, "kept")
    assert told.lines == (f"256 bits in {tmp_path / FILE}, mode 0600",)
    (tmp_path / FILE).chmod(0o644)
    assert "chmod 600" in doctor.secret(tmp_path).lines[-1]
    (tmp_path / FILE).write_text("guess")
    assert doctor.secret(tmp_path).word == "unusable"
    monkeypatch.setenv(VARIABLE, "0f" * 16)
    assert doctor.secret(tmp_path).lines == (f"128 bits, from the variable {VARIABLE}",)


def test_keys_tell_nothing_of_each_other_and_do_not_show_themselves() -> None:
    key = Key(bytes(32))
    made = [key, key.derived("otter"), key.derived("nbgrader"), key.derived("otter").derived("ps1")]
    assert len({key.value for key in made}) == len({key.fingerprint for key in made}) == 4
    assert all(len(key.value) == 32 for key in made)
    assert key.value.hex() not in repr(key) + str(key)
    draws = [keyed(key.value, test).random(4).tolist() for key in made for test in ("test_a", "test_b")]
    assert len({json.dumps(draw) for draw in draws}) == 8


ECHO = b"""
import numpy as np

def double(values):
    print(np.asarray(values).tolist())
    return np.asarray(values) * 2.0
"""


def graded(root: Path) -> Record:
    problem_set = load_course(root).problem_set("tiny")
    [(_, record)] = engine.graded(root, problem_set, {"": Task(Submission("s001", "tiny.py", ECHO))}, jobs=1)
    return record


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return shutil.copytree(TINY, tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__", "conftest.py"))


def test_hidden_tests_draw_from_the_secret_and_public_tests_do_not(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = []
    for secret in ("01" * 32, "02" * 32, "01" * 32):
        monkeypatch.setenv(VARIABLE, secret)
        records.append(graded(tiny))
    first, other, again = (record.staff_output for record in records)
    assert first == again != other
    assert records[0].output == records[1].output != ""
    suites = [record.provenance.suite for record in records]
    assert suites[0] == suites[2] != suites[1]
    for record, secret in zip(records, ("01" * 32, "02" * 32, "01" * 32), strict=True):
        problem_set_key = Key(bytes.fromhex(secret)).derived("tiny")
        text = to_json(record).decode()
        for hidden in (secret, problem_set_key.value.hex(), str(int.from_bytes(problem_set_key.value, "little"))):
            assert hidden not in text
        assert record.provenance.hidden_key == problem_set_key.fingerprint


def test_the_published_seed_says_nothing_of_hidden_inputs(tiny: Path) -> None:
    record = graded(tiny)
    seed = load_course(tiny).problem_set("tiny").assignment.seed
    drawn = seeded(seed, "test_double_hidden").normal(size=4)
    assert str(drawn[1])[:8] not in to_json(record).decode()
    assert not hasattr(record.provenance, "seed")


@pytest.mark.parametrize("platform", ["nbgrader", "otter"])
def test_a_platform_gets_a_key_of_its_own_and_students_get_none(platform: str) -> None:
    problem_set = load_course(ROOT).problem_set("ps1")
    staff = question_suite(problem_set, "mix", platform=platform)
    key = problem_set.key
    assert staff["key"] == key.derived(platform).value.hex()
    assert key.value.hex() not in json.dumps(staff)
    student = question_suite(problem_set, "mix")
    assert staff["key"] not in json.dumps(student)
    assert leaks(problem_set, {"ps1/suite.py": json.dumps(staff).encode()})[0].endswith("holds the key of the hidden tests")


def test_gradescope_gets_a_key_in_place_of_the_secret() -> None:
    course = load_course(ROOT)
    problem_set = course.problem_set("ps1")
    with zipfile.ZipFile(io.BytesIO(release_files(course, problem_set)["autograder.zip"])) as made:
        given = made.read(FILE).decode().strip()
        everything = b"".join(made.read(name) for name in made.namelist())
    assert given == problem_set.key.derived("gradescope").value.hex()
    assert os.environ[VARIABLE].encode() not in everything
    assert problem_set.key.value.hex().encode() not in everything


@pytest.mark.slow
@pytest.mark.usefixtures("unset")
def test_a_fresh_clone_grades_and_its_secret_is_no_part_of_the_repository(tiny: Path) -> None:
    submissions = tiny / "submissions"
    submissions.mkdir()
    (submissions / "s001.py").write_bytes(SOLUTION)
    shutil.copy(ROOT / ".gitignore", tiny)
    for command in (["git", "init", "-q"], ["git", "add", "-A"]):
        subprocess.run(command, cwd=tiny, check=True)
    course = str(Path(sys.executable).parent / "course")
    done = subprocess.run([course, "grade", "tiny", "submissions"], cwd=tiny, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    secret = (tiny / FILE).read_text().strip()
    assert secret not in done.stdout + done.stderr
    for path in (tiny / "results").rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tiny, capture_output=True, text=True, check=True).stdout
    assert FILE not in status


def test_draws_of_a_hidden_test_look_random() -> None:
    """No test's stream repeats another's: keys that differ in one bit give numbers that have nothing in common."""
    keys = [bytes(31) + bytes([bit]) for bit in (0, 1, 2, 4)]
    draws = np.array([keyed(key, "test").normal(size=1000) for key in keys])
    # Correlations of independent draws have a standard deviation of 0.032; 0.2 is six of them.
    assert (np.abs(np.corrcoef(draws) - np.eye(4)) < 0.2).all()
