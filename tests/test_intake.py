"""Which files are submissions in every form that a platform gives, and that nothing is dropped in silence."""

from __future__ import annotations

import datetime
import io
import json
import os
import random
import re
import stat
import struct
import subprocess
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.course import CourseError
from autograder.intake import (
    LATE_REMEDY,
    Roster,
    Submission,
    Unreadable,
    entries,
    find_roster,
    find_submissions,
    read_roster,
)
from autograder.runtime import loading
from tests.support import platform_forms as forms

NOON = datetime.datetime(2026, 9, 20, 12, 0, 0, tzinfo=datetime.UTC)


def put(path: Path, content: bytes = b"x = 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def students(place: Path) -> list[str]:
    submissions, problems = find_submissions(place, "ps1")
    assert problems == []
    return [submission.student for submission in submissions]


def refused(place: Path) -> Unreadable:
    """The only thing in a folder, which is no submission."""
    submissions, problems = find_submissions(place, "ps1")
    assert submissions == []
    (only,) = problems
    return only


def test_files_and_folders_are_found_and_sorted_by_student(tmp_path: Path) -> None:
    put(tmp_path / "s10.py")
    put(tmp_path / "s02.ipynb", b"{}")
    put(tmp_path / "s03" / "ps1.py", b"y = 2\n")
    put(tmp_path / "s01" / "ps1.ipynb", b"[]")
    submissions, problems = find_submissions(tmp_path, "ps1")
    assert problems == []
    assert submissions == [
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


def test_an_empty_file_is_a_submission_and_is_listed(tmp_path: Path) -> None:
    put(tmp_path / "s001.py", b"")
    submissions, problems = find_submissions(tmp_path, "ps1")
    assert submissions == [Submission("s001", "ps1.py", b"")]
    assert problems == [Unreadable("s001.py", "empty")]
    assert problems[0].graded


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
    assert "not a student id" in problem.reason
    assert problem.name.isprintable()
    assert "\n" not in problem.reason


def test_a_name_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    put(Path(os.fsdecode(os.fsencode(tmp_path) + b"/s\xff\xfe.py")))
    problem = refused(tmp_path)
    problem.name.encode("utf-8")  # can be printed
    assert "not a student id" in problem.reason


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


@pytest.mark.parametrize("inside", ["notes.txt", "ps2.py", "answer.py", "sub/ps2.py"])
def test_a_folder_without_the_file_is_refused_and_what_is_in_it_is_said(tmp_path: Path, inside: str) -> None:
    put(tmp_path / "s001" / inside)
    only = refused(tmp_path)
    reason = f"neither ps1.py nor ps1.ipynb is in it, only {inside}; one is needed"
    assert (only.name, only.reason.partition("; if that")[0]) == ("s001", reason)
    assert only.student == "s001"


@pytest.mark.parametrize("inside", ["homework/ps1.py", "ps1.py/ps1.py", "a/b/ps1.ipynb"])
def test_an_answer_that_lies_too_deep_is_said_with_the_remedy(tmp_path: Path, inside: str) -> None:
    put(tmp_path / "s001" / inside)
    assert refused(tmp_path).reason == (
        f"neither ps1.py nor ps1.ipynb is in it, but {inside} is; move it up to the top of the folder"
    )


def test_a_second_submission_of_a_student_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "s001.ipynb", b"{}")
    put(tmp_path / "s001.py")
    put(tmp_path / "s001" / "ps1.py")
    submissions, problems = find_submissions(tmp_path, "ps1")
    assert len(submissions) == 1
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
    monkeypatch.setattr(entries, "MAX_BYTES", 2 * 2**20)
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
    submissions, problems = find_submissions(tmp_path, "ps1")
    assert [submission.student for submission in submissions] == ["s001", "s003"]
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


# --- the same class in every platform's form


def a_class() -> list[Submission]:
    """Twelve students, both forms, one of them with three attempts."""
    minutes = [NOON + datetime.timedelta(minutes=number) for number in range(20)]
    submissions = [
        Submission(f"s{number:03d}", "ps1.py" if number % 3 else "ps1.ipynb", b"answer = %d\r\n" % number, minutes[number])
        for number in range(1, 13)
    ]
    again = [Submission("s004", "ps1.py", b"better\n", minutes[13]), Submission("s004", "ps1.py", b"best\n", minutes[14])]
    return submissions + again


def plain(submissions: list[Submission]) -> list[tuple[str, str, bytes]]:
    return [(each.student, each.filename, each.source) for each in submissions]


@pytest.mark.parametrize("name", forms.MAKERS)
def test_every_form_gives_the_same_class(tmp_path: Path, name: str) -> None:
    everything = a_class()
    place = forms.MAKERS[name](tmp_path, everything)
    roster = read_roster(forms.make_roster(tmp_path, [each.student for each in everything]))
    submissions, problems = find_submissions(place, "ps1", roster)
    assert problems == []
    wanted = sorted(everything, key=lambda each: each.student)
    if "Gradescope" not in name:  # no other platform gives earlier attempts
        wanted = list({each.student: each for each in wanted}.values())
    assert plain(submissions) == plain(wanted)
    times = {each.submitted for each in submissions}
    if name.startswith(("Gradescope", "nbgrader", "git")):
        assert [each.submitted for each in submissions] == [each.submitted for each in wanted]
    else:
        assert times == {None}
    assert all(each.origin.startswith(f"{place.name}: ") for each in submissions)


@pytest.mark.parametrize("name", ["nbgrader", "git clones"])
def test_a_time_that_its_author_can_set_is_marked(tmp_path: Path, name: str) -> None:
    submissions, _ = find_submissions(forms.MAKERS[name](tmp_path, a_class()), "ps1")
    assert all("its author" in each.origin for each in submissions)


def test_attempts_come_back_in_the_order_of_time(tmp_path: Path) -> None:
    early, late = (
        Submission("s001", "ps1.py", text, NOON + datetime.timedelta(days=days)) for text, days in ((b"1", 0), (b"2", 1))
    )
    submissions, _ = find_submissions(
        forms.make_gradescope_zip(tmp_path, [late, early]), "ps1", read_roster(forms.make_roster(tmp_path, ["s001"]))
    )
    assert [each.source for each in submissions] == [b"1", b"2"]


def test_without_a_roster_the_platforms_id_is_the_student(tmp_path: Path) -> None:
    each = [Submission("s001", "ps1.py", b"x")]
    assert students(forms.make_canvas_zip(tmp_path, each)) == ["canvas-70001"]
    assert students(forms.make_moodle_zip(tmp_path, each)) == ["moodle-1500001"]
    assert students(forms.make_clones(tmp_path, each)) == ["ps1-git-s001"]
    submissions, problems = find_submissions(forms.make_flat_folder(tmp_path, each), "ps1")
    assert [submission.student for submission in submissions] == ["s001"]
    assert problems == []


def test_an_email_address_is_no_id(tmp_path: Path) -> None:
    submissions, problems = find_submissions(
        forms.make_gradescope_folder(tmp_path, [Submission("s001", "ps1.py", b"x")]), "ps1"
    )
    assert submissions == []
    reason = "only a roster can tell whose it is: s001@example.edu; write it into roster.csv, column `gradescope`"
    assert problems == [Unreadable("submission_300000/ps1.py", reason)]
    assert problems[0].content == b"x"


@pytest.mark.parametrize("name", forms.MAKERS)
def test_who_is_not_in_the_roster_is_listed_with_what_was_handed_in(tmp_path: Path, name: str) -> None:
    place = forms.MAKERS[name](tmp_path, a_class())
    roster = read_roster(forms.make_roster(tmp_path, [f"s{number:03d}" for number in range(2, 13)]))
    submissions, problems = find_submissions(place, "ps1", roster)
    assert "s001" not in {each.student for each in submissions}
    assert len({each.student for each in submissions}) == 11
    (problem,) = problems
    assert problem.reason.startswith("not in the roster: ")


# --- Canvas


def canvas(folder: Path, *names: str) -> tuple[list[Submission], list[Unreadable]]:
    # Two honest neighbours, so that the archive is Canvas's whatever the names are.
    members = {name: name.encode() for name in ("a_1_11_ps1.py", "b_2_12_ps1.py", "c_3_13_ps1.py", *names)}
    submissions, problems = find_submissions(forms.zipped(folder / "canvas.zip", members), "ps1")
    assert [each.student for each in submissions[:3]] == ["canvas-1", "canvas-2", "canvas-3"]
    return submissions[3:], problems


@pytest.mark.parametrize(
    ("name", "student", "filename"),
    [
        ("d_4_14_ps1.py", "canvas-4", "ps1.py"),
        ("d_4_14_ps1-1.py", "canvas-4", "ps1.py"),
        ("d_4_14_ps1-23.ipynb", "canvas-4", "ps1.ipynb"),
        ("d_4_14_ps1 (1).ipynb", "canvas-4", "ps1.ipynb"),
        ("d_4_14_PS1.PY", "canvas-4", "ps1.py"),
        ("müller_4_14_ps1.py", "canvas-4", "ps1.py"),
        ("anon_Xy12z_14_ps1.py", "canvas-anon-Xy12z", "ps1.py"),
    ],
)
def test_canvas_names_are_understood(tmp_path: Path, name: str, student: str, filename: str) -> None:
    submissions, problems = canvas(tmp_path, name)
    assert problems == []
    assert submissions == [Submission(student, filename, name.encode())]


@pytest.mark.parametrize("name", ["d_LATE_4_14_ps1.py", "d_late_4_14_ps1-1.py", "LATE_anon_Xy12z_14_ps1.py"])
def test_what_canvas_marks_late_is_graded_and_listed(tmp_path: Path, name: str) -> None:
    (submission,), (problem,) = canvas(tmp_path, name)
    assert submission.submitted is None
    assert "marked late" in submission.origin
    assert problem == Unreadable(name, f"marked late, but no time is given; {LATE_REMEDY}")
    assert (problem.graded, problem.late) == (True, True)
    assert problem.graded


@pytest.mark.parametrize(
    "name",
    [
        "d_4_14_ps2.py", "d_4_14_ps11.py", "d_4_14_ps1.py.txt", "d_4_14_ps1.zip", "d_4_14_my_ps1.py", "d_4_text.html",
        "d_4_link.html", "d_ps1.py", "ps1.py", "4_ps1.py", "d_٤_١٤_ps1.py",
    ],
)  # fmt: skip
def test_what_is_not_asked_for_is_listed_with_its_bytes(tmp_path: Path, name: str) -> None:
    submissions, (problem,) = canvas(tmp_path, name)
    assert submissions == []
    assert problem.name == name
    assert problem.content == name.encode()
    assert not problem.graded


@pytest.mark.parametrize(
    "name",
    [
        "d_12_34__4_14_ps1.py",  # a name with numbers that Canvas did not take out
        "d_4_14_12_34_ps1.py",  # numbers in the file's own name
        "12_34_4_14_ps1.py",
    ],
)
def test_nobody_hands_in_for_somebody_else(tmp_path: Path, name: str) -> None:
    submissions, (problem,) = canvas(tmp_path, name)
    assert submissions == []
    assert "one is needed" in problem.reason


def test_of_two_files_of_one_student_none_is_chosen(tmp_path: Path) -> None:
    submissions, problems = canvas(tmp_path, "d_4_14_ps1.py", "d_4_15_ps1.ipynb")
    assert submissions == []
    assert {problem.name for problem in problems} == {"d_4_14_ps1.py", "d_4_15_ps1.ipynb"}
    assert {problem.reason for problem in problems} == {"both ps1.py and ps1.ipynb are in it; one is needed"}


def test_what_lies_beside_an_answer_is_listed(tmp_path: Path) -> None:
    (submission,), (problem,) = canvas(tmp_path, "d_4_14_ps1.py", "d_4_15_figure.png")
    assert submission.student == "canvas-4"
    assert problem == Unreadable("d_4_15_figure.png", "beside the answer of canvas-4; not graded")


# --- Moodle


def test_in_moodle_nobody_hands_in_for_somebody_else(tmp_path: Path) -> None:
    name = "Student a_7_assignsubmission_file_x_8_assignsubmission_file_ps1.py"
    submissions, (problem,) = find_submissions(forms.zipped(tmp_path / "m.zip", {name: b"x"}), "ps1")
    assert submissions == []
    assert problem.name == name


def test_moodle_forms_and_what_students_type(tmp_path: Path) -> None:
    members = {
        "Student a_7_assignsubmission_file/ps1.py": b"1",
        "Student b_8_assignsubmission_file_/ps1/ps1.ipynb": b"2",
        "Participant_9_assignsubmission_file_/ps1.py": b"3",
        "Student c_10_assignsubmission_onlinetext_/onlinetext.html": b"4",
        "Student d_11_assignsubmission_file_/": b"",
    }
    submissions, problems = find_submissions(forms.zipped(tmp_path / "m.zip", members), "ps1")
    assert {(each.student, each.source) for each in submissions} == {
        ("moodle-7", b"1"),
        ("moodle-8", b"2"),
        ("moodle-9", b"3"),
    }
    assert [problem.name.partition("_")[0] for problem in problems] == ["Student c", "Student d"]
    assert problems[0].content == b"4"


def test_in_moodle_a_roster_may_hold_names(tmp_path: Path) -> None:
    roster = Roster(("s001",), {"moodle": {"student s001": "s001"}})
    submissions, problems = find_submissions(
        forms.make_moodle_zip(tmp_path, [Submission("s001", "ps1.py", b"x")]), "ps1", roster
    )
    assert [each.student for each in submissions] == ["s001"]
    assert problems == []


# --- Gradescope


def gradescope(folder: Path, metadata: str, *names: str) -> tuple[list[Submission], list[Unreadable]]:
    put(folder / "export" / "submission_metadata.yml", metadata.encode())
    for name in names:
        put(folder / "export" / name, name.encode())
    return find_submissions(folder / "export", "ps1")


ONE = "submission_1:\n  :submitters:\n  - :sid: s001\n  :created_at: {}\n"


@pytest.mark.parametrize(
    ("written", "hour"),
    [
        ("2026-09-20 12:00:00.123456000 Z", 12),
        ("2026-09-20 12:00:00 Z", 12),
        ("'2026-09-20T12:00:00-07:00'", 19),
        ("2026-09-20 12:00:00.5 -0700", 19),
        ("!ruby/object:Time 2026-09-20 12:00:00.000000000 Z", 12),
        ("''", None),
    ],
)
def test_times_are_read_in_every_way_they_are_written(tmp_path: Path, written: str, hour: int | None) -> None:
    (submission,), problems = gradescope(tmp_path, ONE.format(written), "submission_1/ps1.py")
    assert problems == []
    assert (submission.submitted and submission.submitted.hour) == hour


@pytest.mark.parametrize("written", ["yesterday", "[1, 2]", "0001-01-01 00:00:00 +14:00", "2026-09-20 12:00 Mars/North"])
def test_a_time_that_cannot_be_read_is_listed(tmp_path: Path, written: str) -> None:
    (submission,), (problem,) = gradescope(tmp_path, ONE.format(written), "submission_1/ps1.py")
    assert submission.submitted is None
    assert problem.graded
    assert problem.student == "s001"
    assert re.fullmatch("its time in submission_metadata.yml.*, so it counts as in time; correct it there and grade again",
                        problem.reason)  # fmt: skip


def test_a_time_that_was_handed_in_is_no_time(tmp_path: Path) -> None:
    back = b"2026-01-01 00:00:00 UTC"
    for place in ("submission_1/timestamp.txt", "submission_1/ps1/timestamp.txt"):
        put(tmp_path / "export" / place, back)
    (submission,), _ = gradescope(tmp_path, ONE.format("2026-09-20 12:00:00 Z"), "submission_1/ps1/ps1.py")
    assert submission.submitted == NOON
    put(tmp_path / "folders/s001/timestamp.txt", back)
    put(tmp_path / "folders/s001/ps1.py")
    prefix = "Student s001_1_assignsubmission_file_/ps1"
    moodle = forms.zipped(tmp_path / "m.zip", {f"{prefix}/ps1.py": b"x", f"{prefix}/timestamp.txt": back})
    for each in (tmp_path / "folders", moodle):
        assert [submission.submitted for submission in find_submissions(each, "ps1")[0]] == [None]


def test_group_work_is_each_students_submission(tmp_path: Path) -> None:
    metadata = "submission_1:\n  :submitters:\n  - :sid: s001\n  - :sid: s002\n"
    submissions, problems = gradescope(tmp_path, metadata, "submission_1/ps1.py")
    assert [each.student for each in submissions] == ["s001", "s002"]
    assert problems == []


def test_an_earlier_attempt_of_a_group_is_of_those_who_made_it(tmp_path: Path) -> None:
    metadata = (
        "submission_3:\n  :submitters:\n  - :sid: s001\n  - :sid: s002\n  :history:\n"
        "  - :id: 1\n    :submitters:\n    - :sid: s001\n    - :sid: s009\n"
        "  - :id: 2\n    :created_at: 2026-09-20 12:00:00 Z\n"
    )
    submissions, problems = gradescope(tmp_path, metadata, *(f"submission_{number}/ps1.py" for number in (1, 2, 3)))
    assert problems == []
    of = {
        number: [each.student for each in submissions if each.source.decode() == f"submission_{number}/ps1.py"]
        for number in (1, 2, 3)
    }
    # Where the metadata does not say whose an attempt was, it is that of those who hand it in today.
    assert of == {1: ["s001", "s009"], 2: ["s001", "s002"], 3: ["s001", "s002"]}


def test_what_the_metadata_and_the_folders_disagree_on_is_listed(tmp_path: Path) -> None:
    metadata = ONE.format("") + ONE.format("").replace("_1", "_2")
    submissions, problems = gradescope(
        tmp_path, metadata, "submission_1/ps1.py", "submission_3/ps1.py", "submission_1/notes.txt"
    )
    assert [each.student for each in submissions] == ["s001"]
    assert {problem.name for problem in problems} == {"submission_2", "submission_3/ps1.py", "submission_1/notes.txt"}


@pytest.mark.parametrize(
    "metadata",
    [
        "",
        "[]",
        "- a",
        "a: [",
        "\0",
        "a: b: c",
        "[" * 100_000,
        "{a: " * 100_000,
        "!!python/object/apply:os.system [id]",
        "? [a]\n: b",
    ],
    ids=lambda text: repr(text)[:30],
)
def test_metadata_that_is_wrong_costs_no_file(tmp_path: Path, metadata: str) -> None:
    submissions, problems = gradescope(tmp_path, metadata, "submission_1/ps1.py")
    assert submissions == []
    assert ("submission_1/ps1.py", b"submission_1/ps1.py") in {(problem.name, problem.content) for problem in problems}


def test_metadata_cannot_make_anything_but_text(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{new}: &{new} [*{old}, *{old}]\n" for old, new in zip("abcdefghijk", "bcdefghijkl", strict=True)
    )
    metadata = ONE.format("!!python/object/apply:os.system [exit]") + bomb
    submissions, problems = gradescope(tmp_path, metadata, "submission_1/ps1.py")
    assert [each.submitted for each in submissions] == [None]
    assert [problem.graded for problem in problems] == [True]


# --- git


def clone(folder: Path, *attempts: Submission) -> Path:
    place = folder / "clones" / "s001"
    place.mkdir(parents=True)
    forms.make_repository(place, attempts)
    return place


def test_another_problem_sets_commit_makes_nobody_late(tmp_path: Path) -> None:
    later = NOON + datetime.timedelta(days=30)
    clone(tmp_path, Submission("s001", "ps1.py", b"1", NOON), Submission("s001", "ps2.py", b"2", later))
    for module, time in (("ps1", NOON), ("ps2", later)):
        (submission,), _ = find_submissions(tmp_path / "clones", module)
        assert submission.submitted == time


def test_packed_and_detached_repositories_tell_their_time(tmp_path: Path) -> None:
    place = clone(tmp_path, Submission("s001", "ps1.py", b"1", NOON))
    subprocess.run(["git", "-C", str(place), "pack-refs", "--all"], check=True)
    assert not (place / ".git/refs/heads/main").exists()
    assert find_submissions(tmp_path / "clones", "ps1")[0][0].submitted == NOON
    (place / ".git/HEAD").write_text((place / ".git/packed-refs").read_text().splitlines()[-1].partition(" ")[0])
    assert find_submissions(tmp_path / "clones", "ps1")[0][0].submitted == NOON


def test_a_repository_runs_nothing(tmp_path: Path) -> None:
    place = clone(tmp_path, Submission("s001", "ps1.py", b"1", NOON))
    trap, sprung = put(place / "trap", b""), tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch '{sprung}'\n")
    trap.chmod(0o755)
    with open(place / ".git/config", "a") as config:
        config.write(
            f"[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n\thooksPath = {place}\n\tsshCommand = {trap}\n"
            f"[log]\n\tshowSignature = true\n[gpg]\n\tprogram = {trap}\n[diff]\n\texternal = {trap}\n"
            f'[diff "x"]\n\ttextconv = {trap}\n[filter "x"]\n\tsmudge = {trap}\n\tclean = {trap}\n'
            f"[extensions]\n\tpartialClone = origin\n"
            f'[remote "origin"]\n\turl = ext::{trap}\n\tpromisor = true\n\tuploadpack = {trap}\n'
        )
    put(place / ".gitattributes", b"* diff=x filter=x\n")
    (submission,), _ = find_submissions(tmp_path / "clones", "ps1")
    assert submission.submitted == NOON
    assert not sprung.exists()
    # The trap does work where git is asked in the repository itself.
    subprocess.run(["git", "-C", str(place), "status"], check=False, capture_output=True)
    assert sprung.exists()


@pytest.mark.parametrize(
    "spoil", ["no HEAD", "HEAD elsewhere", "no objects", "HEAD is long", "no such commit", "linked .git", "a file"]
)
def test_a_repository_that_tells_no_time_still_has_a_submission(tmp_path: Path, spoil: str) -> None:
    place = clone(tmp_path, Submission("s001", "ps1.py", b"1", NOON))
    git = place / ".git"
    if spoil == "no HEAD":
        (git / "HEAD").unlink()
    elif spoil == "HEAD elsewhere":
        (git / "HEAD").write_text("ref: refs/heads/../../../../../../../etc/hostname\n")
    elif spoil == "no objects":
        (git / "objects").rename(git / "things")
    elif spoil == "HEAD is long":
        (git / "HEAD").write_text("a" * 2**21)
    elif spoil == "no such commit":
        (git / "HEAD").write_text("a" * 40)
    else:
        git.rename(tmp_path / "elsewhere")
        if spoil == "linked .git":
            git.symlink_to(tmp_path / "elsewhere")
        else:
            git.write_text(f"gitdir: {tmp_path}/elsewhere\n")
    (submission,), (problem,) = find_submissions(tmp_path / "clones", "ps1")
    assert (submission.source, submission.submitted) == (b"1", None)
    assert problem.graded
    assert problem.reason.endswith("so it counts as in time; clone it again and grade again")


# --- what is in the file


def test_another_problem_sets_notebook_is_graded_and_listed(tmp_path: Path) -> None:
    put(tmp_path / "s001.ipynb", b'{"cells": ["def self_attention("]}')
    put(tmp_path / "s002.py", b"def softmax(): ...")
    submissions, (problem,) = find_submissions(tmp_path, "ps1", names=["mix", "softmax"])
    assert [each.student for each in submissions] == ["s001", "s002"]
    assert problem.name == "s001.ipynb"
    assert "another problem set's" in problem.reason
    assert problem.graded


def cells(*more: object, **notebook: object) -> bytes:
    return json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": "mix = 1"}, *more], **notebook}).encode()


@pytest.mark.parametrize(
    "source",
    [
        cells({"cell_type": "code", "source": "", "outputs": [{"output_type": "stream", "text": "x" * 5_000_000}]}),
        cells({"cell_type": "markdown", "source": "", "attachments": {"../../x.png": {"image/png": "A" * 5_000_000}}}),
        cells({"cell_type": "unknown", "source": "raise SystemExit"}, {"cell_type": "raw", "source": "1 / 0"}),
        cells(metadata={"kernelspec": {"name": "bash", "language": "bash"}}, nbformat_minor=99),
        cells(*({"cell_type": "markdown", "source": "x"} for _ in range(20_000))),
    ],
    ids=["5 MB of output", "5 MB attached", "other cells", "another kernel", "20,000 cells"],
)
def test_an_odd_notebook_goes_to_the_guest_whole_and_is_run(tmp_path: Path, source: bytes) -> None:
    put(tmp_path / "s001.ipynb", source)
    (submission,), problems = find_submissions(tmp_path, "ps1")
    assert problems == []
    namespace, report = loading.load(submission.filename, submission.source)
    assert (namespace["mix"], report["problems"]) == (1, [])


def test_a_notebook_with_deeply_nested_outputs_is_a_problem_of_the_submission(tmp_path: Path) -> None:
    put(
        tmp_path / "s001.ipynb",
        cells(metadata={"deep": 0}).replace(b'"deep": 0', b'"deep": ' + b"[" * 200_000 + b"]" * 200_000),
    )
    (submission,), _ = find_submissions(tmp_path, "ps1")
    _, report = loading.load(submission.filename, submission.source)
    assert "not a notebook that can be read" in report["problems"][0]["message"]


# --- archives


def test_a_wrapping_folder_is_looked_into(tmp_path: Path) -> None:
    for wrapper in ("submitted", "all"):
        place = forms.zipped(tmp_path / "all.zip", {f"{wrapper}/s001/ps1/ps1.py": b"x"})
        assert students(place) == ["s001"]


def test_a_zip_of_files_and_folders_is_a_folder(tmp_path: Path) -> None:
    members = {"s001.py": b"1", "s002/ps1.ipynb": b"2", "s002/notes.txt": b"3", "__MACOSX/._s001.py": b"", "s003/": b""}
    submissions, problems = find_submissions(forms.zipped(tmp_path / "x.zip", members), "ps1")
    assert plain(submissions) == [("s001", "ps1.py", b"1"), ("s002", "ps1.ipynb", b"2")]
    assert {problem.name for problem in problems} == {"s002/notes.txt", "s003"}


def test_a_zip_with_entries_for_its_folders_is_the_same_as_one_without(tmp_path: Path) -> None:
    # As `zip -r` and most file managers write it.
    folders = dict.fromkeys(["s001/", "s001/ps1/", "s002/", "s003/"], b"")
    members = {**folders, "s001/ps1/ps1.py": b"1", "s002/ps1.py": b"2"}
    submissions, problems = find_submissions(forms.zipped(tmp_path / "x.zip", members), "ps1")
    assert plain(submissions) == [("s001", "ps1.py", b"1"), ("s002", "ps1.py", b"2")]
    assert [problem.name for problem in problems] == ["s003"]


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_honest_file_of_some_megabytes_is_read(tmp_path: Path, packed: int) -> None:
    # A notebook with pictures: larger than what is looked at for its ratio, and packed by far less than 200 to 1.
    content = random.Random(1).randbytes(2 * 2**20) + bytes(2**20)
    with zipfile.ZipFile(tmp_path / "x.zip", "w", packed) as archive:
        archive.writestr("s001.py", content)
    assert find_submissions(tmp_path / "x.zip", "ps1") == ([Submission("s001", "ps1.py", content)], [])


def member(name: str, content: bytes = b"x", **attributes: int) -> Callable[[zipfile.ZipFile], None]:
    def write(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo("placeholder")
        info.filename = name  # as it stands, without what ZipInfo would change
        for attribute, value in attributes.items():
            setattr(info, attribute, value)
        archive.writestr(info, content, compress_type=attributes.get("compress_type", zipfile.ZIP_STORED))

    return write


def twice(archive: zipfile.ZipFile) -> None:
    for content in (b"1", b"2"):
        member("s002.py", content)(archive)


def unix(mode: int) -> int:
    return (mode | 0o644) << 16


def with_flag(data: bytes, name: bytes, flag: int) -> bytes:
    place = data.rindex(name) - 46
    assert data[place : place + 4] == b"PK\1\2"
    return data[: place + 8] + struct.pack("<H", flag) + data[place + 10 :]


def with_size(data: bytes, name: bytes, size: int) -> bytes:
    place = data.rindex(name) - 46
    return data[: place + 24] + struct.pack("<I", size) + data[place + 28 :]


HOSTILE: dict[str, tuple[Callable[[zipfile.ZipFile], None], str]] = {
    "slip": (member("../s002.py"), "points outside"),
    "inner slip": (member("s002/../../x.py"), "points outside"),
    "absolute": (member("/etc/s002.py"), "points outside"),
    "drive": (member("C:s002.py"), "points outside"),
    "backslash": (member("..\\s002.py"), "points outside"),
    "empty part": (member("s002//ps1.py"), "points outside"),
    "newline": (member("s002\n.py"), "do not print"),
    "escape": (member("\x1b[2Js002.py"), "do not print"),
    "right to left": (member("s\u202eyp.002.py"), "do not print"),
    "NUL": (member("s002.py\0.txt"), "do not print"),
    "long name": (member("s" * 600 + ".py"), "longer than 500"),
    "no name": (member(""), "points outside"),
    "shell": (member("$(reboot).py"), "not a student id"),
    "link": (member("s002.py", b"/etc/passwd", external_attr=unix(stat.S_IFLNK)), "a link"),
    "linked folder": (member("s002/ps1.py", b"/etc/passwd", external_attr=unix(stat.S_IFLNK)), "a link"),
    "device": (member("s002.py", external_attr=unix(stat.S_IFCHR)), "neither a file"),
    "pipe": (member("s002.py", external_attr=unix(stat.S_IFIFO)), "neither a file"),
    "bomb": (member("s002.py", bytes(8 * 2**20), compress_type=zipfile.ZIP_DEFLATED), "times its size"),
    "large": (member("s002.py", random.Random(1).randbytes(2**20 + 1)), "larger than 1 MB"),
    "bzip2": (member("s002.py", compress_type=zipfile.ZIP_BZIP2), "not supported"),
    "lzma": (member("s002.py", compress_type=zipfile.ZIP_LZMA), "not supported"),
    "nested": (member("s002.zip", b"PK\3\4"), "not a student id|neither a .py"),
    "folder with content": (member("s002.py/", b"x"), "holds bytes"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_member_costs_itself_alone(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "large":
        monkeypatch.setattr(entries, "MAX_BYTES", 2**20)
    write, reason = HOSTILE[name]
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("s001.py", b"honest")
        write(archive)
        archive.writestr("s003/ps1.py", b"honest too")
    submissions, (problem,) = find_submissions(tmp_path / "x.zip", "ps1")
    assert plain(submissions) == [("s001", "ps1.py", b"honest"), ("s003", "ps1.py", b"honest too")]
    assert re.search(reason, problem.reason), problem
    assert problem.name.isprintable()
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: with_flag(data, b"s002.py", 1), "encrypted"),
        (lambda data: with_size(data, b"s002.py", 3), "damaged"),
        (lambda data: with_size(data, b"s002.py", 5000), "damaged"),
        (lambda data: with_size(data, b"s002.py", 2**32 - 2), "larger than 20 MB"),
        (lambda data: data.replace(b"content", b"CONTENT"), "damaged"),
        (lambda data: data.replace(b"s002.py", b"s00X.py", 1), "damaged"),
    ],
    ids=["encrypted", "size too small", "size too large", "4 GB", "wrong sum", "two names"],
)
def test_a_member_that_lies_costs_itself_alone(tmp_path: Path, change: Callable[[bytes], bytes], reason: str) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in ("s001.py", "s002.py", "s003.py"):
            archive.writestr(name, b"content" if name == "s002.py" else b"honest")
    place = put(tmp_path / "x.zip", change(data.getvalue()))
    submissions, (problem,) = find_submissions(place, "ps1")
    assert plain(submissions) == [("s001", "ps1.py", b"honest"), ("s003", "ps1.py", b"honest")]
    assert problem.name == "s002.py"
    assert reason in problem.reason


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_entries_with_one_name_none_is_believed(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("s001.py", b"honest")
        twice(archive)
    submissions, problems = find_submissions(tmp_path / "x.zip", "ps1")
    assert plain(submissions) == [("s001", "ps1.py", b"honest")]
    assert [(problem.name, problem.reason, problem.content) for problem in problems] == [
        ("s002.py", "the archive has 2 entries of this name", content) for content in (b"1", b"2")
    ]


@pytest.mark.parametrize(
    "content", [b"", b"no archive", b"PK\5\6" + bytes(18), b"PK\5\6" + b"\xff" * 18, b"PK\3\4" * 100, b"\xff" * 70_000]
)
def test_what_is_no_archive_is_listed(tmp_path: Path, content: bytes) -> None:
    submissions, problems = find_submissions(put(tmp_path / "x.zip", content), "ps1")
    assert submissions == []
    assert all(problem.name == "x.zip" for problem in problems)
    if content != b"PK\5\6" + bytes(18):  # an archive of nothing
        assert problems


def test_an_archive_has_bounds_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = forms.zipped(tmp_path / "x.zip", {f"s{number:03d}.py": b"x" * 1000 for number in range(100)})
    with monkeypatch.context() as patch:
        patch.setattr(entries, "MAX_ENTRIES", 99)
        submissions, (problem,) = find_submissions(place, "ps1")
        assert submissions == []
        assert "more than 99 entries" in problem.reason
    with monkeypatch.context() as patch:
        patch.setattr(entries, "MAX_DIRECTORY_BYTES", 5000)
        submissions, (problem,) = find_submissions(place, "ps1")
        assert submissions == []
        assert "too long" in problem.reason
    monkeypatch.setattr(entries, "MAX_TOTAL_BYTES", 50_000)
    submissions, problems = find_submissions(place, "ps1")
    assert (len(submissions), len(problems)) == (50, 50)


NAMES = st.one_of(
    st.sampled_from(["ps1.py", "s001.py", "s001/ps1.py", "a_1_2_ps1.py", "a_LATE_1_3_ps1.ipynb", "submission_metadata.yml",
                     "A_1_assignsubmission_file_/ps1.py", "submission_1/ps1.py", "submitted/s001/ps1/ps1.py", "../x.py",
                     "s001/timestamp.txt", "s001/", "x.zip"]),
    st.text(max_size=20),
    st.text(alphabet="as01_/.-p\\:\n\0", max_size=20),
)  # fmt: skip
METADATA = "submission_1:\n  :submitters:\n  - :sid: s001\n"


@settings(max_examples=150)
@given(st.lists(st.tuples(NAMES, st.sampled_from([b"", b"x", METADATA.encode(), b"PK\3\4"])), max_size=8))
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_nothing_in_an_archive_is_lost(tmp_path_factory: pytest.TempPathFactory, members: list[tuple[str, bytes]]) -> None:
    place = tmp_path_factory.getbasetemp() / "random.zip"
    written: Counter[str] = Counter()
    with zipfile.ZipFile(place, "w") as archive:
        for name, content in members:
            try:
                member(name, content)(archive)
            except (UnicodeEncodeError, ValueError):
                continue
            written[entries.shown(name)] += 1
    submissions, problems = find_submissions(place, "ps1")
    told = Counter(each.origin.removeprefix("random.zip: ").partition(" (")[0] for each in submissions)
    told += Counter(problem.name for problem in problems if not problem.graded)
    # A folder's own entry is told by what is in it; Gradescope's metadata is no submission, nor what a program left there.
    for name in written:
        left = any(map(entries.is_housekeeping, re.split(r"[/\\]+", name)))
        is_left_out = left or name.endswith(("/", "submission_metadata.yml"))
        assert told[name] or told[name.rstrip("/\\")] or is_left_out, name


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_archive_is_never_an_error(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    place = tmp_path_factory.getbasetemp() / "damaged.zip"
    forms.make_canvas_zip(place.parent, a_class()[:4]).rename(place)
    content = bytearray(place.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    place.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    submissions, problems = find_submissions(place, "ps1")
    assert submissions or problems


# --- the roster


def roster(folder: Path, content: bytes | str) -> Roster:
    return read_roster(put(folder / "roster.csv", content.encode() if isinstance(content, str) else content))


def test_a_roster_maps_users_to_students(tmp_path: Path) -> None:
    submissions = roster(tmp_path, "student,section,canvas,gradescope\n s001 ,A,17,S001@example.edu\ns002,A,18,\n\n")
    assert submissions.students == ("s001", "s002")
    assert submissions.student("canvas", ["17"]) == "s001"
    assert submissions.student("gradescope", ["", "s001@EXAMPLE.edu"]) == "s001"
    assert submissions.student("moodle", ["s002"]) == "s002"  # no column: the platform may know our ids
    assert submissions.student("canvas", ["s002"]) is None  # a column: only what stands in it
    assert submissions.student("canvas", [""]) is None


def test_a_spreadsheets_byte_order_mark_does_not_matter(tmp_path: Path) -> None:
    assert roster(tmp_path, b"\xef\xbb\xbfStudent,Canvas\r\ns001,1\r\n").student("canvas", ["1"]) == "s001"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the first line must name the columns"),
        ("\n", "the first line must name the columns"),
        ("name,canvas\ns001,1\n", "line 1: there is no column `student`; there are: name, canvas"),
        ("student;canvas\ns001;1\n", "separated by semicolons; save the file with commas"),
        ("student\tcanvas\ns001\t1\n", "separated by tabs"),
        ("student,canvas,Canvas\ns001,1,2\n", "the column `canvas` appears twice"),
        ("student\n", "there is no student in it"),
        ("student,canvas\ns001,1\ns001,2\n", "line 3: the student s001 is already in line 2"),
        ("student,canvas\ns001,1\ns002,1\n", "line 3: canvas '1' is already in line 2"),
        ("student,gradescope\ns001,a@b.c\ns002,A@B.C\n", "line 3: gradescope 'A@B.C' is already in line 2"),
        ("student,canvas\ns 1,1\n", "line 2: 's 1' is not a student id"),
        ("student,canvas\n,1\n", "line 2: '' is not a student id"),
        ("student,canvas\ns001\n", "line 2: there are 1 cells, but 2 columns"),
        ("student,canvas\ns001,1,2\n", "line 2: there are 3 cells, but 2 columns"),
        ("student,formerly\ns001,x\ns002,y x\n", "line 3: 'x' is already the former id of s001"),
        ("student,formerly\ns001,s002\ns002,\n", "'s002' was the id of s001, but is a student in line 3"),
        ('student,canvas\n"s001,1\n', "not valid CSV"),
        ("student,canvas\ns001,1\n".encode("utf-16"), "not UTF-8"),
        (b"student,section\ns001,caf\xe9\n", "not UTF-8"),
    ],
)  # fmt: skip
def test_a_wrong_roster_says_what_is_wrong(tmp_path: Path, content: bytes | str, message: str) -> None:
    with pytest.raises(CourseError) as caught:
        roster(tmp_path, content)
    assert message in str(caught.value)
    assert "roster.csv" in str(caught.value)


def test_the_roster_is_the_courses_or_the_one_that_is_given(tmp_path: Path) -> None:
    assert find_roster(tmp_path, None) is None
    put(tmp_path / "roster.csv", b"student\ns001\n")
    assert find_roster(tmp_path, None) == Roster(("s001",))
    given = put(tmp_path / "other.csv", b"student\ns002\n")
    assert find_roster(tmp_path, given) == Roster(("s002",))
    with pytest.raises(CourseError, match="cannot be read"):
        find_roster(tmp_path, tmp_path / "nowhere.csv")
