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


def require_odd(kernel, centred):
    if centred and kernel % 2 == 0:
        raise ValueError(f'a centred kernel needs a middle tap: {kernel} is even')


def reach(kernel, dilations, strides, centred):
    require_odd(kernel, centred)
    places, step = (0, 1)
    for dilation, stride in zip(dilations, strides, strict=True):
        places += (kernel - 1) * dilation * step
        step *= stride
    return places // 2 if centred else places


def layers_to_cover(offset, kernel, centred):
    require_odd(kernel, centred)
    step = (kernel - 1) // 2 if centred else kernel - 1
    return -(-offset // step)


def attention_flops(length, width):
    return 6 * length * width ** 2 + 4 * length ** 2 * width


def crossover_length(width):
    return Fraction(3 * width, 2)


def relative_cost(lengths, width):
    flops = [attention_flops(length, width) for length in lengths]
    return np.array([count / flops[0] for count in flops])


def attention_bytes(length, width, itemsize, rows=None):
    height = length if rows is None else min(rows, length)
    return itemsize * (4 * length * width + height * length)


def transformer_parameters(layers, width, vocabulary, context):
    maps = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    norm = 2 * width
    layer = sum(((inputs + 1) * outputs for inputs, outputs in maps)) + 2 * norm
    return (vocabulary + context) * width + layers * layer + norm


def context_cost(layers, width, heads, length, itemsize):
    return (layers * attention_flops(length, width), heads * length ** 2 * itemsize)


def time_growth(layer, inputs, clock, repeats):
    result = []
    for x in inputs:
        layer(x)
        spans = []
        for _ in range(repeats):
            start = clock()
            layer(x)
            spans.append(clock() - start)
        result.append(np.mean(spans))
    return np.array(result)


def local_exponents(lengths, seconds):
    return np.diff(np.log(seconds)) / np.diff(np.log(lengths))


def worst_deviation(lengths, seconds, width):
    predicted = relative_cost([int(length) for length in lengths], width)
    return float(np.abs(seconds / seconds[0] / predicted - 1).max())


def tiles(height, width, side):
    if height % side or width % side:
        raise ValueError(f'an image of {height} x {width} cannot be cut into patches of {side} x {side}')
    return (height // side, width // side)


def patchify(image, side):
    height, width, channels = image.shape
    down, across = tiles(height, width, side)
    cut = image.reshape(down, side, across, side, channels).transpose(0, 2, 1, 3, 4)
    return cut.reshape(down * across, side * side * channels)


def unpatchify(patches, shape, side):
    height, width, channels = shape
    down, across = tiles(height, width, side)
    return patches.reshape(down, across, side, side, channels).transpose(0, 2, 1, 3, 4).reshape(shape)


def pair_count(height, width, side=1):
    down, across = tiles(height, width, side)
    return (down * across) ** 2


def absorb(state, queries, keys, values):
    if len(keys) == 0:
        return state
    largest, total, mixed = state
    scores = queries @ keys.T / math.sqrt(queries.shape[1])
    new = np.maximum(largest, scores.max(axis=1))
    powers = np.exp(scores - new[:, None])
    total = total * np.exp(largest - new) + powers.sum(axis=1)
    return new, total, mixed + powers @ values


def merge(first, second):
    largest = np.maximum(first[0], second[0])
    base = np.where(np.isfinite(largest), largest, 0.0)
    scales = [np.exp(state[0] - base) for state in (first, second)]
    total = scales[0] * first[1] + scales[1] * second[1]
    mixed = scales[0][:, None] * first[2] + scales[1][:, None] * second[2]
    return (largest, total, mixed)


def finish(state):
    largest, total, mixed = state
    seen = total > 0
    divisor = np.where(seen, total, 1.0)
    log_sum = np.where(seen, largest, 0.0) + np.log(divisor)
    return (mixed / divisor[:, None], np.where(seen, log_sum, -np.inf))


def blocked_attention(queries, keys, values, block=256, causal=False):
    m, n = len(queries), len(keys)
    if causal and m != n:
        raise ValueError("not square")
    output = np.zeros((m, values.shape[1]))
    for start in range(0, m, block):
        part = queries[start : start + block] / np.sqrt(queries.shape[1])
        rows = np.arange(start, start + len(part))
        largest, total = np.full(len(part), -np.inf), np.zeros(len(part))
        mixed = np.zeros((len(part), values.shape[1]))
        for first in range(0, n, block):
            if causal and first > rows[-1]:
                break
            scores = part @ keys[first : first + block].T
            if causal:
                scores[np.arange(first, first + scores.shape[1]) > rows[:, None]] = -np.inf
            top = np.maximum(largest, scores.max(axis=1))
            scores = np.exp(scores - top[:, None])
            scale = np.exp(largest - top)
            total = scale * total + scores.sum(axis=1)
            mixed = scale[:, None] * mixed + scores @ values[first : first + block]
            largest = top
        output[start : start + block] = mixed / total[:, None]
    return output


def window_attention(queries, keys, values, window):
    count, width = queries.shape
    block = max(64, window)
    output = np.empty((count, values.shape[1]))
    for start in range(0, count, block):
        stop = min(start + block, count)
        first, last = (max(0, start - window), min(count, stop + window))
        scores = queries[start:stop] @ keys[first:last].T / math.sqrt(width)
        distance = np.abs(np.arange(start, stop)[:, None] - np.arange(first, last))
        output[start:stop] = softmax(np.where(distance <= window, scores, -np.inf)) @ values[first:last]
    return output


def window_reach(layers, window):
    return layers * window


def elu_features(x):
    return np.where(x > 0, x + 1.0, np.exp(np.minimum(x, 0.0)))


def random_features(x, directions):
    half_squares = (x ** 2).sum(axis=1, keepdims=True) / 2
    return np.exp(x @ directions.T - half_squares) / math.sqrt(len(directions))


def linear_attention(q_features, k_features, values):
    return q_features @ (k_features.T @ values) / (q_features @ k_features.sum(axis=0))[:, None]


def low_rank_attention(queries, keys, values, mixing):
    return plain_attention(queries, mixing @ keys, mixing @ values)


def causal_linear(q_features, k_features, values):
    count, features = q_features.shape
    memory, total = (np.zeros((features, values.shape[1])), np.zeros(features))
    output = np.empty_like(values)
    for i in range(count):
        memory += np.outer(k_features[i], values[i])
        total += k_features[i]
        output[i] = q_features[i] @ memory / (q_features[i] @ total)
    return (output, (memory, total))


def decode_step(token, cache, w_q, w_k, w_v, w_o, heads):
    keys = np.vstack([cache[0], token @ w_k])
    values = np.vstack([cache[1], token @ w_v])
    query = (token @ w_q).reshape(heads, 1, -1)
    by_head = [rows.reshape(len(rows), heads, -1).transpose(1, 0, 2) for rows in (keys, values)]
    weights = softmax(query @ by_head[0].transpose(0, 2, 1) / math.sqrt(query.shape[2]))
    return ((weights @ by_head[1]).reshape(-1) @ w_o, (keys, values))


def cache_bytes(layers, length, width, itemsize):
    return 2 * layers * length * width * itemsize


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
