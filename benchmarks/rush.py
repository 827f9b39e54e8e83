"""The rush before a deadline: how long a submission waits when a third of the class hands in within the last ten minutes.

    python benchmarks/rush.py [--students 3000] [--problem-set ps1] [--plot docs/rush.png]

Service times are measured: the quick examples of the problem set are graded here by one worker, and each submission of
the simulated class takes the time of one of them, drawn with a fixed seed; one in a hundred uses up all the time of a
submission. The other two thirds arrive during the day before. Submissions are graded in the order of their arrival by
1, 2 or 8 cores.
"""

from __future__ import annotations

import argparse
import heapq
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder.course import load_course  # noqa: E402
from autograder.intake import Submission  # noqa: E402
from autograder.messages import Task  # noqa: E402
from autograder.run import graded  # noqa: E402

CORES = (1, 2, 8)
DAY, RUSH = 86_400.0, 600.0
STUCK = 0.01  # the share of submissions that hang until their time is up
LONG = 3.0  # an example that takes so many times the median is one of those


def service_times(slug: str) -> tuple[np.ndarray, float]:
    """Seconds that the quick examples take, and those of one that hangs."""
    problem_set = load_course(ROOT).problem_set(slug)
    module = problem_set.assignment.module
    tasks = {
        (path.stem, turn): Task(Submission(path.stem, f"{module}.py", path.read_bytes()))
        for turn in range(3)
        for path in sorted((ROOT / "examples/submissions" / slug).glob("*.py"))
    }
    seconds = np.array([record.seconds for _, record in graded(ROOT, problem_set, tasks, jobs=1)])
    return seconds[seconds < LONG * np.median(seconds)], problem_set.limits.submission_seconds


def arrivals(students: int, draw: np.random.Generator) -> np.ndarray:
    """When the class hands in, in seconds before (negative) the deadline, sorted."""
    late = students // 3
    return np.sort(np.concatenate([-draw.uniform(RUSH, DAY, students - late), -draw.uniform(0, RUSH, late)]))


def waiting_times(arrive: Sequence[float], service: Sequence[float], cores: int) -> np.ndarray:
    """From arrival to the record, in seconds, graded first come, first served."""
    free = [-np.inf] * cores
    waits = []
    for moment, seconds in zip(arrive, service, strict=True):
        done = max(moment, heapq.heappop(free)) + seconds
        heapq.heappush(free, done)
        waits.append(done - moment)
    return np.array(waits)


def plot(path: Path, arrive: np.ndarray, waits: dict[int, np.ndarray], title: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.5, 4.2), layout="constrained")
    for (cores, own), style in zip(waits.items(), ("-", "--", ":"), strict=True):
        shown = arrive > -2 * RUSH
        axes.plot(arrive[shown] / 60, own[shown], style, label=f"{cores} {'core' if cores == 1 else 'cores'}")
    axes.axvspan(-RUSH / 60, 0, color="0.93", label="a third of the class hands in")
    axes.set(title=title, xlabel="handed in, minutes from the deadline", ylabel="seconds to the record", yscale="log")
    axes.legend()
    figure.savefig(path, dpi=110)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=3000)
    parser.add_argument("--problem-set", default="ps1")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--plot", type=Path, help="draw the waiting times into this file")
    options = parser.parse_args()
    usual, stuck = service_times(options.problem_set)
    draw = np.random.default_rng(options.seed)
    arrive = arrivals(options.students, draw)
    hangs = draw.random(arrive.size) < STUCK
    service = np.where(hangs, stuck, draw.choice(usual, arrive.size))
    print(
        f"measured: {usual.size} gradings, median {np.median(usual):.2f} s, longest {usual.max():.2f} s; stuck: {stuck:g} s"
    )
    print(f"mean service time {service.mean():.2f} s; {options.students} students\n")
    print("| cores | median, s | 95 %, s | longest, s | last record after the deadline, s |\n|---:|---:|---:|---:|---:|")
    waits = {cores: waiting_times(arrive, service, cores) for cores in CORES}
    rush = arrive > -RUSH
    for cores, own in waits.items():
        median, most, longest = np.percentile(own[rush], [50, 95, 100])
        print(f"| {cores} | {median:.1f} | {most:.1f} | {longest:.1f} | {max(0.0, (arrive + own).max()):.0f} |")
    if options.plot:
        title = f"{options.problem_set}: {options.students} students, {service.mean():.2f} s a submission"
        plot(options.plot, arrive, waits, title)
    return 0


if __name__ == "__main__":
    sys.exit(main())
