"""ps2 - done in a hurry"""

import math
from fractions import Fraction

import numpy as np


def self_attention(x, w_q, w_k, w_v, mask=None):
    scores = (x @ w_q) @ (x @ w_k).T / np.sqrt(w_q.shape[1])
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ (x @ w_v)


def equivariance_gap(layer, x, permutation):
    return np.nanmax(np.abs(layer(x[permutation]) - layer(x)[permutation]))


symmetry_claims = "c"


def pooled_attention(x, query, w_k, w_v):
    e = np.exp(x @ w_k @ query / np.sqrt(len(query)))
    return e / e.sum() @ (x @ w_v)


def invariance_gap(layer, x, permutation):
    return np.max(np.abs(layer(x[permutation]) - layer(x)))


guess_baseline = "b"


def sign_of_mean_accuracy(length):
    return 0.5 + np.arcsin(1 / np.sqrt(length)) / np.pi


def bayes_decision(signs):
    return int(np.sign(np.sum(signs)))


baselines = "b"


def is_equivariant(layer, x, trials=20, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        order = rng.permutation(len(x))
        if not np.allclose(layer(x[order]), layer(x)[order]):
            return False
    return True


def simulate_sign_of_mean(length, trials, seed):
    tokens = np.random.default_rng(seed).normal(size=(trials, length))
    p = np.mean(np.sign(tokens.mean(axis=1)) == np.sign(tokens[:, 0]))
    return p, np.sqrt(p * (1 - p) / trials)


def invariant_bayes_bound(length, p=Fraction(1, 2)):
    total = 0.0
    for r in range(length + 1):
        total += math.comb(length, r) * float(p) ** r * (1 - float(p)) ** (length - r) * max(r, length - r) / length
    return Fraction(total).limit_denominator(1000)


biased_signs = "b"


def circular_convolution(x, kernel):
    return sum(weight * np.roll(x, j, axis=0) for j, weight in enumerate(kernel))


def is_shift_equivariant(layer, x):
    return all(np.allclose(layer(np.roll(x, s, 0)), np.roll(layer(x), s, 0)) for s in range(len(x)))


groups = "a"
guess_broken = "a"
broken_bound = "Yes, 0.66 is more than 0.637, so the model must see the order somehow."
freedom = "c"
