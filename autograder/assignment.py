"""`assignment.yml`: one problem set, its questions, and what surrounds each of them. `course.load_course` reads it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator

from autograder.limits import AssignmentLimits, QuestionLimits
from autograder.schema import Count, Name, Positive, Slug, Strict, Text

Options = Annotated[list[Text], Field(min_length=2)]
Difficulty = Literal["easy", "moderate", "hard"]


class RubricItem(Strict):
    """What a written answer may earn points for."""

    points: Positive
    text: Text


class Prediction(Strict):
    """What a student commits to before a section: a number, or one of the options (letter → text).

    `result` is what really happens, for the feedback page; `payoff` is the question whose payoff cell shows it.
    """

    prompt: Text
    options: dict[Annotated[str, Field(pattern=r"^[a-z]$")], Text] = Field(default_factory=dict)
    result: Text
    payoff: Slug


class Carried(Strict):
    """Names that students bring from their own work on an earlier problem set."""

    problem_set: Slug
    names: Annotated[list[Name], Field(min_length=1)]


class Question(Strict):
    """One question of a problem set.

    `uses` are names of other questions, or carried over, that its functions build on. `options` are the letters that each
    name of a choice may hold. The three `hints` go from direction to method to almost the answer. `ledger` has rows that the
    question grades although none of its tests reads them, and how.
    """

    id: Slug
    title: str
    points: Positive
    tier: Literal["core", "deepen", "research"]
    kind: Literal["code", "choice", "written", "prediction"]
    names: Annotated[list[Name], Field(min_length=1)]
    ledger: dict[str, Text] = Field(default_factory=dict)
    limits: QuestionLimits = QuestionLimits()
    uses: list[Name] = Field(default_factory=list)
    minutes: Count | None = None
    difficulty: Difficulty | None = None
    hints: Annotated[list[Text], Field(min_length=3, max_length=3)] | None = None
    options: Options | dict[Name, Options] = Field(default_factory=list)
    rubric: list[RubricItem] = Field(default_factory=list)
    prediction: Prediction | None = None

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Question:
        if (self.kind == "prediction") != (self.prediction is not None):
            raise ValueError("a question of kind prediction needs the key `prediction`, and no other question has it")
        if self.kind == "prediction" and len(self.names) != 1:
            raise ValueError("a prediction has exactly one name")
        if self.options and self.kind != "choice":
            raise ValueError("only a choice has `options`; those of a prediction stand inside `prediction`")
        if isinstance(self.options, dict) and set(self.options) != set(self.names):
            raise ValueError(f"`options` must have exactly the names of the question: {', '.join(self.names)}")
        if self.rubric and self.kind != "written":
            raise ValueError("only a written question has a `rubric`")
        total = sum(item.points for item in self.rubric)
        if self.rubric and abs(total - self.points) > 1e-9:
            raise ValueError(f"the points of the rubric add up to {total:g}, but the question has {self.points:g}")
        return self

    def choices(self, name: str) -> list[str]:
        """What an answer called `name` may be; empty if that is not limited to a list."""
        if self.prediction is not None:
            return list(self.prediction.options)
        return self.options.get(name, []) if isinstance(self.options, dict) else self.options


class Assignment(Strict):
    """A problem set's `assignment.yml`."""

    slug: Slug
    title: str
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")]
    module: Slug
    seed: Annotated[int, Field(ge=0)]
    limits: AssignmentLimits = AssignmentLimits()
    carried: list[Carried] = Field(default_factory=list)
    questions: Annotated[list[Question], Field(min_length=1)]

    @model_validator(mode="after")
    def _fits_together(self) -> Assignment:
        owners: dict[str, str] = {}
        for question in self.questions:
            if [other.id for other in self.questions].count(question.id) > 1:
                raise ValueError(f"the question id {question.id!r} appears twice")
            for name in question.names:
                if name in owners:
                    raise ValueError(f"the name {name!r} appears twice")
                owners[name] = question.id
        code = {name for question in self.questions if question.kind == "code" for name in question.names}
        if twice := self.carried_names & owners.keys():
            raise ValueError(f"{min(twice)!r} is carried over and asked for, too")
        for question in self.questions:
            for name in question.uses:
                if name not in code | self.carried_names or name in question.names:
                    raise ValueError(
                        f"{question.id} uses {name!r}, which no other code question defines and nothing carries over"
                    )
            if question.prediction and question.prediction.payoff not in owners.values():
                payoff = question.prediction.payoff
                raise ValueError(f"{question.id} names the payoff of {payoff!r}, but there is no such question")
        self._ordered(
            {question.id: {owners[name] for name in question.uses if name in owners} for question in self.questions}
        )
        return self

    @staticmethod
    def _ordered(uses: dict[str, set[str]]) -> None:
        """Raise `ValueError` if questions build on each other in a circle."""
        left = dict(uses)
        while left:
            free = [question for question, needed in left.items() if not needed & left.keys()]
            if not free:
                raise ValueError(f"these questions build on each other in a circle: {', '.join(left)}")
            for question in free:
                del left[question]

    @property
    def carried_names(self) -> set[str]:
        """What students bring from earlier problem sets."""
        return {name for carried in self.carried for name in carried.names}

    def owner(self, name: str) -> Question:
        """The question that asks for a name."""
        return next(question for question in self.questions if name in question.names)


@dataclass(frozen=True)
class Explanation:
    """What students read about a question once nobody can earn points any more: Markdown, and another way to solve it."""

    text: str
    another_way: str = ""


ANOTHER_WAY = "### Another way"


def parse_explanations(text: str, questions: Collection[str]) -> dict[str, Explanation]:
    """The sections of an `explanations.md`, by question: a heading `## id`, the text, and perhaps `### Another way`.

    Raises `ValueError` for a heading that is no question, and for text before the first heading.
    """
    before, *pieces = re.split(r"^## +(.+?) *$", text, flags=re.MULTILINE)
    if before.strip():
        raise ValueError(f"text before the first heading `## id`: {before.strip().splitlines()[0]!r}")
    sections: dict[str, Explanation] = {}
    for name, section in zip(pieces[::2], pieces[1::2], strict=True):
        if name not in questions or name in sections:
            reason = "appears twice" if name in sections else f"is not a question; there are {', '.join(questions)}"
            raise ValueError(f"the heading `## {name}` {reason}")
        explanation, _, another_way = section.partition(f"\n{ANOTHER_WAY}\n")
        sections[name] = Explanation(explanation.strip(), another_way.strip())
    return sections
