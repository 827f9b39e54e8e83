"""Problem set 2."""

import math
from fractions import Fraction

import numpy as np


def self_attention(x, w_q, w_k, w_v, mask=None):
    scores = np.einsum("id,dk,je,ek->ij", x, w_q, x, w_k, optimize=True) / math.sqrt(w_q.shape[1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(axis=1, keepdims=True)
    top[~np.isfinite(top)] = 0
    growth = np.exp(scores - top)
    total = growth.sum(axis=1, keepdims=True)
    return np.divide(growth, total, out=np.zeros_like(growth), where=total > 0) @ (x @ w_v)


def equivariance_gap(layer, x, permutation):
    before = layer(x)
    if np.ndim(before) == 0 or len(before) != len(x):
        raise ValueError("one row per token, please")
    return float(np.max(np.abs(layer(x[permutation]) - before[permutation])))


symmetry_claims = "c"


def pooled_attention(x, query, w_k, w_v):
    scores = x @ w_k @ query / math.sqrt(len(query))
    weights = np.exp(scores - scores.max())
    return weights @ (x @ w_v) / weights.sum()


def invariance_gap(layer, x, permutation):
    return float(np.max(np.abs(np.asarray(layer(x[permutation])) - np.asarray(layer(x)))))


guess_baseline = "c"


def sign_of_mean_accuracy(length):
    if length < 1:
        raise ValueError("no tokens")
    return 1 - math.acos(1 / math.sqrt(length)) / math.pi


def bayes_decision(signs):
    signs = np.asarray(signs)
    if signs.size == 0 or not np.all(np.isin(signs, [-1, 1])):
        raise ValueError("signs are +1 and -1")
    return 1 if np.count_nonzero(signs > 0) * 2 >= signs.size else -1


baselines = "b"


def is_equivariant(layer, x, trials=20, seed=0):
    rng = np.random.default_rng(seed)
    output = layer(x)
    if not np.isfinite(output).all() or np.max(np.abs(layer(x) - output)) > 0:
        return False
    allowed = 64 * np.finfo(output.dtype).eps * np.max(np.abs(output))
    return all(equivariance_gap(layer, x, rng.permutation(len(x))) <= allowed for _ in range(trials))


def simulate_sign_of_mean(length, trials, seed):
    rng = np.random.default_rng(seed)
    first = rng.standard_normal(trials)
    rest = rng.standard_normal((trials, length - 1)).sum(axis=1)
    p = np.mean((first > 0) == (first + rest > 0))
    return float(p), 1.96 * math.sqrt(p * (1 - p) / trials)


def invariant_bayes_bound(length, p=Fraction(1, 2)):
    if length < 1 or not 0 <= p <= 1:
        raise ValueError("impossible")
    return sum(
        (
            math.comb(length, r) * p**r * (1 - p) ** (length - r) * Fraction(max(r, length - r), length)
            for r in range(length + 1)
        ),
        Fraction(0),
    )


biased_signs = "d"


def circular_convolution(x, kernel):
    n = len(x)
    matrix = np.zeros((n, n))
    for j, weight in enumerate(kernel):
        matrix[np.arange(n), (np.arange(n) - j) % n] += weight
    return matrix @ x


def is_shift_equivariant(layer, x):
    output = layer(x)
    allowed = 64 * np.finfo(output.dtype).eps * np.max(np.abs(output))
    gaps = [np.abs(layer(np.roll(x, s, axis=0)) - np.roll(output, s, axis=0)).max() for s in range(len(x))]
    return all(np.isfinite(gap) and gap <= allowed for gap in gaps)


groups = "a"
guess_broken = "c"
broken_bound = """Not necessarily. 163/256 is the accuracy over all possible examples. With 1000 examples the share has a
standard deviation of sqrt(.637 * .363 / 1000) = .0152, so .66 is 1.5 of them above the bound, and such a result comes up
in about one test of sixteen. I would not call the bound broken. A test on 100 000 new examples would settle it."""
freedom = "b"
