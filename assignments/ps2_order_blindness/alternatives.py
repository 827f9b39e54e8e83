"""Right answers to problem set 2 in other styles. Each must earn all points of its question."""

import itertools
import math
from fractions import Fraction

import numpy as np

from autograder.variants import alternative
from solutions.ps2_order_blindness import equivariance_gap as right_gap

# ----------------------------------------------------------------------------------------------------- self_attention


@alternative("self_attention")
def attention_in_loops(x, w_q, w_k, w_v, mask=None):
    queries, keys, values = x @ w_q, x @ w_k, x @ w_v
    n, k = queries.shape
    output = np.zeros((n, values.shape[1]), dtype=x.dtype)
    for i in range(n):
        legal = [j for j in range(n) if mask is None or mask[i][j]]
        if not legal:
            continue
        scores = [float(np.dot(queries[i], keys[j])) / k**0.5 for j in legal]
        parts = [math.exp(score - max(scores)) for score in scores]
        for j, part in zip(legal, parts, strict=True):
            output[i] += x.dtype.type(part / sum(parts)) * values[j]
    return output


@alternative("self_attention")
def attention_with_einsum(x, w_q, w_k, w_v, mask=None):
    scores = np.einsum("id,dk,je,ek->ij", x, w_q, x, w_k, optimize=True) / float(w_k.shape[-1]) ** 0.5
    allowed = np.ones(scores.shape, dtype=bool) if mask is None else mask
    top = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-np.inf)
    growth = np.zeros_like(scores)
    np.exp(scores - np.where(top == -np.inf, 0.0, top).astype(scores.dtype), where=allowed, out=growth)
    total = np.sum(growth, axis=-1, keepdims=True)
    weights = np.divide(growth, total, out=np.zeros_like(growth), where=total != 0)
    return np.einsum("ij,jd,dv->iv", weights, x, w_v, optimize=True)


@alternative("self_attention")
def attention_in_double_then_back(x, w_q, w_k, w_v, mask=None):
    dtype = x.dtype
    x, w_q, w_k, w_v = (array.astype(np.float64) for array in (x, w_q, w_k, w_v))
    scores = (x @ w_q) @ (x @ w_k).T / np.sqrt(w_q.shape[1])
    if mask is not None:
        scores[~mask] = -np.inf
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(axis=1)[:, None])
        weights = weights / weights.sum(axis=1)[:, None]
    weights = np.nan_to_num(weights, nan=0.0)
    return (weights @ (x @ w_v)).astype(dtype)


# --------------------------------------------------------------------------------------------------- equivariance_gap


@alternative("equivariance_gap")
def gap_token_by_token(layer, x, permutation):
    before, after = layer(x), layer(x[permutation])
    if np.ndim(before) < 1 or before.shape[0] != x.shape[0]:
        raise ValueError("no row per token")
    return np.max([np.max(np.abs(after[row] - before[token])) for row, token in enumerate(permutation)])


@alternative("equivariance_gap")
def gap_with_a_matrix(layer, x, permutation):
    matrix = np.eye(len(x))[permutation]
    output = np.asarray(layer(x))
    if output.ndim == 0 or output.shape[0] != len(permutation):
        raise ValueError("the output has another number of rows than the input")
    difference = layer(np.take(x, permutation, axis=0)) - np.take(output, permutation, axis=0)
    assert np.array_equal(matrix @ np.arange(len(x)), permutation)
    return np.linalg.norm(difference.ravel(), ord=np.inf)


@alternative("equivariance_gap")
def gap_by_moving_back(layer, x, permutation):
    output = layer(x)
    back = np.empty_like(permutation)
    back[permutation] = np.arange(len(permutation))
    moved = layer(x[permutation])
    if output.ndim == 0 or output.shape[0] != len(x):
        raise ValueError("the output has another number of rows than the input")
    return np.abs(moved[back] - output).max().item()


# ----------------------------------------------------------------------------------------------------- is_equivariant


@alternative("is_equivariant")
def verdict_with_one_reference_run(layer, x, trials=20, seed=0):
    output = layer(x)
    scale = np.max(np.abs(output))
    if not np.isfinite(scale):
        return False
    rng = np.random.default_rng(seed)
    gaps = []
    for _ in range(trials):
        order = rng.permutation(x.shape[0])
        gaps.append(np.max(np.abs(layer(x[order]) - output[order])))
    return bool(np.all(np.array(gaps) <= 100 * np.finfo(output.dtype).eps * scale))


@alternative("is_equivariant")
def verdict_with_shuffles(layer, x, trials=20, seed=0):
    rng = np.random.default_rng(seed + 1)
    order = np.arange(len(x))
    for _ in range(trials):
        rng.shuffle(order)
        moved, output = layer(x[order]), layer(x)
        tolerance = 1e-14 if output.dtype == np.float64 else 5e-6
        if not np.isfinite(moved).all():
            return False
        if not np.allclose(moved, output[order], rtol=0, atol=tolerance * np.abs(output).max()):
            return False
    return True


@alternative("is_equivariant")
def verdict_by_sorting_random_keys(layer, x, trials=20, seed=0):
    state = np.random.RandomState(seed)
    reference = layer(x)
    limit = np.abs(reference).max() * np.finfo(reference.dtype).eps * 500
    orders = [np.argsort(state.rand(len(x))) for _ in range(trials)]
    return np.bool_(np.isfinite(limit) and all((np.abs(layer(x[o]) - reference[o]) <= limit).all() for o in orders))


@alternative("is_equivariant")
def verdict_by_the_gap_of_each_order(layer, x, trials=20, seed=0):
    rng, output = np.random.default_rng(seed), layer(x)
    if not np.isfinite(output).all() or not np.array_equal(layer(x), output):
        return False
    limit = 64 * np.finfo(output.dtype).eps * float(np.max(np.abs(output)))
    return all(right_gap(layer, x, rng.permutation(len(x))) <= limit for _ in range(trials))


# ------------------------------------------------------------------------------------------------------------ pooling


@alternative("pooling")
def pooling_in_a_loop(x, query, w_k, w_v):
    scores = [float(query @ (token @ w_k)) / np.sqrt(query.size) for token in x]
    parts = [math.exp(score - max(scores)) for score in scores]
    total = np.zeros(w_v.shape[1])
    for part, token in zip(parts, x, strict=True):
        total = total + part / sum(parts) * (token @ w_v)
    return total


@alternative("pooling")
def pooling_projects_last(x, query, w_k, w_v):
    scores = np.einsum("nd,dk,k->n", x, w_k, query) * len(query) ** -0.5
    log_weights = scores - scores.max()
    log_weights = log_weights - np.log(np.exp(log_weights).sum())
    return (np.exp(log_weights) @ x) @ w_v


@alternative("pooling", replaces="invariance_gap")
def invariance_by_norm(layer, x, permutation):
    difference = np.asarray(layer(np.take(x, permutation, axis=0))) - np.asarray(layer(x))
    return np.linalg.norm(np.ravel(difference), ord=np.inf)


@alternative("pooling", replaces="invariance_gap")
def invariance_by_loop(layer, x, permutation):
    before, after = np.ravel(layer(x)), np.ravel(layer(x[list(permutation)]))
    return float(np.max([abs(b - a) for a, b in zip(after, before, strict=True)]))


# ---------------------------------------------------------------------------------------------- sign_of_mean_accuracy


@alternative("sign_of_mean_accuracy")
def accuracy_by_arccos(length):
    if length <= 0:
        raise ValueError("no tokens")
    return 1 - np.arccos(length**-0.5) / np.pi


@alternative("sign_of_mean_accuracy")
def accuracy_by_arctan(length):
    if length < 1:
        raise ValueError("at least one token, please")
    return np.float64(0.5 + np.arctan2(1.0, np.sqrt(length - 1.0)) / np.pi)


# ---------------------------------------------------------------------------------------------- simulate_sign_of_mean


@alternative("simulate_sign_of_mean")
def simulation_in_a_loop(length, trials, seed):
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(trials):
        tokens = rng.normal(size=length)
        hits += (tokens.sum() > 0) == (tokens[0] > 0)
    p = hits / trials
    return p, 1.96 * (p * (1 - p) / trials) ** 0.5


@alternative("simulate_sign_of_mean")
def simulation_with_sample_deviation(length, trials, seed):
    state = np.random.RandomState(seed)
    tokens = state.randn(length, trials)
    hits = (tokens[0] * tokens.mean(axis=0) > 0).astype(float)
    return [hits.mean(), 1.959964 * hits.std(ddof=1) / np.sqrt(trials)]


@alternative("simulate_sign_of_mean")
def simulation_of_rest_and_token(length, trials, seed):
    rng = np.random.default_rng((seed, length))
    token = rng.standard_normal(trials)
    rest = math.sqrt(length - 1) * rng.standard_normal(trials)  # the sum of the other tokens is normal too
    p = np.count_nonzero(np.sign(token) == np.sign(token + rest)) / trials
    return p, 1.96 * np.sqrt(p * (1 - p) / trials)


# ----------------------------------------------------------------------------------------------------- bayes_decision


@alternative("bayes_decision")
def decision_by_counting(signs):
    signs = list(signs)
    if not signs or any(sign not in (1, -1) for sign in signs):
        raise ValueError("signs, please")
    return +1 if signs.count(1) >= signs.count(-1) else -1


@alternative("bayes_decision")
def decision_by_median(signs):
    signs = np.asarray(signs)
    if signs.size < 1 or not np.all(np.abs(signs) == 1):
        raise ValueError("signs must be +1 or -1, at least one")
    return np.int64(-1 if np.median(signs) < 0 else 1)


# ---------------------------------------------------------------------------------------------- invariant_bayes_bound


@alternative("invariant_bayes_bound")
def bound_in_fractions(length, p=Fraction(1, 2)):
    if length <= 0:
        raise ValueError("length")
    if p < 0 or p > 1:
        raise ValueError("p")
    total = Fraction(0)
    for r in range(length + 1):
        total += math.comb(length, r) * p**r * (1 - p) ** (length - r) * Fraction(max(r, length - r), length)
    return total


@alternative("invariant_bayes_bound")
def bound_by_growing_the_distribution(length, p=Fraction(1, 2)):
    if length < 1 or not (0 <= p <= 1):
        raise ValueError("no such experiment")
    chances = [Fraction(1)]
    for _ in range(length):
        chances = [
            stay * (1 - p) + step * p for stay, step in itertools.zip_longest(chances, [Fraction(0), *chances], fillvalue=0)
        ]
    return sum(chance * max(r, length - r) for r, chance in enumerate(chances)) / length


@alternative("invariant_bayes_bound")
def bound_by_the_excess(length, p=Fraction(1, 2)):
    if length < 1 or not 0 <= p <= 1:
        raise ValueError("no such experiment")
    # max(r, L - r) = L/2 + |r - L/2|.
    excess = sum(
        math.comb(length, r) * p**r * (1 - p) ** (length - r) * abs(Fraction(r) - Fraction(length, 2))
        for r in range(length + 1)
    )
    return Fraction(1, 2) + excess / length


# ------------------------------------------------------------------------------------------------------------- shifts


@alternative("shifts")
def convolution_by_index(x, kernel):
    n = len(x)
    output = np.zeros(x.shape)
    for i, j in itertools.product(range(n), range(len(kernel))):
        output[i] += kernel[j] * x[(i - j) % n]
    return output


@alternative("shifts")
def convolution_by_fourier(x, kernel):
    n = len(x)
    wrapped = np.zeros(n)
    np.add.at(wrapped, np.arange(len(kernel)) % n, kernel)
    return np.fft.ifft(np.fft.fft(x, axis=0) * np.fft.fft(wrapped)[:, None], axis=0).real


@alternative("shifts")
def convolution_by_matrix(x, kernel):
    places = np.arange(len(x))
    matrix = np.zeros((len(x), len(x)))
    for j, weight in enumerate(kernel):
        matrix[places, (places - j) % len(x)] += weight
    return matrix @ x


@alternative("shifts", replaces="is_shift_equivariant")
def shift_verdict_by_index(layer, x):
    n = len(x)
    for s in range(1, n):
        order = (np.arange(n) - s) % n
        output, moved = layer(x), layer(x[order])
        if not (np.abs(moved - output[order]) <= 100 * np.finfo(output.dtype).eps * np.max(np.abs(output))).all():
            return False
    return True


@alternative("shifts", replaces="is_shift_equivariant")
def shift_verdict_step_by_step(layer, x):
    # A law for one step holds for all steps if it holds at each of the shifted inputs.
    shifted, verdict = x, True
    for _ in range(len(x)):
        output, step = layer(shifted), np.roll(shifted, 1, axis=0)
        gap = np.abs(layer(step) - np.roll(output, 1, axis=0)).max()
        verdict &= bool(gap <= 50 * np.finfo(output.dtype).eps * np.abs(output).max())
        shifted = step
    return verdict
