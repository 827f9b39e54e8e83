"""Handing in from a student's own folder: what is delivered, the receipt, and what staff make of the inbox."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring.template import problem_set_files, template_files, write
from autograder.course import load_course
from autograder.intake import find_submissions, read_roster
from autograder.journal import Journal
from autograder.kit.submit import main

ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
PS1 = COURSE.problem_set("ps1")
ME = pwd.getpwuid(os.getuid()).pw_name
DELIVERY = re.compile(r"ps1-\d{8}T\d{12}Z-[0-9a-f]{8}")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    write({**template_files(COURSE), **problem_set_files(COURSE, PS1)}, folder)
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder with an answer in the module."""
    shutil.copytree(template, tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    (tmp_path / "inbox").mkdir()
    with (tmp_path / "course/ps1/ps1.py").open("a") as module:
        module.write("\ncausation = 'A weight is a coefficient in one average.'\n")
    return tmp_path / "course" / "ps1"


def deliveries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "inbox").iterdir())


def receipts(folder: Path) -> list[dict[str, object]]:
    return [json.loads(path.read_text()) for path in sorted((folder / "receipts").glob("*.json"))]


def test_a_delivery_is_the_file_byte_for_byte_and_the_receipt_says_so(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ps1", "--to", str(tmp_path / "inbox")]) == 0
    (delivery,) = deliveries(tmp_path)
    assert DELIVERY.fullmatch(delivery.name)
    assert {path.name: path.read_bytes() for path in delivery.iterdir()} == {"ps1.py": (folder / "ps1.py").read_bytes()}
    (receipt,) = receipts(folder)
    assert receipt["bytes"] == (folder / "ps1.py").stat().st_size
    assert receipt["to"] == str(delivery)
    said = capsys.readouterr().out
    assert f"SHA-256 {receipt['sha256']}" in said
    assert re.search(r"^  softmax +0 of \d+ points   not done yet$", said, re.MULTILINE)
    assert "ps1.py was due on " in said or "Hand in ps1.py " in said

    assert main(["ps1", "--to", str(tmp_path / "inbox")]) == 2
    assert "These bytes were handed in before" in capsys.readouterr().out
    assert main(["ps1", "--to", str(tmp_path / "inbox"), "--again"]) == 0
    assert len(deliveries(tmp_path)) == len(receipts(folder)) == 2


def test_without_an_inbox_it_says_which_file_to_upload(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ps1"]) == 0
    assert f"Ready to upload on the course page: {folder / 'ps1.py'}" in capsys.readouterr().out
    assert [receipt["to"] for receipt in receipts(folder)] == [""]


def test_nothing_is_delivered_halfway(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ps1", "--to", str(tmp_path / "nowhere")]) == 2
    assert "Is the shared drive connected? Nothing was delivered." in capsys.readouterr().out
    (tmp_path / "file").write_text("")
    assert main(["ps1", "--to", str(tmp_path / "file")]) == 2
    assert not (folder / "receipts").exists()


def test_of_two_forms_that_were_begun_the_student_says_which_counts(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inbox = ["--to", str(tmp_path / "inbox")]
    notebook = folder / "ps1.ipynb"
    # Jupyter writes the same cells in another way.
    content = json.loads(notebook.read_text())
    notebook.write_text(json.dumps({**content, "metadata": {}}, indent=2))
    assert main(["ps1", *inbox, "--form", "notebook"]) == 2
    assert "ps1.ipynb has not been begun" in capsys.readouterr().out
    content["cells"][-1]["source"] = "My own remark."
    notebook.write_text(json.dumps(content))
    assert main(["ps1", *inbox]) == 2
    assert "You have begun both ps1.py and ps1.ipynb" in capsys.readouterr().out
    assert main(["ps1", *inbox, "--form", "notebook"]) == 0
    assert [path.name for path in deliveries(tmp_path)[0].iterdir()] == ["ps1.ipynb"]


def test_an_untouched_template_is_not_handed_in(template: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(template / "ps1"), "--to", str(template)]) == 2
    assert "neither ps1.py nor ps1.ipynb has been begun" in capsys.readouterr().out


def test_the_owner_is_who_handed_in_and_the_first_sight_is_when(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = tmp_path / "inbox"
    assert main(["ps1", "--to", str(inbox)]) == 0
    roster = tmp_path / "roster.csv"
    roster.write_text(f"student,inbox\ns001,{ME}\n")
    # Those who grade are somebody else.
    monkeypatch.setattr(os, "getuid", lambda: 54_321)
    journal = Journal(tmp_path / "journal")

    def intake() -> list[object]:
        submissions, listed = find_submissions(inbox, "ps1", read_roster(roster))
        assert listed == []
        return [(attempt.student, attempt.number, attempt.submitted) for attempt in map(journal.add, submissions)]

    (first,) = intake()
    assert first[0] == "s001"  # type: ignore[index]
    assert intake() == [first], "the second look changes no time"
    (folder / "ps1.py").write_text("x = 1\n")
    assert main(["ps1", "--to", str(inbox)]) == 0
    later = intake()
    assert later[0] == first
    assert later[1][2] >= first[2]  # type: ignore[index]
    moved = inbox.rename(tmp_path / "elsewhere")
    submissions, _ = find_submissions(moved, "ps1", read_roster(roster))
    assert [journal.add(submission).number for submission in submissions] == [1, 2]


def test_what_does_not_tell_its_owner_is_listed_with_the_reason(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = tmp_path / "inbox"
    assert main(["ps1", "--to", str(inbox)]) == 0
    (delivery,) = deliveries(tmp_path)

    def reason(place: Path = inbox) -> str:
        submissions, (entry,) = find_submissions(place, "ps1")
        assert submissions == []
        return entry.reason

    assert "belongs to you and not to a student" in reason()
    monkeypatch.setattr(os, "getuid", lambda: 54_321)
    os.link(delivery / "ps1.py", tmp_path / "second_link")
    assert "somebody else may have put it here" in reason()
    (tmp_path / "second_link").unlink()
    archive = shutil.make_archive(str(tmp_path / "copy"), "zip", inbox)
    assert "an archive does not say who delivered it" in reason(Path(archive))


@pytest.mark.slow
def test_staff_find_a_receipt_among_what_arrived(folder: Path, tmp_path: Path) -> None:
    course = [Path(sys.executable).with_name("course")]
    assert main(["ps1", "--to", str(tmp_path / "inbox")]) == 0
    (receipt,) = (folder / "receipts").iterdir()
    results = ["--results", str(tmp_path / "results")]

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*course, *map(str, arguments), *results], cwd=ROOT, capture_output=True, text=True, check=False
        )

    lost = run("receipt", receipt)
    assert lost.returncode == 1
    assert "these bytes have not arrived" in lost.stdout
    (tmp_path / "s001.py").write_bytes((deliveries(tmp_path)[0] / "ps1.py").read_bytes())
    graded = run("grade", "ps1", tmp_path / "s001.py")
    assert graded.returncode in (0, 1), graded.stderr
    found = run("receipt", receipt)
    assert found.returncode == 0, found.stderr
    assert re.search(r"s001, attempt 1: arrived at .*, graded with [\d.]+ points", found.stdout)
    for broken in (b"", b"[]", b'{"problem_set": "ps1"}', b'{"problem_set": "ps1", "sha256": 5}', b"\xff" * 100_000):
        receipt.write_bytes(broken)
        assert run("receipt", receipt).returncode == 2
