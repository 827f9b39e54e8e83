# ruff: noqa: E402 -- the number of threads is set before numpy is imported
"""Does a right answer pass the tests whatever seed they draw their inputs from?

The reference and every alternative of a problem set answer the hidden tests of their question under many seeds, in this
process and without a sandbox (only the course's own code runs). A line is printed for each test that failed under some seed.

    python benchmarks/false_alarms.py ps4 [--seeds 100] [--first 0] [--question own_scores] [--reference-only]
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import functools
import inspect
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder import variants
from autograder.course import ProblemSet, load_course
from autograder.runtime.ledger import Ledger
from autograder.testing.bench import seeded
from autograder.testing.computed import arguments
from autograder.testing.student import LocalRunner, Student
from autograder.worker import import_file


def right_answers(problem_set: ProblemSet, solution: ModuleType) -> list[tuple[str, str, dict[str, Any]]]:
    """Each right answer: its name, the question it is for (empty: all) and what it defines."""
    answers: list[tuple[str, str, dict[str, Any]]] = [("reference", "", vars(solution))]
    for variant in variants.declared_in(import_file(problem_set.folder / "alternatives.py")):
        replaced = variant.replaces or problem_set.question(variant.question).names[0]
        answers.append((variant.name, variant.question, vars(solution) | {replaced: variant.function}))
    return answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem_set")
    parser.add_argument("--seeds", type=int, default=100, help="how many seeds (default 100)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--question", help="only this question's tests")
    parser.add_argument("--reference-only", action="store_true", help="leave the alternatives out")
    options = parser.parse_args()
    problem_set = load_course(ROOT).problem_set(options.problem_set)
    solution = import_file(problem_set.solution)
    ledger = Ledger(yaml.safe_load((ROOT / "assignments" / "ledger.yml").read_text(encoding="utf-8"))["rows"])
    tests = {
        name: (function, marker.args[0].question)
        for name, function in vars(import_file(problem_set.folder / "test_hidden.py")).items()
        for marker in getattr(function, "pytestmark", [])
        if marker.name == "graded" and options.question in (None, marker.args[0].question)
    }
    answers = right_answers(problem_set, solution)[: 1 if options.reference_only else None]
    runs: Counter[str] = Counter()
    failures: dict[tuple[str, str], list[str]] = {}
    for seed in range(options.first, options.first + options.seeds):
        for answer, question, namespace in answers:
            for name, (test, asked) in tests.items():
                # A test that draws nothing says the same under every seed.
                fixed = "rng" not in inspect.signature(test).parameters
                if question not in ("", asked) or (fixed and seed > options.first):
                    continue
                given = {"student": Student(LocalRunner(namespace, {})), "ledger": ledger, "reference": solution}
                runs[answer] += 1
                try:
                    test(**arguments(test, given, functools.partial(seeded, seed)))
                except Exception as error:
                    failures.setdefault((answer, name), []).append(f"seed {seed}: {error}".partition("\n")[0])
    print(f"{problem_set.slug}: {len(tests)} hidden tests, {options.seeds} seeds, {len(answers)} right answers")
    print(f"  {runs.total()} runs of a test, {runs['reference']} of them on the reference")
    for (answer, name), messages in failures.items():
        print(f"  {name}, answered by {answer}: {len(messages)} failures; {messages[0]}")
    if not failures:
        # Clopper-Pearson for no failure: the share under which none would be seen with a probability of 1 %.
        limit = 1 - 0.01 ** (1 / options.seeds)
        print(f"  none failed: with 99 % confidence, a test fails an answer under fewer than {limit:.1e} of all seeds")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
