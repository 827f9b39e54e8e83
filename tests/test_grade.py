"""`course grade` as a TA uses it, on the example submissions."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder import __version__, run
from autograder.course import load_course
from autograder.graders.local import LocalGrader
from autograder.graders.process import WorkerProcess
from autograder.intake import Submission
from autograder.journal import Journal, Stored
from autograder.messages import Task
from autograder.record import Reason
from autograder.suite_hash import suite_hash
from tests.support.example_tables import grade, said, scored, with_screens

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples" / "submissions" / "ps1"
TINY = ROOT / "tests" / "tiny_course"
COURSE = Path(sys.executable).parent / "course"


def course(*arguments: str | Path, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [str(COURSE), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def without_times(record: Any) -> Any:
    """A record without what is measured, the only thing that may differ between two gradings."""
    if isinstance(record, dict):
        times = {"seconds", "started", "peak_memory"}
        return {key: without_times(value) for key, value in record.items() if key not in times}
    return [without_times(item) for item in record] if isinstance(record, list) else record


# Cheap to grade, and of every kind: broken, wrong, ended by the submission itself, right, empty.
AGAIN = ("s006", "s007", "s010", "s018", "s019")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def examples(results: Path) -> list[dict[str, Any]]:
    """The records of all examples."""
    return grade("ps1", results, "--jobs", "2")


@pytest.mark.slow
@pytest.mark.usefixtures("examples")
def test_the_readme_shows_what_a_terminal_shows(results: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "<!-- screen: ps1 " in text
    assert with_screens(text, "ps1", results) == text, "run: python -m tests.support.example_tables ps1"


@pytest.mark.slow
def test_the_examples_score_what_their_readme_says(examples: list[dict[str, Any]]) -> None:
    points = scored(examples)
    assert len(points) >= 16
    assert points == said("ps1")


# Two of each; `python -m tests.support.example_tables` grades all. Those of problem set 6 do not train.
SAMPLES = {
    "ps2": ("s002", "s003"),
    "ps3": ("s004", "s005"),
    "ps4": ("s004", "s006"),
    "ps5": ("s004", "s006"),
    "ps6": ("s005", "s006"),
}


@pytest.mark.slow
@pytest.mark.parametrize("slug", sorted({path.name for path in EXAMPLES.parent.iterdir()} - {"ps1"}))
def test_examples_of_other_problem_sets_score_what_their_readme_says(slug: str, tmp_path: Path) -> None:
    only = SAMPLES[slug]
    # One worker, for each first computes what the reference answers.
    points = scored(grade(slug, tmp_path, "--jobs", "1", *(part for student in only for part in ("--only", student))))
    expected = said(slug)
    assert len(expected) >= 6
    assert points == {student: expected[student] for student in only}


@pytest.mark.slow
def test_two_runs_give_the_same_records_but_for_times(examples: list[dict[str, Any]], tmp_path: Path) -> None:
    """Whatever the number of workers, and whoever was graded before in the same worker."""
    first = [record for record in examples if record["provenance"]["student"] in AGAIN]
    again = grade("ps1", tmp_path, "--jobs", "1", *(part for student in AGAIN for part in ("--only", student)))
    assert len(first) == len(AGAIN)
    assert without_times(again) == without_times(first)


@pytest.mark.slow
def test_what_a_grader_should_look_at_is_named(examples: list[dict[str, Any]]) -> None:
    look = {
        record["provenance"]["student"]: " ".join(f"{look['reason']}: {look['detail']}" for look in record["look"])
        for record in examples
    }
    assert look["s001"] == ""
    assert "SyntaxError" in look["s006"]
    assert re.search(r"`leaves_hull` did not finish within (5 s|15 s, with less than 5 s of CPU time)", look["s008"])
    assert "exit status 0" in look["s010"]
    assert "did you rename it? There is `my_softmax`" in look["s012"]


def test_one_student_is_graded_and_the_record_is_kept_and_reused(tmp_path: Path) -> None:
    arguments = ("grade", "ps1", EXAMPLES, "--only", "s007", "--results", tmp_path)
    first = course(*arguments)
    assert first.returncode == 0, first.stderr
    assert "s007" in first.stdout
    assert "32" in first.stdout
    record = tmp_path / "ps1" / "s007" / "001.json"
    before = record.read_bytes()
    assert course(*arguments).stdout == first.stdout
    assert record.read_bytes() == before
    assert sorted(path.name for path in record.parent.iterdir()) == ["001.attempt.json", "001.json"]


def test_what_is_no_submission_is_listed_and_asks_for_attention(tmp_path: Path) -> None:
    (tmp_path / "s001.py").write_text("mix = None\n")
    (tmp_path / "notes.txt").write_text("not mine")
    answer = course("grade", "ps1", tmp_path, "--results", tmp_path / "results")
    assert answer.returncode == 1
    assert "notes.txt" in answer.stdout
    assert "not graded" in answer.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("grade", "ps99", "."), "there is no problem set 'ps99'"),
        (("grade", "ps1", "nowhere"), "nowhere does not exist"),
        (("grade", "ps1", EXAMPLES, "--only", "s999"), "no submission of s999"),
        (("grade", "ps1", EXAMPLES, "--at-most", "soon"), "--at-most soon: write a number of seconds, minutes or hours"),
        (("grade", "ps1", EXAMPLES, "--backend", "chroot"), "there is no backend 'chroot'"),
    ],
)
def test_wrong_usage_says_what_is_wrong(arguments: tuple[str | Path, ...], message: str) -> None:
    answer = course(*arguments)
    assert answer.returncode == 2
    assert message in answer.stderr + answer.stdout


def test_what_is_not_begun_in_the_time_given_is_left_for_the_next_run(tmp_path: Path) -> None:
    place = tmp_path / "handed_in"
    place.mkdir()
    for student in ("s006", "s007"):
        (place / f"{student}.py").write_text("double = None\n")
    arguments = ("grade", "tiny", place, "--json", "--results", tmp_path / "results")
    answer = course(*arguments, "--at-most", "0s", folder=TINY)
    assert answer.returncode == 1
    said = json.loads(answer.stdout)
    assert said["results"] == []
    assert [entry["student"] for entry in said["not_graded"]] == ["s006", "s007"]
    again = course(*arguments, "--at-most", "1h", folder=TINY)
    assert again.returncode == 0
    assert [result["student"] for result in json.loads(again.stdout)["results"]] == ["s006", "s007"]
    roster = tmp_path / "roster.csv"
    roster.write_text("student,section\ns006,A\ns007,B\n", encoding="utf-8")
    of_section = course(*arguments, "--section", "B", "--roster", roster, folder=TINY)
    assert [result["student"] for result in json.loads(of_section.stdout)["results"]] == ["s007"]


def test_an_empty_folder_is_an_error_that_says_what_was_expected(tmp_path: Path) -> None:
    answer = course("grade", "ps1", tmp_path)
    assert answer.returncode == 2
    assert "no submissions in" in answer.stderr
    assert "s001.py" in answer.stderr


@pytest.fixture
def kills(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Kills each worker as soon as it has been given something, as often as the number in this list says."""
    left = [1]
    give = WorkerProcess.give

    def give_and_kill(worker: WorkerProcess, task: Task, seconds: float) -> None:
        give(worker, task, seconds)
        if left[0] > 0:
            left[0] -= 1
            worker.process.kill()

    monkeypatch.setattr(WorkerProcess, "give", give_and_kill)
    return left


def graded_here(journal: Journal, source: bytes) -> Stored:
    """A submission to the tiny course, whose workers start sooner."""
    attempt = journal.add(Submission("s001", "tiny.py", source))
    (stored,) = run.grade(
        TINY, load_course(TINY).problem_set("tiny"), [attempt], journal, lambda attempt: None, grader=LocalGrader(1)
    )
    return stored


def test_a_killed_worker_is_tried_again_and_costs_no_points(tmp_path: Path, kills: list[int]) -> None:
    stored = graded_here(Journal(tmp_path), b"def double(values): return 2 * values\n")
    assert kills == [0]
    assert stored.record.is_sound
    assert stored.record.score > 0


def test_a_worker_that_ended_before_it_was_given_anything_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = []
    give = WorkerProcess.give

    def kill_and_give(worker: WorkerProcess, task: Task, seconds: float) -> None:
        if not ended:
            ended.append(worker.process.pid)
            worker.process.kill()
            worker.process.wait()
        give(worker, task, seconds)

    monkeypatch.setattr(WorkerProcess, "give", kill_and_give)
    stored = graded_here(Journal(tmp_path), b"def double(values): return 2 * values\n")
    assert len(ended) == 1
    assert stored.record.is_sound


def test_a_grader_that_fails_twice_reports_its_own_fault_and_no_zero(tmp_path: Path, kills: list[int]) -> None:
    kills[0] = 2
    journal = Journal(tmp_path / "tiny")
    stored = graded_here(journal, b"double = None\n")
    assert "worker ended" in stored.record.fault
    assert stored.record.look[0].reason is Reason.FAULT
    (attempt,) = journal.attempts("s001")
    assert journal.find(attempt, suite=suite_hash(load_course(TINY).problem_set("tiny")), engine=__version__) is None
    assert journal.in_force("s001") == {}
    # It has all that a record has, so it can be shown like any other.
    answer = course("show", "s001", "--results", tmp_path, folder=TINY)
    assert answer.returncode == 0, answer.stderr
    assert "fault" in answer.stdout


def test_sources_are_read_when_they_are_given_out(tmp_path: Path, kills: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """All submissions of a large course together may not fit into memory."""
    kills[0] = 0
    steps = []
    source, append = Journal.source, Journal.append
    monkeypatch.setattr(Journal, "source", lambda journal, one: steps.append(f"read {one.number}") or source(journal, one))
    monkeypatch.setattr(
        Journal, "append", lambda journal, one, record: steps.append(f"wrote {one.number}") or append(journal, one, record)
    )
    journal = Journal(tmp_path)
    attempts = [journal.add(Submission("s001", "tiny.py", b"x = %d\n" % number)) for number in range(4)]
    run.grade(TINY, load_course(TINY).problem_set("tiny"), attempts, journal, lambda attempt: None, grader=LocalGrader(1))
    # The next is read when the one before it is graded, and no earlier.
    assert [step for step in steps if step.startswith("read")] == [f"read {number}" for number in range(1, 5)]
    assert steps.index("wrote 1") < steps.index("read 3")
    assert steps.index("wrote 2") < steps.index("read 4")
