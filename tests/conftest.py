"""What all tests share: one way to draw examples, and a copy of the course to plant mistakes in."""

from __future__ import annotations

import builtins
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

# The same examples in every run: a failure in CI is a failure here. No deadline, because CI machines stall.
settings.register_profile(
    "fixed", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")


@pytest.fixture
def course_copy(tmp_path: Path) -> Path:
    """A folder with a copy of what an instructor edits: course.yml, assignments/ (without drawings) and solutions/."""
    root = tmp_path / "course"
    root.mkdir()
    shutil.copy(ROOT / "course.yml", root)
    for name in ("assignments", "solutions"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "*.svg"))
    return root


@pytest.fixture
def own_input() -> Iterator[None]:
    """Gives `input` back afterwards: loading a submission replaces it."""
    before = builtins.input
    yield
    builtins.input = before
