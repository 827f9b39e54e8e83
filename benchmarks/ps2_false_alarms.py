# ruff: noqa: E402 -- the number of threads is set before numpy is imported
"""How often would a right answer fail the tests of problem set 2 that rest on chance?

Two questions draw random numbers in the submission: `simulate_sign_of_mean` its trials, `is_equivariant` its permutations.
Their tests use fixed seeds, so no submission depends on luck from day to day; but which numbers a seed gives differs from
answer to answer. Here the tests themselves run over many seeds and many draws of their own data, with the reference and with
every alternative: each failure is a false alarm. The bounds beside the tests say at most 1e-6 for all of them together; that
many runs are out of reach, so an exact (Clopper-Pearson) upper limit at 99 % confidence is printed, and how near to its band
the farthest estimate came, which says more.

Run: python benchmarks/ps2_false_alarms.py --runs 2000 --jobs 2
"""

import os

# One thread a process: the matrices are small, and the processes share the machine.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from ps3_false_alarms import upper_limit

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from assignments.ps2_order_blindness import alternatives, test_hidden, test_public
from autograder.variants import declared_in
from solutions import ps2_order_blindness as reference

QUESTIONS = ("simulate_sign_of_mean", "is_equivariant")
LOOPS = {"simulation_in_a_loop": 100}  # takes a hundred times as long as the others, so it gets a hundredth of the runs


@dataclass(frozen=True)
class Function:
    """A function as tests call it: one by one, or for many cases."""

    answer: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        return self.answer(*args)

    def each(self, cases: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        return (self.answer(*case) for case in cases)


@dataclass
class Seeded:
    """A submission that answers with `answer`, at other seeds in every run. Notes how far its estimates were off."""

    answer: Callable[..., Any]
    run: int
    farthest: float = field(default=0.0)

    @property
    def simulate_sign_of_mean(self) -> Function:
        return Function(self._simulate)

    def _simulate(self, length: int, trials: int, seed: int) -> Any:
        given = self.answer(length, trials, 1000 * self.run + seed)
        self.farthest = max(self.farthest, abs(given[0] - test_hidden.truth(length)) / test_hidden.band(trials))
        return given

    def is_equivariant(self, layer: Any, x: np.ndarray, trials: int = 20, seed: int = 0) -> Any:
        return self.answer(layer, x, trials=trials, seed=1000 * self.run + seed)


def tests_of(question: str) -> Iterator[Callable[..., None]]:
    for module in (test_public, test_hidden):
        for test in vars(module).values():
            if any(mark.args[0].question == question for mark in getattr(test, "pytestmark", [])):
                yield test


def one_run(question: str, answer: Callable[..., Any], run: int) -> tuple[list[str], float]:
    """The tests that `answer` fails in this run, and how near an estimate came to its band (1: at its edge)."""
    failed = []
    student = Seeded(answer, run)
    for number, test in enumerate(tests_of(question)):
        fixtures = {"student": student, "reference": reference, "rng": np.random.default_rng([run, number])}
        try:
            test(**{name: fixtures[name] for name in inspect.signature(test).parameters})
        except AssertionError as error:
            failed.append(f"{test.__name__} in run {run}: {error}")
    return failed, student.farthest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=25, help="runs of every answer (default 25)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    options = parser.parse_args()
    alarms = []
    print(f"{'question':<22} {'answer':<33} {'tests':>5} {'runs':>5} {'alarms':>6} {'upper limit':>11}  farthest, in bands")
    with ProcessPoolExecutor(options.jobs) as pool:
        for question in QUESTIONS:
            others = [variant.function for variant in declared_in(alternatives) if variant.question == question]
            for answer in (getattr(reference, question), *others):
                runs = max(1, options.runs // LOOPS.get(answer.__name__, 1))
                found = list(pool.map(partial(one_run, question, answer), range(runs), chunksize=10))
                failed = sum(bool(failures) for failures, _ in found)
                alarms += [f"{answer.__name__}: {failure}" for failures, _ in found for failure in failures]
                farthest = f"{max(far for _, far in found):.2f}" if question == QUESTIONS[0] else "-"
                count = len(list(tests_of(question)))
                print(
                    f"{question:<22} {answer.__name__:<33} {count:>5} {runs:>5} {failed:>6} "
                    f"{upper_limit(failed, runs):>11.5f}  {farthest}",
                    flush=True,
                )
    print("\n".join(alarms[:20]) or "no false alarm")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
