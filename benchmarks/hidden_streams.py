"""Do hidden tests decide the same whatever they draw? Runs a problem set's tests under many secrets.

    python benchmarks/hidden_streams.py ps1 [--secrets 20] [--first 0] [--without question ...]
    python benchmarks/hidden_streams.py ps1 --examples [--secrets 8]

Under each secret the reference and every alternative must pass all hidden tests, and every mutant that no public test finds
must fail one of them. Everything runs in this process, without a sandbox and without limits but that of memory. Prints each
verdict that differs, and last the counts.

With `--examples`, the example submissions are graded instead, by `course grade`'s own workers. Every test must end alike
under every secret, or two courses would give the same work different points.

Over a thousand draws, a test that fails a right answer once in a thousand is found with a chance of 63 %; how rare false
alarms really are is computed where a test says so, and measured in `ps2_false_alarms.py` and `ps3_false_alarms.py`.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import os
import sys
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from autograder import variants
from autograder.course import ProblemSet, load_course
from autograder.intake import find_submissions
from autograder.kit.embedded import Test, graded_tests
from autograder.messages import Task
from autograder.platforms.suite import question_suite
from autograder.run import graded
from autograder.runtime.ledger import Ledger
from autograder.secret import VARIABLE
from autograder.suite import import_file
from autograder.testing.bench import keyed, seeded
from autograder.testing.computed import arguments
from autograder.testing.student import LocalRunner, Student

ROOT = Path(__file__).resolve().parents[1]


def answers(problem_set: ProblemSet) -> list[tuple[str, str, bool, dict[str, Any]]]:
    """Question, name, whether it is right, and what it defines: for the reference and every variant."""
    reference = vars(import_file(problem_set.solution))
    streams = [
        (question.id, "reference", True, dict(reference))
        for question in problem_set.assignment.questions
        if question.kind not in ("written", "prediction")
    ]
    for kind in ("alternatives", "mutants"):
        for variant in variants.declared_in(import_file(problem_set.folder / f"{kind}.py")):
            name = variant.replaces or problem_set.question(variant.question).names[0]
            function: Any = variant.function if callable(reference.get(name)) else variant.function()
            streams.append((variant.question, variant.name, kind == "alternatives", {**reference, name: function}))
    return streams


class Tests:
    """The tests of one question, public ones and hidden ones."""

    def __init__(self, problem_set: ProblemSet, question: str, ledger: Ledger) -> None:
        streams = graded_tests(question_suite(problem_set, question, platform="bench"))
        self.public = {name: test for name, (test, _, hidden) in streams.items() if not hidden}
        self.hidden = {name: test for name, (test, _, hidden) in streams.items() if hidden}
        self._seed, self._memory_mb = problem_set.assignment.seed, problem_set.limits.memory_mb
        self._given = {"ledger": ledger, "reference": import_file(problem_set.solution)}

    def first_failure(self, tests: dict[str, Test], namespace: dict[str, Any], key: bytes = b"") -> str:
        """The first test that does not pass, and why; empty if all do."""
        runner = LocalRunner(namespace, {"names": list(namespace)}, memory_mb=self._memory_mb)
        for name, test in tests.items():
            generators = functools.partial(keyed, key) if key else functools.partial(seeded, self._seed)
            try:
                test(**arguments(test, {**self._given, "student": Student(runner)}, generators))
            except Exception as error:
                return f"{name}: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        return ""


def grade_examples(problem_set: ProblemSet, secrets: int, first: int) -> int:
    """Grade the example submissions under each secret, and print each test that does not end alike under all of them."""
    submissions, _ = find_submissions(ROOT / "examples" / "submissions" / problem_set.slug, problem_set.assignment.module)
    tasks = {submission.student: Task(submission) for submission in submissions}
    ended: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    begun = time.monotonic()
    for number in range(first, first + secrets):
        # Workers read the secret when they start.
        os.environ[VARIABLE] = hashlib.sha256(f"secret {number}".encode()).hexdigest()
        for student, record in graded(ROOT, problem_set, tasks, jobs=1):
            for verdict in record.verdicts:
                ended[student, verdict.test][verdict.status] += 1
    differ = {key: counts for key, counts in ended.items() if len(counts) > 1}
    for (student, test), counts in differ.items():
        print(f"{student}: {test}: {', '.join(f'{status} {count} times' for status, count in counts.items())}")
    print(
        f"{problem_set.slug}: {len(tasks)} examples under {secrets} secrets in {time.monotonic() - begun:.0f} s: "
        f"{len(differ)} verdicts differ"
    )
    return 1 if differ else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem_set")
    parser.add_argument("--secrets", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--without", nargs="*", default=[], help="questions to leave out, such as those that train for long")
    parser.add_argument("--examples", action="store_true", help="grade the example submissions instead of the variants")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    warnings.simplefilter("ignore")
    course = load_course(ROOT)
    problem_set = course.problem_set(options.problem_set)
    if options.examples:
        return grade_examples(problem_set, options.secrets, options.first)
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
