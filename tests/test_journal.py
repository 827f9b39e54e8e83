"""The journal: numbers of attempts and gradings, and that nothing written is ever lost or changed."""

from __future__ import annotations

import concurrent.futures
import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from autograder import journal as journal_module
from autograder.journal import Journal


def record(submission: str, *, fault: str = "", suite: str = "v1", score: float = 1.0) -> dict[str, Any]:
    provenance = {"submission": submission, "fault": fault, "suite": suite}
    return {"score": score, "extra_data": {"provenance": provenance}}


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "results" / "ps1")


def names(journal: Journal, student: str = "s001") -> list[str]:
    return [stored.path.name for stored in journal.records(student)]


def test_a_new_submission_is_a_new_attempt(journal: Journal) -> None:
    places = [journal.append("s001", record(submission)) for submission in ("a", "b", "c")]
    assert [(stored.attempt, stored.run) for stored in places] == [(1, 1), (2, 1), (3, 1)]
    assert names(journal) == ["001.json", "002.json", "003.json"]


def test_the_same_submission_is_another_grading_of_its_attempt(journal: Journal) -> None:
    for submission in ("a", "b", "a", "a", "b"):
        journal.append("s001", record(submission))
    assert names(journal) == ["001.json", "001.r2.json", "001.r3.json", "002.json", "002.r2.json"]


def test_numbers_follow_the_largest_even_if_some_are_gone(journal: Journal) -> None:
    for submission in ("a", "b", "c"):
        journal.append("s001", record(submission))
    (journal.root / "s001" / "002.json").unlink()
    assert journal.append("s001", record("d")).attempt == 4


def test_numbers_sort_as_numbers(journal: Journal) -> None:
    folder = journal.root / "s001"
    folder.mkdir(parents=True)
    for name in ("999.json", "1000.json", "998.r10.json", "998.r2.json", "998.json"):
        (folder / name).write_text(json.dumps(record(name)), encoding="utf-8")
    assert names(journal) == ["998.json", "998.r2.json", "998.r10.json", "999.json", "1000.json"]
    assert journal.append("s001", record("new")).path.name == "1001.json"


def test_students_have_numbers_of_their_own(journal: Journal) -> None:
    journal.append("s001", record("a"))
    journal.append("s001", record("b"))
    assert journal.append("s002", record("a")).path == journal.root / "s002" / "001.json"
    assert names(journal, "s003") == []


def test_what_is_stored_is_what_was_appended(journal: Journal) -> None:
    written = record("a") | {"output": "ü 漢 \ud800 \u202e", "nested": [{"x": 1.5, "y": None}]}
    stored = journal.append("s001", written)
    assert stored.record == written
    (read,) = journal.records("s001")
    assert read.record == written
    assert read == stored
    assert json.loads(stored.path.read_bytes()) == written


def test_nothing_is_ever_overwritten(journal: Journal) -> None:
    first = journal.append("s001", record("a", score=1)).path
    before = (first.read_bytes(), first.stat().st_ino, first.stat().st_mtime_ns)
    for _ in range(3):
        journal.append("s001", record("a", score=2))
    assert (first.read_bytes(), first.stat().st_ino, first.stat().st_mtime_ns) == before


def test_a_number_taken_meanwhile_is_left_alone(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    # Another process writes 001.json between the look into the folder and the write.
    write = journal_module._write_new
    rivals = iter([record("rival")])

    def with_a_rival(path: Path, content: dict[str, Any]) -> None:
        for rival in rivals:
            write(path, rival)
        write(path, content)

    monkeypatch.setattr(journal_module, "_write_new", with_a_rival)
    stored = journal.append("s001", record("mine"))
    assert stored.path.name == "002.json"
    assert [one.provenance["submission"] for one in journal.records("s001")] == ["rival", "mine"]


# --- finding


KEY = {"submission": "a", "suite": "v1"}


def test_find_gives_the_record_that_has_all_of_the_key(journal: Journal) -> None:
    journal.append("s001", record("b"))
    wanted = journal.append("s001", record("a"))
    journal.append("s001", record("a", suite="v2"))
    assert journal.find("s001", KEY) == wanted


def test_find_gives_the_newest_of_several(journal: Journal) -> None:
    journal.append("s001", record("a", score=1))
    newest = journal.append("s001", record("a", score=2))
    assert journal.find("s001", KEY) == newest


def test_find_ignores_faults(journal: Journal) -> None:
    sound = journal.append("s001", record("a"))
    journal.append("s001", record("a", fault="the sandbox did not start"))
    assert journal.find("s001", KEY) == sound


def test_find_gives_nothing_if_there_are_only_faults(journal: Journal) -> None:
    journal.append("s001", record("a", fault="the sandbox did not start"))
    assert journal.find("s001", KEY) is None


@pytest.mark.parametrize("key", [{"submission": "b"}, {"suite": "v2"}, {"submission": "a", "unknown": 1}])
def test_find_gives_nothing_if_any_part_of_the_key_differs(journal: Journal, key: dict[str, Any]) -> None:
    journal.append("s001", record("a"))
    assert journal.find("s001", key) is None


def test_find_of_an_unknown_student_gives_nothing(journal: Journal) -> None:
    assert journal.find("s404", KEY) is None


# --- crashes


def test_what_a_crash_left_behind_is_ignored(journal: Journal) -> None:
    journal.append("s001", record("a"))
    folder = journal.root / "s001"
    (folder / ".writing-abc123").write_bytes(b'{"score": 1, "extra')
    (folder / ".writing-def456.json").write_bytes(b"{")
    (folder / "notes.json").write_bytes(b"not ours")
    (folder / "1.json").write_bytes(b"not ours")
    (folder / "001.json.bak").write_bytes(b"not ours")
    assert names(journal) == ["001.json"]
    assert journal.append("s001", record("b")).path.name == "002.json"


@pytest.mark.parametrize("step", ["fsync", "link"])
def test_a_failure_while_writing_leaves_no_record_and_no_rest(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    journal.append("s001", record("a"))
    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        with pytest.raises(OSError, match="no space left"):
            journal.append("s001", record("b"))
    assert os.listdir(journal.root / "s001") == ["001.json"]


def test_no_temporary_files_stay_behind(journal: Journal) -> None:
    for submission in "aab":
        journal.append("s001", record(submission))
    assert sorted(os.listdir(journal.root / "s001")) == ["001.json", "001.r2.json", "002.json"]


# --- several at once


def append_many(root: Path, worker: int) -> list[str]:
    own = Journal(root)
    shared = [own.append("s001", record("shared", score=worker)) for _ in range(6)]
    alone = [own.append("s001", record(f"{worker}-{number}", score=worker)) for number in range(6)]
    return [stored.path.name for stored in shared + alone]


def test_appends_from_several_processes_lose_nothing(journal: Journal) -> None:
    context = multiprocessing.get_context("forkserver")
    with concurrent.futures.ProcessPoolExecutor(4, mp_context=context) as pool:
        written = [name for chunk in pool.map(append_many, [journal.root] * 4, range(4)) for name in chunk]
    stored = journal.records("s001")
    assert len(written) == len(set(written)) == len(stored) == 48
    assert sorted(one.path.name for one in stored) == sorted(written)
    submissions = [one.provenance["submission"] for one in stored]
    assert submissions.count("shared") == 24
    assert len(set(submissions)) == 25
    scores = [one.record["score"] for one in stored]
    assert [scores.count(worker) for worker in range(4)] == [12] * 4
    # An attempt is one submission, its gradings numbered without a gap.
    for attempt in {one.attempt for one in stored}:
        of_it = [one for one in stored if one.attempt == attempt]
        assert len({one.provenance["submission"] for one in of_it}) == 1
        assert [one.run for one in of_it] == list(range(1, len(of_it) + 1))
