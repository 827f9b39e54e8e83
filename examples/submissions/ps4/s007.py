"""Problem set 4."""
import math

import numpy as np

guess_winner = "c"


def normalise(scores, mask=None):
    # softmax; rows without any allowed key give zeros
    powers = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        keep = np.ones(scores.shape[-1], dtype=bool)
        if mask is not None:
            keep = np.broadcast_to(mask, scores.shape)[row]
        if keep.any():
            e = np.exp(scores[row][keep] - scores[row][keep].max())
            powers[row][keep] = e / e.sum()
    return powers


def entropy(weights):
    flat = weights.reshape(-1, weights.shape[-1])
    result = np.zeros(len(flat))
    for i, row in enumerate(flat):
        if (row < 0).any() or abs(row.sum() - 1) > 1e-6:
            raise ValueError(f"row {i} holds no weights")
        row = row[row > 0]
        result[i] = -(row * np.log(row)).sum()
    return result.reshape(weights.shape[:-1])


def fast_softmax(scores):
    e = np.exp(scores - scores.max(axis=1)[:, None])
    return e / e.sum(axis=1)[:, None]


def concentration(scores):
    a = fast_softmax(scores)
    return scores.std(), float(entropy(a.mean(axis=0))), a.max()


def mean_rows(scores):
    a = fast_softmax(scores)
    terms = np.where(a > 0, a * np.log(np.where(a > 0, a, 1)), 0)
    return scores.std(), -terms.sum(axis=1).mean(), a.max(axis=1).mean()


def sqrt_d_table(dimensions, seed=0):
    # the text of this one says what the columns are: mean entropy of the rows, mean of the largest
    rng = np.random.default_rng(seed)
    table = np.zeros((len(dimensions), 6))
    for row, d in zip(table, dimensions):
        q, k = rng.standard_normal((2000, d)), rng.standard_normal((2000, d))
        scores = q @ k[:16].T
        row[:3] = mean_rows(scores)
        row[3:] = mean_rows(scores / np.sqrt(d))
    return table


def own_scores(d, queries, keys, seed):
    rng = np.random.default_rng(seed)
    scores = []
    for _ in range(queries):
        q, k = rng.normal(size=d), rng.normal(size=(keys, d))
        scores.append(k @ q)
    return np.array(scores)


def softmax_jacobian(weights):
    n = weights.shape[-1]
    J = np.zeros((*weights.shape, n))
    for i in range(n):
        for j in range(n):
            J[..., i, j] = weights[..., i] * ((i == j) - weights[..., j])
    return J


def jacobian_norm(weights):
    a2 = weights**2
    diagonal = (weights - a2) ** 2
    off = a2.sum(axis=-1) ** 2 - (a2**2).sum(axis=-1)
    return np.sqrt(diagonal.sum(axis=-1) + np.maximum(off, 0))


saturated, smallest_width, even, adam = "b", "d", "a", "a"


def attention_backward(queries, keys, values, output_gradient, mask=None):
    d = queries.shape[-1]
    T = lambda x: np.swapaxes(x, -1, -2)
    a = normalise(queries @ T(keys) / math.sqrt(d), mask)
    upstream = output_gradient @ T(values)
    average = (a * upstream).sum(axis=-1)[..., None]
    dscores = a * (upstream - average)
    dq = dscores @ keys / math.sqrt(d)
    dk = T(dscores) @ queries / math.sqrt(d)
    return dq, dk, T(a) @ output_gradient


def split_heads(x, heads):
    k, rest = divmod(x.shape[-1], heads)
    if rest:
        raise ValueError("width is no multiple of heads")
    result = np.zeros((*x.shape[:-2], heads, x.shape[-2], k))
    for h in range(heads):
        result[..., h, :, :] = x[..., h * k : (h + 1) * k]
    return result


def merge_heads(x):
    return np.concatenate([x[..., h, :, :] for h in range(x.shape[-3])], axis=-1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, heads, mask=None):
    q, k, v = split_heads(x @ w_q, heads), split_heads(x @ w_k, heads), split_heads(x @ w_v, heads)
    a = normalise(q @ np.swapaxes(k, -1, -2) / math.sqrt(x.shape[-1]), mask)  # d is the width of the layer
    return merge_heads(a @ v) @ w_o, a


def head_costs(length, width, heads):
    if width % heads != 0:
        raise ValueError("width is no multiple of heads")
    flops = 0
    for _ in range(heads):
        k = width // heads
        flops += 3 * 2 * length * width * k  # q, k, v
        flops += 2 * length * length * k  # scores
        flops += 2 * length * length * k  # output
    return flops, heads


def one_head_floor(symbols):
    return 2 * (1 - 1 / symbols)


def two_head_weights(symbols, length, first, second, sharpness=100.0):
    size = symbols + length
    parts = {"q": [], "k": [], "v": []}
    for offset in (first, second):
        q, k, v = np.zeros((size, length)), np.zeros((size, length)), np.zeros((size, symbols))
        for i in range(length):
            j = (i + offset) % length
            q[symbols + i, j] = 1
            k[symbols + j, j] = 1
        q *= sharpness * math.sqrt(length)
        v[:symbols] = np.eye(symbols)
        for name, matrix in zip("qkv", (q, k, v)):
            parts[name].append(matrix)
    w_q, w_k, w_v = (np.concatenate(parts[name], axis=1) for name in "qkv")
    return w_q, w_k, w_v, np.eye(2 * symbols)


def layer_norm(x, gain, shift, eps=1e-5):
    m, v = x.mean(axis=-1), x.var(axis=-1)
    return gain * (x - m[..., None]) / np.sqrt(v + eps)[..., None] + shift


def gelu(x):
    t = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * np.power(x, 3)))
    return 0.5 * x + 0.5 * x * t


def transformer_block(x, block, heads, mask=None, norm="pre"):
    n = lambda t, i: layer_norm(t, block[f"gain_{i}"], block[f"shift_{i}"])
    if norm == "pre":
        x = n(x, 1)
    x = x + multi_head_attention(x, block["w_q"], block["w_k"], block["w_v"], block["w_o"], heads, mask)[0]
    x = n(x, 1) if norm == "post" else n(x, 2)
    x = x + gelu(x @ block["w_1"] + block["b_1"]) @ block["w_2"] + block["b_2"]
    return n(x, 2) if norm == "post" else x


guess_depth = "c"


def depth_profile(layers, x):
    spread, size = [], []
    for layer in layers:
        x = layer(x)
        spread.append(np.linalg.norm(x - x.mean(axis=1, keepdims=True)) / np.linalg.norm(x))
        size.append(np.sqrt(np.mean(x**2)))
    return np.array(spread), np.array(size)


def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("d is odd")
    k = np.arange(d) // 2
    angle = np.array(positions, dtype=float)[..., None] * base ** (-2 * k / d)
    partner = np.empty_like(x)
    partner[..., 0::2], partner[..., 1::2] = -x[..., 1::2], x[..., 0::2]
    return x * np.cos(angle) + partner * np.sin(angle)


conclusion = None
