"""The course's total: what the grades of all problem sets come to, by the weights in `course.yml`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from autograder.course import Listing
from autograder.grades import Grade, cents


@dataclass(frozen=True)
class Contribution:
    """What one problem set gives a student. Without a grade, `attempted` says whether there is work to be graded."""

    listing: Listing
    grade: Grade | None
    attempted: bool

    @property
    def percent(self) -> float:
        """What it contributes, in percent of the course: nothing without a grade."""
        if self.grade is None or not self.grade.possible:
            return 0.0
        return self.listing.weight * self.grade.points / self.grade.possible

    @property
    def waits(self) -> bool:
        """Whether more may come: work that is not graded, or a written answer that nobody has graded yet."""
        return not self.grade.complete if self.grade else self.attempted


@dataclass(frozen=True)
class Total:
    """What a student has earned in every problem set, in the order of the course."""

    student: str
    contributions: tuple[Contribution, ...]

    @property
    def percent(self) -> float:
        """Percent of the course, rounded to a cent."""
        return cents(math.fsum(own.percent for own in self.contributions))

    @property
    def waiting(self) -> list[str]:
        """The problem sets from which more may come."""
        return [own.listing.slug for own in self.contributions if own.waits]


def totals(grades: Mapping[Listing, Mapping[str, Grade | None]]) -> list[Total]:
    """The totals of all students who handed anything in.

    `grades` has for each problem set the students who handed it in, with their grades; `None` is work that has none.
    """
    students = sorted({student for own in grades.values() for student in own})
    return [
        Total(student, tuple(Contribution(listing, own.get(student), student in own) for listing, own in grades.items()))
        for student in students
    ]
