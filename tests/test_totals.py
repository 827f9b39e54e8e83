"""What the grades of all problem sets come to; the right values are worked out by hand."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import load_course
from autograder.intake import Submission
from autograder.journal import Journal
from autograder.totals import totals
from tests.support import records

ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
FIRST, SECOND = COURSE.settings.problem_sets[:2]


def hand_in(results: Path, slug: str, student: str, share: float | None, *, days_late: int = 0) -> None:
    """An attempt on a problem set of the course, with that share of the points of each question by tests."""
    problem_set, journal = COURSE.problem_set(slug), Journal(results / slug)
    due = COURSE.due(slug, student)
    submitted = due + datetime.timedelta(days=days_late)
    attempt = journal.add(Submission(student, f"{slug}.py", student.encode(), submitted))
    if share is not None:
        questions = [
            records.score(question, share * question.points)
            if question.kind != "written"
            else records.score(question, undone=True)
            for question in problem_set.assignment.questions
        ]
        journal.append(attempt, records.record(questions))


def shown(results: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    monkeypatch.chdir(ROOT)
    answer = CliRunner().invoke(app, ["totals", "--results", str(results)])
    return answer.exit_code, answer.output


def test_each_problem_set_counts_by_its_weight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for listing in COURSE.settings.problem_sets:
        hand_in(tmp_path, listing.slug, "s001", 1.0)
    hand_in(tmp_path, FIRST.slug, "s002", 0.5)
    hand_in(tmp_path, SECOND.slug, "s002", 1.0, days_late=2)  # one day of grace, so one day late: 10 % off
    hand_in(tmp_path, SECOND.slug, "s003", None)
    code, text = shown(tmp_path, monkeypatch)
    assert code == 0
    header, *rows = [line.split("\t") for line in text.splitlines() if "\t" in line]
    slugs = [listing.slug for listing in COURSE.settings.problem_sets]
    assert [name.split()[0] for name in header] == ["student", *slugs, "total", "what"]
    by_student = {row[0]: row[1:] for row in rows}
    automatic = [
        sum(question.points for question in COURSE.problem_set(slug).assignment.questions if question.kind != "written")
        / sum(question.points for question in COURSE.problem_set(slug).assignment.questions)
        for slug in slugs
    ]
    # Written answers were not begun, so they earn nothing, and nobody waits for their points.
    full = sum(listing.weight * share for listing, share in zip(COURSE.settings.problem_sets, automatic, strict=True))
    assert float(by_student["s001"][-2]) == pytest.approx(full, abs=0.006)
    halved, late = 0.5 * FIRST.weight * automatic[0], 0.9 * SECOND.weight * automatic[1]
    assert float(by_student["s002"][-2]) == pytest.approx(halved + late, abs=0.011)
    assert by_student["s002"][2:-2] == ["-"] * (len(slugs) - 2)
    assert by_student["s003"][1] == "?"
    assert by_student["s003"][-2:] == ["0", f"more may come from {SECOND.slug}"]


def test_without_any_work_there_are_no_totals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = shown(tmp_path, monkeypatch)
    assert code == 2
    assert "no attempts in" in text
    assert totals({FIRST: {}}) == []
