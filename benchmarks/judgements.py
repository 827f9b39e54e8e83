# ruff: noqa: E402 -- the repository is put on the path first
"""Do the tests judge as a person does? Grades the answers in `benchmarks/judged/`, whose verdicts were given beforehand.

    python benchmarks/judgements.py [ps1 ps2 ps3]

An answer that was judged right must earn all points of its question, and one that breaks a promise must lose some. All other
functions are the reference's. Runs in this process, without a sandbox: only the course's own code is run. Prints each answer
on which tests and verdict disagree, and last the agreement.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder.course import ProblemSet, load_course
from autograder.runtime.ledger import Ledger
from autograder.testing.bench import seeded
from autograder.testing.student import LocalRunner, Student
from autograder.worker import import_file
from benchmarks.judged import ANSWERS, Judged

# Agreement below this is a failure.
AGREEMENT = 0.98


class Tests:
    """The tests of a problem set by question, public and hidden."""

    def __init__(self, problem_set: ProblemSet, ledger: Ledger) -> None:
        self._seed = problem_set.assignment.seed
        self._given = {"ledger": ledger, "reference": import_file(problem_set.solution)}
        self._by_question: dict[str, list[tuple[Any, dict[str, Any]]]] = {}
        for kind in ("public", "hidden"):
            module = vars(import_file(problem_set.folder / f"test_{kind}.py"))
            computed = {name: value.computed for name, value in module.items() if hasattr(value, "computed")}
            for value in module.values():
                for mark in getattr(value, "pytestmark", []):
                    if mark.name == "graded":
                        self._by_question.setdefault(mark.args[0].question, []).append((value, computed))

    def failures(self, question: str, namespace: dict[str, Any]) -> list[str]:
        """What each failed test says, for a submission that defines `namespace`."""
        failed = []
        for test, computed in self._by_question[question]:
            student = Student(LocalRunner(namespace, {"names": list(namespace)}))
            generators = self._generator
            given: dict[str, Any] = {**self._given, "student": student, "rng": generators(test.__name__)}
            wanted = [name for name in inspect.signature(test).parameters if name in computed]
            given |= {name: computed[name].value(self._given, generators) for name in wanted}
            try:
                test(**{name: given[name] for name in inspect.signature(test).parameters})
            except Exception as error:
                failed.append(f"{test.__name__}: {type(error).__name__}: {str(error).partition(chr(10))[0][:120]}")
        return failed

    def _generator(self, name: str) -> Any:
        return seeded(self._seed, name)


def main() -> int:
    warnings.simplefilter("ignore")
    course = load_course(ROOT)
    agreed = total = 0
    for slug in sys.argv[1:] or ["ps1", "ps2", "ps3"]:
        importlib.import_module(f"benchmarks.judged.{slug}")
        problem_set = course.problem_set(slug)
        tests, reference = Tests(problem_set, course.ledger), vars(import_file(problem_set.solution))
        for answer in ANSWERS[slug]:
            failed = tests.failures(
                answer.question, reference | {_name(problem_set, answer): _value(reference, problem_set, answer)}
            )
            total += 1
            agreed += bool(failed) == bool(answer.breaks)
            if bool(failed) != bool(answer.breaks):
                said = "; ".join(failed) if failed else f"passes every test, but: {answer.breaks}"
                print(f"{slug} {answer.question} {answer.function.__name__}: {said}")
    print(f"{agreed} of {total} answers are graded as they were judged ({agreed / total:.1%})")
    return 0 if agreed >= AGREEMENT * total else 1


def _name(problem_set: ProblemSet, answer: Judged) -> str:
    return answer.name or problem_set.question(answer.question).names[0]


def _value(reference: dict[str, Any], problem_set: ProblemSet, answer: Judged) -> Any:
    return answer.function if callable(reference[_name(problem_set, answer)]) else answer.function()


if __name__ == "__main__":
    sys.exit(main())
