"""Wrong answers that people really give to problem set 2. Each must lose points on its question, and get its hint."""

import math
from fractions import Fraction

import numpy as np

from autograder.variants import mutant
from solutions.ps2_order_blindness import bayes_decision as right_decision
from solutions.ps2_order_blindness import circular_convolution as right_convolution
from solutions.ps2_order_blindness import equivariance_gap as right_gap
from solutions.ps2_order_blindness import invariant_bayes_bound as right_bound
from solutions.ps2_order_blindness import pooled_attention as right_pooling
from solutions.ps2_order_blindness import self_attention as right_attention
from solutions.ps2_order_blindness import sign_of_mean_accuracy as right_accuracy
from solutions.ps2_order_blindness import simulate_sign_of_mean as right_simulation


def softmax(scores, axis=-1):
    growth = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return growth / growth.sum(axis=axis, keepdims=True)


# ----------------------------------------------------------------------------------------------------- self_attention


@mutant("self_attention", hint="The softmax runs over the wrong axis: each row (one query) must sum to one.", frequent=True)
def attention_normalises_columns(x, w_q, w_k, w_v, mask=None):
    scores = (x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    return softmax(scores, axis=0) @ (x @ w_v)


@mutant("self_attention", hint="Queries and keys have changed places: row i belongs to query i.")
def attention_swaps_roles(x, w_q, w_k, w_v, mask=None):
    return right_attention(x, w_k, w_q, w_v, mask)


@mutant("self_attention", hint="The scores are not divided by sqrt(d_k).", frequent=True)
def attention_without_scale(x, w_q, w_k, w_v, mask=None):
    return right_attention(x, w_q * math.sqrt(w_q.shape[1]), w_k, w_v, mask)


@mutant(
    "self_attention",
    hint="You divide by the root of the tokens' width d; the scores are sums of d_k products.",
    museum="Dividing by the root of the tokens' width, because problem set 1 called the width d as well. As long as "
    "queries are as wide as tokens, nothing shows. *How one would notice:* give w_q and w_k another number of "
    "columns than x has.",
)
def attention_scaled_by_token_width(x, w_q, w_k, w_v, mask=None):
    return right_attention(x, w_q * math.sqrt(w_q.shape[1] / x.shape[1]), w_k, w_v, mask)


@mutant("self_attention", hint="You divide by d_k, not by its square root.")
def attention_divides_by_k(x, w_q, w_k, w_v, mask=None):
    return right_attention(x, w_q / math.sqrt(w_q.shape[1]), w_k, w_v, mask)


@mutant("self_attention", hint="You average the tokens themselves. What is passed on is the value, x @ w_v.")
def attention_forgets_the_values(x, w_q, w_k, w_v, mask=None):
    return right_attention(x, w_q, w_k, np.eye(x.shape[1], dtype=x.dtype), mask)


@mutant("self_attention", hint="Your mask is upside down: True means that token i may read token j.")
def attention_inverts_the_mask(x, w_q, w_k, w_v, mask=None):
    return right_attention(x, w_q, w_k, w_v, None if mask is None else ~mask)


@mutant(
    "self_attention",
    hint="You set weights to zero after the softmax, so a row no longer sums to one. Mask the scores.",
    frequent=True,
)
def attention_masks_after_softmax(x, w_q, w_k, w_v, mask=None):
    weights = softmax((x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[1]))
    return (weights if mask is None else np.where(mask, weights, 0)) @ (x @ w_v)


@mutant("self_attention", hint="A score of 0 is not forbidden: exp(0) is 1. A forbidden score must become minus infinity.")
def attention_masks_with_zero_scores(x, w_q, w_k, w_v, mask=None):
    scores = (x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[1])
    return softmax(scores if mask is None else np.where(mask, scores, 0)) @ (x @ w_v)


@mutant("self_attention", hint="The mask is not used: what it forbids is read all the same.", frequent=True)
def attention_ignores_the_mask(x, w_q, w_k, w_v, mask=None):
    return right_attention(x, w_q, w_k, w_v)


@mutant("self_attention", hint="-1e4 is a score that legal tokens may have too. A forbidden score is minus infinity.")
def attention_masks_with_a_legal_score(x, w_q, w_k, w_v, mask=None):
    scores = (x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[1])
    if mask is None:
        return right_attention(x, w_q, w_k, w_v)
    weights = softmax(np.where(mask, scores, -1e4)) * mask.any(axis=1, keepdims=True)
    return weights.astype(x.dtype) @ (x @ w_v)


@mutant("self_attention", hint="You shift by the largest score of the whole table, so rows far below it lose all weights.")
def attention_with_one_shift_for_all(x, w_q, w_k, w_v, mask=None):
    scores = (x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[1])
    legal = scores if mask is None else np.where(mask, scores, -np.inf)
    growth = np.exp(legal - scores.max())
    total = growth.sum(axis=1, keepdims=True)
    return growth / np.where(total > 0, total, 1) @ (x @ w_v)


@mutant(
    "self_attention", hint="A small number in the divisor makes each row sum to less than one. Only an empty row needs it."
)
def attention_with_epsilon(x, w_q, w_k, w_v, mask=None):
    scores = (x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[1])
    legal = scores if mask is None else np.where(mask, scores, -np.inf)
    growth = np.exp(legal - legal.max(axis=1, keepdims=True, initial=np.finfo(scores.dtype).min))
    return growth / (growth.sum(axis=1, keepdims=True) + x.dtype.type(1e-4)) @ (x @ w_v)


@mutant("self_attention", hint="You change the caller's mask. Make a new array, or leave it alone.")
def attention_writes_into_the_mask(x, w_q, w_k, w_v, mask=None):
    output = right_attention(x, w_q, w_k, w_v, mask)
    if mask is not None:
        mask[:] = ~mask
    return output


@mutant(
    "self_attention",
    hint="A token that may read nothing gives 0/0 = NaN. The docstring says what it must give.",
    frequent=True,
)
def attention_gives_nan_for_empty_rows(x, w_q, w_k, w_v, mask=None):
    scores = (x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[1])
    return softmax(scores if mask is None else np.where(mask, scores, -np.inf)) @ (x @ w_v)


@mutant("self_attention", hint="With -1e9 for -inf, a token that may read nothing spreads its weight evenly over all.")
def attention_spreads_empty_rows(x, w_q, w_k, w_v, mask=None):
    scores = (x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[1])
    return softmax(scores if mask is None else np.where(mask, scores, -1e9)) @ (x @ w_v)


@mutant("self_attention", hint="exp overflows at large scores. Subtract the largest score of each row first.", frequent=True)
def attention_overflows(x, w_q, w_k, w_v, mask=None):
    growth = np.exp((x @ w_q) @ (x @ w_k).T / math.sqrt(w_q.shape[1]))
    if mask is not None:
        growth = np.where(mask, growth, 0)
    total = growth.sum(axis=1, keepdims=True)
    return growth / np.where(total > 0, total, 1) @ (x @ w_v)


@mutant("self_attention", hint="float32 went in and float64 came out: np.sqrt(d_k) is a float64 number. Use math.sqrt(d_k).")
def attention_turns_to_double(x, w_q, w_k, w_v, mask=None):
    return right_attention(x, w_q, w_k, w_v, mask).astype(np.float64)


@mutant("self_attention", hint="Your tokens are numbered somewhere. Nothing in this layer may depend on the row of a token.")
def attention_adds_positions(x, w_q, w_k, w_v, mask=None):
    place = np.arange(len(x), dtype=x.dtype)[:, None]
    return right_attention(x + np.sin(place).astype(x.dtype), w_q, w_k, w_v, mask)


# --------------------------------------------------------------------------------------------------- equivariance_gap


@mutant(
    "equivariance_gap",
    hint="You measure invariance (nothing changes). Equivariance reorders the output as well.",
    frequent=True,
)
def gap_of_invariance(layer, x, permutation):
    right_gap(layer, x, permutation)
    return float(np.abs(layer(x[permutation]) - layer(x)).max())


@mutant(
    "equivariance_gap",
    hint="One side is reordered by the inverse permutation. Test with a cycle of three tokens.",
    museum="Reordering one side by the inverse permutation. Swaps of two tokens, the permutations one tries first, "
    "are their own inverses, and so everything looks right. *How one would notice:* a layer that leaves all "
    "tokens alone has a gap for [1, 2, 0].",
)
def gap_with_the_inverse(layer, x, permutation):
    right_gap(layer, x, permutation)
    return float(np.abs(layer(x[permutation]) - layer(x)[np.argsort(permutation)]).max())


@mutant(
    "equivariance_gap", hint="You average the differences, so one bad token hides behind many good ones. Take the largest."
)
def gap_on_average(layer, x, permutation):
    right_gap(layer, x, permutation)
    return float(np.abs(layer(x[permutation]) - layer(x)[permutation]).mean())


@mutant("equivariance_gap", hint="You forgot the absolute value: a large negative difference is a large gap.", frequent=True)
def gap_with_its_sign(layer, x, permutation):
    right_gap(layer, x, permutation)
    return float((layer(x[permutation]) - layer(x)[permutation]).max())


@mutant("equivariance_gap", hint="You take the length of the whole difference (a norm). Asked is its largest entry.")
def gap_as_a_norm(layer, x, permutation):
    right_gap(layer, x, permutation)
    return float(np.linalg.norm(layer(x[permutation]) - layer(x)[permutation]))


@mutant("equivariance_gap", hint="You divide by the scale of the output. Asked is the plain difference.")
def gap_relative_to_scale(layer, x, permutation):
    return right_gap(layer, x, permutation) / float(np.abs(layer(x)).max() or 1.0)


@mutant(
    "equivariance_gap",
    hint="A layer that pools has no row for each token. The docstring says which error to raise.",
    frequent=True,
)
def gap_accepts_pooled_outputs(layer, x, permutation):
    return float(np.abs(layer(x[permutation]) - layer(x)[permutation]).max())


@mutant("equivariance_gap", hint="You skip NaN, so a broken layer gets a small gap. Let NaN show.")
def gap_skips_nan(layer, x, permutation):
    right_gap(layer, x, permutation)
    return float(np.nanmax(np.abs(layer(x[permutation]) - layer(x)[permutation])))


@mutant("equivariance_gap", hint="You add the differences up. One gap for the layer: the largest of them.")
def gap_as_a_sum(layer, x, permutation):
    right_gap(layer, x, permutation)
    return float(np.abs(layer(x[permutation]) - layer(x)[permutation]).sum())


@mutant("equivariance_gap", hint="You look at the first column only. Every column of an output counts.")
def gap_of_the_first_column(layer, x, permutation):
    right_gap(layer, x, permutation)
    difference = np.abs(layer(x[permutation]) - layer(x)[permutation])
    return float(difference.reshape(len(x), -1)[:, 0].max())


@mutant("equivariance_gap", hint="You refuse a layer with one number per token. An output may have one axis.")
def gap_of_tables_only(layer, x, permutation):
    if layer(x).ndim != 2:
        raise ValueError("an output has two axes")
    return right_gap(layer, x, permutation)


# ----------------------------------------------------------------------------------------------------- is_equivariant


def verdict(layer, x, orders, allowed, inside=lambda gap, limit: gap <= limit):
    """The verdict over some permutations, with `allowed(output)` as tolerance."""
    for order in orders:
        output, moved = layer(x), layer(x[order])
        if not inside(np.abs(moved - output[order]).max(), allowed(output)):
            return False
    return True


def drawn(x, trials, seed):
    rng = np.random.default_rng(seed)
    return [rng.permutation(len(x)) for _ in range(trials)]


def rounding_of(output):
    return 64 * np.finfo(output.dtype).eps * np.abs(output).max()


# A failed test shows the first mutant that answers alike, so the slips that break fewer layers stand first.


@mutant("is_equivariant", hint="A float32 tolerance is applied to float64 layers, so small defects slip through.")
def verdict_with_single_eps(layer, x, trials=20, seed=0):
    return verdict(layer, x, drawn(x, trials, seed), lambda output: 64 * 2.0**-23 * np.abs(output).max())


@mutant(
    "is_equivariant",
    hint="A float64 tolerance is applied to float32 layers. Take eps from the dtype of the output.",
    frequent=True,
)
def verdict_with_double_eps(layer, x, trials=20, seed=0):
    return verdict(layer, x, drawn(x, trials, seed), lambda output: 64 * 2.0**-52 * np.abs(output).max())


@mutant(
    "is_equivariant",
    hint="You ask for exact equality. Sums in another order round differently, so allow for rounding.",
    frequent=True,
)
def verdict_without_tolerance(layer, x, trials=20, seed=0):
    return verdict(layer, x, drawn(x, trials, seed), lambda output: 0.0)


@mutant(
    "is_equivariant",
    hint="An absolute tolerance is too strict for large outputs and blind for small ones.",
    museum="A fixed tolerance such as 1e-8. With outputs near one it works in float64. *How one would notice:* "
    "multiply the layer by 1e10, or by 1e-14: the verdict should not depend on the unit.",
)
def verdict_with_absolute_tolerance(layer, x, trials=20, seed=0):
    return verdict(layer, x, drawn(x, trials, seed), lambda output: 1e-8)


@mutant(
    "is_equivariant", hint="This is np.allclose's own tolerance: it adds 1e-8 whatever the scale, and 1e-5 of each number."
)
def verdict_by_allclose(layer, x, trials=20, seed=0):
    return all(np.allclose(layer(x[order]), layer(x)[order]) for order in drawn(x, trials, seed))


@mutant("is_equivariant", hint="You test invariance: the output, too, must be reordered before you compare.", frequent=True)
def verdict_of_invariance(layer, x, trials=20, seed=0):
    for order in drawn(x, trials, seed):
        output = layer(x)
        if not np.abs(layer(x[order]) - output).max() <= rounding_of(output):
            return False
    return True


@mutant("is_equivariant", hint="You test cyclic shifts only. They are a small part of all reorderings.")
def verdict_by_shifts(layer, x, trials=20, seed=0):
    return verdict(layer, x, [np.roll(np.arange(len(x)), s) for s in range(len(x))], rounding_of)


@mutant(
    "is_equivariant", hint="You test one reordering, the reversal. A symmetric layer passes it without being equivariant."
)
def verdict_by_reversal(layer, x, trials=20, seed=0):
    return verdict(layer, x, [np.arange(len(x))[::-1]], rounding_of)


@mutant("is_equivariant", hint="You swap the first two tokens only; the rest never move.")
def verdict_by_one_swap(layer, x, trials=20, seed=0):
    order = np.arange(len(x))
    order[:2] = 1, 0
    return verdict(layer, x, [order], rounding_of)


@mutant("is_equivariant", hint="You compare with <, so a layer of zeros fails: its gap is 0 and its tolerance is 0.")
def verdict_strictly_below(layer, x, trials=20, seed=0):
    return verdict(layer, x, drawn(x, trials, seed), rounding_of, inside=lambda gap, limit: gap < limit)


@mutant(
    "is_equivariant", hint="NaN > tolerance is False, so NaN slips through. Ask for gap <= tolerance instead.", frequent=True
)
def verdict_blind_to_nan(layer, x, trials=20, seed=0):
    return verdict(layer, x, drawn(x, trials, seed), rounding_of, inside=lambda gap, limit: not gap > limit)


@mutant("is_equivariant", hint="You accept the layer as soon as one reordering passes. It must pass all of them.")
def verdict_satisfied_by_one(layer, x, trials=20, seed=0):
    rotations = [np.roll(np.arange(len(x)), s) for s in range(len(x))]
    return any(verdict(layer, x, [order], rounding_of) for order in rotations + drawn(x, trials, seed))


@mutant("is_equivariant", hint="You take eps from the dtype of the tokens. Rounding has the dtype of the layer's output.")
def verdict_with_eps_of_the_tokens(layer, x, trials=20, seed=0):
    return verdict(layer, x, drawn(x, trials, seed), lambda output: 64 * np.finfo(x.dtype).eps * np.abs(output).max())


@mutant("is_equivariant", hint="Each number has a tolerance of its own in your check. The scale is the largest output.")
def verdict_with_a_tolerance_per_number(layer, x, trials=20, seed=0):
    for order in drawn(x, trials, seed):
        output, moved = layer(x), layer(x[order])
        if not (np.abs(moved - output[order]) <= 64 * np.finfo(output.dtype).eps * np.abs(output[order])).all():
            return False
    return True


@mutant("is_equivariant", hint="`trials` is not used: try as many permutations as the caller asks for.", frequent=True)
def verdict_with_twenty_trials(layer, x, trials=20, seed=0):
    return verdict(layer, x, drawn(x, 20, seed), rounding_of)


@mutant(
    "is_equivariant", hint="You turn the tokens into float64, so a float32 layer is no longer the one that was handed over."
)
def verdict_in_double_precision(layer, x, trials=20, seed=0):
    tokens = x.astype(np.float64)
    return verdict(layer, tokens, drawn(x, trials, seed), rounding_of)


@mutant(
    "is_equivariant", hint="An infinite output makes the tolerance infinite, and every gap fits. Ask for finite outputs."
)
def verdict_blind_to_infinity(layer, x, trials=20, seed=0):
    for order in drawn(x, trials, seed):
        output, moved = layer(x), layer(x[order])
        gap = np.nanmax(np.abs(np.where(moved == output[order], 0, moved - output[order])))
        if np.isnan(output).all() or not gap <= rounding_of(output):
            return False
    return True


@mutant("is_equivariant", hint="You draw with replacement, so some tokens are lost and others doubled. Use rng.permutation.")
def verdict_with_repeated_tokens(layer, x, trials=20, seed=0):
    rng = np.random.default_rng(seed)
    return verdict(layer, x, [rng.integers(len(x), size=len(x)) for _ in range(trials)], rounding_of)


@mutant("is_equivariant", hint="The seed is not used: every seed tries the same permutations.")
def verdict_with_a_fixed_seed(layer, x, trials=20, seed=0):
    return verdict(layer, x, drawn(x, trials, 0), rounding_of)


# ------------------------------------------------------------------------------------- symmetry_claims and the others


@mutant("symmetry_claims", hint="Training changes the weights, not the formula. Does the formula use the place of a token?")
def claims_training_breaks_it():
    return "a"


@mutant("symmetry_claims", hint="A mean adds its terms up. Does a sum depend on the order of its terms?")
def claims_pooling_sees_order():
    return "b"


@mutant("symmetry_claims", hint="Is a cyclic shift not one of the permutations?")
def claims_shifts_are_no_permutations():
    return "d"


# ------------------------------------------------------------------------------------------------------------ pooling


@mutant(
    "pooling",
    hint="The scores are not divided by sqrt(d_k).",
    museum="Forgetting the division because there is only one query. The result is a weighted average all the same, "
    "only a sharper one. *How one would notice:* work out one case by hand in which the weights are 2 : 5 : 1.",
)
def pooling_without_scale(x, query, w_k, w_v):
    return right_pooling(x, query * math.sqrt(len(query)), w_k, w_v)


@mutant("pooling", hint="You average the tokens themselves. What is passed on is the value, x @ w_v.", frequent=True)
def pooling_forgets_the_values(x, query, w_k, w_v):
    return right_pooling(x, query, w_k, np.eye(x.shape[1]))


@mutant("pooling", hint="Every token gets the same weight. The query must decide who is heard.")
def pooling_by_plain_mean(x, query, w_k, w_v):
    return (x @ w_v).mean(axis=0)


@mutant("pooling", hint="Only the token with the highest score is heard. A softmax gives every token a share.")
def pooling_takes_the_best(x, query, w_k, w_v):
    return (x @ w_v)[np.argmax(x @ w_k @ query)]


@mutant("pooling", hint="exp overflows at large scores. Subtract the largest score first.", frequent=True)
def pooling_overflows(x, query, w_k, w_v):
    growth = np.exp(x @ w_k @ query / math.sqrt(len(query)))
    return growth / growth.sum() @ (x @ w_v)


@mutant("pooling", hint="The result has an axis too many: one query gives one vector of shape (d_v,).")
def pooling_keeps_an_axis(x, query, w_k, w_v):
    return right_pooling(x, query, w_k, w_v)[None]


@mutant(
    "pooling", hint="You divide by the root of the tokens' width; the score is a sum of as many products as the query has."
)
def pooling_scaled_by_token_width(x, query, w_k, w_v):
    return right_pooling(x, query * math.sqrt(len(query) / x.shape[1]), w_k, w_v)


@mutant("pooling", hint="You divide by the number of tokens once more; the weights already sum to one.")
def pooling_divides_by_n(x, query, w_k, w_v):
    return right_pooling(x, query, w_k, w_v) / len(x)


@mutant(
    "pooling", replaces="invariance_gap", hint="You reorder the output as well. That measures equivariance.", frequent=True
)
def invariance_reorders_the_output(layer, x, permutation):
    output = np.asarray(layer(x))
    if output.ndim and len(output) == len(x):
        output = output[permutation]
    return float(np.max(np.abs(np.asarray(layer(x[permutation])) - output)))


@mutant(
    "pooling", replaces="invariance_gap", hint="You forgot the absolute value: a large negative difference is a large gap."
)
def invariance_with_its_sign(layer, x, permutation):
    return float(np.max(np.asarray(layer(x[permutation])) - np.asarray(layer(x))))


@mutant("pooling", replaces="invariance_gap", hint="You average the differences. Asked is the largest.")
def invariance_on_average(layer, x, permutation):
    return float(np.mean(np.abs(np.asarray(layer(x[permutation])) - np.asarray(layer(x)))))


@mutant(
    "pooling", replaces="invariance_gap", hint="You compare averages over all tokens; a layer can move and keep its average."
)
def invariance_of_the_average(layer, x, permutation):
    before, after = (np.asarray(layer(tokens)) for tokens in (x, x[permutation]))
    return float(np.max(np.abs(after.mean(axis=0) - before.mean(axis=0)))) if before.ndim else float(abs(after - before))


@mutant("pooling", replaces="invariance_gap", hint="You reorder the columns of the tokens. A permutation reorders rows.")
def invariance_moves_columns(layer, x, permutation):
    return float(np.max(np.abs(np.asarray(layer(x[:, permutation])) - np.asarray(layer(x)))))


@mutant("pooling", replaces="invariance_gap", hint="You skip NaN, so a broken layer gets a small gap. Let NaN show.")
def invariance_skips_nan(layer, x, permutation):
    return float(np.nanmax(np.abs(np.asarray(layer(x[permutation])) - np.asarray(layer(x)))))


@mutant("pooling", replaces="invariance_gap", hint="You index the output. A layer may also return a single number.")
def invariance_of_arrays_only(layer, x, permutation):
    return float(np.abs(layer(x[permutation])[:] - layer(x)[:]).max())


# ---------------------------------------------------------------------------------------------- sign_of_mean_accuracy


def checked(length):
    right_accuracy(length)
    return length


@mutant(
    "sign_of_mean_accuracy",
    hint="The correlation is 1/sqrt(length), not 1/length.",
    museum="Taking the correlation of a token with the mean for 1/L, the token's share of the mean. *How one would "
    "notice:* for L = 4 the formula must give two thirds.",
)
def accuracy_without_root(length):
    return 0.5 + math.asin(1 / checked(length)) / math.pi


@mutant("sign_of_mean_accuracy", hint="arccos measures the angle between the arrows; signs agree on the rest of the circle.")
def accuracy_by_arccos(length):
    return 0.5 + math.acos(1 / math.sqrt(checked(length))) / math.pi


@mutant("sign_of_mean_accuracy", hint="A half-plane is half a turn: divide the angle by pi, not by 2 pi.")
def accuracy_over_a_full_turn(length):
    return 0.5 + math.asin(1 / math.sqrt(checked(length))) / (2 * math.pi)


@mutant("sign_of_mean_accuracy", hint="That is the agreement over chance. A coin already has one half.")
def accuracy_without_the_half(length):
    return math.asin(1 / math.sqrt(checked(length))) / math.pi


@mutant("sign_of_mean_accuracy", hint="For a small t, arcsin t is about t, but length 1 needs the arcsin itself.")
def accuracy_to_first_order(length):
    return 0.5 + 1 / math.sqrt(checked(length)) / math.pi


@mutant("sign_of_mean_accuracy", hint="This is the number for eight tokens. Use `length`.")
def accuracy_of_eight_tokens(length):
    checked(length)
    return right_accuracy(8)


@mutant("sign_of_mean_accuracy", hint="This is the best rule without order, not the sign of the mean.")
def accuracy_of_the_majority(length):
    half = checked(length) // 2
    # The bound in closed form; at large lengths by its limit, because the whole numbers get too long to wait for.
    tie = math.comb(2 * half, half) / 4**half if half < 10_000 else 1 / math.sqrt(math.pi * half)
    return 0.5 + tie / 2


@mutant("sign_of_mean_accuracy", hint="Lengths below 1 must raise ValueError; the docstring says so.", frequent=True)
def accuracy_of_no_tokens(length):
    return right_accuracy(max(length, 1))


# ---------------------------------------------------------------------------------------------- simulate_sign_of_mean


@mutant("simulate_sign_of_mean", hint="You count signs (the majority). The mean weighs each token by its size.")
def simulation_of_the_majority(length, trials, seed):
    tokens = np.random.default_rng(seed).standard_normal((trials, length))
    p = float(np.mean((np.sign(tokens).sum(axis=1) > 0) == (tokens[:, 0] > 0)))
    return p, 1.96 * math.sqrt(p * (1 - p) / trials)


@mutant("simulate_sign_of_mean", hint="Token 0 must be one of the tokens in the mean, not a fresh one.", frequent=True)
def simulation_with_a_fresh_token(length, trials, seed):
    rng = np.random.default_rng(seed)
    tokens, label = rng.standard_normal((trials, length)), rng.standard_normal(trials)
    p = float(np.mean((tokens.mean(axis=1) > 0) == (label > 0)))
    return p, 1.96 * math.sqrt(p * (1 - p) / trials)


@mutant("simulate_sign_of_mean", hint="Your tokens are uniform on 0 ... 1 and never negative. Draw standard normal ones.")
def simulation_of_uniform_tokens(length, trials, seed):
    tokens = np.random.default_rng(seed).random((trials, length))
    p = float(np.mean((tokens.mean(axis=1) > 0) == (tokens[:, 0] > 0)))
    return p, 1.96 * math.sqrt(p * (1 - p) / trials)


@mutant(
    "simulate_sign_of_mean",
    hint="The half-width is that of one trial. The standard deviation of the share is smaller by sqrt(trials).",
    museum="Taking the standard deviation of a single trial for that of the share: the interval does not shrink as "
    "trials are added. *How one would notice:* four times the trials must halve it.",
)
def simulation_with_the_spread_of_one_trial(length, trials, seed):
    p, _ = right_simulation(length, trials, seed)
    return p, 1.96 * math.sqrt(p * (1 - p))


@mutant("simulate_sign_of_mean", hint="You return the standard error. A 95 % interval reaches 1.96 of them to each side.")
def simulation_with_the_standard_error(length, trials, seed):
    p, half_width = right_simulation(length, trials, seed)
    return p, half_width / 1.96


@mutant("simulate_sign_of_mean", hint="You return the whole width of the interval. Asked is half of it.")
def simulation_with_the_full_width(length, trials, seed):
    p, half_width = right_simulation(length, trials, seed)
    return p, 2 * half_width


@mutant("simulate_sign_of_mean", hint="The seed is not used: every seed gives the same draws.", frequent=True)
def simulation_with_a_fixed_seed(length, trials, seed):
    return right_simulation(length, trials, 0)


@mutant("simulate_sign_of_mean", hint="You return the closed form. A simulation must count its own draws.")
def simulation_by_formula(length, trials, seed):
    p = right_accuracy(length)
    return p, 1.96 * math.sqrt(p * (1 - p) / trials)


@mutant("simulate_sign_of_mean", hint="Every trial draws the same tokens: make the generator once, before the loop.")
def simulation_that_restarts(length, trials, seed):
    p = float(right_simulation(length, 1, seed)[0])
    return p, 1.96 * math.sqrt(p * (1 - p) / trials)


# ----------------------------------------------------------------------------------------------------- bayes_decision


@mutant("bayes_decision", hint="You look at the token in front. The order of the list is not known to be the true one.")
def decision_by_the_first_token(signs):
    right_decision(signs)
    return int(signs[0])


@mutant(
    "bayes_decision",
    hint="On a tie you return -1. The docstring asks for +1.",
    museum="Comparing the sum with `> 0`, so that a tie says minus. Over many random lists it is hardly ever seen. "
    "*How one would notice:* try one plus and one minus.",
)
def decision_minus_on_a_tie(signs):
    right_decision(signs)
    return 1 if signs.sum() > 0 else -1


@mutant("bayes_decision", hint="On a tie you return 0. A decision is +1 or -1, and the docstring says which.")
def decision_zero_on_a_tie(signs):
    right_decision(signs)
    return int(np.sign(signs.sum()))


@mutant("bayes_decision", hint="You follow the minority. The token at position zero is more likely one of the many.")
def decision_of_the_minority(signs):
    right_decision(signs)
    return 1 if signs.sum() <= 0 else -1


@mutant(
    "bayes_decision", hint="The product of the signs says whether an odd number is negative, not which sign is more common."
)
def decision_by_the_product(signs):
    right_decision(signs)
    return int(np.prod(signs))


@mutant("bayes_decision", hint="You return the share of positive tokens. Asked is the decision it leads to.")
def decision_as_a_probability(signs):
    right_decision(signs)
    return float(np.mean(signs == 1))


@mutant(
    "bayes_decision", hint="What is not a list of +1 and -1 must raise ValueError, and so must an empty one.", frequent=True
)
def decision_about_anything(signs):
    return 1 if np.sum(signs) >= 0 else -1


@mutant("bayes_decision", hint="Without any sign there is nothing to decide: an empty list must raise ValueError.")
def decision_about_nothing(signs):
    return right_decision(signs) if len(signs) else 1


# ---------------------------------------------------------------------------------------------- invariant_bayes_bound


def averaged(length, p, gain):
    """The average of gain(r) over r ~ Binomial(length, p), with the right errors."""
    right_bound(length, p)
    return sum(
        (math.comb(length, r) * p**r * (1 - p) ** (length - r) * gain(r) for r in range(length + 1)), start=Fraction(0)
    )


@mutant("invariant_bayes_bound", hint="A float crept in. Fractions stay exact only if every step is one.")
def bound_through_floats(length, p=Fraction(1, 2)):
    right_bound(length, p)
    up = float(p)
    return Fraction(
        sum(math.comb(length, r) * up**r * (1 - up) ** (length - r) * max(r, length - r) / length for r in range(length + 1))
    )


@mutant("invariant_bayes_bound", hint="You return a float. Asked is the exact fraction.", frequent=True)
def bound_as_a_float(length, p=Fraction(1, 2)):
    return float(right_bound(length, p))


@mutant("invariant_bayes_bound", hint="p is ignored: the counts r are always weighed as for a fair sign.", frequent=True)
def bound_ignores_p(length, p=Fraction(1, 2)):
    right_bound(length, p)
    return right_bound(length)


@mutant("invariant_bayes_bound", hint="That is the best rule for someone who sees nothing. Seeing the set of tokens helps.")
def bound_of_blind_guessing(length, p=Fraction(1, 2)):
    right_bound(length, p)
    return max(p, 1 - p)


@mutant(
    "invariant_bayes_bound",
    hint="All values of r get the same weight. Some counts arise from many more patterns than others.",
    museum="Averaging over the counts 0, 1, ..., L as if each were equally likely. Four positive tokens of eight "
    "arise from 70 patterns, eight from one. *How one would notice:* list the eight patterns of three signs.",
)
def bound_with_equal_counts(length, p=Fraction(1, 2)):
    right_bound(length, p)
    return Fraction(sum(max(r, length - r) for r in range(length + 1)), length * (length + 1))


@mutant("invariant_bayes_bound", hint="You always guess +1: the gain is max(r, length - r), not r.")
def bound_of_always_plus(length, p=Fraction(1, 2)):
    return averaged(length, p, lambda r: Fraction(r, length))


@mutant("invariant_bayes_bound", hint="The last r is missing: r runs from 0 to length, both included.")
def bound_without_the_last_count(length, p=Fraction(1, 2)):
    return averaged(length, p, lambda r: Fraction(max(r, length - r), length) * (r < length))


@mutant(
    "invariant_bayes_bound",
    hint="You count how often the majority is the more likely sign; asked is how often it is token 0's.",
)
def bound_as_chance_of_a_majority(length, p=Fraction(1, 2)):
    return averaged(length, p, lambda r: Fraction(int(2 * r >= length)))


@mutant("invariant_bayes_bound", hint="p enters twice. Once r is known, all places are alike and p says nothing more.")
def bound_with_p_twice(length, p=Fraction(1, 2)):
    return averaged(
        length, p, lambda r: Fraction(max(r * p, (length - r) * (1 - p))) / (r * p + (length - r) * (1 - p) or 1)
    )


@mutant("invariant_bayes_bound", hint="Impossible lengths and probabilities must raise ValueError.")
def bound_of_impossible_inputs(length, p=Fraction(1, 2)):
    return right_bound(max(length, 1), min(max(p, Fraction(0)), Fraction(1)))


@mutant(
    "invariant_bayes_bound",
    hint="You compute in floats and guess the fraction behind them. Fractions must be exact all the way.",
)
def bound_guessed_from_a_float(length, p=Fraction(1, 2)):
    return Fraction(float(right_bound(length, p))).limit_denominator(10**6)


@mutant("invariant_bayes_bound", hint="You list all sign patterns. Hundreds of tokens need binomial coefficients.")
def bound_by_listing(length, p=Fraction(1, 2)):
    right_bound(length, p)
    if length > 20:
        raise MemoryError("too many patterns")
    total = Fraction(0)
    for pattern in range(2**length):
        r = pattern.bit_count()
        total += p**r * (1 - p) ** (length - r) * max(r, length - r)
    return total / length


@mutant("invariant_bayes_bound", hint="p may be 0 or 1, too: the ends are allowed.")
def bound_without_the_ends(length, p=Fraction(1, 2)):
    if p in (0, 1):
        raise ValueError("p lies inside")
    return right_bound(length, p)


# -------------------------------------------------------------------------------------------- baselines, biased_signs


@mutant("baselines", hint="0.6150 is what one particular rule reaches. Does that forbid a better rule?")
def baselines_take_the_rule_for_the_limit():
    return "a"


@mutant("baselines", hint="Training finds rules among those that ignore order. Which number bounds all of these?")
def baselines_trust_in_training():
    return "c"


@mutant("baselines", hint="On which examples is a train accuracy measured, and to which does the bound apply?")
def baselines_bound_the_training():
    return "d"


@mutant(
    "biased_signs", hint="0.9 was your belief before you saw the tokens. You have now seen that only three are positive."
)
def biased_signs_keep_the_prior():
    return "a"


@mutant(
    "biased_signs",
    hint="Of a rare outcome and a likely sign, the first has been observed. Where can the three positive tokens stand?",
)
def biased_signs_mix_prior_and_count():
    return "b"


@mutant(
    "biased_signs", hint="Your guess is right more often than you say. How many of the eight tokens have the sign you guess?"
)
def biased_signs_take_the_wrong_share():
    return "c"


# ------------------------------------------------------------------------------------------------------------- shifts


@mutant(
    "shifts",
    hint="The kernel runs the other way: kernel[1] belongs to the token before, x[i - 1].",
    museum="Rolling in the wrong direction: the kernel then reaches for successors. With a symmetric kernel nothing "
    "shows. *How one would notice:* the kernel (0, 1) must hand each token its predecessor.",
)
def convolution_backwards(x, kernel):
    return sum((weight * np.roll(x, -j, axis=0) for j, weight in enumerate(kernel)), np.zeros_like(x))


@mutant(
    "shifts",
    hint="Your ring is cut open: tokens before the first one are taken as zero. Token 0 follows token n-1.",
    frequent=True,
)
def convolution_with_an_edge(x, kernel):
    output = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(min(i + 1, len(kernel))):
            output[i] += kernel[j] * x[i - j]
    return output


@mutant("shifts", hint="You roll along the columns. The ring runs over the tokens, axis 0.")
def convolution_over_columns(x, kernel):
    return sum((weight * np.roll(x, j, axis=1) for j, weight in enumerate(kernel)), np.zeros_like(x))


@mutant("shifts", hint="np.roll without an axis rolls the flattened array, across tokens and columns.")
def convolution_of_the_flat_array(x, kernel):
    return sum((weight * np.roll(x, j) for j, weight in enumerate(kernel)), np.zeros_like(x))


@mutant("shifts", hint="A kernel longer than the ring goes round more than once; yours is cut off.")
def convolution_cuts_long_kernels(x, kernel):
    return right_convolution(x, kernel[: len(x)])


@mutant("shifts", hint="You centre the kernel. In the docstring's formula kernel[0] belongs to the token itself.")
def convolution_centred(x, kernel):
    return np.roll(right_convolution(x, kernel), -(len(kernel) // 2), axis=0)


@mutant(
    "shifts", hint="You run along the wrong axis where there are as many columns as tokens. The ring runs over the tokens."
)
def convolution_confuses_equal_axes(x, kernel):
    axis = max(place for place, size in enumerate(x.shape) if size == len(x))
    return sum((weight * np.roll(x, j, axis=axis) for j, weight in enumerate(kernel)), np.zeros_like(x))


def rolled(layer, x, shifts, allowed=rounding_of):
    output = layer(x)
    limit = allowed(output)
    return all(np.abs(layer(np.roll(x, s, axis=0)) - np.roll(output, s, axis=0)).max() <= limit for s in shifts)


@mutant(
    "shifts",
    replaces="is_shift_equivariant",
    hint="You test one step only. What holds for x need not hold for the shifted x.",
)
def shift_verdict_by_one_step(layer, x):
    return rolled(layer, x, [1])


@mutant("shifts", replaces="is_shift_equivariant", hint="You test half a turn only.")
def shift_verdict_by_half_a_turn(layer, x):
    return rolled(layer, x, [len(x) // 2])


@mutant("shifts", replaces="is_shift_equivariant", hint="You ask for exact equality; allow for rounding.", frequent=True)
def shift_verdict_without_tolerance(layer, x):
    return rolled(layer, x, range(len(x)), lambda output: 0.0)


@mutant(
    "shifts",
    replaces="is_shift_equivariant",
    hint="An absolute tolerance is too strict for large outputs and blind for small ones.",
)
def shift_verdict_with_absolute_tolerance(layer, x):
    return rolled(layer, x, range(len(x)), lambda output: 1e-8)


@mutant(
    "shifts",
    replaces="is_shift_equivariant",
    hint="You test all reorderings. A convolution commutes with shifts, not with those.",
)
def shift_verdict_by_permutations(layer, x):
    return verdict(layer, x, drawn(x, 20, 0), rounding_of)


@mutant("shifts", replaces="is_shift_equivariant", hint="You test invariance: the output must shift along, not stay.")
def shift_verdict_of_invariance(layer, x):
    output = layer(x)
    return all(np.abs(layer(np.roll(x, s, axis=0)) - output).max() <= rounding_of(output) for s in range(len(x)))


@mutant(
    "shifts",
    replaces="is_shift_equivariant",
    hint="NaN > tolerance is False, so NaN slips through. Ask for gap <= tolerance.",
)
def shift_verdict_blind_to_nan(layer, x):
    output = layer(x)
    limit = rounding_of(output)
    return not any(np.abs(layer(np.roll(x, s, axis=0)) - np.roll(output, s, axis=0)).max() > limit for s in range(len(x)))


@mutant(
    "shifts", replaces="is_shift_equivariant", hint="You take eps from the dtype of the tokens. It belongs to the output."
)
def shift_verdict_with_eps_of_the_tokens(layer, x):
    return rolled(layer, x, range(len(x)), lambda output: 64 * np.finfo(x.dtype).eps * np.abs(output).max())


@mutant(
    "shifts", replaces="is_shift_equivariant", hint="You compare with <, so a layer of zeros fails. Zero is at most zero."
)
def shift_verdict_strictly_below(layer, x):
    output = layer(x)
    limit = rounding_of(output)
    return all(np.abs(layer(np.roll(x, s, axis=0)) - np.roll(output, s, axis=0)).max() < limit for s in range(len(x)))


@mutant(
    "shifts",
    replaces="is_shift_equivariant",
    hint="An infinite output makes the tolerance infinite, and every gap fits. Ask for finite outputs.",
)
def shift_verdict_blind_to_infinity(layer, x):
    for s in range(len(x)):
        output, moved = layer(x), layer(np.roll(x, s, axis=0))
        wanted = np.roll(output, s, axis=0)
        gap = np.nanmax(np.abs(np.where(moved == wanted, 0, moved - wanted)))
        if np.isnan(output).all() or not gap <= rounding_of(output):
            return False
    return True


# ---------------------------------------------------------------------------------------------------- groups, freedom


@mutant(
    "groups", hint="A shift does move every token, but always all of them by the same distance. Can you swap two by shifts?"
)
def groups_take_shifts_for_everything():
    return "b"


@mutant("groups", hint="To ignore order would be invariance. A layer that commutes with shifts moves its output along.")
def groups_mix_up_invariance():
    return "c"


@mutant("groups", hint="Commuting with shifts says nothing about linearity. Square the output of a convolution and test it.")
def groups_take_it_for_a_convolution():
    return "d"


@mutant("freedom", hint="One number for all entries would make all outputs equal. May a token treat itself differently?")
def freedom_one_number():
    return "a"


@mutant(
    "freedom", hint="That is the count for cyclic shifts: one number for each distance. Permutations do not keep distances."
)
def freedom_of_shifts():
    return "c"


@mutant("freedom", hint="That is the count without any symmetry.")
def freedom_of_no_symmetry():
    return "d"
