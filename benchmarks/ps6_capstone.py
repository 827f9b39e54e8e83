"""How long the melody model of problem set 6 trains, and how far trained models scatter over seeds.

`python benchmarks/ps6_capstone.py --seeds 10` prints for each seed CPU time, test accuracy, last loss, both masses, and the
three shares of the swap experiment. Run it with OPENBLAS_NUM_THREADS=1, as in a guest. Freed memory is kept, as in a guest.

Ten seeds gave accuracies of .9996 to 1, losses of .0027 to .0066, induction masses of .960 to .975, previous masses of .51
to .67, and .77 to .84 of the predictions broken; followed and control were 1. One training took 3.5 s of CPU time with
AVX-512, numpy 2.4.6 and one thread, and 3.8 to 4.0 s while the machine was busy with other work; on a slower one, 6.6 s.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from autograder.runtime.surroundings import keep_freed_memory
from solutions import ps6_what_a_weight_explains as ps6

STEPS, BATCH, TESTED = 500, 32, 400
NAMES = ("CPU seconds", "accuracy", "loss", "induction", "previous", "followed", "broken", "control")


def swapped(seed: int, model: ps6.Model, positions: np.ndarray) -> tuple[float, float, float]:
    """The shares of the swap experiment at the third place of the second round; the control is the first note."""
    rng = np.random.default_rng(seed)
    tokens, _, _, periods = ps6.melodies((TESTED,), seed)
    fresh = np.array([rng.choice(np.setdiff1d(np.arange(ps6.NOTES), row)) for row in tokens])

    def forward(notes: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        return ps6.lm_forward(model, positions, notes)

    return ps6.swap_experiment(forward, tokens, periods + 2, fresh, np.zeros(TESTED, dtype=int))


def measured(seed: int) -> tuple[float, ...]:
    """The numbers of one training."""
    positions = ps6.sinusoids(ps6.LENGTH, 32)
    batches = ps6.melodies((STEPS, BATCH), 1000 + seed)[:3]
    begun = time.process_time()
    model, losses = ps6.train_lm(ps6.new_model(seed), positions, batches, np.linspace(5e-3, 2.5e-4, STEPS))
    seconds = time.process_time() - begun
    tokens, targets, counted, periods = ps6.melodies((TESTED,), 9000 + seed)
    logits, (first, second) = ps6.lm_forward(model, positions, tokens)
    accuracy = (logits.argmax(axis=-1) == targets)[counted].mean()
    masses = ps6.induction_mass(second, tokens, counted), ps6.previous_mass(first, periods)
    return seconds, float(accuracy), float(losses[-20:].mean()), *masses, *swapped(5000 + seed, model, positions)


def main() -> None:
    """Print a row a seed, and the range of each column."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    keep_freed_memory()
    rows = []
    print("seed", *NAMES, sep="\t")
    for seed in range(parser.parse_args().seeds):
        rows.append(measured(seed))
        print(seed, *(f"{number:.4f}" for number in rows[-1]), sep="\t", flush=True)
    for name, column in zip(NAMES, zip(*rows, strict=True), strict=True):
        print(f"{name}: {min(column):.4f} to {max(column):.4f}, median {np.median(column):.4f}")


if __name__ == "__main__":
    main()
