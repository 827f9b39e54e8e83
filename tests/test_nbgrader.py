"""A problem set on nbgrader: the course folder, and nbgrader's own commands on it."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytest.importorskip("nbgrader", reason="needs the extra `grader`")

from nbgrader.api import Gradebook
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import (
    Exchange,
    ExchangeCollect,
    ExchangeFetchAssignment,
    ExchangeReleaseAssignment,
    ExchangeSubmit,
)
from nbgrader.validator import Validator

from autograder import run
from autograder.authoring.columns import fitted
from autograder.authoring.stubs import BEGIN, END
from autograder.authoring.template import problem_set_files, write
from autograder.course import Course, CourseError, load_course
from autograder.gradebook import gradebook_url, sync
from autograder.graders.local import LocalGrader
from autograder.grades import grades
from autograder.intake import find_submissions
from autograder.journal import Journal
from autograder.kit.submit import main as submit
from autograder.platforms.suite import question_suite
from autograder.platforms.targets.nbgrader import release_files as nbgrader_files
from autograder.runtime.outcomes import Status
from autograder.testing.bench import HIDDEN
from tests.support.nbgrader_tools import grade_with_nbgrader, hand_in, nbgrader_api, put_alembic_on_path, succeed

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples" / "submissions" / "ps1"
# Two stand for all; benchmarks/parity.py releases and grades every problem set.
RELEASED = ("ps1", "ps4")

# Every function also writes to both streams, shows its arguments as a page would, and leaves a figure open.
NOISE = """
import functools, sys
from IPython.display import display
import matplotlib.pyplot as plt

def noisy(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print("noise", args, file=sys.stderr)
        display("noise " + repr(args))
        plt.figure()
        return function(*args, **kwargs)
    return wrapper

for _name in ("mix", "softmax", "scaled_scores", "attention", "causal_mask", "masked_softmax", "leaves_hull", "heatmap"):
    globals()[_name] = noisy(globals()[_name])
"""


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(ROOT)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database, which takes nbgrader seconds to make."""
    path = tmp_path_factory.mktemp("database") / "gradebook.db"
    put_alembic_on_path()
    Gradebook(f"sqlite:///{path}").close()
    return path


@pytest.fixture(scope="module", params=RELEASED)
def released(
    course: Course, database: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """A problem set and its course folder, after `generate_assignment`."""
    folder = tmp_path_factory.mktemp(request.param)
    shutil.copy(database, folder)
    write(nbgrader_files(course, course.problem_set(request.param)), folder)
    log = succeed(nbgrader_api(folder).generate_assignment(request.param))
    assert "WARNING" not in log
    assert "ERROR" not in log
    return request.param, folder


@pytest.fixture(scope="module")
def graded(
    course: Course, database: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, dict[str, float]]]:
    """The first problem set's course folder with graded submissions, and their points."""
    folder = tmp_path_factory.mktemp("graded")
    shutil.copy(database, folder)
    problem_set = course.problem_set("ps1")
    write(nbgrader_files(course, problem_set), folder)
    noisy = problem_set.solution.read_bytes() + NOISE.encode()
    submissions = {"noisy": ("ps1.py", noisy), "s003": ("ps1.py", (EXAMPLES / "s003" / "ps1.py").read_bytes())}
    return folder, grade_with_nbgrader(folder, "ps1", submissions)


def secret_lines(course: Course, slug: str) -> set[str]:
    """Lines of the solution and of the hidden tests that a student's files do not hold."""
    problem_set = course.problem_set(slug)
    known = b"\n".join(problem_set_files(course, problem_set).values()).decode()
    secret = fitted(problem_set.solution.read_text(encoding="utf-8"))
    for question in problem_set.assignment.questions:
        known += question_suite(problem_set, question.id)["tests"]["test_public.py"]
        secret += question_suite(problem_set, question.id, platform="nbgrader")["tests"][HIDDEN]
    lines = {line.strip() for line in secret.splitlines()} - {BEGIN, END}
    return {line for line in lines if len(line) > 25 and line not in known and json.dumps(line)[1:-1] not in known}


def cells(path: Path) -> dict[str, nbformat.NotebookNode]:
    return {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}


# --- the course folder


def test_a_test_cell_holds_the_very_tests_of_the_engine(course: Course, released: tuple[str, Path]) -> None:
    slug, folder = released
    problem_set = course.problem_set(slug)
    files = nbgrader_files(course, problem_set)
    # The same sources give the same bytes.
    assert {name: (folder / name).read_bytes() for name in files} == files
    notebook = nbformat.reads(files[f"source/{slug}/{slug}.ipynb"].decode(), as_version=4)
    by_id = {cell.id: cell for cell in notebook.cells}
    points = {}
    for question in problem_set.assignment.questions:
        name = f"{'answer' if question.kind == 'written' else 'test'}-{question.id}".replace("_", "-")
        points[name] = question.points
        if question.kind != "written":
            namespace: dict[str, Any] = {}
            source = by_id[name].source
            assert source.endswith("\ncell_points(_suite)")
            exec(source.removesuffix("cell_points(_suite)"), namespace)
            expected = question_suite(problem_set, question.id, platform="nbgrader")
            submissions = namespace["_suite"]
            assert submissions.keys() == expected.keys()
            for key in expected.keys() - {"tests", "reference"}:
                assert submissions[key] == expected[key]
            assert {key: text.strip() for key, text in submissions["tests"].items()} == {
                key: text.strip() for key, text in expected["tests"].items()
            }
            assert submissions["reference"].split("\n") == [""] or compile(submissions["reference"], "reference", "exec")
            assert bool(submissions["reference"]) == bool(expected["reference"])
    marked = [cell.metadata.nbgrader for cell in notebook.cells if "nbgrader" in cell.metadata]
    assert {marks.grade_id: marks.points for marks in marked if marks.grade} == points


def test_tests_with_any_quotes_arrive_as_they_are(course_copy: Path) -> None:
    copied = load_course(course_copy)
    problem_set = copied.problem_set("ps1")
    path = problem_set.folder / HIDDEN
    odd = "    odd = '''three \\\\ quotes''' + \"\\\"\\\"\\\"\" + r'\\d' + '\\n'\n"
    text = path.read_text(encoding="utf-8").replace("    values = np.array([10.0, 20.0, 30.0])\n", odd, 1)
    path.write_text(text, encoding="utf-8")
    source = nbgrader_files(copied, problem_set)["source/ps1/ps1.ipynb"].decode()
    namespace: dict[str, Any] = {}
    cell = next(cell for cell in nbformat.reads(source, as_version=4).cells if cell.id == "test-mix")
    exec(cell.source.removesuffix("cell_points(_suite)"), namespace)
    expected = question_suite(problem_set, "mix", platform="nbgrader")["tests"][HIDDEN]
    assert "three" in expected
    assert namespace["_suite"]["tests"][HIDDEN].strip() == expected.strip()


def test_a_test_with_nbgraders_own_mark_is_refused(course_copy: Path) -> None:
    copied = load_course(course_copy)
    problem_set = copied.problem_set("ps1")
    path = problem_set.folder / HIDDEN
    path.write_text(path.read_text(encoding="utf-8").replace("a weight is negative", "END HIDDEN TESTS"), encoding="utf-8")
    with pytest.raises(CourseError, match="the tests of mix contain nbgrader's mark"):
        nbgrader_files(copied, problem_set)


# --- what nbgrader makes of it


def test_the_release_holds_neither_solutions_nor_hidden_tests(course: Course, released: tuple[str, Path]) -> None:
    slug, folder = released
    secrets = secret_lines(course, slug)
    assert len(secrets) > 100
    source = (folder / "source" / slug / f"{slug}.ipynb").read_text(encoding="utf-8")
    assert sum(json.dumps(line)[1:-1] in source for line in secrets) > len(secrets) * 0.9
    for path in (folder / "release" / slug).rglob("*"):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert not [line for line in secrets if line in text or json.dumps(line)[1:-1] in text], path
            assert "HIDDEN TESTS" not in text
            assert "BEGIN SOLUTION" not in text


def test_released_answers_are_the_templates_stubs(course: Course, released: tuple[str, Path]) -> None:
    slug, folder = released
    template = nbformat.reads(problem_set_files(course, course.problem_set(slug))[f"{slug}/{slug}.ipynb"].decode(), 4)
    stubs = {cell.id: cell.source.strip() for cell in template.cells if cell.id.startswith("answer-")}
    release = cells(folder / "release" / slug / f"{slug}.ipynb")
    assert len(stubs) > 5
    assert {name: release[name].source.strip() for name in stubs} == stubs


@pytest.mark.slow
def test_validate_accepts_the_solution_and_names_what_is_missing(course: Course, tmp_path: Path) -> None:
    write(nbgrader_files(course, course.problem_set("ps1")), tmp_path)
    said = io.StringIO()
    validator = Validator()
    validator.stream = said
    validator.validate_and_print(str(tmp_path / "source" / "ps1" / "ps1.ipynb"))
    assert said.getvalue() == "Success! Your notebook passes all the tests.\n"


@pytest.mark.slow
def test_points_are_the_engines_even_if_the_functions_make_noise(
    course: Course, graded: tuple[Path, dict[str, dict[str, float]]]
) -> None:
    _, points = graded
    questions = course.problem_set("ps1").assignment.questions
    assert points["noisy"] == {question.id: question.points for question in questions if question.kind != "written"}
    row = re.search(r"^\| s003 \|.*?\|.*?\|(.*)\|$", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.M)
    assert row is not None
    expected = [float(cell) for cell in row[1].split("|")[:-2]]
    # The table counts follow-through marks, which nbgrader does not have: two tests of `masking`, 1 point each.
    expected[[question.id for question in questions].index("masking")] -= 2
    assert list(points["s003"].values()) == expected
    assert 0 < sum(expected) < sum(points["noisy"].values())


@pytest.mark.slow
def test_feedback_says_why_and_shows_no_hidden_test(
    course: Course, graded: tuple[Path, dict[str, dict[str, float]]]
) -> None:
    folder, _ = graded
    api = nbgrader_api(folder)
    secrets = {line for line in secret_lines(course, "ps1") if line.isidentifier() or "(" in line}
    for student in ("s003", "noisy"):
        assert "WARNING" not in succeed(api.generate_feedback("ps1", student))
        graded_notebook = (folder / "autograded" / student / "ps1" / "ps1.ipynb").read_text(encoding="utf-8")
        assert "def test_mix_of_other_budgets" in graded_notebook
        own = (folder / "submitted" / student / "ps1" / "ps1.ipynb").read_text(encoding="utf-8")
        page = (folder / "feedback" / student / "ps1" / "ps1.html").read_text(encoding="utf-8")
        text = re.sub(r"<[^>]*>", "", page).replace("&#39;", "'").replace("&quot;", '"').replace("&lt;", "<")
        text = text.replace("&gt;", ">").replace("&amp;", "&")
        assert ("1 of 3 points" in text and "hint: The docstring lists three budgets" in text) is (student == "s003")
        assert not [line for line in secrets if line in text and json.dumps(line)[1:-1] not in own]
        # No output but text: a figure or page of the functions' own would show what a hidden test asked.
        test_cells = [cell for name, cell in cells_of(graded_notebook) if name.startswith("test-")]
        assert len(test_cells) == 10
        for cell in test_cells:
            assert {output.output_type for output in cell.outputs} <= {"stream", "execute_result"}
            assert all(output.name == "stdout" for output in cell.outputs if output.output_type == "stream")
            assert "noise" not in json.dumps(cell.outputs)


def cells_of(text: str) -> Iterator[tuple[str, nbformat.NotebookNode]]:
    for cell in nbformat.reads(text, as_version=4).cells:
        yield cell.metadata.get("nbgrader", {}).get("grade_id", ""), cell


def submit_with_the_kit(
    own: Path, exchange: Path, course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Submit a fetched folder as a student does on a server of the course, whose settings name exchange and student."""
    settings = own.parent / "settings"
    settings.mkdir()
    (settings / "nbgrader_config.py").write_text(
        (course / "nbgrader_config.py").read_text(encoding="utf-8")
        + f"c.Exchange.root = {str(exchange)!r}\nc.CourseDirectory.student_id = 's001'\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(settings))
    monkeypatch.chdir(own)
    assert submit([".", "--exchange"]) == 0
    said = capsys.readouterr().out
    assert "Delivered to nbgrader's exchange: attention-from-the-inside ps1 20" in said
    assert submit([".", "--exchange"]) == 2
    assert "These bytes were handed in before" in capsys.readouterr().out
    shutil.rmtree(exchange / "attention-from-the-inside" / "outbound")
    assert submit([".", "--exchange", "--again"]) == 2
    assert "nbgrader did not take it: " in capsys.readouterr().out
    assert len(list((own / "receipts").iterdir())) == 1


def test_release_fetch_submit_and_collect(
    released: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slug, folder = released

    def do(step: type[Exchange], root: Path, student: str) -> None:
        config = nbgrader_api(folder).config
        config.CourseDirectory.update(root=str(root), assignment_id=slug, student_id=student)
        config.Exchange.update(root=str(tmp_path / "exchange"), assignment_dir=str(home))
        step(coursedir=CourseDirectory(config=config), authenticator=Authenticator(config=config), config=config).start()

    home = tmp_path / "home"
    home.mkdir()
    do(ExchangeReleaseAssignment, folder, "*")
    do(ExchangeFetchAssignment, home, "s001")
    assert contents(home / slug) == contents(folder / "release" / slug)
    notebook = home / slug / f"{slug}.ipynb"
    answer = hand_in(notebook.read_text(encoding="utf-8"), f"{slug}.py", b"mine = 1")
    notebook.write_text(answer, encoding="utf-8")
    if slug == "ps1":
        submit_with_the_kit(home / slug, tmp_path / "exchange", folder, monkeypatch, capsys)
    else:
        do(ExchangeSubmit, home, "s001")
    do(ExchangeCollect, folder, "*")
    collected = folder / "submitted" / "s001" / slug
    assert (collected / f"{slug}.ipynb").read_text(encoding="utf-8") == answer
    assert (collected / "timestamp.txt").is_file()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- nbgrader for collection, the engine for the grade


@pytest.mark.slow
def test_the_engine_grades_what_nbgrader_collected_and_fills_its_gradebook(
    course: Course, graded: tuple[Path, dict[str, dict[str, float]]], tmp_path: Path
) -> None:
    folder, points = graded
    problem_set = course.problem_set("ps1")
    submissions, _ = find_submissions(folder / "submitted", "ps1")
    assert {(each.student, each.filename) for each in submissions} == {("noisy", "ps1.ipynb"), ("s003", "ps1.ipynb")}
    journal = Journal(tmp_path / "ps1")
    attempts = [journal.add(each) for each in submissions if each.student == "s003"]
    [stored] = run.grade(ROOT, problem_set, attempts, journal, lambda _: None, grader=LocalGrader(1))
    questions = stored.record.questions
    own = {question.id: question.score for question in questions if question.kind != "written"}
    # nbgrader gives no follow-through marks.
    earned = {
        name: sum(verdict.points for verdict in stored.record.verdicts_of(name) if verdict.status is Status.PASSED)
        for name in own
    }
    assert earned == points["s003"]
    assert stored.record.look == ()

    url = gradebook_url(folder)
    for grade in grades(course, problem_set, journal):
        first, *others = grade.stored.record.questions
        record = replace(grade.stored.record, questions=(replace(first, score=1.0), *others))
        # As if the tests were others since.
        sync(url, course, problem_set, [replace(grade, stored=replace(grade.stored, record=record))])
    with nbgrader_api(folder).gradebook as book:
        assert book.find_submission("ps1", "s003").score == sum(own.values()) - own["mix"] + 1
        assert book.find_submission("ps1", "noisy").score == sum(points["noisy"].values())
