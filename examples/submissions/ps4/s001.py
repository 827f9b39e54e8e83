"""Problem set 4."""
import math

import numpy as np

guess_winner = "b"


def softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    top[top == -np.inf] = 0
    e = np.exp(scores - top)
    z = e.sum(axis=-1, keepdims=True)
    return np.divide(e, z, out=np.zeros(np.broadcast_shapes(e.shape, z.shape)), where=z > 0)


def entropy(weights):
    if np.any(weights < 0):
        raise ValueError("negative weight")
    if np.any(np.abs(weights.sum(-1) - 1) > 1e-6):
        raise ValueError("a row does not sum to one")
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -(weights * logs).sum(-1)


def concentration(scores):
    a = softmax(scores)
    return np.std(scores), np.mean(entropy(a)), np.mean(np.max(a, axis=1))


def sqrt_d_table(dimensions, seed=0):
    rng = np.random.default_rng(seed)
    out = np.empty((len(dimensions), 6))
    for i, d in enumerate(dimensions):
        q = rng.standard_normal((2000, d))
        k = rng.standard_normal((2000, d))
        s = np.einsum("qd,kd->qk", q, k[:16])
        out[i] = concentration(s) + concentration(s / math.sqrt(d))
    return out


def own_scores(d, queries, keys, seed):
    rng = np.random.default_rng(seed)
    out = np.empty((queries, keys))
    for i in range(queries):
        out[i] = rng.standard_normal((keys, d)) @ rng.standard_normal(d)
    return out


def softmax_jacobian(weights):
    n = weights.shape[-1]
    return np.einsum("...j,jk->...jk", weights, np.eye(n)) - np.einsum("...j,...k->...jk", weights, weights)


def jacobian_norm(weights):
    s2 = (weights ** 2).sum(-1)
    s3 = (weights ** 3).sum(-1)
    return np.sqrt(np.clip(s2 - 2 * s3 + s2 * s2, 0, None))


saturated, smallest_width, even, adam = "b", "d", "b", "c"


def attention_backward(queries, keys, values, output_gradient, mask=None):
    root = math.sqrt(queries.shape[-1])
    a = softmax(np.einsum("...id,...jd->...ij", queries, keys) / root, mask)
    out = a @ values
    # sum_k a_k b_k is the output dotted with its own slope
    mean = np.sum(out * output_gradient, axis=-1, keepdims=True)
    b = np.einsum("...iv,...jv->...ij", output_gradient, values)
    c = a * (b - mean) / root
    return (
        np.einsum("...ij,...jd->...id", c, keys),
        np.einsum("...ij,...id->...jd", c, queries),
        np.einsum("...ij,...iv->...jv", a, output_gradient),
    )


def split_heads(x, heads):
    if x.shape[-1] % heads:
        raise ValueError("uneven split")
    return np.stack(np.split(x, heads, axis=-1), axis=-3)


def merge_heads(x):
    return np.concatenate(list(np.moveaxis(x, -3, 0)), axis=-1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, heads, mask=None):
    q, k, v = [split_heads(x @ w, heads) for w in (w_q, w_k, w_v)]
    s = np.einsum("...hid,...hjd->...hij", q, k) / math.sqrt(q.shape[-1])
    a = softmax(s, mask)
    return merge_heads(np.einsum("...hij,...hjd->...hid", a, v)) @ w_o, a


def head_costs(length, width, heads):
    if width % heads:
        raise ValueError("heads must divide width")
    k = width // heads
    each = 3 * 2 * length * width * k + 2 * 2 * length**2 * k
    return heads * each, heads


def one_head_floor(symbols):
    total = 2 * (1 - 1 / symbols)   # variance of a pair of one-hot vectors
    return total / 2


def two_head_weights(symbols, length, first, second, sharpness=100.0):
    V, L = symbols, length
    w_q, w_k = np.zeros((V + L, 2 * L)), np.zeros((V + L, 2 * L))
    w_v = np.zeros((V + L, 2 * V))
    for h, offset in enumerate([first, second]):
        for i in range(L):
            w_q[V + i, h * L + (i + offset) % L] = sharpness * math.sqrt(L)
            w_k[V + i, h * L + i] = 1
        for s in range(V):
            w_v[s, h * V + s] = 1
    return w_q, w_k, w_v, np.eye(2 * V)


def layer_norm(x, gain, shift, eps=1e-5):
    mu = x.mean(-1, keepdims=True)
    var = ((x - mu) ** 2).mean(-1, keepdims=True)
    return gain * (x - mu) / np.sqrt(var + eps) + shift


def gelu(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def transformer_block(x, block, heads, mask=None, norm="pre"):
    def A(t):
        return multi_head_attention(t, block["w_q"], block["w_k"], block["w_v"], block["w_o"], heads, mask)[0]

    def F(t):
        return gelu(t @ block["w_1"] + block["b_1"]) @ block["w_2"] + block["b_2"]

    def N(t, i):
        return layer_norm(t, block[f"gain_{i}"], block[f"shift_{i}"])

    match norm:
        case "pre":
            y = x + A(N(x, 1))
            return y + F(N(y, 2))
        case "post":
            y = N(x + A(x), 1)
            return N(y + F(y), 2)
        case _:
            raise ValueError(f"unknown norm {norm!r}")


guess_depth = "c"


def depth_profile(layers, x):
    spread, size = [], []
    for layer in [lambda t: t, *layers]:
        x = layer(x)
        n = np.sqrt((x ** 2).sum())
        spread.append(np.sqrt(((x - x.mean(0)) ** 2).sum()) / n if n else 0.0)
        size.append(np.sqrt((x ** 2).mean()))
    return np.array(spread), np.array(size)


def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    theta = base ** (-2 * np.arange(d // 2) / d)
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * np.multiply.outer(positions, theta))
    out = np.empty(x.shape)
    out[..., ::2], out[..., 1::2] = z.real, z.imag
    return out


conclusion = """The table is about the first moment: random queries and keys with independent unit-variance components. There it
shows that without the division wide heads start almost one-hot, and that with it all widths start alike. It contains no
training step, so it cannot say that attention stays soft: w_q and w_k can grow until scores are as large as they like. It also
contains a single head, so it says nothing about splitting. After dividing by the root of its own width a narrow head starts
exactly as soft as a wide one, so small scores are not an argument for many heads.
Measurement for the first half: train the same small model with and without the division, five seeds each, and log the mean
entropy of the attention rows every hundred steps. If the entropy of the divided model falls to that of the other one, the claim
that the division keeps it soft is wrong."""
