"""A new problem set: small, whole, and good in the eyes of `course validate`; its author edits from there."""

from __future__ import annotations

import datetime
import re
from importlib.resources import files
from pathlib import Path

from autograder.course import Course, CourseError, load_course

SCAFFOLD = (
    "assignment.yml",
    "handout.md",
    "test_public.py",
    "test_hidden.py",
    "mutants.py",
    "alternatives.py",
    "payoffs.py",
    "explanations.md",
)
_NAME = re.compile(r"([a-z][a-z0-9]{0,20})(_[a-z0-9_]{1,40})?")
LISTING = """  - slug: {slug}
    folder: {folder}
    weight: 0              # a draft; give it a weight when it counts, so that all add up to 100
    released: {released}
    due: {due}
"""


def new_problem_set(course: Course, name: str, today: datetime.date) -> list[Path]:
    """Write a minimal problem set called `name`, such as `ps7_sparse_attention`, and list it in course.yml.

    Its slug is what stands before the first underscore. Returns the files to edit. Raises `CourseError` for a name that does
    not fit or is taken, before anything is written.
    """
    match = _NAME.fullmatch(name)
    if not match:
        raise CourseError(f"{name!r} is not a name for a problem set; write one like ps7_sparse_attention")
    slug = match[1]
    folder, solution = course.root / "assignments" / name, course.root / "solutions" / f"{name}.py"
    for listing in course.settings.problem_sets:
        if slug == listing.slug:
            raise CourseError(f"course.yml has a problem set {slug} already (assignments/{listing.folder})")
    for path in (folder, solution):
        if path.exists():
            raise CourseError(f"{path} is there already; choose another name, or move it away")
    settings = course.root / "course.yml"
    before = settings.read_text(encoding="utf-8")
    text = _listed(before, LISTING.format(slug=slug, folder=name, **_dates(today)))

    folder.mkdir(parents=True)
    texts = {folder / part: _scaffold(part, slug, today) for part in SCAFFOLD}
    texts[solution] = _scaffold("solution.py", slug, today)
    for path, content in texts.items():
        path.write_text(content, encoding="utf-8")
    settings.write_text(text, encoding="utf-8")
    try:
        load_course(course.root).problem_set(slug)
    except CourseError as error:
        settings.write_text(before, encoding="utf-8")
        raise CourseError(f"course.yml could not be extended by itself; add this to problem_sets:\n{error}") from None
    return [*texts, settings]


def _scaffold(part: str, slug: str, today: datetime.date) -> str:
    text = files("autograder.authoring").joinpath("scaffold", f"{part}.txt").read_text(encoding="utf-8")
    return text.replace("SLUG", slug).replace("SEED", today.strftime("%Y%m%d"))


def _dates(today: datetime.date) -> dict[str, str]:
    """Out on the next Monday, due two weeks later."""
    monday = today + datetime.timedelta(days=7 - today.weekday())
    due = monday + datetime.timedelta(days=14)
    return {"released": f"{monday}T09:00:00+00:00", "due": f"{due}T23:59:00+00:00"}


def _listed(text: str, listing: str) -> str:
    """course.yml with a listing behind the last one; comments and all else stay as they are."""
    lines = text.splitlines(keepends=True)
    start = next((number for number, line in enumerate(lines) if line.startswith("problem_sets:")), None)
    if start is None:
        raise CourseError(f"course.yml has no line `problem_sets:`; add this below it:\n{listing}")
    inside = [number for number in range(start + 1, len(lines)) if lines[number].startswith((" ", "-"))]
    end = next((number for number in range(start + 1, len(lines)) if lines[number][:1].isalpha()), len(lines))
    last = max(number for number in inside if number < end)
    if not lines[last].endswith("\n"):
        lines[last] += "\n"
    return "".join([*lines[: last + 1], listing, *lines[last + 1 :]])
