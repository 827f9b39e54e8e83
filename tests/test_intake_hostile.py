"""Nobody hands in for somebody else, or at a time of their choice, by what they put into their own folder."""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from autograder.intake import FormError, Roster, Submission, Unreadable, find_submissions
from tests.support import platform_forms as forms

EARLY = "2026-01-01 00:00:00 Z"
ROSTER = Roster(
    ("s001", "s002", "s003"),
    {
        "canvas": {"70001": "s001", "70002": "s002", "70003": "s003"},
        "moodle": {"1500001": "s001", "1500002": "s002", "1500003": "s003"},
        "github": {"octo": "s001", "hexa": "s002", "deca": "s003"},
    },
)


def metadata(*folders: str) -> bytes:
    """What Gradescope writes for one submission a folder, as a student would write it in another's name."""
    return "".join(
        f"{folder}:\n  :submitters:\n  - :sid: s{number:03d}\n  :created_at: {EARLY}\n"
        for number, folder in enumerate(folders, start=2)
    ).encode()


# What a student puts into a folder of their own, so that it looks as if a platform had made it.
DISGUISES: dict[str, dict[str, bytes]] = {
    "Gradescope": {
        "submission_metadata.yml": metadata("submission_1"),
        "submission_1/ps1.py": b"theirs = 1\n",
    },
    "Gradescope, two": {
        "submission_metadata.yml": metadata("submission_1", "submission_2"),
        "submission_1/ps1.py": b"theirs = 1\n",
        "submission_2/ps1.py": b"theirs = 2\n",
    },
    "Gradescope, the folder ps1": {"submission_metadata.yml": metadata("ps1"), "ps1/ps1.py": b"theirs = 1\n"},
    "Canvas": {"x_70002_9000002_ps1.py": b"theirs = 1\n"},
    "Canvas, two": {"x_70002_9000002_ps1.py": b"theirs = 1\n", "y_70003_9000003_ps1.py": b"theirs = 2\n"},
    "Moodle": {"X_1500002_assignsubmission_file_/ps1.py": b"theirs = 1\n"},
    "Moodle, two": {
        "X_1500002_assignsubmission_file_/ps1.py": b"theirs = 1\n",
        "Y_1500003_assignsubmission_file_/ps1.py": b"theirs = 2\n",
    },
}


def on_disk(root: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        forms.write(root / name, content)
    return root


def packed(folder: Path, files: Mapping[str, bytes]) -> Path:
    return forms.zipped(folder / "download.zip", dict(files))


@pytest.mark.parametrize("roster", [None, ROSTER], ids=["no roster", "roster"])
@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("honest", [True, False], ids=["with an answer", "without"])
def test_one_students_own_folder_is_nobody_elses(
    tmp_path: Path, disguise: str, form: str, roster: Roster | None, honest: bool
) -> None:
    own = {"ps1.py": b"mine = 1\n"} if honest else {}
    files = {f"s001/{name}": content for name, content in {**own, **DISGUISES[disguise]}.items()}
    place = on_disk(tmp_path / "class", files) if form == "folder" else packed(tmp_path, files)
    submissions, problems = find_submissions(place, "ps1", roster)
    assert {submission.student for submission in submissions} <= {"s001"}
    assert [submission.submitted for submission in submissions] == [None] * len(submissions)
    if honest:
        assert [submission.source for submission in submissions] == [b"mine = 1\n"]
    elif not submissions:
        assert {problem.student for problem in problems} == {"s001"}


@pytest.mark.parametrize("roster", [None, ROSTER], ids=["no roster", "roster"])
@pytest.mark.parametrize("name", ["ps1-octo", "octo", "s001", "my work"])
@pytest.mark.parametrize("disguise", [name for name in DISGUISES if "two" in name])
def test_one_students_clone_is_nobody_elses(tmp_path: Path, disguise: str, name: str, roster: Roster | None) -> None:
    place = tmp_path / "clones" / name
    place.mkdir(parents=True)
    forms.make_repository(place, [Submission("s001", "ps1.py", b"mine = 1\n")])
    on_disk(place, DISGUISES[disguise])
    submissions, _ = find_submissions(tmp_path / "clones", "ps1", roster)
    assert {submission.source for submission in submissions} <= {b"mine = 1\n"}
    submissions, _ = find_submissions(place, "ps1", roster)  # the clone itself as the place
    assert {submission.source for submission in submissions} <= {b"mine = 1\n"}


@pytest.mark.parametrize("disguise", [name for name in DISGUISES if "two" in name])
def test_a_repository_in_a_zip_is_nobody_elses(tmp_path: Path, disguise: str) -> None:
    files = {f"my work/{name}": content for name, content in {".git/HEAD": b"x", **DISGUISES[disguise]}.items()}
    submissions, _ = find_submissions(packed(tmp_path, files), "ps1", ROSTER)
    assert submissions == []


@pytest.mark.parametrize("disguise", [name for name in DISGUISES if "two" in name])
def test_the_place_may_be_a_students_folder(tmp_path: Path, disguise: str) -> None:
    place = on_disk(tmp_path / "s001", {"ps1.py": b"mine = 1\n", **DISGUISES[disguise]})
    submissions, _ = find_submissions(place, "ps1", ROSTER)
    assert [(submission.student, submission.source) for submission in submissions] == [("s001", b"mine = 1\n")]


def test_a_repository_that_is_named_as_moodle_names_folders_is_a_repository(tmp_path: Path) -> None:
    place = tmp_path / "clones" / "X_1500002_assignsubmission_file_"
    place.mkdir(parents=True)
    forms.make_repository(place, [Submission("s001", "ps1.py", b"x = 1\n")])
    submissions, (problem,) = find_submissions(tmp_path / "clones", "ps1", ROSTER)
    assert submissions == []
    assert problem.name == "X_1500002_assignsubmission_file_"


@pytest.mark.parametrize("maker", [forms.make_canvas_zip, forms.make_moodle_zip, forms.make_gradescope_zip])
@pytest.mark.parametrize("count", [1, 2])
def test_a_wrapper_counts_if_it_holds_two_submissions_and_is_nobodys(tmp_path: Path, maker: forms.Maker, count: int) -> None:
    """A download that somebody unpacked and packed again; of one submission, a person must say what it is."""
    submissions = [Submission(f"s{number:03d}", "ps1.py", b"x = 1\n") for number in range(1, 3)]
    roster = forms.read_makers_roster(tmp_path, ["s001", "s002"])
    files = forms.members(maker(tmp_path, submissions[:count]))
    place = packed(tmp_path, {f"from the platform/{name.split('/', name.startswith('assignment'))[-1]}": content
                              for name, content in files.items()})  # fmt: skip
    submissions, problems = find_submissions(place, "ps1", roster)
    name = maker.__name__.split("_")[1]
    if count == 2:
        assert [submission.student for submission in submissions] == ["s001", "s002"]
        assert problems == []
    else:
        assert submissions == []
    submissions, problems = find_submissions(place, "ps1", roster, form=name)
    assert [submission.student for submission in submissions] == ["s001", "s002"][:count]
    assert problems == []


def test_without_a_roster_a_wrapper_that_may_be_a_student_is_listed_with_the_remedy(tmp_path: Path) -> None:
    submissions = [Submission(f"s{number:03d}", "ps1.py", b"x = 1\n") for number in range(1, 4)]
    files = forms.members(forms.make_canvas_zip(tmp_path, submissions))
    place = packed(tmp_path, {f"download/{name}": content for name, content in files.items()})
    submissions, problems = find_submissions(place, "ps1")
    assert submissions == []
    assert "if this is a Canvas download and no student's own folder, say `--form canvas`" in problems[0].reason
    assert len(find_submissions(place, "ps1", form="canvas")[0]) == 3
    # What unpacking Canvas's own submissions.zip makes is no student.
    place = packed(tmp_path, {f"submissions/{name}": content for name, content in files.items()})
    assert len(find_submissions(place, "ps1")[0]) == 3


def test_a_genuine_export_of_one_is_admitted_by_its_form(tmp_path: Path) -> None:
    when = datetime.datetime(2026, 9, 20, 12, tzinfo=datetime.UTC)
    place = forms.make_gradescope_zip(tmp_path, [Submission("s001", "ps1.py", b"x = 1\n", when)])
    roster = forms.read_makers_roster(tmp_path, ["s001"])
    submissions, problems = find_submissions(place, "ps1", roster)
    assert submissions == []
    assert all("--form gradescope" in problem.reason for problem in problems)
    (submission,), problems = find_submissions(place, "ps1", roster, form="gradescope")
    assert (submission.student, submission.submitted, problems) == ("s001", when, [])


def test_a_form_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    place = forms.make_canvas_zip(tmp_path, [Submission("s001", "ps1.py", b"x = 1\n")])
    with pytest.raises(FormError, match="there is no Gradescope export in it"):
        find_submissions(place, "ps1", form="gradescope")
    submissions, problems = find_submissions(place, "ps1", form="students")
    assert submissions == [Submission("students001_70001_9000001_ps1", "ps1.py", b"x = 1\n")]
    assert problems == []


# --- a single student's folder given as the place


@pytest.mark.parametrize("inner", ["ps1.py", "ps1/ps1.py", "ps1/PS1 (1).ipynb"])
@pytest.mark.parametrize("roster", [None, ROSTER], ids=["no roster", "roster"])
def test_a_single_students_folder_is_that_students(tmp_path: Path, inner: str, roster: Roster | None) -> None:
    place = on_disk(tmp_path / "s001", {inner: b"x = 1\n", "notes.txt": b""})
    submissions, problems = find_submissions(place, "ps1", roster)
    assert [submission.student for submission in submissions] == ["s001"]
    assert problems == []
    zipped = forms.zipped(tmp_path / "s001.zip", {f"s001/{inner}": b"x = 1\n"})
    assert [submission.student for submission in find_submissions(zipped, "ps1", roster)[0]] == ["s001"]


def test_the_problem_sets_own_name_is_no_student(tmp_path: Path) -> None:
    reason = "named after the problem set, so nobody can tell whose it is; put it into a folder named after its student"
    place = on_disk(tmp_path / "ps1", {"ps1.py": b"x = 1\n"})
    assert find_submissions(place / "ps1.py", "ps1") == ([], [Unreadable("ps1.py", reason)])
    on_disk(place, {"s001.py": b"x = 1\n"})
    submissions, problems = find_submissions(place, "ps1")
    assert [submission.student for submission in submissions] == ["s001"]
    assert problems == [Unreadable("ps1.py", reason)]


# --- clones and the roster


def clones(folder: Path, names: Mapping[str, bytes]) -> Path:
    for name, source in names.items():
        (folder / "clones" / name).mkdir(parents=True)
        forms.make_repository(folder / "clones" / name, [Submission("s001", "ps1.py", source)])
    return folder / "clones"


def test_clones_may_be_named_after_students_although_the_roster_knows_accounts(tmp_path: Path) -> None:
    submissions, problems = find_submissions(clones(tmp_path, {"s001": b"1", "ps1-hexa": b"2", "deca": b"3"}), "ps1", ROSTER)
    assert [(submission.student, submission.source) for submission in submissions] == [
        ("s001", b"1"),
        ("s002", b"2"),
        ("s003", b"3"),
    ]
    assert problems == []


def test_an_account_that_is_named_after_a_student_is_not_that_student(tmp_path: Path) -> None:
    submissions, (problem,) = find_submissions(clones(tmp_path, {"ps1-s002": b"mine", "ps1-octo": b"1"}), "ps1", ROSTER)
    assert [(submission.student, submission.source) for submission in submissions] == [("s001", b"1")]
    assert problem.reason.startswith("not in the roster: ps1-s002, s002; add it to the column `github`")
    submissions, (problem,) = find_submissions(clones(tmp_path / "bare", {"s002": b"mine", "hexa": b"2"}), "ps1", ROSTER)
    assert [(submission.student, submission.source) for submission in submissions] == [("s002", b"2")]
    assert problem.reason == "a second submission of s002; keep one of them"


def test_a_shallow_clone_tells_no_time_and_is_listed_with_the_remedy(tmp_path: Path) -> None:
    times = [datetime.datetime(2026, 9, day, 12, tzinfo=datetime.UTC) for day in (20, 25)]
    origin = tmp_path / "origin"
    origin.mkdir()
    forms.make_repository(
        origin, [Submission("s001", "ps1.py", b"1", times[0]), Submission("s001", "ps2.py", b"2", times[1])]
    )
    place = tmp_path / "clones" / "s001"
    for depth in ("1", "2"):
        command = ["git", "clone", "--quiet", "--depth", depth, f"file://{origin}", str(place)]
        subprocess.run(command, check=True, capture_output=True)
        (submission,), problems = find_submissions(tmp_path / "clones", "ps1")
        if depth == "1":
            # All that the clone shows is that of ps2, five days later.
            assert (submission.source, submission.submitted) == (b"1", None)
            assert "the clone is shallow and does not tell the time" in problems[0].reason
            assert "run `git fetch --unshallow` in it" in problems[0].reason
            subprocess.run(["rm", "-r", str(place)], check=True)
        else:
            assert (submission.submitted, problems) == (times[0], [])
