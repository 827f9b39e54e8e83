"""Grade stored attempts again by today's tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from autograder import __version__
from autograder.course import ProblemSet
from autograder.graders import Grader
from autograder.journal import Journal, Run, Stored
from autograder.messages import Conditions
from autograder.run import grade
from autograder.suite_hash import suite_hash


def regrade(
    root: Path,
    problem_set: ProblemSet,
    journal: Journal,
    students: Sequence[str],
    why: str,
    *,
    grader: Grader,
    conditions: Conditions,
    on_done: Callable[[Stored], None] = lambda stored: None,
) -> tuple[Run, list[Stored]]:
    """Grade all attempts of `students` by today's tests. Returns the regrade, which is not applied, and the grader's faults.

    What these tests have graded before is not graded twice, and a regrade that is there already is returned as it is.
    """
    suite = suite_hash(problem_set)
    attempts = [attempt for student in students for attempt in journal.attempts(student)]
    gradings = grade(
        root,
        problem_set,
        attempts,
        journal,
        lambda attempt: journal.find(attempt, suite=suite, engine=__version__),
        grader=grader,
        conditions=conditions,
        on_done=on_done,
    )
    records: dict[str, dict[int, str]] = {}
    for stored in gradings:
        if stored.record.is_sound:
            records.setdefault(stored.record.provenance.student, {})[stored.attempt] = stored.path.name
    faults = [stored for stored in gradings if not stored.record.is_sound]
    for run in journal.runs():
        if run.records == records:
            return run, faults
    return journal.add_run(suite, __version__, why, records), faults
