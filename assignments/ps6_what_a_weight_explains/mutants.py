"""Wrong answers to problem set 6 that have been seen or are likely. Each must lose points, on its own question only."""

import numpy as np
from matplotlib.figure import Figure

from autograder.variants import mutant
from solutions.ps6_what_a_weight_explains import adam_step as given_adam_step
from solutions.ps6_what_a_weight_explains import attention_backward as own_attention_backward
from solutions.ps6_what_a_weight_explains import deletion_effects as right_deletion_effects
from solutions.ps6_what_a_weight_explains import difference_head as right_difference_head
from solutions.ps6_what_a_weight_explains import examples_needed as right_examples_needed
from solutions.ps6_what_a_weight_explains import faithfulness as right_faithfulness
from solutions.ps6_what_a_weight_explains import induction_mass as right_induction_mass
from solutions.ps6_what_a_weight_explains import is_broken as right_is_broken
from solutions.ps6_what_a_weight_explains import layer_norm_backward as right_layer_norm_backward
from solutions.ps6_what_a_weight_explains import learning_curve as right_learning_curve
from solutions.ps6_what_a_weight_explains import length_ratio as right_length_ratio
from solutions.ps6_what_a_weight_explains import lm_forward as right_lm_forward
from solutions.ps6_what_a_weight_explains import lm_gradients as right_lm_gradients
from solutions.ps6_what_a_weight_explains import previous_mass as right_previous_mass
from solutions.ps6_what_a_weight_explains import softmax as given_softmax
from solutions.ps6_what_a_weight_explains import swap_effects as right_swap_effects
from solutions.ps6_what_a_weight_explains import swap_experiment as right_swap_experiment
from solutions.ps6_what_a_weight_explains import symmetry_table as right_symmetry_table


def with_parts(function, parts, *arguments):
    """What a function of the solution gives with other functions in place of some that it calls."""
    namespace = function.__globals__
    before = {name: namespace[name] for name in parts}
    namespace.update(parts)
    try:
        return function(*arguments)
    finally:
        namespace.update(before)


# ----------------------------------------------------------------------------------------------------------- deletion


@mutant(
    "deletion",
    hint="You do not scale the other weights up again. Without item j they sum to less than one.",
    museum="The item's share is taken out and the other weights stay as they are, so the effect is $w_j v_j$. That is no"
    " average any more: deleting an item that equals all others should change nothing. *How one would notice:* "
    "give all items the same value.",
)
def deletion_without_renormalising(weights, values):
    right_deletion_effects(weights, values)
    return weights[:, np.newaxis] * values


@mutant("deletion", hint="You use the plain mean of the other values. Weight them, by their own weights.", frequent=True)
def deletion_against_the_plain_mean(weights, values):
    right_deletion_effects(weights, values)
    rest = (values.sum(axis=0) - values) / (len(values) - 1)
    return weights[:, np.newaxis] * (values - rest)


@mutant("deletion", hint="Your sign is reversed: the output minus the output without item j.", frequent=True)
def deletion_reversed(weights, values):
    return -right_deletion_effects(weights, values)


@mutant("deletion", hint="You divide by 1 - weights[j], which has no digits left near a one-hot row. Add up the others.")
def deletion_by_the_short_form(weights, values):
    right_deletion_effects(weights, values)
    with np.errstate(all="ignore"):
        return (weights / (1 - weights))[:, np.newaxis] * (values - weights @ values)


@mutant("deletion", hint="You return the same length in every coordinate. Each effect is a vector.")
def deletion_as_one_number(weights, values):
    effects = right_deletion_effects(weights, values)
    return np.repeat(np.linalg.norm(effects, axis=1)[:, np.newaxis], values.shape[1], axis=1)


@mutant(
    "deletion",
    replaces="swap_effects",
    hint="You compare with the other values. Only the value of item j changes.",
    frequent=True,
)
def swap_of_the_output(weights, values, replacement):
    return weights[:, np.newaxis] * (weights @ values - replacement)


@mutant("deletion", replaces="swap_effects", hint="Your swap has the wrong sign: original minus changed.", frequent=True)
def swap_reversed(weights, values, replacement):
    return -right_swap_effects(weights, values, replacement)


# -------------------------------------------------------------------------------------------------------------- cases


@mutant(
    "cases",
    hint="Your loud item has an effect. Its value must be the weighted average of the other values.",
    museum="The loud item gets the value 0, in the belief that zero means no effect. What counts is not the value but "
    "its distance from the average of the others. *How one would notice:* add 5 to all values. No effect may "
    "change.",
)
def loud_with_value_zero():
    return [0.6, 0.3, 0.1], [[0.0], [1.0], [2.0]]


@mutant("cases", hint="In your loud case no item has an effect at all. Another item must have one.", frequent=True)
def loud_among_equals():
    return [0.5, 0.25, 0.25], [[1.0], [1.0], [1.0]]


@mutant("cases", hint="Your loudest item has less than half of the weight.", frequent=True)
def loud_but_not_enough():
    return [0.4, 0.3, 0.3], [[0.0], [1.0], [-1.0]]


@mutant(
    "cases",
    replaces="quiet_but_decisive",
    hint="Your quiet item does not have the largest effect. Move its value away.",
    frequent=True,
)
def quiet_and_weak():
    return [0.1, 0.45, 0.45], [[1.0], [0.0], [2.0]]


@mutant("cases", replaces="quiet_but_decisive", hint="Two of your items share the smallest weight.", frequent=True)
def quiet_with_company():
    return [0.1, 0.1, 0.8], [[10.0], [0.0], [0.0]]


@mutant("cases", replaces="quiet_but_decisive", hint="Your weights do not sum to one.", frequent=True)
def quiet_without_a_budget():
    return [0.1, 0.45, 0.5], [[10.0], [0.0], [0.0]]


# ------------------------------------------------------------------------------------------------------------ leaving


@mutant(
    "leaving",
    hint="You divide by the mean length of the values. The bound is the longest of them.",
    museum="The output is compared with the *mean* length of the values. The ratio then exceeds one as soon as a row "
    "prefers a long value, and looks as if it refuted the theorem. *How one would notice:* a one-hot row on the "
    "longest value must give 1.",
)
def ratio_to_the_mean(weights, values):
    return np.linalg.norm(weights @ values, axis=1) / max(np.linalg.norm(values, axis=1).mean(), 1e-300)


@mutant("leaving", hint="You divide by the longest of all values. Values that a row does not read are none of its business.")
def ratio_to_all(weights, values):
    return np.linalg.norm(weights @ values, axis=1) / max(np.linalg.norm(values, axis=1).max(), 1e-300)


@mutant("leaving", hint="You return squared lengths.", frequent=True)
def ratio_squared(weights, values):
    return right_length_ratio(weights, values) ** 2


@mutant("leaving", hint="Where all values are zero the ratio is 0, not NaN.")
def ratio_with_nan(weights, values):
    with np.errstate(all="ignore"):
        longest = np.where(weights > 0, np.linalg.norm(values, axis=1), 0.0).max(axis=1)
        return np.linalg.norm(weights @ values, axis=1) / longest


@mutant("leaving", replaces="difference_head", hint="Your w_o adds the two heads. One needs a minus sign.", frequent=True)
def heads_added(width):
    eye = np.eye(width)
    return np.hstack([eye, eye]), np.vstack([eye, eye])


@mutant(
    "leaving", replaces="difference_head", hint="Your difference has the wrong sign: head 0 minus head 1.", frequent=True
)
def heads_swapped(width):
    w_v, w_o = right_difference_head(width)
    return w_v, -w_o


@mutant("leaving", replaces="difference_head", hint="Your second head passes nothing on.", frequent=True)
def second_head_silent(width):
    eye = np.eye(width)
    return np.hstack([eye, 0 * eye]), np.vstack([eye, -eye])


# ------------------------------------------------------------------------------------------------------ architectures


def table_of(layers, x, trials, seed, equal, orders=None):
    n, draw = len(x), np.random.default_rng(seed).permutation
    tried = []
    while len(tried) < trials:
        order = draw(n)
        if (order != np.arange(n)).any():
            tried.append(order)
    groups = [[np.roll(np.arange(n), 1)], [np.roll(np.arange(n), 2)], tried if orders is None else orders(n, draw, trials)]
    return np.array([[all(equal(layer, x, order) for order in group) for group in groups] for layer in layers])


@mutant(
    "architectures",
    hint="Your tolerance is the same for float32 and float64. Take eps from the type that the layer returns.",
    museum="One fixed tolerance, 1e-5 say. It is too generous for float64, where it overlooks a layer that adds a "
    "millionth of the place, and for large outputs it is too strict. *How one would notice:* multiply the input "
    "by a million.",
)
def table_with_one_tolerance(layers, x, trials=20, seed=0):
    return table_of(layers, x, trials, seed, lambda f, x, o: np.abs(f(x[o]) - f(x)[o]).max() <= 1e-5)


@mutant(
    "architectures", hint="You reorder the output by the inverse order. Input and output take the same order.", frequent=True
)
def table_with_inverse_orders(layers, x, trials=20, seed=0):
    def equal(f, x, o):
        plain = f(x)
        return bool((np.abs(f(x[o]) - plain[np.argsort(o)]) <= 64 * np.finfo(plain.dtype).eps * np.abs(plain).max()).all())

    return table_of(layers, x, trials, seed, equal)


@mutant("architectures", hint="You let NaN pass. Ask whether all gaps are within the band.", frequent=True)
def table_with_nan(layers, x, trials=20, seed=0):
    def equal(f, x, o):
        plain = f(x)
        return not (np.abs(f(x[o]) - plain[o]) > 64 * np.finfo(plain.dtype).eps * np.abs(plain).max()).any()

    return table_of(layers, x, trials, seed, equal)


@mutant("architectures", hint="You ask for invariance: the output must move with the input, not stay.", frequent=True)
def table_of_invariance(layers, x, trials=20, seed=0):
    def equal(f, x, o):
        plain = f(x)
        return bool((np.abs(f(x[o]) - plain) <= 64 * np.finfo(plain.dtype).eps * np.abs(plain).max()).all())

    return table_of(layers, x, trials, seed, equal)


@mutant("architectures", hint="One of your orders may be the identity, with which everything commutes. Draw again.")
def table_with_identities(layers, x, trials=20, seed=0):
    def equal(f, x, o):
        plain = f(x)
        return bool((np.abs(f(x[o]) - plain[o]) <= 64 * np.finfo(plain.dtype).eps * np.abs(plain).max()).all())

    def orders(n, draw, trials):
        fresh = np.random.default_rng(seed)
        return [fresh.permutation(n) for _ in range(trials)]

    return table_of(layers, x, trials, seed, equal, orders)


@mutant("architectures", hint="Your random orders are all cyclic shifts. Any order means any permutation.", frequent=True)
def table_of_shifts(layers, x, trials=20, seed=0):
    return right_symmetry_table(layers, x, trials, seed)[:, [0, 1, 0]]


# ------------------------------------------------------------------------------------------------------------- curves


@mutant(
    "curves",
    hint="You measure the accuracy on the training examples. Take the test set.",
    museum="The model is tested on what it was trained on. The curve of the flat model then starts at 1.0 and *falls*, "
    "because few examples are easy to fit. *How one would notice:* a learning curve that falls is a training "
    "curve.",
)
def curve_on_training_data(train_set, test_set, sizes, pooled, ridge=0.1):
    return np.concatenate(
        [right_learning_curve(train_set, (train_set[0][:n], train_set[1][:n]), [n], pooled, ridge) for n in sizes]
    )


@mutant("curves", hint="Your ridge is not per example: divide F^T F and F^T y by n first.")
def curve_with_a_total_ridge(train_set, test_set, sizes, pooled, ridge=0.1):
    return np.concatenate([right_learning_curve(train_set, test_set, [n], pooled, ridge / n) for n in sizes])


@mutant("curves", hint="You swap the two kinds of features: pooled means the mean over places.", frequent=True)
def curve_of_the_other_model(train_set, test_set, sizes, pooled, ridge=0.1):
    return right_learning_curve(train_set, test_set, sizes, not pooled, ridge)


@mutant("curves", hint="You take other examples than the first n.", frequent=True)
def curve_of_the_last_examples(train_set, test_set, sizes, pooled, ridge=0.1):
    backward = train_set[0][::-1], train_set[1][::-1]
    return right_learning_curve(backward, test_set, sizes, pooled, ridge)


@mutant("curves", hint="Your labels are 0 and 1 where the model expects -1 and +1.", frequent=True)
def curve_with_labels_zero_and_one(train_set, test_set, sizes, pooled, ridge=0.1):
    def collect(tokens):
        return tokens.mean(axis=1) if pooled else tokens.reshape(len(tokens), -1)

    accuracies = []
    for n in sizes:
        f, y = collect(train_set[0][:n]), (train_set[1][:n] > 0) * 1.0
        w = np.linalg.solve(f.T @ f / n + ridge * np.eye(f.shape[1]), f.T @ y / n)
        accuracies.append(np.mean((collect(test_set[0]) @ w > 0.5) == (test_set[1] > 0)))
    return np.array(accuracies)


@mutant("curves", replaces="examples_needed", hint="You interpolate over the size. Use its logarithm.", frequent=True)
def needed_on_a_linear_scale(sizes, accuracies, level):
    if right_examples_needed(sizes, accuracies, level) is None:
        return None
    for at, accuracy in enumerate(accuracies):
        if accuracy >= level:
            if at == 0:
                return float(sizes[0])
            share = (level - accuracies[at - 1]) / (accuracy - accuracies[at - 1])
            return float(sizes[at - 1] + share * (sizes[at] - sizes[at - 1]))
    return None


@mutant("curves", replaces="examples_needed", hint="You return the largest size where None is asked for.", frequent=True)
def needed_without_none(sizes, accuracies, level):
    found = right_examples_needed(sizes, accuracies, level)
    return float(sizes[-1]) if found is None else found


# ------------------------------------------------------------------------------------------------------------ reading


@mutant("reading", hint="Shift a U-Net-like layer by one, and look at your table.")
def unet_every_shift():
    return "a"


@mutant("reading", hint="A skip connection does not undo the downsampling.")
def unet_no_shift():
    return "c"


@mutant("reading", replaces="must_outperform", hint="Connectivity is not all. What does a convolution know beforehand?")
def always_better():
    return "a"


@mutant("reading", replaces="must_outperform", hint="Length is about cost. The question is about how well it does.")
def better_if_long():
    return "b"


@mutant("reading", replaces="ceiling", hint="The curve is flat: more examples do not raise it.")
def more_examples():
    return "a"


@mutant("reading", replaces="eight", hint="Compare the numbers of features: 128 and 16. Which factor is that?")
def eight_is_the_width():
    return "a"


# ----------------------------------------------------------------------------------------------------- backward_parts


@mutant(
    "backward_parts",
    hint="You treat mean and variance as constants. Both depend on every entry of the token.",
    museum="Only the division by the root is differentiated, as if mean and variance were given numbers. The slopes look"
    " reasonable, and training even works for a while. *How one would notice:* the slopes of a token must sum to "
    "zero.",
)
def norm_with_constant_statistics(x, gain, upstream, eps=1e-5):
    _, by_gain, by_shift = right_layer_norm_backward(x, gain, upstream, eps)
    return upstream * gain / np.sqrt(x.var(axis=-1, keepdims=True) + eps), by_gain, by_shift


@mutant("backward_parts", hint="You forgot the gain in the gradient with respect to the inputs.", frequent=True)
def norm_without_gain(x, gain, upstream, eps=1e-5):
    _, by_gain, by_shift = right_layer_norm_backward(x, gain, upstream, eps)
    return right_layer_norm_backward(x, np.ones_like(gain), upstream, eps)[0], by_gain, by_shift


@mutant(
    "backward_parts",
    hint="The variance term is missing: subtract the normed token times the mean of inner * normed.",
    frequent=True,
)
def norm_without_the_variance_term(x, gain, upstream, eps=1e-5):
    _, by_gain, by_shift = right_layer_norm_backward(x, gain, upstream, eps)
    inner = upstream * gain
    root = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    return (inner - inner.mean(axis=-1, keepdims=True)) / root, by_gain, by_shift


@mutant("backward_parts", hint="Your eps is always 1e-5. Use the one that is given.")
def norm_with_a_fixed_eps(x, gain, upstream, eps=1e-5):
    return right_layer_norm_backward(x, gain, upstream)


@mutant("backward_parts", hint="Gain and shift are shared by all tokens: sum, do not average.", frequent=True)
def norm_with_mean_slopes(x, gain, upstream, eps=1e-5):
    by_x, by_gain, by_shift = right_layer_norm_backward(x, gain, upstream, eps)
    tokens = max(x.size // x.shape[-1], 1)
    return by_x, by_gain / tokens, by_shift / tokens


@mutant("backward_parts", replaces="gelu_backward", hint="You forgot that x also stands inside the tanh.", frequent=True)
def gelu_outer_only(x, upstream):
    return upstream * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


@mutant(
    "backward_parts",
    replaces="gelu_backward",
    hint="The inner slope is 1 + 3 * 0.044715 x^2. Your 3 is missing.",
    frequent=True,
)
def gelu_without_the_three(x, upstream):
    c = np.sqrt(2 / np.pi)
    bend = np.tanh(c * (x + 0.044715 * x**3))
    return upstream * (0.5 * (1 + bend) + 0.5 * x * (1 - bend**2) * c * (1 + 0.044715 * x**2))


# -------------------------------------------------------------------------------------------------------------- model


@mutant(
    "model",
    hint="Your model sees the future: every block needs the causal mask.",
    museum="The causal mask is missing. Training then succeeds at once, with a loss near zero: the model reads the next "
    "note instead of predicting it. *How one would notice:* change the last note. No earlier prediction may move.",
)
def forward_without_a_mask(model, positions, tokens):
    return with_parts(right_lm_forward, {"causal_mask": lambda n: np.ones((n, n), dtype=bool)}, model, positions, tokens)


@mutant("model", hint="The last norm is missing, before the unembedding.", frequent=True)
def forward_without_the_last_norm(model, positions, tokens):
    plain = right_lm_forward.__globals__["layer_norm"]
    skip = model["gain"]
    parts = {"layer_norm": lambda x, gain, shift: x if gain is skip else plain(x, gain, shift)}
    return with_parts(right_lm_forward, parts, model, positions, tokens)


@mutant("model", hint="The tables are in the wrong order: weights[0] belongs to the first block.", frequent=True)
def forward_with_tables_reversed(model, positions, tokens):
    logits, tables = right_lm_forward(model, positions, tokens)
    return logits, tables[::-1]


@mutant("model", hint="You do not add the positions.", frequent=True)
def forward_without_positions(model, positions, tokens):
    return right_lm_forward(model, np.zeros_like(positions), tokens)


@mutant("model", hint="You return probabilities. Logits come before the softmax.", frequent=True)
def forward_with_probabilities(model, positions, tokens):
    logits, tables = right_lm_forward(model, positions, tokens)
    return given_softmax(logits), tables


@mutant("model", hint="Every block of yours uses the numbers of the first one.", frequent=True)
def forward_with_one_block(model, positions, tokens):
    return right_lm_forward({**model, "blocks": [model["blocks"][0]] * len(model["blocks"])}, positions, tokens)


@mutant("model", hint="You run two blocks whatever the model has. Loop over model['blocks'].")
def forward_with_two_blocks(model, positions, tokens):
    logits, tables = right_lm_forward({**model, "blocks": model["blocks"][:2]}, positions, tokens)
    return logits, tables


# ---------------------------------------------------------------------------------------------------------- gradients


@mutant(
    "gradients",
    hint="Your loss runs over all places. Only those that count may enter, in the mean and in the gradients.",
    frequent=True,
)
def gradients_over_all_places(model, positions, tokens, targets, counted):
    return right_lm_gradients(model, positions, tokens, targets, np.ones_like(counted))


@mutant(
    "gradients",
    hint="A note that occurs several times collects gradients from every place. You keep only the last.",
    museum="The gradients of the embedding are assigned by `gradient[tokens] = by_x`. NumPy then keeps the last of "
    "several gradients for the same note and drops the rest, silently. *How one would notice:* the small-step "
    "check of `embed` fails as soon as a note repeats, and passes when all notes differ.",
)
def gradients_with_assigned_embedding(model, positions, tokens, targets, counted):
    loss, slopes = right_lm_gradients(model, positions, tokens, targets, counted)
    # With an embedding of its own for each place, every place has its own slope.
    apart = {**model, "embed": model["embed"][tokens.ravel()]}
    own = right_lm_gradients(apart, positions, np.arange(tokens.size).reshape(tokens.shape), targets, counted)[1]["embed"]
    embed = np.zeros_like(model["embed"])
    embed[tokens.ravel()] = own
    return loss, {**slopes, "embed": embed}


@mutant("gradients", hint="Divide by the number of counted places, in the gradients as in the loss.", frequent=True)
def gradients_of_the_sum(model, positions, tokens, targets, counted):
    loss, slopes = right_lm_gradients(model, positions, tokens, targets, counted)

    def scaled(part):
        if isinstance(part, dict):
            return {name: scaled(value) for name, value in part.items()}
        return [scaled(value) for value in part] if isinstance(part, list) else part * counted.sum()

    return loss, scaled(slopes)


@mutant("gradients", hint="Your norms treat mean and variance as constants on the way back.", frequent=True)
def gradients_with_constant_statistics(model, positions, tokens, targets, counted):
    parts = {"layer_norm_backward": norm_with_constant_statistics}
    return with_parts(right_lm_gradients, parts, model, positions, tokens, targets, counted)


@mutant("gradients", hint="The mask is missing on the way back through attention.", frequent=True)
def gradients_without_a_mask_backward(model, positions, tokens, targets, counted):
    parts = {"attention_backward": lambda q, k, v, slope, mask: own_attention_backward(q, k, v, slope)}
    return with_parts(right_lm_gradients, parts, model, positions, tokens, targets, counted)


@mutant("gradients", hint="You exchange the gradients of queries and keys.", frequent=True)
def gradients_with_queries_and_keys_exchanged(model, positions, tokens, targets, counted):
    loss, slopes = right_lm_gradients(model, positions, tokens, targets, counted)
    blocks = [{**block, "w_q": block["w_k"], "w_k": block["w_q"]} for block in slopes["blocks"]]
    return loss, {**slopes, "blocks": blocks}


@mutant(
    "gradients",
    hint="The blocks' gradients are in the order of the backward pass. Put the first block first.",
    frequent=True,
)
def gradients_with_blocks_reversed(model, positions, tokens, targets, counted):
    loss, slopes = right_lm_gradients(model, positions, tokens, targets, counted)
    return loss, {**slopes, "blocks": slopes["blocks"][::-1]}


# -------------------------------------------------------------------------------------------------------------- train


def trained(model, positions, batches, rates, *, step=lambda at: at + 1, shift=0, keep=True):
    """Training with a slip in it."""
    losses, moments = [], None
    for at, batch in enumerate(zip(*batches, strict=True)):
        loss, slopes = right_lm_gradients(model, positions, *batch)
        losses.append(loss)
        model, after = given_adam_step(model, slopes, moments, step(at), rates[min(max(at + shift, 0), len(rates) - 1)])
        moments = after if keep else None
    return model, np.array(losses)


@mutant(
    "train",
    hint="You drop Adam's moments after each step. Hand what it returns to the next step.",
    museum="`adam_step` is called with `None` every time. Each step then moves every number by the full rate, up or "
    "down, as the first one does. The loss falls at first and then dances about. *How one would notice:* the last"
    " losses do not become calm when the rate falls.",
)
def train_without_moments(model, positions, batches, rates):
    return trained(model, positions, batches, rates, step=lambda at: 1, keep=False)


@mutant("train", hint="Your rates are off by one: step i takes rates[i].", frequent=True)
def train_with_late_rates(model, positions, batches, rates):
    return trained(model, positions, batches, rates, shift=-1)


@mutant("train", hint="You number the steps from 0 or not at all; Adam's first step is step 1.", frequent=True)
def train_with_step_one_for_ever(model, positions, batches, rates):
    return trained(model, positions, batches, rates, step=lambda at: 1)


@mutant("train", hint="You note the loss after the step. It is asked for before.", frequent=True)
def train_with_losses_after(model, positions, batches, rates):
    losses, moments = [], None
    for at, batch in enumerate(zip(*batches, strict=True)):
        model, moments = given_adam_step(model, right_lm_gradients(model, positions, *batch)[1], moments, at + 1, rates[at])
        losses.append(right_lm_gradients(model, positions, *batch)[0])
    return model, np.array(losses)


@mutant("train", hint="You take plain gradient steps. `adam_step` is in the set-up cell.", frequent=True)
def train_by_plain_descent(model, positions, batches, rates):
    def moved(part, slope, rate):
        if isinstance(part, dict):
            return {name: moved(part[name], slope[name], rate) for name in part}
        return (
            [moved(*pair, rate) for pair in zip(part, slope, strict=True)] if isinstance(part, list) else part - rate * slope
        )

    losses = []
    for at, batch in enumerate(zip(*batches, strict=True)):
        loss, slopes = right_lm_gradients(model, positions, *batch)
        losses.append(loss)
        model = moved(model, slopes, rates[at])
    return model, np.array(losses)


@mutant("train", hint="You train on the first batch again and again. Each step has its own.", frequent=True)
def train_on_one_batch(model, positions, batches, rates):
    return trained(model, positions, tuple(np.repeat(part[:1], len(part), axis=0) for part in batches), rates)


# --------------------------------------------------------------------------------------------------------------- maps


@mutant(
    "maps",
    hint="You count places that hold the same note. Induction reads the note after them.",
    museum="The table of equal notes is used without the shift by one. It measures how much a place reads *earlier "
    "copies of itself*, which is what such a layer must not do. *How one would notice:* a table that reads what "
    "came next must score 1.",
)
def induction_of_the_same_note(weights, tokens, counted):
    same_note = (tokens[:, :, np.newaxis] == tokens[:, np.newaxis, :]) & np.tri(tokens.shape[1], k=-1, dtype=bool)
    return float((weights * same_note).sum(axis=-1)[counted].mean())


@mutant("maps", hint="You average over all places, not over the counted ones.", frequent=True)
def induction_of_all_places(weights, tokens, counted):
    return right_induction_mass(weights, tokens, np.ones_like(counted))


@mutant("maps", hint="Your table is transposed: row t holds what place t reads.", frequent=True)
def induction_transposed(weights, tokens, counted):
    return right_induction_mass(weights.swapaxes(1, 2), tokens, counted)


@mutant("maps", replaces="previous_mass", hint="You average over the whole melody. Only places 1 to m count.", frequent=True)
def previous_of_all_places(weights, periods):
    return right_previous_mass(weights, np.full_like(periods, weights.shape[1] - 1))


@mutant(
    "maps", replaces="previous_mass", hint="You average each sequence first. Every place counts the same.", frequent=True
)
def previous_by_sequence(weights, periods):
    return float(np.mean([right_previous_mass(weights[i : i + 1], periods[i : i + 1]) for i in range(len(periods))]))


@mutant(
    "maps",
    replaces="previous_mass",
    hint="You read the diagonal itself, which is what a place reads of its own.",
    frequent=True,
)
def previous_on_the_diagonal(weights, periods):
    shifted = np.zeros_like(weights)
    shifted[:, :, :-1] = weights[:, :, 1:]
    return right_previous_mass(shifted, periods)


def drawn(weights, labels, **style):
    figure = Figure(layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(weights, **{"cmap": "Greys", "vmin": 0, "vmax": 1, **style})
    axes.set_xticks(range(len(labels)), labels)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xlabel("read")
    axes.set_ylabel("reads")
    figure.colorbar(image, label="weight")
    return figure


@mutant("maps", replaces="map_figure", hint="Your colours adapt to the table. Fix them from 0 to 1.")
def map_with_adaptive_colours(weights, labels):
    return drawn(weights, labels, vmin=None, vmax=None)


@mutant("maps", replaces="map_figure", hint="You label each note once. Every place needs a label.", frequent=True)
def map_with_each_note_once(weights, labels):
    figure = drawn(weights, labels)
    places = [place for place, label in enumerate(labels) if label not in labels[:place]]
    figure.axes[0].set_xticks(places, [labels[place] for place in places])
    return figure


@mutant("maps", replaces="map_figure", hint="Your picture is transposed: rows read, columns are read.", frequent=True)
def map_transposed(weights, labels):
    return drawn(weights.T, labels)


# ---------------------------------------------------------------------------------------------------------- intervene


def shares(forward, tokens, places, replacements, controls, *, which=np.argmax, layer=-1, everywhere=False, old=False):
    """The experiment with a slip in it."""
    rows = np.arange(len(tokens))
    logits, tables = forward(tokens)
    before = logits[rows, places].argmax(axis=-1)
    read = np.array([which(tables[layer][i, t, : t + 1]) for i, t in zip(rows, places, strict=True)])

    def changed(where):
        where = np.maximum(where, 0)
        sequences = tokens.copy()
        sequences[rows, where] = replacements
        if everywhere:
            sequences = np.where(tokens == tokens[rows, where][:, np.newaxis], replacements[:, np.newaxis], tokens)
        return forward(sequences)[0][rows, places].argmax(axis=-1)

    followed = changed(read) == (before if old else replacements)
    return float(followed.mean()), float((changed(read - 1) != before).mean()), float((changed(controls) == before).mean())


@mutant(
    "intervene",
    hint="You compare the new prediction with the old one. Followed means that it is the replacement.",
    museum="A changed prediction is not yet one that follows. It may go anywhere, because the model is confused. *How "
    "one would notice:* a model that predicts a random note after every change would score 1 by the wrong count, "
    "and nearly 0 by the right one.",
)
def swaps_compared_with_the_old_note(forward, tokens, places, replacements, controls):
    return shares(forward, tokens, places, replacements, controls, old=True)


@mutant("intervene", hint="You change every occurrence of the note. Change the one place.", frequent=True)
def swaps_of_all_occurrences(forward, tokens, places, replacements, controls):
    return shares(forward, tokens, places, replacements, controls, everywhere=True)


@mutant("intervene", hint="You swap the least-read place. Take the largest weight.", frequent=True)
def swaps_of_the_least_read(forward, tokens, places, replacements, controls):
    return shares(forward, tokens, places, replacements, controls, which=lambda row: max(int(np.argmin(row)), 1))


@mutant("intervene", hint="You look for r in the first layer's table. It is the last layer's.", frequent=True)
def swaps_by_the_first_layer(forward, tokens, places, replacements, controls):
    return shares(forward, tokens, places, replacements, controls, layer=0)


@mutant("intervene", hint="Your control is the share that changes. It is the share that stays.", frequent=True)
def swaps_with_a_reversed_control(forward, tokens, places, replacements, controls):
    followed, broken, control = right_swap_experiment(forward, tokens, places, replacements, controls)
    return followed, broken, 1 - control


@mutant("intervene", hint="Your second number is the share that survives. It is the share that is lost.", frequent=True)
def swaps_with_survivors(forward, tokens, places, replacements, controls):
    followed, broken, control = right_swap_experiment(forward, tokens, places, replacements, controls)
    return followed, 1 - broken, control


# ------------------------------------------------------------------------------------------------------- faithfulness


def scored(weights, effects, resamples, correlate, *, pairs=True, percents=(2.5, 97.5)):
    scores = []
    for row in resamples:
        other = row if pairs else np.arange(len(effects))
        if len(set(weights[row])) > 1 and len(set(np.abs(effects[other]))) > 1:
            scores.append(correlate(weights[row], effects[other]))
    low, high = np.percentile(scores, percents)
    return float(correlate(weights, effects)), float(low), float(high)


def mean_ranks(numbers):
    below = (numbers[:, np.newaxis] > numbers).sum(axis=1)
    return below + ((numbers[:, np.newaxis] == numbers).sum(axis=1) - 1) / 2


def spearman(weights, effects):
    return np.corrcoef(mean_ranks(weights), mean_ranks(np.abs(effects)))[0, 1]


@mutant(
    "faithfulness",
    hint="You correlate the numbers themselves. Rank them first.",
    museum="Pearson's correlation of weights and effects. One item with a huge effect decides it nearly alone. *How one "
    "would notice:* square all effects. The order stays, so the score must stay too.",
)
def score_by_pearson(weights, effects, resamples):
    return scored(weights, effects, resamples, lambda w, e: np.corrcoef(w, np.abs(e))[0, 1])


@mutant("faithfulness", hint="Your ties get different ranks. Equal numbers share the mean of their ranks.")
def score_with_ties_by_order(weights, effects, resamples):
    def rank(numbers):
        return np.argsort(np.argsort(numbers, kind="stable"), kind="stable")

    return scored(weights, effects, resamples, lambda w, e: np.corrcoef(rank(w), rank(np.abs(e)))[0, 1])


@mutant("faithfulness", hint="You rank the signed effects. Take their absolute values.", frequent=True)
def score_of_signed_effects(weights, effects, resamples):
    return scored(weights, effects, resamples, lambda w, e: np.corrcoef(mean_ranks(w), mean_ranks(e))[0, 1])


@mutant("faithfulness", hint="You resample the weights alone. Each item keeps its effect.", frequent=True)
def score_with_weights_resampled(weights, effects, resamples):
    return scored(weights, effects, resamples, spearman, pairs=False)


@mutant("faithfulness", hint="The ends of your interval are exchanged: low comes first.", frequent=True)
def score_with_ends_swapped(weights, effects, resamples):
    score, low, high = right_faithfulness(weights, effects, resamples)
    return score, high, low


@mutant("faithfulness", hint="Your percentiles are 5 and 95. An interval of 95 % takes 2.5 and 97.5.", frequent=True)
def score_with_a_narrow_interval(weights, effects, resamples):
    return scored(weights, effects, resamples, spearman, percents=(5, 95))


# --------------------------------------------------------------------------------------------------------- bug_museum


def checked(attention, *, masks, sizes=(1.0,), leading=((),), tolerance=1e-9, weights_too=True, output_too=True, n=5, v=3):
    """A checker that looks at less."""
    rng = np.random.default_rng(11)
    for size in sizes:
        for mask in masks:
            for ahead in leading:
                q, k, value = (size * rng.standard_normal((*ahead, *shape)) for shape in ((4, 6), (n, 6), (n, v)))
                try:
                    output, weights = attention(q, k, value, mask)
                except Exception:
                    return True
                wanted = given_softmax(q @ k.swapaxes(-1, -2) / np.sqrt(6), mask)
                if weights_too and not np.abs(weights - wanted).max() <= tolerance:
                    return True
                if output_too and not np.abs(output - wanted @ value).max() <= tolerance * size:
                    return True
    return False


ALL = np.ones((4, 5), dtype=bool)
STEPS = np.tri(4, 5, dtype=bool)
GAPS = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [0, 0, 0, 0, 0], [1, 1, 0, 0, 1]], dtype=bool)


@mutant(
    "bug_museum",
    hint="You compare exactly. Right functions differ in their last digits; allow for rounding.",
    museum="The comparison is `(weights == expected).all()`. It rejects every function but a copy of your own, right or "
    "not. *How one would notice:* compute the same sum in another order.",
)
def checker_without_tolerance(attention):
    return checked(attention, masks=(ALL, STEPS, GAPS), tolerance=0.0)


@mutant("bug_museum", hint="Your checker never forbids anything. Try masks.", frequent=True)
def checker_without_masks(attention):
    return checked(attention, masks=(ALL,), sizes=(1.0, 60.0), leading=((), (3,)))


@mutant("bug_museum", hint="Your checker looks at the weights only. An output can be wrong all the same.", frequent=True)
def checker_of_weights(attention):
    return checked(attention, masks=(ALL, STEPS, GAPS), sizes=(1.0, 60.0), leading=((), (3,)), output_too=False)


@mutant("bug_museum", hint="Your checker calls nothing broken.", frequent=True)
def checker_that_trusts(attention):
    attention(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1), dtype=bool))
    return False


@mutant("bug_museum", hint="Your checker calls everything broken.", frequent=True)
def checker_that_distrusts(attention):
    attention(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1), dtype=bool))
    return True


@mutant("bug_museum", hint="Your checker never tries a batch.")
def checker_of_single_sequences(attention):
    return checked(attention, masks=(ALL, STEPS, GAPS), sizes=(1.0, 60.0))


@mutant("bug_museum", hint="Your checker never tries large scores.")
def checker_of_small_scores(attention):
    return checked(attention, masks=(ALL, STEPS, GAPS), leading=((), (3,)))


@mutant("bug_museum", hint="Your tolerance is so wide that small errors pass.", frequent=True)
def checker_with_a_wide_tolerance(attention):
    return right_is_broken(attention) and checked(
        attention, masks=(ALL, STEPS, GAPS), sizes=(1.0, 60.0), leading=((), (3,)), tolerance=1e-3
    )
