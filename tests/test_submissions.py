"""Which files in a folder are submissions, and that nothing else is dropped in silence."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from autograder import submissions
from autograder.submissions import Submission, Unreadable, find_submissions


def put(path: Path, content: bytes = b"x = 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def students(place: Path) -> list[str]:
    found, problems = find_submissions(place, "ps1")
    assert problems == []
    return [submission.student for submission in found]


def refused(place: Path) -> Unreadable:
    """The only thing in a folder, which is no submission."""
    found, problems = find_submissions(place, "ps1")
    assert found == []
    (only,) = problems
    return only


def test_files_and_folders_are_found_and_sorted_by_student(tmp_path: Path) -> None:
    put(tmp_path / "s10.py")
    put(tmp_path / "s02.ipynb", b"{}")
    put(tmp_path / "s03" / "ps1.py", b"y = 2\n")
    put(tmp_path / "s01" / "ps1.ipynb", b"[]")
    found, problems = find_submissions(tmp_path, "ps1")
    assert problems == []
    assert found == [
        Submission("s01", "ps1.ipynb", b"[]"),
        Submission("s02", "ps1.ipynb", b"{}"),
        Submission("s03", "ps1.py", b"y = 2\n"),
        Submission("s10", "ps1.py", b"x = 1\n"),
    ]


def test_a_single_file_is_a_folder_of_one(tmp_path: Path) -> None:
    file = put(tmp_path / "s001.py")
    put(tmp_path / "s002.py")
    assert find_submissions(file, "ps1") == ([Submission("s001", "ps1.py", b"x = 1\n")], [])


def test_an_empty_folder_has_none(tmp_path: Path) -> None:
    assert find_submissions(tmp_path, "ps1") == ([], [])


def test_an_empty_file_is_a_submission(tmp_path: Path) -> None:
    put(tmp_path / "s001.py", b"")
    assert students(tmp_path) == ["s001"]


def test_what_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        find_submissions(tmp_path / "nowhere", "ps1")


def test_other_files_in_a_students_folder_do_not_matter(tmp_path: Path) -> None:
    put(tmp_path / "s001" / "ps1.py")
    put(tmp_path / "s001" / "notes.txt")
    put(tmp_path / "s001" / "ps2.py")
    put(tmp_path / "s001" / "data" / "ps1.ipynb")
    assert students(tmp_path) == ["s001"]


def test_housekeeping_is_passed_over(tmp_path: Path) -> None:
    for name in (".DS_Store", ".git/config", "README.md", "__pycache__/s001.pyc"):
        put(tmp_path / name)
    put(tmp_path / "s001.py")
    assert students(tmp_path) == ["s001"]


@pytest.mark.parametrize("name", ["s001", "S-1_b", "0", "a" * 64, "2026-ab_CD"])
def test_plain_ids_are_students(tmp_path: Path, name: str) -> None:
    put(tmp_path / f"{name}.py")
    assert students(tmp_path) == [name]


@pytest.mark.parametrize(
    "name",
    [
        "s 001", "s\n001", "s001\n", "s\r001", "s\t1", "s\x1b[31m", "s\u202e001", "\u2066s001", "s\u200b001", "sé", "ｓ001",
        "s;rm", "s$x", "s'", 's"', "s..1", "-s", "_s", "a" * 65, "s*", "s|", "s:1",
    ],
    ids=ascii,
)  # fmt: skip
@pytest.mark.parametrize("form", [".py", ".ipynb", ""])
def test_a_name_that_is_no_plain_id_is_refused_and_shown_harmlessly(tmp_path: Path, name: str, form: str) -> None:
    if form:
        put(tmp_path / f"{name}{form}")
    else:
        put(tmp_path / name / "ps1.py")
    problem = refused(tmp_path)
    assert "no student id" in problem.reason
    assert problem.name.isprintable()
    assert "\n" not in problem.reason


def test_a_name_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    put(Path(os.fsdecode(os.fsencode(tmp_path) + b"/s\xff\xfe.py")))
    problem = refused(tmp_path)
    problem.name.encode("utf-8")  # can be printed
    assert "no student id" in problem.reason


@pytest.mark.parametrize("name", ["s001.txt", "s001.pyc", "s001.PY", "s001.py.bak", "s001.zip"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, name: str) -> None:
    put(tmp_path / name)
    assert refused(tmp_path).name == name


def test_a_file_without_ending_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "s001")
    assert refused(tmp_path) == Unreadable("s001", "neither a .py nor an .ipynb file nor a folder")


def test_a_folder_with_both_forms_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "s001" / "ps1.py")
    put(tmp_path / "s001" / "ps1.ipynb")
    assert re.fullmatch("both ps1.py and ps1.ipynb .*; one is needed", refused(tmp_path).reason)


@pytest.mark.parametrize("inside", ["notes.txt", "ps2.py", "answer.py", "ps1.py/ps1.py", "sub/ps1.py"])
def test_a_folder_without_the_file_is_refused(tmp_path: Path, inside: str) -> None:
    put(tmp_path / "s001" / inside)
    assert re.fullmatch("neither ps1.py n?or ps1.ipynb .*; one is needed", refused(tmp_path).reason.replace(" and ", " or "))


def test_a_second_submission_of_a_student_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "s001.ipynb", b"{}")
    put(tmp_path / "s001.py")
    put(tmp_path / "s001" / "ps1.py")
    found, problems = find_submissions(tmp_path, "ps1")
    assert len(found) == 1
    assert len(problems) == 2
    assert {problem.reason for problem in problems} == {"a second submission of s001; keep one of them"}


@pytest.mark.parametrize("target", ["elsewhere.py", "folder", "nowhere", "/etc/passwd"])
def test_a_link_is_not_followed(tmp_path: Path, target: str) -> None:
    place = tmp_path / "submissions"
    place.mkdir()
    put(tmp_path / "elsewhere.py", b"secret\n")
    put(tmp_path / "folder" / "ps1.py", b"secret\n")
    (place / "s001.py").symlink_to(target if target.startswith("/") else tmp_path / target)
    assert refused(place) == Unreadable("s001.py", "a link; links are not followed")


def test_a_link_inside_a_students_folder_is_not_followed(tmp_path: Path) -> None:
    place = tmp_path / "submissions"
    secret = put(tmp_path / "secret.py", b"secret\n")
    (place / "s001").mkdir(parents=True)
    (place / "s001" / "ps1.py").symlink_to(secret)
    assert refused(place) == Unreadable("s001", "a link; links are not followed")


def test_a_linked_folder_is_not_followed(tmp_path: Path) -> None:
    place = tmp_path / "submissions"
    place.mkdir()
    put(tmp_path / "other" / "ps1.py", b"secret\n")
    (place / "s001").symlink_to(tmp_path / "other")
    assert "not followed" in refused(place).reason


def test_a_pipe_is_refused_and_not_read(tmp_path: Path) -> None:
    # Reading it would wait for ever.
    os.mkfifo(tmp_path / "s001.py")
    assert refused(tmp_path).name == "s001.py"


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "MAX_BYTES", 2 * 2**20)
    with put(tmp_path / "s001.py").open("wb") as file:
        file.truncate(2 * 2**20 + 1)
    assert refused(tmp_path) == Unreadable("s001.py", "larger than 2 MB")
    with (tmp_path / "s001.py").open("wb") as file:
        file.truncate(2 * 2**20)
    assert students(tmp_path) == ["s001"]


def test_one_bad_entry_does_not_hide_the_good_ones(tmp_path: Path) -> None:
    put(tmp_path / "s001.py")
    put(tmp_path / "bad name.py")
    put(tmp_path / "s003.py")
    found, problems = find_submissions(tmp_path, "ps1")
    assert [submission.student for submission in found] == ["s001", "s003"]
    assert len(problems) == 1


def test_nothing_that_was_handed_in_is_run(tmp_path: Path) -> None:
    put(tmp_path / "s001.py", b"raise SystemExit\n")
    put(tmp_path / "s002.ipynb", b"no JSON at all \xff")
    assert students(tmp_path) == ["s001", "s002"]


def test_the_fingerprint_depends_on_form_and_content_and_not_on_the_student() -> None:
    base = Submission("s001", "ps1.py", b"x = 1\n")
    assert base.sha256 == Submission("s002", "ps1.py", b"x = 1\n").sha256
    assert base.sha256 != Submission("s001", "ps1.ipynb", b"x = 1\n").sha256
    assert base.sha256 != Submission("s001", "ps1.py", b"x = 2\n").sha256
    assert len(base.sha256) == 64
