"""The handout, cut at its slots."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.course import CourseError, ProblemSet

_SLOT = re.compile(r"^<!-- question: (\w+) -->$", re.MULTILINE)
_LEDGER = re.compile(r"[ ]?<!-- ledger: [^>]*-->")


@dataclass(frozen=True)
class Part:
    """A stretch of prose and the question whose slot follows it (empty after the last one)."""

    prose: str
    question: str


def handout_parts(problem_set: ProblemSet) -> list[Part]:
    """The handout's prose, cut at its slots, ledger remarks taken out. Raises `CourseError` if the slots do not fit."""
    path = problem_set.folder / "handout.md"
    text = path.read_text(encoding="utf-8")
    slots = _SLOT.findall(text)
    wanted = [question.id for question in problem_set.assignment.questions]
    if slots != wanted:
        missing = [name for name in wanted if name not in slots]
        unknown = [name for name in slots if name not in wanted]
        reason = f"no slot for {', '.join(missing)}" if missing else f"slots without a question: {', '.join(unknown)}"
        if not missing and not unknown:
            reason = "the slots are not in the order of assignment.yml, or one appears twice"
        raise CourseError(f"{path}: {reason}; a slot is a line `<!-- question: name -->`")
    pieces = _SLOT.split(_LEDGER.sub("", text))
    return [Part(prose.strip(), name) for prose, name in zip(pieces[::2], [*pieces[1::2], ""], strict=True)]
