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
    times = np.full(len(inputs), np.inf)
    for place, x in enumerate(inputs):
        layer(x)
        for _ in range(repeats):
            start = clock()
            layer(x)
            times[place] = min(times[place], clock() - start)
    return times


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
    scores = queries @ keys.T / math.sqrt(queries.shape[1])
    largest = scores.max(axis=1, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isfinite(largest), largest, 0.0)[:, None])
    return merge(state, (largest, powers.sum(axis=1), powers @ values))


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
    if causal and len(queries) != len(keys):
        raise ValueError("causal attention needs as many queries as keys")
    scores = queries @ keys.T / math.sqrt(queries.shape[1])
    if causal:
        scores = np.where(causal_mask(len(queries)), scores, -np.inf)
    return softmax(scores) @ values


def window_attention(queries, keys, values, window):
    place = np.arange(len(queries))
    near = np.abs(place[:, None] - place) <= window
    scores = queries @ keys.T / math.sqrt(queries.shape[1])
    return softmax(np.where(near, scores, -np.inf)) @ values


def window_reach(layers, window):
    return layers * window


def elu_features(x):
    return np.where(x > 0, x + 1.0, np.exp(np.minimum(x, 0.0)))


def random_features(x, directions):
    half_squares = (x ** 2).sum(axis=1, keepdims=True) / 2
    return np.exp(x @ directions.T - half_squares) / math.sqrt(len(directions))


def linear_attention(q_features, k_features, values):
    table = q_features @ k_features.T
    return table / table.sum(axis=1, keepdims=True) @ values


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


guess_context = "a"
slower = "b"
faster = "c"
doubled = "d"
depth = "c"
blocks_kept = "a"
features_kept = "b"
fixed_kept = "c"


conclusion = """\
Group 2. Speech never ends, so I would take linear attention as a recurrence. Its state does not grow, which is what the
group needs. It forgets some things, but people who listen forget them too."""
