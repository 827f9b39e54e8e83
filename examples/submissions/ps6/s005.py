"""Problem set 6: what a weight explains, and a Transformer of your own.

Arrays hold float64 numbers; compute in that precision. No function changes its
arguments.
D1 and D3 are teaching documents that this course is built on.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

# Tools from earlier problem sets, so that nothing here depends on your answers there.


def softmax(scores: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """Turn scores (..., n) into weights along the last axis; a row in which `mask`
    allows nothing gets zeros.

    mask: True where reading is allowed; any shape that broadcasts against the scores.
    """
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    growth = np.exp(scores - np.where(np.isfinite(largest), largest, 0.0))
    total = growth.sum(axis=-1, keepdims=True)
    return growth / np.where(total > 0, total, 1.0)


def causal_mask(length: int) -> np.ndarray:
    """A (length, length) mask under which position i may read positions 0 to i."""
    return np.tri(length, dtype=bool)


def sinusoids(length: int, width: int) -> np.ndarray:
    """Problem set 3's position vectors, times 3: shape (length, width)."""
    angles = np.outer(np.arange(length), 10000.0 ** (-np.arange(0, width, 2) / width))
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return 3.0 * pairs.reshape(length, width)


# The melody task. A melody of different notes is repeated to a fixed length, and the
# model predicts each next note.
NOTES = 16
LENGTH = 24


def melodies(
    shape: Sequence[int], seed: int, shortest: int = 4, longest: int = 10
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw melodies of `shortest` to `longest` different notes, each repeated to LENGTH
    notes.

    shape: such as (32,) for 32 melodies, or (500, 32) for 500 batches of 32.
    Returns (tokens, targets, counted, periods). tokens, targets: integers of shape
    (*shape, LENGTH), the notes and the note that follows each. counted: boolean, the
    same shape, True where the next note is determined by what came before: from the
    first repeated note on. periods: integers of shape `shape`, the number of notes in
    each melody.
    """
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    periods = rng.integers(shortest, longest + 1, size=count)
    order = np.argsort(rng.random((count, NOTES)), axis=1)
    places = np.arange(LENGTH + 1) % periods[:, np.newaxis]
    notes = np.take_along_axis(order, places, axis=1)
    counted = np.arange(LENGTH) >= periods[:, np.newaxis]
    full = (*shape, LENGTH)
    parts = (notes[:, :-1], notes[:, 1:], counted)
    tokens, targets, counted = (part.reshape(full) for part in parts)
    return tokens, targets, counted, periods.reshape(shape)


Model = dict[str, Any]


def new_model(
    seed: int, width: int = 32, hidden: int = 64, layers: int = 2, notes: int = NOTES
) -> Model:
    """A model before training. All matrices are random, all gains are ones, all shifts
    and biases zeros.

    embed: (notes, width). blocks: a list of dicts with w_q, w_k, w_v, w_o (width,
    width), w_1 (width, hidden), b_1 (hidden,), w_2 (hidden, width), b_2 (width,), and
    gain_1, shift_1, gain_2, shift_2 (width,).
    gain, shift: (width,), the last norm. unembed: (width, notes).
    """
    rng = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> np.ndarray:
        return rng.standard_normal((rows, columns)) / np.sqrt(rows)

    def block() -> dict[str, np.ndarray]:
        made = {name: matrix(width, width) for name in ("w_q", "w_k", "w_v", "w_o")}
        made |= {"w_1": matrix(width, hidden), "b_1": np.zeros(hidden)}
        made |= {"w_2": matrix(hidden, width), "b_2": np.zeros(width)}
        for norm in (1, 2):
            made |= {f"gain_{norm}": np.ones(width), f"shift_{norm}": np.zeros(width)}
        return made

    return {
        "embed": rng.standard_normal((notes, width)),
        "blocks": [block() for _ in range(layers)],
        "gain": np.ones(width),
        "shift": np.zeros(width),
        "unembed": matrix(width, notes),
    }


def adam_step(
    model: Any, gradients: Any, moments: Any, step: int, rate: float
) -> tuple[Any, Any]:
    """One step of Adam on a model, or on any nest of dicts, lists and arrays.

    gradients: the same form as `model`. moments: None before the first step, then what
        the last call returned.
    step: 1 for the first step, 2 for the second. rate: this step's learning rate.
    Returns (new model, new moments); the arguments stay as they are.

    Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, with the
        paper's defaults.
    """
    if isinstance(model, dict):
        kept = moments or {}
        pairs = {}
        for name, part in model.items():
            pairs[name] = adam_step(part, gradients[name], kept.get(name), step, rate)
        changed = {name: pair[0] for name, pair in pairs.items()}
        return changed, {name: pair[1] for name, pair in pairs.items()}
    if isinstance(model, list):
        parts = zip(model, gradients, moments or [None] * len(model), strict=True)
        steps = [adam_step(*part, step, rate) for part in parts]
        return [new for new, _ in steps], [kept for _, kept in steps]
    first, second = (0.0, 0.0) if moments is None else moments
    first = 0.9 * first + 0.1 * gradients
    second = 0.999 * second + 0.001 * gradients**2
    move = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return model - rate * move, (first, second)


# === carried over ===
# them in, with what they call.
def layer_norm(
    x: np.ndarray, gain: np.ndarray, shift: np.ndarray, eps: float = 1e-5
) -> np.ndarray:
    """Yours from problem set 4: mean 0 and variance 1 along the last axis, then `gain`
    and `shift`."""
    raise RuntimeError("carry your own function over first: check.py ps6 --carry")


def gelu(x: np.ndarray) -> np.ndarray:
    """Yours from problem set 4: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))."""
    raise RuntimeError("carry your own function over first: check.py ps6 --carry")


def multi_head_attention(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    w_o: np.ndarray,
    heads: int,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Yours from problem set 4: returns (output, weights) of shapes (..., length, out)
    and (..., heads, length, length)."""
    raise RuntimeError("carry your own function over first: check.py ps6 --carry")


def attention_backward(
    queries: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    output_gradient: np.ndarray,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Yours from problem set 4: the gradients of the loss with respect to queries, keys
    and values."""
    raise RuntimeError("carry your own function over first: check.py ps6 --carry")


guess_effect = "d"


def deletion_effects(weights, values):
    others = weights * (1 - np.eye(len(weights)))
    totals = others.sum(axis=1, keepdims=True)
    if (totals <= 0).any():
        raise ValueError('without the only item that has weight, nothing is left to average')
    return weights[:, np.newaxis] * (values - others @ values / totals)


def swap_effects(weights, values, replacement):
    return weights[:, np.newaxis] * (values - replacement)


loud_but_idle = ([0.5, 0.25, 0.25], [[0.0], [1.0], [-1.0]])
quiet_but_decisive = ([0.1, 0.45, 0.45], [[10.0], [0.0], [0.0]])


def length_ratio(weights, values):
    lengths = np.linalg.norm(values, axis=1)
    longest = np.where(weights > 0, lengths, 0.0).max(axis=1)
    return np.linalg.norm(weights @ values, axis=1) / np.where(longest > 0, longest, 1.0)


def examples_needed(sizes, accuracies, level):
    if accuracies[0] >= level:
        return float(sizes[0])
    for at in range(1, len(sizes)):
        low, high = (accuracies[at - 1], accuracies[at])
        if high >= level:
            share = (level - low) / (high - low)
            return float(sizes[at - 1] * (sizes[at] / sizes[at - 1]) ** share)
    return None


unet = "b"
must_outperform = None
ceiling = "c"
eight = None


guess_swap = None
