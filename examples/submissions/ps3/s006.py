"""ps3: first sitting, and one mistake in the gradients"""

import numpy as np


def sinusoidal_encoding(length, width):
    if width % 2:
        raise ValueError("odd width")
    t, column = np.arange(length)[:, None], np.arange(width)
    angles = t * 10000.0 ** (-(column - column % 2) / width)
    return np.where(column % 2 == 0, np.sin(angles), np.cos(angles))


def pooled_logits(tokens, query, readout):
    scores = tokens @ query / np.sqrt(tokens.shape[2])
    growth = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = growth / growth.sum(axis=1, keepdims=True)
    return (weights * (tokens @ readout)).sum(axis=1), weights


def logistic_loss(logits, labels):
    return float(np.logaddexp(0, np.where(labels > 0.5, -logits, logits)).mean())


def loss_gradients(tokens, labels, query, readout):
    logits, weights = pooled_logits(tokens, query, readout)
    error = (0.5 + 0.5 * np.tanh(logits / 2) - labels) / len(labels)
    # forgot: the other weights fall when one rises
    by_score = error[:, None] * weights * (tokens @ readout)
    by_query = np.einsum("nl,nld->d", by_score, tokens) / np.sqrt(tokens.shape[2])
    return by_query, np.einsum("n,nl,nld->d", error, weights, tokens)


def adam_step(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient**2
    return theta - lr * (m / (1 - beta1**step)) / (np.sqrt(v / (1 - beta2**step)) + eps), m, v


def train(tokens, labels, query, readout, steps=1500, lr=0.01):
    theta = np.stack([query, readout])
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, steps + 1):
        slopes = np.stack(loss_gradients(tokens, labels, theta[0], theta[1]))
        theta, m, v = adam_step(theta, slopes, m, v, step, lr)
    return theta[0], theta[1]


guess_table = "a"


above, longer = "c", "a"
