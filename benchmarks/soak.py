"""Does grading leak, and does a verdict ever change? Thousands of submissions in one worker in this process; memory,
open files, threads, processes and temporary files are counted on the way.

    python benchmarks/soak.py [--submissions 10000] [--backends bubblewrap sandlock]
    python benchmarks/soak.py --references ps1 --times 10000

The submissions are drawn with a fixed seed. Of them, 5 % attack the grader and 2 % are broken notebooks; the others are
right, wrong (with a likely slip) or untouched, print, raise, or answer with a megabyte. Each holds a number of its own,
so that no two are equal. Only the tests of two quick questions of ps1 run, and each kind has its points. Every backend
grades its share. With `--references`, the reference of that problem set is graded by all its tests, and must have full
marks each time. Exit code 1: something grows, or a verdict is not as expected.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest
from processes import descendants, memory_kb, open_files, threads

from autograder.backends import BACKENDS
from autograder.course import load_course
from autograder.intake import Submission
from autograder.sandbox.guest import Opening
from autograder.suite import mark_of, pytest_options
from autograder.worker import GradingBench

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = {"mix", "softmax"}
SAMPLES = 20
GROWTH_KB = 2048  # by the fitted line, over the whole run: the allocator's own ups and downs

MIX = "def mix(weights, values): return weights @ values\n"
SOFTMAX = """def softmax(s, axis=-1):
    e = np.exp(s - s.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)
"""


@dataclass(frozen=True)
class Kind:
    """A kind of submission: its code, what it earns for `mix` and `softmax`, and how often it comes."""

    code: str
    mix: float
    softmax: float
    weight: float
    form: str = "py"


HONEST, ATTACK, BROKEN = 93 / 7, 5 / 6, 2 / 2  # per cent of each kind
KINDS = {
    "right": Kind(MIX + SOFTMAX, 1, 6, HONEST),
    "wrong": Kind(f"{MIX}def softmax(s, axis=-1): return np.exp(s) / np.exp(s).sum()\n", 1, 1, HONEST),
    "wrong in its own way": Kind(f"{MIX}def softmax(s, axis=-1): return np.exp(s) + number\n", 1, 0, HONEST),
    "untouched": Kind("def mix(weights, values): raise NotImplementedError\n", 0, 0, HONEST),
    "prints": Kind(f"{MIX}def softmax(s, axis=-1):\n    print(number, s)\n    return s\n", 1, 0, HONEST),
    "a megabyte": Kind(f"{MIX}def softmax(s, axis=-1): return np.full(2**17, float(number))\n", 1, 0, HONEST),
    "notebook": Kind(MIX + SOFTMAX, 1, 6, HONEST, "ipynb"),
    "raises": Kind(f"{MIX}raise ValueError(number)\n", 1, 0, ATTACK),
    "ends its process": Kind(f"{MIX}import os\nos._exit(0)\n", 1, 0, ATTACK),
    "ends in a call": Kind(f"import os\n{MIX}def softmax(s, axis=-1): os._exit(1)\n", 1, 0, ATTACK),
    "kills its parent": Kind(f"import os\n{MIX}def softmax(s, axis=-1): os.kill(os.getppid(), 9)\n", 1, 0, ATTACK),
    "takes memory": Kind(f"{MIX}def softmax(s, axis=-1): return bytearray(10**12)\n", 1, 0, ATTACK),
    "recurses": Kind(f"{MIX}def softmax(s, axis=-1): return softmax(s)\n", 1, 0, ATTACK),
    "no JSON": Kind(MIX, 0, 0, BROKEN, "broken"),
    "a broken cell": Kind("def mix(:\n", 0, 0, BROKEN, "ipynb"),
}


def submissions(count: int, seed: int = 2026) -> Iterator[tuple[Kind, Submission]]:
    """So many submissions, each with its kind."""
    kinds = list(KINDS.values())
    for number, kind in enumerate(random.Random(seed).choices(kinds, [kind.weight for kind in kinds], k=count)):
        text = f"number = {number}\nimport numpy as np\n{kind.code}"
        if kind.form == "py":
            yield kind, Submission("s001", "ps1.py", text.encode())
            continue
        cell = {"cell_type": "code", "id": "one", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        notebook = json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": [cell]})
        yield kind, Submission("s001", "ps1.ipynb", notebook[: -1 if kind.form == "broken" else None].encode())


class Soak(GradingBench):
    """The grading bench, whose one session grades what `submissions` makes, or the reference again and again."""

    count = 5000
    references = False
    scratch = Path()
    sound = True

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.rehearse(session.items)
        items = [item for item in session.items if self.references or mark_of(item).question in QUESTIONS]
        print(f"{self.count} submissions, {len(items)} tests each, {self.zygote.backend}\n")
        names = "graded", "worker KB", "sandbox KB", "worker files", "sandbox files", "threads", "processes", "scratch files"
        print("".join(f"{name:>14}" for name in names))
        samples, begun, others = [], time.perf_counter(), 0
        for number, (earns, submission) in enumerate(self.tasks()):
            if number % max(1, self.count // SAMPLES) == 0:
                samples.append((number, *self.sample()))
                print("".join(f"{value:>14}" for value in samples[-1]), flush=True)
            record = self.grade(submission, items)
            earned = {question.id: question.score for question in record.questions if question.id in earns}
            if not record.is_sound or earned != earns:
                others += 1
                print(f"NOT AS EXPECTED: {number}: {earned}, not {earns}: {record.fault}\n{submission.source[:300]!r}")
        took = time.perf_counter() - begun
        print(f"\n{self.count / took:.1f} submissions a second; verdicts as expected: {self.count - others} of {self.count}")
        self.sound &= others == 0
        # The first fifth fills what is bounded: caches, arenas of the allocator.
        settled = np.array(samples[len(samples) // 5 :], dtype=float)
        print("growth after the first fifth, a straight line fitted:")
        for column, name in enumerate(names[1:3], start=1):
            slope = np.polyfit(settled[:, 0], settled[:, column], 1)[0]
            print(f"  {name:<14} {slope * 1000:+8.1f} KB per 1000 submissions")
            self.sound &= bool(slope * (settled[-1, 0] - settled[0, 0]) < GROWTH_KB)
        for column, name in enumerate(names[3:], start=3):
            grown = int(settled[-1, column] - settled[0, column])
            print(f"  {name:<14} {grown:+8d}")
            self.sound &= grown <= 0
        print("nothing grows, and every verdict is as expected" if self.sound else "NOT AS IT SHOULD BE", flush=True)
        return True

    def tasks(self) -> Iterator[tuple[dict[str, float], Submission]]:
        """What is graded, each with the points by question that it must have."""
        if not self.references:
            for kind, submission in submissions(self.count):
                yield {"mix": kind.mix, "softmax": kind.softmax}, submission
            return
        assignment = self.problem_set.assignment
        full = {question.id: question.points for question in assignment.questions if question.kind != "written"}
        source = self.problem_set.solution.read_bytes()
        for _ in range(self.count):
            yield full, Submission("s001", f"{assignment.module}.py", source)

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


def soak(slug: str, backend: str, count: int, references: bool) -> bool:
    """Grade so many in this process; whether all was as it should be."""
    course = load_course(ROOT)
    problem_set = course.problem_set(slug)
    ours, _theirs = socket.socketpair()
    with tempfile.TemporaryDirectory() as scratch:
        tempfile.tempdir = scratch
        bench = Soak(course, problem_set, Connection(ours.detach()), Opening(backend))
        bench.count, bench.scratch, bench.references = count, Path(scratch), references
        bench.zygote = bench.opening.wait()
        pytest.main(pytest_options(problem_set), plugins=[bench])
        bench.zygote.close()
        tempfile.tempdir = None
    return bench.sound


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=5000)
    parser.add_argument("--references", metavar="PROBLEM_SET", help="grade the reference of this problem set instead")
    parser.add_argument("--times", type=int, default=1000, help="how often --references grades it")
    parser.add_argument("--backends", nargs="+", default=list(BACKENDS), choices=BACKENDS)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    os.environ.update(OPENBLAS_NUM_THREADS="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", MPLBACKEND="Agg")
    count = (options.times if options.references else options.submissions) // len(options.backends)
    good = [
        soak(options.references or "ps1", backend, count, options.references is not None) for backend in options.backends
    ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
