"""`course grade` as a TA uses it, on the example submissions."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder import run
from autograder.course import load_course
from autograder.journal import Journal
from autograder.submissions import Submission

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples" / "submissions" / "ps1"
COURSE = Path(sys.executable).parent / "course"


def course(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(COURSE), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def without_times(record: Any) -> Any:
    """A record without its times, the only thing that may differ between two gradings."""
    if isinstance(record, dict):
        times = {"execution_time", "seconds", "started"}
        return {key: without_times(value) for key, value in record.items() if key not in times}
    return [without_times(item) for item in record] if isinstance(record, list) else record


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """All examples, graded from nothing two times, with different numbers of workers."""
    documents = []
    for jobs in ("2", "1"):
        results = tmp_path_factory.mktemp("results")
        answer = course("grade", "ps1", EXAMPLES, "--json", "--jobs", jobs, "--results", results)
        assert answer.returncode == 0, answer.stderr
        documents.append(json.loads(answer.stdout))
    return documents[0], documents[1]


@pytest.mark.slow
def test_the_examples_score_what_their_readme_says(twice: tuple[dict[str, Any], dict[str, Any]]) -> None:
    rows = re.findall(r"^\| (s\d+) \|.*?\|.*?\|(.*)\|$", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.M)
    expected = {student: [cell.strip() for cell in cells.split("|")] for student, cells in rows}
    found = {}
    for record in twice[0]["results"]:
        extra = record["extra_data"]
        cells = []
        for question in extra["questions"]:
            if question["kind"] == "written":
                cells.append("–" if question["undone"] else "read")
            else:
                cells.append(f"{question['score']:g}")
        found[extra["provenance"]["student"]] = [*cells, f"{record['score']:g}"]
    assert len(found) >= 16
    assert found == expected


@pytest.mark.slow
def test_two_runs_give_the_same_records_but_for_times(twice: tuple[dict[str, Any], dict[str, Any]]) -> None:
    assert without_times(twice[0]) == without_times(twice[1])


@pytest.mark.slow
def test_what_a_grader_should_look_at_is_named(twice: tuple[dict[str, Any], dict[str, Any]]) -> None:
    look = {
        record["extra_data"]["provenance"]["student"]: " ".join(record["extra_data"]["look"])
        for record in twice[0]["results"]
    }
    assert look["s001"] == ""
    assert "SyntaxError" in look["s006"]
    assert "`leaves_hull` did not finish within 5 s" in look["s008"]
    assert "exit status 0" in look["s010"]
    assert "did you rename it? There is `my_softmax`" in look["s012"]


def test_one_student_is_graded_and_the_record_is_kept_and_reused(tmp_path: Path) -> None:
    arguments = ("grade", "ps1", EXAMPLES, "--only", "s007", "--results", tmp_path)
    first = course(*arguments)
    assert first.returncode == 0, first.stderr
    assert "s007" in first.stdout
    assert "13" in first.stdout
    record = tmp_path / "ps1" / "s007" / "001.json"
    before = record.read_bytes()
    assert course(*arguments).stdout == first.stdout
    assert record.read_bytes() == before
    assert [path.name for path in record.parent.iterdir()] == ["001.json"]


def test_a_second_attempt_gets_a_number_of_its_own(tmp_path: Path) -> None:
    for text in ("def mix(weights, values): return weights @ values\n", "mix = None\n"):
        (tmp_path / "s001.py").write_text(text)
        course("grade", "ps1", tmp_path / "s001.py", "--results", tmp_path / "results")
    assert sorted(path.name for path in (tmp_path / "results/ps1/s001").iterdir()) == ["001.json", "002.json"]


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
        (("grade", "ps1", EXAMPLES, "--backend", "chroot"), "there is no backend 'chroot'"),
    ],
)
def test_wrong_usage_says_what_is_wrong(arguments: tuple[str | Path, ...], message: str) -> None:
    answer = course(*arguments)
    assert answer.returncode == 2
    assert message in answer.stderr + answer.stdout


def test_an_empty_folder_is_an_error_that_says_what_was_expected(tmp_path: Path) -> None:
    answer = course("grade", "ps1", tmp_path)
    assert answer.returncode == 2
    assert "no submissions in" in answer.stderr
    assert "s001.py" in answer.stderr


def test_a_killed_worker_is_tried_again_and_costs_no_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem_set = load_course(ROOT).problem_set("ps1")
    submission = Submission("s001", "ps1.py", b"def mix(weights, values): return weights @ values\n")
    killed = []
    give = run._Worker.give

    def give_and_kill(worker: run._Worker, task: Submission, seconds: float) -> None:
        give(worker, task, seconds)
        if not killed:
            killed.append(worker.process.pid)
            worker.process.kill()

    monkeypatch.setattr(run._Worker, "give", give_and_kill)
    (stored,) = run.grade(ROOT, problem_set, [submission], Journal(tmp_path), jobs=1)
    assert len(killed) == 1
    assert stored.provenance["fault"] == ""
    assert stored.record["score"] > 0


def test_a_grader_that_fails_twice_reports_its_own_fault_and_no_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem_set = load_course(ROOT).problem_set("ps1")
    submission = Submission("s001", "ps1.py", b"mix = None\n")
    give = run._Worker.give

    def give_and_kill(worker: run._Worker, task: Submission, seconds: float) -> None:
        give(worker, task, seconds)
        worker.process.kill()

    monkeypatch.setattr(run._Worker, "give", give_and_kill)
    journal = Journal(tmp_path)
    (stored,) = run.grade(ROOT, problem_set, [submission], journal, jobs=1)
    assert "worker ended" in stored.provenance["fault"]
    assert stored.record["extra_data"]["look"][0].startswith("grader fault")
    assert journal.find("s001", {"submission": submission.sha256}) is None
