"""`course regrade` and `course show` on a small course: a test is mended, and points follow only when they should."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from autograder.changes import changes, counts
from autograder.cli import app
from autograder.course import load_course
from autograder.grades import Manual, grades
from autograder.intake import Submission
from autograder.journal import Journal
from autograder.record import QuestionScore, Record
from autograder.runtime.outcomes import Status
from autograder.suite_hash import suite_hash
from tests.support import records

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent
REFERENCE = (HERE / "tiny_course/solutions/tiny.py").read_text(encoding="utf-8")
# Rounds large scores otherwise than the reference does.
RIGHT = REFERENCE.replace(
    "return powers / powers.sum()", "return powers / powers.sum() * (1 + (scores.max() > 1e6) * 1e-13)"
)
ONLY_DOUBLE = "def double(values):\n    return 2 * values\n"
# Right for small scores only, so it fails the mended test as it failed the wrong one.
OVERFLOWS = RIGHT.replace("scores - np.max(scores)", "scores")
SUBMISSIONS = {"s001": RIGHT, "s002": ONLY_DOUBLE, "s003": OVERFLOWS, "s004": RIGHT.replace("2 *", "3 *"), "s005": RIGHT}
MENDED = "reference.softmax(x), atol=1e-9"
WRONG = "reference.softmax(x), atol=0"
MANUAL = {"s001": {"note": Manual(0.5, "well put")}, "s002": {"note": Manual(1.0)}}


class TinyCourse:
    """A copy of the tiny course, with its commands."""

    def __init__(self, root: Path) -> None:
        shutil.copytree(HERE / "tiny_course", root, ignore=shutil.ignore_patterns("__pycache__", "conftest.py"))
        self.root = root
        # Nothing here hangs, and the attacks' tight limits would only tell how busy the machine is.
        settings = (root / "course.yml").read_text(encoding="utf-8")
        (root / "course.yml").write_text(re.sub(r"(_seconds:) \S+", r"\1 60", settings), encoding="utf-8")
        self.tests = root / "assignments" / "tiny" / "test_hidden.py"
        self.journal = Journal(root / "results" / "tiny")

    def run(self, *arguments: str | Path) -> Result:
        with contextlib.chdir(self.root):
            result = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(map(str, arguments)))
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    def hand_in(self, submissions: dict[str, str]) -> Path:
        folder = self.root / "handed_in"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for student, source in submissions.items():
            (folder / f"{student}.py").write_text(source, encoding="utf-8")
        return folder

    def change_tests(self, old: str, new: str) -> None:
        text = self.tests.read_text(encoding="utf-8")
        assert text.count(old) == 1
        self.tests.write_text(text.replace(old, new), encoding="utf-8")

    def points(self) -> dict[str, float]:
        course = load_course(self.root)
        return {grade.student: grade.points for grade in grades(course, course.problem_set("tiny"), self.journal, MANUAL)}

    def files(self) -> dict[str, bytes]:
        paths = (path for path in self.journal.root.rglob("*") if path.is_file())
        return {str(path.relative_to(self.journal.root)): path.read_bytes() for path in paths}


@dataclass
class Story:
    """What each step answered, and what grades and files were after it."""

    course: TinyCourse
    answers: dict[str, Result] = field(default_factory=dict)
    points: dict[str, dict[str, float]] = field(default_factory=dict)
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)

    def step(self, name: str, *arguments: str | Path) -> None:
        self.answers[name] = self.course.run(*arguments)
        self.points[name] = self.course.points()
        self.files[name] = self.course.files()

    def new_files(self, before: str, after: str) -> set[str]:
        assert self.files[before].items() <= self.files[after].items(), "the journal only grows"
        return self.files[after].keys() - self.files[before].keys()

    def said(self, name: str) -> Any:
        return json.loads(self.answers[name].stdout)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    """A wrong test, mended after grading: regraded, applied, a new attempt, taken back, and applied again."""
    course = TinyCourse(tmp_path_factory.mktemp("regrade") / "course")
    story = Story(course)
    course.change_tests(MENDED, WRONG)
    folder = course.hand_in(SUBMISSIONS)
    story.step("graded", "grade", "tiny", folder)
    course.change_tests(WRONG, MENDED)
    story.step("graded again", "grade", "tiny", folder)
    story.step("regraded", "regrade", "tiny", "--why", "test_softmax_large was wrong")
    story.step("shown", "show", "s001")
    story.step("regraded as JSON", "regrade", "tiny", "--json")
    story.step("applied", "regrade", "tiny", "--apply")
    story.step("applied again", "regrade", "tiny", "--apply")
    story.step("shown after", "show", "s001")
    story.step("new attempt", "grade", "tiny", course.hand_in({"s002": RIGHT}))
    story.step("taken back", "regrade", "tiny", "--revert", "1")
    story.step("taken back twice", "regrade", "tiny", "--revert", "1")
    story.step("shown at the end", "show", "s001")
    return story


EXIT_CODES = {"taken back twice": 2}


def test_every_step_ends_as_it_should(story: Story) -> None:
    codes = {name: answer.exit_code for name, answer in story.answers.items()}
    assert codes == {name: EXIT_CODES.get(name, 0) for name in codes}


def test_grading_by_changed_tests_changes_nothing_and_says_so(story: Story) -> None:
    assert story.new_files("graded", "graded again") == set()
    assert "earlier tests" not in story.answers["graded"].stdout
    assert "5 of 5 were graded by earlier tests; `course regrade tiny` shows what changes" in (
        story.answers["graded again"].stdout
    )


def test_a_regrade_shows_old_and_new_points_and_why(story: Story) -> None:
    text = story.answers["regraded"].stdout
    rows = [line.split("\t") for line in text.splitlines() if re.match(r"s\d\d\d\t", line)]
    assert [row[:5] for row in rows] == [[student, "1", "softmax", "3", "4"] for student in ("s001", "s004", "s005")]
    assert text.count("test_softmax_large: failed → passed") == 3
    assert "it does not count yet; `course regrade tiny --apply` applies it" in text
    # What programs read of a pipe has no title; people read it beside.
    assert "attempts change" not in text
    assert "tiny: regrade 1: 3 of" in story.answers["regraded"].stderr


def test_the_json_of_a_regrade_says_the_same(story: Story) -> None:
    document = story.said("regraded as JSON")
    assert {key: document[key] for key in ("problem_set", "run", "applied", "faults")} == {
        "problem_set": "tiny", "run": 1, "applied": False, "faults": [],
    }  # fmt: skip
    assert document["changes"] == [
        {"student": student, "attempt": 1, "question": "softmax", "old": 3, "new": 4,
         "why": ["test_softmax_large: failed → passed"]}
        for student in ("s001", "s004", "s005")
    ]  # fmt: skip


BEFORE = {"s001": 9.5, "s002": 4, "s003": 9, "s004": 6, "s005": 9}
AFTER = {"s001": 10.5, "s002": 4, "s003": 9, "s004": 7, "s005": 10}


def test_nothing_counts_until_it_is_applied_and_reverting_goes_back(story: Story) -> None:
    for name in ("graded", "graded again", "regraded", "shown", "regraded as JSON"):
        assert story.points[name] == BEFORE, name
    for name in ("applied", "applied again", "shown after"):
        assert story.points[name] == AFTER, name
    assert story.points["new attempt"] == AFTER | {"s002": 11}
    for name in ("taken back", "taken back twice", "shown at the end"):
        assert story.points[name] == BEFORE | {"s002": 11}, name


def test_a_regrade_grades_every_attempt_once_and_no_attempt_twice(story: Story) -> None:
    expected = {f"{student}/001.r2.json" for student in SUBMISSIONS} | {"_runs/0001.json"}
    assert story.new_files("graded again", "regraded") == expected
    assert story.new_files("regraded", "regraded as JSON") == set()
    assert story.new_files("regraded as JSON", "applied") == {"_decisions/0001.json"}
    assert story.new_files("applied", "applied again") == set()
    assert story.new_files("new attempt", "taken back") == {"_decisions/0002.json"}
    assert story.new_files("taken back", "shown at the end") == set()


def test_the_reason_is_kept(story: Story) -> None:
    (run,) = story.course.journal.runs()
    assert run.why == "test_softmax_large was wrong"


def test_an_attempt_after_the_regrade_is_graded_by_todays_tests(story: Story) -> None:
    new = story.new_files("applied again", "new attempt")
    assert {name for name in new if not name.startswith("_objects")} == {"s002/002.attempt.json", "s002/002.json"}
    problem_set = load_course(story.course.root).problem_set("tiny")
    first, again, second = story.course.journal.records("s002")
    assert second.record.provenance.suite == again.record.provenance.suite == suite_hash(problem_set)
    assert first.record.provenance.suite != suite_hash(problem_set)
    assert "s002 #2" in story.answers["new attempt"].stdout


def test_the_history_of_a_student_says_what_counts(story: Story) -> None:
    def rows(name: str) -> list[tuple[str, str, bool]]:
        lines = re.findall(r"^1\tunknown\t(\d): \S+\t([\d.]+)(.*)$", story.answers[name].stdout, re.M)
        return [(run, points, "yes: the grade" in rest) for run, points, rest in lines]

    assert rows("shown") == [("1", "9", True), ("2", "10", False)]
    assert rows("shown after") == [("1", "9", False), ("2", "10", True)]
    assert rows("shown at the end") == rows("shown")
    assert "grade: 9 of 10 by tests, 1 to be read" in story.answers["shown"].stdout
    assert "grade: 10 of 10 by tests, 1 to be read" in story.answers["shown after"].stdout


def test_taking_back_what_is_not_applied_is_an_error_that_names_what_is(story: Story) -> None:
    assert "regrade 1 is not applied to tiny; applied are: none" in story.answers["taken back twice"].output


@pytest.fixture
def continued(story: Story, tmp_path: Path) -> TinyCourse:
    """The course at the end of the story, for another end; without the student who handed in twice."""
    course = TinyCourse(tmp_path / "course")
    shutil.copytree(story.course.journal.root, course.journal.root)
    shutil.rmtree(course.journal.root / "s002")
    return course


def without_s002(points: dict[str, float]) -> dict[str, float]:
    return {student: own for student, own in points.items() if student != "s002"}


def test_going_back_and_forth_between_tests_needs_no_grading(continued: TinyCourse) -> None:
    for old, new, run, points in ((MENDED, WRONG, 2, BEFORE), (WRONG, MENDED, 3, AFTER), (MENDED, WRONG, 2, BEFORE)):
        continued.change_tests(old, new)
        before = continued.files().keys()
        looked = json.loads(continued.run("regrade", "tiny", "--json").stdout)
        assert (looked["run"], looked["applied"]) == (run, False)
        applied = json.loads(continued.run("regrade", "tiny", "--apply", "--json").stdout)
        assert (applied["run"], applied["applied"]) == (run, True)
        assert {name.partition("/")[0] for name in continued.files().keys() - before} <= {"_runs", "_decisions"}
        assert continued.points() == without_s002(points)


def test_a_fault_of_the_grader_changes_nothing_and_is_tried_again(continued: TinyCourse) -> None:
    before = continued.points()
    # A name that is nowhere, met only by who rounds otherwise than the reference does.
    broken = "x[0] = MARK if (student.softmax(x + MARK) == reference.softmax(x + MARK)).all() else MARKS"
    continued.change_tests("x[0] = MARK", broken)
    continued.change_tests("def test_apply_hidden(student, rng)", "def test_apply_hidden(student, rng, reference)")
    answer = continued.run("regrade", "tiny", "--only", "s001", "--apply")
    assert answer.exit_code == 1
    assert "grader fault, points stay" in answer.stdout
    assert answer.stdout.count("\ns001\t") == 1
    assert continued.points() == before
    # Mended in another way than before, so that it must be graded.
    continued.change_tests(broken, "x[0] = +MARK")
    answer = continued.run("regrade", "tiny", "--only", "s001", "--apply")
    assert answer.exit_code == 0
    assert continued.points() == before | {"s001": AFTER["s001"]}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("reference.softmax(x), atol=1e-12", "reference.softmax(x) + 1, atol=1e-12", "test_softmax_hidden: `softmax(x)`"),
        ("x[0] = MARK", "x[0] = MARKS", "name 'MARKS' is not defined"),
    ],
)
def test_nothing_is_graded_by_a_test_that_the_reference_fails(
    continued: TinyCourse, old: str, new: str, reason: str
) -> None:
    before, points = continued.files(), continued.points()
    continued.change_tests(old, new)
    for command in (("grade", "tiny", continued.hand_in({"s009": RIGHT})), ("regrade", "tiny", "--apply")):
        answer = continued.run(*command)
        assert answer.exit_code == 2
        assert "the reference solution fails tests here, so nothing is graded by them" in answer.stderr
        assert reason in answer.stderr
        assert "course validate tiny" in answer.stderr
    kept = {name: content for name, content in continued.files().items() if "s009" not in name}
    assert kept.items() >= before.items()
    assert continued.points() == points
    continued.change_tests(new, old)
    assert continued.run("regrade", "tiny", "--only", "s001").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("regrade", "tiny"), "there are no attempts in"),
        (("regrade", "small"), "there is no problem set 'small'"),
        (("regrade", "tiny", "--only", "s999"), "no submission of s999"),
        (("show", "s999"), "no attempt of s999"),
    ],
)
def test_wrong_usage_says_what_is_wrong(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    answer = TinyCourse(tmp_path / "course").run(*arguments)
    assert answer.exit_code == 2
    assert message in " ".join(answer.output.split())


@pytest.mark.parametrize("place", ["s001/001.json", "s001/001.attempt.json", "_runs/0001.json"])
def test_a_damaged_journal_is_told_in_a_sentence(continued: TinyCourse, place: str) -> None:
    (continued.journal.root / place).write_text("{")
    for arguments in (("show", "s001"), ("regrade", "tiny"), ("regrade", "tiny", "--revert", "1")):
        if place.startswith("s001") and "--revert" in arguments:
            continue
        answer = continued.run(*arguments)
        assert answer.exit_code == 2
        assert f"{continued.journal.root / place} is damaged" in " ".join(answer.output.split())


# --- what changed, and why


def record(*tests: tuple[str, str, str, float, float]) -> Record:
    """A record of tests: name, question, outcome, score and worth."""
    points: dict[str, float] = {}
    for _, question, _, score, _ in tests:
        points[question] = points.get(question, 0) + score
    return records.record(
        [
            QuestionScore(id=question, title="", kind="code", score=score, points=9, undone=False)
            for question, score in points.items()
        ],
        [records.verdict(name, question, Status(outcome), worth) for name, question, outcome, _, worth in tests],
    )


def test_every_kind_of_change_has_its_reason(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    attempt = journal.add(Submission("s001", "tiny.py", b""))
    journal.append(attempt, record(
        ("test_a", "a", "failed", 0, 1), ("test_same", "a", "passed", 1, 1), ("test_worth", "b", "passed", 1, 1),
        ("test_both", "c", "passed", 2, 2), ("test_gone", "d", "passed", 1, 1), ("test_swap", "e", "passed", 1, 1),
    ))  # fmt: skip
    new = journal.append(attempt, record(
        ("test_a", "a", "passed", 1, 1), ("test_same", "a", "passed", 1, 1), ("test_worth", "b", "passed", 3, 3),
        ("test_both", "c", "failed", 0, 3), ("test_new", "f", "passed", 1.5, 1.5), ("test_swap", "e", "passed", 1, 1),
    ))  # fmt: skip
    run = journal.add_run("v2", "1", "", {"s001": {1: new.path.name}})
    changed = {change.question: (change.old, change.new, change.why) for change in changes(journal, run)}
    assert changed == {
        "a": (1, 2, ["test_a: failed → passed"]),
        "b": (1, 3, ["test_worth: passed, worth 1 → 3"]),
        "c": (2, 0, ["test_both: passed → failed, worth 2 → 3"]),
        "d": (1, 0, ["test_gone: gone, was passed"]),
        "f": (0, 1.5, ["test_new: new, passed"]),
    }


def test_changes_are_against_what_counts_without_the_regrade(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    attempt = journal.add(Submission("s001", "tiny.py", b""))
    names = [journal.append(attempt, record(("test", "a", "passed", score, 9))).path.name for score in (1, 2, 3)]
    second, third = (journal.add_run("", "1", "", {"s001": {1: name}}) for name in names[1:])

    def seen() -> list[list[tuple[float, float]]]:
        return [[(change.old, change.new) for change in changes(journal, run)] for run in (second, third)]

    assert seen() == [[(1, 2)], [(1, 3)]]
    journal.decide("apply", second.number)
    assert seen() == [[(1, 2)], [(2, 3)]]
    assert (counts(journal, second), counts(journal, third)) == (True, False)
    journal.decide("apply", third.number)
    assert seen() == [[(3, 2)], [(2, 3)]]
    assert (counts(journal, second), counts(journal, third)) == (False, True)
    journal.decide("revert", third.number)
    assert (counts(journal, second), counts(journal, third)) == (True, False)
