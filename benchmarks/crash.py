"""Crashes `course grade` and `course regrade --apply` and runs them again: nothing may be lost, graded twice or left behind.

    python benchmarks/crash.py [--points 300] [--seed 0] [--cuts 5]

First every step of a write is met, by a kill and by so many power cuts that take along what was not synced. Then the real
commands, with workers and sandboxes, are killed at that many chance moments of their whole duration, alone or with their
process group, up to four times in a row. tests/test_crash.py does the same on a smaller scale; see tests/support/crashes.py.
Prints a table; the exit status is 1 if anything went wrong. 300 points take about ten minutes on two quiet cores.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.crashes import COMMANDS, Moments, Steps  # noqa: E402

ROW = 4  # kills in a row before the command may finish
Line = tuple[str, int, list[str]]  # a way to crash, how often it was done, and what went wrong


def steps(pool: ProcessPoolExecutor, folder: Path, cuts: int) -> Iterator[Line]:
    """A kill and `cuts` power cuts at every step of each command."""
    for command in COMMANDS:
        crashes = Steps(folder, command)
        for way, count in (("killed", 0), ("power cut", cuts)):
            seeds = range(count) if count else [None]
            points = [(step, seed) for step in range(1, crashes.count + 1) for seed in seeds]
            futures = [
                pool.submit(crashes.crash, step, None if seed is None else random.Random(f"{step} {seed}"))
                for step, seed in points
            ]
            _, wrong = _outcome(futures, f"{command}: {way}")
            yield f"course {command}: {way} at each of {crashes.count} steps of its writes", len(points), wrong


def moments(pool: ProcessPoolExecutor, folder: Path, points: int, seed: int) -> Iterator[Line]:
    """`points` kills at chance moments, half of them for each command."""
    for command in COMMANDS:
        crashes = Moments(folder, command)
        chance = random.Random(f"{seed} {command}")
        rows: list[int] = []
        while sum(rows) < points // len(COMMANDS):
            rows.append(min(chance.randint(1, ROW), points // len(COMMANDS) - sum(rows)))
        futures = [
            pool.submit(crashes.crash, folder / f"{command}-{number}", seed * 100_000 + number, kills)
            for number, kills in enumerate(rows)
        ]
        met, wrong = _outcome(futures, f"{command}: killed at any moment")
        yield f"course {command}: kill -9 within {crashes.seconds:.1f} s; {sum(met)} met it at work", sum(rows), wrong


def _outcome(futures: list[Future[Any]], what: str) -> tuple[list[Any], list[str]]:
    findings: list[Any] = []
    wrong: list[str] = []
    console = Console(stderr=True)
    for future in track(as_completed(futures), what, total=len(futures), console=console, transient=True):
        error = future.exception()
        if error is None:
            findings.append(future.result())
        else:
            wrong.append(f"{type(error).__name__}: {error}")
    return findings, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cuts", type=int, default=5)
    options = parser.parse_args()
    table = Table("crash", "times", "went wrong")
    everything: list[str] = []
    # Processes of their own, because each adopts the orphans of its own crashes, and of no others.
    context = multiprocessing.get_context("forkserver")
    with tempfile.TemporaryDirectory() as name, ProcessPoolExecutor(2, mp_context=context) as pool:
        folder = Path(name)
        (folder / "steps").mkdir()
        for lines in (steps(pool, folder / "steps", options.cuts), moments(pool, folder, options.points, options.seed)):
            for what, times, wrong in lines:
                table.add_row(what, str(times), str(len(wrong)))
                everything += wrong
    Console(width=120).print(table)
    for line in everything[:20]:
        print(line)
    return 1 if everything else 0


if __name__ == "__main__":
    sys.exit(main())
