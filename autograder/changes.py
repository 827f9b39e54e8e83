"""Whose points a regrade changes, and why."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.journal import Journal, Run
from autograder.record import Record


@dataclass(frozen=True)
class Change:
    """That an attempt's points for one question change. `why` names the tests whose outcome differs."""

    student: str
    attempt: int
    question: str
    old: float
    new: float
    why: list[str]


def counts(journal: Journal, run: Run) -> bool:
    """Whether a regrade is in force: applied, and no later one took its place."""
    return run.number in [applied.number for applied in journal.applied()] and all(
        in_force[number].path.name == name
        for student, own in run.records.items()
        for in_force in [journal.in_force(student)]
        for number, name in own.items()
    )


def changes(journal: Journal, run: Run) -> list[Change]:
    """Every question whose points `run` changes, against what counts without it."""
    others = [other for other in journal.applied() if other.number != run.number]
    changed = []
    for student in run.records:
        before, after = journal.in_force(student, others), journal.in_force(student, [*others, run])
        for number in sorted(run.records[student]):
            if number in before and number in after:
                changed += _changes(student, number, before[number].record, after[number].record)
    return changed


def _changes(student: str, attempt: int, old: Record, new: Record) -> list[Change]:
    before = {question.id: question.score for question in old.questions}
    after = {question.id: question.score for question in new.questions}
    return [
        Change(student, attempt, name, before.get(name, 0), after.get(name, 0), _reasons(name, old, new))
        for name in dict.fromkeys([*before, *after])
        if before.get(name, 0) != after.get(name, 0)
    ]


def _reasons(question: str, old: Record, new: Record) -> list[str]:
    before, after = _tests(question, old), _tests(question, new)
    reasons = []
    for name in dict.fromkeys([*before, *after]):
        was, now = before.get(name), after.get(name)
        if was is None and now is not None:
            reasons.append(f"{name}: new, {now[0]}")
        elif now is None and was is not None:
            reasons.append(f"{name}: gone, was {was[0]}")
        elif was is not None and now is not None and was != now:
            worth = f", worth {was[1]:g} → {now[1]:g}" if was[1] != now[1] else ""
            reasons.append(f"{name}: {was[0]} → {now[0]}{worth}" if was[0] != now[0] else f"{name}: {now[0]}{worth}")
    return reasons


def _tests(question: str, record: Record) -> dict[str, tuple[str, float]]:
    """Outcome and worth of a question's tests, by name."""
    return {verdict.test: (verdict.status, verdict.points) for verdict in record.verdicts_of(question)}
