"""Faults of the machine: full disks and killed workers lose nothing, leave nothing, and say what to do."""

from __future__ import annotations

import os
import resource
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from autograder.record import from_json

COURSE = Path(sys.executable).parent / "course"
TINY = Path(__file__).parent / "tiny_course"
STUDENTS = [f"s{number:03d}" for number in range(1, 7)]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def grade(tmp_path: Path) -> Run:
    """Grades six small submissions; `largest` bounds, in bytes, every file that the command and its workers write."""
    submissions = tmp_path / "submissions"
    submissions.mkdir()
    for student in STUDENTS:
        (submissions / f"{student}.py").write_text(f"# {student}\ndef double(x): return x\n")

    def run(results: Path, *arguments: str, largest: int = 0) -> subprocess.CompletedProcess[str]:
        def limit() -> None:
            hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest or hard, hard))

        command = [str(COURSE), "grade", "tiny", str(submissions), "--results", str(results), "--jobs", "1", *arguments]
        return subprocess.run(command, cwd=TINY, capture_output=True, text=True, timeout=120, check=False, preexec_fn=limit)

    return run


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A file system of its own for results: call it with its size, and again to make it larger."""
    folder = tmp_path / "results"
    folder.mkdir()

    def sized(size: str) -> Path:
        options = f"size={size}" + (",remount" if folder.is_mount() else "")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True).returncode:
            pytest.skip("mounting a small file system needs root")
        return folder

    yield sized
    if folder.is_mount():
        subprocess.run(["umount", folder], check=True)


def kept(results: Path) -> dict[str, bytes]:
    """The records by student; each must be whole, and nothing unfinished may lie beside them."""
    assert not list(results.rglob(".writing-*"))
    records = {path.parent.name: path.read_bytes() for path in results.glob("tiny/s*/001.json")}
    assert all(from_json(record).score == 0 for record in records.values())
    return records


def stopped(answer: subprocess.CompletedProcess[str], *words: str) -> None:
    """The command ended with a message for people."""
    assert answer.returncode != 0
    assert "Traceback" not in answer.stderr
    for word in words:
        assert word in answer.stderr


def test_a_full_disk_loses_nothing(grade: Run, small_disk: Callable[[str], Path]) -> None:
    # Room for some of the submissions, then for all of them and some records, then for all.
    results = small_disk("12k")
    stopped(grade(results), "No space left on device", str(results), "run the command again")
    assert kept(results) == {}
    stopped(grade(small_disk("60k")), "No space left on device", str(results), "run the command again")
    before = kept(results)
    assert 0 < len(before) < len(STUDENTS)
    answer = grade(small_disk("10m"))
    assert answer.returncode == 0, answer.stderr
    after = kept(results)
    assert sorted(after) == STUDENTS
    assert {student: after[student] for student in before} == before
    assert not list(results.rglob("*.r2.json"))


def test_a_record_that_cannot_be_written_whole_is_not_there_at_all(grade: Run, tmp_path: Path) -> None:
    results = tmp_path / "results"
    stopped(grade(results, largest=2000), "File too large", str(results), "run the command again")
    assert kept(results) == {}
    assert len(list(results.glob("tiny/s*/001.attempt.json"))) == len(STUDENTS)


def test_a_sandbox_that_cannot_be_set_up_on_a_full_disk_says_so(
    grade: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    needs_sandlock()
    answer = grade(tmp_path / "results", "--backend", "sandlock", largest=2000)
    stopped(answer, "File too large", str(scratch))
    assert not list(scratch.iterdir())


def test_a_killed_worker_leaves_no_folder_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    needs_sandlock()
    text = "from autograder.sandbox.guest import open_zygote; zygote = open_zygote('sandlock'); print(); input()"
    with python(["-c", text]) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"\n"
        (zygote,) = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()
        handle = os.pidfd_open(int(zygote))
        assert list(tmp_path.iterdir())
        worker.kill()
    try:
        assert select.select([handle], [], [], 30)[0], "the sandbox outlived its worker"
    finally:
        os.close(handle)
    assert not list(tmp_path.iterdir())


def python(arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def needs_sandlock() -> None:
    """Skip where sandlock does not work."""
    text = "from autograder.backends.sandlock import Sandlock; Sandlock.launch()"
    with python(["-c", text]) as trial:
        trial.communicate()
    if trial.returncode:
        pytest.skip("sandlock does not work here")
