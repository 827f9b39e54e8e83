"""What the engine costs: grading the reference module of a problem set in the sandbox, beside the same tests on the same
code in one plain process with NumPy imported.

    python benchmarks/overhead.py [--problem-set ps1] [--rounds 30] [--backend bubblewrap]

Both take turns in one run, so that a busy machine slows both. Two figures stand for each step: wall time (the median round)
and processor time (the mean of the rounds; the guest's and the sandbox's included), which other people's work on the machine
changes little. Tests that draw figures are shown apart: matplotlib's own time is ten times the rest, and scatters.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import socket
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.runner import runtestprotocol
from processes import processor_seconds

from autograder.course import load_course
from autograder.intake import Submission
from autograder.runtime import loading
from autograder.runtime.figures import FigureView
from autograder.sandbox.guest import Guest, Opening, open_zygote
from autograder.sandbox.runner import GuestRunner
from autograder.suite import pytest_options
from autograder.testing.bench import Trial
from autograder.testing.student import LocalRunner, Student
from autograder.worker import GradingBench

ROOT = Path(__file__).resolve().parents[1]
NOTHING = b"import numpy as np\ndef same(x):\n    return x\n"
SPAWN, LOAD, CALLS, END, REST = "fork, lock down", "load", "calls", "end of the guest", "tests' own, pytest, record"
# Where each step is spent, in the sandbox and in one process.
STEPS = [
    (Guest, "__init__", SPAWN),
    (GuestRunner, "load", LOAD),
    (loading, "load", LOAD),
    (GuestRunner, "ask_ahead", CALLS),
    (GuestRunner, "call", CALLS),
    (GuestRunner, "read", CALLS),
    (LocalRunner, "call", CALLS),
    (LocalRunner, "read", CALLS),
    (GuestRunner, "__exit__", END),
]


class Clock:
    """Wall time by step. A step within another counts for itself only."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._inner = [0.0]

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self._inner.append(0.0)
        begun = time.perf_counter()
        try:
            yield
        finally:
            took = time.perf_counter() - begun
            self.spent[name] += took - self._inner.pop()
            self._inner[-1] += took

    def watch(self, owner: Any, function: str, name: str) -> None:
        """Count every call of `owner.function` as step `name`."""
        original = getattr(owner, function)

        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.step(name):
                return original(*args, **kwargs)

        setattr(owner, function, timed)

    def take(self) -> dict[str, float]:
        spent, self.spent = self.spent, defaultdict(float)
        return spent


def milliseconds(action: Callable[[], Any], rounds: int) -> list[float]:
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        action()
        times.append((time.perf_counter() - begun) * 1e3)
    return times


def row(name: str, times: list[float], unit: str = "ms", processor: float | None = None) -> None:
    ordered = sorted(times)
    low, middle, high = ordered[0], statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))]
    used = f"{processor:>10.2f}" if processor is not None else f"{'':>10}"
    print(f"{name:<44} {low:>9.2f} {middle:>9.2f} {high:>9.2f} {used}  {unit}")


class Measure(GradingBench):
    """The grading bench, whose one session measures instead of taking submissions."""

    rounds = 30

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.drawing: set[str] = set()  # tests that get a figure

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.rehearse(session.items)
        clock = Clock()
        for owner, function, name in STEPS:
            clock.watch(owner, function, name)
        self.plain(session.items)
        quick = [item for item in session.items if item.name not in self.drawing]
        self.compare(f"{len(quick)} tests without a figure", quick, clock, self.rounds)
        if self.drawing:
            figures = [item for item in session.items if item.name in self.drawing]
            self.compare(f"{len(figures)} tests with figures", figures, clock, max(2, self.rounds // 3))
        return True

    def sandboxed(self, items: list[pytest.Item]) -> None:
        record = self.grade(self.submission(), items)
        assert record.is_sound, record.fault

    def plain(self, items: list[pytest.Item]) -> None:
        submission = self.submission()
        namespace, report = loading.load(submission.filename, submission.source)
        self.trial = trial = Trial(LocalRunner(namespace, report))
        for item in items:
            runtestprotocol(item, nextitem=None, log=False)
            calls = trial.student.calls if trial.student else []
            if any(isinstance(call.value, FigureView) for call in calls):
                self.drawing.add(item.name)
        # As `grade` does, or the figures drawn here would be cleared away in the next sandboxed round's time.
        gc.collect()

    def submission(self) -> Submission:
        return Submission("s001", f"{self.problem_set.assignment.module}.py", self.problem_set.solution.read_bytes())

    def compare(self, title: str, items: list[pytest.Item], clock: Clock, rounds: int) -> None:
        """Grade in the sandbox and in this process, in turn, and print where the time goes."""
        ways = {"sandbox": self.sandboxed, "plain": self.plain}
        wall: dict[str, list[float]] = {way: [] for way in ways}
        used = dict.fromkeys(ways, 0.0)
        steps: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
        for run in ways.values():
            run(items)
        clock.take()
        for number in range(rounds):
            # Each goes first every second time.
            for way in list(ways) if number % 2 else reversed(list(ways)):
                before, begun = processor_seconds(), time.perf_counter()
                with clock.step(REST):
                    ways[way](items)
                wall[way].append((time.perf_counter() - begun) * 1e3)
                used[way] += (processor_seconds() - before) * 1e3 / rounds
                steps[way].append(clock.take())
        print(f"\n{self.problem_set.slug}: {title}, {rounds} rounds, {self.zygote.backend}, milliseconds")
        print(f"{'':<44} {'min':>9} {'median':>9} {'p95':>9} {'processor':>10}")
        row("grading one submission in the sandbox", wall["sandbox"], processor=used["sandbox"])
        row("the same tests and code in one process", wall["plain"], processor=used["plain"])
        pairs = [ours - same for ours, same in zip(wall["sandbox"], wall["plain"], strict=True)]
        row("the engine's overhead, round by round", pairs, processor=used["sandbox"] - used["plain"])
        rounds_by_time = sorted(zip(wall["sandbox"], wall["plain"], strict=True), key=sum)
        quiet = [ours - same for ours, same in rounds_by_time[: max(1, rounds // 4)]]
        row("  in the quarter of rounds that were quickest", quiet)
        print(f"{'median by step':<44} {'sandbox':>9} {'plain':>9} {'more':>9}")
        for name in (SPAWN, LOAD, CALLS, REST, END):
            ours, same = (statistics.median(step[name] * 1e3 for step in steps[way]) for way in ways)
            print(f"  {name:<42} {ours:>9.2f} {same:>9.2f} {ours - same:>9.2f}")


def guest_costs(backend: str | None, rounds: int) -> None:
    zygote = open_zygote(backend)
    limits = load_course(ROOT).settings.limits

    def guest() -> None:
        with GuestRunner(zygote, "x.py", NOTHING, limits) as runner:
            runner.load()
            Student(runner).once.same(1.0)

    print(f"\n{'one guest':<44} {'min':>9} {'median':>9} {'p95':>9} {'processor':>10}")
    before = processor_seconds()
    times = milliseconds(guest, rounds)
    row("fork, lock down, load, one call, end", times, processor=(processor_seconds() - before) * 1e3 / rounds)
    with GuestRunner(zygote, "x.py", NOTHING, limits) as runner:
        runner.load()
        same = Student(runner).once.same
        small, large = np.zeros((4, 4)), np.zeros(10 * 2**20 // 8)
        calls = 200
        before = processor_seconds()
        trips = milliseconds(lambda: [same(small) for _ in range(calls)], rounds)
        spent = (processor_seconds() - before) * 1e6 / rounds / calls
        row("a call with a 4 x 4 array, there and back", [1e3 * trip / calls for trip in trips], "µs", spent)
        there_and_back, copies = [], []
        for _ in range(rounds):
            there_and_back += milliseconds(lambda: same(large), 1)
            copies += milliseconds(lambda: (large.copy(), large.copy()), 1)
        row("a call with 10 MB, there and back", there_and_back)
        row("two copies of 10 MB", copies)
        ratio = statistics.median(ours / same for ours, same in zip(there_and_back, copies, strict=True))
        print(f"10 MB there and back is {ratio:.1f} times the two copies (median of pairs)")
    zygote.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem-set", default="ps1")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--backend")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    os.environ.update(OPENBLAS_NUM_THREADS="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", MPLBACKEND="Agg")
    course = load_course(ROOT)
    problem_set = course.problem_set(options.problem_set)
    ours, _theirs = socket.socketpair()
    bench = Measure(course, problem_set, Connection(ours.detach()), Opening(options.backend))
    bench.zygote = bench.opening.wait()
    bench.rounds = options.rounds
    pytest.main(pytest_options(problem_set), plugins=[bench])
    bench.zygote.close()
    guest_costs(options.backend, options.rounds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the host: {peak:.0f} MB")


if __name__ == "__main__":
    main()
