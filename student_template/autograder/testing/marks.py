"""The mark that makes a pytest function a graded test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])


@dataclass(frozen=True)
class Graded:
    """What a graded test carries. `requires` names a test of the same question that must pass first.

    Without `follow_through`, a failed test does not run again with the reference's functions in place of broken ones.
    """

    question: str
    points: float
    hint: str = ""
    requires: str = ""
    title: str = ""
    follow_through: bool = True


def graded(
    question: str, *, points: float, hint: str = "", requires: str = "", follow_through: bool = True
) -> Callable[[Test], Test]:
    """Mark a test as part of `question`, worth `points`. Its docstring's first line is the title a student reads.

    `follow_through=False` is for a test of thousands of calls: across the sandboxes they would take too long.
    """

    def mark(test: Test) -> Test:
        title = (test.__doc__ or "").strip().partition("\n")[0]
        if not title:
            raise TypeError(f"{test.__name__}: a graded test needs a docstring; its first line is what students read")
        marked: Test = pytest.mark.graded(Graded(question, points, hint, requires, title, follow_through))(test)
        return marked

    return mark


def graded_mark(item: pytest.Item) -> Graded | None:
    """The mark of a collected test, `None` if it is not graded."""
    marker = item.get_closest_marker("graded")
    return marker.args[0] if marker else None
