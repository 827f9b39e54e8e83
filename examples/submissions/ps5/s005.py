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
    raise NotImplementedError("not done yet")


def context_cost(layers, width, heads, length, itemsize):
    raise NotImplementedError("not done yet")


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
    raise NotImplementedError("not done yet")


def pair_count(height, width, side=1):
    down, across = tiles(height, width, side)
    return (down * across) ** 2


def absorb(state, queries, keys, values):
    raise NotImplementedError("not done yet")


def merge(first, second):
    raise NotImplementedError("not done yet")


def finish(state):
    raise NotImplementedError("not done yet")


def blocked_attention(queries, keys, values, block=256, causal=False):
    raise NotImplementedError("not done yet")


def window_attention(queries, keys, values, window):
    raise NotImplementedError("not done yet")


def window_reach(layers, window):
    raise NotImplementedError("not done yet")


def elu_features(x):
    raise NotImplementedError("not done yet")


def random_features(x, directions):
    raise NotImplementedError("not done yet")


def linear_attention(q_features, k_features, values):
    raise NotImplementedError("not done yet")


def low_rank_attention(queries, keys, values, mixing):
    raise NotImplementedError("not done yet")


def causal_linear(q_features, k_features, values):
    raise NotImplementedError("not done yet")


def decode_step(token, cache, w_q, w_k, w_v, w_o, heads):
    raise NotImplementedError("not done yet")


def cache_bytes(layers, length, width, itemsize):
    raise NotImplementedError("not done yet")


guess_context = "c"
slower = "b"
faster = "d"
doubled = "d"
