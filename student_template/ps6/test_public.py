"""The tests of problem set 6 that students run themselves."""

import math

import numpy as np

from autograder.testing import (
    array,
    boolean,
    close,
    figure,
    graded,
    parts,
    require,
    rounding,
    same,
    scalar,
    shown,
)

# Answers of size one that took at most a few dozen roundings.
ROUNDED = rounding(1, 64)
# Central differences err least at a step near 1e-5: by about 1e-10 here, far below the tolerance of 1e-6.
STEP = 1e-5
SLOPE = 1e-6


# ----------------------------------------------------------------------------------------------------------- deletion

WORKED = np.array([0.1, 0.3, 0.6]), np.array([[10.0], [20.0], [30.0]])


@graded("deletion", points=1, hint="Without the first item the others have .3/.9 and .6/.9, so the output is 26.67, not 25.")
def test_deletions_by_hand(student):
    """The values 10, 20 and 30 with weights .1, .3 and .6: what each deletion changes."""
    name = "deletion_effects([.1, .3, .6], [[10], [20], [30]])"
    found = array(student.deletion_effects(*WORKED), shape=(3, 1), name=name)
    # Without item 0: 24/.9 = 80/3. Without item 1: 19/.7. Without item 2: 7/.4 = 17.5.
    close(found, [[25 - 80 / 3], [25 - 190 / 7], [25 - 17.5]], atol=rounding(30, 64), name=name)


@graded("deletion", points=1, hint="The weights stay; only the value of item j changes. Original minus changed.")
def test_swaps_by_hand(student):
    """The same average, with each value in turn replaced by 50."""
    name = "swap_effects([.1, .3, .6], [[10], [20], [30]], [50])"
    found = array(student.swap_effects(*WORKED, np.array([50.0])), shape=(3, 1), name=name)
    close(found, [[-4.0], [-9.0], [-12.0]], atol=rounding(50, 64), name=name)


@graded(
    "deletion", points=1, hint="Compare with a second average over the others alone, their weights divided by their sum."
)
def test_deletion_against_leaving_out(student, rng):
    """Every deletion equals a recomputation without that item, in every coordinate."""
    weights, values = rng.dirichlet(np.ones(5)), rng.normal(size=(5, 3))
    found = array(student.deletion_effects(weights, values), shape=(5, 3), name="deletion_effects(weights, values)")
    for j in range(5):
        left = np.delete(weights, j)
        without = np.delete(values, j, axis=0).T @ left / sum(left)
        close(found[j], values.T @ weights - without, atol=rounding(5, 64), name=f"the effect of item {j}")


# -------------------------------------------------------------------------------------------------------------- cases


def case_of(student, name):
    """The student's example with its effects, by leaving out: weights, values, effects (lengths)."""
    pair = parts(student.value(name), 2, name=name)
    weights = array(pair[0], shape=(None,), name=f"weights of {name}", kind="number", lists=True).astype(float)
    values = array(pair[1], shape=(len(weights), None), name=f"values of {name}", kind="number", lists=True).astype(float)
    require(2 <= len(weights) <= 50, f"{name} must have 2 to 50 items, it has {len(weights)}")
    require(0 < values.shape[1] <= 50, f"the values of {name} must have 1 to 50 numbers each")
    require(
        (weights >= 0).all() and abs(weights.sum() - 1) <= 1e-9, f"the weights of {name} must be nonnegative and sum to 1"
    )
    effects = []
    for j in range(len(weights)):
        left = np.delete(weights, j)
        require(left.sum() > 0, f"in {name}, item {j} has all the weight, so deleting it leaves no average")
        effects.append(np.linalg.norm(weights @ values - left @ np.delete(values, j, axis=0) / left.sum()))
    return weights, values, np.array(effects)


@graded("cases", points=2, hint="When does an average not notice that one of its items has gone?")
def test_loud_but_idle(student):
    """An item with at least half of the weight has no effect, while another one has."""
    weights, _, effects = case_of(student, "loud_but_idle")
    idle = (weights >= 0.5) & (effects <= 1e-9)
    require(
        idle.any(), f"no item has a weight of .5 or more and no effect: weights {shown(weights)}, effects {shown(effects)}"
    )
    require(effects.max() >= 0.1, f"another item must have an effect of .1 or more; the largest is {effects.max():.3g}")


@graded("cases", points=2, hint="An effect is a weight times a distance. What if one value lies far from the others?")
def test_quiet_but_decisive(student):
    """The item with the smallest weight has the largest effect."""
    weights, _, effects = case_of(student, "quiet_but_decisive")
    quiet = int(weights.argmin())
    others = np.delete(np.arange(len(weights)), quiet)
    require((weights[others] > weights[quiet]).all(), f"no weight may be as small as the smallest: {shown(weights)}")
    require(
        effects[quiet] >= 1.1 * effects[others].max(),
        f"the effect of item {quiet} must be the largest by 10 %; the effects are {shown(effects)}",
    )


# ------------------------------------------------------------------------------------------------------------ leaving


@graded(
    "leaving", points=1, hint="Length of the average over the longest value. Equal parts of (3, 0) and (0, 4): 2.5 over 4."
)
def test_ratio_by_hand(student):
    """Two perpendicular values, and the same value twice."""
    name = "length_ratio([[.5, .5], [1, 0]], [[3, 0], [0, 4]])"
    values = np.array([[3.0, 0.0], [0.0, 4.0]])
    found = array(student.length_ratio(np.array([[0.5, 0.5], [1.0, 0.0]]), values), shape=(2,), name=name)
    close(found, [2.5 / 4, 1.0], atol=ROUNDED, name=name)


@graded("leaving", points=2, hint="Give both heads the tokens as they are, and let w_o add one and subtract the other.")
def test_difference_of_two_tokens(student, ledger, rng):
    """With one head on token 0 and the other on token 1, the layer gives the difference, outside the hull of the values."""
    x = rng.normal(size=(2, 3)) + np.array([1.0, 0.0, 0.0])
    found = parts(student.difference_head(3), 2, name="difference_head(3)")
    w_v = array(found[0], shape=(3, 6), name="difference_head(3)[0]")
    w_o = array(found[1], shape=(6, 3), name="difference_head(3)[1]")
    values = x @ w_v
    output = np.concatenate([values[0, :3], values[1, 3:]]) @ w_o
    close(output, np.array(ledger.value("D3-8", "difference")) @ x, atol=1e-9, name="output of the two heads")
    # The hull of two values is the segment between them: how far is v1 - v2 from it?
    along = np.clip((output - x[0]) @ (x[1] - x[0]) / ((x[1] - x[0]) @ (x[1] - x[0])), 0.0, 1.0)
    away = np.linalg.norm(x[0] + along * (x[1] - x[0]) - output)
    require(away > 1e3 * ledger.tolerance("D2-2"), "the difference must lie outside the hull of the two values")


# ------------------------------------------------------------------------------------------------------ architectures


def mixing(taps):
    """A circular convolution with the given taps."""
    return lambda x: sum(tap * np.roll(x, place, axis=0) for place, tap in enumerate(taps))


@graded("architectures", points=1, hint="layer(x[order]) against layer(x)[order]: both reordered by the same order.")
def test_tokenwise_and_convolution(student, rng):
    """A tokenwise layer commutes with every order, a circular convolution with shifts only."""
    x = rng.normal(size=(8, 3))
    layers = [lambda x: x**2 - x, mixing([0.5, 0.3, -1.0])]
    found = array(student.once.symmetry_table(layers, x), shape=(2, 3), kind="bool", name="symmetry_table(...)")
    same(
        found,
        np.array([[True, True, True], [True, True, False]]),
        name="[tokenwise, convolution]: shift 1, shift 2, any order",
    )


@graded(
    "architectures",
    points=1,
    hint="Pairs are merged and split again: shifting by two moves whole pairs, by one it does not.",
)
def test_a_layer_that_merges_pairs(student, rng):
    """A layer with one downsampling by two commutes with even shifts only, and one that knows its places with nothing."""
    x = rng.normal(size=(8, 3))
    places = np.arange(8)[:, np.newaxis]
    layers = [
        lambda x: x + np.repeat(np.tanh(x[::2] + x[1::2]), 2, axis=0),
        lambda x: x * places,
        lambda x: x + 1e-7 * places,
    ]
    found = array(student.once.symmetry_table(layers, x), shape=(3, 3), kind="bool", name="symmetry_table(...)")
    expected = np.array([[False, True, False], [False, False, False], [False, False, False]])
    same(found, expected, name="[pairs, places, a trace of places]: shift 1, shift 2, any order")


@graded(
    "architectures",
    points=1,
    hint="A comparison with NaN is false: ask whether all gaps are small, not whether one is large.",
)
def test_what_is_not_finite_commutes_with_nothing(student, rng):
    """A layer that returns NaN has no symmetry."""
    x = rng.normal(size=(5, 2))
    found = array(
        student.once.symmetry_table([lambda x: x * np.nan], x), shape=(1, 3), kind="bool", name="symmetry_table(...)"
    )
    same(found, np.zeros((1, 3), dtype=bool), name="a layer that returns NaN")


# ------------------------------------------------------------------------------------------------------------- curves


def labelled(rng, count, first_place_only):
    tokens = rng.normal(size=(count, 4, 3))
    labels = np.sign(tokens[:, 0, 0] if first_place_only else tokens[:, :, 0].sum(axis=1))
    return tokens, labels


@graded("curves", points=1, hint="With one example and one feature: w = f y / (f f + ridge). Its sign decides.")
def test_curve_of_one_feature(student):
    """With a single feature, one example decides everything, and its label may mislead."""
    train = np.array([[[1.0]], [[-3.0]], [[2.0]]]), np.array([-1.0, -1.0, 1.0])
    test = np.array([[[1.0]], [[2.0]], [[-1.0]], [[-5.0]]]), np.array([1.0, 1.0, -1.0, 1.0])
    name = "learning_curve(train, test, [1, 2, 3], pooled=True)"
    found = array(student.learning_curve(train, test, [1, 2, 3], True), shape=(3,), name=name)
    # One example: w < 0. Two: (-1 + 3) / 2 > 0. Three: still positive.
    close(found, [0.25, 0.75, 0.75], atol=ROUNDED, name=name)


@graded("curves", points=1, hint="Only the first n training examples, but all test examples, for each size.")
def test_curves_rise_where_they_should(student, rng):
    """With 400 examples both models find a sum; only the one on all tokens finds a place."""
    for first_place_only, pooled, low, high in (
        (False, True, 0.9, 1.0), (False, False, 0.85, 1.0), (True, True, 0.4, 0.75), (True, False, 0.85, 1.0),
    ):  # fmt: skip
        train, test = labelled(rng, 400, first_place_only), labelled(rng, 1000, first_place_only)
        name = f"learning_curve with {'the place 0' if first_place_only else 'a sum'}, pooled={pooled}"
        found = array(student.learning_curve(train, test, [10, 400], pooled), shape=(2,), name=name)
        # These draws are fixed, so a right answer always lands inside.
        require(low <= found[1] <= high, f"{name}: at 400 examples {low} to {high} is expected, not {found[1]:.3f}")


@graded("curves", points=1, hint="Interpolate over log(size): half way between 100 and 400 is 200.")
def test_examples_needed_by_hand(student):
    """Half way up between 100 and 400 examples means 200; a level that is never reached gives None."""
    sizes, accuracies = [100, 400, 1600], [0.6, 0.8, 0.9]
    name = "examples_needed([100, 400, 1600], [.6, .8, .9], .7)"
    close(scalar(student.examples_needed(sizes, accuracies, 0.7), name=name), 200.0, atol=1e-9, name=name)
    answer = student.examples_needed(sizes, accuracies, 0.95)
    require(answer is None, f"examples_needed(..., .95) must be None, it is {shown(answer)}")


# ----------------------------------------------------------------------------------------------------- backward_parts


def plain_norm(x, gain, shift, eps=1e-5):
    middle = np.mean(x, -1)[..., None]
    return gain * (x - middle) / np.sqrt(np.mean((x - middle) ** 2, -1)[..., None] + eps) + shift


def plain_gelu(x):
    return x / (1 + np.exp(-2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


@graded(
    "backward_parts", points=1, hint="Mean and variance depend on every entry of the token, so two terms are subtracted."
)
def test_norm_slopes_by_inputs(student, rng):
    """The slope of layer norm by its inputs agrees with small steps, and sums to 0 over each token."""
    x, upstream, direction = rng.normal(size=(3, 4, 6))
    gain, shift = rng.normal(size=(2, 6))
    found = parts(student.layer_norm_backward(x, gain, upstream), 3, name="layer_norm_backward(...)")
    slopes = array(found[0], shape=(4, 6), name="x_gradient")
    ends = [np.sum(upstream * plain_norm(x + sign * STEP * direction, gain, shift)) for sign in (1, -1)]
    close(
        np.sum(slopes * direction), (ends[0] - ends[1]) / (2 * STEP), atol=SLOPE, name="x_gradient along a random direction"
    )
    close(slopes.sum(axis=1), np.zeros(4), atol=rounding(10, 64), name="sum of x_gradient over each token")


@graded("backward_parts", points=1, hint="Gain and shift serve all tokens: add up over the tokens, and over batches.")
def test_norm_slopes_by_gain_and_shift(student, rng):
    """The gradients with respect to gain and shift agree with small steps."""
    x, upstream = rng.normal(size=(2, 2, 3, 5))
    gain, shift, direction = rng.normal(size=(3, 5))
    found = parts(student.layer_norm_backward(x, gain, upstream), 3, name="layer_norm_backward(...)")
    for at, name in ((1, "gain_gradient"), (2, "shift_gradient")):
        slopes = array(found[at], shape=(5,), name=name)
        ends = []
        for sign in (1, -1):
            moved = [gain, shift]
            moved[at - 1] = moved[at - 1] + sign * STEP * direction
            ends.append(np.sum(upstream * plain_norm(x, *moved)))
        close(
            np.sum(slopes * direction), (ends[0] - ends[1]) / (2 * STEP), atol=SLOPE, name=f"{name} along a random direction"
        )


@graded("backward_parts", points=1, hint="Product rule: x occurs outside the tanh and inside it.")
def test_gelu_slopes(student, rng):
    """The slope of GELU agrees with small steps, and is 1/2 at 0."""
    x, upstream = 2 * rng.normal(size=20), rng.normal(size=20)
    found = array(student.gelu_backward(x, upstream), shape=(20,), name="gelu_backward(x, upstream)")
    measured = upstream * (plain_gelu(x + STEP) - plain_gelu(x - STEP)) / (2 * STEP)
    close(found, measured, atol=SLOPE, name="gelu_backward(x, upstream)")
    at_zero = array(student.gelu_backward(np.zeros(1), np.ones(1)), shape=(1,), name="gelu_backward([0], [1])")
    close(at_zero, [0.5], atol=ROUNDED, name="gelu_backward([0], [1])")


# -------------------------------------------------------------------------------------------------------------- model


def drawn_model(rng, *, width=4, hidden=6, layers=2, notes=5, length=7):
    """A small model with nothing at its start value, and positions."""
    shapes = {"w_q": (width, width), "w_k": (width, width), "w_v": (width, width), "w_o": (width, width)}
    shapes |= {"w_1": (width, hidden), "b_1": (hidden,), "w_2": (hidden, width), "b_2": (width,)}
    shapes |= {"gain_1": (width,), "shift_1": (width,), "gain_2": (width,), "shift_2": (width,)}
    blocks = [{name: rng.normal(size=shape) for name, shape in shapes.items()} for _ in range(layers)]
    ends = {"embed": (notes, width), "gain": (width,), "shift": (width,), "unembed": (width, notes)}
    model = {name: rng.normal(size=shape) for name, shape in ends.items()}
    return {**model, "blocks": blocks}, rng.normal(size=(length, width))


def forward(student, model, positions, tokens):
    """Logits and tables, checked for shape."""
    name = "lm_forward(...)"
    found = parts(student.lm_forward(model, positions, tokens), 2, name=name)
    (b, n), layers = tokens.shape, len(model["blocks"])
    logits = array(found[0], shape=(b, n, model["unembed"].shape[1]), name="logits")
    tables = parts(found[1], layers, name="weights")
    return logits, [array(table, shape=(b, n, n), name=f"weights[{at}]") for at, table in enumerate(tables)]


@graded("model", points=1, hint="Embedding plus positions; each block as in problem set 4; last norm; unembedding.")
def test_logits_and_weights_of_one_model(student):
    """The logits and the weights of a small random model have the printed values."""
    model, positions = drawn_model(np.random.default_rng(5))
    logits, tables = forward(student, model, positions, np.array([[0, 3, 3, 1, 4, 0]]))
    close(logits[0, 5], LOGITS, atol=1e-6, name="logits at place 5")
    close(logits[0, 0], FIRST_LOGITS, atol=1e-6, name="logits at place 0")
    close(tables[0][0, 3, :4], FIRST_TABLE, atol=1e-6, name="weights[0], row 3")
    close(tables[1][0, 3, :4], SECOND_TABLE, atol=1e-6, name="weights[1], row 3")


@graded(
    "model", points=1, hint="Without what attention and the feed-forward network add, a pre-norm block passes its input on."
)
def test_blocks_that_add_nothing(student, rng):
    """With zeros in w_o, w_2 and b_2, only embedding, positions, last norm and unembedding are left."""
    model, positions = drawn_model(rng)
    for part in model["blocks"]:
        part.update({name: np.zeros_like(part[name]) for name in ("w_o", "w_2", "b_2")})
    tokens = rng.integers(5, size=(2, 6))
    logits, _ = forward(student, model, positions, tokens)
    expected = np.array([[plain_norm(model["embed"][note] + positions[t], model["gain"], model["shift"]) @ model["unembed"]
                          for t, note in enumerate(row)] for row in tokens])  # fmt: skip
    close(logits, expected, atol=rounding(20, 64), name="logits of a model whose blocks add nothing")


@graded("model", points=1, hint="Use the causal mask in every block.")
def test_no_note_sees_the_future(student, rng):
    """Changing a note leaves all earlier logits and weights alone, and weights above the diagonal are 0."""
    model, positions = drawn_model(rng)
    tokens = rng.integers(5, size=(1, 7))
    changed = tokens.copy()
    changed[0, 4] = (changed[0, 4] + 1) % 5
    (logits, tables), (moved, _) = (forward(student, model, positions, notes) for notes in (tokens, changed))
    close(moved[:, :4], logits[:, :4], atol=rounding(20, 64), name="logits before the changed note")
    require(np.abs(moved[:, 4:] - logits[:, 4:]).max() > 1e-3, "the logits from the changed note on must change")
    for at, table in enumerate(tables):
        same(np.triu(table[0], 1), np.zeros((7, 7)), name=f"weights[{at}] above the diagonal")
        close(table.sum(axis=-1), np.ones((1, 7)), atol=ROUNDED, name=f"row sums of weights[{at}]")


@graded(
    "model",
    points=1,
    hint="Each sequence of a batch stands for itself; positions go by place, cut to the length of the tokens.",
)
def test_batches_and_short_sequences(student, rng):
    """A batch gives what its sequences give alone, and the first places give what a shorter sequence gives."""
    model, positions = drawn_model(rng, layers=1)
    tokens = rng.integers(5, size=(3, 6))
    logits, _ = forward(student, model, positions, tokens)
    require(np.ptp(logits[0], axis=0).min() > 1e-3, "logits must differ from place to place")
    alone, _ = forward(student, model, positions, tokens[1:2])
    short, _ = forward(student, model, positions, tokens[:, :4])
    close(logits[1:2], alone, atol=rounding(20, 64), name="logits of one sequence of a batch")
    close(logits[:, :4], short, atol=rounding(20, 64), name="logits of the first four places")


# ---------------------------------------------------------------------------------------------------------- gradients

EXERCISE = np.array([[0, 3, 3, 1], [2, 2, 4, 2]]), np.array([[3, 3, 1, 4], [2, 4, 2, 0]])
COUNTED = np.array([[False, True, True, True], [True, False, True, False]])


def gradients_of(student, model, positions, counted=COUNTED):
    """Loss and slopes, checked for form."""
    found = parts(student.lm_gradients(model, positions, *EXERCISE, counted), 2, name="lm_gradients(...)")
    loss, gradients = scalar(found[0], name="loss"), found[1]
    same_form(gradients, model)
    return loss, gradients


def same_form(gradients, model):
    """`gradients` has the keys, blocks and shapes of `model`."""
    require(isinstance(gradients, dict), f"gradients must be a dict like the model, they are {shown(gradients)}")
    require(
        set(gradients) == set(model), f"gradients must have the keys {sorted(model)}, they have {shown(sorted(gradients))}"
    )
    blocks = parts(gradients["blocks"], len(model["blocks"]), name="gradients['blocks']")
    for at, block in enumerate(blocks):
        keys = sorted(model["blocks"][at])
        require(isinstance(block, dict) and sorted(block) == keys, f"gradients['blocks'][{at}] must have the keys {keys}")
        for name, value in model["blocks"][at].items():
            array(block[name], shape=value.shape, name=f"gradients['blocks'][{at}]['{name}']")
    for name in set(model) - {"blocks"}:
        array(gradients[name], shape=model[name].shape, name=f"gradients['{name}']")


def along(student, rng, names, *, block=None):
    """Compare the slope along a random direction of some arrays with two small steps of the student's own loss."""
    model, positions = drawn_model(np.random.default_rng(8))
    _, gradients = gradients_of(student, model, positions)
    for name in names:
        for at in (0, 1) if block is None else (block,):
            inside = name in model["blocks"][0]
            direction = rng.normal(size=(model["blocks"][at] if inside else model)[name].shape)
            ends = []
            for sign in (1, -1):
                moved = {**model, "blocks": [dict(part) for part in model["blocks"]]}
                target = moved["blocks"][at] if inside else moved
                target[name] = target[name] + sign * STEP * direction
                ends.append(gradients_of(student, moved, positions)[0])
            own = np.sum((gradients["blocks"][at] if inside else gradients)[name] * direction)
            label = f"['blocks'][{at}]['{name}']" if inside else f"['{name}']"
            close(own, (ends[0] - ends[1]) / (2 * STEP), atol=SLOPE, name=f"gradients{label} along a random direction")


@graded("gradients", points=1, hint="The mean of -ln(probability of the target), over counted places only.")
def test_loss_of_one_model(student):
    """The loss of a small random model has the printed value, whatever stands at places that do not count."""
    model, positions = drawn_model(np.random.default_rng(5))
    loss, _ = gradients_of(student, model, positions)
    close(loss, LOSS, atol=1e-6, name="loss")
    one, _ = gradients_of(student, model, positions, np.arange(8).reshape(2, 4) == 6)
    close(one, LOSS_OF_ONE, atol=1e-6, name="loss with a single counted place")


@graded(
    "gradients", points=1, hint="With respect to the logits: probability minus one-hot, over the number of counted places."
)
def test_slopes_at_the_end(student, rng):
    """The gradients with respect to unembedding, last gain and last shift agree with small steps."""
    along(student, rng, ("unembed", "gain", "shift"), block=0)


@graded("gradients", points=1, hint="Through w_2, GELU and w_1; biases collect the gradients of all tokens.")
def test_slopes_of_the_feed_forward_network(student, rng):
    """The gradients with respect to w_1, b_1, w_2 and b_2 of both blocks agree with small steps."""
    along(student, rng, ("w_1", "b_1", "w_2", "b_2"))


@graded("gradients", points=1, hint="w_o meets the averaged values; w_v meets the normed tokens. Then the last block first.")
def test_slopes_of_values_and_output(student, rng):
    """The gradients with respect to w_v and w_o of both blocks agree with small steps."""
    along(student, rng, ("w_v", "w_o"))


@graded(
    "gradients",
    points=1,
    hint="`attention_backward` gives the gradients with respect to queries and keys; both came from the normed tokens.",
)
def test_slopes_of_queries_and_keys(student, rng):
    """The gradients with respect to w_q and w_k of both blocks agree with small steps."""
    along(student, rng, ("w_q", "w_k"))


@graded("gradients", points=1, hint="Each norm has its own gain and shift, and its own input.")
def test_slopes_of_the_norms(student, rng):
    """The gradients with respect to the gains and shifts of both blocks agree with small steps."""
    along(student, rng, ("gain_1", "shift_1", "gain_2", "shift_2"))


@graded(
    "gradients", points=1, hint="A note that occurs several times collects gradients from all places: add, don't assign."
)
def test_slopes_of_the_embedding(student, rng):
    """The gradients with respect to the embedding agree with small steps, and a note that does not occur has none."""
    along(student, rng, ("embed",), block=0)
    model, positions = drawn_model(np.random.default_rng(8))
    model["embed"] = np.vstack([model["embed"], np.ones((1, 4))])
    _, gradients = gradients_of(student, model, positions)
    same(gradients["embed"][5], np.zeros(4), name="gradients['embed'][5], of a note that does not occur")


# -------------------------------------------------------------------------------------------------------------- train


def lessons(rng, steps):
    """Batches in which the next note is the same note again: easy to learn."""
    tokens = np.repeat(rng.integers(5, size=(steps, 4, 1)), 6, axis=2)
    return tokens, tokens.copy(), np.ones(tokens.shape, dtype=bool)


def trained(student, batches, rates, seed=5):
    model, positions = drawn_model(np.random.default_rng(seed))
    found = parts(student.train_lm(model, positions, batches, rates), 2, name="train_lm(...)")
    same_form(found[0], model)
    return model, found[0], array(found[1], shape=(len(rates),), name="losses")


@graded("train", points=2, hint="Batch, loss, gradients, one step of Adam with this step's rate; then the next batch.")
def test_first_losses(student):
    """The losses of the first five steps have the printed values."""
    _, _, losses = trained(student, lessons(np.random.default_rng(6), 5), [0.05, 0.04, 0.03, 0.02, 0.01])
    close(losses, FIVE_LOSSES, atol=1e-6, name="losses of the first five steps")


@graded("train", points=1, hint="Each step uses its own entry of `rates`, and `losses` holds the loss before each step.")
def test_a_rate_of_zero_moves_nothing(student):
    """Two steps with a rate of 0 leave the model as it was; the loss before them is the same three times."""
    tokens, targets, counted = (np.repeat(part, 3, axis=0) for part in lessons(np.random.default_rng(6), 1))
    start, model, losses = trained(student, (tokens, targets, counted), [0.0, 0.0, 0.1])
    close(losses, np.full(3, losses[0]), atol=rounding(5, 64), name="losses before steps with the rates 0, 0 and .1")
    require(
        np.abs(model["unembed"] - start["unembed"]).max() > 0.01, "the third step, with a rate of .1, must move the model"
    )
    close(scalar(losses[0], name="losses[0]"), REPEATED_LOSS, atol=1e-6, name="losses[0]")


@graded("train", points=1, hint="Adam's first step moves every number by its rate, up or down; number your steps from 1.")
def test_size_of_the_first_step(student):
    """The first step moves nearly every number by the rate, and no number by more."""
    start, model, _ = trained(student, lessons(np.random.default_rng(6), 1), [0.02])
    moves = np.abs(
        np.concatenate([(model["blocks"][1][name] - start["blocks"][1][name]).ravel() for name in ("w_1", "w_2")])
    )
    # |m| / (sqrt(v) + 1e-8) is just below 1 where the slope is far above 1e-8.
    close(moves.max(), 0.02, atol=1e-5, name="the largest move")
    close(np.median(moves), 0.02, atol=1e-5, name="the median move")


@graded("train", points=1, hint="If the loss does not fall, check a gradient by small steps before you blame the rate.")
def test_an_easy_task_is_learned(student):
    """In forty steps the model learns to repeat a note: the loss falls to a tenth."""
    _, _, losses = trained(student, lessons(np.random.default_rng(6), 40), np.full(40, 0.05))
    require(
        losses[-1] < 0.1 * losses[0], f"the loss went from {losses[0]:.3f} to {losses[-1]:.3f}; it must fall below a tenth"
    )


# --------------------------------------------------------------------------------------------------------------- maps


@graded("maps", points=1, hint="Place 3 repeats the note of place 0, so it should read place 1, the note that came next.")
def test_induction_by_hand(student):
    """A table that reads what came next, one that reads the same note, and even weights."""
    tokens, counted = np.array([[2, 0, 1, 2, 0, 1]]), np.array([[False, False, False, True, True, True]])
    tables = {
        "next": np.zeros((1, 6, 6)),
        "same": np.zeros((1, 6, 6)),
        "even": np.tri(6)[np.newaxis] / np.arange(1, 7)[:, None],
    }
    for t in range(6):
        tables["next"][0, t, max(t - 2, 0)] = 1
        tables["same"][0, t, max(t - 3, 0)] = 1
    for label, expected in (("next", 1.0), ("same", 0.0), ("even", (1 / 4 + 1 / 5 + 1 / 6) / 3)):
        name = f"induction_mass of a table that reads {label}"
        close(scalar(student.induction_mass(tables[label], tokens, counted), name=name), expected, atol=ROUNDED, name=name)


@graded("maps", points=1, hint="Row t, column t - 1, for t from 1 to the period.")
def test_previous_by_hand(student):
    """A table that reads one to the left during the first round only."""
    table = np.zeros((2, 5, 5))
    for t in range(1, 5):
        table[0, t, t - 1] = 1.0 if t <= 2 else 0.0
        table[1, t, t - 1] = 0.25
    for periods, expected in (([2, 4], (2 * 1 + 4 * 0.25) / 6), ([4, 1], (2 * 1 + 0.25) / 5)):
        name = f"previous_mass(weights, {periods})"
        close(scalar(student.previous_mass(table, np.array(periods)), name=name), expected, atol=ROUNDED, name=name)


STRIPES = np.tri(4) / np.arange(1, 5)[:, np.newaxis]


def drawing(student, weights, labels):
    """The axes, the image and the colour bar of a map."""
    view = figure(student.map_figure(weights, labels), name="map_figure(weights, labels)")
    require(len(view.axes) == 1, f"the figure must have one pair of axes beside the colour bar, it has {len(view.axes)}")
    images = [image for image in view.axes[0].images if image.cells.shape == weights.shape]
    require(len(images) == 1, f"the axes must show one image with a cell for each of the {weights.size} weights")
    require(len(view.colorbars) == 1, f"the figure must have one colour bar, it has {len(view.colorbars)}")
    return view.axes[0], images[0], view.colorbars[0]


@graded("maps", points=1, hint="imshow draws row 0 on top; give it the table as it is.")
def test_map_cells(student):
    """Each weight is one cell, row 0 on top and column 0 on the left, and large weights are dark."""
    axes, image, _ = drawing(student, STRIPES, ["c", "e", "g", "c"])
    close(image.cells, STRIPES, atol=1e-6, name="the cells as a reader sees them")
    require(image.darkest == "high", f"larger weights must be darker; in the colour map {shown(image.cmap)} they are not")
    require(
        axes.xlabel.strip() == "read" and axes.ylabel.strip() == "reads",
        'the axes must be labelled "read" (x) and "reads" (y)',
    )


@graded("maps", points=1, hint="A tick for each place on both axes, with its note, even if the note has come before.")
def test_map_labels(student):
    """Every place carries its note on both axes."""
    labels = ["c", "e", "g", "c"]
    axes, image, bar = drawing(student, STRIPES, labels)
    for side, ticks, centres in (("x", axes.xticks, image.centers_x), ("y", axes.yticks, image.centers_y)):
        ticked = sorted((place, label) for place, label in ticks if label)
        told = [label for _, label in ticked]
        require(told == labels, f"the labels along {side} must be {labels}, they are {shown(told)}")
        # A tenth of a cell is too little to see.
        close([place for place, _ in ticked], sorted(centres), atol=0.1, name=f"ticks along {side}")
    require(bar.label.strip() == "weight", f'the colour bar must be labelled "weight", not {shown(bar.label)}')


# ---------------------------------------------------------------------------------------------------------- intervene


def copier(notes, reliable=True):
    """A model that reads the place after the last earlier occurrence of each note, and predicts what it finds there.

    A note that is new makes it read place 1.
    """

    def forward(tokens):
        b, n = tokens.shape
        table, logits = np.zeros((b, n, n)), np.zeros((b, n, notes))
        for i in range(b):
            for t in range(n):
                earlier = [s for s in range(t) if tokens[i, s] == tokens[i, t]]
                read = min(earlier[-1] + 1 if earlier else 1, t)
                table[i, t, read] = 0.9
                table[i, t, 0] += 0.1
                logits[i, t, tokens[i, read] if reliable or i % 2 else 0] = 5.0
        return logits, [np.full((b, n, n), 1 / n), table]

    return forward


TUNES = np.array([[0, 1, 2, 3, 0, 1, 2], [4, 2, 0, 4, 2, 0, 4], [3, 4, 1, 2, 3, 4, 1], [1, 0, 3, 1, 0, 3, 1]])
NEW = np.array([5, 5, 6, 6])


@graded(
    "intervene",
    points=1,
    hint="r is where the last layer's row reads most. Change the note there, and ask for the new prediction.",
)
def test_prediction_follows_what_is_read(student):
    """A model that copies what it reads follows every swap of it."""
    followed, _, _ = experiment(student, copier(7))
    close(followed, 1.0, atol=ROUNDED, name="followed")


@graded(
    "intervene", points=1, hint="Without the note before, the model no longer finds the place: the old prediction is lost."
)
def test_the_note_before_decides_too(student):
    """Without the note before the one that it reads, three of four predictions are lost; the last finds another round."""
    _, broken, _ = experiment(student, copier(7))
    close(broken, 0.75, atol=ROUNDED, name="broken")


@graded("intervene", points=1, hint="The share of predictions that stay, when a note changes that should not matter.")
def test_the_control_changes_little(student):
    """Changing another note leaves the prediction, except where that note is read after all."""
    _, _, control = experiment(student, copier(7), controls=np.array([2, 1, 1, 2]))
    close(control, 0.75, atol=ROUNDED, name="control")


LAST = np.array([6, 5, 6, 6])
UNREAD = np.array([5, 2, 3, 5])


def experiment(student, model, *, places=LAST, controls=UNREAD):
    found = parts(student.once.swap_experiment(model, TUNES, places, NEW, controls), 3, name="swap_experiment(...)")
    return [scalar(value, name=name) for value, name in zip(found, ("followed", "broken", "control"), strict=True)]


# ------------------------------------------------------------------------------------------------------- faithfulness


@graded("faithfulness", points=1, hint="Rank both, with |effects|; then the ordinary correlation of the ranks.")
def test_score_by_hand(student):
    """Three items in the same order, in the opposite order, and with one exchange among four."""
    alone = np.array([[0, 1, 2]])
    for weights, effects, expected in (
        ([0.1, 0.3, 0.6], [0.2, -0.4, 9.0], 1.0),
        ([0.1, 0.3, 0.6], [-5.0, 2.0, 0.0], -1.0),
        ([0.1, 0.2, 0.3, 0.4], [1.0, 3.0, -2.0, 4.0], 0.8),
    ):
        name = f"score of weights {weights} and effects {effects}"
        found = parts(student.faithfulness(np.array(weights), np.array(effects), alone), 3, name=name)
        close(scalar(found[0], name=name), expected, atol=ROUNDED, name=name)


@graded(
    "faithfulness", points=1, hint="Each row picks pairs: the same items of weights and of effects. Rank each pick anew."
)
def test_interval_by_hand(student):
    """Two resamples with the scores 1 and -1 give an interval from -.95 to .95."""
    weights, effects = np.array([0.1, 0.2, 0.3]), np.array([1.0, 5.0, 2.0])
    found = parts(student.faithfulness(weights, effects, np.array([[0, 1, 1], [1, 2, 2]])), 3, name="faithfulness(...)")
    for at, expected, name in ((1, -0.95, "low"), (2, 0.95, "high")):
        close(scalar(found[at], name=name), expected, atol=ROUNDED, name=name)


# --------------------------------------------------------------------------------------------------------- bug_museum
# You can read these exhibits. Those of the hidden tests you can only call.


def right_attention(queries, keys, values, mask, *, temper=lambda d: d**-0.5):
    """Row by row, over the allowed keys alone."""
    scores = temper(queries.shape[-1]) * np.einsum("...id,...jd->...ij", queries, keys)
    weights = np.zeros(scores.shape)
    for place in np.ndindex(scores.shape[:-1]):
        legal = np.flatnonzero(mask[place[-1]])
        if len(legal):
            grown = np.exp(scores[place][legal] - max(scores[place][legal]))
            weights[place][legal] = grown / sum(grown)
    return np.einsum("...ij,...jv->...iv", weights, values), weights


def by_logarithms(queries, keys, values, mask):
    """The same through logarithms: other roundings, and just as right."""
    scores = np.where(mask, queries @ np.swapaxes(keys, -1, -2) / math.sqrt(queries.shape[-1]), -np.inf)
    best = np.max(scores, axis=-1)[..., None]
    best = np.where(best > -np.inf, best, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(scores - best).sum(axis=-1))[..., None]
    weights = np.where(mask, np.exp(scores - best - np.where(total > -np.inf, total, 0.0)), 0.0)
    return weights @ values, weights


def without_a_root(queries, keys, values, mask):
    return right_attention(queries, keys, values, mask, temper=lambda d: 1.0)


def blind_to_its_mask(queries, keys, values, mask):
    return right_attention(queries, keys, values, np.ones_like(mask))


def along_the_queries(queries, keys, values, mask):
    grown = np.exp(right_attention(queries, keys, values, mask)[1])
    weights = grown / grown.sum(axis=-2)[..., None, :]
    return weights @ values, weights


def with_a_shortcut(queries, keys, values, mask):
    output, weights = right_attention(queries, keys, values, mask)
    return output + values.mean(axis=-2)[..., None, :] * 1e-6, weights


def verdict(student, exhibit, name):
    return boolean(student.once.is_broken(exhibit), name=f"is_broken({name})")


def exposes(student, exhibit, name):
    """Right functions must pass the checker, and the exhibit must not."""
    for right in (right_attention, by_logarithms):
        require(
            not verdict(student, right, right.__name__), f"`{right.__name__}` is right, but your checker calls it broken"
        )
    require(verdict(student, exhibit, name), f"`{name}` is broken, but your checker lets it pass")


@graded(
    "bug_museum", points=1, hint="Compare the weights with those of the formula, for one random table. Allow for rounding."
)
def test_exhibit_without_a_root(student):
    """An attention that does not divide by the root of d."""
    exposes(student, without_a_root, "without_a_root")


@graded("bug_museum", points=1, hint="Forbid something.")
def test_exhibit_blind_to_its_mask(student):
    """An attention that reads what its mask forbids."""
    exposes(student, blind_to_its_mask, "blind_to_its_mask")


@graded("bug_museum", points=1, hint="Rows of weights must sum to one, unless nothing is allowed.")
def test_exhibit_along_the_queries(student):
    """An attention that normalises along the wrong axis."""
    exposes(student, along_the_queries, "along_the_queries")


@graded("bug_museum", points=1, hint="Do not trust the output because the weights are right.")
def test_exhibit_with_a_shortcut(student):
    """An attention whose weights are right, and whose output is slightly off."""
    exposes(student, with_a_shortcut, "with_a_shortcut")


# ---------------------------------------------------------------------------------------- printed values, see above

LOGITS = [0.4395786, -1.3059933, -4.5227042, 0.7774639, -8.0406386]
FIRST_LOGITS = [5.5107307, -1.0685051, -2.5354452, -2.6893808, -2.2483521]
FIRST_TABLE = [0.1675183, 0.346981, 0.1683651, 0.3171355]
SECOND_TABLE = [0.069961, 0.4191504, 0.0603992, 0.4504895]
LOSS = 5.9677074
LOSS_OF_ONE = 7.3216791
FIVE_LOSSES = [7.111705, 3.3877297, 3.4175723, 1.7060844, 1.6128758]
REPEATED_LOSS = 7.111705
