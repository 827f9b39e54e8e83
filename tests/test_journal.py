"""The journal: attempts, gradings and regrades, which grading counts, and that nothing written is ever lost or changed."""

from __future__ import annotations

import concurrent.futures
import datetime
import hashlib
import json
import multiprocessing
import os
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import journal as journal_module
from autograder.intake import Submission
from autograder.journal import Attempt, Journal, JournalError
from autograder.record import QuestionScore, Record, to_json
from tests.support import records

NOON = datetime.datetime(2026, 9, 20, 12, tzinfo=datetime.UTC)
LATER = NOON + datetime.timedelta(hours=3)


def submission(source: bytes, *, student: str = "s001", submitted: datetime.datetime | None = None) -> Submission:
    return Submission(student, "ps1.py", source, submitted, "folder/s001.py")


def record(*, fault: str = "", suite: str = "v1", score: float = 1.0) -> Record:
    question = QuestionScore(id="mix", title="Mix", kind="code", score=score, points=9.0, undone=False)
    return records.record([question], fault=fault, provenance=records.provenance(suite=suite))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "results" / "ps1")


@pytest.fixture
def attempt(journal: Journal) -> Attempt:
    return journal.add(submission(b"mix = 1\n"))


def names(journal: Journal, student: str = "s001") -> list[str]:
    return [stored.path.name for stored in journal.records(student)]


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


# --- attempts


def test_an_attempt_says_what_was_handed_in_and_when(journal: Journal) -> None:
    before = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    handed_in = submission(b"a", submitted=NOON)
    attempt = journal.add(handed_in)
    assert (attempt.student, attempt.number, attempt.filename, attempt.submitted) == ("s001", 1, "ps1.py", NOON)
    assert (attempt.origin, attempt.sha256) == ("folder/s001.py", handed_in.sha256)
    assert before <= attempt.received <= datetime.datetime.now(datetime.UTC)
    assert journal.attempts("s001") == [attempt]
    assert journal.source(attempt) == b"a"


def test_the_moment_is_when_it_was_submitted_or_else_received(journal: Journal) -> None:
    assert journal.add(submission(b"a", submitted=NOON)).moment == NOON
    unknown = journal.add(submission(b"b"))
    assert unknown.submitted is None
    assert unknown.moment == unknown.received


def test_other_bytes_are_a_new_attempt(journal: Journal) -> None:
    assert [journal.add(submission(source)).number for source in (b"a", b"b", b"c")] == [1, 2, 3]
    assert [journal.source(attempt) for attempt in journal.attempts("s001")] == [b"a", b"b", b"c"]


def test_the_same_bytes_again_are_the_attempt_they_were(journal: Journal) -> None:
    first = journal.add(submission(b"a"))
    assert journal.add(submission(b"a")) == first
    assert journal.attempts("s001") == [first]


def test_going_back_to_older_bytes_is_a_new_attempt(journal: Journal) -> None:
    assert [journal.add(submission(source)).number for source in (b"a", b"b", b"a", b"a")] == [1, 2, 3, 3]


def test_bytes_with_a_time_are_the_attempt_of_that_time(journal: Journal) -> None:
    steps = [(b"a", NOON, 1), (b"b", LATER, 2), (b"a", NOON, 1), (b"a", LATER, 3), (b"b", LATER, 2), (b"a", LATER, 3)]
    for source, moment, number in steps:
        assert journal.add(submission(source, submitted=moment)).number == number
    assert len(journal.attempts("s001")) == 3


def test_the_same_moment_in_another_time_zone_is_the_same_time(journal: Journal) -> None:
    first = journal.add(submission(b"a", submitted=NOON))
    elsewhere = NOON.astimezone(datetime.timezone(datetime.timedelta(hours=5, minutes=45)))
    assert journal.add(submission(b"a", submitted=elsewhere)) == first


@pytest.mark.parametrize("fold", [0, 1])
def test_the_hour_that_clocks_repeat_is_told_apart(journal: Journal, fold: int) -> None:
    moment = datetime.datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=fold)
    first = journal.add(submission(b"a", submitted=moment))
    assert first.submitted == datetime.datetime(2026, 10, 25, fold, 30, tzinfo=datetime.UTC)
    assert journal.add(submission(b"a", submitted=moment)) == first
    assert journal.attempts("s001") == [first]
    assert journal.add(submission(b"a", submitted=moment.replace(fold=1 - fold))).number == 2


def test_a_module_and_a_notebook_of_the_same_bytes_are_two_attempts(journal: Journal) -> None:
    forms = [Submission("s001", name, b"") for name in ("ps1.py", "ps1.ipynb")]
    assert [journal.add(form).number for form in forms] == [1, 2]
    assert [attempt.filename for attempt in journal.attempts("s001")] == ["ps1.py", "ps1.ipynb"]


def test_bytes_are_kept_once_under_their_hash(journal: Journal) -> None:
    for student in ("s001", "s002", "s003"):
        journal.add(submission(b"same", student=student))
    digest = hashlib.sha256(b"same").hexdigest()
    assert [path for path in (journal.root / "_objects").rglob("*") if path.is_file()] == [
        journal.root / "_objects" / digest[:2] / digest
    ]


def test_students_have_numbers_of_their_own_and_are_listed(journal: Journal) -> None:
    for student, source in (("s002", b"a"), ("s001", b"a"), ("s001", b"b")):
        journal.append(journal.add(submission(source, student=student)), record())
    journal.decide("apply", journal.add_run("v2", "1", "", {}).number)
    assert journal.students() == ["s001", "s002"]
    assert journal.attempts("s003") == []
    assert names(journal, "s003") == []


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from([b"a", b"b"]), st.sampled_from([NOON, LATER])), max_size=5))
def test_bringing_a_folder_in_again_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, handed_in: list[tuple[bytes, datetime.datetime]]
) -> None:
    """An intake that was killed is simply run again: every prefix of it, then all of it, gives what one run gives."""
    journal = Journal(tmp_path_factory.mktemp("journal"))
    everything = [submission(source, submitted=moment) for source, moment in handed_in]
    for end in range(len(everything)):
        for each in everything[:end]:
            journal.add(each)
    numbers = [journal.add(each).number for each in everything]
    before = tree(journal.root)
    assert [journal.add(each).number for each in everything] == numbers
    assert tree(journal.root) == before
    assert [journal.source(journal.attempts("s001")[number - 1]) for number in numbers] == [each[0] for each in handed_in]
    assert sorted(set(numbers)) == list(range(1, len(set(handed_in)) + 1))


# --- gradings


def test_gradings_of_an_attempt_are_numbered(journal: Journal) -> None:
    first, second = journal.add(submission(b"a")), journal.add(submission(b"b"))
    for attempt in (first, second, first, first, second):
        journal.append(attempt, record())
    assert names(journal) == ["001.json", "001.r2.json", "001.r3.json", "002.json", "002.r2.json"]
    assert [(stored.attempt, stored.run) for stored in journal.records("s001")] == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)]


def test_numbers_follow_the_largest_even_if_some_are_gone(journal: Journal) -> None:
    attempts = [journal.add(submission(source)) for source in (b"a", b"b", b"c")]
    for _ in range(3):
        journal.append(attempts[0], record())
    (journal.root / "s001" / "001.r2.json").unlink()
    (journal.root / "s001" / "002.attempt.json").unlink()
    assert journal.append(attempts[0], record()).run == 4
    assert journal.add(submission(b"d")).number == 4


def test_numbers_sort_as_numbers(journal: Journal) -> None:
    folder = journal.root / "s001"
    folder.mkdir(parents=True)
    for name in ("999.json", "1000.json", "998.r10.json", "998.r2.json", "998.json"):
        (folder / name).write_bytes(to_json(record()))
    assert names(journal) == ["998.json", "998.r2.json", "998.r10.json", "999.json", "1000.json"]


def test_what_is_stored_is_what_was_appended(journal: Journal, attempt: Attempt) -> None:
    figures = {"heatmap": {"x": 1.5, "y": None}, "curve": None}
    written = replace(record(), output="ü 漢 \ud800 \u202e", figures=figures)
    stored = journal.append(attempt, written)
    assert stored.record == written
    assert journal.records("s001") == [stored]
    assert json.loads(stored.path.read_bytes())["output"] == "ü 漢 � �"


def test_nothing_is_ever_overwritten(journal: Journal) -> None:
    def marks() -> dict[Path, tuple[bytes, int, int]]:
        files = [path for path in journal.root.rglob("*") if path.is_file()]
        return {path: (path.read_bytes(), path.stat().st_ino, path.stat().st_mtime_ns) for path in files}

    kept: dict[Path, tuple[bytes, int, int]] = {}
    for source in (b"a", b"b", b"a"):
        attempt = journal.add(submission(source))
        name = journal.append(attempt, record()).path.name
        run = journal.add_run("v2", "1", "", {"s001": {attempt.number: name}})
        journal.decide("apply", run.number)
        journal.decide("revert", run.number)
        assert kept.items() <= marks().items()
        kept = marks()


def test_a_number_taken_meanwhile_is_left_alone(journal: Journal, attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    # Another process writes 001.json between the look into the folder and the write.
    write = journal_module.write_new
    rivals = iter([to_json(record(suite="rival"))])

    def with_a_rival(path: Path, content: bytes) -> bool:
        for rival in rivals:
            write(path, rival)
        return write(path, content)

    monkeypatch.setattr(journal_module, "write_new", with_a_rival)
    stored = journal.append(attempt, record(suite="mine"))
    assert stored.path.name == "001.r2.json"
    assert [stored.record.provenance.suite for stored in journal.records("s001")] == ["rival", "mine"]


def test_find_gives_the_newest_sound_grading_by_these_tests_and_this_engine(journal: Journal, attempt: Attempt) -> None:
    other = journal.add(submission(b"other"))
    assert journal.find(attempt, suite="v1", engine="1") is None
    journal.append(attempt, record(score=1))
    wanted = journal.append(attempt, record(score=2))
    journal.append(attempt, record(fault="the sandbox did not start"))
    journal.append(attempt, record(suite="v2"))
    journal.append(other, record())
    assert journal.find(attempt, suite="v1", engine="1") == wanted
    assert journal.find(attempt, suite="v1", engine="2") is None
    assert journal.find(attempt, suite="v3", engine="1") is None


# --- what counts


def scores(journal: Journal, student: str = "s001") -> dict[int, float]:
    return {number: stored.record.score for number, stored in journal.in_force(student).items()}


def test_the_first_sound_grading_counts(journal: Journal, attempt: Attempt) -> None:
    assert scores(journal) == {}
    journal.append(attempt, record(fault="no sandbox", score=0))
    assert scores(journal) == {}
    journal.append(attempt, record(score=5))
    journal.append(attempt, record(score=9))
    assert scores(journal) == {1: 5}


def test_a_regrade_counts_from_its_application_to_its_reversal(journal: Journal, attempt: Attempt) -> None:
    journal.append(attempt, record(score=5))
    names = [journal.append(attempt, record(suite=suite, score=score)).path.name for suite, score in (("v2", 6), ("v3", 7))]
    second, third = (journal.add_run("", "1", "a typo", {"s001": {1: name}}).number for name in names)
    seen = [scores(journal)[1]]
    for action, run in (
        ("apply", second), ("apply", third), ("revert", second), ("apply", second), ("revert", second), ("revert", third),
    ):  # fmt: skip
        journal.decide(action, run)
        seen.append(scores(journal)[1])
    assert seen == [5, 6, 7, 7, 6, 7, 5]
    assert [(each.action, each.run) for each in journal.decisions()][:2] == [("apply", second), ("apply", third)]
    assert [run.why for run in journal.runs()] == ["a typo", "a typo"]
    assert journal.applied() == []


def test_a_regrade_changes_only_the_attempts_it_holds(journal: Journal, attempt: Attempt) -> None:
    other = journal.add(submission(b"other", student="s002"))
    second = journal.add(submission(b"second"))
    for each in (attempt, other, second):
        journal.append(each, record(score=5))
        journal.append(each, record(score=6))
    run = journal.add_run("v2", "1", "", {"s001": {attempt.number: "001.r2.json"}})
    journal.decide("apply", run.number)
    assert scores(journal) == {1: 6, 2: 5}
    assert scores(journal, "s002") == {1: 5}


def test_a_faulty_or_missing_grading_of_an_applied_regrade_changes_nothing(journal: Journal, attempt: Attempt) -> None:
    journal.append(attempt, record(score=5))
    faulty = journal.append(attempt, record(fault="no sandbox", score=0)).path.name
    for name in (faulty, "001.r9.json", "../../../etc/passwd"):
        journal.decide("apply", journal.add_run("v2", "1", "", {"s001": {1: name}}).number)
        assert scores(journal) == {1: 5}


def test_runs_are_read_as_they_were_written(journal: Journal, attempt: Attempt) -> None:
    journal.append(attempt, record())
    run = journal.add_run("v2", "1", "ü", {"s001": {1: "001.json"}, "s002": {10: "010.r2.json"}})
    assert journal.runs() == [run]
    journal.decide("apply", run.number)
    assert journal.applied() == [run]


# --- damage


def test_damaged_bytes_are_named_with_what_to_do(journal: Journal, attempt: Attempt) -> None:
    (path,) = (path for path in (journal.root / "_objects").rglob("*") if path.is_file())
    for damaged in (b"mix = 2\n", b""):
        path.write_bytes(damaged)
        with pytest.raises(JournalError, match="damaged or gone; restore it from a backup") as caught:
            journal.source(attempt)
        assert str(path) in str(caught.value)
        assert "attempt 1 of s001" in str(caught.value)
    path.unlink()
    with pytest.raises(JournalError, match="damaged or gone"):
        journal.source(attempt)


@pytest.mark.parametrize("content", [b"", b"\0" * 300, b'{"score": 1, "extra', b"\xff\xfe", b"null", b"[]", b"7", b"{}"])
@pytest.mark.parametrize("place", ["s001/001.attempt.json", "s001/001.json", "_runs/0001.json", "_decisions/0001.json"])
def test_a_damaged_file_is_named_with_what_to_do(journal: Journal, attempt: Attempt, place: str, content: bytes) -> None:
    journal.append(attempt, record())
    journal.decide("apply", journal.add_run("v2", "1", "", {"s001": {1: "001.json"}}).number)
    (journal.root / place).write_bytes(content)
    with pytest.raises(JournalError, match="restore it from a backup, or move it away") as caught:
        (journal.attempts("s001"), journal.in_force("s001"))
    assert str(journal.root / place) in str(caught.value)


def test_what_is_not_the_journals_is_ignored(journal: Journal, attempt: Attempt) -> None:
    journal.append(attempt, record())
    folder = journal.root / "s001"
    for name in (".writing-abc123", "notes.json", "1.json", "001.json.bak", "001.r2.json~", "01.attempt.json"):
        (folder / name).write_bytes(b"not ours")
    for kind in ("_runs", "_decisions"):
        (journal.root / kind).mkdir()
        (journal.root / kind / "notes.json").write_bytes(b"not ours")
    assert names(journal) == ["001.json"]
    assert scores(journal) == {1: 1}
    assert len(journal.attempts("s001")) == 1
    assert journal.add(submission(b"b")).number == 2


def test_a_file_in_the_place_of_a_students_folder_is_an_error_and_no_endless_loop(journal: Journal) -> None:
    journal.root.mkdir(parents=True)
    (journal.root / "s001").write_bytes(b"")
    with pytest.raises(FileExistsError):
        journal.add(submission(b"a"))


# --- crashes; tests/test_crash.py goes further


@pytest.mark.parametrize("step", ["fsync", "link"])
def test_a_failure_while_writing_leaves_no_record_and_no_rest(
    journal: Journal, attempt: Attempt, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    journal.append(attempt, record())
    before = tree(journal.root)
    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        for write in (
            lambda: journal.append(attempt, record()),
            lambda: journal.add(submission(b"b")),
            lambda: journal.decide("apply", 1),
        ):
            with pytest.raises(OSError, match="no space left"):
                write()
    assert tree(journal.root) == before
    assert journal.append(attempt, record()).path.name == "001.r2.json"


def test_a_lock_clears_away_what_a_killed_writer_left(journal: Journal, attempt: Attempt) -> None:
    journal.append(attempt, record())
    before = tree(journal.root)
    for place in ("s001", "_objects", "."):
        (journal.root / place / ".writing-abc123").write_bytes(b'{"score": 1, "extra')
    with journal.locked():
        pass
    assert tree(journal.root) == before | {"_lock": b""}


def test_a_record_is_as_readable_as_any_file_of_its_writer(journal: Journal, attempt: Attempt) -> None:
    mask = os.umask(0o027)
    try:
        path = journal.append(attempt, record()).path
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o640


# --- several at once


def add_and_append(root: Path, worker: int) -> list[str]:
    own = Journal(root)
    shared = [own.append(own.add(submission(b"shared", submitted=NOON)), record(score=worker)) for _ in range(6)]
    alone = [own.append(own.add(submission(b"%d-%d" % (worker, number), submitted=NOON)), record(score=worker))
             for number in range(6)]  # fmt: skip
    runs = [own.add_run("v2", "1", str(worker), {}).number for _ in range(3)]
    for run in runs:
        own.decide("apply", run)
    return [stored.path.name for stored in shared + alone]


def test_writers_in_several_processes_lose_nothing(journal: Journal) -> None:
    context = multiprocessing.get_context("forkserver")
    with concurrent.futures.ProcessPoolExecutor(4, mp_context=context) as pool:
        written = [name for chunk in pool.map(add_and_append, [journal.root] * 4, range(4)) for name in chunk]
    stored = journal.records("s001")
    assert len(written) == len(set(written)) == len(stored) == 48
    assert sorted(each.path.name for each in stored) == sorted(written)
    attempts = journal.attempts("s001")
    sources = [journal.source(attempt) for attempt in attempts]
    assert [attempt.number for attempt in attempts] == list(range(1, len(attempts) + 1))
    assert set(sources) == {b"shared", *(b"%d-%d" % (worker, number) for worker in range(4) for number in range(6))}
    # Two that bring the same bytes in at the same moment, without the lock, take turns at one number: never the same twice.
    assert sources.count(b"shared") == 1
    scored = [grading.record.score for grading in stored]
    assert [scored.count(worker) for worker in range(4)] == [12] * 4
    for number in range(1, len(attempts) + 1):
        runs = [each.run for each in stored if each.attempt == number]
        assert runs == list(range(1, len(runs) + 1))
    assert sorted(run.why for run in journal.runs()) == [str(worker) for worker in range(4) for _ in range(3)]
    assert len(journal.applied()) == 12
    assert not list(journal.root.rglob(".writing-*"))


def locked_count(root: Path, marks: Path) -> bool:
    """Whether anyone else was inside at the same time."""
    alone = True
    for _ in range(5):
        with Journal(root).locked():
            (marks / "inside").touch(exist_ok=False)
            alone = alone and len(os.listdir(marks)) == 1
            (marks / "inside").unlink()
    return alone


def test_the_lock_lets_one_in_at_a_time(journal: Journal, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    context = multiprocessing.get_context("forkserver")
    with concurrent.futures.ProcessPoolExecutor(4, mp_context=context) as pool:
        assert all(pool.map(locked_count, [journal.root] * 4, [marks] * 4))


def test_who_waits_for_the_lock_is_told(journal: Journal) -> None:
    said: list[str] = []

    class Enough(Exception):
        pass

    def give_up() -> None:
        said.append("waiting")
        raise Enough

    with journal.locked(give_up), pytest.raises(Enough), journal.locked(give_up):
        said.append("inside")
    with journal.locked(give_up):
        said.append("inside")
    assert said == ["waiting", "inside"]
