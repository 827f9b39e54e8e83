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


def check_kernel(kernel, centred):
    if centred:
        if kernel % 2 != 1:
            raise ValueError("only odd kernels have a centre")


def reach(kernel, dilations, strides, centred):
    check_kernel(kernel, centred)
    side = (kernel - 1) / 2 if centred else kernel - 1
    products = np.concatenate([[1], np.cumprod(strides)])[: len(dilations)]
    return int(side * np.dot(dilations, products))


def layers_to_cover(offset, kernel, centred):
    check_kernel(kernel, centred)
    gain = kernel - 1
    if centred:
        gain = gain // 2
    return math.ceil(Fraction(offset, gain))


def matmul_flops(n, k, m):
    return 2 * n * k * m


def attention_flops(length, width):
    flops = 3 * matmul_flops(length, width, width)  # x W
    flops += matmul_flops(length, width, length)  # Q K^T
    flops += matmul_flops(length, length, width)  # A V
    return flops


def crossover_length(width):
    return Fraction(width * 3) / 2


def relative_cost(lengths, width):
    reference = attention_flops(lengths[0], width)
    result = np.zeros(len(lengths))
    for i, length in enumerate(lengths):
        result[i] = Fraction(attention_flops(length, width), reference)
    return result


def attention_bytes(length, width, itemsize, rows=None):
    qkv_and_output = 4 * (length * width)
    table = length * (min(length, rows) if rows is not None else length)
    return (qkv_and_output + table) * itemsize


def transformer_parameters(layers, width, vocabulary, context):
    attention = 3 * width * width + width * width
    mlp = 2 * (width * 4 * width)
    layer_norms = 2 * 2 * width
    one_layer = attention + mlp + layer_norms
    return width * (vocabulary + context) + layers * one_layer + 2 * width


def context_cost(layers, width, heads, length, itemsize):
    return layers * attention_flops(length, width), itemsize * length**2 * heads


def time_growth(layer, inputs, clock, repeats):
    shortest = np.zeros(len(inputs))
    for i, x in enumerate(inputs):
        layer(x)
        shortest[i] = float("inf")
        for _ in range(repeats):
            start = clock()
            layer(x)
            stop = clock()
            if stop - start < shortest[i]:
                shortest[i] = stop - start
    return shortest


def local_exponents(lengths, seconds):
    growth = np.asarray(seconds[1:]) / seconds[:-1]
    ratio = np.asarray(lengths[1:]) / lengths[:-1]
    return np.log(growth) / np.log(ratio)


def worst_deviation(lengths, seconds, width):
    predicted = relative_cost([int(n) for n in lengths], width)
    error = (seconds / seconds[0]) / predicted - 1
    return max(error.max(), -error.min())


def check_patches(height, width, side):
    for size in (height, width):
        if size % side != 0:
            raise ValueError("the patches do not fit")


def patchify(image, side):
    check_patches(image.shape[0], image.shape[1], side)
    return image.reshape(-1, side * side * image.shape[2])


def unpatchify(patches, shape, side):
    check_patches(shape[0], shape[1], side)
    return patches.reshape(shape)


def pair_count(height, width, side=1):
    check_patches(height, width, side)
    tokens = height * width // side // side
    return tokens * tokens


def scaled(queries, keys):
    return (queries / math.sqrt(queries.shape[1])) @ keys.T


def absorb(state, queries, keys, values):
    largest, total, mixed = state
    if keys.shape[0] == 0:
        return largest, total, mixed
    scores = scaled(queries, keys)
    top = np.maximum(largest, np.max(scores, axis=1))
    rescale = np.exp(largest - top)
    powers = np.exp(scores - top[:, np.newaxis])
    total = total * rescale + np.sum(powers, axis=1)
    mixed = mixed * rescale[:, np.newaxis] + powers @ values
    return top, total, mixed


def rescaled(state, largest):
    """The sums of a state, relative to another maximum."""
    factor = np.zeros(len(largest))
    seen = state[0] > -np.inf
    factor[seen] = np.exp(state[0][seen] - largest[seen])
    return factor * state[1], factor[:, np.newaxis] * state[2]


def merge(first, second):
    largest = np.maximum(first[0], second[0])
    total_1, mixed_1 = rescaled(first, largest)
    total_2, mixed_2 = rescaled(second, largest)
    return largest, total_1 + total_2, mixed_1 + mixed_2


def finish(state):
    largest, total, mixed = state
    output = np.divide(mixed, total[:, np.newaxis], out=np.zeros(mixed.shape), where=total[:, np.newaxis] > 0)
    logs = np.log(total, out=np.full(total.shape, -np.inf), where=total > 0)
    return output, largest + logs


def blocked_attention(queries, keys, values, block=256, causal=False):
    m, n = len(queries), len(keys)
    if causal and m != n:
        raise ValueError("only self-attention can be causal")
    output = np.zeros((m, values.shape[1]))
    for start in range(0, m, block):
        stop = min(start + block, m)
        if not causal:
            output[start:stop] = plain_attention(queries[start:stop], keys, values)
            continue
        # rows start ... stop - 1 see nothing behind stop
        scores = scaled(queries[start:stop], keys[:stop])
        scores = np.where(causal_mask(stop)[start:], scores, -np.inf) if stop <= 2048 else hide(scores, start)
        output[start:stop] = softmax(scores) @ values[:stop]
    return output


def hide(scores, start):
    for i in range(len(scores)):
        scores[i, start + i + 1 :] = -np.inf
    return scores


def window_attention(queries, keys, values, window):
    n = len(queries)
    output = np.zeros((n, values.shape[1]))
    for i in range(n):
        first = max(i - window, 0)
        last = min(i + window, n - 1)
        output[i] = plain_attention(queries[i : i + 1], keys[first : last + 1], values[first : last + 1])[0]
    return output


def window_reach(layers, window):
    total = 0
    for _ in range(layers):
        total += window
    return total


def elu_features(x):
    return np.maximum(x, 0) + np.exp(-np.maximum(-x, 0))


def random_features(x, directions):
    squares = np.linalg.norm(x, axis=1) ** 2
    logs = x.dot(directions.T) - squares[:, np.newaxis] / 2
    return np.exp(logs) / len(directions) ** 0.5


def linear_attention(q_features, k_features, values):
    numerator = q_features @ np.dot(k_features.T, values)
    denominator = q_features @ np.sum(k_features, axis=0)
    return numerator / denominator[:, np.newaxis]


def low_rank_attention(queries, keys, values, mixing):
    mixed_keys = np.einsum("rn,nd->rd", mixing, keys)
    mixed_values = np.einsum("rn,nv->rv", mixing, values)
    return softmax(scaled(queries, mixed_keys)) @ mixed_values


def causal_linear(q_features, k_features, values):
    memory = np.zeros((q_features.shape[1], values.shape[1]))
    total = np.zeros(q_features.shape[1])
    output = np.zeros_like(values)
    output[0] = values[0]  # nothing to read yet
    for i in range(len(values)):
        if i > 0:
            output[i] = q_features[i] @ memory / (q_features[i] @ total)
        memory = memory + np.outer(k_features[i], values[i])
        total = total + k_features[i]
    return output, (memory, total)


def decode_step(token, cache, w_q, w_k, w_v, w_o, heads):
    old_keys, old_values = cache
    keys = np.concatenate((old_keys, (token @ w_k)[np.newaxis]))
    values = np.concatenate((old_values, (token @ w_v)[np.newaxis]))
    query = (token @ w_q)[np.newaxis]
    outputs = [
        plain_attention(q, k, v)
        for q, k, v in zip(
            np.split(query, heads, axis=1), np.split(keys, heads, axis=1), np.split(values, heads, axis=1), strict=True
        )
    ]
    return np.hstack(outputs)[0] @ w_o, (keys, values)


def cache_bytes(layers, length, width, itemsize):
    key = value = width * itemsize
    return layers * length * (key + value)


guess_context = "d"
slower = "b"
faster = "c"
doubled = "d"
depth = "c"
blocks_kept = "a"
features_kept = "b"
fixed_kept = "d"


conclusion = """\
I take group 3, the contracts, and blocked attention for them. Any clause may refer to any other, so every pair has to stay:
a window would lose the references they look for, and features or low rank would blur them. The plain table does not fit:
20 000 x 20 000 numbers of 4 bytes are 1.6 GB per head, 25.6 GB for 16 heads, and the machine has 24. With blocks of 256 rows
a head holds 20 MB of it at a time, and the output is the same up to rounding. The price is time, because the arithmetic
stays at 4 L^2 d. If linear features found as many cross-references on a few hundred contracts that a lawyer has marked, I
would change my mind, because they would be 20 times cheaper."""
