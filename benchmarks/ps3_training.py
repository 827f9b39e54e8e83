# ruff: noqa: E402 -- the number of threads is set before numpy is imported
"""Time the three-row table of problem set 3: the reference, a plain style in numpy, and an equivalent loop in PyTorch.

All train on the same data from the same start, in float64, on one thread, and must end with the same accuracies. PyTorch is
optional; its loop uses autograd and torch.optim.Adam, in the form that was the fastest of three that were tried. Rounds
take turns, so that a busy machine slows all of them; the fastest round of each counts.

Run: python benchmarks/ps3_training.py --rounds 3
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from solutions.ps3_position import LENGTH, WIDTH, draw_start, draw_task, pooled_logits, sinusoidal_encoding, train

SCALES = (0, 1, 3)
STEPS, LR = 1500, 0.01
LIMIT_SECONDS, LIMIT_RATIO = 1.5, 0.5
Trained = tuple[np.ndarray, np.ndarray]
Trainer = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], Trained]


def numpy_einsum(tokens: np.ndarray, labels: np.ndarray, query: np.ndarray, readout: np.ndarray) -> Trained:
    """What a student may write: the formulas one by one, with einsum, examples first."""
    n, _, width = tokens.shape
    theta = np.concatenate([query, readout])
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, STEPS + 1):
        query, readout = theta[:width], theta[width:]
        scores = np.einsum("nld,d->nl", tokens, query) / np.sqrt(width)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        pooled = np.einsum("nl,nld->nd", weights, tokens)
        error = (1 / (1 + np.exp(-pooled @ readout)) - labels) / n
        by_weight = error[:, None] * np.einsum("nld,d->nl", tokens, readout)
        by_score = weights * (by_weight - (weights * by_weight).sum(axis=1, keepdims=True))
        slope = np.concatenate([np.einsum("nl,nld->d", by_score, tokens) / np.sqrt(width), error @ pooled])
        m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
        theta = theta - LR * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return theta[:width], theta[width:]


def torch_trainer() -> Trainer | None:
    """The same training in PyTorch; None if it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)

    def trainer(tokens: np.ndarray, labels: np.ndarray, query: np.ndarray, readout: np.ndarray) -> Trained:
        inputs, targets = torch.from_numpy(tokens), torch.from_numpy(labels)
        parameters = [torch.tensor(start, requires_grad=True) for start in (query, readout)]
        optimizer = torch.optim.Adam(parameters, lr=LR)
        root = tokens.shape[2] ** 0.5
        for _ in range(STEPS):
            optimizer.zero_grad()
            weights = torch.softmax(inputs @ parameters[0] / root, dim=1)
            logits = (weights * (inputs @ parameters[1])).sum(dim=1)
            torch.nn.functional.binary_cross_entropy_with_logits(logits, targets).backward()
            optimizer.step()
        return parameters[0].detach().numpy(), parameters[1].detach().numpy()

    return trainer


def three_rows(trainer: Trainer) -> tuple[float, list[float]]:
    """Seconds for the table, and its test accuracies."""
    (tokens, labels), (test_tokens, test_labels), start = draw_task(0), draw_task(1), draw_start(0)
    positions, accuracies = sinusoidal_encoding(LENGTH, WIDTH), []
    begin = time.perf_counter()
    for scale in SCALES:
        trained = trainer(tokens + scale * positions, labels, *start)
        logits, _ = pooled_logits(test_tokens + scale * positions, *trained)
        accuracies.append(float(((logits > 0) == (test_labels > 0.5)).mean()))
    return time.perf_counter() - begin, accuracies


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="rounds, of which the fastest counts (default 3)")
    options = parser.parse_args()
    pytorch = torch_trainer()
    trainers: dict[str, Trainer] = {"reference": train, "plain numpy": numpy_einsum}
    if pytorch is not None:
        trainers["PyTorch"] = pytorch
    rounds = [{name: three_rows(trainer) for name, trainer in trainers.items()} for _ in range(options.rounds)]
    best = {name: min(timing[name][0] for timing in rounds) for name in trainers}
    print("three rows of 1500 steps   seconds   reference takes   test accuracies")
    for name, seconds in best.items():
        ratio = best["reference"] / seconds
        print(f"{name:24}   {seconds:7.2f}   {ratio:10.2f} of it   {rounds[0][name][1]}")
    if pytorch is None:
        print("PyTorch                    torch not installed")
    # A busy or slower machine proves nothing against the reference; the ratio holds on any.
    print(f"goals: at most {LIMIT_SECONDS} s on the course's own machine, and at most {LIMIT_RATIO} of PyTorch's time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
