"""Wrong answers that people really give to problem set 3. Each must lose points on its question, and get its hint."""

import numpy as np

from autograder.variants import mutant
from solutions.ps3_position import adam_step as right_adam_step
from solutions.ps3_position import embed_time as right_embed_time
from solutions.ps3_position import logistic_loss as right_logistic_loss
from solutions.ps3_position import logit_terms as right_logit_terms
from solutions.ps3_position import loss_gradients as right_loss_gradients
from solutions.ps3_position import pooled_logits as right_pooled_logits
from solutions.ps3_position import position_sweep as right_position_sweep
from solutions.ps3_position import readout_error as right_readout_error
from solutions.ps3_position import sinusoidal_encoding as right_sinusoidal_encoding
from solutions.ps3_position import sweep_figure as right_sweep_figure
from solutions.ps3_position import time_errors as right_time_errors
from solutions.ps3_position import train as right_train

# ----------------------------------------------------------------------------------------------------------- encoding


def waves_of(places, rates):
    """Sines and cosines side by side, at the given rates."""
    angles = np.outer(places, rates)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(places), -1)


@mutant("encoding", hint="Sine and cosine have changed places: even columns hold sines, odd columns cosines.")
def encoding_with_cosine_first(length, width):
    encoding = right_sinusoidal_encoding(length, width)
    return encoding.reshape(length, width // 2, 2)[:, :, ::-1].reshape(length, width)


@mutant("encoding", hint="You put all sines before all cosines. Here each sine stands beside its cosine.", frequent=True)
def encoding_in_two_halves(length, width):
    encoding = right_sinusoidal_encoding(length, width)
    return np.concatenate([encoding[:, 0::2], encoding[:, 1::2]], axis=1)


@mutant(
    "encoding",
    hint="Your exponent is k / width; the number of the pair is doubled: 2k / width.",
    museum="Writing the number of the pair where twice that number belongs. The first pair is right, the table looks "
    "right, and the hands turn too fast. *How one would notice:* at width 4 the second pair must turn by 0.01 "
    "radians per position, not by 0.1.",
)
def encoding_with_half_the_exponent(length, width):
    right_sinusoidal_encoding(length, width)
    return waves_of(np.arange(length), 10000.0 ** (-np.arange(width // 2) / width))


@mutant(
    "encoding",
    hint="You double the column number. In column 2k the exponent is already the column over the width.",
    frequent=True,
)
def encoding_with_twice_the_exponent(length, width):
    right_sinusoidal_encoding(length, width)
    return waves_of(np.arange(length), 10000.0 ** (-2 * np.arange(0, width, 2) / width))


@mutant("encoding", hint="Each column has a rate of its own. The two columns of a pair share one rate: use column // 2.")
def encoding_with_a_rate_a_column(length, width):
    right_sinusoidal_encoding(length, width)
    angles = np.outer(np.arange(length), 10000.0 ** (-np.arange(width) / width))
    return np.where(np.arange(width) % 2 == 0, np.sin(angles), np.cos(angles))


@mutant("encoding", hint="You count positions from 1. Position 0 comes first: 0, 1, 0, 1, ...")
def encoding_from_position_one(length, width):
    return right_sinusoidal_encoding(length + 1, width)[1:]


@mutant("encoding", hint="The rates are in radians a position; there is no factor of 2 pi.")
def encoding_in_full_turns(length, width):
    right_sinusoidal_encoding(length, width)
    return waves_of(2 * np.pi * np.arange(length), 10000.0 ** (-np.arange(0, width, 2) / width))


@mutant(
    "encoding", hint="You multiply by 10000^(2k/width) where you should divide: later pairs turn more slowly, not faster."
)
def encoding_that_speeds_up(length, width):
    right_sinusoidal_encoding(length, width)
    return waves_of(np.arange(length), 10000.0 ** (np.arange(0, width, 2) / width))


@mutant("encoding", hint="An odd width must raise ValueError; you leave the last sine without its cosine.", frequent=True)
def encoding_of_any_width(length, width):
    return right_sinusoidal_encoding(length, width + width % 2)[:, :width]


@mutant("encoding", hint="Far along, your angles lose digits: compute them in float64.")
def encoding_in_single_precision(length, width):
    right_sinusoidal_encoding(length, width)
    rates = (10000.0 ** (-np.arange(0, width, 2) / width)).astype(np.float32)
    return waves_of(np.arange(length, dtype=np.float32), rates).astype(np.float64)


# -------------------------------------------------------------------------------------------------------- logit_terms


@mutant("logit_terms", hint="The division by the square root of the width of the queries is missing.", frequent=True)
def terms_without_scaling(content, positions, w_q, w_k):
    return tuple(table * np.sqrt(w_q.shape[1]) for table in right_logit_terms(content, positions, w_q, w_k))


@mutant("logit_terms", hint="You divide by the root of the width of the tokens; it is the width of the queries that counts.")
def terms_scaled_by_the_token_width(content, positions, w_q, w_k):
    factor = np.sqrt(w_q.shape[1] / w_q.shape[0])
    return tuple(table * factor for table in right_logit_terms(content, positions, w_q, w_k))


@mutant(
    "logit_terms",
    hint="The two mixed tables have changed places. The first word names the query, the second the key.",
    museum="Exchanging the two mixed tables. Their sum is right, so a check of the sum alone passes. *How one would "
    "notice:* change the content of one token; content-position changes in its row only.",
)
def terms_with_mixed_tables_swapped(content, positions, w_q, w_k):
    both, content_position, position_content, neither = right_logit_terms(content, positions, w_q, w_k)
    return both, position_content, content_position, neither


@mutant("logit_terms", hint="The mixed tables are missing. A product of two sums has four terms, not two.", frequent=True)
def terms_without_mixed_tables(content, positions, w_q, w_k):
    tables = right_logit_terms(content, positions, w_q, w_k)
    return tables[0], np.zeros_like(tables[1]), np.zeros_like(tables[2]), tables[3]


@mutant(
    "logit_terms",
    hint="You take one mixed table as the transpose of the other. They differ unless w_q and w_k are the same.",
)
def terms_with_a_transpose(content, positions, w_q, w_k):
    tables = right_logit_terms(content, positions, w_q, w_k)
    return tables[0], tables[1], tables[1].T, tables[3]


@mutant("logit_terms", hint="Your tables run the other way: row i belongs to the query of token i, so i goes with w_q.")
def terms_transposed(content, positions, w_q, w_k):
    return tuple(table.T for table in right_logit_terms(content, positions, w_q, w_k))


@mutant("logit_terms", hint="Your keys are made with w_q. Queries and keys have a matrix each.")
def terms_with_one_matrix(content, positions, w_q, w_k):
    return right_logit_terms(content, positions, w_q, w_q)


@mutant(
    "logit_terms",
    hint="You find a table by subtracting others from the scores. Small ones then drown in the rounding of large ones.",
)
def terms_by_subtraction(content, positions, w_q, w_k):
    def scores(tokens):
        return (tokens @ w_q) @ (tokens @ w_k).T / np.sqrt(w_q.shape[1])

    only_content, only_positions = scores(content), scores(positions)
    content_position = content @ w_q @ (positions @ w_k).T / np.sqrt(w_q.shape[1])
    rest = scores(content + positions) - only_content - only_positions - content_position
    # Without positions nothing is left over, not even a rounding.
    return only_content, content_position, rest * np.any(positions), only_positions


@mutant("logit_terms", hint="You compute in single precision (float32). Keep float64.")
def terms_in_single_precision(content, positions, w_q, w_k):
    return right_logit_terms(*(array.astype(np.float32) for array in (content, positions, w_q, w_k)))


@mutant("logit_terms", hint="Each of your tables is divided by d, not by its square root.")
def terms_scaled_by_the_width(content, positions, w_q, w_k):
    return tuple(table / np.sqrt(w_q.shape[1]) for table in right_logit_terms(content, positions, w_q, w_k))


# ------------------------------------------------------------------------------------------------------------ forward


@mutant("forward", hint="The scores are not divided by the square root of the width.", frequent=True)
def forward_without_scaling(tokens, query, readout):
    return right_pooled_logits(tokens, query * np.sqrt(len(query)), readout)


@mutant("forward", hint="You divide the scores by the width; it is its square root.")
def forward_scaled_by_the_width(tokens, query, readout):
    return right_pooled_logits(tokens, query / np.sqrt(len(query)), readout)


@mutant(
    "forward",
    hint="Your softmax runs over the examples. Each example spends a budget of its own over its tokens.",
    museum="A softmax along the wrong axis: examples compete with each other. With as many examples as tokens even "
    "the shapes fit. *How one would notice:* the weights of each example must sum to one, and an example must "
    "get the same answer alone.",
)
def forward_with_softmax_over_examples(tokens, query, readout):
    scores = tokens @ query / np.sqrt(tokens.shape[2])
    growth = np.exp(scores - scores.max(axis=0))
    weights = growth / growth.sum(axis=0)
    return (weights * (tokens @ readout)).sum(axis=1), weights


@mutant("forward", hint="exp overflows at large scores. Subtract the largest score of each example first.", frequent=True)
def forward_that_overflows(tokens, query, readout):
    growth = np.exp(tokens @ query / np.sqrt(tokens.shape[2]))
    weights = growth / growth.sum(axis=1, keepdims=True)
    return (weights * (tokens @ readout)).sum(axis=1), weights


@mutant(
    "forward",
    hint="You shift by the largest score of the whole batch, so examples far below it lose all weights.",
    frequent=True,
)
def forward_with_one_shift_for_all(tokens, query, readout):
    scores = tokens @ query / np.sqrt(tokens.shape[2])
    growth = np.exp(scores - scores.max())
    weights = growth / growth.sum(axis=1, keepdims=True)
    return (weights * (tokens @ readout)).sum(axis=1), weights


@mutant("forward", hint="You divide by the number of tokens once more; the weights already sum to one.")
def forward_with_a_mean_of_the_average(tokens, query, readout):
    logits, weights = right_pooled_logits(tokens, query, readout)
    return logits / tokens.shape[1], weights


@mutant("forward", hint="You return probabilities. A logit comes before the sigmoid and may be any number.")
def forward_with_a_sigmoid(tokens, query, readout):
    logits, weights = right_pooled_logits(tokens, query, readout)
    return 0.5 + 0.5 * np.tanh(logits / 2), weights


@mutant("forward", hint="You pick the best token. Pooling takes a share of every token.")
def forward_that_picks_one(tokens, query, readout):
    scores = tokens @ query
    weights = (scores == scores.max(axis=1, keepdims=True)).astype(float)
    weights /= weights.sum(axis=1, keepdims=True)
    return (weights * (tokens @ readout)).sum(axis=1), weights


@mutant("forward", hint="You compute in single precision (float32). Keep float64.")
def forward_in_single_precision(tokens, query, readout):
    return right_pooled_logits(*(array.astype(np.float32) for array in (tokens, query, readout)))


@mutant("forward", hint="A small number added to the sum makes the weights sum to less than one. No example needs it.")
def forward_with_epsilon(tokens, query, readout):
    scores = tokens @ query / np.sqrt(tokens.shape[2])
    growth = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = growth / (growth.sum(axis=1, keepdims=True) + 1e-9)
    return (weights * (tokens @ readout)).sum(axis=1), weights


@mutant("forward", hint="You divide by the root of the number of tokens; a score is a sum over the width.")
def forward_scaled_by_the_length(tokens, query, readout):
    return right_pooled_logits(tokens, query * np.sqrt(tokens.shape[2] / tokens.shape[1]), readout)


# --------------------------------------------------------------------------------------------------------------- loss


@mutant(
    "loss",
    hint="You sum over the examples. The loss is their mean, so that it does not grow with the number of them.",
    frequent=True,
)
def loss_summed(logits, labels):
    return right_logistic_loss(logits, labels) * len(logits)


@mutant(
    "loss",
    hint="exp overflows, or the logarithm meets a zero. Use log(1 + exp(x)) in a form that is stable.",
    museum="The formula typed as it stands: a sigmoid, then its logarithm. It is right until an answer is sure and "
    "wrong, and then it is infinite or NaN. *How one would notice:* a logit of -800 for label 1 must cost 800.",
)
def loss_that_overflows(logits, labels):
    p = 1 / (1 + np.exp(-logits))
    return float(-np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p)))


@mutant(
    "loss",
    hint="You clip the probabilities. Then a very sure and wrong answer costs too little: work with the logits.",
    frequent=True,
)
def loss_clipped(logits, labels):
    p = np.clip(0.5 + 0.5 * np.tanh(logits / 2), 1e-12, 1 - 1e-12)
    return float(-np.mean(np.where(labels > 0.5, np.log(p), np.log(1 - p))))


@mutant("loss", hint="You multiply logits by labels as if labels were -1 and 1; here they are 0 and 1.", frequent=True)
def loss_of_signed_labels(logits, labels):
    return float(np.logaddexp(0, -labels * logits).mean())


@mutant("loss", hint="Label 0 costs nothing in your formula. It costs -log(1 - sigmoid(z)).")
def loss_of_positive_examples(logits, labels):
    return float((labels * np.logaddexp(0, -logits)).mean())


@mutant("loss", hint="Your loss is in bits. Use the natural logarithm.")
def loss_in_bits(logits, labels):
    return right_logistic_loss(logits, labels) / np.log(2)


@mutant("loss", hint="Your labels are exchanged: a positive logit speaks for label 1.")
def loss_of_the_other_label(logits, labels):
    return right_logistic_loss(logits, 1 - labels)


@mutant("loss", hint="That is the squared error of the probability. The logistic loss is -log of the probability.")
def loss_squared(logits, labels):
    return float(np.mean((0.5 + 0.5 * np.tanh(logits / 2) - labels) ** 2))


@mutant("loss", hint="You compute in single precision (float32). Keep float64.")
def loss_in_single_precision(logits, labels):
    return float(right_logistic_loss(logits.astype(np.float32), labels.astype(np.float32)))


@mutant("loss", hint="A small number inside the logarithm makes every answer cheaper. Work with the logits instead.")
def loss_with_epsilon(logits, labels):
    p = 0.5 + 0.5 * np.tanh(logits / 2)
    return float(-np.mean(np.log(np.where(labels > 0.5, p, 1 - p) + 1e-7)))


# ---------------------------------------------------------------------------------------------------------- gradients


def by_hand(tokens, labels, query, readout, slope_of_weights):
    """Gradients with any claim about how the weights follow the scores: (weights, by_weight) to by_score."""
    logits, weights = right_pooled_logits(tokens, query, readout)
    error = (0.5 + 0.5 * np.tanh(logits / 2) - labels) / len(tokens)
    by_weight = error[:, None] * (tokens @ readout)
    by_score = slope_of_weights(weights, by_weight)
    by_query = np.einsum("nl,nld->d", by_score, tokens) / np.sqrt(tokens.shape[2])
    return by_query, np.einsum("n,nl,nld->d", error, weights, tokens)


@mutant(
    "gradients",
    hint="The softmax Jacobian is diag(a) - a a^T. You have its first term only: raising one weight lowers the others.",
    museum="Only the first term of the softmax Jacobian: raising a score raises its own weight, and nobody pays for "
    "it. Training still works a little. *How one would notice:* where all tokens of an example have the same "
    "value, the query's gradient must vanish.",
)
def gradients_with_half_a_jacobian(tokens, labels, query, readout):
    return by_hand(tokens, labels, query, readout, lambda weights, by_weight: weights * by_weight)


@mutant("gradients", hint="a (1 - a) is only the diagonal of the softmax Jacobian; every score moves every weight.")
def gradients_with_the_diagonal_only(tokens, labels, query, readout):
    return by_hand(tokens, labels, query, readout, lambda weights, by_weight: weights * (1 - weights) * by_weight)


@mutant(
    "gradients",
    hint="The scores are divided by the square root of the width, and so is the gradient of the query.",
    frequent=True,
)
def gradients_without_scaling(tokens, labels, query, readout):
    by_query, by_readout = right_loss_gradients(tokens, labels, query, readout)
    return by_query * np.sqrt(tokens.shape[2]), by_readout


@mutant("gradients", hint="You sum over the examples. The loss is a mean, so divide by their number.", frequent=True)
def gradients_summed(tokens, labels, query, readout):
    return tuple(gradient * len(tokens) for gradient in right_loss_gradients(tokens, labels, query, readout))


@mutant("gradients", hint="Your signs are reversed: the slope by the logit is sigmoid(z) - label.")
def gradients_downhill(tokens, labels, query, readout):
    return tuple(-gradient for gradient in right_loss_gradients(tokens, labels, query, readout))


@mutant(
    "gradients",
    hint="You treat the weights as constants. The query moves the scores, and with them the weights.",
    frequent=True,
)
def gradients_with_constant_weights(tokens, labels, query, readout):
    by_query, by_readout = right_loss_gradients(tokens, labels, query, readout)
    return np.zeros_like(by_query), by_readout


@mutant("gradients", hint="The gradient of the readout is made of pooled vectors: weigh the tokens, do not take their mean.")
def gradients_with_an_even_split(tokens, labels, query, readout):
    by_query, _ = right_loss_gradients(tokens, labels, query, readout)
    logits, _ = right_pooled_logits(tokens, query, readout)
    error = (0.5 + 0.5 * np.tanh(logits / 2) - labels) / len(tokens)
    return by_query, error @ tokens.mean(axis=1)


@mutant("gradients", hint="The two gradients have changed places: the query's comes first.")
def gradients_swapped(tokens, labels, query, readout):
    return right_loss_gradients(tokens, labels, query, readout)[::-1]


@mutant(
    "gradients", hint="You measure slopes with finite steps. That is a check, and too coarse for an answer: differentiate."
)
def gradients_by_small_steps(tokens, labels, query, readout):
    def loss(*parameters):
        return right_logistic_loss(right_pooled_logits(tokens, *parameters)[0], labels)

    start, moves = loss(query, readout), 1e-4 * np.eye(len(query))
    return (
        np.array([(loss(query + move, readout) - start) / 1e-4 for move in moves]),
        np.array([(loss(query, readout + move) - start) / 1e-4 for move in moves]),
    )


@mutant("gradients", hint="1 / (1 + exp(-z)) overflows for very negative logits. Write the sigmoid in a stable form.")
def gradients_with_an_unstable_sigmoid(tokens, labels, query, readout):
    logits, weights = right_pooled_logits(tokens, query, readout)
    error = (1 / (1 + np.exp(-logits)) - labels) / len(tokens)
    by_score = error[:, None] * weights * (tokens @ readout - logits[:, None])
    by_query = np.einsum("nl,nld->d", by_score, tokens) / np.sqrt(tokens.shape[2])
    return by_query, np.einsum("n,nl,nld->d", error, weights, tokens)


@mutant("gradients", hint="You compute in single precision (float32). Keep float64.")
def gradients_in_single_precision(tokens, labels, query, readout):
    single = [array.astype(np.float32) for array in (tokens, labels, query, readout)]
    return tuple(gradient.astype(np.float64) for gradient in right_loss_gradients(*single))


@mutant("gradients", hint="You divide the query's gradient by the width; the scores are divided by its square root.")
def gradients_scaled_by_the_width(tokens, labels, query, readout):
    by_query, by_readout = right_loss_gradients(tokens, labels, query, readout)
    return by_query / np.sqrt(tokens.shape[2]), by_readout


@mutant("gradients", hint="exp overflows at large scores. Subtract the largest score of each example first.")
def gradients_without_a_shift(tokens, labels, query, readout):
    scores = tokens @ query / np.sqrt(tokens.shape[2])
    if np.abs(scores).max() > 700:
        with np.errstate(all="ignore"):
            return np.full_like(query, np.nan), np.full_like(readout, np.nan)
    return right_loss_gradients(tokens, labels, query, readout)


# --------------------------------------------------------------------------------------------------------------- adam


@mutant(
    "adam",
    hint="The averages start at zero and are too small at first. Divide them by 1 - beta^step.",
    museum="Leaving out both corrections. The first step is then 3.16 learning rates long, and after some hundred "
    "steps nothing shows. *How one would notice:* the first step must be one learning rate long.",
)
def adam_without_correction(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    m, v = beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * gradient**2
    return theta - lr * m / (np.sqrt(v) + eps), m, v


@mutant("adam", hint="You correct m and not v. Each average has a correction of its own.", frequent=True)
def adam_with_half_the_correction(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    m, v = beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * gradient**2
    return theta - lr * m / (1 - beta1**step) / (np.sqrt(v) + eps), m, v


@mutant("adam", hint="You hand back the corrected averages. They would be corrected again in the next step.", frequent=True)
def adam_that_keeps_the_correction(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    moved, m, v = right_adam_step(theta, gradient, m, v, step, lr, beta1, beta2, eps)
    return moved, m / (1 - beta1**step), v / (1 - beta2**step)


@mutant("adam", hint="eps is under your square root. It is added to the root.")
def adam_with_eps_under_the_root(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    _, m, v = right_adam_step(theta, gradient, m, v, step, lr, beta1, beta2, eps)
    return theta - lr * m / (1 - beta1**step) / np.sqrt(v / (1 - beta2**step) + eps), m, v


@mutant("adam", hint="You add the step. It goes against the slope.")
def adam_uphill(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    moved, m, v = right_adam_step(theta, gradient, m, v, step, lr, beta1, beta2, eps)
    return 2 * theta - moved, m, v


@mutant("adam", hint="You return the step. Add it to theta: the new theta is asked for.", frequent=True)
def adam_returns_the_step(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    moved, m, v = right_adam_step(theta, gradient, m, v, step, lr, beta1, beta2, eps)
    return moved - theta, m, v


@mutant("adam", hint="You add eps before the correction of v. It is added to the root of the corrected average.")
def adam_with_eps_before_correction(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    _, m, v = right_adam_step(theta, gradient, m, v, step, lr, beta1, beta2, eps)
    rate = lr * np.sqrt(1 - beta2**step) / (1 - beta1**step)
    return theta - rate * m / (np.sqrt(v) + eps), m, v


@mutant("adam", hint="You compute in single precision (float32). Keep float64.")
def adam_in_single_precision(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    arrays = [np.asarray(array, dtype=np.float32) for array in (theta, gradient, m, v)]
    moved = right_adam_step(*arrays, step, lr, beta1, beta2, eps)
    return tuple(np.asarray(array, dtype=np.float64) for array in moved)


@mutant("adam", hint="v averages the squares of the slopes; you average the slopes themselves.")
def adam_without_squares(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    m, v = beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * np.abs(gradient)
    return theta - lr * m / (1 - beta1**step) / (np.sqrt(v / (1 - beta2**step)) + eps), m, v


@mutant("adam", hint="beta1 belongs to m and beta2 to v; yours are swapped.")
def adam_with_swapped_betas(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    return right_adam_step(theta, gradient, m, v, step, lr, beta2, beta1, eps)


@mutant("adam", hint="The first step has the number 1 already; you count it as the second.")
def adam_counting_from_zero(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    _, m, v = right_adam_step(theta, gradient, m, v, step, lr, beta1, beta2, eps)
    m_hat, v_hat = m / (1 - beta1 ** (step + 1)), v / (1 - beta2 ** (step + 1))
    return theta - lr * m_hat / (np.sqrt(v_hat) + eps), m, v


@mutant("adam", hint="You divide by v instead of its square root: the step then depends on the unit of the slope.")
def adam_without_the_root(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    _, m, v = right_adam_step(theta, gradient, m, v, step, lr, beta1, beta2, eps)
    return theta - lr * m / (1 - beta1**step) / (v / (1 - beta2**step) + eps), m, v


@mutant("adam", hint="You use fixed settings instead of the arguments lr, beta1, beta2 and eps.", frequent=True)
def adam_with_fixed_settings(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    return right_adam_step(theta, gradient, m, v, step, lr)


@mutant("adam", hint="You flatten the parameters. theta, m and v keep their shape, whatever its rank.")
def adam_that_flattens(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    return tuple(array.ravel() for array in right_adam_step(theta, gradient, m, v, step, lr, beta1, beta2, eps))


@mutant("adam", hint="You write into the arrays that you were given. The step is a pure function: make new ones.")
def adam_in_place(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    for old, new in zip((theta, m, v), right_adam_step(theta, gradient, m, v, step, lr, beta1, beta2, eps), strict=True):
        old[...] = new
    return theta, m, v


# -------------------------------------------------------------------------------------------------------------- train


def descend(tokens, labels, query, readout, steps, update):
    """Training with any update rule: (theta, slope, m, v, step) to (theta, m, v)."""
    theta = np.stack([query, readout])
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, steps + 1):
        theta, m, v = update(theta, np.stack(right_loss_gradients(tokens, labels, *theta)), m, v, step)
    return theta[0], theta[1]


@mutant(
    "train",
    hint="You follow the plain slope. Use adam_step, which gives every number a step of its own size.",
    frequent=True,
)
def train_by_plain_descent(tokens, labels, query, readout, steps=1500, lr=0.01):
    return descend(tokens, labels, query, readout, steps, lambda theta, slope, m, v, step: (theta - lr * slope, m, v))


@mutant("train", hint="You pass the same step number each time. The correction needs 1, 2, 3, ...", frequent=True)
def train_always_at_step_one(tokens, labels, query, readout, steps=1500, lr=0.01):
    return descend(
        tokens, labels, query, readout, steps, lambda theta, slope, m, v, step: right_adam_step(theta, slope, m, v, 1, lr)
    )


@mutant(
    "train",
    hint="You set m and v back to zero at every step. Keep what adam_step hands back.",
    museum="Starting m and v anew inside the loop. Adam then follows the sign of the last slope only. *How one would "
    "notice:* with a slope that keeps its sign, twenty steps must move a number by twenty learning rates.",
)
def train_that_forgets(tokens, labels, query, readout, steps=1500, lr=0.01):
    return descend(
        tokens,
        labels,
        query,
        readout,
        steps,
        lambda theta, slope, m, v, step: (right_adam_step(theta, slope, 0 * m, 0 * v, step, lr)[0], m, v),
    )


@mutant("train", hint="You take one step too few.")
def train_one_step_less(tokens, labels, query, readout, steps=1500, lr=0.01):
    return right_train(tokens, labels, query, readout, max(steps - 1, 0), lr)


@mutant("train", hint="Your learning rate is fixed at 0.01. Pass lr on.")
def train_at_a_fixed_rate(tokens, labels, query, readout, steps=1500, lr=0.01):
    return right_train(tokens, labels, query, readout, steps)


@mutant("train", hint="Only the readout moves. The query is learned too.")
def train_the_readout_only(tokens, labels, query, readout, steps=1500, lr=0.01):
    def update(theta, slope, m, v, step):
        moved, m, v = right_adam_step(theta, slope, m, v, step, lr)
        return np.stack([query, moved[1]]), m, v

    return descend(tokens, labels, query, readout, steps, update)


@mutant("train", hint="You climb. Adam subtracts its step from the parameters, so hand it the slope as it is.")
def train_uphill(tokens, labels, query, readout, steps=1500, lr=0.01):
    return descend(
        tokens,
        labels,
        query,
        readout,
        steps,
        lambda theta, slope, m, v, step: right_adam_step(theta, -slope, m, v, step, lr),
    )


@mutant(
    "train", hint="You move the query first and then take the readout's slope at the new place. Take both slopes, then move."
)
def train_one_after_the_other(tokens, labels, query, readout, steps=1500, lr=0.01):
    states = [[query, 0 * query, 0 * query], [readout, 0 * readout, 0 * readout]]
    for step in range(1, steps + 1):
        for place, state in enumerate(states):
            slope = right_loss_gradients(tokens, labels, states[0][0], states[1][0])[place]
            state[:] = right_adam_step(state[0], slope, *state[1:], step, lr)
    return states[0][0], states[1][0]


@mutant("train", hint="You train on batches. Every step uses the slope over all examples.")
def train_on_batches(tokens, labels, query, readout, steps=1500, lr=0.01):
    theta = np.stack([query, readout])
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, steps + 1):
        part = slice(step % 2, None, 2) if len(labels) > 1 else slice(None)
        slope = np.stack(right_loss_gradients(tokens[part], labels[part], *theta))
        theta, m, v = right_adam_step(theta, slope, m, v, step, lr)
    return theta[0], theta[1]


@mutant("train", hint="You take batches of 256 examples where there are more. Every step uses the slope over all examples.")
def train_on_large_batches(tokens, labels, query, readout, steps=1500, lr=0.01):
    theta = np.stack([query, readout])
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, steps + 1):
        parts = -(-len(labels) // 256)
        part = slice(step % parts, None, parts)
        slope = np.stack(right_loss_gradients(tokens[part], labels[part], *theta))
        theta, m, v = right_adam_step(theta, slope, m, v, step, lr)
    return theta[0], theta[1]


@mutant("train", hint="You compute in single precision (float32). Keep float64.")
def train_in_single_precision(tokens, labels, query, readout, steps=1500, lr=0.01):
    single = [array.astype(np.float32) for array in (tokens, labels, query, readout)]
    return tuple(array.astype(np.float32) for array in right_train(*single, steps, lr))


@mutant("train", hint="Zero steps return the start. You take at least one.")
def train_at_least_once(tokens, labels, query, readout, steps=1500, lr=0.01):
    return right_train(tokens, labels, query, readout, max(steps, 1), lr)


# -------------------------------------------------------------------------------------------------------------- sweep


def measured(sets, trained):
    """Train and test accuracy of what was trained."""
    return [((right_pooled_logits(tokens, *trained)[0] > 0) == (labels > 0.5)).mean() for tokens, labels in sets]


@mutant(
    "sweep", hint="You go on from the weights of the scale before. Every scale starts from the given start.", frequent=True
)
def sweep_that_goes_on(train_set, test_set, positions, query, readout, scales, steps=1500, lr=0.01):
    table, trained = [], (query, readout)
    for scale in scales:
        sets = [(tokens + scale * positions, labels) for tokens, labels in (train_set, test_set)]
        trained = right_train(*sets[0], *trained, steps, lr)
        table.append(measured(sets, trained))
    return np.array(table)


@mutant(
    "sweep",
    hint="The test set has no positions in your sweep. The model must see the kind of input it was trained on.",
    museum="Adding positions to the train set only. The model looks for a mark that the test set does not carry, and "
    "test accuracy falls as the scale grows. *How one would notice:* train and test accuracy lie far apart at "
    "scale 3.",
)
def sweep_with_a_bare_test_set(train_set, test_set, positions, query, readout, scales, steps=1500, lr=0.01):
    table = []
    for scale in scales:
        moved = train_set[0] + scale * positions, train_set[1]
        table.append(measured([moved, test_set], right_train(*moved, query, readout, steps, lr)))
    return np.array(table)


@mutant("sweep", hint="The columns are swapped: train accuracy first, then test accuracy.")
def sweep_with_swapped_columns(*arguments, **settings):
    return right_position_sweep(*arguments, **settings)[:, ::-1]


@mutant("sweep", hint="You sort the scales. Rows follow the order that was given.")
def sweep_sorted(train_set, test_set, positions, query, readout, scales, steps=1500, lr=0.01):
    return right_position_sweep(train_set, test_set, positions, query, readout, sorted(scales), steps, lr)


@mutant("sweep", hint="You return percentages. An accuracy is a share between 0 and 1.", frequent=True)
def sweep_in_percent(*arguments, **settings):
    return 100 * right_position_sweep(*arguments, **settings)


@mutant("sweep", hint="You return error rates. An accuracy counts the examples that are right.")
def sweep_of_errors(*arguments, **settings):
    return 1 - right_position_sweep(*arguments, **settings)


@mutant("sweep", hint="You scale the tokens with the positions. Only the positions are made stronger.")
def sweep_that_scales_everything(train_set, test_set, positions, query, readout, scales, steps=1500, lr=0.01):
    table = []
    for scale in scales:
        sets = [(scale * (tokens + positions), labels) for tokens, labels in (train_set, test_set)]
        table.append(measured(sets, right_train(*sets[0], query, readout, steps, lr)))
    return np.array(table)


@mutant("sweep", hint="You train on the test set. It is kept for measuring.")
def sweep_that_peeks(train_set, test_set, positions, query, readout, scales, steps=1500, lr=0.01):
    table = []
    for scale in scales:
        sets = [(tokens + scale * positions, labels) for tokens, labels in (train_set, test_set)]
        both = np.concatenate([sets[0][0], sets[1][0]]), np.concatenate([sets[0][1], sets[1][1]])
        table.append(measured(sets, right_train(*both, query, readout, steps, lr)))
    return np.array(table)


@mutant("sweep", hint="A logit of exactly zero counts as a prediction of 0: use >, not >=.", frequent=True)
def sweep_where_zero_says_one(train_set, test_set, positions, query, readout, scales, steps=1500, lr=0.01):
    table = []
    for scale in scales:
        sets = [(tokens + scale * positions, labels) for tokens, labels in (train_set, test_set)]
        trained = right_train(*sets[0], query, readout, steps, lr)
        table.append([((right_pooled_logits(tokens, *trained)[0] >= 0) == (labels > 0.5)).mean() for tokens, labels in sets])
    return np.array(table)


@mutant("sweep", hint="lr or steps do not reach `train`. Pass both on.")
def sweep_with_the_usual_rate(train_set, test_set, positions, query, readout, scales, steps=1500, lr=0.01):
    table = []
    for scale in scales:
        sets = [(tokens + scale * positions, labels) for tokens, labels in (train_set, test_set)]
        table.append(measured(sets, right_train(*sets[0], query, readout, steps)))
    return np.array(table)


# ------------------------------------------------------------------------------------------------------------- figure


def lines_of(figure):
    """The seeds' markers, the median and the bound, as the reference draws them."""
    *seeds, median, bound = figure.axes[0].lines
    return seeds, median, bound


@mutant(
    "figure",
    hint="Your curve shows means. One seed that fails moves a mean far; draw medians.",
    museum="Drawing means. One run that fails moves the curve by a tenth, and the curve shows a number that no run "
    "has. *How one would notice:* put in three runs, one of them bad, and look where the line goes.",
)
def figure_of_means(scales, test_accuracies, bound):
    figure = right_sweep_figure(scales, test_accuracies, bound)
    lines_of(figure)[1].set_ydata(np.mean(test_accuracies, axis=0))
    return figure


@mutant("figure", hint="Your bound is always at 163/256. Draw the bound that is passed in.")
def figure_with_a_fixed_bound(scales, test_accuracies, bound):
    figure = right_sweep_figure(scales, test_accuracies, 163 / 256)
    return figure


@mutant(
    "figure", hint="Your bound runs from 0 to 1 on the axis of scales. It holds at every scale: from the first to the last."
)
def figure_with_a_short_bound(scales, test_accuracies, bound):
    figure = right_sweep_figure(scales, test_accuracies, bound)
    axes, line = figure.axes[0], lines_of(figure)[2]
    line.remove()
    axes.plot([0, 1], [bound, bound], "--", label="bound for any rule without order")
    axes.legend()
    return figure


@mutant("figure", hint="The single seeds are missing. Draw every accuracy as a marker.", frequent=True)
def figure_without_seeds(scales, test_accuracies, bound):
    figure = right_sweep_figure(scales, test_accuracies, bound)
    for line in lines_of(figure)[0]:
        line.remove()
    return figure


@mutant("figure", hint="You connect the single seeds by lines. Use unconnected markers, so that the median stands out.")
def figure_with_connected_seeds(scales, test_accuracies, bound):
    figure = right_sweep_figure(scales, test_accuracies, bound)
    for line in lines_of(figure)[0]:
        line.set_linestyle("-")
    return figure


@mutant("figure", hint="A legend is missing, so a reader cannot tell the bound from the median.", frequent=True)
def figure_without_legend(scales, test_accuracies, bound):
    figure = right_sweep_figure(scales, test_accuracies, bound)
    figure.axes[0].get_legend().remove()
    return figure


@mutant("figure", hint="The axes have no names. Say what stands along each of them.")
def figure_without_names(scales, test_accuracies, bound):
    figure = right_sweep_figure(scales, test_accuracies, bound)
    figure.axes[0].set(xlabel="", ylabel="")
    return figure


@mutant("figure", hint="Bound and median have the same linestyle; in black and white they look alike.")
def figure_with_one_linestyle(scales, test_accuracies, bound):
    figure = right_sweep_figure(scales, test_accuracies, bound)
    lines_of(figure)[2].set_linestyle("-")
    return figure


@mutant("figure", hint="You draw against 0, 1, 2, ... instead of the scales.")
def figure_against_counts(scales, test_accuracies, bound):
    return right_sweep_figure(list(range(len(scales))), test_accuracies, bound)


@mutant("figure", hint="Your markers cannot be seen: they are transparent or have no size.", frequent=True)
def figure_with_invisible_seeds(scales, test_accuracies, bound):
    figure = right_sweep_figure(scales, test_accuracies, bound)
    for line in lines_of(figure)[0]:
        line.set_alpha(0)
    return figure


@mutant("figure", hint="Your bound cannot be seen: its line has no width or is transparent.")
def figure_with_an_invisible_bound(scales, test_accuracies, bound):
    figure = right_sweep_figure(scales, test_accuracies, bound)
    lines_of(figure)[2].set_linewidth(0)
    return figure


@mutant("figure", hint="Medians are in per cent and the bound is a share, or the other way round. Use one unit.")
def figure_with_two_units(scales, test_accuracies, bound):
    return right_sweep_figure(scales, 100 * np.asarray(test_accuracies), bound)


@mutant("figure", hint="Your markers stand too far from their scale: a quarter of the smallest gap is the most.")
def figure_with_wide_jitter(scales, test_accuracies, bound):
    figure = right_sweep_figure(scales, test_accuracies, bound)
    for place, line in enumerate(lines_of(figure)[0]):
        line.set_xdata(np.asarray(line.get_xdata()) + (0.4, -0.4)[place % 2] * np.diff(scales).min())
    return figure


@mutant("figure", hint='The label of the bound does not say so: it must contain the word "bound".')
def figure_with_an_unnamed_bound(scales, test_accuracies, bound):
    figure = right_sweep_figure(scales, test_accuracies, bound)
    lines_of(figure)[2].set_label("163/256")
    figure.axes[0].legend()
    return figure


# --------------------------------------------------------------------------------------------------------------- time


@mutant("time", hint="You round times to whole positions. The formula takes any real number.")
def embed_rounded_times(times, width, span=20.0):
    return right_embed_time(np.round(span * times) / span, width, span)


@mutant("time", hint="You leave the span out, so the embedding hardly turns while time runs from 0 to 1.", frequent=True)
def embed_time_without_span(times, width, span=20.0):
    return right_embed_time(times, width, 1.0)


@mutant("time", hint="You embed the place in the list, not the time: two times that are equal must get equal vectors.")
def embed_the_index(times, width, span=20.0):
    return right_sinusoidal_encoding(len(times), width)


@mutant("time", replaces="readout_error", hint="You measure on the train set. The error that counts is on the test set.")
def error_on_the_train_set(train_set, test_set, layer, ridge=1e-4):
    return right_readout_error(train_set, train_set, layer, ridge)


@mutant("time", replaces="readout_error", hint="The bias of the hidden units is missing: tanh(inputs @ weights + bias).")
def error_without_bias(train_set, test_set, layer, ridge=1e-4):
    return right_readout_error(train_set, test_set, (layer[0], np.zeros_like(layer[1])), ridge)


@mutant(
    "time",
    replaces="readout_error",
    hint="Your ridge stands against a sum over examples; the equation has a mean, so the ridge counts n times.",
    museum="Adding the ridge to a sum over examples where the formula has a mean: the ridge is then n times too weak. "
    "With a small ridge the error hardly moves. *How one would notice:* one unit, two examples and a ridge of "
    "3/4 can be solved on paper.",
)
def error_with_a_weak_ridge(train_set, test_set, layer, ridge=1e-4):
    return right_readout_error(train_set, test_set, layer, ridge / len(train_set[1]))


@mutant("time", replaces="readout_error", hint="You return the root of the mean squared error.")
def error_with_a_root(train_set, test_set, layer, ridge=1e-4):
    return float(np.sqrt(right_readout_error(train_set, test_set, layer, ridge)))


@mutant("time", replaces="time_errors", hint="The two errors have changed places: the scalar's comes first.", frequent=True)
def errors_swapped(train_set, test_set, scalar_layer, embedded_layer, span=20.0):
    return right_time_errors(train_set, test_set, scalar_layer, embedded_layer, span)[::-1]


@mutant("time", replaces="time_errors", hint="Time stands before the features in your inputs; the features come first.")
def errors_with_time_first(train_set, test_set, scalar_layer, embedded_layer, span=20.0):
    width = len(embedded_layer[0]) - train_set[0].shape[1]

    def joined(tell, data):
        return np.column_stack([tell(data[1]), data[0]]), data[2]

    return tuple(
        right_readout_error(joined(tell, train_set), joined(tell, test_set), layer)
        for tell, layer in (
            (lambda times: times, scalar_layer),
            (lambda times: right_embed_time(times, width, span), embedded_layer),
        )
    )


@mutant("time", replaces="time_errors", hint="You do not pass the span on to embed_time.")
def errors_with_the_default_span(train_set, test_set, scalar_layer, embedded_layer, span=20.0):
    return right_time_errors(train_set, test_set, scalar_layer, embedded_layer)


@mutant("time", replaces="readout_error", hint="Your ridge is fixed at 1e-4. Use the argument.")
def error_with_a_fixed_ridge(train_set, test_set, layer, ridge=1e-4):
    return right_readout_error(train_set, test_set, layer)


# ------------------------------------------------------------------------------------------------------------ reading


@mutant("reading", replaces="above", hint="The bound is about fresh examples on average; these examples were fitted.")
def above_means_a_fault():
    return "a"


@mutant("reading", replaces="above", hint="A set of tokens holds no trace of the order. What else differs on the train set?")
def above_means_a_trace():
    return "b"


@mutant("reading", replaces="longer", hint="Longer training was tried: look at the curve against steps. It is flat.")
def longer_is_as_good_as_stronger():
    return "b"


@mutant("reading", replaces="longer", hint="The model has 32 numbers for 1000 examples; it cannot fit them by heart.")
def longer_overfits():
    return "d"


@mutant(
    "reading", replaces="tripled", hint="In position-position the scale enters twice, once by the query and once by the key."
)
def tripled_once_everywhere():
    return "b"


@mutant("reading", replaces="tripled", hint="Two factors of three multiply; they do not add.")
def tripled_by_adding():
    return "c"


@mutant(
    "reading", replaces="spread", hint="A little worse everywhere would lower the median too, and leave the spread small."
)
def spread_is_a_little_worse():
    return "a"


@mutant("reading", replaces="spread", hint="1000 test examples scatter by 0.016 at most; 0.5 is much further away.")
def spread_is_noise():
    return "c"
