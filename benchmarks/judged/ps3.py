"""Judged answers to problem set 3."""

import math

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.judged import right, wrong

# ----------------------------------------------------------------------------------------------------------- encoding


@right("encoding")
def phases(length, width):
    if width & 1:
        raise ValueError("width")
    column = np.arange(width)
    angles = np.arange(length)[:, None] / np.power(10000.0, (column - column % 2) / width)
    # A cosine is a sine a quarter turn ahead.
    return np.sin(angles + np.pi / 2 * (column % 2))


@right("encoding")
def powers_of_one_rate(length, width):
    if width % 2 != 0:
        raise ValueError("width")
    rates = (10000 ** (-2 / width)) ** np.arange(width // 2)
    out = np.zeros((length, width // 2, 2))
    out[..., 0], out[..., 1] = np.sin(np.outer(np.arange(length), rates)), np.cos(np.outer(np.arange(length), rates))
    return out.reshape(length, width)


@wrong("encoding", "the last pair stops at 1/10000: the exponent runs to one")
def linspace_exponent(length, width):
    if width % 2:
        raise ValueError("width")
    rates = 10000.0 ** -np.linspace(0, 1, width // 2)
    angles = np.outer(np.arange(length), rates)
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(length, width)


@wrong("encoding", "angles in half precision")
def half_precision(length, width):
    if width % 2:
        raise ValueError("width")
    angles = np.outer(np.arange(length), 10000.0 ** (-np.arange(0, width, 2) / width)).astype(np.float16)
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(length, width).astype(float)


@wrong("encoding", "an odd width is rounded down")
def rounded_width(length, width):
    return powers_of_one_rate(length, width - width % 2)


# ------------------------------------------------------------------------------------------------------------ forward


@right("forward")
def by_matmul(tokens, query, readout):
    s = (tokens @ query[:, None])[..., 0] / math.sqrt(len(query))
    w = np.exp(s - np.max(s, axis=1)[:, None])
    w /= np.sum(w, axis=1)[:, None]
    return (w[:, None, :] @ tokens)[:, 0] @ readout, w


@right("forward")
def flat_products(tokens, query, readout):
    n, length, width = tokens.shape
    both = tokens.reshape(n * length, width) @ np.stack([query / width**0.5, readout], axis=1)
    s, v = both.reshape(n, length, 2).transpose(2, 0, 1)
    e = np.exp(s - s.max(1, keepdims=True))
    return (e * v).sum(1) / e.sum(1), e / e.sum(1, keepdims=True)


@wrong("forward", "a bias of one")
def with_bias(tokens, query, readout):
    logits, weights = by_matmul(tokens, query, readout)
    return logits + 1, weights


@wrong("forward", "one shift for all examples")
def common_shift(tokens, query, readout):
    s = tokens @ query / math.sqrt(len(query))
    e = np.exp(s - s.max())
    w = e / e.sum(axis=1, keepdims=True)
    return (w * (tokens @ readout)).sum(axis=1), w


@wrong("forward", "weights come first")
def other_order(tokens, query, readout):
    return by_matmul(tokens, query, readout)[::-1]


# --------------------------------------------------------------------------------------------------------------- loss


@right("loss")
def softplus(logits, labels):
    x = np.where(np.asarray(labels) == 1, -logits, logits)
    return float(np.average(np.where(x > 0, x + np.log1p(np.exp(-np.abs(x))), np.log1p(np.exp(-np.abs(x))))))


@right("loss")
def two_logarithms(logits, labels):
    positive, negative = np.logaddexp(0, -logits), np.logaddexp(0, logits)
    return (labels @ positive + (1 - labels) @ negative) / len(labels)


@wrong("loss", "the sigmoid is clipped at 1e-15, so a wrong answer costs at most 34.5")
def clipped(logits, labels):
    p = np.clip(0.5 + 0.5 * np.tanh(logits / 2), 1e-15, 1 - 1e-15)
    return float(-(labels * np.log(p) + (1 - labels) * np.log(1 - p)).mean())


@wrong("loss", "the hinge loss")
def hinge(logits, labels):
    return float(np.maximum(0, 1 - (2 * labels - 1) * logits).mean())


# ---------------------------------------------------------------------------------------------------------- gradients


def _parts(tokens, labels, query, readout):
    s = tokens @ query / math.sqrt(tokens.shape[2])
    e = np.exp(s - s.max(1, keepdims=True))
    w = e / e.sum(1, keepdims=True)
    v = tokens @ readout
    z = (w * v).sum(1)
    half = np.exp(-np.abs(z))
    p = np.where(z >= 0, 1 / (1 + half), half / (1 + half))
    return w, v, z, (p - labels) / len(labels)


@right("gradients")
def covariance(tokens, labels, query, readout):
    w, v, z, e = _parts(tokens, labels, query, readout)
    mean = np.einsum("nl,nld->nd", w, tokens)
    second = np.einsum("nl,nl,nld->nd", w, v, tokens)
    return e @ (second - z[:, None] * mean) / math.sqrt(tokens.shape[2]), e @ mean


@right("gradients")
def tensordots(tokens, labels, query, readout):
    w, v, _, e = _parts(tokens, labels, query, readout)
    by_value = e[:, None] * w
    by_score = by_value * v - w * (by_value * v).sum(axis=1, keepdims=True)
    return (np.tensordot(by_score, tokens, axes=([0, 1], [0, 1])) * tokens.shape[2] ** -0.5,
            np.tensordot(by_value, tokens, axes=([0, 1], [0, 1])))  # fmt: skip


@wrong("gradients", "the square of the weights in the bracket")
def squared_weights(tokens, labels, query, readout):
    w, v, z, e = _parts(tokens, labels, query, readout)
    by_score = e[:, None] * w * w * (v - z[:, None])
    return np.einsum("nl,nld->d", by_score, tokens) / math.sqrt(tokens.shape[2]), np.einsum("n,nl,nld->d", e, w, tokens)


@wrong("gradients", "finite differences")
def finite(tokens, labels, query, readout):
    def loss(q, r):
        _, _, z, _ = _parts(tokens, labels, q, r)
        return np.logaddexp(0, np.where(labels > 0.5, -z, z)).mean()

    steps = 1e-5 * np.eye(len(query))
    return (np.array([(loss(query + h, readout) - loss(query - h, readout)) / 2e-5 for h in steps]),
            np.array([(loss(query, readout + h) - loss(query, readout - h)) / 2e-5 for h in steps]))  # fmt: skip


@wrong("gradients", "an overflow warning in the sigmoid")
def plain_sigmoid(tokens, labels, query, readout):
    w, v, z, _ = _parts(tokens, labels, query, readout)
    e = (1 / (1 + np.exp(-z)) - labels) / len(z)
    mean = np.einsum("nl,nld->nd", w, tokens)
    by_score = e[:, None] * w * (v - z[:, None])
    return np.einsum("nl,nld->d", by_score, tokens) / math.sqrt(tokens.shape[2]), e @ mean


# --------------------------------------------------------------------------------------------------------------- adam


@right("adam")
def inplace_copies(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    m, v = np.array(m, dtype=float), np.array(v, dtype=float)
    m += (1 - beta1) * (gradient - m)
    v += (1 - beta2) * (np.square(gradient) - v)
    return theta - lr * (m / (1 - np.power(beta1, step))) / (eps + (v / (1 - np.power(beta2, step))) ** 0.5), m, v


@wrong("adam", "AMSGrad: v never falls")
def amsgrad(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    new_m = beta1 * m + (1 - beta1) * gradient
    new_v = np.maximum(v, beta2 * v + (1 - beta2) * gradient**2)
    return theta - lr * new_m / (1 - beta1**step) / (np.sqrt(new_v / (1 - beta2**step)) + eps), new_m, new_v


@wrong("adam", "eps is added to the uncorrected root")
def uncorrected_eps(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    m, v = beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * gradient**2
    return theta - lr * math.sqrt(1 - beta2**step) / (1 - beta1**step) * m / (np.sqrt(v) + eps), m, v


# -------------------------------------------------------------------------------------------------------------- train


def _train(tokens, labels, query, readout, steps, lr, slopes=covariance, update=inplace_copies):
    theta = np.vstack([query, readout]).astype(float)
    m = v = np.zeros_like(theta)
    for step in range(1, steps + 1):
        theta, m, v = update(theta, np.vstack(slopes(tokens, labels, *theta)), m, v, step, lr=lr)
    return theta[0], theta[1]


@right("train")
def stacked(tokens, labels, query, readout, steps=1500, lr=0.01):
    return _train(tokens, labels, query, readout, steps, lr)


@wrong("train", "the rate decays")
def decaying(tokens, labels, query, readout, steps=1500, lr=0.01):
    theta = np.vstack([query, readout])
    m = v = np.zeros_like(theta)
    for step in range(1, steps + 1):
        theta, m, v = inplace_copies(theta, np.vstack(covariance(tokens, labels, *theta)), m, v, step, lr / (1 + step / 100))
    return theta[0], theta[1]


@wrong("train", "stops early when the slope is small")
def early_stop(tokens, labels, query, readout, steps=1500, lr=0.01):
    theta = np.vstack([query, readout])
    m = v = np.zeros_like(theta)
    for step in range(1, steps + 1):
        slope = np.vstack(covariance(tokens, labels, *theta))
        if np.abs(slope).max() < 0.05:
            break
        theta, m, v = inplace_copies(theta, slope, m, v, step, lr)
    return theta[0], theta[1]


# -------------------------------------------------------------------------------------------------------------- sweep


def _sweep(train_set, test_set, positions, query, readout, scales, steps, lr, share=np.mean):
    rows = []
    for scale in scales:
        sets = [(tokens + scale * positions, labels) for tokens, labels in (train_set, test_set)]
        trained = _train(*sets[0], query, readout, steps, lr)
        rows.append([share((by_matmul(x, *trained)[0] > 0) == (y > 0.5)) for x, y in sets])
    return np.array(rows, dtype=float)


@right("sweep")
def loops(train_set, test_set, positions, query, readout, scales, steps=1500, lr=0.01):
    return _sweep(train_set, test_set, positions, query, readout, scales, steps, lr)


@wrong("sweep", "positions are scaled by the square of the scale")
def squared_scale(train_set, test_set, positions, query, readout, scales, steps=1500, lr=0.01):
    return _sweep(train_set, test_set, positions, query, readout, [scale**2 for scale in scales], steps, lr)


# ------------------------------------------------------------------------------------------------------------- figure


@right("figure")
def small_markers(scales, test_accuracies, bound):
    figure, axes = plt.subplots()
    for column, scale in zip(np.transpose(test_accuracies), scales, strict=True):
        axes.plot([scale] * len(column), column, linestyle="none", marker="+", alpha=0.6)
    axes.plot(scales, np.median(test_accuracies, axis=0), linewidth=2, label="median")
    axes.plot([scales[0] - 1, scales[-1] + 1], [bound, bound], linestyle="--", label="Bound")
    axes.set(xlabel="scale", ylabel="accuracy")
    figure.legend()
    return figure


@wrong("figure", "the legend names the bound only")
def half_a_legend(scales, test_accuracies, bound):
    figure, axes = plt.subplots()
    axes.plot(scales, np.transpose(test_accuracies), "k.", linestyle="none")
    axes.plot(scales, np.median(test_accuracies, axis=0))
    axes.axhline(bound, linestyle="--", label="bound")
    axes.set(xlabel="scale", ylabel="accuracy")
    axes.legend()
    return figure


@wrong("figure", "markers of size zero")
def no_size(scales, test_accuracies, bound):
    figure = small_markers(scales, test_accuracies, bound)
    for line in figure.axes[0].lines:
        line.set_markersize(0)
    return figure


# -------------------------------------------------------------------------------------------------------- logit_terms


@right("logit_terms")
def stacked_tokens(content, positions, w_q, w_k):
    n, both = len(content), np.vstack([content, positions])
    table = (both @ w_q) @ (both @ w_k).T / np.sqrt(w_q.shape[1])
    return table[:n, :n], table[:n, n:], table[n:, :n], table[n:, n:]


@wrong("logit_terms", "only one factor is scaled")
def unscaled_mixed(content, positions, w_q, w_k):
    cc, cp, pc, pp = stacked_tokens(content, positions, w_q, w_k)
    return cc, cp * np.sqrt(w_q.shape[1]), pc, pp


# --------------------------------------------------------------------------------------------------------------- time


@right("time", "embed_time")
def repeated_rates(times, width, span=20.0):
    angles = np.repeat(10000.0 ** (-np.arange(0, width, 2) / width), 2) * (span * np.asarray(times))[:, None]
    angles[:, 1::2] += np.pi / 2
    return np.sin(angles)


@wrong("time", "the span is a number of turns", "embed_time")
def turns(times, width, span=20.0):
    return repeated_rates(times, width, 2 * np.pi * span)


@wrong("time", "the ridge is not multiplied by n", "readout_error")
def weak_ridge(train_set, test_set, layer, ridge=1e-4):
    h, g = (np.tanh(data[0] @ layer[0] + layer[1]) for data in (train_set, test_set))
    c = np.linalg.solve(h.T @ h + ridge * np.eye(h.shape[1]), h.T @ train_set[1])
    return float(np.mean((g @ c - test_set[1]) ** 2))


@right("time", "readout_error")
def by_pseudoinverse(train_set, test_set, layer, ridge=1e-4):
    h, g = (np.tanh(data[0] @ layer[0] + layer[1]) for data in (train_set, test_set))
    n = len(h)
    # The dual form: as many unknowns as examples.
    dual = np.linalg.solve(h @ h.T + n * ridge * np.eye(n), train_set[1])
    return float(np.mean((g @ h.T @ dual - test_set[1]) ** 2))
