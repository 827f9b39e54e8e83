"""The guides in docs/ that are written from the sources are what the sources give, and no row of the ledger is forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.authoring.citations import citations, ungraded
from autograder.authoring.guides import guides
from autograder.course import Course, load_course

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(ROOT)


def test_the_committed_guides_are_what_the_sources_give(course: Course) -> None:
    for name, text in guides(course).items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, "run: python -m autograder.authoring.guides"


def test_every_row_that_may_be_graded_is_graded(course: Course) -> None:
    assert ungraded(course) == []


def test_a_test_is_found_that_reads_a_row_through_a_helper(course: Course) -> None:
    # `printed` in ps4's public tests reads the row for several tests.
    [citation] = [
        each for each in citations(course)["D1-10"] if (each.problem_set, each.question) == ("ps4", "sqrt_d_table")
    ]
    assert "test_first_row_unscaled" in citation.tests
    assert "test_every_query_has_its_own_keys" not in citation.tests


def test_a_row_without_a_test_says_why(course: Course) -> None:
    for row, graded_by in citations(course).items():
        assert all(citation.how for citation in graded_by), row
