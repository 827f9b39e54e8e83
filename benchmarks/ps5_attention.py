"""How fast numpy can be: problem set 5's reference attention beside its own matrix products, naive numpy, and PyTorch.

    python benchmarks/ps5_attention.py                  # the table, one thread; about a minute on a quiet machine
    python benchmarks/ps5_attention.py --memory         # peak memory above the inputs, up to 8192 tokens

One layer of width 64 on a batch of four: three projections, scores, softmax, average. All times of a row come from one run,
alternating, and each is the smallest of several; read the ratios, not the seconds. PyTorch is compared where it is installed
(`pip install torch`; the extra `bench` names it, and no lock file does). The ratio to the matrix products depends on
how fast numpy raises to a power, so the processor's features are printed: without AVX-512 it is about 1.7.

Times as ratios to the products, at 512, 1024 and 2048 tokens (AVX-512, numpy 2.4.6, PyTorch 2.13.0, one thread, quiet). The
goals were 1.20 in float64 and 1.25 in float32:

    float64   reference 1.21, 1.20, 1.17   naive 2.55, 2.33, 2.81   PyTorch 1.15, 0.98, 0.94
    float32   reference 1.18, 1.15, 1.15   naive 1.76, 2.07, 2.19   PyTorch 0.92, 0.87, 0.87

What was tried, in runs of their own on a busier machine:

- Powers of 2 in place of e, kept: 0.79 of the time of np.exp in float64, 0.60 to 0.76 in float32. In one run on a busy
  machine, np.exp: 1.26, 1.31, 1.36 in float64 and 1.26, 1.38, 1.39 in float32; np.exp2: 1.25, 1.28, 1.29 and 1.28, 1.30,
  1.34.
- 64 rows at a time: 1.30 to 1.37; 32 rows: 1.47 to 1.67, because the products are slower. 256 rows: as fast as 128 in
  float64, up to a tenth faster in float32.
- Tiles of 256 x 256, 128 x 512 and 512 x 256 scores: 1.25 to 1.45 in float64, no better than rows.
- Sums by np.sum: 1.26 to 1.31 in float64; by a column of ones beside the values: 1.25 to 1.29; by a product with ones, kept:
  1.20 to 1.26.
- One buffer for all calls: no difference beyond the scatter of 0.04.

What is left in float64 is the exponential itself, 0.8 ns per score beside 7.7 ns of products, the sum, 0.2 ns, and the way
of the scores through a cache of 1.25 MB per core.
"""

from __future__ import annotations

import argparse
import functools
import math
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from solutions.ps5_what_it_costs import blocked_attention, plain_attention  # noqa: E402

BATCH, WIDTH, ROWS = 4, 64, 128
NAIVE_UP_TO = 2048

Layer = Callable[[], object]


def inputs(length: int, dtype: type) -> tuple[np.ndarray, list[np.ndarray]]:
    """Tokens (BATCH, length, WIDTH) and three projections (WIDTH, WIDTH) that keep scores near one."""
    rng = np.random.default_rng(length)
    tokens = rng.normal(size=(BATCH, length, WIDTH)).astype(dtype)
    return tokens, [(rng.normal(size=(WIDTH, WIDTH)) / math.sqrt(WIDTH)).astype(dtype) for _ in range(3)]


def reference(tokens: np.ndarray, weights: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The layer with the reference's blocked attention."""
    return [blocked_attention(*(x @ w for w in weights), block=ROWS) for x in tokens]


def products(tokens: np.ndarray, weights: Sequence[np.ndarray]) -> np.ndarray:
    """The same matrix products in the same blocks, and nothing else."""
    length = tokens.shape[1]
    output = np.empty_like(tokens)
    table = np.empty((ROWS, length), tokens.dtype)
    for x, out in zip(tokens, output, strict=True):
        queries, keys, values = (x @ w for w in weights)
        for start in range(0, length, ROWS):
            np.matmul(queries[start : start + ROWS], keys.T, out=table)
            np.matmul(table, values, out=out[start : start + ROWS])
    return output


def naive(tokens: np.ndarray, weights: Sequence[np.ndarray]) -> np.ndarray:
    """The layer with the formula as it stands."""
    return np.stack([plain_attention(*(x @ w for w in weights)) for x in tokens])


def torch_layer(tokens: np.ndarray, weights: Sequence[np.ndarray]) -> Layer | None:
    """The layer by PyTorch's scaled_dot_product_attention on the CPU with one thread; None where it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    x, ws = torch.from_numpy(tokens), [torch.from_numpy(w) for w in weights]

    def layer() -> object:
        with torch.inference_mode():
            return torch.nn.functional.scaled_dot_product_attention(*((x @ w)[:, None] for w in ws))

    return layer


def smallest_times(layers: Sequence[Layer], repeats: int) -> list[float]:
    """The smallest CPU time of each layer, after a warm-up; one round after another, so that all see the same machine."""
    for layer in layers:
        layer()
    times = [math.inf] * len(layers)
    for _ in range(repeats):
        for place, layer in enumerate(layers):
            start = time.process_time()
            layer()
            times[place] = min(times[place], time.process_time() - start)
    return times


def peak_megabytes(layer: Callable[..., object], *arguments: object) -> float:
    """The most that was held at once beyond what existed before, as numpy reports it to tracemalloc."""
    layer(*arguments)
    tracemalloc.start()
    layer(*arguments)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def features() -> str:
    """The processor's features that decide how fast numpy's exponential is."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    return ", ".join(name for name in found if name.startswith(("AVX2", "FMA3", "AVX512", "NEON", "ASIMD"))) or "none listed"


def print_memory() -> None:
    """Peak memory of reference and naive layer, by length and precision."""
    print(f"{'length':>7} {'dtype':>8} {'reference':>10} {'naive':>7}   (MB above the inputs)")
    for dtype in (np.float64, np.float32):
        for length in (512, 1024, 2048, 4096, 8192):
            held = peak_megabytes(reference, *inputs(length, dtype))
            table = f"{peak_megabytes(naive, *inputs(length, dtype)):7.1f}" if length <= NAIVE_UP_TO else "      -"
            print(f"{length:7} {np.dtype(dtype).name:>8} {held:10.1f} {table}")


def print_times(repeats: int) -> None:
    """Times relative to the matrix products alone, by length and precision."""
    print(f"{'length':>7} {'dtype':>8} {'products':>10} {'reference':>10} {'naive':>7} {'PyTorch':>8}   (times / products)")
    for dtype in (np.float64, np.float32):
        for length in (512, 1024, 2048):
            arguments = inputs(length, dtype)
            layers: list[Layer] = [functools.partial(layer, *arguments) for layer in (products, reference, naive)]
            other = torch_layer(*arguments)
            times = smallest_times([*layers, other] if other else layers, repeats)
            ratios = [f"{seconds / times[0]:.2f}" for seconds in times[1:]]
            row = [f"{1000 * times[0]:.1f} ms", *ratios, *([] if other else ["-"])]
            print(f"{length:7} {np.dtype(dtype).name:>8} {row[0]:>10} {row[1]:>10} {row[2]:>7} {row[3]:>8}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--memory", action="store_true", help="peak memory instead of times")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    print(f"numpy {np.__version__}; processor features: {features()}")
    if options.memory:
        print_memory()
    else:
        print_times(options.repeats)


if __name__ == "__main__":
    main()
