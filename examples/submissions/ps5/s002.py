"""Problem set 5."""

import math
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


def reach(kernel, dilations, strides, centred):
    if centred and not kernel % 2:
        raise ValueError("a centred kernel must be odd")
    # how many input places one step of each layer is worth
    jumps = [math.prod(strides[:layer]) for layer in range(len(strides))]
    one_sided = (kernel - 1) * sum(d * jump for d, jump in zip(dilations, jumps, strict=True))
    if centred:
        one_sided //= 2
    return one_sided


def layers_to_cover(offset, kernel, centred):
    if centred and not kernel % 2:
        raise ValueError("a centred kernel must be odd")
    per_layer = reach(kernel, [1], [1], centred)
    full, rest = divmod(offset, per_layer)
    return full + (rest > 0)


def attention_flops(length, width):
    projections = 6 * length * width * width
    pairs = 4 * length * length * width
    return projections + pairs


def crossover_length(width):
    # 6 L d^2 = 4 L^2 d
    return Fraction(6 * width**2, 4 * width)


def relative_cost(lengths, width):
    first = attention_flops(lengths[0], width)
    return np.array([attention_flops(n, width) / first for n in lengths])


def attention_bytes(length, width, itemsize, rows=None):
    if rows is None or rows > length:
        rows = length
    numbers = 4 * length * width  # q, k, v, output
    numbers += rows * length
    return numbers * itemsize


def transformer_parameters(layers, width, vocabulary, context):
    d = width
    embeddings = vocabulary * d + context * d
    attention = (3 * d * d + 3 * d) + (d * d + d)
    feed_forward = (4 * d * d + 4 * d) + (4 * d * d + d)
    norms = 4 * d
    return embeddings + layers * (attention + feed_forward + norms) + 2 * d


def context_cost(layers, width, heads, length, itemsize):
    one_table = length * length * itemsize
    return attention_flops(length, width) * layers, one_table * heads


def time_growth(layer, inputs, clock, repeats):
    averages = []
    for x in inputs:
        layer(x)  # warm up
        total = 0.0
        for _ in range(repeats):
            before = clock()
            layer(x)
            total += clock() - before
        averages.append(total / repeats)
    return np.array(averages)


def local_exponents(lengths, seconds):
    log_n, log_t = np.log(lengths), np.log(seconds)
    return (log_t[1:] - log_t[:-1]) / (log_n[1:] - log_n[:-1])


def worst_deviation(lengths, seconds, width):
    measured = np.asarray(seconds) / seconds[0]
    predicted = relative_cost(lengths, width)
    return np.max(abs(measured / predicted - 1))


def fits(height, width, side):
    return height % side == 0 and width % side == 0


def patchify(image, side):
    h, w, c = image.shape
    if not fits(h, w, side):
        raise ValueError("side must divide height and width")
    bands = image.reshape(h // side, side, w // side, side, c)
    return np.swapaxes(bands, 1, 2).reshape(-1, side * side * c)


def unpatchify(patches, shape, side):
    h, w, c = shape
    if not fits(h, w, side):
        raise ValueError("side must divide height and width")
    grid = patches.reshape(h // side, w // side, side, side, c)
    return np.swapaxes(grid, 1, 2).reshape(h, w, c)


def pair_count(height, width, side=1):
    if not fits(height, width, side):
        raise ValueError("side must divide height and width")
    tokens = height // side * (width // side)
    return tokens * tokens


def absorb(state, queries, keys, values):
    if len(keys) == 0:
        return state
    old_max, total, mixed = state
    s = queries @ keys.T / np.sqrt(queries.shape[1])
    new_max = np.maximum(old_max, s.max(axis=1))
    p = np.exp(s - new_max[:, None])
    # the old sum was relative to the old maximum
    total = np.exp(old_max - new_max) * total + p.sum(axis=1)
    mixed = mixed + p @ values
    return new_max, total, mixed


def merge(first, second):
    m1, t1, x1 = first
    m2, t2, x2 = second
    m = np.maximum(m1, m2)
    # a query that has seen nothing in either state: keep -inf, but do not subtract it from itself
    safe = np.where(np.isneginf(m), 0, m)
    a, b = np.exp(m1 - safe), np.exp(m2 - safe)
    return m, a * t1 + b * t2, a[:, None] * x1 + b[:, None] * x2


def finish(state):
    m, t, x = state
    blind = t == 0
    t = np.where(blind, 1, t)
    log_sum = np.where(blind, -np.inf, m + np.log(t))
    return x / t[:, None], log_sum


def blocked_attention(queries, keys, values, block=256, causal=False):
    m, n = len(queries), len(keys)
    if causal and m != n:
        raise ValueError("causal needs m == n")
    rows = []
    for start in range(0, m, block):
        q = queries[start : start + block]
        s = q @ keys.T / np.sqrt(q.shape[1])
        if causal:
            future = np.arange(n)[None, :] > np.arange(start, start + len(q))[:, None]
            s[future] = -np.inf
        rows.append(softmax(s) @ values)
    return np.concatenate(rows)


def window_attention(queries, keys, values, window):
    # one column for each offset from -window to window; padded so that every row has as many
    n, d = queries.shape
    offsets = np.arange(-window, window + 1)
    j = np.arange(n)[:, None] + offsets
    inside = (j >= 0) & (j < n)
    j = j.clip(0, n - 1)
    s = np.einsum("id,iod->io", queries, keys[j]) / np.sqrt(d)
    s[~inside] = -np.inf
    return np.einsum("io,iov->iv", softmax(s), values[j])


def window_reach(layers, window):
    return window * layers


def elu_features(x):
    negative = np.minimum(x, 0)
    return np.exp(negative) + np.maximum(x, 0)


def random_features(x, directions):
    r = directions.shape[0]
    norm2 = np.sum(x * x, axis=1)
    return np.exp(x @ directions.T - norm2[:, None] / 2) / np.sqrt(r)


def linear_attention(q_features, k_features, values):
    summary = k_features.T @ values  # (r, value_width): no n in it
    normaliser = q_features @ k_features.sum(axis=0)
    return q_features @ summary / normaliser[:, None]


def low_rank_attention(queries, keys, values, mixing):
    k, v = mixing @ keys, mixing @ values
    return plain_attention(queries, k, v)


def causal_linear(q_features, k_features, values):
    r, width = k_features.shape[1], values.shape[1]
    memory, total = np.zeros((r, width)), np.zeros(r)
    output = np.zeros((len(values), width))
    for i, (q, k, v) in enumerate(zip(q_features, k_features, values, strict=True)):
        memory = memory + k[:, None] * v
        total = total + k
        output[i] = (q @ memory) / (q @ total)
    return output, (memory, total)


def decode_step(token, cache, w_q, w_k, w_v, w_o, heads):
    keys = np.append(cache[0], [token @ w_k], axis=0)
    values = np.append(cache[1], [token @ w_v], axis=0)
    k = len(token) // heads
    q = (token @ w_q).reshape(heads, k)
    s = np.einsum("hk,thk->ht", q, keys.reshape(-1, heads, k)) / np.sqrt(k)
    output = np.einsum("ht,thk->hk", softmax(s), values.reshape(-1, heads, k))
    return output.ravel() @ w_o, (keys, values)


def cache_bytes(layers, length, width, itemsize):
    per_token = 2 * width * itemsize * layers
    return per_token * length


guess_context = "c"
slower = "b"
faster = "c"
doubled = "d"
depth = "b"
blocks_kept = "a"
features_kept = "b"
fixed_kept = "d"


conclusion = """\
I would take blocked attention because it is exact and needs little memory. It is what everybody uses."""
