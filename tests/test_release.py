"""`course release`: what goes out, what forbids it, and that the same sources give the same bytes."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.authoring.new import new_problem_set
from autograder.authoring.release import (
    manifest,
    release_record,
    shipped_lines,
    solution_files,
    uncommitted,
    version_problems,
)
from autograder.authoring.template import problem_set_files
from autograder.course import Course, ProblemSet, load_course
from autograder.platforms.archive import archive
from tests.support.drafts import NAME, TODAY, add, change, path_of

COURSE = Path(sys.executable).parent / "course"


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=course", "-c", "user.email=course@localhost", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def course_command(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COURSE, *arguments], cwd=root, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def committed(course_copy: Path) -> Path:
    """A course in git with one new problem set, ready to go out."""
    new_problem_set(load_course(course_copy), NAME, TODAY)
    (course_copy / "CHANGELOG.md").write_text("- handout: ps7 0.1.0: a first problem set.\n", encoding="utf-8")
    (course_copy / ".gitignore").write_text("dist/\n__pycache__/\n", encoding="utf-8")
    git(course_copy, "init", "--quiet")
    commit(course_copy)
    return course_copy


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "course")


def loaded(root: Path) -> tuple[Course, ProblemSet, dict[str, bytes]]:
    course = load_course(root)
    problem_set = course.problem_set("ps7")
    return course, problem_set, problem_set_files(course, problem_set)


def test_the_same_files_give_the_same_zip_whatever_their_order() -> None:
    files = {"b.txt": b"two", "a/c.txt": b"one"}
    assert archive(files) == archive(dict(reversed(files.items())))
    with zipfile.ZipFile(io.BytesIO(archive(files))) as bundle:
        assert {name: bundle.read(name) for name in bundle.namelist()} == files


def test_a_tree_that_is_not_committed_is_named(committed: Path) -> None:
    assert uncommitted(committed) == []
    # Data of students, which is never committed, holds up no release.
    (committed / "roster.csv").write_text("student\ns001\n", encoding="utf-8")
    assert uncommitted(committed) == []
    add(committed, "handout.md", "\nMore.\n")
    (committed / "stray.txt").write_text("x", encoding="utf-8")
    assert uncommitted(committed) == [
        f"not committed: assignments/{NAME}/handout.md",
        "not committed: stray.txt",
    ]


def test_a_folder_without_git_is_named(course_copy: Path) -> None:
    assert "is not a git repository" in uncommitted(course_copy)[0]


def test_a_version_without_an_entry_in_the_changelog_is_named(committed: Path) -> None:
    assert version_problems(*loaded(committed)) == []
    (committed / "CHANGELOG.md").write_text("- handout: ps7 0.1.00: no.\n- code: ps7 0.1.0: no.\n", encoding="utf-8")
    assert "has no entry `- handout: ps7 0.1.0: …`" in version_problems(*loaded(committed))[0]


def test_what_is_out_changes_only_with_a_higher_version(committed: Path) -> None:
    course, problem_set, files = loaded(committed)
    path_of(committed, "released.json").write_text(json.dumps(manifest(problem_set, files)), encoding="utf-8")
    assert version_problems(course, problem_set, files) == []

    change(committed, "handout.md", "and the next question.", "and more.")
    problems = version_problems(*loaded(committed))
    assert problems[:2] == ["changed since 0.1.0: ps7/README.md", "changed since 0.1.0: ps7/ps7.ipynb"]
    assert problems[2].startswith("raise `version` in ")

    (committed / "CHANGELOG.md").write_text("- handout: ps7 0.2.0: more.\n", encoding="utf-8")
    change(committed, "assignment.yml", "version: 0.1.0", "version: 0.2.0")
    assert version_problems(*loaded(committed)) == []
    change(committed, "assignment.yml", "version: 0.2.0", "version: 0.0.9")
    assert "version 0.0.9 is older than 0.1.0, which is out" in version_problems(*loaded(committed))


def test_lines_of_earlier_releases_are_still_known(committed: Path) -> None:
    _, problem_set, files = loaded(committed)
    assert shipped_lines(problem_set) == frozenset()
    path_of(committed, "released.json").write_text(json.dumps(release_record(problem_set, files)), encoding="utf-8")
    first = shipped_lines(problem_set)
    assert {"# ps7: a title", 'sys.path.insert(0, "..")  # where the folder `autograder` lies'} <= first
    change(committed, "handout.md", "and the next question.", "and more.")
    _, problem_set, files = loaded(committed)
    path_of(committed, "released.json").write_text(json.dumps(release_record(problem_set, files)), encoding="utf-8")
    second = shipped_lines(problem_set)
    assert first < second
    assert all("and more." in line for line in second - first)


def test_solutions_go_out_without_markers_and_still_run(committed: Path) -> None:
    (text,) = solution_files(loaded(committed)[1]).values()
    assert b"SOLUTION" not in text
    assert b"return values - values.mean()" in text
    compile(text, "solution", "exec")


def test_solutions_stay_here_until_the_last_student_is_due(committed: Path) -> None:
    settings = committed / "course.yml"
    text = settings.read_text(encoding="utf-8")
    past = re.sub(
        r"(folder: ps7.*\n.*\n    released: ).*\n    due: .*",
        r"\g<1>2020-01-01T09:00:00+00:00\n    due: 2020-01-15T09:00:00+00:00",
        text,
    )
    extended = past.replace(
        "extensions: []", "extensions:\n  - {student: s003, problem_set: ps7, until: 2999-01-01T00:00:00+00:00}"
    )
    assert extended != past != text
    settings.write_text(extended, encoding="utf-8")
    refused = course_command(committed, "release", "ps7", "--solutions")
    assert refused.returncode == 2
    assert "until the last student's due date, 2999-01-01" in refused.stderr
    assert not (committed / "dist").exists()
    settings.write_text(past, encoding="utf-8")
    assert course_command(committed, "release", "ps7", "--solutions").returncode == 0
    with zipfile.ZipFile(committed / "dist/ps7-0.1.0-solutions.zip") as bundle:
        assert bundle.namelist() == ["ps7/ps7_solution.py"]


def test_a_platform_that_nothing_is_built_for_is_refused_with_those_that_there_are(committed: Path) -> None:
    refused = course_command(committed, "release", "ps7", "--platform", "blackboard")
    assert refused.returncode == 2
    assert "there is no platform 'blackboard'; there are gradescope, nbgrader, otter" in refused.stderr
    assert not (committed / "dist").exists()


@pytest.mark.slow
def test_a_release_from_the_first_to_the_next(committed: Path) -> None:
    add(committed, "handout.md", "\nMore.\n")
    refused = course_command(committed, "release", "ps7")
    assert refused.returncode == 2
    assert f"not committed: assignments/{NAME}/handout.md" in refused.stderr
    assert not (committed / "student_template").exists()

    commit(committed)
    first = course_command(committed, "release", "ps7")
    assert first.returncode == 0, first.stdout + first.stderr
    bundle = (committed / "dist/ps7-0.1.0.zip").read_bytes()
    with zipfile.ZipFile(io.BytesIO(bundle)) as opened:
        unpacked = {name: opened.read(name) for name in opened.namelist()}
    names, hashes = set(unpacked), json.loads(unpacked["ps7/manifest.json"])["files"]
    assert set(hashes) == names - {"ps7/manifest.json"}
    assert {"README.md", "ps7/ps7.py", "ps7/ps7.ipynb", "autograder/kit/update.py"} <= names

    # What a release writes is to be committed; then nothing differs.
    commit(committed)
    assert course_command(committed, "release", "ps7", "--check").returncode == 0
    assert archive(unpacked) == bundle

    change(committed, "handout.md", "More.", "Other.")
    differs = course_command(committed, "release", "ps7", "--check")
    assert differs.returncode == 1
    assert "changed since 0.1.0: ps7/README.md" in differs.stdout
    assert "stale: student_template/ps7/README.md" in differs.stdout


@pytest.mark.slow
def test_a_problem_set_that_fails_the_gate_does_not_go_out(committed: Path) -> None:
    change(committed, "mutants.py", "np.median(values)", "np.mean(values)")
    commit(committed)
    refused = course_command(committed, "release", "ps7")
    assert refused.returncode == 2
    assert "minus_the_median loses no points" in refused.stdout
    assert "the checks above fail" in refused.stderr
    assert not (committed / "dist").exists()
