"""ps4 - my answers"""
import numpy as np
from numpy import einsum, exp, log, sqrt, tanh

guess_winner = "a"


def attend(scores, mask=None):
    if mask is None:
        mask = True
    scores = np.where(mask, scores, -1e9)
    p = exp(scores - scores.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return p


def entropy(weights):
    if weights.min() < 0 or not np.allclose(weights.sum(axis=-1), 1, atol=1e-6, rtol=0):
        raise ValueError("these are not weights")
    return -(weights * log(weights + 1e-12)).sum(axis=-1)


def concentration(scores):
    p = attend(scores)
    return scores.std(), entropy(p).mean(), p.max(axis=1).mean()


def sqrt_d_table(dimensions, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for d in dimensions:
        # float32 is twice as fast
        q = rng.standard_normal((2000, d)).astype(np.float32)
        k = rng.standard_normal((2000, d)).astype(np.float32)
        s = (q @ k[:16].T).astype(np.float64)
        rows.append(concentration(s) + concentration(s / d**0.5))
    return np.array(rows)


def own_scores(d, queries, keys, seed):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(queries, 1, d))
    k = rng.normal(size=(queries, keys, d))
    return (q * k).sum(axis=2)


def softmax_jacobian(weights):
    outer = einsum("...i,...j->...ij", weights, weights)
    J = -outer
    i = np.arange(weights.shape[-1])
    J[..., i, i] += weights
    return J


def jacobian_norm(weights):
    return np.linalg.norm(softmax_jacobian(weights), axis=(-2, -1))


saturated, smallest_width, even, adam = "b", "a", "b", "c"


def attention_backward(queries, keys, values, output_gradient, mask=None):
    d = queries.shape[-1]
    p = attend(queries @ keys.swapaxes(-1, -2) / sqrt(d), mask)
    dp = output_gradient @ values.swapaxes(-1, -2)
    # through the softmax, with the Jacobian of each row
    ds = einsum("...ij,...ijk->...ik", dp, softmax_jacobian(p)) / sqrt(d)
    dq = ds @ keys
    dk = ds.swapaxes(-1, -2) @ queries
    dv = p.swapaxes(-1, -2) @ output_gradient
    return dq, dk, dv


def split_heads(x, heads):
    width = x.shape[-1]
    if width // heads * heads != width:
        raise ValueError("heads")
    return x.reshape(*x.shape[:-1], heads, -1).swapaxes(-2, -3)


def merge_heads(x):
    y = x.swapaxes(-2, -3)
    return y.reshape(*y.shape[:-2], -1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, heads, mask=None):
    k = w_q.shape[1] // heads
    results, tables = [], []
    for h in range(heads):
        c = slice(h * k, h * k + k)
        p = attend((x @ w_q[:, c]) @ (x @ w_k[:, c]).swapaxes(-1, -2) / sqrt(k), mask)
        tables.append(p)
        results.append(p @ np.split(x @ w_v, heads, axis=-1)[h])
    return np.concatenate(results, axis=-1) @ w_o, np.stack(tables, axis=-3)


def head_costs(length, width, heads):
    if width % heads > 0:
        raise ValueError("heads")
    return 2 * length * width * (3 * width + 2 * length), heads


def one_head_floor(symbols):
    # half of the variance of two one-hot vectors
    p = 1 / symbols
    return symbols * p * (1 - p)


def two_head_weights(symbols, length, first, second, sharpness=100.0):
    n = symbols + length
    place = np.arange(length)
    w_q, w_k, w_v = np.zeros((n, 2, length)), np.zeros((n, 2, length)), np.zeros((n, 2, symbols))
    for head, offset in ((0, first), (1, second)):
        w_q[symbols + place, head, (place + offset) % length] = sharpness * length**0.5
        w_k[symbols + place, head, place] = 1.0
        w_v[:symbols, head] = np.eye(symbols)
    return w_q.reshape(n, -1), w_k.reshape(n, -1), w_v.reshape(n, -1), np.eye(2 * symbols)


def layer_norm(x, gain, shift, eps=1e-5):
    return (x - x.mean(axis=-1, keepdims=True)) / (x.std(axis=-1, keepdims=True) + eps) * gain + shift


def gelu(x):
    return 0.5 * x * (1 + tanh(sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)))


def transformer_block(x, block, heads, mask=None, norm="pre"):
    b = block
    ln1 = lambda t: layer_norm(t, b["gain_1"], b["shift_1"])
    ln2 = lambda t: layer_norm(t, b["gain_2"], b["shift_2"])
    att = lambda t: multi_head_attention(t, b["w_q"], b["w_k"], b["w_v"], b["w_o"], heads, mask)[0]
    mlp = lambda t: gelu(t @ b["w_1"] + b["b_1"]) @ b["w_2"] + b["b_2"]
    if norm == "pre":
        x = x + att(ln1(x))
        return x + mlp(ln2(x))
    x = ln1(x + att(x))
    return ln2(x + mlp(x))


guess_depth = "c"


def depth_profile(layers, x):
    def measure(y):
        total = np.linalg.norm(y)
        spread = np.linalg.norm(y - y.mean(axis=0)) / total if total else 0
        return spread, sqrt((y * y).mean())

    found = [measure(x)]
    for f in layers:
        x = f(x)
        found.append(measure(x))
    spread, size = zip(*found)
    return np.array(spread), np.array(size)


def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("d is odd")
    y = np.empty_like(x)
    for k in range(d // 2):
        angle = positions * base ** (-2 * k / d)
        a, b = x[..., 2 * k], x[..., 2 * k + 1]
        y[..., 2 * k] = a * np.cos(angle) - b * np.sin(angle)
        y[..., 2 * k + 1] = a * np.sin(angle) + b * np.cos(angle)
    return y


conclusion = """The table is for random vectors. In training everything can change, so it proves nothing about trained
models. One would have to look at the entropies of a trained model."""
