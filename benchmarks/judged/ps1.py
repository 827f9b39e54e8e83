"""Judged answers to problem set 1."""

import math

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from benchmarks.judged import right, wrong

# ---------------------------------------------------------------------------------------------------------------- mix


@right("mix")
def tensordot(weights, values):
    if weights.size != values.shape[0] or weights.min() < 0 or not abs(1 - weights.sum()) <= 1e-6:
        raise ValueError("no budget")
    return np.tensordot(weights, values, axes=1)


@right("mix")
def transposed_sum(weights, values):
    if len(weights) != len(values):
        raise ValueError("lengths")
    if np.any(np.asarray(weights) < 0) or not math.isclose(math.fsum(weights), 1, rel_tol=0, abs_tol=1e-6):
        raise ValueError("budget")
    return (values.T * weights).sum(axis=-1)


@wrong("mix", "asserts in place of ValueError")
def asserting(weights, values):
    assert len(weights) == len(values)
    assert (weights >= 0).all()
    assert abs(weights.sum() - 1) < 1e-6
    return weights @ values


@wrong("mix", "np.isclose with its relative tolerance lets a sum of 1.000005 pass")
def usual_isclose(weights, values):
    if len(weights) != len(values) or (weights < 0).any() or not np.isclose(weights.sum(), 1):
        raise ValueError("budget")
    return weights @ values


@wrong("mix", "too few weights are filled up with zeros")
def padded(weights, values):
    weights = np.append(weights, np.zeros(max(0, len(values) - len(weights))))
    if (weights < 0).any() or abs(weights.sum() - 1) > 1e-6:
        raise ValueError("budget")
    return weights @ values


@wrong("mix", "negative weights pass if they sum to one")
def any_sign(weights, values):
    if len(weights) != len(values) or abs(weights.sum() - 1) > 1e-6:
        raise ValueError("budget")
    return weights @ values


# ------------------------------------------------------------------------------------------------------------ softmax


@right("softmax")
def by_logaddexp(scores, axis=-1):
    scores = np.asarray(scores, dtype=float)
    return np.exp(scores - np.expand_dims(np.logaddexp.reduce(scores, axis=axis), axis))


@right("softmax")
def by_take_along(scores, axis=-1):
    top = np.expand_dims(np.argmax(scores, axis=axis), axis)
    e = np.exp(np.subtract(scores, np.take_along_axis(np.asarray(scores), top, axis=axis)))
    return np.true_divide(e, np.add.reduce(e, axis=axis, keepdims=True))


@wrong("softmax", "subtracts the mean, which does not stop an overflow")
def mean_shift(scores, axis=-1):
    e = np.exp(scores - np.mean(scores, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong("softmax", "integer scores raise a TypeError")
def in_place_integers(scores, axis=-1):
    e = np.array(scores)
    e -= e.max(axis=axis, keepdims=True)
    np.exp(e, out=e)
    return e / e.sum(axis=axis, keepdims=True)


@wrong("softmax", "base two")
def base_two(scores, axis=-1):
    e = np.exp2(scores - np.max(scores, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong("softmax", "rounded to six places")
def rounded_weights(scores, axis=-1):
    e = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return np.round(e / e.sum(axis=axis, keepdims=True), 6)


@wrong("softmax", "only two axes: the sum is always along the last of a table")
def tables_only(scores, axis=-1):
    if scores.ndim == 1:
        e = np.exp(scores - scores.max())
        return e / e.sum()
    moved = scores.T if axis == 0 else scores
    e = np.exp(moved - moved.max(axis=-1, keepdims=True))
    e = e / e.sum(axis=-1, keepdims=True)
    return e.T if axis == 0 else e


# ------------------------------------------------------------------------------------------------------ scaled_scores


@right("scaled_scores")
def by_transpose(queries, keys):
    axes = [*range(keys.ndim - 2), keys.ndim - 1, keys.ndim - 2]
    return queries.dot(keys.T) / math.sqrt(keys.shape[-1]) if keys.ndim == 2 else np.matmul(
        queries, keys.transpose(axes)) * (1 / math.sqrt(keys.shape[-1]))  # fmt: skip


@right("scaled_scores")
def split_root(queries, keys):
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError("widths")
    quarter = queries.shape[-1] ** -0.25
    return np.einsum("...id,...jd->...ij", queries * quarter, keys * quarter)


@wrong("scaled_scores", "widths are checked by broadcasting, so a width of one passes")
def elementwise(queries, keys):
    return (queries[..., :, None, :] * keys[..., None, :, :]).sum(-1) / math.sqrt(queries.shape[-1])


@wrong("scaled_scores", "integer root")
def integer_root(queries, keys):
    return queries @ np.swapaxes(keys, -1, -2) / math.isqrt(queries.shape[-1])


@wrong("scaled_scores", "negative squared distance")
def distances(queries, keys):
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError("widths")
    gaps = queries[..., :, None, :] - keys[..., None, :, :]
    return -(gaps**2).sum(-1) / (2 * math.sqrt(queries.shape[-1]))


# ---------------------------------------------------------------------------------------------------------- attention


def _softmax(scores, mask=None):
    legal = np.ones(scores.shape, bool) if mask is None else np.broadcast_to(mask, scores.shape)
    top = np.where(legal, scores, -np.inf).max(axis=-1, keepdims=True)
    e = np.where(legal, np.exp(np.where(legal, scores - np.where(np.isfinite(top), top, 0), 0)), 0.0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total > 0, total, 1)


def _checked(queries, keys, values):
    if queries.shape[-1] != keys.shape[-1] or keys.shape[-2] != values.shape[-2]:
        raise ValueError("sizes")
    return queries @ np.swapaxes(keys, -1, -2) / math.sqrt(queries.shape[-1])


@right("attention")
def plain(queries, keys, values, mask=None):
    weights = _softmax(_checked(queries, keys, values), mask)
    return np.matmul(weights, values), weights


@right("attention")
def augmented_values(queries, keys, values, mask=None):
    scores = _checked(queries, keys, values)
    legal = np.ones(scores.shape, bool) if mask is None else np.broadcast_to(mask, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=legal, initial=-1e300)
    e = np.exp(np.where(legal, scores - top, -np.inf))
    both = e @ np.concatenate([values, np.ones((*values.shape[:-1], 1))], axis=-1)
    total = np.where(both[..., -1:] == 0, 1, both[..., -1:])
    return both[..., :-1] / total, e / total


@wrong("attention", "a mask with leading axes is refused")
def two_axes_of_mask(queries, keys, values, mask=None):
    if mask is not None and mask.ndim != 2:
        raise ValueError("mask")
    return plain(queries, keys, values, mask)


@wrong("attention", "values of another number are cut")
def cut_values(queries, keys, values, mask=None):
    weights = _softmax(queries @ np.swapaxes(keys, -1, -2) / math.sqrt(queries.shape[-1]), mask)
    n = min(weights.shape[-1], values.shape[-2])
    return weights[..., :n] @ values[..., :n, :], weights


@wrong("attention", "an empty query gets NaN")
def nan_rows(queries, keys, values, mask=None):
    scores = _checked(queries, keys, values)
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    with np.errstate(all="ignore"):
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ values, weights


@wrong("attention", "the weights are those before masking")
def unmasked_weights(queries, keys, values, mask=None):
    scores = _checked(queries, keys, values)
    return _softmax(scores, mask) @ values, _softmax(scores)


@wrong("attention", "the root of the number of keys")
def root_of_keys(queries, keys, values, mask=None):
    scores = _checked(queries, keys, values) * math.sqrt(queries.shape[-1] / keys.shape[-2])
    weights = _softmax(scores, mask)
    return weights @ values, weights


# ------------------------------------------------------------------------------------------------------------ masking


@right("masking", "causal_mask")
def by_indices(n):
    rows, columns = np.indices((n, n))
    return columns <= rows


@wrong("masking", "numbers, not booleans", "causal_mask")
def ones_and_zeros(n):
    return np.tril(np.ones((n, n)))


@wrong("masking", "the last position reads everything else but itself", "causal_mask")
def strict(n):
    return np.tril(np.ones((n, n), bool), -1)


@right("masking", "masked_softmax")
def helper(scores, mask):
    return _softmax(np.asarray(scores, dtype=float), mask)


@right("masking", "masked_softmax")
def by_lists(scores, mask):
    legal, out = np.broadcast_to(mask, scores.shape), np.zeros(scores.shape)
    for place in np.ndindex(scores.shape[:-1]):
        chosen = [j for j, allowed in enumerate(legal[place]) if allowed]
        if chosen:
            best = max(scores[place][j] for j in chosen)
            parts = [math.exp(scores[place][j] - best) for j in chosen]
            for j, part in zip(chosen, parts, strict=True):
                out[place][j] = part / math.fsum(parts)
    return out


@wrong("masking", "a warning at forbidden scores of 1e300", "masked_softmax")
def warns(scores, mask):
    top = np.max(scores, axis=-1, keepdims=True, where=np.broadcast_to(mask, scores.shape), initial=-1e300)
    e = np.exp(scores - top) * mask
    with np.errstate(all="ignore"):
        e = np.where(np.broadcast_to(mask, scores.shape), e, 0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@wrong("masking", "forbidden scores are 1e5 below the lowest, which a row of nothing else survives", "masked_softmax")
def far_below(scores, mask):
    low = np.where(mask, scores, scores.min() - 1e5)
    e = np.exp(low - low.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong("masking", "1e-12 in the divisor, and no shift by the legal maximum", "masked_softmax")
def guarded_division(scores, mask):
    e = np.exp(np.clip(scores, -700, 700)) * mask
    return e / (e.sum(axis=-1, keepdims=True) + 1e-12)


# --------------------------------------------------------------------------------------------------------------- hull


@right("hull", "leaves_hull")
def active_set(point, values, tolerance=1e-6):
    """Nonnegative least squares by Lawson and Hanson, with the sum as one more equation of great weight."""
    scale = max(np.abs(values).max(), 1e-300)
    a = np.vstack([(values / scale).T, 1e3 * np.ones(len(values))])
    b = np.append(point / scale, 1e3)
    x, passive = np.zeros(len(values)), np.zeros(len(values), bool)
    for _ in range(200):
        gradient = a.T @ (b - a @ x)
        if passive.all() or gradient[~passive].max() <= 1e-10:
            break
        passive[np.argmax(np.where(passive, -np.inf, gradient))] = True
        while True:
            z = np.zeros(len(values))
            z[passive] = np.linalg.lstsq(a[:, passive], b, rcond=None)[0]
            if z[passive].min() > 0:
                break
            blocking = passive & (z <= 0)
            step = (x[blocking] / (x[blocking] - z[blocking])).min()
            x = x + step * (z - x)
            passive &= x > 1e-14
            if not passive.any():
                break
        x = z
    return bool(np.linalg.norm(x @ values / max(x.sum(), 1e-300) - point) > 10 * tolerance * scale)


@wrong("hull", "rays in the plane of the first two coordinates only", "leaves_hull")
def first_two_coordinates(point, values, tolerance=1e-6):
    if values.shape[1] == 1:
        slack = tolerance * np.abs(values).max()
        return bool(point[0] < values.min() - slack or point[0] > values.max() + slack)
    angles = np.sort(np.arctan2(*(values[:, :2] - point[:2]).T[::-1]))
    gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    return bool(gaps.max() > np.pi + 1e-9) and np.abs(values - point).sum(axis=1).min() > 1e-9


@wrong("hull", "a hundredth of slack", "leaves_hull")
def roomy(point, values, tolerance=1e-6):
    return active_set(point, values, 1e-3)


@wrong("hull", "random averages hardly ever come within the tolerance", "leaves_hull")
def by_sampling(point, values, tolerance=1e-6):
    draws = np.random.default_rng(0).dirichlet(np.ones(len(values)), size=2000) @ values
    return bool(np.linalg.norm(draws - point, axis=1).min() > 1e-2 * np.abs(values).max())


@right("hull", "escaping_projection")
def far_shear():
    return [[1.0, 5.0], [0.0, 1.0]]


@right("hull", "escaping_projection")
def just_over_a_corner():
    # The average lands at (2, 3.11): 0.11 above the corner (2, 3), but less than 0.1 beyond the lines of the sides.
    return [[2.0 / 2.2, 0.0], [0.0, 3.11 / 2.2]]


@wrong("hull", "not invertible", "escaping_projection")
def flat():
    return [[10.0, 10.0], [10.0, 10.0]]


# ------------------------------------------------------------------------------------------------------------ heatmap


def _heatmap(weights, tokens, **settings):
    if np.shape(weights) != (len(tokens), len(tokens)):
        raise ValueError("sizes")
    figure = Figure()
    axes = figure.subplots()
    image = axes.imshow(weights, **{"cmap": "Purples", "vmin": 0, "vmax": 1, **settings})
    axes.set_xticks(range(len(tokens)), tokens)
    axes.set_yticks(range(len(tokens)), tokens)
    axes.set(xlabel="keys", ylabel="queries")
    figure.colorbar(image)
    return figure


@right("heatmap")
def purple(weights, tokens):
    return _heatmap(weights, tokens)


@right("heatmap")
def annotated(weights, tokens):
    figure = _heatmap(weights, tokens, cmap="magma_r")
    for i, j in np.ndindex(*np.shape(weights)):
        figure.axes[0].text(j, i, f"{weights[i, j]:.1f}")
    return figure


@wrong("heatmap", "cells rounded to one place")
def rounded_cells(weights, tokens):
    return _heatmap(np.round(weights, 1), tokens)


@wrong("heatmap", "smoothed")
def smoothed(weights, tokens):
    return _heatmap(weights, tokens, interpolation="bicubic")


@wrong("heatmap", "light where weights are large")
def hot(weights, tokens):
    return _heatmap(weights, tokens, cmap="hot")


@wrong("heatmap", "colours from 0 to the largest weight")
def adaptive(weights, tokens):
    return _heatmap(weights, tokens, vmax=float(np.max(weights)))


@wrong("heatmap", "no colour bar")
def bare(weights, tokens):
    if np.shape(weights) != (len(tokens), len(tokens)):
        raise ValueError("sizes")
    figure, axes = plt.subplots()
    axes.imshow(weights, cmap="Greys", vmin=0, vmax=1)
    axes.set_xticks(range(len(tokens)), tokens)
    axes.set_yticks(range(len(tokens)), tokens)
    axes.set(xlabel="keys", ylabel="queries")
    return figure


@wrong("heatmap", "a table of another size is drawn")
def any_size(weights, tokens):
    n = min(len(tokens), *np.shape(weights))
    return _heatmap(weights[:n, :n], tokens[:n])
