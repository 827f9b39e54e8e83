"""The gradebook in nbgrader's database, and the page in which a person grades."""

from __future__ import annotations

import csv
import datetime
import functools
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("nbgrader", reason="needs the extra `grader`")

import typer
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.gradebook import gradebook as gradebook_command
from autograder.course import Course, ProblemSet, load_course
from autograder.gradebook import GradebookError, give, gradebook_url, manual_scores, sync
from autograder.grades import Grade, Manual, grade
from autograder.intake.submission import Submission
from autograder.journal import Attempt, Journal, Stored
from autograder.platforms.formgrader import grading_notebook
from autograder.reading import essays, from_csv, to_csv
from autograder.record import Record
from tests.support import records
from tests.support.browsing import TOKEN, jupyter_server, tab_of
from tests.support.nbgrader_tools import nbgrader_api, succeed

ROOT = Path(__file__).resolve().parents[1]
DUE = datetime.datetime(2026, 9, 21, 23, 59, tzinfo=datetime.UTC)
Scores = dict[str, float]


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(ROOT)


@pytest.fixture(scope="module")
def problem_set(course: Course) -> ProblemSet:
    return course.problem_set("ps1")


@pytest.fixture(scope="module")
def empty(course: Course, problem_set: ProblemSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gradebook without students; making one takes nbgrader seconds."""
    folder = tmp_path_factory.mktemp("empty")
    sync(gradebook_url(folder), course, problem_set, [])
    return folder / "gradebook.db"


@pytest.fixture
def url(empty: Path, tmp_path: Path) -> str:
    shutil.copy(empty, tmp_path / "gradebook.db")
    return gradebook_url(tmp_path)


def record(problem_set: ProblemSet, scores: Scores, answer: str = "", fault: str = "") -> Record:
    """A grading's record, as far as a gradebook reads it."""
    *tested, written = problem_set.assignment.questions
    questions = [
        *(records.score(question, scores.get(question.id, 0.0), undone=question.id not in scores) for question in tested),
        records.score(written, answer=answer, undone=not answer),
    ]
    said = {"hidden": True, "message": "said to staff", "safe": "said to all"}
    verdicts = [records.verdict(f"test_{question.id}", question.id, **said) for question in tested]
    return records.record(questions, verdicts, fault=fault)


ESSAY = '=Because ‘it’ says so,\nand "so" does everybody.'


def spreadsheet(content: bytes, path: Path, **cells: str) -> Path:
    """The file as a reader saves it: the cells of every row changed."""
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, **cells} for row in rows)
    return path


def test_essays_go_out_anonymous_and_come_back_with_points_and_comments(
    url: str, course: Course, problem_set: ProblemSet, tmp_path: Path
) -> None:
    students = [made(course, problem_set, f"s{number:03d}", {"mix": 2.0}, ESSAY) for number in range(3)]
    sync(url, course, problem_set, [*students, made(course, problem_set, "s009", {"mix": 2.0})])
    out = to_csv(answers := essays(problem_set, students))
    assert len(answers) == 3
    assert not any(each.student.encode() in out for each in students)
    returned = from_csv(spreadsheet(out, tmp_path / "back.csv", points="3,5", comment="Good."), answers)
    assert (len(returned.given), returned.problems, returned.unread) == (3, [], 0)
    give(url, course, problem_set, returned.given)
    manual = manual_scores(url, course, problem_set)
    assert manual == {each.student: {"causation": Manual(3.5, "Good.")} for each in students}
    # A second time, nothing is left to save; and nobody waits any more.
    again = [made(course, problem_set, each.student, {"mix": 2.0}, ESSAY, manual=manual[each.student]) for each in students]
    assert from_csv(tmp_path / "back.csv", essays(problem_set, again)).given == {}
    assert sync(url, course, problem_set, again).waiting == {}


@pytest.mark.parametrize(
    ("cells", "now", "problem"),
    [
        ({"points": "5.5"}, Manual(), "'5.5' is not between 0 and 5"),
        ({"points": "-1"}, Manual(), "'-1' is not between 0 and 5"),
        ({"points": "nan"}, Manual(), "'nan' is not between 0 and 5"),
        ({"points": "much"}, Manual(), "'much' is not between 0 and 5"),
        ({"points": "3", "key": "k123"}, Manual(), "k123 is not a current answer"),
        ({"points": "3"}, Manual(2.0), "somebody gave 2 points meanwhile"),
        ({"points": "3"}, Manual(3.0), ""),
        ({"points": "3"}, Manual(None, "hm"), ""),
    ],
)
def test_what_may_not_be_saved_is_said_and_changes_nothing(
    course: Course, problem_set: ProblemSet, tmp_path: Path, cells: dict[str, str], now: Manual, problem: str
) -> None:
    out = to_csv(essays(problem_set, [made(course, problem_set, "s001", {"mix": 2.0}, ESSAY)]))
    meanwhile = made(course, problem_set, "s001", {"mix": 2.0}, ESSAY, manual={"causation": now})
    returned = from_csv(spreadsheet(out, tmp_path / "back.csv", **cells), essays(problem_set, [meanwhile]))
    assert [problem in each for each in returned.problems] == ([True] if problem else [])
    assert bool(returned.given) == (not problem and now.points is None)


def saying(record: Record, message: str) -> Record:
    """A record whose first verdict says something else."""
    first, *others = record.verdicts
    return replace(record, verdicts=(replace(first, safe=message), *others))


def made(
    course: Course,
    problem_set: ProblemSet,
    student: str,
    scores: Scores,
    answer: str = "",
    days: float = -1,
    manual: dict[str, Manual] | None = None,
) -> Grade:
    """A grade for work handed in so many days after it was due."""
    moment = DUE + datetime.timedelta(days=days)
    attempt = Attempt(student, 1, "ps1.py", "0" * 64, "0" * 64, moment, moment, "")
    stored = Stored(1, 1, Path(), record(problem_set, scores, answer))
    due = course.due(problem_set.slug, student)
    return grade(problem_set, course.settings.policy, due, attempt, stored, manual or {})


@contextmanager
def opened(url: str) -> Iterator[Gradebook]:
    with Gradebook(url, "attention-from-the-inside") as book:
        yield book


def enter(url: str, student: str, cell: str, points: float | None, comment: str | None = None) -> None:
    """What formgrader does when a person enters points or a comment."""
    with opened(url) as book:
        row = book.find_grade(cell, "ps1", "ps1", student)
        row.manual_score = points
        row.needs_manual_grade = points is None and row.auto_score is None
        if comment is not None:
            book.find_comment(cell.replace("test-", "answer-"), "ps1", "ps1", student).manual_comment = comment
        book.db.commit()


def rows(url: str, student: str) -> dict[str, tuple[float | None, float | None, bool]]:
    """Automatic points, points of a person, and whether one must look, by cell."""
    with opened(url) as book:
        grades = book.find_submission_notebook("ps1", "ps1", student).grades
        return {row.name: (row.auto_score, row.manual_score, row.needs_manual_grade) for row in grades}


# --- the database


def test_scores_dates_and_penalties_are_nbgraders(course: Course, problem_set: ProblemSet, url: str) -> None:
    late = made(course, problem_set, "s002", {"mix": 3, "softmax": 4.5}, "An answer.", days=2.5)
    assert late.penalty == 1.5
    done = sync(url, course, problem_set, [made(course, problem_set, "s001", {"mix": 2}), late])
    assert (done.changed, done.waiting) == (2, {"causation": 1})
    with opened(url) as book:
        assignment = book.find_assignment("ps1")
        assert (assignment.duedate, assignment.max_score) == (DUE.replace(tzinfo=None), 52)
        assert (assignment.max_code_score, assignment.max_written_score) == (47, 5)
        each, two = (book.find_submission("ps1", student) for student in ("s001", "s002"))
        assert (each.score, each.needs_manual_grade, each.late_submission_penalty) == (2, False, 0)
        assert (two.score, two.needs_manual_grade, two.late_submission_penalty) == (7.5, True, 1.5)
        assert two.score - two.late_submission_penalty == late.points
        assert (each.total_seconds_late, two.total_seconds_late) == (0, 2.5 * 86400)
        comments = {comment.name: comment.comment for comment in each.notebooks[0].comments}
        assert comments["answer-softmax"] == comments["answer-causation"] == "No response."
        assert comments["answer-mix"] is None


def test_an_extension_is_written_and_taken_back(course_copy: Path, problem_set: ProblemSet, url: str) -> None:
    path = course_copy / "course.yml"
    text = path.read_text(encoding="utf-8")
    more = "extensions: [{student: s001, problem_set: ps1, until: 2026-09-28T23:59:00+00:00}]"
    for extensions, days, penalty in ((more, 7, 0.0), ("extensions: []", None, 3.0)):
        path.write_text(text.replace("extensions: []", extensions), encoding="utf-8")
        own = load_course(course_copy)
        sync(url, own, problem_set, [made(own, problem_set, "s001", {"mix": 3, "attention": 7}, days=3.5)])
        with opened(url) as book:
            found = book.find_submission("ps1", "s001")
            assert found.extension == (datetime.timedelta(days=days) if days else None)
            assert found.late_submission_penalty == penalty


def test_a_second_sync_writes_nothing(course: Course, problem_set: ProblemSet, url: str) -> None:
    grades = [
        made(
            course, problem_set, f"s{number:03d}", {"mix": number % 4, "hull": 0.1 * number}, "x" * (number % 2), number / 10
        )
        for number in range(60)
    ]
    assert sync(url, course, problem_set, grades, failed=["s900"]).changed == 61
    before = Path(url.removeprefix("sqlite:///")).read_bytes()
    assert sync(url, course, problem_set, grades, failed=["s900"]).changed == 0
    assert Path(url.removeprefix("sqlite:///")).read_bytes() == before
    assert sync(url, course, problem_set, [made(course, problem_set, "s007", {"mix": 1}), *grades[8:]]).changed == 1


def test_what_a_person_gave_is_read_back(course: Course, problem_set: ProblemSet, url: str) -> None:
    sync(url, course, problem_set, [made(course, problem_set, name, {"mix": 1}, "Yes.") for name in ("s001", "s002")])
    assert manual_scores(url, course, problem_set) == {}
    enter(url, "s001", "answer-causation", 3.5, "Say what would count against it.")
    enter(url, "s001", "test-mix", 2.0)
    enter(url, "s002", "answer-causation", None, "I come back to this.")
    manual = {
        "s001": {"causation": Manual(3.5, "Say what would count against it."), "mix": Manual(2.0)},
        "s002": {"causation": Manual(None, "I come back to this.")},
    }
    assert manual_scores(url, course, problem_set) == manual
    with opened(url) as book:
        book.find_grade("answer-causation", "ps1", "ps1", "s001").extra_credit = 0.5
        book.db.commit()
    assert manual_scores(url, course, problem_set)["s001"]["causation"].points == 4.0


CELLS = st.sampled_from(["answer-causation", "test-mix"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("sync"), st.integers(0, 3), st.sampled_from(["", "one", "another"]), st.integers(-1, 12)),
        st.tuples(
            st.just("enter"), st.sampled_from(["answer-causation", "test-mix"]), st.integers(0, 5), st.text(max_size=5)
        ),
        st.tuples(st.just("fail")),
    ),
    min_size=2,
    max_size=7,
)
COUNT = iter(range(1_000_000))


@settings(max_examples=12)
@given(steps=STEPS)
def test_no_order_of_syncs_and_faults_touches_what_a_person_gave(
    course: Course, problem_set: ProblemSet, empty: Path, steps: list[tuple[Any, ...]]
) -> None:
    url = f"sqlite:///{empty}"
    student = f"s{next(COUNT)}"
    sync(url, course, problem_set, [made(course, problem_set, student, {"mix": 1})])
    entered: dict[str, tuple[float, str]] = {}
    automatic, penalty = 1.0, 0.0
    for kind, *step in steps:
        if kind == "enter":
            cell, points, comment = step
            comment = comment.replace("\x00", "")
            enter(url, student, cell, points, comment)
            entered[cell] = (points, comment)
        elif kind == "fail":
            sync(url, course, problem_set, [], failed=[student])
            assert all(needs for _, _, needs in rows(url, student).values())
        else:
            score, answer, days = step
            manual = manual_scores(url, course, problem_set).get(student, {})
            own = made(course, problem_set, student, {"mix": float(score)}, answer, days, manual)
            automatic, penalty = float(score), own.penalty
            sync(url, course, problem_set, [own])
        with opened(url) as book:
            submission = book.find_submission("ps1", student)
            assert submission.late_submission_penalty == penalty
            total = entered.get("test-mix", (automatic, ""))[0] + entered.get("answer-causation", (0.0, ""))[0]
            assert submission.score == total
            for cell, (points, comment) in entered.items():
                assert book.find_grade(cell, "ps1", "ps1", student).manual_score == points
                name = cell.replace("test-", "answer-")
                assert book.find_comment(name, "ps1", "ps1", student).manual_comment == comment


def test_a_graders_fault_changes_no_points_and_asks_for_a_look(course: Course, problem_set: ProblemSet, url: str) -> None:
    sync(url, course, problem_set, [made(course, problem_set, "s001", {"mix": 3}, days=2)])
    assert rows(url, "s001")["test-mix"] == (3, None, False)
    sync(url, course, problem_set, [], failed=["s001", "s002"])
    assert rows(url, "s001")["test-mix"] == (3, None, True)
    assert set(rows(url, "s002").values()) == {(None, None, True)}
    with opened(url) as book:
        assert book.find_submission("ps1", "s001").late_submission_penalty == 0.3
    sync(url, course, problem_set, [made(course, problem_set, "s001", {"mix": 3})])
    assert rows(url, "s001")["test-mix"] == (3, None, False)


def test_points_given_for_other_work_are_marked_for_another_look(course: Course, problem_set: ProblemSet, url: str) -> None:
    own = made(course, problem_set, "s001", {"mix": 1}, "An answer.")
    sync(url, course, problem_set, [own])
    enter(url, "s001", "answer-causation", 4)
    enter(url, "s001", "test-mix", 2)
    sync(url, course, problem_set, [own])
    assert {name: row[2] for name, row in rows(url, "s001").items() if row[1] is not None} == {
        "answer-causation": False,
        "test-mix": False,
    }
    changed = made(course, problem_set, "s001", {"mix": 0}, "Another answer.")
    sync(url, course, problem_set, [changed], changed_answers={("s001", "causation")})
    assert rows(url, "s001")["answer-causation"] == (None, 4, True)
    assert rows(url, "s001")["test-mix"] == (0, 2, True)


def test_a_gradebook_of_other_sources_is_refused(course: Course, problem_set: ProblemSet, url: str) -> None:
    with opened(url) as book:
        book.add_grade_cell("test-old", "ps1", "ps1", max_score=3, cell_type="code")
    with pytest.raises(GradebookError, match="cells that belong to no question: test-old"):
        sync(url, course, problem_set, [])


def test_without_a_gradebook_nothing_is_manual_and_nothing_is_made(
    course: Course, problem_set: ProblemSet, url: str, tmp_path: Path
) -> None:
    assert manual_scores(gradebook_url(tmp_path / "none"), course, problem_set) == {}
    assert not (tmp_path / "none").exists()
    assert manual_scores(url, course, course.problem_set("ps2")) == {}


def test_what_is_wrong_is_said(
    course: Course, problem_set: ProblemSet, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gradebook.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(GradebookError, match=r"gradebook\.db cannot be used: file is not a database"):
        sync(url, course, problem_set, [])
    with pytest.raises(GradebookError, match="COURSE_GRADEBOOK is not a database URL"):
        sync("nonsense", course, problem_set, [])
    with pytest.raises(GradebookError) as caught:
        sync("postgresql+psycopg://grader:hush@127.0.0.1:1/none", course, problem_set, [])
    assert "hush" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "nbgrader", None)
    with pytest.raises(GradebookError, match=r"needs nbgrader .*install the extra `grader`"):
        sync(url, course, problem_set, [])


# --- a real PostgreSQL


@pytest.fixture
def postgres() -> Iterator[str]:
    """The URL of a database on a server of its own, which only listens on a socket."""
    pytest.importorskip("psycopg", reason="needs psycopg")
    tools = shutil.which("initdb"), shutil.which("pg_ctl")
    if not all(tools):
        pytest.skip("no PostgreSQL server on this machine")
    initdb, pg_ctl = map(str, tools)
    user = "nobody" if os.geteuid() == 0 else None  # the server refuses to run as root
    run = functools.partial(subprocess.run, user=user, check=True, capture_output=True, timeout=60)
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as name:
        if user:
            shutil.chown(name, user)
        data = f"{name}/data"
        environment = {**os.environ, "HOME": name, "LC_ALL": "C"}
        make = ["-U", "grader", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        run([initdb, "-D", data, *make], env=environment, cwd=name)
        options = f"-c listen_addresses= -c unix_socket_directories={name} -c fsync=off"
        run([pg_ctl, "-D", data, "-w", "-l", f"{name}/log", "-o", options, "start"], env=environment, cwd=name)
        try:
            yield f"postgresql+psycopg://grader@/postgres?host={name}"
        finally:
            run([pg_ctl, "-D", data, "-m", "immediate", "stop"], env=environment, cwd=name)


@pytest.mark.slow
def test_postgres_holds_a_gradebook_as_well(course: Course, problem_set: ProblemSet, postgres: str) -> None:
    grades = [made(course, problem_set, f"s{n:03d}", {"mix": n % 4, "hull": 0.5}, "Yes.", n / 4) for n in range(30)]
    assert sync(postgres, course, problem_set, grades, failed=["s900"]).changed == 31
    enter(postgres, "s001", "answer-causation", 2.5, "Good.\n<b>é</b>")
    assert sync(postgres, course, problem_set, grades, failed=["s900"]).changed == 0
    assert manual_scores(postgres, course, problem_set) == {"s001": {"causation": Manual(2.5, "Good.\n<b>é</b>")}}
    with opened(postgres) as book:
        found = book.find_submission("ps1", "s010")
        assert (found.score, found.late_submission_penalty) == (2.5, grades[10].penalty)


# --- the page a person grades in

ATTACKS = [
    "<script>window.owned = 1</script>",
    "```\n# <img src=x onerror=owned()>\n```",
    "$\\href{javascript:owned()}{x}$",
    "\x1b[2J\u202e",
]
ODD = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(ATTACKS)


@given(answer=ODD, source=ODD, output=ODD)
def test_nothing_of_a_student_stands_where_it_is_rendered(
    problem_set: ProblemSet, answer: str, source: str, output: str
) -> None:
    own = record(problem_set, {"mix": 1}, answer)
    own = saying(own, output)
    page = grading_notebook(problem_set, "ps1.py", source.encode(), own)
    assert page == grading_notebook(problem_set, "ps1.py", source.encode(), own)
    notebook = nbformat.reads(page.decode(), as_version=4)
    nbformat.validate(notebook)
    plain = grading_notebook(problem_set, "ps1.py", b"", record(problem_set, {"mix": 1}, "An answer."))
    words = [[cell for cell in nbformat.reads(text.decode(), 4).cells if cell.cell_type != "code"] for text in (page, plain)]
    assert words[0] == words[1]
    for cell in notebook.cells:
        for shown in cell.get("outputs", []):
            assert (shown.output_type, shown.name) == ("stream", "stdout")
        assert "\x1b" not in cell.source
        assert "\u202e" not in cell.source
        assert not cell.metadata.get("nbgrader") or cell.cell_type == "code"
    assert "said to staff" not in page.decode()


def test_answers_are_found_by_the_templates_marks(course: Course, problem_set: ProblemSet) -> None:
    template = ROOT / "student_template" / "ps1"
    own = record(problem_set, {"mix": 1}, "First line.\n\n" + "word " * 40)
    for filename in ("ps1.py", "ps1.ipynb"):
        source = (template / filename).read_text(encoding="utf-8").replace("def softmax(", "def my_softmax(")
        page = nbformat.reads(grading_notebook(problem_set, filename, source.encode(), own).decode(), as_version=4)
        by_id = {cell.id: cell.source for cell in page.cells}
        assert "def my_softmax(" in by_id["answer-softmax"]
        assert "def causal_mask(" in by_id["answer-masking"]
        assert "def my_softmax(" in by_id["file-text"]
        assert "See the whole file" not in "".join(by_id.values())
        assert max(map(len, by_id["answer-causation"].splitlines())) <= 100
    for broken in (b"[" * 100_000, b"{}", b'{"cells": 3}', b"\xff\x00"):
        page = nbformat.reads(grading_notebook(problem_set, "ps1.ipynb", broken, own).decode(), as_version=4)
        assert "See the whole file" in next(cell.source for cell in page.cells if cell.id == "answer-mix")


def test_a_grader_sees_the_rubric_and_at_last_a_good_answer(problem_set: ProblemSet) -> None:
    own = record(problem_set, {"mix": 1}, "An answer.")
    answers = problem_set.model_answers()
    for model in ({}, answers):
        page = nbformat.reads(grading_notebook(problem_set, "ps1.py", b"", own, model).decode(), as_version=4)
        by_id = {cell.id: cell.source for cell in page.cells}
        assert all(item.text in by_id["rubric-answer-causation"] for item in problem_set.question("causation").rubric)
        assert ("model-answer-causation" in by_id) == bool(model)
    assert by_id["model-answer-causation"].startswith("A good answer:\n\n> ")
    assert answers["causation"].splitlines()[-1] in by_id["model-answer-causation"]


# --- the command, and formgrader


@pytest.fixture(scope="module")
def results(course: Course, problem_set: ProblemSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with a journal of two students, one of them hostile."""
    folder = tmp_path_factory.mktemp("results")
    attack = "<script>window.owned = 1</script><img src=x onerror='window.owned = 2'></pre>$\\href{javascript:owned}{x}$"
    for student, text in (("s001", "Mask the word, and look."), ("s666", f"# Title\n\n{attack}\n\n[x](javascript:owned)")):
        attempt = Journal(folder / "ps1").add(Submission(student, "ps1.py", f"# {attack}\nmix = 1\n".encode()))
        own = saying(record(problem_set, {"mix": 2.0}, text), f"`mix` raised ValueError: {attack}")
        Journal(folder / "ps1").append(attempt, own)
    return folder


def command(results: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    app = typer.Typer()
    app.command()(gradebook_command)
    monkeypatch.chdir(ROOT)
    answer = CliRunner().invoke(app, ["ps1", "--results", str(results)])
    assert answer.exit_code == 0, answer.output
    return answer.output


@pytest.mark.slow
def test_a_person_grades_in_formgrader(
    course: Course, problem_set: ProblemSet, results: Path, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = command(results, monkeypatch)
    assert "2 students in the gradebook, 2 brought up to date" in said
    assert "causation: 2 to grade by hand" in said
    url = gradebook_url(results)
    with opened(url) as book:
        page = book.find_submission_notebook("ps1", "ps1", "s666").id
    with jupyter_server(results) as base, tab_of(browser) as tab:
        tab.goto(f"{base}/login?token={TOKEN}")
        tab.goto(f"{base}/formgrader/gradebook/ps1/ps1")
        tab.wait_for_selector("td a[href*=submissions]")
        tab.goto(f"{base}/formgrader/submissions/{page}/")
        # The page saves nothing before it has fetched its grades and comments.
        tab.wait_for_function("formgrader.grades?.loaded && formgrader.comments?.loaded")
        assert "window.owned" in tab.inner_text("#notebook-container")
        assert tab.evaluate("window.owned") is None
        assert tab.query_selector_all("#notebook-container :is(script, img, iframe, a[href^=javascript])") == []
        for field, value in (("#answer-causation", "4.5"), ("#answer-causation-comment", "Against what?")):
            with tab.expect_response(lambda answer: answer.request.method == "PUT") as saved:
                tab.fill(field, value)
                tab.press(field, "Tab")
            assert saved.value.ok, saved.value.text()
    given = {"s666": {"causation": Manual(4.5, "Against what?")}}
    assert manual_scores(url, course, problem_set) == given
    said = command(results, monkeypatch)
    assert "0 brought up to date" in said
    assert "causation: 1 to grade by hand" in said
    assert manual_scores(url, course, problem_set) == given
    # nbgrader's own feedback pages of these notebooks may be given to students.
    succeed(nbgrader_api(results).generate_feedback("ps1", "s666"))
    html = (results / "feedback" / "s666" / "ps1" / "ps1.html").read_text(encoding="utf-8")
    assert "Against what?" in html
    assert "said to all" in html
    assert "said to staff" not in html


def test_a_new_answer_under_given_points_is_shown_again(
    course: Course, problem_set: ProblemSet, empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(empty, tmp_path / "gradebook.db")
    journal = Journal(tmp_path / "ps1")
    for number, text in enumerate(("First answer.", "Second answer.")):
        attempt = journal.add(Submission("s001", "ps1.py", f"mix = {number}".encode()))
        journal.append(attempt, record(problem_set, {"mix": 1.0}, text))
        said = command(tmp_path, monkeypatch)
        assert ("causation: 1 to grade by hand" in said) is True
        if number == 0:
            enter(gradebook_url(tmp_path), "s001", "answer-causation", 3)
            assert "causation" not in command(tmp_path, monkeypatch)
    assert rows(gradebook_url(tmp_path), "s001")["answer-causation"] == (None, 3, True)
