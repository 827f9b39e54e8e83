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
    if centred and kernel % 2 == 0:
        raise ValueError("even")
    place = 0
    for dilation, stride in reversed(list(zip(dilations, strides, strict=True))):
        place = place * stride + (kernel - 1) * dilation / (2 if centred else 1)
    return int(place)


def layers_to_cover(offset, kernel, centred):
    if centred and kernel % 2 == 0:
        raise ValueError("even")
    layers, reached = 0, 0
    while reached < offset:
        layers += 1
        reached += (kernel - 1) // 2 if centred else kernel - 1
    return layers


def attention_flops(length, width):
    def product(rows, inner, columns):
        return 2 * rows * inner * columns

    return 3 * product(length, width, width) + product(length, width, length) + product(length, length, width)


def crossover_length(width):
    return Fraction(6, 4) * width


def relative_cost(lengths, width):
    lengths = np.asarray(lengths, dtype=np.float64)
    flops = 2 * width * lengths * (3 * width + 2 * lengths)
    return flops / flops[0]


def attention_bytes(length, width, itemsize, rows=None):
    table = length * (length if rows is None or rows > length else rows)
    return sum([length * width * itemsize] * 4) + table * itemsize


def transformer_parameters(layers, width, vocabulary, context):
    return layers * (12 * width * width + 13 * width) + width * (vocabulary + context + 2)


def context_cost(layers, width, heads, length, itemsize):
    return [2 * layers * length * width * (3 * width + 2 * length), itemsize * heads * length * length]


def time_growth(layer, inputs, clock, repeats):
    def span(x):
        begun = clock()
        layer(x)
        return clock() - begun

    result = []
    for x in inputs:
        _ = layer(x)
        result.append(min([span(x) for _ in range(repeats)]))
    return np.asarray(result)


def local_exponents(lengths, seconds):
    steps = zip(lengths[:-1], lengths[1:], seconds[:-1], seconds[1:], strict=True)
    return np.array([math.log(t1 / t0) / math.log(l1 / l0) for l0, l1, t0, t1 in steps])


def worst_deviation(lengths, seconds, width):
    lengths = np.asarray(lengths, dtype=float)
    per_flop = seconds / (6 * lengths * width**2 + 4 * lengths**2 * width)
    return np.max(np.abs(per_flop / per_flop[0] - 1))


def patchify(image, side):
    height, width, _ = image.shape
    if height % side != 0 or width % side != 0:
        raise ValueError("does not fit")
    rows = []
    for top in range(0, height, side):
        for left in range(0, width, side):
            rows.append(image[top : top + side, left : left + side, :].flatten())
    return np.stack(rows)


def unpatchify(patches, shape, side):
    height, width, channels = shape
    if height % side or width % side:
        raise ValueError("does not fit")
    image = np.empty(shape, dtype=patches.dtype)
    for token, patch in enumerate(patches):
        top, left = divmod(token, width // side)
        image[top * side : (top + 1) * side, left * side : (left + 1) * side] = patch.reshape(side, side, channels)
    return image


def pair_count(height, width, side=1):
    if height % side or width % side:
        raise ValueError("does not fit")
    return (height * width // side**2) ** 2


def absorb(state, queries, keys, values):
    largest, total, mixed = (np.array(part) for part in state)
    for key, value in zip(keys, values, strict=True):
        scores = queries @ key / math.sqrt(len(key))
        top = np.maximum(largest, scores)
        old, new = np.exp(largest - top), np.exp(scores - top)
        total = total * old + new
        mixed = mixed * old[:, None] + new[:, None] * value
        largest = top
    return largest, total, mixed


def merge(first, second):
    rows = []
    for a, s, x, b, t, y in zip(*first, *second, strict=True):
        if np.isneginf(a) and np.isneginf(b):
            rows.append((a, 0.0, 0 * x))
        elif a >= b:
            scale = math.exp(b - a)
            rows.append((a, s + scale * t, x + scale * y))
        else:
            scale = math.exp(a - b)
            rows.append((b, t + scale * s, y + scale * x))
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def finish(state):
    largest, total, mixed = state
    with np.errstate(divide="ignore", invalid="ignore"):
        output = np.where(total[:, None] == 0, 0.0, mixed / total[:, None])
        return output, largest + np.log(total)


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
    output = []
    for i in range(len(queries)):
        part = slice(max(i - window, 0), i + window + 1)
        scores = keys[part] @ queries[i] / math.sqrt(queries.shape[1])
        powers = np.exp(scores - scores.max())
        output.append((powers / powers.sum()) @ values[part])
    return np.stack(output)


def window_reach(layers, window):
    return sum(window for _ in range(layers))


def elu_features(x):
    result = np.array(x, dtype=float)
    low = result <= 0
    result[low] = np.expm1(result[low])
    return result + 1


def random_features(x, directions):
    exponent = np.einsum("nd,rd->nr", x, directions) - 0.5 * np.einsum("nd,nd->n", x, x)[:, None]
    return np.exp(exponent - 0.5 * np.log(directions.shape[0]))


def linear_attention(q_features, k_features, values):
    extended = np.column_stack([values, np.ones(len(values))])
    both = q_features @ (k_features.T @ extended)
    return both[:, :-1] / both[:, -1:]


def low_rank_attention(queries, keys, values, mixing):
    keys, values = np.tensordot(mixing, keys, 1), np.tensordot(mixing, values, 1)
    output = np.empty((len(queries), values.shape[1]))
    for i, query in enumerate(queries):
        scores = keys @ query / np.sqrt(len(query))
        powers = np.exp(scores - np.max(scores))
        output[i] = powers @ values / np.sum(powers)
    return output


def causal_linear(q_features, k_features, values):
    memory, total = np.zeros((k_features.shape[1], values.shape[1])), np.zeros(k_features.shape[1])
    pieces = []
    for start in range(0, len(values), 100):
        q, k, v = (part[start : start + 100] for part in (q_features, k_features, values))
        table = np.tril(q @ k.T)
        pieces.append((q @ memory + table @ v) / (q @ total + table.sum(axis=1))[:, None])
        memory, total = memory + k.T @ v, total + k.sum(axis=0)
    return np.vstack(pieces), [memory, total]


def decode_step(token, cache, w_q, w_k, w_v, w_o, heads):
    size = len(token) // heads
    keys = np.concatenate([cache[0], (token @ w_k)[None]])
    values = np.concatenate([cache[1], (token @ w_v)[None]])
    query, pieces = token @ w_q, []
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        scores = keys[:, part] @ query[part] / math.sqrt(size)
        powers = np.exp(scores - scores.max())
        pieces.append(powers @ values[:, part] / powers.sum())
    return np.concatenate(pieces) @ w_o, [keys, values]


def cache_bytes(layers, length, width, itemsize):
    one_array = length * width * itemsize
    return layers * (one_array + one_array)


guess_context = "b"
slower = "b"
faster = "c"
doubled = "d"
depth = "c"
blocks_kept = "a"
features_kept = "b"
fixed_kept = "d"


conclusion = """\
I choose the first group, the genomes. A plain table of 100 000 x 100 000 float32 numbers takes 40 GB for each of 16 heads,
so it cannot run. Blocks would fit, but they still compute 10^10 pairs per head, of which all but about one in a hundred are
further apart than 500 letters. A window of 512 keeps these and costs L * 1025 pairs, a hundredth. It gives up all pairs that
are further apart, and it is not permutation equivariant, which does not matter for a genome, where order is everything.
What could change my mind: the accuracy with windows of 512 and of 2048. If the larger window is clearly better, then far
pairs matter after all, and I would take blocks."""
