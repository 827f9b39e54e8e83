"""Where every student stands: who has a grade, who is not graded, who handed in nothing, and what a person has to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from autograder.course import ProblemSet
from autograder.grades import Grade, ungraded
from autograder.intake import Roster
from autograder.journal import Journal

SHOWN = 12  # students named in one line


@dataclass(frozen=True)
class Standing:
    """The students of a problem set.

    `ungraded` are those whose counting attempt has no grade, `missing` those of the roster without an attempt, and
    `strangers` those with an attempt who are not in the roster; without a roster, the last two are empty.
    """

    problem_set: str
    grades: list[Grade]
    ungraded: list[str]
    missing: list[str]
    strangers: list[str]

    def of(self, wanted: Callable[[str], bool]) -> Standing:
        """The same of some students."""
        return Standing(
            self.problem_set,
            [grade for grade in self.grades if wanted(grade.student)],
            *(list(filter(wanted, students)) for students in (self.ungraded, self.missing, self.strangers)),
        )

    @property
    def unread(self) -> dict[str, int]:
        """How many written answers a person has still to read, by question."""
        return dict(
            Counter(
                question.id
                for grade in self.grades
                for question in grade.stored.record.questions
                if question.kind == "written" and not question.undone and question.id not in grade.manual
            )
        )

    def lines(self) -> Iterator[str]:
        """What a person should know before the next step, in sentences."""
        if self.ungraded:
            yield f"not graded: {named(self.ungraded)}; `course grade {self.problem_set} …` tries again"
        if self.missing:
            yield f"nothing handed in: {named(self.missing)}"
        if self.strangers:
            yield f"not in the roster: {named(self.strangers)}"
        for question, count in self.unread.items():
            yield f"to read: {count} written {'answer' if count == 1 else 'answers'} to {question}"

    @property
    def next_command(self) -> str:
        """The command that brings a grader further."""
        return f"course {'read' if self.unread else 'feedback'} {self.problem_set}"


def standing(
    problem_set: ProblemSet,
    journal: Journal,
    grades: Sequence[Grade],
    roster: Roster | None,
    listed: Collection[str] = (),
) -> Standing:
    """Where the students stand, those of the roster and all who handed in. Whoever is in `listed` is not missing."""
    handed_in = journal.students()
    known = roster.students if roster else ()
    absent = {*known} - {*handed_in, *listed}
    enrolled = {*known} if roster else {*handed_in}
    return Standing(
        problem_set.slug,
        list(grades),
        ungraded(journal, grades),
        [student for student in known if student in absent],
        [student for student in handed_in if student not in enrolled],
    )


def named(students: Sequence[str], most: int = SHOWN) -> str:
    """Students in one line: the first ones, and how many more."""
    more = f" and {len(students) - most} more" if len(students) > most else ""
    return ", ".join(students[:most]) + more
