"""Judged answers to problem set 2."""

import math
from fractions import Fraction
from functools import reduce

import numpy as np

from benchmarks.judged import right, wrong

# ----------------------------------------------------------------------------------------------------- self_attention


@right("self_attention")
def concatenated_projections(x, w_q, w_k, w_v, mask=None):
    k = w_q.shape[1]
    everything = x @ np.hstack([w_q, w_k, w_v])
    q, key, v = everything[:, :k], everything[:, k : 2 * k], everything[:, 2 * k :]
    s = np.matmul(q, key.T) * x.dtype.type(k**-0.5)
    if mask is not None:
        s = np.where(mask, s, x.dtype.type(-np.inf))
    best = s.max(axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isneginf(best), x.dtype.type(0), best))
    z = e.sum(axis=-1, keepdims=True)
    return (e / np.where(z == 0, x.dtype.type(1), z)) @ v


@right("self_attention")
def masked_arrays(x, w_q, w_k, w_v, mask=None):
    s = (x @ w_q) @ (x @ w_k).T / math.sqrt(w_k.shape[1])
    out = np.zeros((len(x), w_v.shape[1]), dtype=s.dtype)
    values = x @ w_v
    for row in range(len(x)):
        legal = np.arange(len(x)) if mask is None else np.flatnonzero(mask[row])
        if legal.size:
            w = np.exp(s[row, legal] - s[row, legal].max())
            out[row] = (w / w.sum()) @ values[legal]
    return out


@right("self_attention")
def log_sum_exp(x, w_q, w_k, w_v, mask=None):
    s = (x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[-1])
    legal = np.ones(s.shape, bool) if mask is None else np.asarray(mask, bool)
    low = np.finfo(s.dtype).min
    best = np.max(np.where(legal, s, low), axis=1, keepdims=True)
    e = np.where(legal, np.exp(np.where(legal, s - best, 0)), 0).astype(s.dtype)
    total = e.sum(axis=1, keepdims=True)
    return np.where(total > 0, e / np.maximum(total, np.finfo(s.dtype).tiny), 0) @ (x @ w_v)


@wrong("self_attention", "float32 in gives float64 out")
def float64_root(x, w_q, w_k, w_v, mask=None):
    s = (x @ w_q) @ (x @ w_k).T / np.sqrt(np.float64(w_q.shape[1]))
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    best = np.max(s, axis=1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(best), best, 0.0))
    z = e.sum(axis=1, keepdims=True)
    return np.divide(e, z, out=np.zeros_like(e), where=z > 0) @ (x @ w_v)


@wrong("self_attention", "an empty row is an even split")
def minus_a_billion(x, w_q, w_k, w_v, mask=None):
    s = (x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[1])
    if mask is not None:
        s = s + np.where(mask, 0, -1e9).astype(s.dtype)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ (x @ w_v)


@wrong("self_attention", "a forbidden token gets some weight: exp(-30)")
def minus_thirty(x, w_q, w_k, w_v, mask=None):
    s = (x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[1])
    if mask is not None:
        s = np.where(mask, s, s.min() - 4).astype(s.dtype)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    w = e / e.sum(axis=1, keepdims=True)
    if mask is not None:
        w = w * mask.any(axis=1, keepdims=True)
    return (w @ (x @ w_v)).astype(x.dtype)


@wrong("self_attention", "scores above 700 overflow")
def clipped_scores(x, w_q, w_k, w_v, mask=None):
    s = np.clip((x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[1]), -60, 60)
    e = np.exp(s)
    if mask is not None:
        e = e * mask
    z = e.sum(axis=1, keepdims=True)
    return (e / np.where(z == 0, 1, z)).astype(x.dtype) @ (x @ w_v)


@wrong("self_attention", "the mask is transposed")
def transposed_mask(x, w_q, w_k, w_v, mask=None):
    return masked_arrays(x, w_q, w_k, w_v, None if mask is None else mask.T)


@wrong("self_attention", "the values are those of the queries")
def values_by_queries(x, w_q, w_k, w_v, mask=None):
    return concatenated_projections(x, w_k, w_q, w_v, mask)


# --------------------------------------------------------------------------------------------------- equivariance_gap


@right("equivariance_gap")
def gap_row_by_row(layer, x, permutation):
    shuffled, plain = np.asarray(layer(np.take(x, permutation, axis=0))), np.asarray(layer(x))
    if plain.shape[:1] != (len(x),) or shuffled.shape[:1] != (len(x),):
        raise ValueError("rows")
    worst = 0.0
    for new, old in enumerate(permutation):
        d = np.abs(shuffled[new] - plain[old])
        worst = np.maximum(worst, np.max(d))
    return float(worst)


@right("equivariance_gap")
def gap_by_maximum_reduce(layer, x, permutation):
    plain = layer(x)
    if np.ndim(plain) < 1 or len(plain) != len(permutation):
        raise ValueError(f"{np.shape(plain)} has no row for each token")
    return float(np.maximum.reduce(np.abs(np.subtract(layer(x[permutation]), plain[permutation])), axis=None))


@wrong("equivariance_gap", "NaN is turned into 0")
def gap_without_nan(layer, x, permutation):
    plain = layer(x)
    if plain.shape[0] != x.shape[0] if plain.ndim else True:
        raise ValueError("rows")
    return float(np.abs(np.nan_to_num(layer(x[permutation]) - plain[permutation])).max())


@wrong("equivariance_gap", "Python's max does not see NaN behind a number")
def gap_by_python_max(layer, x, permutation):
    plain = layer(x)
    if plain.ndim == 0 or len(plain) != len(x):
        raise ValueError("rows")
    moved = layer(x[permutation])
    return float(max(abs(a - b) for a, b in zip(moved.ravel(), plain[permutation].ravel(), strict=True)))


@wrong("equivariance_gap", "a pooled output raises IndexError, not ValueError")
def gap_with_index_error(layer, x, permutation):
    plain = layer(x)
    if plain.shape[0] > len(x):
        raise ValueError("rows")
    return float(np.abs(layer(x[permutation]) - plain[permutation]).max())


@wrong("equivariance_gap", "the output is put back, the input is not")
def gap_of_two_inverses(layer, x, permutation):
    plain = layer(x)
    if plain.ndim == 0 or len(plain) != len(x):
        raise ValueError("rows")
    back = np.argsort(permutation)
    return float(np.abs(layer(x[permutation])[permutation] - plain[back]).max())


# ------------------------------------------------------------------------------------------------------------ pooling


@right("pooling")
def pooled_as_attention(x, query, w_k, w_v):
    s = query[None] @ (x @ w_k).T / np.sqrt(query.shape[0])
    w = np.exp(s - s.max())
    return ((w / w.sum()) @ (x @ w_v))[0]


@right("pooling", "invariance_gap")
def gap_by_ptp(layer, x, permutation):
    both = np.stack([np.asarray(layer(x), dtype=float), np.asarray(layer(x[permutation]), dtype=float)])
    return float(np.ptp(both, axis=0).max())


@wrong("pooling", "the weights are not divided by their sum")
def pooled_without_sum(x, query, w_k, w_v):
    s = x @ w_k @ query / math.sqrt(len(query))
    return np.exp(s - s.max()) @ (x @ w_v)


@wrong("pooling", "no shift before the exponential")
def pooled_unstable(x, query, w_k, w_v):
    w = np.exp((x @ w_k) @ query / math.sqrt(query.size))
    return np.average(x @ w_v, axis=0, weights=w)


@wrong("pooling", "the root of the number of tokens")
def pooled_by_tokens(x, query, w_k, w_v):
    s = x @ w_k @ query / math.sqrt(len(x))
    w = np.exp(s - s.max())
    return w @ (x @ w_v) / w.sum()


@wrong("pooling", "the difference of sums", "invariance_gap")
def gap_of_sums(layer, x, permutation):
    return float(abs(np.sum(layer(x[permutation])) - np.sum(layer(x))))


@wrong("pooling", "a relative gap", "invariance_gap")
def relative_gap(layer, x, permutation):
    before = np.asarray(layer(x))
    return float(np.max(np.abs(layer(x[permutation]) - before)) / max(np.max(np.abs(before)), 1e-300))


# ---------------------------------------------------------------------------------------------- sign_of_mean_accuracy


@right("sign_of_mean_accuracy")
def by_atan(length):
    if length < 1:
        raise ValueError("length")
    return 1.0 if length == 1 else 0.5 + math.atan(1 / math.sqrt(length - 1)) / math.pi


@right("sign_of_mean_accuracy")
def in_degrees(length):
    if not length >= 1:
        raise ValueError("length")
    return (90 + math.degrees(math.asin(length**-0.5))) / 180


@wrong("sign_of_mean_accuracy", "rounded to four places")
def rounded(length):
    if length < 1:
        raise ValueError("length")
    return round(0.5 + math.asin(1 / math.sqrt(length)) / math.pi, 4)


@wrong("sign_of_mean_accuracy", "ZeroDivisionError for no tokens, not ValueError")
def zero_division(length):
    if length < 0:
        raise ValueError("length")
    return 0.5 + math.asin(1 / math.sqrt(length)) / math.pi


# ----------------------------------------------------------------------------------------------------- bayes_decision


@right("bayes_decision")
def by_sorting(signs):
    values = sorted(signs)
    if not values or not set(values) <= {-1, 1}:
        raise ValueError("signs")
    return int(values[len(values) // 2])


@right("bayes_decision")
def by_reducing(signs):
    if len(signs) == 0 or any(abs(sign) != 1 for sign in signs):
        raise ValueError("signs")
    return 1 if reduce(lambda a, b: a + b, signs) > -1 else -1


@wrong("bayes_decision", "a tie says -1")
def lower_median(signs):
    values = sorted(signs)
    if not values or not set(values) <= {-1, 1}:
        raise ValueError("signs")
    return int(values[(len(values) - 1) // 2])


@wrong("bayes_decision", "0.5 counts as a sign")
def any_number(signs):
    if len(signs) == 0 or (np.asarray(signs) == 0).any():
        raise ValueError("signs")
    return 1 if np.sum(np.sign(signs)) >= 0 else -1


# ----------------------------------------------------------------------------------------------------- is_equivariant


@right("is_equivariant")
def worst_of_all(layer, x, trials=20, seed=0):
    rng, base = np.random.default_rng([seed, 7]), layer(x)
    worst = np.abs(layer(x) - base).max()
    for _ in range(trials):
        order = np.argsort(rng.random(len(x)))
        worst = np.maximum(worst, np.abs(layer(x[order]) - base[order]).max())
    return bool(np.isfinite(base).all() and worst <= 64 * np.finfo(base.dtype).eps * np.abs(base).max())


@wrong("is_equivariant", "one permutation, whatever `trials` says")
def one_draw(layer, x, trials=20, seed=0):
    order, base = np.random.default_rng(seed).permutation(len(x)), layer(x)
    gap = np.abs(layer(x[order]) - base[order]).max()
    return bool(np.isfinite(gap) and gap <= 64 * np.finfo(base.dtype).eps * np.abs(base).max())


@wrong("is_equivariant", "eps of float64 for every layer")
def always_double(layer, x, trials=20, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        order = rng.permutation(len(x))
        base, moved = layer(x), layer(x[order])
        if not np.abs(moved - base[order]).max() <= 64 * np.finfo(float).eps * np.abs(base).max() < np.inf:
            return False
    return True


@wrong("is_equivariant", "the scale is the mean of the outputs, which cancels")
def scale_of_the_mean(layer, x, trials=20, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        order = rng.permutation(len(x))
        base, moved = layer(x), layer(x[order])
        if not np.isfinite(base).all():
            return False
        if not np.abs(moved - base[order]).max() <= 64 * np.finfo(base.dtype).eps * abs(base.mean()):
            return False
    return True


@wrong("is_equivariant", "most permutations are enough")
def majority_vote(layer, x, trials=20, seed=0):
    rng, votes = np.random.default_rng(seed), []
    for _ in range(trials):
        order = rng.permutation(len(x))
        base, moved = layer(x), layer(x[order])
        votes.append(np.abs(moved - base[order]).max() <= 64 * np.finfo(base.dtype).eps * np.abs(base).max())
    return bool(np.mean(votes) > 0.4)


@wrong("is_equivariant", "a layer of zeros fails: 0/0")
def relative_difference(layer, x, trials=20, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        order = rng.permutation(len(x))
        base, moved = layer(x), layer(x[order])
        if not np.abs(moved - base[order]).max() / np.abs(base).max() <= 64 * np.finfo(base.dtype).eps:
            return False
    return bool(np.isfinite(base).all())


# ---------------------------------------------------------------------------------------------- simulate_sign_of_mean


@right("simulate_sign_of_mean")
def by_products(length, trials, seed):
    t = np.random.default_rng(seed).normal(size=(length, trials))
    p = float(np.count_nonzero(t[-1] * t.sum(axis=0) > 0)) / trials
    return p, 1.96 * math.sqrt(p - p * p) / math.sqrt(trials)


@wrong("simulate_sign_of_mean", "unit variance draws are shifted by one")
def with_an_offset(length, trials, seed):
    t = np.random.default_rng(seed).normal(1.0, 1.0, size=(trials, length))
    p = float(np.mean((t.mean(axis=1) > 0) == (t[:, 0] > 0)))
    return p, 1.96 * math.sqrt(p * (1 - p) / trials)


@wrong("simulate_sign_of_mean", "a 99 % interval")
def wide_interval(length, trials, seed):
    p, half = by_products(length, trials, seed)
    return p, half * 2.576 / 1.96


@wrong("simulate_sign_of_mean", "the seed is added up with the clock, so the same seed gives other answers")
def unseeded(length, trials, seed):
    t = np.random.default_rng().normal(size=(length, trials))
    p = float(np.mean(t[0] * t.sum(axis=0) > 0))
    return p, 1.96 * math.sqrt(p * (1 - p) / trials)


# ---------------------------------------------------------------------------------------------- invariant_bayes_bound


@right("invariant_bayes_bound")
def by_symmetry_of_terms(length, p=Fraction(1, 2)):
    if length < 1 or p < 0 or p > 1:
        raise ValueError("impossible")
    q, total = 1 - p, Fraction(0)
    for r in range(length + 1):
        chance = Fraction(math.factorial(length), math.factorial(r) * math.factorial(length - r)) * p**r * q ** (length - r)
        total += chance * Fraction(max(r, length - r), length)
    return total


@wrong("invariant_bayes_bound", "a float inside: max(r, L - r) / L")
def float_share(length, p=Fraction(1, 2)):
    if length < 1 or not 0 <= p <= 1:
        raise ValueError("impossible")
    return sum((math.comb(length, r) * p**r * (1 - p) ** (length - r) * Fraction(max(r, length - r) / length)
                for r in range(length + 1)), Fraction(0))  # fmt: skip


@wrong("invariant_bayes_bound", "the binomial coefficient is missing")
def without_coefficient(length, p=Fraction(1, 2)):
    if length < 1 or not 0 <= p <= 1:
        raise ValueError("impossible")
    return sum(
        (p**r * (1 - p) ** (length - r) * Fraction(max(r, length - r), length) for r in range(length + 1)), Fraction(0)
    )


@wrong("invariant_bayes_bound", "p = 1 is refused")
def open_interval(length, p=Fraction(1, 2)):
    if length < 1 or not 0 < p < 1:
        raise ValueError("impossible")
    return by_symmetry_of_terms(length, p)


# ------------------------------------------------------------------------------------------------------------- shifts


@right("shifts")
def by_take(x, kernel):
    n = len(x)
    return sum((c * np.take(x, np.arange(n) - j, axis=0, mode="wrap") for j, c in enumerate(kernel)), 0 * x)


@wrong("shifts", "a kernel longer than the ring is an IndexError")
def plain_index(x, kernel):
    n, out = len(x), np.zeros_like(x)
    for i in range(n):
        for j in range(len(kernel)):
            out[i] += kernel[j] * x[i - j]
    return out


@right("shifts", "is_shift_equivariant")
def shifts_by_indices(layer, x):
    base, n = layer(x), len(x)
    if not np.isfinite(base).all():
        return False
    limit = 64 * np.finfo(base.dtype).eps * np.abs(base).max()
    orders = [np.roll(np.arange(n), s) for s in range(n)]
    return all(bool(np.abs(layer(x[order]) - base[order]).max() <= limit) for order in orders)


@wrong("shifts", "the shift by one only", "is_shift_equivariant")
def one_shift(layer, x):
    base = layer(x)
    gap = np.abs(layer(np.roll(x, 1, axis=0)) - np.roll(base, 1, axis=0)).max()
    return bool(np.isfinite(gap) and gap <= 64 * np.finfo(base.dtype).eps * np.abs(base).max())


@wrong("shifts", "np.roll without an axis", "is_shift_equivariant")
def rolled_flat(layer, x):
    base = layer(x)
    limit = 64 * np.finfo(base.dtype).eps * np.abs(base).max()
    return all(bool(np.abs(layer(np.roll(x, s)) - np.roll(base, s)).max() <= limit) for s in range(len(x)))
