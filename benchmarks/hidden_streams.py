"""Do hidden tests decide the same whatever they draw? Runs a problem set's tests under many secrets.

    python benchmarks/hidden_streams.py ps1 [--secrets 20] [--first 0] [--without question ...]

Under each secret the reference and every alternative must pass all hidden tests, and every mutant that no public test finds
must fail one of them. Everything runs in this process, without a sandbox and without limits. Prints each verdict that
differs, and last the counts.

Over a thousand draws, a test that fails a right answer once in a thousand is found with a chance of 63 %; how rare false
alarms really are is computed where a test says so, and measured in `ps2_false_alarms.py` and `ps3_false_alarms.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from autograder import variants
from autograder.course import ProblemSet, load_course
from autograder.kit.embedded import Test, graded_tests
from autograder.platforms.suite import question_suite
from autograder.testing.bench import keyed, seeded
from autograder.testing.ledger import Ledger
from autograder.testing.student import LocalRunner, Student
from autograder.worker import import_file

ROOT = Path(__file__).resolve().parents[1]


def answers(problem_set: ProblemSet) -> list[tuple[str, str, bool, dict[str, Any]]]:
    """Question, name, whether it is right, and what it defines: for the reference and every variant."""
    reference = vars(import_file(problem_set.solution))
    found = [
        (question.id, "reference", True, dict(reference))
        for question in problem_set.assignment.questions
        if question.kind not in ("written", "prediction")
    ]
    for kind in ("alternatives", "mutants"):
        for variant in variants.declared_in(import_file(problem_set.folder / f"{kind}.py")):
            name = variant.replaces or problem_set.question(variant.question).names[0]
            function: Any = variant.function if callable(reference.get(name)) else variant.function()
            found.append((variant.question, variant.name, kind == "alternatives", {**reference, name: function}))
    return found


class Tests:
    """The tests of one question, public ones and hidden ones."""

    def __init__(self, problem_set: ProblemSet, question: str, ledger: Ledger) -> None:
        found = graded_tests(question_suite(problem_set, question, platform="bench"))
        self.public = {name: test for name, (test, _, hidden) in found.items() if not hidden}
        self.hidden = {name: test for name, (test, _, hidden) in found.items() if hidden}
        self._seed = problem_set.assignment.seed
        self._fixtures = {"ledger": ledger, "reference": import_file(problem_set.solution)}

    def first_failure(self, tests: dict[str, Test], namespace: dict[str, Any], key: bytes = b"") -> str:
        """The first test that does not pass, and why; empty if all do."""
        runner = LocalRunner(namespace, {"names": list(namespace)})
        for name, test in tests.items():
            rng = keyed(key, name) if key else seeded(self._seed, name)
            given = {**self._fixtures, "student": Student(runner), "rng": rng}
            try:
                test(**{fixture: given[fixture] for fixture in inspect.signature(test).parameters})
            except Exception as error:
                return f"{name}: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem_set")
    parser.add_argument("--secrets", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--without", nargs="*", default=[], help="questions to leave out, such as those that train for long")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    warnings.simplefilter("ignore")
    course = load_course(ROOT)
    problem_set = course.problem_set(options.problem_set)
    cases = [case for case in answers(problem_set) if case[0] not in options.without]
    tests = {question: Tests(problem_set, question, course.ledger) for question in {case[0] for case in cases}}
    cases = [case for case in cases if not tests[case[0]].first_failure(tests[case[0]].public, case[3])]
    differ: Counter[str] = Counter()
    begun = time.monotonic()
    for number in range(options.first, options.first + options.secrets):
        key = hashlib.sha256(f"secret {number}".encode()).digest()
        for question, name, right, namespace in cases:
            missed = tests[question].first_failure(tests[question].hidden, namespace, key)
            if right and missed:
                differ[f"{question}: {name} fails {missed}"] += 1
            if not right and not missed:
                differ[f"{question}: {name}, a mutant, fails nothing"] += 1
    for line, count in differ.most_common():
        print(f"{count} of {options.secrets}: {line}")
    print(
        f"{options.problem_set}: {len(cases)} answers under {options.secrets} secrets in {time.monotonic() - begun:.0f} s: "
        f"{sum(differ.values())} verdicts differ"
    )
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
