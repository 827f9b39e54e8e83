"""Does anything that the tests decide by come from what is answered, and what do they make of extreme answers?

Both are found out in a process of its own, as tests are collected once.

python -m autograder.authoring.dependence ROOT SLUG
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from autograder.allowance import memory_of_a_test
from autograder.authoring.check import Check
from autograder.authoring.extremes import ANSWERS, NUMBERS, extreme_problems
from autograder.course import Course, ProblemSet, load_course
from autograder.rehearsal import Rehearsed, rehearse
from autograder.suite import import_file, mark_of, pytest_options
from autograder.testing.bench import Bench

SECONDS = 300


def answer_checks(course: Course, problem_set: ProblemSet) -> list[Check]:
    """No tolerance may depend on an answer, and extreme answers only lose points.

    Calls that depend on an answer are reported, because they cannot be made ahead of time.
    """
    name = "no tolerance depends on an answer"
    command = [sys.executable, "-m", __spec__.name, str(course.root), problem_set.slug]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        return [Check(name, [f"the tests could not be rehearsed: {(done.stderr or done.stdout).strip()[-500:]}"])]
    findings = json.loads(done.stdout.splitlines()[-1])
    notes = [f"{test}: calls of {', '.join(names)} are made in their turn" for test, names in findings["dependent"].items()]
    return [
        Check(name, findings["tolerances"], "\n".join([f"{findings['ahead']} calls can be made ahead", *notes])),
        Check("extreme answers only lose points", findings["extremes"], f"{len(ANSWERS) + len(NUMBERS)} kinds of answers"),
    ]


class _Bench(Bench):
    """Rehearses the tests and keeps what was found."""

    def __init__(self, course: Course, problem_set: ProblemSet) -> None:
        super().__init__(course.ledger, problem_set.assignment.seed)
        self.problem_set = problem_set
        self.solution = import_file(problem_set.solution)
        self.found = Rehearsed()
        self.extremes: list[str] = []

    @pytest.fixture
    def reference(self) -> ModuleType:
        """The reference solution."""
        return self.solution

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        asked = {name for question in self.problem_set.assignment.questions for name in question.names}
        seconds = self.problem_set.call_seconds
        self.found = rehearse(self, session.items, self.solution, asked, lambda item: seconds(mark_of(item).question))
        memory = memory_of_a_test(self.problem_set.limits.message_bytes)
        questions = self.problem_set.assignment.questions
        self.extremes = list(extreme_problems(self, session.items, questions, vars(self.solution), memory))
        return True


def main() -> int:
    root, slug = Path(sys.argv[1]), sys.argv[2]
    sys.path.insert(0, str(root))
    course = load_course(root)
    problem_set = course.problem_set(slug)
    bench = _Bench(course, problem_set)
    ended = int(pytest.main(pytest_options(problem_set), plugins=[bench]))
    findings = bench.found
    told = {
        "tolerances": findings.tolerances,
        "dependent": findings.dependent,
        "ahead": sum(map(len, findings.asks.values())),
        "extremes": bench.extremes,
    }
    sys.stdout.write(f"\n{json.dumps(told)}\n")
    return 0 if ended in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) else ended


if __name__ == "__main__":
    sys.exit(main())
