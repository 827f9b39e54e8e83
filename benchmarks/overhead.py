"""What the engine costs: grading the reference module of a problem set in the sandbox, beside the same tests on the same
code in one plain process with NumPy imported. Both in one run, in turn, so that the figures compare.

    python benchmarks/overhead.py [--problem-set ps1] [--rounds 40] [--backend bubblewrap]
"""

from __future__ import annotations

import argparse
import os
import resource
import socket
import statistics
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.course import load_course
from autograder.guest import loading
from autograder.kit.student import LocalRunner
from autograder.sandbox.guest import open_zygote
from autograder.sandbox.runner import GuestRunner
from autograder.submissions import Submission
from autograder.worker import GradingBench, pytest_options

ROOT = Path(__file__).resolve().parents[1]
NOTHING = b"import numpy as np\ndef same(x):\n    return x\n"


def milliseconds(action: Callable[[], Any], rounds: int) -> list[float]:
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        action()
        times.append((time.perf_counter() - begun) * 1e3)
    return times


def row(name: str, times: list[float], unit: str = "ms") -> None:
    ordered = sorted(times)
    low, middle, high = ordered[0], statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))]
    print(f"{name:<58} {low:>9.2f} {middle:>9.2f} {high:>9.2f}  {unit}")


class Measure(GradingBench):
    """The grading bench, whose one session measures instead of taking submissions."""

    rounds = 40

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        source = self.problem_set.solution.read_bytes()
        submission = Submission("s001", f"{self.problem_set.assignment.module}.py", source)

        def grade() -> None:
            record = self.grade(submission, session.items)
            assert not record["extra_data"]["provenance"]["fault"], record["extra_data"]["provenance"]["fault"]

        def plain() -> None:
            self.calls.clear()
            self.outcomes.clear()
            namespace, report = loading.load(submission.filename, source)
            self.runner = LocalRunner(namespace, report)
            for item in session.items:
                self.run_test(item)

        grade(), plain()
        sandboxed, same = [], []
        for _ in range(self.rounds):
            sandboxed += milliseconds(grade, 1)
            same += milliseconds(plain, 1)
        print(f"\n{self.problem_set.slug}: {len(session.items)} tests, {self.rounds} rounds, backend {self.zygote.backend}")
        print(f"{'':<58} {'min':>9} {'median':>9} {'p95':>9}")
        row("grading one submission in the sandbox", sandboxed)
        row("the same tests and code in one plain process", same)
        row("difference: the engine's overhead", [a - b for a, b in zip(sandboxed, same, strict=True)])
        return True


def guest_costs(backend: str | None, rounds: int) -> None:
    zygote = open_zygote(backend)
    limits = load_course(ROOT).settings.limits.to_limits(None)

    def guest() -> None:
        with GuestRunner(zygote, "x.py", NOTHING, limits) as runner:
            runner.load()
            runner.call("same", (1.0,), {}, repeat=False)

    row("a guest: fork, lock down, load, one call, end", milliseconds(guest, rounds))
    with GuestRunner(zygote, "x.py", NOTHING, limits) as runner:
        runner.load()
        small, large = np.zeros((4, 4)), np.zeros(10 * 2**20 // 8)
        trips = milliseconds(lambda: [runner.call("same", (small,), {}, repeat=False) for _ in range(200)], rounds)
        row("a call with a 4 x 4 array, there and back", [1000 * trip / 200 for trip in trips], "µs")
        row(
            "a call with 10 MB, there and back",
            there_and_back := milliseconds(lambda: runner.call("same", (large,), {}, repeat=False), rounds),
        )
        copies = milliseconds(lambda: (large.copy(), large.copy()), rounds)
        row("two copies of 10 MB", copies)
        ratio = statistics.median(there_and_back) / statistics.median(copies)
        print(f"10 MB there and back is {ratio:.1f} times the two copies")
    zygote.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem-set", default="ps1")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--backend")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    os.environ.update(OPENBLAS_NUM_THREADS="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", MPLBACKEND="Agg")
    course = load_course(ROOT)
    problem_set = course.problem_set(options.problem_set)
    ours, _theirs = socket.socketpair()
    bench = Measure(course, problem_set, Connection(ours.detach()), options.backend)
    bench.zygote = open_zygote(options.backend)
    bench.rounds = options.rounds
    pytest.main(pytest_options(problem_set), plugins=[bench])
    guest_costs(options.backend, options.rounds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'peak memory of the host':<58} {'':>9} {peak:>9.0f} {'':>9}  MB")


if __name__ == "__main__":
    main()
