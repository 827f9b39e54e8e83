"""Problem set 5: what it costs.

Arrays hold float64 numbers; compute in that precision. No function changes its arguments. The names of sizes are the
same throughout: m queries and n keys, each of `width` numbers; n values, each of `value_width` numbers. A score is the
dot product of a query and a key, divided by sqrt(width). D1 and D3 are teaching documents that this course is built on.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np


def softmax(scores: np.ndarray) -> np.ndarray:
    """Turn each row of scores (m, n) into weights that sum to one."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def causal_mask(length: int) -> np.ndarray:
    """True where position i (row) may read position j (column): j <= i."""
    return np.tril(np.ones((length, length), dtype=bool))


def plain_attention(queries: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Attention by the formula: the whole (m, n) table at once. What you build must agree with it, at less cost."""
    return softmax(queries @ keys.T / math.sqrt(queries.shape[1])) @ values


def empty_state(rows: int, value_width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The running state of `rows` queries that have seen no key yet: (largest, total, mixed)."""
    return np.full(rows, -np.inf), np.zeros(rows), np.zeros((rows, value_width))


# === question: guess_context ===
guess_context = None
# BEGIN SOLUTION
guess_context = "c"
# END SOLUTION


# === question: reach ===
def reach(kernel: int, dilations: Sequence[int], strides: Sequence[int], centred: bool) -> int:
    """Find how far a stack of convolution layers sees: the largest offset that one output can read, in input places.

    kernel: number of taps of every layer, at least 1. dilations, strides: one whole number per layer, first layer first.
    A layer with dilation r takes its taps r places apart. A layer with stride s keeps every s-th place of its output,
    so one place of a later layer spans the product of all earlier strides in input places.
    centred: False if the kernel looks to one side only (at itself and kernel - 1 places before it); True if it looks
    (kernel - 1)/2 taps to each side, and then the answer is the reach to *one* side.
    Returns 0 for a stack without layers. Raises ValueError if centred is True and kernel is even.

    Source: D1, "The price: quadratic sequence length".
    """
    # BEGIN SOLUTION
    require_odd(kernel, centred)
    places, step = 0, 1
    for dilation, stride in zip(dilations, strides, strict=True):
        places += (kernel - 1) * dilation * step
        step *= stride
    return places // 2 if centred else places
    # END SOLUTION


# BEGIN SOLUTION
def require_odd(kernel: int, centred: bool) -> None:
    """Raise ValueError for a centred kernel without a tap in its middle."""
    if centred and kernel % 2 == 0:
        raise ValueError(f"a centred kernel needs a middle tap: {kernel} is even")


# END SOLUTION
def layers_to_cover(offset: int, kernel: int, centred: bool) -> int:
    """Find how many layers (stride 1, no dilation) a stack needs until its reach is at least `offset` places.

    offset: at least 0. kernel: at least 2, or at least 3 if centred. centred: as in `reach`.
    Returns the smallest number of layers, 0 for offset 0. Raises ValueError if centred is True and kernel is even.

    Source: D1, "The price: quadratic sequence length". The document counts one-sided; for centred kernels the depth doubles.
    """
    # BEGIN SOLUTION
    require_odd(kernel, centred)
    step = kernel // 2 if centred else kernel - 1
    return -(-offset // step)
    # END SOLUTION


# === question: cost ===
def attention_flops(length: int, width: int) -> int:
    """Count the arithmetic of one attention layer: 6 L d^2 for its three projections and 4 L^2 d for all pairs.

    A multiplication and an addition count as two operations, as is usual. The three projections are matrix products of
    (L, d) with (d, d). The pairs take two products: scores (L, d) by (d, L), and weights (L, L) by (L, d). Softmax, the
    output projection and additions of biases are not counted.
    length, width: whole numbers, as large as you like. Returns an exact int.

    Source: D1, "The price: quadratic sequence length".
    """
    # BEGIN SOLUTION
    return 6 * length * width**2 + 4 * length**2 * width
    # END SOLUTION


def crossover_length(width: int) -> Fraction:
    """Find the length at which the pairs cost exactly as much as the projections, as a Fraction.

    Source: D1, "The price: quadratic sequence length".
    """
    # BEGIN SOLUTION
    return Fraction(3 * width, 2)
    # END SOLUTION


def relative_cost(lengths: Sequence[int], width: int) -> np.ndarray:
    """Compare costs: `attention_flops` at each length, divided by its value at the first length.

    lengths: at least one whole number. Returns shape (len(lengths),), float64; the first entry is 1.

    Source: D1, "The price: quadratic sequence length", which gives the pairs alone too.
    """
    # BEGIN SOLUTION
    flops = [attention_flops(length, width) for length in lengths]
    return np.array([count / flops[0] for count in flops])
    # END SOLUTION


def attention_bytes(length: int, width: int, itemsize: int, rows: int | None = None) -> int:
    """Count the bytes that one head holds at once: queries, keys, values and output, and its part of the score table.

    The first four are arrays of shape (length, width). Of the (length, length) table, `rows` rows exist at a time; all
    of it if rows is None, and never more than `length` rows. itemsize: bytes per number (8 for float64, 2 for float16).
    Returns an exact int.

    Source: D3, one weight for each ordered pair; D1, "The price: quadratic sequence length", for the lengths.
    """
    # BEGIN SOLUTION
    height = length if rows is None else min(rows, length)
    return itemsize * (4 * length * width + height * length)
    # END SOLUTION


# === question: model ===
def transformer_parameters(layers: int, width: int, vocabulary: int, context: int) -> int:
    """Count the numbers that a GPT-2 learns, exactly.

    - Embeddings: one vector per token of the vocabulary and one per position of the context, `width` numbers each. The
      output layer uses the token embedding again (it is tied), so it adds nothing.
    - In each layer: queries, keys and values together are one map from width to 3 width numbers, the output projection
      is a map from width to width; the feed-forward network goes from width to 4 width and back. Each map has a matrix
      and a bias for each of its outputs. Two layer norms have a gain and a shift of `width` numbers each.
    - One more layer norm follows the last layer.

    Source: the published sizes of GPT-2 (vocabulary 50257, context 1024).
    """
    # BEGIN SOLUTION
    maps = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    norm = 2 * width
    layer = sum((inputs + 1) * outputs for inputs, outputs in maps) + 2 * norm
    return (vocabulary + context) * width + layers * layer + norm
    # END SOLUTION


def context_cost(layers: int, width: int, heads: int, length: int, itemsize: int) -> tuple[int, int]:
    """Count what a whole model pays in its attention layers to read a context of `length` tokens.

    Returns (flops, table_bytes) as exact ints. flops: `attention_flops` of all layers. table_bytes: the score tables of
    one layer, one (length, length) table per head with `itemsize` bytes per number; layers run one after the other, so
    only one layer's tables exist at a time.

    Source: D1, "The price: quadratic sequence length" and "What changes with multiple heads?".
    """
    # BEGIN SOLUTION
    return layers * attention_flops(length, width), heads * length**2 * itemsize
    # END SOLUTION


# === question: stopwatch ===
def time_growth(
    layer: Callable[[np.ndarray], np.ndarray], inputs: Sequence[np.ndarray], clock: Callable[[], float], repeats: int
) -> np.ndarray:
    """Time a layer on several inputs, so that the figures can be trusted.

    For each input in turn: call layer(x) once without timing it, because a first call pays for much that later ones do
    not. Then time it `repeats` times, reading clock() right before and right after each call, and keep the smallest
    difference: whatever disturbs a measurement makes it longer, never shorter.
    layer: takes one array. clock: takes nothing, returns seconds (a float). repeats: at least 1.
    Returns shape (len(inputs),): the smallest time of each input, in seconds.

    Source: D1, "The price: quadratic sequence length": how such a table is measured.
    """
    # BEGIN SOLUTION
    times = np.full(len(inputs), np.inf)
    for place, x in enumerate(inputs):
        layer(x)
        for _ in range(repeats):
            start = clock()
            layer(x)
            times[place] = min(times[place], clock() - start)
    return times
    # END SOLUTION


# === question: growth ===
def local_exponents(lengths: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Read off each step of a timing table how fast the time grew: p where time grew as length^p between two neighbours.

    lengths, seconds: shape (n,), positive, n at least 2; lengths rise. Returns shape (n - 1,):
    log(seconds[i+1] / seconds[i]) / log(lengths[i+1] / lengths[i]).

    Source: D1, "The price: quadratic sequence length".
    """
    # BEGIN SOLUTION
    return np.diff(np.log(seconds)) / np.diff(np.log(lengths))
    # END SOLUTION


def worst_deviation(lengths: np.ndarray, seconds: np.ndarray, width: int) -> float:
    """Compare measured growth with the arithmetic: the largest |measured / predicted - 1| over all lengths.

    measured: seconds relative to the first; predicted: `relative_cost(lengths, width)`.
    lengths: shape (n,), whole numbers; seconds: shape (n,), positive. Returns one number, 0 for a perfect fit.

    Source: D1, "The price: quadratic sequence length".
    """
    # BEGIN SOLUTION
    predicted = relative_cost([int(length) for length in lengths], width)
    return float(np.abs(seconds / seconds[0] / predicted - 1).max())
    # END SOLUTION


# === question: patches ===
# BEGIN SOLUTION
def tiles(height: int, width: int, side: int) -> tuple[int, int]:
    """How many patches fit along height and width; ValueError if something would be left over."""
    if height % side or width % side:
        raise ValueError(f"an image of {height} x {width} cannot be cut into patches of {side} x {side}")
    return height // side, width // side


# END SOLUTION
def patchify(image: np.ndarray, side: int) -> np.ndarray:
    """Cut an image into square patches; each becomes one token.

    image: shape (height, width, channels). side: pixels along the edge of a patch.
    Returns shape (tokens, side * side * channels). Patches are numbered row by row from the top left. Inside a patch the
    pixels come row by row too, and the channels of one pixel stay together.
    Raises ValueError if side does not divide height and width: nothing is cropped silently.

    Source: D1, "The price: quadratic sequence length".
    """
    # BEGIN SOLUTION
    height, width, channels = image.shape
    down, across = tiles(height, width, side)
    cut = image.reshape(down, side, across, side, channels).transpose(0, 2, 1, 3, 4)
    return cut.reshape(down * across, side * side * channels)
    # END SOLUTION


def unpatchify(patches: np.ndarray, shape: tuple[int, int, int], side: int) -> np.ndarray:
    """Put an image together again: the inverse of `patchify`, exactly.

    patches: shape (tokens, side * side * channels); shape: (height, width, channels) of the image. Returns that shape.
    Raises ValueError if side does not divide height and width.

    Source: D1, "The price: quadratic sequence length".
    """
    # BEGIN SOLUTION
    height, width, channels = shape
    down, across = tiles(height, width, side)
    return patches.reshape(down, across, side, side, channels).transpose(0, 2, 1, 3, 4).reshape(shape)
    # END SOLUTION


def pair_count(height: int, width: int, side: int = 1) -> int:
    """Count the ordered pairs of tokens, one score each, when an image is cut into patches of side x side pixels.

    side 1 makes every pixel a token. Returns an exact int. Raises ValueError if side does not divide height and width.

    Source: D1, "The price: quadratic sequence length".
    """
    # BEGIN SOLUTION
    down, across = tiles(height, width, side)
    return (down * across) ** 2
    # END SOLUTION


# === question: reading ===
# Each answer is one letter in quotes, such as "a".

# Over most of the table in section 6, time grows more slowly than L^2. Why?
#   "a" dense attention does not really have quadratic arithmetic
#   "b" the projections, which grow with L, are part of the cost; at short lengths they are a large part
#   "c" the softmax is cheaper for long rows
#   "d" the machine's clock is not precise enough
slower = None
# BEGIN SOLUTION
slower = "b"
# END SOLUTION

# One step of that table grows faster than L^2. Which?
#   "a" from 64 to 128    "b" from 128 to 256    "c" from 256 to 512    "d" from 1024 to 2048
faster = None
# BEGIN SOLUTION
faster = "c"
# END SOLUTION

# The number of tokens doubles. What happens to the number of attention weights?
#   "a" it stays, because each row still sums to one    "b" it doubles    "c" it triples    "d" it quadruples
doubled = None
# BEGIN SOLUTION
doubled = "d"
# END SOLUTION

# How many layers with a centred kernel of 5 does it take to cover an offset of 64?
#   "a" 13    "b" 16    "c" 32    "d" 64
depth = None
# BEGIN SOLUTION
depth = "c"
# END SOLUTION


# === question: running ===
State = tuple[np.ndarray, np.ndarray, np.ndarray]


def absorb(state: State, queries: np.ndarray, keys: np.ndarray, values: np.ndarray) -> State:
    """Let queries see one more block of keys and values, and update their running softmax.

    state: (largest (m,), total (m,), mixed (m, value_width)). For each query: the largest score so far; the sum of
    exp(score - largest) over all keys so far; the sum of exp(score - largest) * value. `empty_state` (above) begins.
    queries: (m, width). keys: (b, width). values: (b, value_width). b may be 0, and then nothing changes.
    Returns the new state, of the same shapes. When a larger score arrives, what was summed under the old largest must be
    rescaled to the new one. Scores anywhere between -1e4 and 1e4 must neither overflow nor vanish, and there is no NaN
    and no warning.

    Source: D1 for the softmax, D3 for the table that this avoids; the running form is Milakov and Gimelshein 2018.
    """
    # BEGIN SOLUTION
    scores = queries @ keys.T / math.sqrt(queries.shape[1])
    largest = scores.max(axis=1, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isfinite(largest), largest, 0.0)[:, None])
    return merge(state, (largest, powers.sum(axis=1), powers @ values))
    # END SOLUTION


def merge(first: State, second: State) -> State:
    """Combine the states of the same queries over two different sets of keys into the state over both.

    The result does not depend on the order of the two, `merge(merge(a, b), c)` equals `merge(a, merge(b, c))` (both up
    to rounding), and an empty state changes nothing on either side. No NaN and no warning, also for two empty states.

    Source: as `absorb`.
    """
    # BEGIN SOLUTION
    largest = np.maximum(first[0], second[0])
    base = np.where(np.isfinite(largest), largest, 0.0)  # -inf minus -inf would be NaN
    scales = [np.exp(state[0] - base) for state in (first, second)]
    total = scales[0] * first[1] + scales[1] * second[1]
    mixed = scales[0][:, None] * first[2] + scales[1][:, None] * second[2]
    return largest, total, mixed
    # END SOLUTION


def finish(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Turn a state into the output of attention, and the logarithm of each softmax denominator.

    Returns (output (m, value_width), log_sum (m,)). output: mixed / total, the weighted average of all values seen.
    log_sum: log of the sum of exp(score) over all keys, finite even where that sum would overflow; a backward pass needs
    it. A query that saw no key gets an output of zeros and a log_sum of -inf, without a warning.

    Source: as `absorb`.
    """
    # BEGIN SOLUTION
    largest, total, mixed = state
    seen = total > 0
    divisor = np.where(seen, total, 1.0)
    log_sum = np.where(seen, largest, 0.0) + np.log(divisor)
    return mixed / divisor[:, None], np.where(seen, log_sum, -np.inf)
    # END SOLUTION


# === question: blocked ===
# BEGIN SOLUTION
# Scores below this bound can be raised to a power as they are: no sum of 2^52 such powers overflows.
SAFE_SCORE = {np.dtype(np.float32): 40.0, np.dtype(np.float64): 300.0}


def longest_square(rows: np.ndarray) -> float:
    """The largest squared length among rows, without an array of all squares."""
    return float(np.einsum("ij,ij->i", rows, rows).max())


# END SOLUTION
def blocked_attention(
    queries: np.ndarray, keys: np.ndarray, values: np.ndarray, block: int = 256, causal: bool = False
) -> np.ndarray:
    """Compute exactly what `plain_attention` computes, without ever holding the whole (m, n) table.

    queries: (m, width). keys: (n, width). values: (n, value_width). block: the number of queries, or of keys, or of
    both, that are treated at once: at least 1, and it need not divide anything. Apart from inputs and output, memory
    must grow no faster than block * n: 12 288 queries and keys must pass where their table would not fit.
    causal: query i sees keys 0 ... i only, and m equals n.
    Scores between -1e4 and 1e4 must not overflow. Returns (m, value_width).
    Raises ValueError if causal is True and m differs from n.

    Source: D3, one weight for each ordered pair; D1, "The price: quadratic sequence length"; blocks as in FlashAttention
    (Dao et al. 2022).
    """
    # BEGIN SOLUTION
    rows, width = queries.shape
    count = len(keys)
    if causal and rows != count:
        raise ValueError(f"causal attention needs as many queries as keys, not {rows} and {count}")
    # By Cauchy and Schwarz no score is larger than this product, so most inputs need no row maximum.
    bound = math.sqrt(longest_square(queries) * longest_square(keys) / width)
    safe = bound < SAFE_SCORE[queries.dtype]
    # NumPy is faster with powers of 2, and queries are scaled anyway. At large scores the factor would cost digits.
    power, scale = (np.exp2, math.log2(math.e) / math.sqrt(width)) if safe else (np.exp, 1 / math.sqrt(width))
    output = np.empty((rows, values.shape[1]), dtype=values.dtype)
    buffer = np.empty(min(block, rows) * count, dtype=queries.dtype)
    ones = np.ones((count, 1), dtype=values.dtype)
    for start in range(0, rows, block):
        part = queries[start : start + block] * scale
        stop = start + len(part)
        seen = stop if causal else count
        scores = np.matmul(part, keys[:seen].T, out=buffer[: len(part) * seen].reshape(len(part), seen))
        if causal:
            scores[:, start:][~causal_mask(len(part))] = -np.inf
        if not safe:
            scores -= scores.max(axis=1, keepdims=True)
        power(scores, out=scores)
        np.matmul(scores, values[:seen], out=output[start:stop])
        output[start:stop] /= scores @ ones[:seen]
    return output
    # END SOLUTION


# === question: window ===
def window_attention(queries: np.ndarray, keys: np.ndarray, values: np.ndarray, window: int) -> np.ndarray:
    """Let each position read its neighbours only: position i sees the positions j with |i - j| <= window.

    queries, keys: (n, width). values: (n, value_width). window: at least 0; the sequence ends at its two ends, it does
    not wrap around. Each row of weights sums to one over the positions it sees.
    Memory must grow no faster than n * (2 window + 1), apart from inputs and output: n = 12 288 with a small window must
    pass where an (n, n) table would not fit. Scores between -1e4 and 1e4 must not overflow. Returns (n, value_width).

    Source: D1 ("sparse attention" as a way to keep the cost affordable).
    """
    # BEGIN SOLUTION
    count, width = queries.shape
    block = max(64, window)
    output = np.empty((count, values.shape[1]))
    for start in range(0, count, block):
        stop = min(start + block, count)
        first, last = max(0, start - window), min(count, stop + window)
        scores = queries[start:stop] @ keys[first:last].T / math.sqrt(width)
        distance = np.abs(np.arange(start, stop)[:, None] - np.arange(first, last))
        output[start:stop] = softmax(np.where(distance <= window, scores, -np.inf)) @ values[first:last]
    return output
    # END SOLUTION


def window_reach(layers: int, window: int) -> int:
    """Find the largest offset between an output of the last layer and an input that can still change it.

    layers: number of window attention layers on top of each other, at least 0. Returns an int.

    Source: the same argument as for convolutions in D1, "The price: quadratic sequence length", with windows for kernels.
    """
    # BEGIN SOLUTION
    return layers * window
    # END SOLUTION


# === question: linear ===
def elu_features(x: np.ndarray) -> np.ndarray:
    """Map every number to a positive one: x + 1 where x > 0, and exp(x) elsewhere.

    x: any shape, entries up to 1e4 in size; there is no overflow warning. Returns the same shape, entries at least 0.

    Source: Katharopoulos et al. 2020, "elu(x) + 1".
    """
    # BEGIN SOLUTION
    return np.where(x > 0, x + 1.0, np.exp(np.minimum(x, 0.0)))
    # END SOLUTION


def random_features(x: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Turn vectors into positive features whose dot products estimate exp(x . y).

    x: (n, width). directions: (r, width), drawn from N(0, 1) by whoever calls. Feature i of a vector x is
    exp(x . directions[i] - |x|^2 / 2) / sqrt(r). Returns (n, r).

    For attention, divide queries and keys by width^(1/4) first: then x . y is their score.
    Source: Choromanski et al. 2021 (positive random features).
    """
    # BEGIN SOLUTION
    half_squares = (x**2).sum(axis=1, keepdims=True) / 2
    return np.exp(x @ directions.T - half_squares) / math.sqrt(len(directions))
    # END SOLUTION


def linear_attention(q_features: np.ndarray, k_features: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Average values with weights proportional to q_features[i] . k_features[j], without the (m, n) table.

    q_features: (m, r). k_features: (n, r). values: (n, value_width). All features are at least 0 and every row of
    weights has a positive sum. The order of the products decides the cost: time and memory must grow linearly with the
    length, so 12 288 queries and keys must pass where their table would not fit. Returns (m, value_width).

    Source: Katharopoulos et al. 2020; D1 ("linear approximations").
    """
    # BEGIN SOLUTION
    return (q_features @ (k_features.T @ values)) / (q_features @ k_features.sum(axis=0))[:, None]
    # END SOLUTION


def low_rank_attention(queries: np.ndarray, keys: np.ndarray, values: np.ndarray, mixing: np.ndarray) -> np.ndarray:
    """Attend to r mixtures of the tokens instead of to the n tokens: keys and values are both mixed along the length.

    queries: (m, width). keys: (n, width). values: (n, value_width). mixing: (r, n): mixture i holds the sum over j of
    mixing[i, j] times token j. Returns `plain_attention` of the queries on the mixed keys and values, (m, value_width).

    Source: Wang et al. 2020 (Linformer); D1 ("linear approximations").
    """
    # BEGIN SOLUTION
    return plain_attention(queries, mixing @ keys, mixing @ values)
    # END SOLUTION


# === question: kept ===
# Each answer is one letter in quotes, such as "a".

# What does blocked attention keep, and why?
#   "a" permutation equivariance, because it computes the very same function as plain attention
#   "b" permutation equivariance, though it is another function: a sum over all keys does not know their order
#   "c" equivariance under cyclic shifts only
#   "d" it loses permutation equivariance, because places decide which tokens are averaged
blocks_kept = None
# BEGIN SOLUTION
blocks_kept = "a"
# END SOLUTION

# What does linear attention with features keep, and why?
#   "a" permutation equivariance, because it computes the very same function as plain attention
#   "b" permutation equivariance, though it is another function: a sum over all keys does not know their order
#   "c" equivariance under cyclic shifts only
#   "d" it loses permutation equivariance, because places decide which tokens are averaged
features_kept = None
# BEGIN SOLUTION
features_kept = "b"
# END SOLUTION

# What do window attention, and attention through a fixed mixing matrix, keep, and why?
#   "a" permutation equivariance, because they compute the very same function as plain attention
#   "b" permutation equivariance, though they are other functions: a sum over all keys does not know their order
#   "c" equivariance under cyclic shifts only
#   "d" they lose permutation equivariance, because places decide which tokens are averaged
fixed_kept = None
# BEGIN SOLUTION
fixed_kept = "d"
# END SOLUTION


# === question: recurrent ===
def causal_linear(
    q_features: np.ndarray, k_features: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Run causal linear attention as a recurrence: position i averages the values of positions 0 ... i.

    q_features, k_features: (n, r), all positive. values: (n, value_width).
    Keep a state of fixed size: (memory (r, value_width), total (r,)), zeros at first. At each position add
    outer(k_features[i], values[i]) to the memory and k_features[i] to the total, and only then read:
    output[i] = q_features[i] @ memory / (q_features[i] . total). No (n, n) table; n = 12 288 must pass.
    Returns (output (n, value_width), (memory, total)), the state after the last position.

    Source: Katharopoulos et al. 2020, "Transformers are RNNs".
    """
    # BEGIN SOLUTION
    count, features = q_features.shape
    memory, total = np.zeros((features, values.shape[1])), np.zeros(features)
    output = np.empty_like(values)
    for i in range(count):
        memory += np.outer(k_features[i], values[i])
        total += k_features[i]
        output[i] = q_features[i] @ memory / (q_features[i] @ total)
    return output, (memory, total)
    # END SOLUTION


# === question: cache ===
Cache = tuple[np.ndarray, np.ndarray]


def decode_step(
    token: np.ndarray, cache: Cache, w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray, w_o: np.ndarray, heads: int
) -> tuple[np.ndarray, Cache]:
    """Process one new token of a sequence: it reads all earlier tokens and itself, without computing them again.

    token: (width,). cache: (keys, values) of the tokens before it, each (t, width); t is 0 for the first token.
    w_q, w_k, w_v, w_o: (width, width) each. heads divides width; head h owns the columns h * k ... (h + 1) * k - 1 of
    queries, keys and values, k = width / heads, and its scores are divided by sqrt(k). The heads' outputs side by side,
    times w_o, are the output.
    Returns (output (width,), (keys, values)), the cache with the new token's row at the end: each (t + 1, width).

    Source: causal attention computed one row at a time; heads as in D1, "What changes with multiple heads?".
    """
    # BEGIN SOLUTION
    keys = np.vstack([cache[0], token @ w_k])
    values = np.vstack([cache[1], token @ w_v])
    query = (token @ w_q).reshape(heads, 1, -1)
    by_head = [rows.reshape(len(rows), heads, -1).transpose(1, 0, 2) for rows in (keys, values)]
    weights = softmax(query @ by_head[0].transpose(0, 2, 1) / math.sqrt(query.shape[2]))
    return (weights @ by_head[1]).reshape(-1) @ w_o, (keys, values)
    # END SOLUTION


def cache_bytes(layers: int, length: int, width: int, itemsize: int) -> int:
    """Count the bytes of a whole model's cache: one key and one value of `width` numbers per layer and token.

    Returns an exact int.

    Source: the shapes above.
    """
    # BEGIN SOLUTION
    return 2 * layers * length * width * itemsize
    # END SOLUTION


# === question: conclusion ===
# You advise the three groups of section 16 in the lesson. Choose one of them, and a layer for it. In six to ten sentences:
# use a number to rule out what cannot run, say what your choice gives up, say why this task can do without it, and name one
# measurement that could change your mind.
conclusion = None
# BEGIN SOLUTION
conclusion = """\
For 100 000 tokens and one 24 GB card, the table rules out plain attention: at 4 bytes one head's table takes 40 GB.
Blocked attention gives the same numbers in linear memory, so I would start there if every pair may matter; its arithmetic
still grows with the square of the length. If the task needs only nearby tokens, a window of 512 cuts that a
hundredfold, and four layers reach 2048 places. Linear attention is for streams that never end: its state has a fixed
size, and what it forgets must be measured on the task. Before choosing I would check one number that these counts do
not show: the quality of the approximation on my own data."""
# END SOLUTION
