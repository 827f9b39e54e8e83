"""Written answers on a page: what is to be read, and each save, through the same door as formgrader's."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from autograder.course import Course, ProblemSet
from autograder.gradebook import give, gradebook_url, manual_scores
from autograder.grades import Manual, grades
from autograder.journal import Journal
from autograder.reading import Essay, essays
from autograder.text import points_text

MOST_COMMENT = 10_000  # characters


class Save(BaseModel):
    """What a reader gives for one answer; `seen` is the version of what the page showed as given before."""

    model_config = ConfigDict(extra="forbid", strict=True)

    key: str = Field(max_length=100)
    seen: str = Field(max_length=100)
    points: float = Field(allow_inf_nan=False)
    comment: str = Field(max_length=MOST_COMMENT)


@dataclass(frozen=True)
class Kept:
    """What is given for an answer now. `problem` says why a save was refused; it is empty if it was not."""

    given: Manual
    problem: str = ""


def version(given: Manual) -> str:
    """A short name for points and comment: others have another one."""
    return hashlib.sha256(repr((given.points, given.comment)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass
class Desk:
    """The answers that one reader has before them. Saves may come from several threads."""

    course: Course
    problem_set: ProblemSet
    journal: Journal
    answers: Sequence[Essay]
    on_wait: Callable[[], object]
    saved: set[str] = field(default_factory=set)
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    @property
    def _url(self) -> str:
        return gradebook_url(self.journal.root.parent)

    @property
    def still_unread(self) -> Counter[str]:
        """How many of the answers have no points from this reader or an earlier one, by question."""
        left = [essay for essay in self.answers if essay.given.points is None and essay.key not in self.saved]
        return Counter(essay.question.id for essay in left)

    def given(self) -> dict[str, dict[str, Manual]]:
        """What people have given by now, by student and question."""
        return manual_scores(self._url, self.course, self.problem_set)

    def save(self, asked: Save) -> Kept:
        """Write what a reader gave, unless somebody gave something else meanwhile or the answer is another by now."""
        with self._one_at_a_time, self.journal.locked(self.on_wait):
            essay = next((essay for essay in self.answers if essay.key == asked.key), None)
            if essay is None:
                return Kept(Manual(), "This answer is not among those that this page was started for.")
            student, question = essay.student, essay.question
            manual = self.given()
            now = manual.get(student, {}).get(question.id, Manual())
            today = essays(self.problem_set, grades(self.course, self.problem_set, self.journal, manual, [student]))
            most = points_text(question.points)
            if essay.key not in {each.key for each in today}:
                return Kept(now, "The student has handed in another answer. Start the program again to read that one.")
            if not 0 <= asked.points <= question.points:
                return Kept(now, f"Points must be between 0 and {most}.")
            given = Manual(asked.points, asked.comment)
            if asked.seen != version(now):
                return Kept(now, "Somebody else graded this answer meanwhile.")
            own = student, question.id
            others = give(self._url, self.course, self.problem_set, {own: given}, instead_of={own: now})
            if own in others:
                return Kept(others[own], "Somebody else graded this answer meanwhile.")
            self.saved.add(essay.key)
            return Kept(given)
