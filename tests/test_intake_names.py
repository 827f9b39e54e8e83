"""Names, archives and times as the world has them: cases of public bug reports, remade with names that are nobody's."""

from __future__ import annotations

import datetime
import io
import tarfile
import unicodedata
import zipfile
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.intake import Roster, Submission, Unreadable, entries, find_submissions, read_roster
from autograder.intake.moments import read_moment
from autograder.intake.names import normal
from tests.support import platform_forms as forms

NOON = datetime.datetime(2026, 9, 24, 12, tzinfo=datetime.UTC)


def students(place: Path, roster: Roster | None = None) -> list[str]:
    submissions, problems = find_submissions(place, "ps1", roster)
    assert problems == []
    return [submission.student for submission in submissions]


def moodle_zip(folder: Path, *names: str, start: int = 1_500_001) -> Path:
    members = {f"{name}_{start + place}_assignsubmission_file_/ps1.py": b"x = 1\n" for place, name in enumerate(names)}
    return forms.zipped(folder / "moodle.zip", members)


def moodle_roster(folder: Path, *names: str) -> Roster:
    """A roster whose students s001, s002, … have these names."""
    rows = [("student", "moodle"), *((f"s{number:03d}", name) for number, name in enumerate(names, start=1))]
    return read_roster(forms.write(folder / "roster.csv", forms.csv_bytes(rows)))


# --- names


def test_canvas_keeps_combining_marks_in_names(tmp_path: Path) -> None:
    names = [*(f"{name}_{70_001 + place}_{9_000_001 + place}_ps1.py" for place, name in enumerate(forms.SCRIPTS))]
    place = forms.zipped(tmp_path / "canvas.zip", dict.fromkeys(names, b"x = 1\n"))
    assert students(place) == [f"canvas-{70_001 + place}" for place in range(len(names))]


@pytest.mark.parametrize(
    ("platforms", "rosters"),
    [
        ("ONeil Test", "O'Neil Test"),
        ("ONeil Test", "ONeil Test"),
        ("ONeil Test", "O\u2019Neil Test"),
        ("ZoÃ«".encode("latin-1").decode() + " Test", "Zoe\u0308 Test"),
        ("Zoe\u0308 Test", "ZOË test"),
        ("می\u200cخواهم", "میخواهم"),
        ("ක්\u200dෂ", "ක්ෂ"),
        ("a\u034fb Test", "ab Test"),
        ("Test\u3000Test", "Test Test"),
        ("Test  Test", "Test Test "),
        ("A B Test", "A_B Test"),
        ("Test Test", 'Test "Test"'),
        ("D Angelo Test", "D Angelo\xa0Test"),
    ],
    ids=ascii,
)
def test_moodles_names_and_the_rosters_are_compared_in_one_form(tmp_path: Path, platforms: str, rosters: str) -> None:
    assert normal(platforms) == normal(rosters)
    assert students(moodle_zip(tmp_path, platforms), moodle_roster(tmp_path, rosters)) == ["s001"]


def test_marks_that_choose_a_form_of_a_letter_are_no_letters() -> None:
    assert normal("\u034fA\ufe00b\ufe0fc") == "abc"
    assert normal("\ufdff") != ""
    assert normal("\ufe10") != ""


@settings(max_examples=200)
@given(st.text(st.characters(codec="utf-8"), max_size=12))
def test_the_normal_form_is_one(name: str) -> None:
    once = normal(name)
    assert normal(once) == once
    assert normal(unicodedata.normalize("NFD", name)) == once
    assert normal(f" {name}\u200d ") == once
    assert normal(name.replace("'", "")) == once


def test_names_that_are_written_alike_are_listed_and_never_merged(tmp_path: Path) -> None:
    roster = moodle_roster(tmp_path, "O'Neil Test", "ONeil Test", "Other Test")
    submissions, (problem,) = find_submissions(moodle_zip(tmp_path, "ONeil Test", "Other Test"), "ps1", roster)
    assert [submission.student for submission in submissions] == ["s003"]
    assert problem == Unreadable(
        "ONeil Test_1500001_assignsubmission_file_/ps1.py",
        "may be of s001 or s002: 1500001, ONeil Test; give each an id of their own in roster.csv, column `moodle`",
    )
    # Where a platform gives the names whole, they tell the two apart.
    assert [roster.student("moodle", [name]) for name in ("O'Neil Test", "ONeil Test")] == ["s001", "s002"]
    assert roster.student("moodle", ["O\u2019Neil Test"]) is None


@pytest.mark.parametrize("team", ["Team 7", "Blue-Green", "Default group"])
def test_moodle_puts_a_teams_name_in_front(tmp_path: Path, team: str) -> None:
    roster = moodle_roster(tmp_path, "Alpha Test", "Beta-Gamma Test")
    assert students(moodle_zip(tmp_path, f"{team}-Alpha Test", f"{team}-Beta-Gamma Test"), roster) == ["s001", "s002"]


def test_a_hyphen_in_a_name_is_no_team(tmp_path: Path) -> None:
    roster = moodle_roster(tmp_path, "Alpha-Beta Test", "Beta Test", "Gamma Test")
    assert students(moodle_zip(tmp_path, "Alpha-Beta Test", "Gamma Test"), roster) == ["s001", "s003"]
    # Alone it may be a team called Alpha.
    submissions, (problem,) = find_submissions(moodle_zip(tmp_path, "Alpha-Beta Test"), "ps1", roster)
    assert submissions == []
    assert problem.reason.startswith("may be of s001 or s002: ")


@pytest.mark.parametrize("student", ["jo.doe", "j.o.doe-2", "A.B"])
def test_ids_may_hold_dots_as_nbgrader_allows(tmp_path: Path, student: str) -> None:
    forms.write(tmp_path / "submitted" / student / "ps1" / "ps1.py", b"x = 1\n")
    assert students(tmp_path / "submitted") == [student]
    assert students(tmp_path) == [student]
    forms.write(tmp_path / "flat" / f"{student}.py", b"x = 1\n")
    assert students(tmp_path / "flat") == [student]


@pytest.mark.parametrize("student", [".hidden", "a..b", "a.", "a.py", "a.ipynb"])
def test_ids_never_look_like_paths_or_files(tmp_path: Path, student: str) -> None:
    place = forms.zipped(tmp_path / "x.zip", {f"{student}/ps1.py": b"x = 1\n", "s001/ps1.py": b"x = 1\n"})
    submissions, problems = find_submissions(place, "ps1")
    assert [submission.student for submission in submissions] == ["s001"]
    assert len(problems) == 1


def test_a_former_id_is_the_student_of_today(tmp_path: Path) -> None:
    place = tmp_path / "class"
    for name in ("x17", "s002"):
        forms.write(place / name / "ps1.py", b"x = 1\n")
    roster = read_roster(forms.write(tmp_path / "roster.csv", b"student,formerly\ns001,x17 y17\ns002,\n"))
    assert students(place, roster) == ["s001", "s002"]


def test_what_is_listed_shows_the_students_id(tmp_path: Path) -> None:
    place = forms.zipped(
        tmp_path / "canvas.zip", {"a_70001_1_ps2.py": b"x", "b_70002_2_ps1.py": b"", "c_70003_3_ps1.py": b"x"}
    )
    roster = forms.read_makers_roster(tmp_path, ["s001", "s002", "s003"])
    _, problems = find_submissions(place, "ps1", roster)
    assert [(problem.name, problem.student, problem.reason) for problem in problems] == [
        (
            "a_70001_1_ps2.py",
            "s001",
            "neither ps1.py nor ps1.ipynb is in it, only ps2.py; one is needed; "
            "if that is the answer, save it as s001.py and grade that file",
        ),
        ("b_70002_2_ps1.py", "s002", "empty"),
    ]


@pytest.mark.parametrize("name", ["homework1.py", "My answer (final).ipynb", "deep/er/homework1.py"])
def test_gradescope_takes_a_file_of_any_name(tmp_path: Path, name: str) -> None:
    metadata = b"submission_1:\n  :submitters:\n  - :sid: s001\n  :created_at: 2026-09-20 20:00:00 Z\n"
    forms.write(tmp_path / "export/submission_metadata.yml", metadata)
    forms.write(tmp_path / "export/submission_1" / name, b"x = 1\n")
    (submission,), problems = find_submissions(tmp_path / "export", "ps1")
    assert (submission.student, submission.filename, problems) == ("s001", f"ps1{Path(name).suffix}", [])
    assert f"called {Path(name).name}, not ps1" in submission.origin
    forms.write(tmp_path / "export/submission_1/another.py", b"x = 2\n")
    submissions, problems = find_submissions(tmp_path / "export", "ps1")
    assert submissions == []
    assert all("one is needed" in problem.reason for problem in problems)


# --- archives


def tar(path: Path, files: Mapping[str, bytes], *more: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w" if path.suffix == ".tar" else "w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info in more:
            archive.addfile(info)
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize("ending", [".tar.gz", ".tgz", ".tar", ".TAR.GZ"])
def test_a_tar_archive_is_read_as_a_zip_is(tmp_path: Path, ending: str) -> None:
    files = {"./s002/ps1.py": b"2", "./s001/ps1.ipynb": b"{}", "./Zoe\u0308_1.txt": b"x", "./s001/.DS_Store": b""}
    folders = [special(name, tarfile.DIRTYPE) for name in (".", "./s001", "./s002", "./s003")]
    submissions, problems = find_submissions(tar(tmp_path / f"class{ending}", files, *folders), "ps1")
    assert submissions == [Submission("s001", "ps1.ipynb", b"{}"), Submission("s002", "ps1.py", b"2")]
    assert {problem.name for problem in problems} == {"./Zoe\u0308_1.txt", "s003"}


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        (special("s002.py", tarfile.SYMTYPE, "/etc/passwd"), "a link"),
        (special("s002.py", tarfile.LNKTYPE, "s001.py"), "a link"),
        (special("s002.py", tarfile.FIFOTYPE), "neither a file"),
        (special("s002.py", tarfile.CHRTYPE), "neither a file"),
        (special("../s002.py", tarfile.REGTYPE), "points outside"),
        (special("/s002.py", tarfile.REGTYPE), "points outside"),
        (special("s\u202e002.py", tarfile.REGTYPE), "do not print"),
    ],
)
def test_a_hostile_member_of_a_tar_costs_itself_alone(tmp_path: Path, info: tarfile.TarInfo, reason: str) -> None:
    submissions, (problem,) = find_submissions(tar(tmp_path / "x.tar.gz", {"s001.py": b"honest"}, info), "ps1")
    assert submissions == [Submission("s001", "ps1.py", b"honest")]
    assert reason in problem.reason
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.gz"]


def test_a_tar_archive_has_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = tar(tmp_path / "bomb.tar.gz", {"s001.py": bytes(8 * 2**20)})
    assert "more than 200 times its size" in find_submissions(bomb, "ps1")[1][0].reason
    many = tar(tmp_path / "many.tar", {f"s{number:03d}.py": b"x" * 1000 for number in range(100)})
    with monkeypatch.context() as patch:
        patch.setattr(entries, "MAX_ENTRIES", 99)
        assert "more than 99 entries" in find_submissions(many, "ps1")[1][0].reason
    with monkeypatch.context() as patch:
        patch.setattr(entries, "MAX_TOTAL_BYTES", 50_000)
        submissions, problems = find_submissions(many, "ps1")
        assert (len(submissions), len(problems)) == (50, 50)
    # tarfile reads an extended header into memory whole.
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 2**30
    place = forms.write(tmp_path / "header.tar", header.tobuf() + bytes(1024))
    assert "one of its headers is too long" in find_submissions(place, "ps1")[1][0].reason


@settings(max_examples=100)
@given(st.data())
def test_a_damaged_tar_is_never_an_error(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    ending = data.draw(st.sampled_from([".tar", ".tar.gz"]))
    place = tmp_path_factory.getbasetemp() / f"damaged{ending}"
    tar(place, {"s001.py": b"x = 1\n", "s002/ps1.ipynb": b"{}", f"{'n' * 120}/ps1.py": b"x"})
    content = bytearray(place.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    place.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    find_submissions(place, "ps1")


def test_backslashes_separate_folders(tmp_path: Path) -> None:
    names = ["s001\\ps1.py", "s002\\ps1\\ps1.py", "s003\\", "s003\\ps1.py", ".\\s004\\ps1.py"]
    place = raw_zip(tmp_path / "x.zip", {name.encode(): b"" if name.endswith("\\") else b"x = 1\n" for name in names})
    assert students(place) == ["s001", "s002", "s003", "s004"]
    for name in ("..\\s002.py", "s002\\..\\..\\x.py", "C:\\s002.py", "\\\\server\\s002.py"):
        submissions, (problem,) = find_submissions(
            raw_zip(tmp_path / "x.zip", {name.encode(): b"x", b"s001.py": b"x"}), "ps1"
        )
        assert [submission.student for submission in submissions] == ["s001"]
        assert "points outside the archive" in problem.reason


def raw_zip(path: Path, members: Mapping[bytes, bytes], flag: int = 0) -> Path:
    """A zip archive with names of these bytes, whatever encoding they are in, without the flag that says UTF-8."""
    with zipfile.ZipFile(path, "w") as archive:
        for number, content in enumerate(members.values()):
            archive.writestr(f"{number:03d}".ljust(len(list(members)[number]), "_"), content)
    data = path.read_bytes()
    for number, name in enumerate(members):
        data = data.replace(f"{number:03d}".ljust(len(name), "_").encode(), name)
    path.write_bytes(data)
    return path


def test_names_in_utf8_need_no_flag(tmp_path: Path) -> None:
    name = "Zoe\u0308 Test हिन_1500001_assignsubmission_file_/ps1.py"
    place = raw_zip(tmp_path / "moodle.zip", {name.encode(): b"x = 1\n"})
    assert students(place, moodle_roster(tmp_path, "Zo\u00eb Test हिन")) == ["s001"]
    # What is no UTF-8 is what the zip format says it is.
    place = raw_zip(tmp_path / "moodle.zip", {b"Zo\x89 Test_1500001_assignsubmission_file_/ps1.py": b"x = 1\n"})
    assert students(place, moodle_roster(tmp_path, "Zo\u00eb Test")) == ["s001"]


def test_a_zip_may_have_entries_for_its_folders(tmp_path: Path) -> None:
    """As `zip -r` writes it."""
    members = {"class/": b"", "class/s001/": b"", "class/s001/ps1/": b"", "class/s001/ps1/ps1.py": b"x = 1\n",
               "class/s002/": b"", "class/s002/ps1.py": b"x = 1\n"}  # fmt: skip
    assert students(forms.zipped(tmp_path / "class.zip", members)) == ["s001", "s002"]
    members = {"Test A_7_assignsubmission_file_/": b"", "Test A_7_assignsubmission_file_/ps1.py": b"x = 1\n"}
    assert students(forms.zipped(tmp_path / "moodle.zip", members)) == ["moodle-7"]


def test_two_entries_that_would_become_one_file_are_both_refused(tmp_path: Path) -> None:
    for first, second in (
        ("s001\\ps1.py", "s001/ps1.py"),
        ("./s001/ps1.py", "s001/ps1.py"),
        ("s/e\u0301.py", "s/\u00e9.py"),
    ):
        place = forms.zipped(tmp_path / "x.zip", {first: b"1", second: b"2", "s002.py": b"x"})
        submissions, problems = find_submissions(place, "ps1")
        assert [submission.student for submission in submissions] == ["s002"]
        assert {problem.reason for problem in problems} == {"the archive has 2 entries of this name"}


# --- times


@pytest.mark.parametrize(
    ("written", "utc"),
    [
        ("2026-09-24 12:00:00.000000 UTC", "2026-09-24 12:00"),
        ("2026-09-24 12:00:00", "2026-09-24 12:00"),
        ("2026-09-24 14:00:00.000000 CEST", "2026-09-24 12:00"),
        ("2026-09-24 14:00:00.000000 Europe/Berlin", "2026-09-24 12:00"),
        ("2026-09-24 14:00:00 +0200", "2026-09-24 12:00"),
        ("2026-09-24 14:00:00+02:00", "2026-09-24 12:00"),
        ("2026-09-24 14:00:00 UTC+02:00", "2026-09-24 12:00"),
        ("2026-09-24T12:00:00Z", "2026-09-24 12:00"),
        ("2026-01-24 12:00:00 CET", "2026-01-24 11:00"),
        ("2026-01-24 12:00:00 EST", "2026-01-24 17:00"),
        # The hour that is shown twice: its name says which of the two it is.
        ("2026-10-25 02:30:00 CEST", "2026-10-25 00:30"),
        ("2026-10-25 02:30:00 CET", "2026-10-25 01:30"),
        # Names of several zones: nobody can tell.
        ("2026-01-24 12:00:00 CST", None),
        ("2026-01-24 12:00:00 IST", None),
        # A zone that does not have that name at that time.
        ("2026-01-24 12:00:00 CEST", None),
        ("2026-09-24 12:00:00 XYZT", None),
        ("2026-09-24 12:00:00 ../../etc/passwd", None),
        ("2026-09-24 12:00:00 /etc/localtime", None),
        ("2026-09-24 25:00:00 UTC", None),
        ("24.9.2026 12:00", None),
        ("", None),
        ("9999-12-31 23:59:59 -1400", None),
    ],
)
def test_times_with_names_of_zones(written: str, utc: str | None) -> None:
    moment = read_moment(written)
    assert (moment and f"{moment:%Y-%m-%d %H:%M}") == utc


def test_a_name_of_several_zones_is_the_courses_own() -> None:
    chicago, shanghai = ZoneInfo("America/Chicago"), ZoneInfo("Asia/Shanghai")
    assert f"{read_moment('2026-01-24 12:00:00 CST', chicago):%d %H}" == "24 18"
    assert f"{read_moment('2026-01-24 12:00:00 CST', shanghai):%d %H}" == "24 04"


def test_one_moment_in_three_zones_is_one_moment(tmp_path: Path) -> None:
    for number, written in enumerate(("12:00:00.000000 UTC", "14:00:00.000000 CEST", "14:00:00.000000 Europe/Berlin")):
        place = tmp_path / "submitted" / f"s{number:03d}" / "ps1"
        forms.write(place / "ps1.py", b"x = 1\n")
        forms.write(place / "timestamp.txt", f"2026-09-24 {written}\n".encode())
    submissions, problems = find_submissions(tmp_path / "submitted", "ps1")
    assert {submission.submitted for submission in submissions} == {NOON}
    assert problems == []


@pytest.mark.parametrize("written", ["last week", "2026-01-24 12:00:00 IST", "", "\x1b[2J", "9" * 5000])
def test_a_timestamp_that_cannot_be_read_is_listed(tmp_path: Path, written: str) -> None:
    place = tmp_path / "submitted" / "s001" / "ps1"
    forms.write(place / "ps1.py", b"x = 1\n")
    forms.write(place / "timestamp.txt", written.encode())
    (submission,), (problem,) = find_submissions(tmp_path / "submitted", "ps1")
    assert submission.submitted is None
    assert (problem.name, problem.student, problem.graded) == ("s001/ps1/ps1.py", "s001", True)
    assert problem.reason.startswith("the time in timestamp.txt, `")
    assert problem.reason.endswith("; write it there in the form 2026-09-20 12:00:00 UTC and grade again")
    assert problem.reason.isprintable()


def test_of_attempts_at_the_same_time_the_one_that_arrived_later_comes_last(tmp_path: Path) -> None:
    metadata = "    :submitters:\n    - :sid: s001\n    :created_at: 2026-09-20 20:00:00.000000000 Z\n"
    last = metadata.replace("    :", "  :").replace("    -", "  -")
    metadata = f"submission_10:\n{last}  :history:\n  - :id: 9\n{metadata}  - :id: 8\n{metadata}"
    forms.write(tmp_path / "export/submission_metadata.yml", metadata.encode())
    for number in (8, 9, 10):
        forms.write(tmp_path / f"export/submission_{number}/ps1.py", b"%d" % number)
    submissions, problems = find_submissions(tmp_path / "export", "ps1")
    assert [submission.source for submission in submissions] == [b"8", b"9", b"10"]
    assert problems == []
