"""`python -m autograder.kit.race ps5`: your own functions beside others on your machine; for the brave, never graded.

A problem set with a race declares it in `payoffs.py` as `RACE`, a dictionary: `names` of the functions that take part,
`sizes` from small to large, and `arguments`, a function that makes what all of them get at a size.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

from autograder.kit.console import tolerate_missing_characters
from autograder.kit.folder import find_folder, find_work, read_description
from autograder.kit.payoff import NoPayoff, Work, payoffs_module
from autograder.runtime import loading

ROUNDS = 5
PICTURE = "race.png"


@dataclass(frozen=True)
class Lap:
    """One function at one size: its smallest time in seconds, and the most bytes that it held at once."""

    name: str
    size: int
    seconds: float
    peak_bytes: int


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns 0 if the race was run, 2 if there is none or a function is missing."""
    parser = argparse.ArgumentParser(prog="python -m autograder.kit.race", description="Race your functions.")
    parser.add_argument("problem_set", help="its folder, such as ps5")
    folder = find_folder(parser.parse_args(arguments).problem_set)
    tolerate_missing_characters()
    try:
        race = getattr(payoffs_module(folder), "RACE", None)
        if race is None:
            raise NoPayoff(f"{folder.name} declares no race")
        work = find_work(folder, read_description(folder)["module"])
        namespace, _ = loading.load(work.name, work.read_bytes())
        functions = {name: getattr(Work(namespace), name) for name in race["names"]}
        laps = run(functions, race["sizes"], race["arguments"])
    except (NoPayoff, NotImplementedError, FileNotFoundError) as error:
        print(f"no race yet: {error}")
        return 2
    print("\n".join(table(laps)))
    matplotlib.use("Agg")
    plot(laps, folder / PICTURE)
    print(f"drawn: {folder / PICTURE}")
    return 0


def run(
    functions: dict[str, Callable[..., Any]], sizes: Sequence[int], make_arguments: Callable[[int], tuple[Any, ...]]
) -> list[Lap]:
    """Let all functions take turns at each size, after a warm-up, so that a busy moment slows all of them."""
    laps = []
    for size in sizes:
        given = make_arguments(size)
        best = dict.fromkeys(functions, math.inf)
        peaks = {name: _peak(function, given) for name, function in functions.items()}
        for _ in range(ROUNDS):
            for name, function in functions.items():
                start = time.perf_counter()
                function(*given)
                best[name] = min(best[name], time.perf_counter() - start)
        laps += [Lap(name, size, best[name], peaks[name]) for name in functions]
    return laps


def _peak(function: Callable[..., Any], given: tuple[Any, ...]) -> int:
    tracemalloc.start()
    try:
        function(*given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def table(laps: Sequence[Lap]) -> list[str]:
    """One line per size, with time and memory of each function."""
    names = list(dict.fromkeys(lap.name for lap in laps))
    lines = [f"{'size':>7}" + "".join(f"{name:>30}" for name in names)]
    for size in dict.fromkeys(lap.size for lap in laps):
        row = [lap for lap in laps if lap.size == size]
        lines.append(f"{size:7}" + "".join(f"{1000 * lap.seconds:15.1f} ms {lap.peak_bytes / 1e6:8.1f} MB" for lap in row))
    return lines


def plot(laps: Sequence[Lap], path: Path) -> None:
    """Time and memory against size, on logarithmic axes."""
    import matplotlib.pyplot as plt

    figure, (times, memory) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for name, marker in zip(dict.fromkeys(lap.name for lap in laps), "os^v", strict=False):
        own = [lap for lap in laps if lap.name == name]
        sizes = [lap.size for lap in own]
        times.loglog(sizes, [1000 * lap.seconds for lap in own], marker=marker, label=name)
        memory.loglog(sizes, [lap.peak_bytes / 1e6 for lap in own], marker=marker, label=name)
    for axes in (times, memory):
        axes.set_xticks(sorted({lap.size for lap in laps}), minor=False)
        axes.set_xticks([], minor=True)
        axes.xaxis.set_major_formatter("{x:.0f}")
    times.set(xlabel="size", ylabel="milliseconds")
    memory.set(xlabel="size", ylabel="megabytes held at most")
    times.legend()
    figure.savefig(path)
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main())
