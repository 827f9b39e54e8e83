"""ps2, the first half"""

import math

import numpy as np


def self_attention(x, w_q, w_k, w_v, mask=None):
    scores = (x @ w_q) @ (x @ w_k).T / math.sqrt(w_k.shape[1])
    allowed = np.ones(scores.shape, bool) if mask is None else mask
    growth = np.where(allowed, np.exp(scores - np.max(scores, axis=1, keepdims=True)), 0)
    total = growth.sum(axis=1, keepdims=True)
    return (growth / np.where(total == 0, 1, total)).astype(x.dtype) @ (x @ w_v)


def equivariance_gap(layer, x, permutation):
    # row i of the reordered array is row permutation[i]; so the way back is argsort
    output = layer(x)
    if output.ndim == 0 or len(output) != len(x):
        raise ValueError("not one row per token")
    return float(np.abs(layer(x[permutation]) - output[np.argsort(permutation)]).max())


symmetry_claims = "c"


def pooled_attention(x, query, w_k, w_v):
    scores = x @ w_k @ query / math.sqrt(len(query))
    growth = np.exp(scores - scores.max())
    return growth / growth.sum() @ (x @ w_v)


def invariance_gap(layer, x, permutation):
    return float(np.max(np.abs(layer(x[permutation]) - layer(x))))


guess_baseline = "b"


def sign_of_mean_accuracy(length):
    if length < 1:
        raise ValueError("at least one token")
    return 0.5 + math.asin(1 / math.sqrt(length)) / math.pi


def is_equivariant(layer, x, trials=20, seed=0):
    rng = np.random.default_rng(seed)
    output = layer(x)
    tolerance = 64 * np.finfo(output.dtype).eps * np.abs(output).max()
    if not np.isfinite(tolerance) or not np.array_equal(layer(x), output):
        return False
    return all(equivariance_gap(layer, x, rng.permutation(len(x))) <= tolerance for _ in range(trials))


baselines = "c"
