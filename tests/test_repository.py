"""The template as a repository: what GitHub runs, what an editor reads, and which versions students install."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.authoring.repository import requirements
from autograder.authoring.template import problem_set_files, public_points, template_files, write
from autograder.course import load_course
from autograder.kit.command import main
from autograder.kit.release_files import read_release

ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
PS1 = COURSE.problem_set("ps1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    write({**template_files(COURSE), **problem_set_files(COURSE, PS1)}, folder)
    return folder


@pytest.fixture(scope="module")
def steps(folder: Path) -> list[dict[str, Any]]:
    workflow = yaml.safe_load((folder / ".github" / "workflows" / "check-ps1.yml").read_text(encoding="utf-8"))
    assert workflow["on"]["push"] == {"paths": ["ps1/**"]}
    steps: list[dict[str, Any]] = workflow["jobs"]["check"]["steps"]
    return steps


def graded(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [step for step in steps if "autograding-command-grader" in step.get("uses", "")]


def test_there_is_one_entry_per_question_with_its_public_points(steps: list[dict[str, Any]]) -> None:
    public = public_points(PS1)
    assert {step["id"]: step["with"]["max-score"] for step in graded(steps)} == {
        question.id: public[question.id] for question in PS1.assignment.questions if public.get(question.id)
    }
    reporter = steps[-1]
    assert reporter["with"]["runners"].split(",") == [step["id"] for step in graded(steps)]
    # As the reporter looks for them.
    for runner in reporter["with"]["runners"].split(","):
        assert reporter["env"][f"{runner.upper()}_RESULTS"] == f"${{{{ steps.{runner}.outputs.result }}}}"


def test_the_commands_give_each_question_its_own_verdict(
    folder: Path, steps: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    work = folder / "ps1" / "ps1.py"
    untouched = work.read_bytes()
    slip = "\n\ndef scaled_scores(queries, keys):\n    return queries @ np.swapaxes(keys, -1, -2)\n\n\nguess_effect = None\n"
    work.write_text(PS1.solution.read_text(encoding="utf-8") + slip, encoding="utf-8")
    monkeypatch.chdir(folder)
    commands = {step["id"]: shlex.split(step["with"]["command"]) for step in graded(steps)}
    passed = {question for question, [_, _, *arguments] in commands.items() if main(arguments) == 0}
    assert passed == commands.keys() - {"scaled_scores", "attention", "guess_effect"}
    capsys.readouterr()
    # As written, in a process that has no more than the action gives it.
    command = " ".join(commands["mix"]).replace("python", shlex.quote(sys.executable), 1)
    done = subprocess.run(command, shell=True, cwd=folder, env={}, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("  mix  2 of 2 points\n")
    work.write_bytes(untouched)


def test_public_points_are_whole_numbers_as_the_action_reads_them() -> None:
    for listed in COURSE.settings.problem_sets:
        points = public_points(COURSE.problem_set(listed.slug))
        assert all(float(value).is_integer() for value in points.values()), listed.slug


def test_students_install_what_the_grader_has(folder: Path, course_copy: Path) -> None:
    pinned = (folder / "requirements.txt").read_text(encoding="utf-8").split("\n")
    lock = (ROOT / "requirements" / "base.txt").read_text(encoding="utf-8")
    for name in ("numpy", "matplotlib", "ipython", "pytest"):
        (line,) = (line for line in pinned if line.startswith(f"{name}=="))
        assert line in lock
    assert "numpy>=1.26" in requirements(load_course(course_copy)), "a course without a lock file"


def test_an_update_brings_workflows_and_settings_too(folder: Path) -> None:
    (folder / ".git").mkdir(exist_ok=True)
    (folder / ".git" / "config").write_text("")
    names = read_release(folder).keys()
    assert {".gitignore", ".vscode/settings.json", ".github/workflows/check-ps1.yml"} <= names
    assert not any(name.startswith(".git/") for name in names)
    assert json.loads((folder / ".vscode" / "settings.json").read_text())["python.testing.pytestEnabled"] is True
