"""Follow-through marks: a mistake costs its own question, and what builds on it only as the course's policy says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder import run
from autograder.course import load_course
from autograder.intake import Submission
from autograder.messages import Task
from autograder.record import Record, Verdict
from autograder.runtime.outcomes import Status

TINY = Path(__file__).parent / "tiny_course"

STACK = """
def stack(layer, x, times):
    for _ in range(times):
        x = layer(x)
    return x
"""
SUBMISSIONS = {
    "wrong": f"def halve(x): return x / 3\n{STACK}\ndef quarter(x):\n    print('seen', x)\n    return halve(halve(x))\n",
    "missing": f"{STACK}\ndef quarter(x): return halve(halve(x))\n",
    "in_place": (
        f"def halve(x): return x\n{STACK}\n"
        "def quarter(x):\n    half = halve(x)\n    if half is x: return x\n    half /= 2\n    return half\n"
    ),
    "both_wrong": f"def halve(x): return x / 3\n{STACK}\ndef quarter(x): return halve(x)\n",
    "own_mistake": f"def halve(x): return x / 2\n{STACK}\ndef quarter(x): return halve(x)\n",
    "untouched": "def halve(x): raise NotImplementedError\ndef quarter(x): raise NotImplementedError\n",
}


def graded(folder: Path, policy: str) -> dict[str, Record]:
    shutil.copytree(TINY, folder)
    with (folder / "course.yml").open("a", encoding="utf-8") as settings:
        settings.write(f"policy: {{follow_through: {policy}}}\n")
    problem_set = load_course(folder).problem_set("layers")
    tasks = {name: Task(Submission(name, "layers.py", text.encode())) for name, text in SUBMISSIONS.items()}
    return dict(run.graded(folder, problem_set, tasks, jobs=1))


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    return graded(tmp_path_factory.mktemp("full") / "course", "full")


def quarter(record: Record) -> tuple[Verdict, ...]:
    assert record.is_sound, record.fault
    return tuple(record.verdicts_of("quarter"))


@pytest.mark.parametrize("name", ["wrong", "missing", "in_place"])
def test_what_fails_by_another_question_alone_is_credited_and_both_outcomes_are_kept(
    full: dict[str, Record], name: str
) -> None:
    for verdict in quarter(full[name]):
        assert (verdict.status, verdict.follow_through, verdict.score) == (Status.FAILED, Status.PASSED, 1.0)
        assert verdict.fix_first == ("halve",)
        assert "`halve` fails: fix it first" in full[name].told(verdict)
    score = full[name].question("quarter")
    assert score is not None
    assert (score.score, score.undone) == (2.0, False)


def test_a_mistake_of_its_own_is_not_credited(full: dict[str, Record]) -> None:
    for verdict in quarter(full["both_wrong"]):
        assert (verdict.follow_through, verdict.score) == (Status.FAILED, 0.0)
        assert "Even with it right this test does not pass." in full["both_wrong"].told(verdict)
    for verdict in quarter(full["own_mistake"]):
        assert (verdict.follow_through, verdict.fix_first, verdict.score) == (None, (), 0.0)


def test_a_stub_stays_a_stub(full: dict[str, Record]) -> None:
    score = full["untouched"].question("quarter")
    assert score is not None
    assert (score.score, score.undone) == (0.0, True)


def test_nothing_that_the_second_run_prints_is_kept(full: dict[str, Record]) -> None:
    # Twice a call, in the public test and in the hidden one; the second run adds nothing.
    assert (full["wrong"].output + full["wrong"].staff_output).count("seen") == 4
    assert "seen [4.]" in full["wrong"].output


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "credit"), [("half", 0.5), ("none", 0.0)])
def test_the_policy_says_what_is_credited(tmp_path: Path, policy: str, credit: float) -> None:
    record = graded(tmp_path / "course", policy)["wrong"]
    assert [verdict.score for verdict in quarter(record)] == [credit, credit]
    assert {verdict.follow_through for verdict in quarter(record)} == ({Status.PASSED} if credit else {None})
