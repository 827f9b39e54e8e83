"""Every problem set of the course passes its own gate, and its template is what the sources give."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.authoring.sources import agrees, source_checks
from autograder.authoring.template import problem_set_files, stale, template_files
from autograder.course import Course, load_course

ROOT = Path(__file__).resolve().parents[1]
SLUGS = [listing.slug for listing in load_course(ROOT).settings.problem_sets]


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(ROOT)


@pytest.mark.slow
@pytest.mark.parametrize("slug", SLUGS)
def test_the_sources_of_a_problem_set_pass_their_checks(course: Course, slug: str) -> None:
    # The gate's other checks take minutes: `course validate --all`, once a week in CI, and before every release.
    checks = list(source_checks(course, course.problem_set(slug)))
    assert len(checks) > 5
    assert {check.name: check.problems for check in checks if check.problems} == {}


@pytest.mark.parametrize("slug", SLUGS)
def test_the_committed_template_is_what_the_sources_give(course: Course, slug: str) -> None:
    files = {**template_files(course), **problem_set_files(course, course.problem_set(slug))}
    assert stale(files, ROOT / "student_template") == [], f"run: course release {slug} --draft"


@pytest.mark.parametrize(
    ("printed", "value", "expected"),
    [
        ("0.6367", 0.63671875, True),
        ("0.6368", 0.63671875, False),
        ("−1.5", -1.5, True),
        ("1,500", 1500, True),
        ("163/256", "163/256", True),
        ("164/256", "163/256", False),
        ("6.7e-16", 6.661e-16, True),
        ("6.6e-16", 6.661e-16, False),
        ("25", 25.4, True),
        ("25", 25.6, False),
    ],
)
def test_a_printed_number_agrees_to_its_last_place(printed: str, value: object, expected: bool) -> None:
    assert agrees(printed, value) is expected
