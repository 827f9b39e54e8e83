"""Does grading leak? One worker in this process grades thousands of small submissions, and memory, open files, threads,
processes and temporary files are counted on the way.

    python benchmarks/soak.py [--submissions 5000] [--backend bubblewrap]

The submissions take turns: right, wrong (with a likely slip), untouched, one that prints, that raises while it is loaded,
that ends its process while it is loaded or in a call, a notebook, one that answers with a megabyte. Each holds a number of
its own, so that no two are equal. Only the tests of two quick questions of ps1 run. Exit code 1: something grows.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest
from processes import descendants, memory_kb, open_files, threads

from autograder.course import load_course
from autograder.intake import Submission
from autograder.sandbox.guest import Opening
from autograder.suite import pytest_options
from autograder.testing.marks import graded_mark
from autograder.worker import GradingBench

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = {"mix", "softmax"}
SAMPLES = 20
GROWTH_KB = 2048  # by the fitted line, over the whole run: the allocator's own ups and downs

MIX = "def mix(weights, values): return weights @ values\n"
SOURCES = {
    "right": f"import numpy as np\n{MIX}"
    "def softmax(s, axis=-1):\n    e = np.exp(s - s.max(axis, keepdims=True))\n    return e / e.sum(axis, keepdims=True)\n",
    "wrong": f"import numpy as np\n{MIX}def softmax(s, axis=-1): return np.exp(s) / np.exp(s).sum()\n",
    "wrong in its own way": f"import numpy as np\n{MIX}def softmax(s, axis=-1): return np.exp(s) + number\n",
    "untouched": "def mix(weights, values): raise NotImplementedError\n",
    "prints": f"{MIX}def softmax(s, axis=-1):\n    print(number, s)\n    return s\n",
    "raises": f"{MIX}raise ValueError(number)\n",
    "ends its process": f"{MIX}import os\nos._exit(0)\n",
    "ends in a call": f"import os\n{MIX}def softmax(s, axis=-1): os._exit(1)\n",
    "notebook": MIX,
    "a megabyte": f"import numpy as np\n{MIX}def softmax(s, axis=-1): return np.full(2**17, float(number))\n",
}


def submission(number: int) -> Submission:
    kind = list(SOURCES)[number % len(SOURCES)]
    text = f"number = {number}\n{SOURCES[kind]}"
    if kind != "notebook":
        return Submission("s001", "ps1.py", text.encode())
    cell = {"cell_type": "code", "id": "one", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
    return Submission("s001", "ps1.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": [cell]}).encode())


class Soak(GradingBench):
    """The grading bench, whose one session grades what `submission` makes."""

    count = 5000
    scratch = Path()
    sound = True

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.rehearse(session.items)
        items = [item for item in session.items if graded_mark(item).question in QUESTIONS]
        print(f"{self.count} submissions, {len(items)} tests each, {self.zygote.backend}\n")
        names = "graded", "worker KB", "sandbox KB", "worker files", "sandbox files", "threads", "processes", "scratch files"
        print("".join(f"{name:>14}" for name in names))
        samples, begun = [], time.perf_counter()
        for number in range(self.count + 1):
            if number % max(1, self.count // SAMPLES) == 0:
                samples.append((number, *self.sample()))
                print("".join(f"{value:>14}" for value in samples[-1]), flush=True)
            record = self.grade(submission(number), items)
            assert record.is_sound, record.fault
        took = time.perf_counter() - begun
        # The first fifth fills what is bounded: caches, arenas of the allocator.
        settled = np.array(samples[SAMPLES // 5 :], dtype=float)
        print(f"\n{self.count / took:.0f} submissions a second; growth after the first fifth, a straight line fitted:")
        for column, name in enumerate(names[1:3], start=1):
            slope = np.polyfit(settled[:, 0], settled[:, column], 1)[0]
            print(f"  {name:<14} {slope * 1000:+8.1f} KB per 1000 submissions")
            self.sound &= bool(slope * (settled[-1, 0] - settled[0, 0]) < GROWTH_KB)
        for column, name in enumerate(names[3:], start=3):
            grown = int(settled[-1, column] - settled[0, column])
            print(f"  {name:<14} {grown:+8d}")
            self.sound &= grown <= 0
        print("nothing grows" if self.sound else "SOMETHING GROWS")
        return True

    def sample(self) -> tuple[int, ...]:
        below = descendants(os.getpid())
        return (
            memory_kb(os.getpid()),
            sum(map(memory_kb, below)),
            open_files(os.getpid()),
            sum(map(open_files, below)),
            sum(map(threads, [os.getpid(), *below])),
            len(below),
            sum(1 for _ in self.scratch.rglob("*")),
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=5000)
    parser.add_argument("--backend")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    os.environ.update(OPENBLAS_NUM_THREADS="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", MPLBACKEND="Agg")
    course = load_course(ROOT)
    problem_set = course.problem_set("ps1")
    ours, _theirs = socket.socketpair()
    with tempfile.TemporaryDirectory() as scratch:
        tempfile.tempdir = scratch
        bench = Soak(course, problem_set, Connection(ours.detach()), Opening(options.backend))
        bench.count, bench.scratch = options.submissions, Path(scratch)
        bench.zygote = bench.opening.wait()
        pytest.main(pytest_options(problem_set), plugins=[bench])
        bench.zygote.close()
    return 0 if bench.sound else 1


if __name__ == "__main__":
    sys.exit(main())
