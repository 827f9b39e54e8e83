"""The release for otter: what `otter assign` makes of it, and otter's own commands on it."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from autograder.authoring.stubs import solution_blocks, stub
from autograder.authoring.template import write
from autograder.course import CourseError, load_course
from autograder.kit.embedded import NotPassed, graded_tests, report, require_passed, run_tests
from autograder.platforms.suite import question_suite
from autograder.platforms.targets.otter import release_files as otter_files
from autograder.suite import import_file

ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
PS1 = COURSE.problem_set("ps1")
FULL = {question.id: question.points for question in PS1.assignment.questions if question.kind != "written"}

RIGHT_MIX = """

def mix(weights, values):
    if (weights < 0).any() or abs(weights.sum() - 1) > 1e-6:
        raise ValueError("no budget of one")
    return weights @ values
"""
WRONG_SOFTMAX = """

def softmax(scores, axis=-1):
    return np.exp(scores)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python, in a folder of its own that is not this repository's: the released kit is the one that is imported."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "MPLBACKEND": "Agg", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of problem set 1; making it includes otter's own test of the reference solution."""
    folder = tmp_path_factory.mktemp("otter")
    write(otter_files(COURSE, PS1), folder)
    return folder


@pytest.mark.slow
def test_students_get_stubs_and_public_tests_and_nothing_hidden(released: Path) -> None:
    notebook = nbformat.read(released / "student/ps1.ipynb", as_version=4)
    nbformat.validate(notebook)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    stubs = {name: stub(block, PS1.solution) for name, block in solution_blocks(PS1).questions.items()}
    answers = [ast.dump(ast.parse(text)) for text in code]
    assert [name for name, text in stubs.items() if ast.dump(ast.parse(text)) not in answers] == []
    assert 'grader.check("softmax")' in code
    assert 'grader.check("reading")' not in code, "it has no public tests, so a check would say that all passed"
    assert "grader.check_all()" in code

    hidden = [name for question in FULL for name, (_, _, is_hidden) in graded_tests(suite(question)).items() if is_hidden]
    assert len(hidden) > 20
    for path in (path for path in (released / "student").rglob("*") if path.is_file()):
        text = path.read_text(encoding="utf-8")
        assert [name for name in hidden if name in text] == [], path
        assert "hidden_suites/" not in text, path
    assert not (released / "student/tests/reading.py").exists()


@pytest.mark.slow
def test_the_zip_has_points_for_each_test_and_depends_on_sources_only(released: Path) -> None:
    with zipfile.ZipFile(released / "autograder.zip") as zipped:
        assert {entry.date_time[0] for entry in zipped.infolist()} == {1980}
        names = set(zipped.namelist())
        assert {f"tests/{question}.py" for question in FULL} <= names
        assert {"setup.sh", "run_autograder", "otter_config.json"} <= names
        # `otter run ps1.py` refuses a second module beside the first.
        assert not [name for name in names if re.fullmatch(r"files/[^/]+\.py", name)]
        assert json.loads(zipped.read("otter_config.json"))["show_hidden"] is True
        text = zipped.read("tests/softmax.py").decode()
    points = [float(outcome) for outcome in re.findall(r"@test_case\(points=([\d.]+)", text)]
    assert sum(points) == FULL["softmax"]
    assert min(points) > 0


@pytest.mark.slow
def test_a_student_checks_in_the_notebook_and_reads_what_is_wrong(released: Path, tmp_path: Path) -> None:
    from nbclient import NotebookClient

    shutil.copytree(released / "student", tmp_path, dirs_exist_ok=True)
    notebook = nbformat.read(tmp_path / "ps1.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code" and "def mix(" in cell.source:
            cell.source += RIGHT_MIX
        if cell.cell_type == "code" and "def softmax(" in cell.source:
            cell.source += WRONG_SOFTMAX
        if "grader.export" in cell.source:
            cell.source = ""
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    said = {
        cell.source: "".join(str(output.get("data", {}).get("text/plain", "")) for output in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    }
    assert "All test cases passed" in said['grader.check("mix")']
    assert "Three equal scores get a third each" in said['grader.check("softmax")']
    assert "should be 0.333333 at" in said['grader.check("softmax")']
    assert "not done yet: `attention`" in said['grader.check("attention")']
    assert "reading" not in said["grader.check_all()"]


@pytest.mark.slow
def test_a_module_is_checked_by_the_command(released: Path, tmp_path: Path) -> None:
    shutil.copytree(released / "student", tmp_path, dirs_exist_ok=True)
    (tmp_path / "ps1.py").write_text(PS1.solution.read_text(encoding="utf-8") + WRONG_SOFTMAX, encoding="utf-8")
    ended = run(tmp_path, "-m", "otter", "check", "ps1.py")
    assert ended.returncode == 0, ended.stderr
    assert "mix results: All test cases passed!" in ended.stdout
    assert "softmax - 1 message: Three equal scores get a third each" in ended.stdout


@pytest.mark.slow
def test_a_reference_that_fails_its_own_tests_is_no_release(course_copy: Path) -> None:
    path = course_copy / "assignments/ps1_weighted_average/test_public.py"
    path.write_text(path.read_text(encoding="utf-8") + BROKEN, encoding="utf-8")
    course = load_course(course_copy)
    with pytest.raises(CourseError, match=r"otter assign failed on ps1:[\s\S]*nobody passes"):
        otter_files(course, course.problem_set("ps1"))


BROKEN = '''

@graded("mix", points=1)
def test_nobody_passes(student):
    """Something that nobody passes."""
    require(False, "nobody passes this")
'''


# --- the tests inside another grader


def suite(question: str, *, hidden: bool = True) -> dict[str, Any]:
    """As it arrives there: through JSON."""
    made: dict[str, Any] = json.loads(json.dumps(question_suite(PS1, question, platform="otter" if hidden else "")))
    return made


def solution(**changes: Any) -> dict[str, Any]:
    return {**vars(import_file(PS1.solution)), **changes}


@pytest.mark.parametrize("question", FULL)
def test_the_reference_passes_each_suite(question: str) -> None:
    outcomes = run_tests(solution(), suite(question))
    assert sum(outcome.earned for outcome in outcomes) == FULL[question]
    assert report(outcomes) == f"{FULL[question]:g} of {FULL[question]:g} points"


def test_a_suite_without_hidden_tests_holds_no_secret() -> None:
    for question in FULL:
        public = suite(question, hidden=False)
        assert list(public["tests"]) == ["test_public.py"]
        assert public["reference"] == ""


def test_of_a_hidden_test_the_report_has_no_numbers() -> None:
    outcomes = run_tests(solution(mix=lambda weights, values: np.zeros(np.shape(values)[1:])), suite("mix"))
    said = report(outcomes)
    [hidden] = [outcome for outcome in outcomes if outcome.hidden and "should be" in outcome.message]
    assert hidden.title in said
    assert hidden.message not in said
    public = [outcome for outcome in outcomes if not outcome.hidden and outcome.message]
    assert public
    assert all(outcome.message in said for outcome in public)


def test_what_a_submission_prints_while_tests_run_is_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    right = solution()["mix"]

    def talks(weights: Any, values: Any) -> Any:
        print("the inputs are", weights)
        print("the inputs are", weights, file=sys.stderr)
        return right(weights, values)

    assert sum(outcome.earned for outcome in run_tests(solution(mix=talks), suite("mix"))) == FULL["mix"]
    assert capsys.readouterr() == ("", "")


def test_a_function_that_does_not_return_is_called_once() -> None:
    calls = []

    def hangs(weights: Any, values: Any) -> None:
        calls.append(1)
        while True:
            pass

    outcomes = run_tests(solution(mix=hangs), {**suite("mix"), "call_seconds": 0.2})
    assert len(calls) == 1
    assert [outcome.earned for outcome in outcomes] == [0] * len(outcomes)
    assert outcomes[0].message.startswith("stopped: `mix` did not finish within 0.2 s")
    assert {outcome.status for outcome in outcomes[1:]} == {"blocked"}


REQUIRING = '''
from autograder.testing import graded, require


@graded("mix", points=1)
def test_first(student):
    """The first."""
    require(student.mix() == 1, "not 1")


@graded("mix", points=1, requires="test_first")
def test_second(student):
    """The second."""


@graded("mix", points=1)
def test_third(student):
    """The third."""
'''


def test_one_test_runs_with_what_it_requires(tmp_path: Path) -> None:
    outcome = {**suite("mix"), "tests": {"test_public.py": REQUIRING}}
    (tmp_path / "mix.json").write_text(json.dumps(outcome))
    assert [outcome.test for outcome in run_tests({"mix": lambda: 1}, outcome, only="test_second")] == [
        "test_first",
        "test_second",
    ]
    require_passed({"mix": lambda: 1}, str(tmp_path / "mix.json"), "test_second")
    with pytest.raises(NotPassed, match=r"^not run, because this did not pass: The first\."):
        require_passed({"mix": lambda: 2}, str(tmp_path / "mix.json"), "test_second")
    require_passed({"mix": lambda: 2}, str(tmp_path / "mix.json"), "test_third")
