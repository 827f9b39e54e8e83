"""Wrong answers that people really give to problem set 1. Each must lose points on its question, and get its hint."""

import matplotlib.pyplot as plt
import numpy as np

from autograder.variants import mutant
from solutions.ps1_weighted_average import attention as right_attention
from solutions.ps1_weighted_average import causal_mask as right_causal_mask
from solutions.ps1_weighted_average import heatmap as right_heatmap
from solutions.ps1_weighted_average import leaves_hull as right_leaves_hull
from solutions.ps1_weighted_average import masked_softmax as right_masked_softmax
from solutions.ps1_weighted_average import mix as right_mix
from solutions.ps1_weighted_average import scaled_scores as right_scaled_scores
from solutions.ps1_weighted_average import softmax as right_softmax

# ---------------------------------------------------------------------------------------------------------------- mix


@mutant("mix", hint="You pick the item with the largest weight. An average takes a share of every item.", frequent=True)
def mix_picks_the_largest(weights, values):
    right_mix(weights, values)
    return values[np.argmax(weights)]


@mutant(
    "mix",
    hint="You divide by the number of items once more; the weights already sum to one.",
    museum=(
        "Adding up the parts and then dividing by the number of items. It looks like an average, but the weights "
        "already sum to one, so the output is too small by a factor of n. You would notice with three equal values: "
        "their blend must be that value, whatever the weights."
    ),
)
def mix_divides_by_n(weights, values):
    return right_mix(weights, values) / len(weights)


@mutant("mix", hint="The weights meet the values in the wrong order: weight j belongs to value j.")
def mix_reverses_the_weights(weights, values):
    return right_mix(weights[::-1], values)


@mutant("mix", hint="You take a budget that is not spent exactly. The docstring says when to raise ValueError.")
def mix_accepts_every_budget(weights, values):
    return weights @ values


@mutant("mix", hint="Your tolerance is too wide: a sum that misses one by more than 1e-6 must be refused.")
def mix_with_a_wide_tolerance(weights, values):
    if len(weights) != len(values) or (weights < 0).any() or abs(weights.sum() - 1) > 1e-2:
        raise ValueError("no budget")
    return weights @ values


@mutant("mix", hint="Your tolerance is too narrow: a sum may miss one by 1e-6.")
def mix_with_a_narrow_tolerance(weights, values):
    if len(weights) != len(values) or (weights < 0).any() or abs(weights.sum() - 1) > 1e-10:
        raise ValueError("no budget")
    return weights @ values


@mutant("mix", hint="You refuse vectors. Each item may offer a whole vector: values of shape (n, d).", frequent=True)
def mix_refuses_vectors(weights, values):
    if values.ndim != 1:
        raise ValueError("one number per item")
    return right_mix(weights, values)


@mutant("mix", hint="You return 25 and 15 because the example says so. Other weights and values give other blends.")
def mix_knows_the_example(weights, values):
    right_mix(weights, values)
    return 25.0 if weights[-1] > weights[0] else 15.0


@mutant(
    "mix",
    hint="You mend a wrong budget by normalising it. A wrong budget is a mistake of the caller: raise ValueError.",
)
def mix_normalises_the_budget(weights, values):
    if len(weights) != len(values):
        raise ValueError("sizes differ")
    return weights @ values / weights.sum()


@mutant("mix", hint="Weights sum to one up to rounding only: 0.1 ten times is 0.9999999999999999. Allow 1e-6.")
def mix_wants_exactly_one(weights, values):
    if weights.sum() != 1.0:
        raise ValueError("the weights must sum to one")
    return right_mix(weights, values)


@mutant("mix", hint="You multiply columns where rows are meant: with vectors, weight j multiplies the whole row values[j].")
def mix_weights_columns(weights, values):
    right_mix(weights, values)
    return (weights * values).sum(axis=0) if values.ndim == 2 else weights @ values


@mutant("mix", hint="You sum over every axis; with vectors, the sum runs over the items and the coordinates stay.")
def mix_sums_everything(weights, values):
    right_mix(weights, values)
    return (weights.reshape(-1, *[1] * (values.ndim - 1)) * values).sum()


@mutant("mix", hint="You compute in single precision (float32). Keep float64.")
def mix_in_single_precision(weights, values):
    right_mix(weights, values)
    return weights.astype(np.float32) @ values.astype(np.float32)


@mutant("mix", hint="One weight is stretched over all values (broadcasting). Different numbers are a mistake: ValueError.")
def mix_that_broadcasts(weights, values):
    if (weights < 0).any() or abs(weights.sum() - 1) > 1e-6:
        raise ValueError("no budget")
    return (weights.reshape(-1, *[1] * (values.ndim - 1)) * values).sum(axis=0)


@mutant("mix", hint="You take negative weights as long as the sum is one. A share of a budget is never negative.")
def mix_with_debts(weights, values):
    if len(weights) != len(values) or abs(weights.sum() - 1) > 1e-6:
        raise ValueError("no budget")
    return weights @ values


@mutant("mix", hint="Values of shape (n,) are blended into one number, not into an array that holds one.")
def mix_keeps_an_axis(weights, values):
    return np.atleast_1d(right_mix(weights, values))


# ------------------------------------------------------------------------------------------------------------ softmax


@mutant(
    "softmax",
    hint="exp overflows at large scores. Subtract the largest score of each line first.",
    museum=(
        "Exponentiating the scores as they come. Every small example is right. You would notice at a score of 1000, "
        "where the exponential is infinite and the weights are NaN, with a warning that is easy to overlook."
    ),
)
def softmax_without_shift(scores, axis=-1):
    with np.errstate(all="ignore"):
        growth = np.exp(scores)
        return growth / growth.sum(axis=axis, keepdims=True)


@mutant("softmax", hint="You may be normalising along the wrong axis: the sum must run along `axis`.")
def softmax_always_along_the_last_axis(scores, axis=-1):
    return right_softmax(scores, axis=-1)


@mutant(
    "softmax",
    hint="You may be normalising along the wrong axis: without `axis`, the sum runs along the last one.",
    frequent=True,
)
def softmax_along_the_first_axis(scores, axis=0):
    return right_softmax(scores, axis=axis)


@mutant("softmax", hint="You divide by the sum over the whole array. Each line along `axis` has a budget of its own.")
def softmax_over_everything(scores, axis=-1):
    growth = np.exp(scores - scores.max())
    return growth / growth.sum()


@mutant(
    "softmax",
    hint="You shift all lines by the largest score of the whole array, so lines far below it vanish.",
    frequent=True,
)
def softmax_with_one_shift_for_all(scores, axis=-1):
    with np.errstate(all="ignore"):
        growth = np.exp(scores - scores.max())
        return growth / growth.sum(axis=axis, keepdims=True)


@mutant("softmax", hint="Clipping the scores avoids the overflow but changes the weights. A shift does not.", frequent=True)
def softmax_with_clipped_scores(scores, axis=-1):
    growth = np.exp(np.clip(scores, -500, 500))
    return growth / growth.sum(axis=axis, keepdims=True)


@mutant("softmax", hint="A small number added to the sum makes the weights sum to less than one. No line needs it.")
def softmax_with_epsilon(scores, axis=-1):
    growth = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return growth / (growth.sum(axis=axis, keepdims=True) + 1e-8)


@mutant("softmax", hint="You divide the scores by their sum. Softmax first takes exp of each score.")
def softmax_of_shares(scores, axis=-1):
    with np.errstate(all="ignore"):
        return scores / scores.sum(axis=axis, keepdims=True)


@mutant("softmax", hint="You return the logarithm of the weights.")
def softmax_returns_logarithms(scores, axis=-1):
    with np.errstate(all="ignore"):
        return np.log(right_softmax(scores, axis))


@mutant("softmax", hint="You shift in place, so the scores of the caller change. Make a new array.")
def softmax_in_place(scores, axis=-1):
    scores -= scores.max(axis=axis, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=axis, keepdims=True)
    return scores


@mutant("softmax", hint="You compute in single precision (float32). Keep float64.")
def softmax_in_single_precision(scores, axis=-1):
    return right_softmax(scores.astype(np.float32), axis)


@mutant("softmax", hint="You lose the summed axis, so the division lines up along another one. See `keepdims`.")
def softmax_without_keepdims(scores, axis=-1):
    growth = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return growth / growth.sum(axis=axis)


@mutant("softmax", hint="Your array has the type of the scores. Whole scores then make weights of 0 and 1: use float64.")
def softmax_in_the_type_of_the_scores(scores, axis=-1):
    weights = np.zeros_like(scores)
    weights[...] = right_softmax(scores, axis)
    return weights


@mutant("softmax", hint="You drop the sign of `axis`. A negative axis counts from the end: -2 is the last but one.")
def softmax_without_the_sign_of_the_axis(scores, axis=-1):
    return right_softmax(scores, axis if axis == -1 else abs(axis))


# ------------------------------------------------------------------------------------------------------ scaled_scores


@mutant("scaled_scores", hint="The division by the square root of the width is missing.", frequent=True)
def scores_without_scaling(queries, keys):
    return queries @ np.swapaxes(keys, -1, -2)


@mutant(
    "scaled_scores",
    hint="You divide by d. The standard deviation grows like its square root.",
    museum=(
        "Dividing by the width itself, not by its square root. The shapes are right and nothing warns. You would notice "
        "in the payoff drawing: the largest of sixteen weights falls towards an even split as the width grows, where it "
        "should stay flat."
    ),
)
def scores_divided_by_d(queries, keys):
    return queries @ np.swapaxes(keys, -1, -2) / queries.shape[-1]


@mutant("scaled_scores", hint="You take the root of the number of keys. The divisor belongs to the width d of a query.")
def scores_divided_by_root_of_keys(queries, keys):
    return queries @ np.swapaxes(keys, -1, -2) / np.sqrt(keys.shape[-2])


@mutant("scaled_scores", hint="You take the root of the first size. In a batch that is not the width: take the last one.")
def scores_divided_by_root_of_first_size(queries, keys):
    return queries @ np.swapaxes(keys, -1, -2) / np.sqrt(queries.shape[0])


@mutant("scaled_scores", hint="Rows and columns are exchanged: one row per query, one column per key.")
def scores_transposed(queries, keys):
    return np.swapaxes(right_scaled_scores(queries, keys), -1, -2)


@mutant("scaled_scores", hint="`.T` turns all axes around. In a batch, swap only the last two.", frequent=True)
def scores_with_full_transpose(queries, keys):
    return queries @ keys.T / np.sqrt(queries.shape[-1])


@mutant("scaled_scores", hint="You compare directions (the cosine). Lengths count too: take the plain dot product.")
def scores_of_directions(queries, keys):
    lengths = np.linalg.norm(queries, axis=-1)[..., :, None] * np.linalg.norm(keys, axis=-1)[..., None, :]
    return queries @ np.swapaxes(keys, -1, -2) / lengths


@mutant("scaled_scores", hint="You return weights. This question asks for the scores before the softmax.")
def scores_after_softmax(queries, keys):
    return right_softmax(right_scaled_scores(queries, keys))


@mutant("scaled_scores", hint="You divide by 8, the root of 64. The width comes from the inputs.")
def scores_divided_by_eight(queries, keys):
    return queries @ np.swapaxes(keys, -1, -2) / 8


@mutant("scaled_scores", hint="You compute in single precision (float32). Keep float64.")
def scores_in_single_precision(queries, keys):
    return right_scaled_scores(queries.astype(np.float32), keys.astype(np.float32))


@mutant(
    "scaled_scores",
    hint="You cut the longer of query and key to the shorter. Different widths are a mistake: ValueError.",
)
def scores_of_the_common_width(queries, keys):
    d = min(queries.shape[-1], keys.shape[-1])
    return right_scaled_scores(queries[..., :d], keys[..., :d])


@mutant(
    "scaled_scores", hint="A width of one is stretched to fit (broadcasting). Different widths are a mistake: ValueError."
)
def scores_that_broadcast(queries, keys):
    products = queries[..., :, None, :] * keys[..., None, :, :]
    return products.sum(axis=-1) / np.sqrt(max(queries.shape[-1], keys.shape[-1]))


# ---------------------------------------------------------------------------------------------------------- attention


@mutant(
    "attention", hint="In a batch, `.T` and a plain transpose mix the members. Swap only the last two axes.", frequent=True
)
def attention_for_one_sequence_only(queries, keys, values, mask=None):
    scores = queries @ keys.T / np.sqrt(queries.shape[-1])
    weights = right_softmax(scores) if mask is None else right_masked_softmax(scores, mask)
    return weights @ values, weights


@mutant("attention", hint="You return (weights, output). The docstring asks for (output, weights).")
def attention_in_the_other_order(queries, keys, values, mask=None):
    output, weights = right_attention(queries, keys, values, mask)
    return weights, output


@mutant("attention", hint="The scores are not divided by the square root of the width.", frequent=True)
def attention_without_scaling(queries, keys, values, mask=None):
    return right_attention(queries * np.sqrt(queries.shape[-1]), keys, values, mask)


@mutant("attention", hint="You scale by the width of the values. The divisor belongs to the width of queries and keys.")
def attention_scaled_by_value_width(queries, keys, values, mask=None):
    return right_attention(queries * np.sqrt(queries.shape[-1] / values.shape[-1]), keys, values, mask)


@mutant(
    "attention",
    hint="Your weights sum to one over the queries. Each query spends a budget of its own, over the keys.",
    museum=(
        "A softmax along the queries. With as many queries as keys even the shapes fit. You would notice by adding up: "
        "every row of the weights must sum to one, and here every column does."
    ),
)
def attention_normalised_over_queries(queries, keys, values, mask=None):
    scores = right_scaled_scores(queries, keys)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(all="ignore"):
        weights = right_softmax(scores, axis=-2)
    return weights @ values, weights


@mutant("attention", hint="The mask is upside down: True means that the item may be read.")
def attention_with_inverted_mask(queries, keys, values, mask=None):
    return right_attention(queries, keys, values, None if mask is None else ~mask)


@mutant("attention", hint="You set weights to zero after the softmax, so the rest no longer sums to one.", frequent=True)
def attention_masked_after_softmax(queries, keys, values, mask=None):
    _, weights = right_attention(queries, keys, values)
    if mask is not None:
        weights = weights * mask
    return weights @ values, weights


@mutant("attention", hint="The mask argument is not used.", frequent=True)
def attention_ignores_the_mask(queries, keys, values, mask=None):
    return right_attention(queries, keys, values)


@mutant(
    "attention", hint="A mask may broadcast: one row for all queries, or one table for a batch. You refuse all but (m, n)."
)
def attention_with_full_masks_only(queries, keys, values, mask=None):
    if mask is not None and mask.shape != (queries.shape[-2], keys.shape[-2]):
        raise ValueError("the mask has the wrong shape")
    return right_attention(queries, keys, values, mask)


@mutant("attention", hint="A single value is stretched to serve all keys (broadcasting). Raise ValueError.")
def attention_that_broadcasts_values(queries, keys, values, mask=None):
    if values.shape[-2] == 1:
        values = np.repeat(values, keys.shape[-2], axis=-2)
    return right_attention(queries, keys, values, mask)


@mutant("attention", hint="You write into the caller's mask. Make a new array.")
def attention_that_writes_into_the_mask(queries, keys, values, mask=None):
    output, weights = right_attention(queries, keys, values, mask)
    if mask is not None:
        mask[...] = True
    return output, weights


@mutant("attention", hint="A query that may read nothing gives NaN: you divide zero by zero there.")
def attention_nan_for_empty_rows(queries, keys, values, mask=None):
    scores = right_scaled_scores(queries, keys)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(all="ignore"):
        weights = right_softmax(scores)
    return weights @ values, weights


@mutant("attention", hint="You mix the keys. The keys decide the weights, the values are what is mixed.")
def attention_mixes_the_keys(queries, keys, values, mask=None):
    _, weights = right_attention(queries, keys, values, mask)
    return weights @ keys, weights


@mutant("attention", hint="You compare the keys with themselves. Each query is compared with each key.")
def attention_without_queries(queries, keys, values, mask=None):
    return right_attention(keys, keys, values, mask)


@mutant("attention", hint="A causal mask is built in. Without a mask, every query reads every item.")
def attention_always_causal(queries, keys, values, mask=None):
    causal = np.tri(queries.shape[-2], keys.shape[-2], dtype=bool)
    return right_attention(queries, keys, values, causal if mask is None else mask & causal)


@mutant("attention", hint="You return the scores. The second result is the weights, after the softmax.")
def attention_returns_scores(queries, keys, values, mask=None):
    output, _ = right_attention(queries, keys, values, mask)
    return output, right_scaled_scores(queries, keys)


@mutant("attention", hint="You compute in single precision (float32). Keep float64.")
def attention_in_single_precision(queries, keys, values, mask=None):
    single = [array.astype(np.float32) for array in (queries, keys, values)]
    return right_attention(*single, mask)


@mutant("attention", hint="You cut the longer of query and key to the shorter. Different widths are a mistake: ValueError.")
def attention_of_the_common_width(queries, keys, values, mask=None):
    width = min(queries.shape[-1], keys.shape[-1])
    return right_attention(queries[..., :width], keys[..., :width], values, mask)


@mutant("attention", hint="A query that may read nothing reads everything, evenly. It gets zeros: nothing was read.")
def attention_spreads_empty_rows(queries, keys, values, mask=None):
    weights = right_attention(queries, keys, values, mask)[1]
    weights = np.where(weights.any(axis=-1, keepdims=True), weights, 1 / weights.shape[-1])
    return weights @ values, weights


# ------------------------------------------------------------------------------------------------------------ masking


@mutant(
    "masking",
    replaces="causal_mask",
    hint="The mask is upside down: it allows the future and forbids the past.",
    frequent=True,
)
def mask_of_the_future(n):
    return ~right_causal_mask(n)


@mutant("masking", replaces="causal_mask", hint="A position may also read itself: the diagonal is True.")
def mask_without_diagonal(n):
    return np.tri(n, k=-1, dtype=bool)


@mutant("masking", replaces="causal_mask", hint="Rows and columns are exchanged: row i says what position i may read.")
def mask_transposed(n):
    return right_causal_mask(n).T


@mutant("masking", replaces="causal_mask", hint="The mask must hold booleans, not numbers to add to the scores.")
def mask_of_numbers(n):
    return np.where(right_causal_mask(n), 0.0, -np.inf)


@mutant("masking", replaces="masked_softmax", hint="The mask is upside down: True means that the item may be read.")
def masking_inverted(scores, mask):
    return right_masked_softmax(scores, ~np.asarray(mask))


@mutant(
    "masking",
    replaces="masked_softmax",
    hint="After setting weights to zero, the rest must share the whole budget.",
    museum=(
        "Taking the softmax of everything and then setting forbidden weights to zero. Forbidden items do weigh nothing, "
        "and so the mask seems to work. You would notice that the rows no longer sum to one, which pulls every output "
        "towards zero."
    ),
)
def masking_without_renormalising(scores, mask):
    return right_softmax(scores) * mask


@mutant(
    "masking",
    replaces="masked_softmax",
    hint="A large negative score is not forbidden: a row of nothing else still gets weights.",
)
def masking_with_minus_one_billion(scores, mask):
    return right_softmax(scores + np.where(mask, 0.0, -1e9))


@mutant("masking", replaces="masked_softmax", hint="-1e4 is a score that legal items may have. A forbidden score is -inf.")
def masking_with_a_legal_score(scores, mask):
    legal = np.broadcast_to(mask, scores.shape)
    weights = right_softmax(np.where(legal, scores, -1e4))
    return np.where(legal.any(axis=-1, keepdims=True), weights, 0.0)


@mutant(
    "masking",
    replaces="masked_softmax",
    hint="A forbidden score enters the exponential, which overflows with a warning. Keep it out.",
)
def masking_with_a_warning(scores, mask):
    legal = np.where(mask, scores, -np.inf)
    top = legal.max(axis=-1, keepdims=True, initial=np.finfo(float).min)
    growth = np.where(mask, np.exp(scores - top), 0.0)
    return growth / np.maximum(growth.sum(axis=-1, keepdims=True), 1.0)


@mutant("masking", replaces="masked_softmax", hint="A score of -100 still has some weight. Forbidden items weigh exactly 0.")
def masking_with_minus_hundred(scores, mask):
    return right_softmax(np.where(mask, scores, -100.0))


@mutant("masking", replaces="masked_softmax", hint="You set forbidden scores to zero, but a score of zero has weight.")
def masking_with_score_zero(scores, mask):
    return right_softmax(scores * mask)


@mutant(
    "masking", replaces="masked_softmax", hint="A row with no legal item gives NaN: zero divided by zero.", frequent=True
)
def masking_nan_for_empty_rows(scores, mask):
    with np.errstate(all="ignore"):
        return right_softmax(np.where(mask, scores, -np.inf))


@mutant(
    "masking",
    replaces="masked_softmax",
    hint="With -1e9 for -inf, a row with no legal item splits its budget evenly. Nothing may be read: its weights are 0.",
)
def masking_even_for_empty_rows(scores, mask):
    legal = np.broadcast_to(mask, scores.shape)
    empty = ~legal.any(axis=-1, keepdims=True)
    return np.where(empty, 1 / scores.shape[-1], right_masked_softmax(scores, mask))


@mutant(
    "masking",
    replaces="masked_softmax",
    hint="You shift by the largest score of all, forbidden ones included.",
    frequent=True,
)
def masking_shifted_by_forbidden_scores(scores, mask):
    with np.errstate(all="ignore"):
        growth = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
        total = growth.sum(axis=-1, keepdims=True)
        return np.where(np.broadcast_to(mask, scores.shape).any(axis=-1, keepdims=True), growth / total, 0.0)


@mutant("masking", replaces="masked_softmax", hint="A small number in the divisor makes the weights sum to less than one.")
def masking_with_epsilon(scores, mask):
    legal = np.where(mask, scores, -np.inf)
    top = legal.max(axis=-1, keepdims=True)
    growth = np.exp(legal - np.where(np.isfinite(top), top, 0.0))
    return growth / (growth.sum(axis=-1, keepdims=True) + 1e-9)


@mutant("masking", replaces="masked_softmax", hint="exp overflows at large legal scores. Shift by the largest legal one.")
def masking_without_shift(scores, mask):
    with np.errstate(all="ignore"):
        growth = np.where(mask, np.exp(scores), 0.0)
        total = growth.sum(axis=-1, keepdims=True)
        return np.where(np.broadcast_to(mask, scores.shape).any(axis=-1, keepdims=True), growth / total, 0.0)


@mutant("masking", replaces="masked_softmax", hint="You write into the scores of the caller. Make a new array.")
def masking_in_place(scores, mask):
    weights = right_masked_softmax(scores, mask)
    scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    return weights


@mutant(
    "masking",
    replaces="masked_softmax",
    hint="You refuse masks of fewer axes than the scores. A mask may broadcast: one row for all, one table for a batch.",
)
def masking_with_full_masks_only(scores, mask):
    if mask.shape != scores.shape:
        raise ValueError("one entry per score")
    return right_masked_softmax(scores, mask)


# --------------------------------------------------------------------------------------------------------------- hull


@mutant(
    "hull",
    hint="You compare coordinate by coordinate with the smallest and largest value. The hull has slanted sides.",
    museum=(
        "Comparing each coordinate with the smallest and the largest among the values. It is right for most points one "
        "tries. You would notice in the payoff drawing: the grey region is a rectangle, and its corners do not belong "
        "to the triangle."
    ),
)
def hull_by_bounding_box(point, values, tolerance=1e-6):
    slack = tolerance * np.abs(values).max()
    return bool((point < values.min(axis=0) - slack).any() or (point > values.max(axis=0) + slack).any())


@mutant("hull", hint="You ask for weights that sum to one, but they must not be negative either.")
def hull_of_any_weights_that_sum_to_one(point, values, tolerance=1e-6):
    equations = np.vstack([values.T, np.ones(len(values))])
    weights = np.linalg.lstsq(equations, np.append(point, 1.0), rcond=None)[0]
    return bool(np.linalg.norm(weights @ values - point) > tolerance * np.abs(values).max())


@mutant("hull", hint="You ask for weights that are not negative, but they must sum to one as well.")
def hull_of_any_nonnegative_weights(point, values, tolerance=1e-6):
    return right_leaves_hull(point, np.vstack([np.zeros_like(point), values, 1e3 * values]), tolerance / 1e3)


@mutant("hull", hint="You look at one solution for the weights. Another one may be free of negative weights.")
def hull_by_the_smallest_solution(point, values, tolerance=1e-6):
    equations = np.vstack([values.T, np.ones(len(values))])
    weights = np.linalg.lstsq(equations, np.append(point, 1.0), rcond=None)[0]
    far = np.linalg.norm(weights @ values - point) > tolerance * np.abs(values).max()
    return bool(far or (weights < -1e-9).any())


@mutant("hull", hint="You compare the length of the point with the longest value. A short point may still be outside.")
def hull_by_length(point, values, tolerance=1e-6):
    return bool(np.linalg.norm(point) > np.linalg.norm(values, axis=1).max() * (1 + tolerance))


@mutant("hull", hint="True and False are exchanged: the question is whether the point leaves the hull.")
def hull_answers_inside(point, values, tolerance=1e-6):
    return not right_leaves_hull(point, values, tolerance)


@mutant("hull", hint="You look for the point among the values. Averages of them are inside too.")
def hull_of_the_values_alone(point, values, tolerance=1e-6):
    return bool(np.linalg.norm(values - point, axis=1).min() > tolerance * np.abs(values).max())


@mutant("hull", hint="You leave no room for rounding, so points on the boundary fall to either side.", frequent=True)
def hull_without_tolerance(point, values, tolerance=1e-6):
    return right_leaves_hull(point, values, 0.0)


@mutant("hull", hint="Your tolerance is too wide: a point outside by 1e-3 of the largest coordinate is outside.")
def hull_with_a_wide_tolerance(point, values, tolerance=1e-6):
    return right_leaves_hull(point, values, 4e-3)


@mutant("hull", hint="You compare with `tolerance` as it is. It is relative to the largest coordinate of the values.")
def hull_with_an_absolute_tolerance(point, values, tolerance=1e-6):
    return right_leaves_hull(point, values, tolerance / max(np.abs(values).max(), 1e-300))


@mutant(
    "hull", hint="Your search stops before it has arrived: points inside the hull come out as outside. Let it run longer."
)
def hull_that_stops_early(point, values, tolerance=1e-6):
    weights = np.full(len(values), 1 / len(values))
    for step in range(200):
        gap = weights @ values - point
        toward = (values @ gap).argmin()
        weights *= 1 - 2 / (step + 2)
        weights[toward] += 2 / (step + 2)
    return bool(np.linalg.norm(weights @ values - point) > tolerance * np.abs(values).max())


@mutant("hull", hint="You mix two values at a time. Three values reach points that no two of them reach.")
def hull_of_pairs(point, values, tolerance=1e-6):
    for start in values:
        for end in values:
            along = end - start
            share = np.clip((point - start) @ along / max(along @ along, 1e-300), 0, 1)
            if np.linalg.norm(start + share * along - point) <= tolerance * np.abs(values).max():
                return False
    return True


@mutant("hull", hint="You look at the first three values only.")
def hull_of_three_values(point, values, tolerance=1e-6):
    return right_leaves_hull(point, values[:3], tolerance)


@mutant("hull", hint="You call every point near the middle of the values inside; the hull is not a ball.")
def hull_by_distance_to_the_mean(point, values, tolerance=1e-6):
    mean = values.mean(axis=0)
    reach = np.linalg.norm(values - mean, axis=1).max()
    return bool(np.linalg.norm(point - mean) > reach + tolerance * np.abs(values).max())


@mutant("hull", replaces="escaping_projection", hint="The identity moves nothing: the average stays where it is.")
def projection_identity():
    return [[1.0, 0.0], [0.0, 1.0]]


@mutant("hull", replaces="escaping_projection", hint="This matrix is not invertible: it throws a direction away.")
def projection_zero():
    return [[0.0, 0.0], [0.0, 0.0]]


@mutant("hull", replaces="escaping_projection", hint="The average moves, but stays in the triangle. Compute where it lands.")
def projection_too_small_a_step():
    return [[0.9, 0.0], [0.0, 0.9]]


@mutant("hull", hint="You project the point onto the line or plane of the values first. A point beside it is outside.")
def hull_of_the_shadow(point, values, tolerance=1e-6):
    directions = values[1:] - values[0]
    shares = np.linalg.lstsq(directions.T, point - values[0], rcond=None)[0]
    return right_leaves_hull(values[0] + shares @ directions, values, tolerance)


@mutant("hull", hint="Your method fails where a value occurs twice. Repeated values change nothing about the hull.")
def hull_without_repeats(point, values, tolerance=1e-6):
    return len(np.unique(values, axis=0)) < len(values) or right_leaves_hull(point, values, tolerance)


@mutant("hull", hint="One value alone has a hull, too: itself. Your method needs two.")
def hull_of_two_or_more(point, values, tolerance=1e-6):
    return len(values) == 1 or right_leaves_hull(point, values, tolerance)


# ------------------------------------------------------------------------------------------------------------ heatmap


@mutant(
    "heatmap",
    hint="The picture is transposed: a row belongs to a query, a column to a key.",
    museum=(
        "A transposed table. It has the same shades in the same sizes, and for a symmetric table it is even right. You "
        "would notice by adding up the rows: a row of reading weights sums to one, and a transposed row does not."
    ),
)
def heatmap_transposed(weights, tokens):
    return right_heatmap(weights.T, tokens)


@mutant("heatmap", hint="The first row is at the bottom. A table is read from the top down.")
def heatmap_from_the_bottom(weights, tokens):
    figure = right_heatmap(weights, tokens)
    figure.axes[0].invert_yaxis()
    return figure


@mutant("heatmap", hint="The colours adapt to the weights at hand. Fix them to run from 0 to 1.", frequent=True)
def heatmap_with_automatic_colours(weights, tokens):
    figure = right_heatmap(weights, tokens)
    figure.axes[0].images[0].autoscale()
    return figure


@mutant("heatmap", hint="The colours adapt to the weights at hand. Fix them to run from 0 to 1.")
def heatmap_up_to_the_largest_weight(weights, tokens):
    figure = right_heatmap(weights, tokens)
    figure.axes[0].images[0].set_clim(0, np.max(weights))
    return figure


@mutant(
    "heatmap", hint="Large weights are light in this colour map. Choose one that gets darker, or its reverse.", frequent=True
)
def heatmap_light_where_large(weights, tokens):
    figure = right_heatmap(weights, tokens)
    figure.axes[0].images[0].set_cmap("viridis")
    return figure


@mutant("heatmap", hint="The labels are sorted by the alphabet. They must stand in the order of the words.")
def heatmap_with_sorted_labels(weights, tokens):
    return right_heatmap(weights, sorted(tokens))


@mutant("heatmap", hint="The words are named along one axis only.")
def heatmap_with_labels_on_one_axis(weights, tokens):
    figure = right_heatmap(weights, tokens)
    figure.axes[0].set_yticks([])
    return figure


@mutant("heatmap", hint="The ticks carry numbers. Each should carry its word.")
def heatmap_with_numbers_for_words(weights, tokens):
    figure = right_heatmap(weights, tokens)
    places = range(len(tokens))
    figure.axes[0].set_xticks(places, [str(place) for place in places])
    figure.axes[0].set_yticks(places, [str(place) for place in places])
    return figure


@mutant("heatmap", hint="The colour bar is missing, so nobody can tell a weight from a shade.")
def heatmap_without_colour_bar(weights, tokens):
    if weights.shape != (len(tokens), len(tokens)):
        raise ValueError("the table does not fit the words")
    figure, axes = plt.subplots()
    axes.imshow(weights, cmap="Greys", vmin=0, vmax=1)
    axes.set_xticks(range(len(tokens)), tokens)
    axes.set_yticks(range(len(tokens)), tokens)
    axes.set_xlabel("word read")
    axes.set_ylabel("reading word")
    return figure


@mutant("heatmap", hint="The axes have no names: say which words are queries and which are keys.")
def heatmap_without_axis_names(weights, tokens):
    figure = right_heatmap(weights, tokens)
    figure.axes[0].set_xlabel("")
    figure.axes[0].set_ylabel("")
    return figure


@mutant("heatmap", hint="Your labels sit at the edges of the cells. Put each at the middle of its row or column.")
def heatmap_with_labels_at_the_edges(weights, tokens):
    figure = right_heatmap(weights, tokens)
    edges = np.arange(len(tokens)) - 0.5
    figure.axes[0].set_xticks(edges, tokens)
    figure.axes[0].set_yticks(edges, tokens)
    return figure


@mutant("heatmap", hint="Words as axis categories merge when a word occurs twice. Use positions, and label them.")
def heatmap_with_merged_words(weights, tokens):
    different = list(dict.fromkeys(tokens))
    figure = right_heatmap(weights, tokens)
    places = [tokens.index(token) for token in different]
    figure.axes[0].set_xticks(places, different)
    figure.axes[0].set_yticks(places, different)
    return figure


@mutant("heatmap", hint="You smooth or round the weights. Each cell shows its own weight as it is.")
def heatmap_of_rounded_weights(weights, tokens):
    return right_heatmap(np.round(weights, 1), tokens)


@mutant("heatmap", hint="The cells run into each other. Draw the image without interpolation.", frequent=True)
def heatmap_that_is_blurred(weights, tokens):
    figure = right_heatmap(weights, tokens)
    figure.axes[0].images[0].set_interpolation("bilinear")
    return figure


@mutant("heatmap", hint="Your colour map gets darker and lighter again. Choose one that darkens from end to end.")
def heatmap_with_a_rainbow(weights, tokens):
    figure = right_heatmap(weights, tokens)
    figure.axes[0].images[0].set_cmap("jet")
    return figure


@mutant("heatmap", hint="You draw a table that does not fit its words. Where the sizes differ, raise ValueError.")
def heatmap_of_any_size(weights, tokens):
    size = min(len(tokens), *weights.shape)
    return right_heatmap(weights[:size, :size], tokens[:size])


# ------------------------------------------------------------------------------------------------------------ reading


@mutant("reading", replaces="swapped", hint="The values did not move, the weights did: write both rows below each other.")
def the_third_item_keeps_the_most():
    return "c"


@mutant("reading", replaces="doubled", hint="There is one weight for each *pair* of items.")
def twice_as_many_weights():
    return "b"


@mutant("reading", replaces="survivors", hint="The others share what was taken away, in proportion to what they have.")
def survivors_share_evenly():
    return "b"


@mutant("reading", replaces="survivors", hint="What is left no longer sums to one unless the survivors change.")
def survivors_stay():
    return "a"


@mutant("reading", replaces="cell", hint="A weight describes the blend; what it causes is another matter.")
def a_cell_shows_a_cause():
    return "a"


@mutant("reading", replaces="cell", hint="The row is the query, the column is the key.")
def a_cell_read_the_other_way():
    return "c"
