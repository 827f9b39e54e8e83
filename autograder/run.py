"""Let a grader grade attempts, and put every record into the journal as it arrives."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from autograder.course import ProblemSet
from autograder.graders import Grader, Key
from autograder.graders.local import LocalGrader, cores
from autograder.intake import Submission
from autograder.journal import Attempt, Journal, Stored
from autograder.messages import USUAL, Conditions, Task
from autograder.record import Record

__all__ = ["cores", "grade", "graded", "task_of"]


def grade(
    root: Path,
    problem_set: ProblemSet,
    attempts: Sequence[Attempt],
    journal: Journal,
    known: Callable[[Attempt], Stored | None],
    *,
    grader: Grader,
    conditions: Conditions = USUAL,
    at_most: float = math.inf,
    on_done: Callable[[Stored], None] = lambda stored: None,
) -> list[Stored]:
    """Grade every attempt for which `known` has no grading; each record is in the journal before the next is taken.

    After `at_most` seconds no other one is begun. Returns the gradings in the order of their attempts.
    """
    gradings = {attempt: stored for attempt in attempts if (stored := known(attempt))}
    for stored in gradings.values():
        on_done(stored)
    until = time.monotonic() + at_most

    def tasks() -> Iterator[tuple[Attempt, Task]]:
        # Bytes are read when a task is asked for: all together may not fit into memory.
        for attempt in [attempt for attempt in dict.fromkeys(attempts) if attempt not in gradings]:
            if time.monotonic() >= until:
                return
            yield attempt, task_of(attempt, journal)

    for done in grader(root, problem_set, tasks(), conditions=conditions):
        if done:
            attempt, record = done
            gradings[attempt] = journal.append(attempt, record)
            on_done(gradings[attempt])
    return [gradings[attempt] for attempt in attempts if attempt in gradings]


def task_of(attempt: Attempt, journal: Journal) -> Task:
    """The task to grade an attempt by all tests."""
    return Task(Submission(attempt.student, attempt.filename, journal.source(attempt)))


def graded(
    root: Path, problem_set: ProblemSet, tasks: Mapping[Key, Task], *, jobs: int, conditions: Conditions = USUAL
) -> Iterator[tuple[Key, Record]]:
    """Yield each task's key with its record, graded on this machine and kept nowhere."""
    yield from filter(None, LocalGrader(jobs)(root, problem_set, tasks.items(), conditions=conditions))
