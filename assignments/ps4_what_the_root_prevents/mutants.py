"""Wrong answers to problem set 4 that have been seen or are likely. Each must lose points, on its own question only."""

import numpy as np

from autograder.variants import mutant
from solutions.ps4_what_the_root_prevents import attention_backward as right_attention_backward
from solutions.ps4_what_the_root_prevents import concentration as right_concentration
from solutions.ps4_what_the_root_prevents import depth_profile as right_depth_profile
from solutions.ps4_what_the_root_prevents import entropy as right_entropy
from solutions.ps4_what_the_root_prevents import gelu as right_gelu
from solutions.ps4_what_the_root_prevents import head_costs as right_head_costs
from solutions.ps4_what_the_root_prevents import jacobian_norm as right_jacobian_norm
from solutions.ps4_what_the_root_prevents import layer_norm as right_layer_norm
from solutions.ps4_what_the_root_prevents import merge_heads as right_merge_heads
from solutions.ps4_what_the_root_prevents import multi_head_attention as right_multi_head_attention
from solutions.ps4_what_the_root_prevents import own_scores as right_own_scores
from solutions.ps4_what_the_root_prevents import rotate as right_rotate
from solutions.ps4_what_the_root_prevents import softmax as given_softmax
from solutions.ps4_what_the_root_prevents import softmax_jacobian as right_softmax_jacobian
from solutions.ps4_what_the_root_prevents import split_heads as right_split_heads
from solutions.ps4_what_the_root_prevents import transformer_block as right_transformer_block
from solutions.ps4_what_the_root_prevents import two_head_weights as right_two_head_weights

# ------------------------------------------------------------------------------------------------------------ entropy


def check_budget(weights):
    if (weights < 0).any() or (np.abs(weights.sum(axis=-1) - 1) > 1e-6).any():
        raise ValueError("no weights")


@mutant("entropy", hint="Your logarithm has base 2, so you count bits. Nats take the natural logarithm.", frequent=True)
def entropy_in_bits(weights):
    return right_entropy(weights) / np.log(2)


@mutant(
    "entropy",
    hint="0 ln 0 gives NaN in your sum. Let a weight of zero contribute nothing.",
    museum="The formula is typed as it stands. It works on every random table and gives NaN on the first row with an exact "
    "zero: a masked row, or a saturated one in which the exponentials of small scores became zero. *How one would "
    "notice:* put in a one-hot row. The answer should be 0, the smallest entropy there is.",
)
def entropy_with_nan(weights):
    check_budget(weights)
    return -np.sum(weights * np.log(weights), axis=-1)


@mutant(
    "entropy",
    hint="You add a small number inside the logarithm. It moves every entropy a little; handle zeros exactly.",
    frequent=True,
)
def entropy_with_a_small_number(weights):
    check_budget(weights)
    return -np.sum(weights * np.log(weights + 1e-8), axis=-1)


@mutant("entropy", hint="You add up all rows. Each row along the last axis has an entropy of its own.", frequent=True)
def entropy_of_everything(weights):
    return np.array(right_entropy(weights).sum())


@mutant("entropy", hint="You divide by ln n, which gives a share of the largest possible entropy. Leave it in nats.")
def entropy_as_a_share(weights):
    return right_entropy(weights) / np.log(weights.shape[-1])


@mutant("entropy", hint="You accept anything. Rows with a negative entry or a wrong sum must raise ValueError.")
def entropy_of_anything(weights):
    positive = weights > 0
    return -np.sum(weights * np.log(np.where(positive, weights, 1.0)), axis=-1)


@mutant("entropy", hint="You forgot the minus sign: logarithms of weights are negative, an entropy is not.", frequent=True)
def entropy_below_zero(weights):
    return -right_entropy(weights)


@mutant("entropy", hint="You renormalise rows with a wrong sum instead of refusing them.")
def entropy_after_renormalising(weights):
    if (weights < 0).any():
        raise ValueError("negative")
    return right_entropy(weights / weights.sum(axis=-1, keepdims=True))


# ------------------------------------------------------------------------------------------------------ concentration


@mutant(
    "concentration",
    hint="You take the entropy of the mean row. First the entropy of each row, then the mean.",
    museum="The rows are averaged first, and the entropy is taken of the average. Different queries prefer different keys, "
    "so the mean row is nearly even whatever single rows do, and the entropy stays near $\\ln n$ at every width. *How "
    "one would notice:* a table of one-hot rows, each on another key, should give 0.",
)
def concentration_of_the_mean_row(scores):
    spread, _, largest = right_concentration(scores)
    return spread, float(right_entropy(given_softmax(scores).mean(axis=0))), largest


@mutant(
    "concentration",
    hint="You take the largest weight of the whole table. Take each row's largest, then the mean.",
    frequent=True,
)
def concentration_of_one_winner(scores):
    spread, mean_entropy, _ = right_concentration(scores)
    return spread, mean_entropy, float(given_softmax(scores).max())


@mutant("concentration", hint="Your spread divides by one less than the number of scores (ddof=1); divide by their number.")
def concentration_with_ddof_one(scores):
    _, mean_entropy, largest = right_concentration(scores)
    return float(scores.std(ddof=1)), mean_entropy, largest


@mutant(
    "concentration", hint="You average the rows' spreads. One spread for all scores together is asked for.", frequent=True
)
def concentration_with_spreads_of_rows(scores):
    _, mean_entropy, largest = right_concentration(scores)
    return float(scores.std(axis=1).mean()), mean_entropy, largest


@mutant(
    "concentration",
    hint="Your softmax runs down the columns. A row is a query: its weights run along the row.",
    frequent=True,
)
def concentration_of_columns(scores):
    return right_concentration(scores.T)


@mutant("concentration", hint="You measure the spread of the weights. It is the scores' spread that is asked for.")
def concentration_with_a_spread_of_weights(scores):
    _, mean_entropy, largest = right_concentration(scores)
    return float(given_softmax(scores).std()), mean_entropy, largest


@mutant(
    "concentration", hint="Your exponentials overflow or vanish for large scores. Shift each row by its own largest score."
)
def concentration_with_a_common_shift(scores):
    growth = np.exp(scores - scores.max())
    weights = growth / np.maximum(growth.sum(axis=1, keepdims=True), 1e-300)
    logarithms = np.log(np.where(weights > 0, weights, 1.0))
    return float(scores.std()), float(-np.sum(weights * logarithms, axis=1).mean()), float(weights.max(axis=1).mean())


# ------------------------------------------------------------------------------------------------------- sqrt_d_table


def table_of(dimensions, score, *, divide=np.sqrt, dtype=float):
    """Rows from a function that gives each d's scores."""
    rows = []
    for d in dimensions:
        scores = score(d).astype(dtype)
        rows.append([*right_concentration(scores), *right_concentration(scores / dtype(divide(d)))])
    return np.array(rows, dtype=float).reshape(len(dimensions), 6)


def draw(rng, d):
    return rng.standard_normal((2000, d)), rng.standard_normal((2000, d))


@mutant(
    "sqrt_d_table",
    hint="You start a new generator for each d. One generator runs through the whole table.",
    museum="`default_rng(seed)` stands inside the loop. Each row is a fair experiment, the first one even matches the "
    "printed figures, and all later ones differ in the second digit. *How one would notice:* ask for the same d "
    "twice. Two rows of one table come from different draws, so they should differ.",
)
def table_with_new_generators(dimensions, seed=0):
    def score(d):
        queries, keys = draw(np.random.default_rng(seed), d)
        return queries @ keys[:16].T

    return table_of(dimensions, score)


@mutant("sqrt_d_table", hint="You draw the keys before the queries. The recipe has the queries first.", frequent=True)
def table_with_keys_first(dimensions, seed=0):
    rng = np.random.default_rng(seed)

    def score(d):
        keys, queries = draw(rng, d)
        return queries @ keys[:16].T

    return table_of(dimensions, score)


@mutant(
    "sqrt_d_table",
    hint="You draw only 16 keys. Draw all 2000, though only 16 are used: later rows depend on it.",
    frequent=True,
)
def table_with_sixteen_draws(dimensions, seed=0):
    rng = np.random.default_rng(seed)
    return table_of(dimensions, lambda d: rng.standard_normal((2000, d)) @ rng.standard_normal((16, d)).T)


@mutant("sqrt_d_table", hint="You divide by d. It is the square root that brings the spread back to one.", frequent=True)
def table_divided_by_d(dimensions, seed=0):
    rng = np.random.default_rng(seed)

    def score(d):
        queries, keys = draw(rng, d)
        return queries @ keys[:16].T

    return table_of(dimensions, score, divide=float)


@mutant("sqrt_d_table", hint="Your scaled rows come from new draws. Divide the same scores.", frequent=True)
def table_with_two_draws(dimensions, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for d in dimensions:
        tables = []
        for _ in range(2):
            queries, keys = draw(rng, d)
            tables.append(queries @ keys[:16].T)
        rows.append([*right_concentration(tables[0]), *right_concentration(tables[1] / np.sqrt(d))])
    return np.array(rows)


@mutant("sqrt_d_table", hint="You score all 2000 keys. Only the first 16 are used.")
def table_with_all_keys(dimensions, seed=0):
    rng = np.random.default_rng(seed)

    def score(d):
        queries, keys = draw(rng, d)
        return queries[:200] @ keys.T

    return table_of(dimensions, score)


@mutant("sqrt_d_table", hint="You compute in float32. The printed places hide it, the eighth digit shows it: keep float64.")
def table_in_single_precision(dimensions, seed=0):
    rng = np.random.default_rng(seed)

    def score(d):
        queries, keys = draw(rng, d)
        return queries.astype(np.float32) @ keys[:16].astype(np.float32).T

    return table_of(dimensions, score)


@mutant("sqrt_d_table", hint="Your seed is always 0. Pass the seed that is asked for to the generator.", frequent=True)
def table_of_seed_zero(dimensions, seed=0):
    rng = np.random.default_rng(0)

    def score(d):
        queries, keys = draw(rng, d)
        return queries @ keys[:16].T

    return table_of(dimensions, score)


@mutant("sqrt_d_table", hint="You sort the dimensions. Rows, and draws, follow the order that is given.")
def table_sorted(dimensions, seed=0):
    rng = np.random.default_rng(seed)

    def score(d):
        queries, keys = draw(rng, d)
        return queries @ keys[:16].T

    return table_of(sorted(dimensions), score)


# --------------------------------------------------------------------------------------------------------- own_scores


@mutant(
    "own_scores",
    hint="All your queries share their keys. Every query needs keys that no other query sees.",
    museum="The keys are drawn once, and all queries meet the same sixteen. Shape, mean and spread look right, and over "
    "many seeds they are right on average. But at $d = 4$ everything hangs on sixteen short vectors, so the spread of one "
    "run is off by up to 29 %. *How one would notice:* the rank. A product of a $2000 \\times 4$ and a $4 \\times 16$ "
    "table has rank 4.",
)
def scores_of_shared_keys(d, queries, keys, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((queries, d)) @ rng.standard_normal((keys, d)).T


@mutant("own_scores", hint="You divide by sqrt(d). These scores are the unscaled ones.")
def scores_already_divided(d, queries, keys, seed):
    return right_own_scores(d, queries, keys, seed) / np.sqrt(d)


@mutant("own_scores", hint="Your numbers are uniform between 0 and 1. Standard normal numbers are asked for.")
def scores_of_uniform_numbers(d, queries, keys, seed):
    rng = np.random.default_rng(seed)
    return np.einsum("id,ijd->ij", rng.random((queries, d)), rng.random((queries, keys, d)))


@mutant("own_scores", hint="You ignore the seed: every seed gives the same scores.", frequent=True)
def scores_of_one_seed(d, queries, keys, seed):
    return right_own_scores(d, queries, keys, 0)


@mutant("own_scores", hint="Your queries take turns with a few sets of keys. Draw a new key for each pair.", frequent=True)
def scores_of_keys_in_turn(d, queries, keys, seed):
    rng = np.random.default_rng(seed)
    own = rng.standard_normal((2, keys, d))[np.arange(queries) % 2]
    return np.einsum("id,ijd->ij", rng.standard_normal((queries, d)), own)


@mutant("own_scores", hint="You multiply the keys of a query with each other's columns only once: sum over all d products.")
def scores_of_one_product(d, queries, keys, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((queries, 1)) * rng.standard_normal((queries, keys))


# ----------------------------------------------------------------------------------------------------------- jacobian


@mutant(
    "jacobian",
    hint="Your Jacobian has only its diagonal a. The second term, -a a^T, is missing: everyone pays for a raise.",
    museum="Only $\\mathrm{diag}(a)$ is returned, as if each weight depended on its own score alone. *How one would "
    "notice:* raise all scores by the same amount. No weight changes, so every row of the Jacobian sums to zero. Here it "
    "sums to $a_j$.",
)
def jacobian_of_the_diagonal(weights):
    return weights[..., np.newaxis] * np.eye(weights.shape[-1])


@mutant("jacobian", hint="Only the term a a^T is there, with the wrong sign. Add diag(a) and subtract it.", frequent=True)
def jacobian_of_the_product(weights):
    return weights[..., np.newaxis] * weights[..., np.newaxis, :]


@mutant("jacobian", hint="This is the Jacobian of the logarithms of the weights: multiply row j by a_j.", frequent=True)
def jacobian_of_logarithms(weights):
    return np.eye(weights.shape[-1]) - weights[..., np.newaxis, :]


@mutant("jacobian", hint="You apply softmax to the weights once more. The argument holds weights already.", frequent=True)
def jacobian_after_another_softmax(weights):
    return right_softmax_jacobian(given_softmax(weights))


@mutant("jacobian", hint="Your function takes one row only. Leading axes must be kept.")
def jacobian_of_one_row(weights):
    flat = weights.ravel()
    return np.diag(flat) - np.outer(flat, flat)


@mutant("jacobian", replaces="jacobian_norm", hint="You return the squared norm; take the root.", frequent=True)
def norm_squared(weights):
    return right_jacobian_norm(weights) ** 2


@mutant("jacobian", replaces="jacobian_norm", hint="You return one norm for all rows; each row has its own.", frequent=True)
def norm_of_everything(weights):
    return np.array(np.sqrt((right_jacobian_norm(weights) ** 2).sum()))


@mutant("jacobian", replaces="jacobian_norm", hint="You build the whole table. For 20 000 weights it takes 3.2 GB.")
def norm_of_a_table(weights):
    if weights.shape[-1] > 10_000:  # as the sandbox would answer; likely slips are looked for outside it
        raise MemoryError("the table is too large")
    return np.sqrt((right_softmax_jacobian(weights) ** 2).sum(axis=(-1, -2)))


@mutant(
    "jacobian",
    replaces="jacobian_norm",
    hint="Near one-hot your three sums cancel to slightly less than zero, and the root is NaN.",
)
def norm_with_nan(weights):
    squares, cubes = np.sum(weights**2, axis=-1), np.sum(weights**3, axis=-1)
    return np.sqrt(squares - 2 * cubes + squares * squares)


@mutant("jacobian", replaces="jacobian_norm", hint="The term with the cubes is missing its factor 2.", frequent=True)
def norm_with_one_cube(weights):
    squares, cubes = np.sum(weights**2, axis=-1), np.sum(weights**3, axis=-1)
    return np.sqrt(np.maximum(squares - cubes + squares**2, 0))


# ------------------------------------------------------------------------------------------------------------ reading


@mutant("reading", replaces="saturated", hint="Decided at random, before any training: is that a head start?")
def saturated_is_faster():
    return "a"


@mutant(
    "reading", replaces="saturated", hint="Finite scores give small slopes, not zero ones, and values learn without them."
)
def saturated_is_dead():
    return "c"


@mutant("reading", replaces="smallest_width", hint="Compare the two mean norms at d = 4 in section 5: which is larger?")
def smallest_width_by_rule():
    return "a"


@mutant("reading", replaces="smallest_width", hint="At d = 4 the division halves every score. That is not nothing.")
def smallest_width_is_equal():
    return "c"


@mutant("reading", replaces="even", hint="A quarter on each of four keys has this entropy, and so do many other rows.")
def even_means_four():
    return "a"


@mutant("reading", replaces="even", hint="One key with more than a quarter and several with less can have the same entropy.")
def even_means_a_quarter():
    return "c"


@mutant("reading", replaces="adam", hint="Rows share their parameters. Can one step size per parameter balance the rows?")
def adam_heals_everything():
    return "a"


@mutant("reading", replaces="adam", hint="Adam divides by the size of the slopes it has seen; it multiplies nothing.")
def adam_multiplies():
    return "d"


# ------------------------------------------------------------------------------------------------- attention_backward


def backward(queries, keys, values, output_gradient, mask, by_score, *, scale=None, dv=None):
    """Slopes with a replaced step from weights to scores."""
    scale = 1 / np.sqrt(queries.shape[-1]) if scale is None else scale
    weights = given_softmax(queries @ np.swapaxes(keys, -1, -2) / np.sqrt(queries.shape[-1]), mask)
    slopes = by_score(weights, output_gradient @ np.swapaxes(values, -1, -2)) * scale
    by_value = np.swapaxes(weights, -1, -2) @ output_gradient if dv is None else dv(weights, output_gradient)
    return slopes @ keys, np.swapaxes(slopes, -1, -2) @ queries, by_value


def right_step(weights, by_weight):
    return weights * (by_weight - np.sum(weights * by_weight, axis=-1, keepdims=True))


@mutant(
    "attention_backward",
    hint="The second term of the Jacobian is missing: subtract the weighted mean of the slopes before multiplying by a.",
    museum="The slope of a score is taken to be $a_j\\,g_j$, without the shared bill $-a_j \\sum_k a_k g_k$. Training with "
    "it still goes downhill now and then, and no shape complains. *How one would notice:* give all keys the same "
    "value. The output then depends on no score, so the slopes of queries and keys must be zero; here they are not.",
)
def backward_without_the_second_term(queries, keys, values, output_gradient, mask=None):
    return backward(queries, keys, values, output_gradient, mask, lambda weights, by_weight: weights * by_weight)


@mutant(
    "attention_backward", hint="The factor 1 / sqrt(d) is missing on the way from scores to queries and keys.", frequent=True
)
def backward_without_the_root(queries, keys, values, output_gradient, mask=None):
    return backward(queries, keys, values, output_gradient, mask, right_step, scale=1.0)


@mutant(
    "attention_backward",
    hint="The mean of the slopes runs over the queries; it must run over the keys of each row.",
    frequent=True,
)
def backward_along_the_wrong_axis(queries, keys, values, output_gradient, mask=None):
    def step(weights, by_weight):
        return weights * (by_weight - np.sum(weights * by_weight, axis=-2, keepdims=True))

    return backward(queries, keys, values, output_gradient, mask, step)


@mutant("attention_backward", hint="The factor a of the Jacobian is missing: a small weight moves little.", frequent=True)
def backward_without_weights(queries, keys, values, output_gradient, mask=None):
    def step(weights, by_weight):
        return by_weight - np.sum(weights * by_weight, axis=-1, keepdims=True)

    return backward(queries, keys, values, output_gradient, mask, step)


@mutant(
    "attention_backward",
    hint="values_gradient needs the transposed weights: value j collects from every query i that reads it.",
    frequent=True,
)
def backward_with_weights_not_transposed(queries, keys, values, output_gradient, mask=None):
    return backward(queries, keys, values, output_gradient, mask, right_step, dv=lambda weights, slopes: weights @ slopes)


@mutant("attention_backward", hint="You ignore the mask, so forbidden pairs have weights and slopes.", frequent=True)
def backward_without_the_mask(queries, keys, values, output_gradient, mask=None):
    return right_attention_backward(queries, keys, values, output_gradient)


@mutant(
    "attention_backward",
    hint="The slopes of queries and keys have changed places where their shapes allow it.",
    frequent=True,
)
def backward_swapped(queries, keys, values, output_gradient, mask=None):
    by_query, by_key, by_value = right_attention_backward(queries, keys, values, output_gradient, mask)
    return by_key, by_query, by_value


@mutant("attention_backward", hint="A row that may read nothing gives NaN. It has no weights and no slopes: return zeros.")
def backward_with_nan(queries, keys, values, output_gradient, mask=None):
    slopes = right_attention_backward(queries, keys, values, output_gradient, mask)
    if mask is None:
        return slopes
    empty = ~np.broadcast_to(mask, (*queries.shape[:-1], keys.shape[-2])).any(axis=-1)
    return np.where(empty[..., np.newaxis], np.nan, slopes[0]), *slopes[1:]


@mutant("attention_backward", hint="You ignore leading axes: the transposes must swap the last two axes only.")
def backward_of_one_sequence(queries, keys, values, output_gradient, mask=None):
    weights = given_softmax(queries @ keys.T / np.sqrt(queries.shape[1]), mask)
    by_score = right_step(weights, output_gradient @ values.T) / np.sqrt(queries.shape[1])
    return by_score @ keys, by_score.T @ queries, weights.T @ output_gradient


@mutant(
    "attention_backward", hint="Your softmax overflows for large scores: shift each row by its largest legal score first."
)
def backward_that_overflows(queries, keys, values, output_gradient, mask=None):
    scores = queries @ np.swapaxes(keys, -1, -2) / np.sqrt(queries.shape[-1])
    growth = np.exp(scores) * (True if mask is None else mask)
    total = growth.sum(axis=-1, keepdims=True)
    weights = growth / np.where(total > 0, total, 1)
    by_score = right_step(weights, output_gradient @ np.swapaxes(values, -1, -2)) / np.sqrt(queries.shape[-1])
    return by_score @ keys, np.swapaxes(by_score, -1, -2) @ queries, np.swapaxes(weights, -1, -2) @ output_gradient


# -------------------------------------------------------------------------------------------------------------- heads


@mutant(
    "heads",
    hint="Your reshape goes straight to (heads, length, k), so a head gets whole tokens instead of columns. Swap the axes.",
    museum="`x.reshape(heads, length, k)` has the right shape and the wrong content: it cuts the array where memory happens "
    "to lie, so head 0 gets the first tokens whole, and head 1 the last ones. Attention runs, the loss even falls, "
    "and tokens have silently been shuffled. *How one would notice:* put the number of each token and column into the "
    "array, and print it.",
)
def split_by_reshape_alone(x, heads):
    length, width = x.shape[-2:]
    if width % heads:
        raise ValueError("uneven")
    return x.reshape(*x.shape[:-2], heads, length, width // heads)


@mutant("heads", hint="Column c goes to head c mod heads in your split. A head gets neighbouring columns.", frequent=True)
def split_in_turn(x, heads):
    width = x.shape[-1]
    if width % heads:
        raise ValueError("uneven")
    return np.moveaxis(x.reshape(*x.shape[:-1], width // heads, heads), -1, -3)


@mutant("heads", hint="split_heads must refuse a number of heads that does not divide the columns.")
def split_and_drop(x, heads):
    k = x.shape[-1] // heads
    return right_split_heads(x[..., : heads * k], heads)


@mutant("heads", replaces="merge_heads", hint="Merging must swap the axes back before it reshapes.", frequent=True)
def merge_by_reshape_alone(x):
    heads, length, k = x.shape[-3:]
    return x.reshape(*x.shape[:-3], length, heads * k)


def many(x, w_q, w_k, w_v, w_o, heads, mask, *, root=None, change=lambda weights: weights, axis=None):
    queries, keys, values = (right_split_heads(x @ matrix, heads) for matrix in (w_q, w_k, w_v))
    scores = queries @ np.swapaxes(keys, -1, -2) / np.sqrt(root or queries.shape[-1])
    weights = change(given_softmax(scores, mask) if axis is None else along(scores, axis))
    return right_merge_heads(weights @ values) @ w_o, weights


def along(scores, axis):
    growth = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return growth / growth.sum(axis=axis, keepdims=True)


@mutant(
    "heads",
    replaces="multi_head_attention",
    hint="You divide by the root of the whole width. A head's score has only its own k terms.",
    frequent=True,
)
def heads_with_the_whole_root(x, w_q, w_k, w_v, w_o, heads, mask=None):
    return many(x, w_q, w_k, w_v, w_o, heads, mask, root=w_q.shape[1])


@mutant(
    "heads",
    replaces="multi_head_attention",
    hint="Your softmax runs over the heads. It runs over the keys of one head.",
    frequent=True,
)
def heads_that_compete(x, w_q, w_k, w_v, w_o, heads, mask=None):
    return many(x, w_q, w_k, w_v, w_o, heads, mask, axis=-3)


@mutant("heads", replaces="multi_head_attention", hint="You leave out the output projection w_o.", frequent=True)
def heads_without_projection(x, w_q, w_k, w_v, w_o, heads, mask=None):
    output, weights = right_multi_head_attention(x, w_q, w_k, w_v, np.eye(w_v.shape[1]), heads, mask)
    return output, weights


@mutant("heads", replaces="multi_head_attention", hint="All your heads use head 0's weights.", frequent=True)
def heads_that_copy(x, w_q, w_k, w_v, w_o, heads, mask=None):
    return many(x, w_q, w_k, w_v, w_o, heads, mask, change=lambda w: np.broadcast_to(w[..., :1, :, :], w.shape))


@mutant(
    "heads",
    replaces="multi_head_attention",
    hint="You average the weights over the heads, so all look at the same places.",
    frequent=True,
)
def heads_that_agree(x, w_q, w_k, w_v, w_o, heads, mask=None):
    return many(
        x, w_q, w_k, w_v, w_o, heads, mask, change=lambda w: np.broadcast_to(w.mean(axis=-3, keepdims=True), w.shape)
    )


@mutant("heads", replaces="multi_head_attention", hint="You ignore the mask.", frequent=True)
def heads_without_mask(x, w_q, w_k, w_v, w_o, heads, mask=None):
    return many(x, w_q, w_k, w_v, w_o, heads, None)


@mutant(
    "heads",
    replaces="multi_head_attention",
    hint="A row that may read nothing must have zero weights, and yours has an even split.",
)
def heads_that_fill_empty_rows(x, w_q, w_k, w_v, w_o, heads, mask=None):
    def fill(weights):
        empty = weights.sum(axis=-1, keepdims=True) == 0
        return np.where(empty, 1 / weights.shape[-1], weights)

    return many(x, w_q, w_k, w_v, w_o, heads, mask, change=fill)


# --------------------------------------------------------------------------------------------------------- head_costs


@mutant(
    "head_costs",
    hint="You count the whole width for every head. The heads share it: each has width / heads columns.",
    museum="Every head is charged the full width, so four heads seem to cost four times as much. *How one would notice:* "
    "the projections. Four heads together multiply by the same matrices as one head.",
)
def costs_of_full_heads(length, width, heads):
    operations, tables = right_head_costs(length, width, heads)
    return operations + (heads - 1) * 4 * length**2 * width, tables


@mutant("head_costs", hint="You count one table of weights. Every head has its own.", frequent=True)
def costs_with_one_table(length, width, heads):
    return right_head_costs(length, width, heads)[0], 1


@mutant("head_costs", hint="You count the output projection, which the docstring leaves out.", frequent=True)
def costs_with_the_output(length, width, heads):
    operations, tables = right_head_costs(length, width, heads)
    return operations + 2 * length * width**2, tables


@mutant("head_costs", hint="You count a multiplication and its addition as one operation. They are two.", frequent=True)
def costs_of_pairs(length, width, heads):
    operations, tables = right_head_costs(length, width, heads)
    return operations // 2, tables


@mutant(
    "head_costs",
    hint="Your count is a float. Beyond 2^53 a float no longer holds every integer: count in integers.",
    frequent=True,
)
def costs_in_floats(length, width, heads):
    operations, tables = right_head_costs(length, width, heads)
    return float(operations), tables


@mutant("head_costs", hint="An uneven split must raise ValueError.")
def costs_of_uneven_heads(length, width, heads):
    return 6 * length * width**2 + 4 * length**2 * width, heads


# ------------------------------------------------------------------------------------------------------ two_relations


@mutant(
    "two_relations",
    hint="You return the variance of all targets. One head can explain half of it.",
    museum="The floor is taken to be the whole variance of the targets, $2(V-1)/V$: as if one head could do nothing. But a "
    "head that reads only the first symbol gets that half exactly right. *How one would notice:* try that head. Its "
    "error is below the claimed floor.",
)
def floor_of_nothing(symbols):
    return 2 * (symbols - 1) / symbols


@mutant(
    "two_relations",
    hint="Zero is the floor of two heads. One head can only reach V points and what lies between.",
    frequent=True,
)
def floor_of_two_heads(symbols):
    return 0.0


@mutant(
    "two_relations",
    hint="You average over the 2V numbers. The docstring sums the squared differences over them.",
    frequent=True,
)
def floor_for_each_number(symbols):
    return (symbols - 1) / (2 * symbols**2)


@mutant("two_relations", hint="You return what one head explains of a symbol by luck, 1/V. Ask what is left over.")
def floor_of_a_lucky_guess(symbols):
    return 1 / symbols


@mutant("two_relations", replaces="two_head_weights", hint="Both heads look at the same offset.", frequent=True)
def weights_with_one_offset(symbols, length, first, second, sharpness=100.0):
    return right_two_head_weights(symbols, length, first, first, sharpness)


@mutant(
    "two_relations",
    replaces="two_head_weights",
    hint="Your offsets run the wrong way: position i wants place i + offset.",
    frequent=True,
)
def weights_the_other_way(symbols, length, first, second, sharpness=100.0):
    return right_two_head_weights(symbols, length, -first, -second, sharpness)


@mutant(
    "two_relations",
    replaces="two_head_weights",
    hint="Places count in a circle: after the last comes the first.",
    frequent=True,
)
def weights_with_ends(symbols, length, first, second, sharpness=100.0):
    w_q, w_k, w_v, w_o = (np.array(matrix) for matrix in right_two_head_weights(symbols, length, first, second, sharpness))
    for head, offset in enumerate((first, second)):
        keys = w_k[symbols:, head * length : (head + 1) * length]
        keys[...] = np.eye(length, k=-offset)
    return w_q, w_k, w_v, w_o


@mutant("two_relations", replaces="two_head_weights", hint="You ignore the sharpness.")
def weights_of_fixed_sharpness(symbols, length, first, second, sharpness=100.0):
    return right_two_head_weights(symbols, length, first, second)


@mutant(
    "two_relations",
    replaces="two_head_weights",
    hint="Your score is `sharpness` before the division by the root. Make up for the division.",
)
def weights_that_forget_the_root(symbols, length, first, second, sharpness=100.0):
    w_q, *others = right_two_head_weights(symbols, length, first, second, sharpness)
    return w_q / np.sqrt(length), *others


@mutant(
    "two_relations",
    replaces="two_head_weights",
    hint="Your values carry the place as well as the symbol. The rows of w_v that belong to places must be zero.",
    frequent=True,
)
def weights_that_pass_the_place_on(symbols, length, first, second, sharpness=100.0):
    w_q, w_k, _, _ = right_two_head_weights(symbols, length, first, second, sharpness)
    whole, letters = np.eye(symbols + length), np.eye(symbols + length, symbols)
    w_o = np.vstack([np.hstack([letters, 0 * letters]), np.hstack([0 * letters, letters])])
    return w_q, w_k, np.hstack([whole, whole]), w_o


@mutant(
    "two_relations", replaces="two_head_weights", hint="The heads have changed places: head 0 serves `first`.", frequent=True
)
def weights_with_swapped_heads(symbols, length, first, second, sharpness=100.0):
    return right_two_head_weights(symbols, length, second, first, sharpness)


# -------------------------------------------------------------------------------------------------------------- block


@mutant(
    "block",
    replaces="layer_norm",
    hint="Your variance divides by one less than the number of entries (ddof=1).",
    frequent=True,
)
def norm_with_ddof_one(x, gain, shift, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(x.var(axis=-1, keepdims=True, ddof=1) + eps) * gain + shift


@mutant(
    "block",
    replaces="layer_norm",
    hint="You add eps to the standard deviation. It belongs under the root, beside the variance.",
    frequent=True,
)
def norm_with_eps_outside(x, gain, shift, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / (x.std(axis=-1, keepdims=True) + eps) * gain + shift


@mutant(
    "block",
    replaces="layer_norm",
    hint="Your norm runs over the tokens. Each token is normalised across its own numbers.",
    museum="Mean and variance are taken over the tokens, column by column. The numbers look normalised and the shapes "
    "agree, but tokens now see each other's sizes, and a decoder reads the future through the mean. *How one would notice:* "
    "change the last token under a causal mask. No earlier row may move.",
)
def norm_over_tokens(x, gain, shift, eps=1e-5):
    centred = x - x.mean(axis=-2, keepdims=True)
    return centred / np.sqrt(x.var(axis=-2, keepdims=True) + eps) * gain + shift


@mutant("block", replaces="layer_norm", hint="Gain and shift are missing.", frequent=True)
def norm_without_gain(x, gain, shift, eps=1e-5):
    return right_layer_norm(x, np.ones_like(gain), np.zeros_like(shift), eps)


@mutant("block", replaces="gelu", hint="This is ReLU. GELU bends smoothly: at -1 it is -0.159, not 0.", frequent=True)
def gelu_as_relu(x):
    return np.maximum(x, 0.0)


@mutant(
    "block",
    replaces="gelu",
    hint="This is the short form x sigmoid(1.702 x). The docstring has the tanh form.",
    frequent=True,
)
def gelu_by_sigmoid(x):
    return x * 0.5 * (1 + np.tanh(0.851 * x))


def stacked(x, block, heads, mask, norm, order=("attend", "feed"), bend=right_gelu, inside=False):
    """A block with its parts in another order, or with residuals taken elsewhere."""

    def attend(tokens):
        return right_multi_head_attention(tokens, *(block[name] for name in ("w_q", "w_k", "w_v", "w_o")), heads, mask)[0]

    def feed(tokens):
        return bend(tokens @ block["w_1"] + block["b_1"]) @ block["w_2"] + block["b_2"]

    if norm not in ("pre", "post"):
        raise ValueError("norm")
    for at, name in enumerate(order, start=1):
        sublayer = {"attend": attend, "feed": feed}[name]
        gain, shift = block[f"gain_{at}"], block[f"shift_{at}"]
        normed = right_layer_norm(x, gain, shift)
        before = normed if inside else x
        x = before + sublayer(normed) if norm == "pre" else right_layer_norm(x + sublayer(x), gain, shift)
    return x


@mutant(
    "block",
    replaces="transformer_block",
    hint="Your residual connection starts after the norm. It carries what came in, untouched.",
    frequent=True,
)
def block_with_normed_residual(x, block, heads, mask=None, norm="pre"):
    return stacked(x, block, heads, mask, norm, inside=True)


@mutant("block", replaces="transformer_block", hint="Your feed-forward network comes before attention.", frequent=True)
def block_in_the_wrong_order(x, block, heads, mask=None, norm="pre"):
    return stacked(x, block, heads, mask, norm, order=("feed", "attend"))


@mutant("block", replaces="transformer_block", hint="'pre' and 'post' have changed places.", frequent=True)
def block_with_swapped_norms(x, block, heads, mask=None, norm="pre"):
    other = {"pre": "post", "post": "pre"}
    if norm not in other:
        raise ValueError("norm")
    return right_transformer_block(x, block, heads, mask, other[norm])


@mutant(
    "block", replaces="transformer_block", hint="Your residual connections are missing: add what went in.", frequent=True
)
def block_without_residual(x, block, heads, mask=None, norm="pre"):
    if norm not in ("pre", "post"):
        raise ValueError("norm")
    first = right_layer_norm(x, block["gain_1"], block["shift_1"]) if norm == "pre" else x
    x = right_multi_head_attention(first, block["w_q"], block["w_k"], block["w_v"], block["w_o"], heads, mask)[0]
    x = right_layer_norm(x, block["gain_1"], block["shift_1"]) if norm == "post" else x
    second = right_layer_norm(x, block["gain_2"], block["shift_2"]) if norm == "pre" else x
    x = right_gelu(second @ block["w_1"] + block["b_1"]) @ block["w_2"] + block["b_2"]
    return right_layer_norm(x, block["gain_2"], block["shift_2"]) if norm == "post" else x


@mutant("block", replaces="transformer_block", hint="Your block bends with ReLU where gelu is asked for.")
def block_with_relu(x, block, heads, mask=None, norm="pre"):
    return stacked(x, block, heads, mask, norm, bend=lambda hidden: np.maximum(hidden, 0.0))


@mutant("block", replaces="transformer_block", hint="Your block does not pass the mask on.", frequent=True)
def block_without_mask(x, block, heads, mask=None, norm="pre"):
    return right_transformer_block(x, block, heads, None, norm)


@mutant("block", replaces="transformer_block", hint="A norm that is neither 'pre' nor 'post' must raise ValueError.")
def block_with_any_norm(x, block, heads, mask=None, norm="pre"):
    return right_transformer_block(x, block, heads, mask, norm if norm == "pre" else "post")


@mutant("block", replaces="transformer_block", hint="Your second norm uses gain_1 and shift_1 again.", frequent=True)
def block_with_one_norm(x, block, heads, mask=None, norm="pre"):
    block = dict(block) | {"gain_2": block["gain_1"], "shift_2": block["shift_1"]}
    return right_transformer_block(x, block, heads, mask, norm)


# -------------------------------------------------------------------------------------------------------------- depth


def profile(layers, x, spread=None, size=None):
    states = [x]
    for layer in layers:
        states.append(layer(states[-1]))

    def usual_spread(state):
        norm = np.sqrt((state**2).sum())
        return np.sqrt(((state - state.mean(axis=0)) ** 2).sum()) / (norm if norm > 0 else 1.0)

    def usual_size(state):
        return np.sqrt((state**2).mean())

    return np.array([(spread or usual_spread)(s) for s in states]), np.array([(size or usual_size)(s) for s in states])


@mutant(
    "depth",
    hint="You take the mean over the numbers of each token. The mean token is the mean over the tokens (axis 0).",
    museum="The mean runs along the wrong axis, and the curve measures how different the *numbers of one token* are. It "
    "falls and rises plausibly. *How one would notice:* a layer that makes all tokens equal. The spread must be 0 "
    "after it, and here it is not.",
)
def profile_over_features(layers, x):
    def spread(state):
        return np.linalg.norm(state - state.mean(axis=1, keepdims=True)) / max(np.linalg.norm(state), 1e-300)

    return profile(layers, x, spread=spread)


@mutant("depth", hint="Your size is the mean square; take its root.", frequent=True)
def profile_without_root(layers, x):
    return profile(layers, x, size=lambda state: (state**2).mean())


@mutant("depth", hint="The first entry is missing: it describes x before any layer.", frequent=True)
def profile_without_start(layers, x):
    spread, size = right_depth_profile(layers, x)
    return spread[1:], size[1:]


@mutant("depth", hint="Your spread is not relative: divide by the norm of the tokens.", frequent=True)
def profile_not_relative(layers, x):
    return profile(layers, x, spread=lambda state: np.linalg.norm(state - state.mean(axis=0)))


@mutant("depth", hint="Every layer gets x. Each gets what the layer before returned.", frequent=True)
def profile_of_single_layers(layers, x):
    found = [right_depth_profile([layer], x) for layer in layers]
    start = right_depth_profile([], x)
    return tuple(np.array([start[at][0], *(one[at][1] for one in found)]) for at in (0, 1))


@mutant("depth", hint="An array of zeros gives NaN: its spread is 0 by definition.")
def profile_with_nan(layers, x):
    def spread(state):
        with np.errstate(invalid="ignore"):
            return np.linalg.norm(state - state.mean(axis=0)) / np.linalg.norm(state)

    return profile(layers, x, spread=spread)


@mutant("depth", hint="Your size is the norm. Divide by the root of the number of entries.", frequent=True)
def profile_of_norms(layers, x):
    return profile(layers, x, size=np.linalg.norm)


# ------------------------------------------------------------------------------------------------------------- rotate


def turned(x, angles, left, right):
    """Rotate the columns `left` against the columns `right`."""
    result = np.empty(x.shape)
    result[..., left] = x[..., left] * np.cos(angles) - x[..., right] * np.sin(angles)
    result[..., right] = x[..., left] * np.sin(angles) + x[..., right] * np.cos(angles)
    return result


def angles_of(x, positions, base):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd")
    return np.outer(positions, base ** (-np.arange(0, d, 2) / d))


@mutant(
    "rotate",
    hint="You pair column k with column k + d/2. Here, neighbours form a pair: 2k and 2k + 1.",
    museum="Many libraries pair column $k$ with column $k + d/2$. Scores still depend on the distance alone, so everything "
    "that is trained with it works. But weights trained with one pairing are useless under the other. *How one would "
    "notice:* only by comparing numbers, such as a quarter turn of a single pair.",
)
def rotate_in_halves(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    return turned(x, angles_of(x, positions, base), slice(0, half), slice(half, None))


@mutant("rotate", hint="You turn the other way: (u, w) becomes (u cos - w sin, u sin + w cos).", frequent=True)
def rotate_backwards(x, positions, base=10000.0):
    return right_rotate(x, -np.asarray(positions), base)


@mutant("rotate", hint="You count positions from 1. At position 0 nothing turns.", frequent=True)
def rotate_from_one(x, positions, base=10000.0):
    return right_rotate(x, np.asarray(positions) + 1, base)


@mutant("rotate", hint="Your exponent is -k / d in place of -2k / d.", frequent=True)
def rotate_with_the_wrong_rates(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd")
    return turned(x, np.outer(positions, base ** (-np.arange(d // 2) / d)), slice(0, None, 2), slice(1, None, 2))


@mutant("rotate", hint="You ignore `base`.")
def rotate_with_a_fixed_base(x, positions, base=10000.0):
    return right_rotate(x, positions)


@mutant("rotate", hint="An odd number of columns must raise ValueError.")
def rotate_and_leave_the_last(x, positions, base=10000.0):
    even = x.shape[-1] // 2 * 2
    return np.concatenate([right_rotate(x[..., :even], positions, base), x[..., even:]], axis=-1)


@mutant("rotate", hint="You add the sines and cosines. A rotation multiplies.", frequent=True)
def rotate_by_adding(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    return x + np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(positions), x.shape[-1])
