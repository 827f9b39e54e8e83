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
        raise ValueError("kernel is even")
    answer = 0
    jump = 1
    for i in range(len(dilations)):
        answer = answer + (kernel - 1) * dilations[i] * jump
        jump = jump * strides[i]
    if centred:
        return answer // 2
    return answer


def layers_to_cover(offset, kernel, centred):
    if centred and kernel % 2 == 0:
        raise ValueError("kernel is even")
    n = 0
    while reach(kernel, [1] * n, [1] * n, centred) < offset:
        n = n + 1
    return n


def attention_flops(length, width):
    return 2 * length * width * (3 * width + 2 * length)


def crossover_length(width):
    return Fraction(3, 2) * width


def relative_cost(lengths, width):
    cost = np.array([attention_flops(L, width) for L in lengths], dtype=float)
    return cost / cost[0]


def attention_bytes(length, width, itemsize, rows=None):
    if rows is None:
        rows = length
    rows = min(rows, length)
    return length * (4 * width + rows) * itemsize


def transformer_parameters(layers, width, vocabulary, context):
    # per layer: 4 d^2 + 4 d (attention), 8 d^2 + 5 d (MLP), 4 d (two norms)
    per_layer = 12 * width**2 + 13 * width
    return per_layer * layers + width * vocabulary + width * context + 2 * width


def context_cost(layers, width, heads, length, itemsize):
    flops = 0
    for _ in range(layers):
        flops += attention_flops(length, width)
    return flops, heads * length * length * itemsize


def time_growth(layer, inputs, clock, repeats):
    best = []
    for x in inputs:
        layer(x)
        times = []
        for _ in range(repeats):
            t0 = clock()
            layer(x)
            t1 = clock()
            times.append(t1 - t0)
        best.append(min(times))
    return np.array(best)


def local_exponents(lengths, seconds):
    p = []
    for i in range(len(lengths) - 1):
        p.append(np.log(seconds[i + 1] / seconds[i]) / np.log(lengths[i + 1] / lengths[i]))
    return np.array(p)


def worst_deviation(lengths, seconds, width):
    predicted = relative_cost([int(L) for L in lengths], width)
    worst = 0.0
    for i in range(len(lengths)):
        worst = max(worst, abs(seconds[i] / seconds[0] / predicted[i] - 1))
    return worst


def patchify(image, side):
    h, w, c = image.shape
    if h % side != 0 or w % side != 0:
        raise ValueError("image cannot be cut")
    patches = []
    for i in range(h // side):
        for j in range(w // side):
            patch = image[i * side : i * side + side, j * side : j * side + side]
            patches.append(patch.reshape(-1))
    return np.array(patches)


def unpatchify(patches, shape, side):
    h, w, c = shape
    if h % side != 0 or w % side != 0:
        raise ValueError("image cannot be cut")
    image = np.zeros(shape)
    n = 0
    for i in range(h // side):
        for j in range(w // side):
            image[i * side : i * side + side, j * side : j * side + side] = patches[n].reshape(side, side, c)
            n = n + 1
    return image


def pair_count(height, width, side=1):
    if height % side != 0 or width % side != 0:
        raise ValueError("image cannot be cut")
    n = (height // side) * (width // side)
    return n**2


def absorb(state, queries, keys, values):
    largest, total, mixed = state
    if len(keys) == 0:
        return largest, total, mixed
    scores = queries @ keys.T / math.sqrt(queries.shape[1])
    block_max = scores.max(axis=1)
    e = np.exp(scores - block_max[:, None])
    # a state of this block alone; merge does the rescaling
    return merge(state, (block_max, e.sum(axis=1), e @ values))


def merge(first, second):
    largest = np.zeros_like(first[0])
    total = np.zeros_like(first[1])
    mixed = np.zeros_like(first[2])
    for i in range(len(largest)):
        largest[i] = max(first[0][i], second[0][i])
        for state in (first, second):
            if state[1][i] > 0:
                factor = np.exp(state[0][i] - largest[i])
                total[i] += factor * state[1][i]
                mixed[i] += factor * state[2][i]
    return largest, total, mixed


def finish(state):
    largest, total, mixed = state
    output = np.zeros_like(mixed)
    log_sum = np.full(len(total), -np.inf)
    for i in range(len(total)):
        if total[i] > 0:
            output[i] = mixed[i] / total[i]
            log_sum[i] = largest[i] + np.log(total[i])
    return output, log_sum


def blocked_attention(queries, keys, values, block=256, causal=False):
    if causal and len(queries) != len(keys):
        raise ValueError("m is not n")
    table = queries @ keys.T / math.sqrt(queries.shape[1])
    if causal:
        table[~causal_mask(len(table))] = -np.inf
    weights = softmax(table)
    # block by block
    output = np.zeros((len(queries), values.shape[1]))
    for i in range(0, len(queries), block):
        output[i : i + block] = weights[i : i + block] @ values
    return output


def window_attention(queries, keys, values, window):
    n = len(queries)
    allowed = np.zeros((n, n), dtype=bool)
    for i in range(n):
        allowed[i, max(0, i - window) : i + window + 1] = True
    table = queries @ keys.T / math.sqrt(queries.shape[1])
    table[~allowed] = -np.inf
    return softmax(table) @ values


def window_reach(layers, window):
    return layers * window


def elu_features(x):
    with np.errstate(over="ignore"):
        return np.where(x > 0, x + 1, np.exp(x))


def random_features(x, directions):
    features = []
    for w in directions:
        features.append(np.exp(x @ w - (x * x).sum(axis=1) / 2))
    return np.array(features).T / math.sqrt(len(directions))


def linear_attention(q_features, k_features, values):
    weights = q_features @ k_features.T
    weights = weights / weights.sum(axis=1)[:, None]
    return weights @ values


def low_rank_attention(queries, keys, values, mixing):
    return plain_attention(queries, mixing @ keys, mixing @ values)


def causal_linear(q_features, k_features, values):
    n, r = q_features.shape
    memory = np.zeros((r, values.shape[1]))
    total = np.zeros(r)
    output = []
    for i in range(n):
        memory += np.outer(k_features[i], values[i])
        total += k_features[i]
        output.append(q_features[i] @ memory / np.dot(q_features[i], total))
    return np.array(output), (memory, total)


def decode_step(token, cache, w_q, w_k, w_v, w_o, heads):
    keys = np.vstack((cache[0], (token @ w_k)[None, :]))
    values = np.vstack((cache[1], (token @ w_v)[None, :]))
    q = token @ w_q
    k = len(token) // heads
    out = np.zeros(len(token))
    for h in range(heads):
        cols = slice(h * k, (h + 1) * k)
        out[cols] = plain_attention(q[None, cols], keys[:, cols], values[:, cols])[0]
    return out @ w_o, (keys, values)


def cache_bytes(layers, length, width, itemsize):
    numbers = layers * length * (width + width)  # keys and values
    return numbers * itemsize


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
