"""How many calls of functions it takes to grade and place a class, by its size. A program, so that nothing else is profiled.

python -m tests.support.class_calls 30 120
"""

from __future__ import annotations

import cProfile
import json
import pstats
import sys
import tempfile
from pathlib import Path

from autograder.course import load_course
from autograder.grades import grades
from autograder.intake import Submission
from autograder.journal import Journal
from autograder.standing import standing
from tests.support import records

TINY = load_course(Path(__file__).resolve().parents[1] / "tiny_course")
TINY_SET = TINY.problem_set("tiny")


def calls(folder: Path, students: int) -> int:
    """Calls for a class in which everybody was graded twice, and the second grading counts."""
    journal = Journal(folder / str(students))
    graded = records.record([records.score(TINY_SET.question("double"), 3)])
    regraded = {}
    for number in range(students):
        attempt = journal.add(Submission(f"s{number:03d}", "tiny.py", str(number).encode()))
        regraded[attempt.student] = {1: journal.append(attempt, graded).path.name}
    journal.decide("apply", journal.add_run("v1", "1", "", regraded).number)
    profiler = cProfile.Profile()
    counting = profiler.runcall(grades, TINY, TINY_SET, journal)
    profiler.runcall(standing, TINY_SET, journal, counting, None)
    assert len(counting) == students
    return int(pstats.Stats(profiler).total_calls)  # type: ignore[attr-defined]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        calls(Path(name), 2)  # what is done once in a process
        print(json.dumps([calls(Path(name), int(students)) for students in sys.argv[1:]]))
