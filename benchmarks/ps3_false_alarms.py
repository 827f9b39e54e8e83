# ruff: noqa: E402 -- the number of threads is set before numpy is imported
"""How often would a right answer fail the tests of problem set 3 that rest on training?

The tests fix data and start, so a right answer differs from the reference by rounding only. Three things are measured over
many seeded data sets, far more than the tests use:

1. `bands`: how often one run of the reference leaves a band of ledger row D1-7, and how often the median over five
   data sets would. This is no luck of a submission, for the tests' data are fixed: it says how likely a *new seed* of the
   problem set draws data on which the reference itself fails, and so needs another draw. A median of five fails only if
   three runs do. Exact (Clopper-Pearson) upper limits at 99 % confidence are printed for both.
2. `styles`: how far the alternatives to `train` end from the reference. After SHORT steps, parameters differ by rounding,
   which the tests compare at TOLERANCE. After all steps they may not: near a minimum Adam divides small slopes by
   smaller and smaller averages, until a rounding can grow a billionfold. The tests therefore hold the end of a full
   run to its loss (at LOSS_TOLERANCE) and to the bands, never to its parameters.
3. `time`: how much larger the error with an appended number is than with an embedding (row D1-8).

Run: python benchmarks/ps3_false_alarms.py --runs 2000 --jobs 2 --keep alarms.jsonl
"""

import os

# One thread a process: the matrices are small, and the processes share the machine.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import json
import math
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from assignments.ps3_position.alternatives import train_all_in_one, train_with_two_optimisers
from solutions.ps3_position import (
    LENGTH,
    WIDTH,
    draw_start,
    draw_task,
    logistic_loss,
    pooled_logits,
    sinusoidal_encoding,
    time_errors,
    train,
)

SCALES = (0, 1, 3)
Runs = dict[str, list[float]]
STYLES = {"train_with_two_optimisers": train_with_two_optimisers, "train_all_in_one": train_all_in_one}
SHORT = 100
TOLERANCE = 1e-4  # what the tests allow between parameters after at most SHORT steps
LOSS_TOLERANCE = 5e-4  # what they allow between train losses after all steps


def gap(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> float:
    """The largest difference between two trained (query, readout)."""
    return float(np.abs(np.subtract(one, other)).max())


def accuracy(tokens: np.ndarray, labels: np.ndarray, trained: tuple[np.ndarray, np.ndarray]) -> float:
    return float(((pooled_logits(tokens, *trained)[0] > 0) == (labels > 0.5)).mean())


def one_data_set(seed: int) -> Runs:
    """Train on one data set at every scale; the alternatives take turns at scales and data sets."""
    (tokens, labels), (test_tokens, test_labels) = draw_task(seed), draw_task(seed + 1_000_000)
    start, positions = draw_start(seed), sinusoidal_encoding(LENGTH, WIDTH)
    found: Runs = {"test": [], "short": [], "long": [], "loss": [], "accuracy": []}
    for turn, scale in enumerate(SCALES):
        shift = scale * positions
        moved, test_moved = tokens + shift, test_tokens + shift
        trained = train(moved, labels, *start)
        found["test"].append(accuracy(test_moved, test_labels, trained))
        # One data set in five, at the scales in turn: the plainer styles take three times as long.
        if seed % 5 == 0 and seed // 5 % len(SCALES) == turn:
            style = list(STYLES.values())[seed // 15 % len(STYLES)]
            found["short"].append(gap(train(moved, labels, *start, SHORT), style(moved, labels, *start, SHORT)))
            other = style(moved, labels, *start)
            found["long"].append(gap(trained, other))
            losses = [logistic_loss(pooled_logits(moved, *end)[0], labels) for end in (trained, other)]
            found["loss"].append(abs(losses[0] - losses[1]))
            found["accuracy"].append(abs(accuracy(test_moved, test_labels, other) - found["test"][-1]))
    return found


def upper_limit(failures: int, runs: int, confidence: float = 0.99) -> float:
    """Clopper-Pearson: the largest share that would still give so few failures with probability 1 - confidence."""

    def at_most(share: float) -> float:
        return sum(math.comb(runs, k) * share**k * (1 - share) ** (runs - k) for k in range(failures + 1))

    low, high = failures / runs, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(middle) > 1 - confidence else (low, middle)
    return high


def measure(runs: int, jobs: int, keep: Path | None) -> list[Runs]:
    """All data sets up to `runs`; those in the file `keep` are not done again, and new ones are added to it at once."""
    done: dict[int, Runs] = {}
    if keep is not None and keep.exists():
        done = {entry["seed"]: entry["found"] for entry in map(json.loads, keep.read_text(encoding="utf-8").splitlines())}
    missing = [seed for seed in range(runs) if seed not in done]
    with ProcessPoolExecutor(jobs) as pool:
        for seed, found in zip(missing, pool.map(one_data_set, missing), strict=True):
            done[seed] = found
            if keep is not None:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"seed": seed, "found": found}) + "\n")
    return [found for seed, found in done.items() if seed < runs]


def median_fails(share: float) -> float:
    """The chance that at least three of five runs are outside, each with probability `share`."""
    return sum(math.comb(5, k) * share**k * (1 - share) ** (5 - k) for k in range(3, 6))


def bands() -> list[tuple[float, float]]:
    row = yaml.safe_load((ROOT / "assignments" / "ledger.yml").read_text(encoding="utf-8"))["rows"]["D1-7"]
    return [tuple(row["bands"][f"x{scale}_test"]) for scale in SCALES]


def report(found: list[Runs]) -> Iterable[str]:
    tests = np.array([run["test"] for run in found])
    runs = len(tests)
    yield f"{runs} data sets, {tests.size} training runs of the reference"
    yield "scale  band            mean   sd     min    max    outside  upper limit  median of 5 outside, at most"
    for column, (scale, (low, high)) in enumerate(zip(SCALES, bands(), strict=True)):
        values = tests[:, column]
        outside = int(((values < low) | (values > high)).sum())
        limit = upper_limit(outside, runs)
        estimate = median_fails(outside / runs)
        yield (
            f"x{scale}     [{low:.3f}, {high:.3f}]  {values.mean():.4f} {values.std():.4f} {values.min():.3f}  "
            f"{values.max():.3f}  {outside:7d}  {limit:11.5f}  {median_fails(limit):.1e} (estimate {estimate:.1e})"
        )
    groups = np.median(tests[: runs // 5 * 5].reshape(-1, 5, len(SCALES)), axis=1)
    ordered = (np.diff(groups, axis=1) > 0).all(axis=1)
    gaps = np.diff(groups, axis=1)
    yield f"medians over {len(groups)} groups of five: {int((~ordered).sum())} not ordered"
    for column, gap in enumerate(gaps.T):
        name = f"x{SCALES[column]} to x{SCALES[column + 1]}"
        yield f"  gap {name}: mean {gap.mean():.4f}, sd {gap.std():.4f}, smallest {gap.min():.4f}"
    yield f"{len(STYLES)} alternatives to train, one run for each fifth data set: largest differences from the reference"
    for key, what, allowed in (
        ("short", f"parameters after {SHORT} steps", f"the tests allow {TOLERANCE:g}"),
        ("long", "parameters after all steps", "not graded"),
        ("loss", "train loss after all steps", f"the tests allow {LOSS_TOLERANCE:g}"),
        ("accuracy", "test accuracy after all steps", "graded by the bands"),
    ):
        values = np.array([value for run in found for value in run[key]])
        yield f"  {what}: {values.max():.1e}, median {np.median(values):.1e}, over {values.size} runs; {allowed}"


def time_ratio(seed: int) -> float:
    """Error with the appended number over error with the embedding, on data drawn as the test draws them."""
    rng = np.random.default_rng([seed, 2])
    sets = []
    for _ in range(2):
        features, times = rng.uniform(-1, 1, (400, 1)), rng.random(400)
        sets.append((features, times, np.sin(6 * np.pi * times + 2 * features[:, 0]) + 0.05 * rng.normal(size=400)))
    layers = [(rng.normal(size=(1 + extra, 100)), rng.normal(size=100)) for extra in (1, 8)]
    scalar, embedded = time_errors(*sets, *layers)
    return scalar / embedded


def report_time(ratios: np.ndarray) -> Iterable[str]:
    yield (
        f"{ratios.size} draws of the regression in time: scalar error over embedding error, smallest {ratios.min():.1f}, "
        f"median {np.median(ratios):.1f}, largest {ratios.max():.1f}"
    )
    logs = np.log(ratios)
    # The ratio of two positive errors scatters by factors, so its logarithm is the scale to count deviations on.
    away = logs.mean() / logs.std()
    yield f"  log ratio: mean {logs.mean():.2f}, sd {logs.std():.2f}; an equal error would be {away:.0f} sd away"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=25, help="data sets, each trained at three scales (default 25)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--part", choices=["training", "time", "all"], default="all", help="what to measure (default all)")
    parser.add_argument("--keep", type=Path, help="a file that keeps what was measured, so that a long run can go on later")
    options = parser.parse_args()
    if options.part != "training":
        print("\n".join(report_time(np.array([time_ratio(seed) for seed in range(options.runs)]))))
    if options.part != "time":
        print("\n".join(report(measure(options.runs, options.jobs, options.keep))))


if __name__ == "__main__":
    main()
