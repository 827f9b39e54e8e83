"""What the gate asks of the teaching frame, on records made by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.authoring.frame_checks import declaration_check, follow_through_check, public_check
from autograder.authoring.leaks import leaks
from autograder.authoring.new import new_problem_set
from autograder.authoring.template import problem_set_files
from autograder.course import ProblemSet, load_course
from autograder.record import Provenance, QuestionScore, Record, Verdict
from autograder.runtime.outcomes import Status
from autograder.variants import Variant
from tests.support.drafts import NAME, TODAY, change, path_of

TINY = Path(__file__).parent / "tiny_course"
PROVENANCE = Provenance("s001", "layers", "1.0.0", "layers.py", "", "", "", "")


@pytest.fixture(scope="module")
def layers() -> ProblemSet:
    """A problem set whose question `quarter` uses `halve`, a name of the question `stack`."""
    return load_course(TINY).problem_set("layers")


@pytest.fixture
def draft(course_copy: Path) -> Path:
    new_problem_set(load_course(course_copy), NAME, TODAY)
    return course_copy


def verdict(test: str, question: str, *, hidden: bool = True, status: Status = Status.PASSED, points: float = 1) -> Verdict:
    return Verdict(test, question, test, hidden, status, points)


def record(*verdicts: Verdict) -> Record:
    questions = [QuestionScore(name, name, "code", 0, 1, False) for name in ("stack", "quarter")]
    return Record(PROVENANCE, tuple(questions), verdicts)


def wrong(name: str, *, frequent: bool = False) -> Variant:
    def function(x: float) -> float:
        return x

    function.__name__ = name
    return Variant("stack", function, replaces="halve", hint="Hint.", frequent=frequent)


def test_follow_through_must_restore_what_depends_on_a_mutant_and_nothing_else(layers: ProblemSet) -> None:
    own = verdict("test_stack", "stack", status=Status.FAILED)
    lost = verdict("test_quarter", "quarter", status=Status.FAILED)
    restored = replace(lost, follow_through=Status.PASSED)
    cases: dict[str, tuple[Record, list[str]]] = {
        "good": (record(own, restored), []),
        "lost": (record(own, replace(lost, follow_through=Status.FAILED)), ["lost: test_quarter is not restored"]),
        "never tried": (record(own, lost), ["never tried: test_quarter is not restored"]),
        "too good": (
            record(replace(own, follow_through=Status.PASSED), restored),
            ["too good: test_stack does not depend on halve, but is restored"],
        ),
    }
    for name, (made, problems) in cases.items():
        check = follow_through_check(layers, {("mutants", name): made}, {name: wrong(name)})
        assert check.problems == problems
    switched_off = replace(layers, follow_through=0.0)
    assert (
        follow_through_check(switched_off, {("mutants", "lost"): cases["lost"][0]}, {"lost": wrong("lost")}).problems == []
    )


def test_public_tests_must_catch_what_is_frequent_and_give_about_half_of_the_points(layers: ProblemSet) -> None:
    public, hidden = verdict("test_seen", "stack", hidden=False), verdict("test_unseen", "stack")

    def found(reference: Record, mutant: Record, *, frequent: bool) -> tuple[list[str], list[str]]:
        records = {("reference", "module"): reference, ("mutants", "m"): mutant}
        check = public_check(layers, records, {"m": wrong("m", frequent=frequent)})
        return check.problems, [warning for warning in check.warnings if "of the automatic points" in warning]

    missed = record(public, replace(hidden, status=Status.FAILED))
    caught = record(replace(public, status=Status.FAILED), hidden)
    even = record(public, hidden)
    assert found(even, caught, frequent=True) == ([], [])
    assert found(even, missed, frequent=False) == ([], [])
    assert found(even, missed, frequent=True) == (["m is frequent, but passes every public test"], [])
    for points in (0.5, 2.0):
        _, warnings = found(record(replace(public, points=points), hidden), caught, frequent=True)
        assert len(warnings) == 1
        assert "50% to 60% is a good share" in warnings[0]


def test_what_is_not_declared_is_named(draft: Path) -> None:
    assert _declared(draft) == ([], [])
    change(draft, "assignment.yml", "    minutes: 10 ", "    #")
    change(draft, "assignment.yml", "    difficulty: easy ", "    #")
    text = path_of(draft, "assignment.yml").read_text(encoding="utf-8")
    path_of(draft, "assignment.yml").write_text(text[: text.index("    hints:")], encoding="utf-8")
    change(draft, "explanations.md", "### Another way", "Besides:")
    change(draft, "payoffs.py", "def centred", "def centered")
    change(draft, "mutants.py", "museum=", "hint_for_staff=")
    problems, warnings = _declared(draft)
    assert [problem.partition("payoffs.py: ")[2] for problem in problems] == ["centered is not a question"]
    assert warnings == [
        f"centred has no {missing}"
        for missing in (
            "minutes", "difficulty", "hints", "other way in its explanation", "drawing in payoffs.py",
            "entry in the error museum",
        )
    ]  # fmt: skip


def _declared(root: Path) -> tuple[list[str], list[str]]:
    check = declaration_check(load_course(root).problem_set("ps7"))
    return check.problems, check.warnings


@pytest.mark.parametrize(
    ("plant", "sentence"),
    [
        (lambda text: text.replace('"wrong": {', '"code": "return values", "wrong": {', 1), "a slip holds more than a name"),
        (
            lambda text: text.replace('"wrong": {', '"wrong": {"[1.0, 2.0]": "[-1.0, 0.0]", ', 1),
            "a slip holds more than a name",
        ),
    ],
)
def test_a_slip_that_gives_more_than_digests_away_is_a_leak(draft: Path, plant: Callable[[str], str], sentence: str) -> None:
    course = load_course(draft)
    problem_set = course.problem_set("ps7")
    files = problem_set_files(course, problem_set)
    assert leaks(problem_set, files) == []
    name = "ps7/problem_set.json"
    planted = {**files, name: plant(files[name].decode()).encode()}
    assert planted != files
    assert any(sentence in leak for leak in leaks(problem_set, planted))


def test_the_code_of_a_mutant_is_a_leak(draft: Path) -> None:
    course = load_course(draft)
    problem_set = course.problem_set("ps7")
    files = problem_set_files(course, problem_set)
    module = (
        files["ps7/ps7.py"]
        .decode()
        .replace('raise NotImplementedError("not done yet")', "return numbers - (numbers.min() + numbers.max()) / 2")
    )
    [leak] = leaks(problem_set, {**files, "ps7/ps7.py": module.encode()})
    assert "a statement with the structure of one in the mutant minus_the_middle_of_the_range" in leak
