"""Right answers to problem set 1 in other styles. Each must earn all points of its question."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from autograder.variants import alternative

# ---------------------------------------------------------------------------------------------------------------- mix


@alternative("mix")
def mix_in_a_loop(weights, values):
    if len(weights) != len(values) or min(weights) < 0 or abs(sum(weights) - 1) > 1e-6:
        raise ValueError("weights must be one per value, not negative, and sum to one")
    total = 0.0
    for weight, value in zip(weights, values, strict=True):
        total = total + weight * value
    return total


@alternative("mix")
def mix_with_einsum(weights, values):
    if weights.shape[0] != values.shape[0]:
        raise ValueError("one weight per value")
    if not np.isclose(weights.sum(), 1, rtol=0, atol=1e-6) or np.any(weights < 0):
        raise ValueError("a budget of one, in shares that are not negative")
    return np.einsum("j,j...->...", weights, values)


@alternative("mix")
def mix_with_average(weights, values):
    if len(weights) != len(values) or np.min(weights) < 0 or abs(np.sum(weights) - 1) > 1e-6:
        raise ValueError("no budget of one")
    return np.average(values, axis=0, weights=weights)


# ------------------------------------------------------------------------------------------------------------ softmax


@alternative("softmax")
def softmax_by_logarithm(scores, axis=-1):
    top = np.max(scores, axis=axis, keepdims=True)
    log_total = top + np.log(np.sum(np.exp(scores - top), axis=axis, keepdims=True))
    return np.exp(scores - log_total)


@alternative("softmax")
def softmax_line_by_line(scores, axis=-1):
    def of_line(line):
        growth = [np.exp(score - max(line)) for score in line]
        return np.array(growth) / sum(growth)

    return np.apply_along_axis(of_line, axis, np.asarray(scores, dtype=float))


@alternative("softmax")
def softmax_with_the_axis_moved(scores, axis=-1):
    moved = np.moveaxis(np.array(scores, dtype=np.float64), axis, 0)
    moved = np.exp(moved - moved.max(axis=0))
    return np.moveaxis(moved / moved.sum(axis=0), 0, axis)


# ------------------------------------------------------------------------------------------------------ scaled_scores


@alternative("scaled_scores")
def scores_with_einsum(queries, keys):
    if queries.shape[-1] != keys.shape[-1]:  # einsum would stretch a width of one
        raise ValueError("widths differ")
    return np.einsum("...md,...nd->...mn", queries, keys) * queries.shape[-1] ** -0.5


@alternative("scaled_scores")
def scores_in_loops(queries, keys):
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError("widths differ")
    *lead, m, d = queries.shape
    n = keys.shape[-2]
    scores = np.zeros((*lead, m, n))
    for index in np.ndindex(*lead):
        for i in range(m):
            for j in range(n):
                scores[(*index, i, j)] = np.dot(queries[(*index, i)], keys[(*index, j)]) / d**0.5
    return scores


@alternative("scaled_scores")
def scores_with_scaled_queries(queries, keys):
    return np.matmul(queries / np.sqrt(keys.shape[-1]), np.moveaxis(keys, -1, -2))


# ---------------------------------------------------------------------------------------------------------- attention


@alternative("attention")
def attention_with_added_mask(queries, keys, values, mask=None):
    if queries.shape[-1] != keys.shape[-1] or keys.shape[-2] != values.shape[-2]:  # einsum would stretch a size of one
        raise ValueError("sizes differ")
    scores = np.einsum("...id,...jd->...ij", queries, keys) / np.sqrt(queries.shape[-1])
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -np.inf)
    top = np.max(scores, axis=-1, keepdims=True)
    growth = np.exp(scores - np.where(top == -np.inf, 0, top))
    total = growth.sum(axis=-1, keepdims=True)
    weights = np.divide(growth, total, out=np.zeros_like(growth), where=total > 0)
    return np.einsum("...ij,...jv->...iv", weights, values), weights


@alternative("attention")
def attention_query_by_query(queries, keys, values, mask=None):
    if keys.shape[-2] != values.shape[-2] or queries.shape[-1] != keys.shape[-1]:
        raise ValueError("sizes do not fit")
    lead, m, n = queries.shape[:-2], queries.shape[-2], keys.shape[-2]
    allowed = np.ones((*lead, m, n), dtype=bool) if mask is None else np.broadcast_to(mask, (*lead, m, n))
    weights, output = np.zeros((*lead, m, n)), np.zeros((*lead, m, values.shape[-1]))
    for index in np.ndindex(*lead, m):
        batch, seen = index[:-1], np.flatnonzero(allowed[index])
        if len(seen) == 0:
            continue
        scores = [float(queries[index] @ keys[(*batch, j)]) / queries.shape[-1] ** 0.5 for j in seen]
        growth = [np.exp(score - max(scores)) for score in scores]
        for j, share in zip(seen, growth, strict=True):
            weights[(*index, j)] = share / sum(growth)
            output[index] += weights[(*index, j)] * values[(*batch, j)]
    return [output, weights]


# ------------------------------------------------------------------------------------------------------------ masking


@alternative("masking", replaces="causal_mask")
def mask_by_comparing_positions(n):
    positions = np.arange(n)
    return positions[:, None] >= positions


@alternative("masking", replaces="causal_mask")
def mask_by_triangle(n):
    return ~np.triu(np.ones((n, n)), k=1).astype(bool)


@alternative("masking", replaces="masked_softmax")
def masking_row_by_row(scores, mask):
    allowed = np.broadcast_to(mask, scores.shape)
    weights = np.zeros(scores.shape)
    for index in np.ndindex(*scores.shape[:-1]):
        legal = scores[index][allowed[index]]
        if legal.size:
            growth = np.exp(legal - legal.max())
            weights[index][allowed[index]] = growth / growth.sum()
    return weights


@alternative("masking", replaces="masked_softmax")
def masking_with_where(scores, mask):
    top = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-np.inf)
    growth = np.exp(scores - np.nan_to_num(top, neginf=0.0), where=mask, out=np.zeros(scores.shape))
    total = growth.sum(axis=-1, keepdims=True)
    return np.divide(growth, total, where=total != 0, out=growth)


@alternative("masking", replaces="masked_softmax")
def masking_with_masked_arrays(scores, mask):
    # What is masked is computed all the same, so it must be harmless.
    legal = np.ma.array(np.where(mask, scores, 0.0), mask=~np.broadcast_to(mask, scores.shape))
    growth = np.ma.exp(legal - legal.max(axis=-1, keepdims=True))
    return np.asarray((growth / growth.sum(axis=-1, keepdims=True)).filled(0.0))


# --------------------------------------------------------------------------------------------------------------- hull


@alternative("hull")
def hull_by_trying_all_simplices(point, values, tolerance=1e-6):
    # A point of the hull is a mixture of at most d + 1 affinely independent values, whose weights are then unique.
    n, d = values.shape
    scale = np.abs(values).max()
    for size in range(1, min(n, d + 1) + 1):
        for chosen in itertools.combinations(range(n), size):
            corners = values[list(chosen)]
            sides = (corners[1:] - corners[0]).T
            shares = np.linalg.lstsq(sides, point - corners[0], rcond=None)[0] if size > 1 else np.zeros(0)
            weights = np.append(1 - shares.sum(), shares)
            if weights.min() >= -1e-9 and np.linalg.norm(weights @ corners - point) <= tolerance * scale:
                return False
    return True


@alternative("hull")
def hull_by_frank_wolfe_with_away_steps(point, values, tolerance=1e-6):
    weights = np.zeros(len(values))
    weights[0] = 1.0
    limit = tolerance * np.abs(values).max()
    for _ in range(5000):
        gap = weights @ values - point
        if np.linalg.norm(gap) <= limit:
            return False
        slopes = values @ gap
        toward, away = slopes.argmin(), np.where(weights > 0, slopes, -np.inf).argmax()
        # The plane through the best value separates the point from all values.
        if slopes[toward] > point @ gap + limit * np.linalg.norm(gap) / 2:
            return True
        change = -weights
        change[toward] += 1
        longest = 1.0
        if slopes[away] - weights @ slopes > weights @ slopes - slopes[toward]:
            change = weights.copy()
            change[away] -= 1
            longest = weights[away] / (1 - weights[away]) if weights[away] < 1 else 1e9
        move = change @ values
        weights = weights + np.clip(-(gap @ move) / max(move @ move, 1e-300), 0, longest) * change
        weights[weights < 1e-14] = 0
        weights /= weights.sum()
    return False  # slow steps, but no plane in sight that separates them


@alternative("hull")
def hull_by_coordinate_pairs(point, values, tolerance=1e-6):
    # Move weight from one value to another, always the pair that shortens the gap the most at first order.
    weights = np.full(len(values), 1 / len(values))
    limit = tolerance * np.abs(values).max()
    for _ in range(100_000):
        gap = weights @ values - point
        if np.linalg.norm(gap) <= limit:
            break
        slopes = values @ gap
        best, worst = slopes.argmin(), np.where(weights > 0, slopes, -np.inf).argmax()
        move = values[best] - values[worst]
        if slopes[worst] - slopes[best] <= 1e-3 * (gap @ gap):
            break
        step = min(-(gap @ move) / (move @ move), weights[worst])
        weights[best] += step
        weights[worst] -= step
    return np.linalg.norm(weights @ values - point) > limit


@alternative("hull", replaces="escaping_projection")
def projection_over_a_corner():
    # Far enough from the corner (2, 3), though less than 0.1 beyond the line of either side.
    return [[2.0 / 2.2, 0.0], [0.0, 3.11 / 2.2]]


@alternative("hull", replaces="escaping_projection")
def projection_that_stretches():
    return [[3, 0], [0, 3]]


@alternative("hull", replaces="escaping_projection")
def projection_that_turns():
    return np.array([[0.0, 1.0], [-1.0, 0.0]])


# ------------------------------------------------------------------------------------------------------------ heatmap


@alternative("heatmap")
def heatmap_with_pcolormesh(weights, tokens):
    n = len(tokens)
    if np.shape(weights) != (n, n):
        raise ValueError("one row and one column per word")
    fig = Figure()
    ax = fig.add_subplot()
    mesh = ax.pcolormesh(weights, cmap="Blues", vmin=0, vmax=1, edgecolors="white")
    ax.invert_yaxis()
    ax.set_xticks(np.arange(n) + 0.5)
    ax.set_xticklabels(tokens)
    ax.set_yticks(np.arange(n) + 0.5)
    ax.set_yticklabels(tokens)
    ax.set(xlabel="read", ylabel="reads")
    fig.colorbar(mesh, ax=ax)
    return fig


@alternative("heatmap")
def heatmap_with_matshow(weights, tokens):
    rows, columns = weights.shape
    if not rows == columns == len(tokens):
        raise ValueError(f"{len(tokens)} words for a table of {rows} x {columns}")
    fig, ax = plt.subplots(figsize=(6, 6))
    shown = ax.matshow(weights, cmap=plt.cm.viridis_r, vmin=0, vmax=1)
    ax.set_xticks(list(range(rows)))
    ax.set_xticklabels(tokens, rotation=90)
    ax.set_yticks(list(range(rows)))
    ax.set_yticklabels(tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    ax.set_title("attention")
    plt.colorbar(shown)
    return fig


@alternative("heatmap")
def heatmap_from_the_bottom_with_flipped_data(weights, tokens):
    n = len(tokens)
    if weights.shape != (n, n):
        raise ValueError("wrong size")
    fig, ax = plt.subplots()
    drawn = ax.imshow(weights[::-1], origin="lower", cmap="binary", clim=(0, 1), extent=(0, n, 0, n))
    ax.set_xticks([i + 0.5 for i in range(n)], labels=tokens)
    ax.set_yticks([i + 0.5 for i in range(n)], labels=tokens[::-1])
    ax.set_xlabel("is read")
    ax.set_ylabel("reads")
    for i in range(n):
        for j in range(n):
            ax.text(j + 0.5, n - i - 0.5, f"{weights[i, j]:.2f}", ha="center", va="center", fontsize=6)
    fig.colorbar(drawn, ax=ax)
    return fig


@alternative("heatmap")
def heatmap_with_rounded_numbers_in_the_cells(weights, tokens):
    if np.shape(weights) != (len(tokens), len(tokens)):
        raise ValueError("wrong size")
    fig, ax = plt.subplots()
    shown = ax.imshow(weights, cmap="inferno_r", vmin=0, vmax=1, interpolation="nearest")
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set(xlabel="keys", ylabel="queries")
    for row, column in np.ndindex(*np.shape(weights)):
        ax.text(column, row, f"{weights[row, column]:.1f}", ha="center", va="center")
    fig.colorbar(shown)
    return fig


# ------------------------------------------------------------------------------------------------------------ reading


@alternative("reading", replaces="swapped")
def swapped_in_capitals():
    return "A"


@alternative("reading", replaces="cell")
def cell_with_blanks():
    return " b "
