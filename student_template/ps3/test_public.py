"""The tests of problem set 3 that students run themselves."""

import numpy as np

from autograder.testing import array, close, figure, graded, parts, require, rounding, same, scalar, shown

# Answers of size one that took at most a few dozen roundings.
ROUNDED = rounding(1, 64)
# Central differences with a step of 1e-5 err by its square times the third derivative, and by rounding over the step:
# 1e-10 for losses of size one. The wrong gradients we know of are off by more than 1e-3.
DIFFERENCES = 1e-7


@graded("encoding", points=1, hint="Row t, pair k: the sine and the cosine of t * 10000^(-2k / width), side by side.")
def test_encoding_of_three_positions(student):
    """Three positions of width four hold the sines and cosines of two rates."""
    # The rates are 10000^0 = 1 and 10000^(-1/2) = 0.01.
    expected = [[np.sin(t), np.cos(t), np.sin(0.01 * t), np.cos(0.01 * t)] for t in range(3)]
    name = "sinusoidal_encoding(3, 4)"
    close(array(student.sinusoidal_encoding(3, 4), shape=(3, 4), name=name), expected, atol=ROUNDED, name=name)


@graded("encoding", points=1, hint="Position 0 is 0, 1, 0, 1, ...; each sine needs the cosine of the same angle.")
def test_encodings_differ_in_direction_only(student):
    """All positions have vectors of one length, and a dot product tells the distance of two positions."""
    name = "sinusoidal_encoding(9, 6)"
    encoding = array(student.sinusoidal_encoding(9, 6), shape=(9, 6), name=name)
    close(encoding[0], [0, 1, 0, 1, 0, 1], atol=ROUNDED, name=f"{name}[0]")
    # sin^2 + cos^2 = 1 for each of the three pairs.
    close((encoding**2).sum(axis=1), np.full(9, 3.0), atol=rounding(3, 64), name=f"squared lengths of {name}")
    products = encoding @ encoding.T
    for distance in range(1, 9):
        along = np.diagonal(products, distance)
        close(
            along,
            np.full(len(along), products[0, distance]),
            atol=rounding(3, 64),
            name=f"dot products at distance {distance}",
        )
        require(along[0] < 3 - 1e-6, f"positions {distance} apart must have different vectors; theirs are the same")


@graded("logit_terms", points=1, hint="Each of query and key is a sum of two parts; multiply out and divide by sqrt(d).")
def test_four_tables_by_hand(student):
    """Two tokens of width two, with queries of width four, give tables that can be checked by hand."""
    content, positions = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[0.0, 1.0], [3.0, 0.0]])
    w_q = np.array([[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]])  # the query is twice the input, and sqrt(4) = 2
    w_k = np.array([[1.0, 5.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])  # the key of (a, b) is (a, 5a + b)
    tables = parts(student.logit_terms(content, positions, w_q, w_k), 4, name="logit_terms(...)")
    # Queries / 2: content (1, 0), (0, 2); positions (0, 1), (3, 0).
    # Keys: content (1, 5), (0, 2); positions (0, 1), (3, 15).
    expected = {
        "content_content": [[1, 0], [10, 4]],
        "content_position": [[0, 3], [2, 30]],
        "position_content": [[5, 2], [3, 0]],
        "position_position": [[1, 15], [0, 9]],
    }
    for table, (name, values) in zip(tables, expected.items(), strict=True):
        close(array(table, shape=(2, 2), name=name), values, atol=rounding(30, 64), name=name)


@graded("logit_terms", points=1, hint="Nothing may be lost and nothing counted twice: a product of two sums has four terms.")
def test_tables_add_up_to_the_scores(student, rng):
    """The four tables add up to the scores; without positions only the first is left."""
    content, positions = rng.normal(size=(5, 4)), rng.normal(size=(5, 4))
    w_q, w_k = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    for name, added in (("positions", positions), ("zeros", np.zeros((5, 4)))):
        mixed = content + added
        scores = (mixed @ w_q) @ (mixed @ w_k).T / np.sqrt(3)
        tables = parts(student.logit_terms(content, added, w_q, w_k), 4, name=f"logit_terms(content, {name}, w_q, w_k)")
        tables = [array(table, shape=(5, 5), name=f"table {place}") for place, table in enumerate(tables)]
        close(sum(tables), scores, atol=rounding(100, 64), name=f"the sum of the four tables, {name} added")
    for place, table in enumerate(tables[1:], start=1):
        same(table, np.zeros((5, 5)), name=f"table {place} without positions")


@graded("forward", points=1, hint="Score, softmax over the tokens of each example, weighted average, dot with the readout.")
def test_pooling_by_hand(student):
    """One example of two tokens: scores 0 and ln 3 give weights 1/4 and 3/4."""
    # sqrt(width) = 2, so query . x = 2 ln 3 is a score of ln 3.
    tokens = np.array([[[0.0, 8.0, 0.0, 0.0], [1.0, 0.0, 4.0, 0.0]]])
    query, readout = np.array([2 * np.log(3), 0.0, 0.0, 0.0]), np.array([0.0, 1.0, 10.0, 0.0])
    logits, weights = parts(student.pooled_logits(tokens, query, readout), 2, name="pooled_logits(...)")
    close(array(weights, shape=(1, 2), name="weights"), [[0.25, 0.75]], atol=ROUNDED, name="weights")
    # The values read off the tokens are 8 and 40.
    close(array(logits, shape=(1,), name="logits"), [0.25 * 8 + 0.75 * 40], atol=rounding(40, 64), name="logits")


@graded("forward", points=1, hint="A query of zeros has no preference. Which weights does an even split give?")
def test_query_of_zeros_takes_the_mean(student, rng):
    """A query of zeros pools each example to the mean of its tokens."""
    tokens, readout = rng.normal(size=(3, 5, 4)), rng.normal(size=4)
    logits, weights = parts(student.pooled_logits(tokens, np.zeros(4), readout), 2, name="pooled_logits(tokens, zeros, w)")
    close(array(weights, shape=(3, 5), name="weights"), np.full((3, 5), 0.2), atol=ROUNDED, name="weights")
    expected = [readout @ example.mean(axis=0) for example in tokens]
    close(array(logits, shape=(3,), name="logits"), expected, atol=rounding(10, 64), name="logits")


@graded("loss", points=1, hint="Probabilities 1/2 and 1/4 cost ln 2 and ln 4; then take the mean.")
def test_loss_of_two_examples(student):
    """A logit of 0 costs ln 2; a logit of ln 3 against the label costs ln 4."""
    name = "logistic_loss([0, ln 3], [1, 0])"
    loss = scalar(student.logistic_loss(np.array([0.0, np.log(3)]), np.array([1.0, 0.0])), name=name)
    close(loss, 1.5 * np.log(2), atol=ROUNDED, name=name)


def differences(function, start, step=1e-5):
    """Central differences of a function of one vector."""
    moves = step * np.eye(len(start))
    return np.array([(function(start + move) - function(start - move)) / (2 * step) for move in moves])


def loss_of_mean(tokens, labels, readout):
    """The loss while the query is zero, where each example is pooled to its mean."""
    logits = tokens.mean(axis=1) @ readout
    return np.mean(np.log(1 + np.exp(-np.where(labels > 0.5, logits, -logits))))


@graded("gradients", points=1, hint="d loss / d z = (sigmoid(z) - label) / n, and z is linear in the readout.")
def test_readout_gradient_is_the_slope(student, rng):
    """The gradient of the readout is the slope that small steps measure."""
    tokens, readout = rng.normal(size=(7, 3, 4)), rng.normal(size=4)
    labels = (tokens[:, 0, 0] > 0).astype(float)
    found = parts(student.loss_gradients(tokens, labels, np.zeros(4), readout), 2, name="loss_gradients(...)")
    gradient = array(found[1], shape=(4,), name="readout_gradient")
    expected = differences(lambda moved: loss_of_mean(tokens, labels, moved), readout)
    close(gradient, expected, atol=DIFFERENCES, name="readout_gradient, query of zeros")


@graded("gradients", points=1, hint="The query moves the scores, the scores move the weights by the softmax Jacobian.")
def test_query_gradient_is_the_slope(student):
    """With one example of two tokens, the gradient of the query follows from one sigmoid."""
    # Two tokens: the weight of the first is sigmoid(query . (x_0 - x_1) / 2), as sqrt(4) = 2.
    tokens = np.array([[[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, -1.0]]])
    query, readout = np.array([0.4, -0.2, 0.1, 0.3]), np.array([0.5, 1.0, -1.0, 0.2])

    def loss(moved):
        weight = 1 / (1 + np.exp(-moved @ (tokens[0, 0] - tokens[0, 1]) / 2))
        return np.log(1 + np.exp(-(weight * tokens[0, 0] + (1 - weight) * tokens[0, 1]) @ readout))

    found = parts(student.loss_gradients(tokens, np.array([1.0]), query, readout), 2, name="loss_gradients(...)")
    gradient = array(found[0], shape=(4,), name="query_gradient")
    close(gradient, differences(loss, query), atol=DIFFERENCES, name="query_gradient")


@graded(
    "adam", points=1, hint="At step 1 the corrected averages are the gradient and its square: a step of lr, with its sign."
)
def test_first_step_of_adam(student):
    """The first step moves every number by lr, against the sign of its slope."""
    theta, gradient = np.array([1.0, -2.0, 3.0]), np.array([0.5, -4.0, 0.0])
    found = parts(student.adam_step(theta, gradient, np.zeros(3), np.zeros(3), 1, lr=0.1), 3, name="adam_step(...)")
    expected = ([0.9, -1.9, 3.0], [0.05, -0.4, 0.0], [0.00025, 0.016, 0.0])
    # eps = 1e-8 shortens a step of lr by a part in 5e7; the averages are exact but for rounding.
    for value, wanted, atol, name in zip(found, expected, (1e-8, ROUNDED, ROUNDED), ("theta", "m", "v"), strict=True):
        close(array(value, shape=(3,), name=name), wanted, atol=atol, name=f"{name} after the first step")


@graded("adam", points=1, hint="Correct both averages by their own 1 - beta^step, and hand back the uncorrected ones.")
def test_second_step_of_adam(student):
    """The second step blends both slopes, with corrected averages."""
    # m = 0.9 * 0.1 + 0.1 * 3 = 0.39, divided by 1 - 0.9^2 = 0.19; v = 0.999 * 0.001 + 0.001 * 9 = 0.009999, divided by
    # 1 - 0.999^2 = 0.001999. These are the averages after a first slope of 1 and a second of 3.
    found = parts(
        student.adam_step(np.array([2.0]), np.array([3.0]), np.array([0.1]), np.array([0.001]), 2), 3, name="adam_step(...)"
    )
    expected = 2 - 0.01 * (0.39 / 0.19) / (np.sqrt(0.009999 / 0.001999) + 1e-8)
    for value, wanted, name in zip(found, (expected, 0.39, 0.009999), ("theta", "m", "v"), strict=True):
        # 1 - 0.999^2 cancels three digits, so a thousand roundings.
        close(array(value, shape=(1,), name=name), [wanted], atol=rounding(2, 2000), name=f"{name} after the second step")


@graded("train", points=1, hint="The first step of Adam moves every number by lr; query and readout move together.")
def test_no_step_and_one_step(student, rng):
    """No step returns the start; one step moves the readout by lr, against the sign of its slope."""
    tokens, query, readout = rng.normal(size=(20, 3, 4)), np.zeros(4), rng.normal(size=4)
    labels = (tokens[:, 0, 0] > 0).astype(float)
    unmoved = parts(student.train(tokens, labels, query, readout, steps=0), 2, name="train(..., steps=0)")
    for value, start, name in zip(unmoved, (query, readout), ("query", "readout"), strict=True):
        same(array(value, shape=(4,), name=f"{name} after no step"), start, name=f"{name} after no step")
    moved = parts(student.train(tokens, labels, query, readout, steps=1, lr=0.05), 2, name="train(..., steps=1, lr=0.05)")
    slope = differences(lambda other: loss_of_mean(tokens, labels, other), readout)
    # eps = 1e-8 shortens the step by a hundredth where the slope is as small as 1e-6.
    readout_moved, query_moved = array(moved[1], shape=(4,), name="readout"), array(moved[0], shape=(4,), name="query")
    close(readout_moved, readout - 0.05 * np.sign(slope), atol=5e-4, name="readout after a step")
    close(np.abs(query_moved), np.full(4, 0.05), atol=5e-4, name="|query| after a step")


@graded("train", points=1, hint="Follow the slope downhill: subtract it, take every step, and keep m and v between steps.")
def test_training_finds_an_easy_rule(student, rng):
    """When token 0 carries a clear mark, 300 steps find it and the labels with it."""
    tokens = rng.normal(size=(200, 4, 4))
    labels = (tokens[:, 0, 0] > 0).astype(float)
    tokens[:, 0, 3] += 6.0
    start = np.full(4, 0.1)
    query, readout = parts(student.once.train(tokens, labels, start, start, steps=300), 2, name="train(..., steps=300)")
    query, readout = array(query, shape=(4,), name="query"), array(readout, shape=(4,), name="readout")
    # The mark is on coordinate 3, the sign on coordinate 0. These data are fixed, so a right answer always passes.
    require(query.argmax() == 3, f"the query must look for the mark in coordinate 3; it is {query.round(2).tolist()}")
    require(readout.argmax() == 0, f"the readout must read coordinate 0; it is {readout.round(2).tolist()}")
    growth = np.exp(tokens @ query / 2)
    logits = (growth * (tokens @ readout)).sum(axis=1) / growth.sum(axis=1)
    accuracy = ((logits > 0) == (labels > 0.5)).mean()
    require(accuracy >= 0.9, f"accuracy on the training set must reach 0.9 in 300 steps; it is {accuracy:.3f}")


@graded("sweep", points=1, hint="One row a scale, in the order given; the train set's accuracy first, then the test set's.")
def test_sweep_without_training(student, rng):
    """With no step to take, a sweep measures the start: here a rule that reads the mean of each example."""
    train_set, test_set = (
        (tokens, (tokens[:, 0, 0] > 0).astype(float))
        for tokens in (rng.normal(size=(40, 3, 4)), rng.normal(size=(25, 3, 4)))
    )
    positions, readout, scales = rng.normal(size=(3, 4)), rng.normal(size=4), [1.0, 0.0, 2.5]
    name = f"position_sweep(..., scales={scales}, steps=0)"
    table = student.position_sweep(train_set, test_set, positions, np.zeros(4), readout, scales, steps=0)
    expected = [
        [
            (((tokens + scale * positions).mean(axis=1) @ readout > 0) == (labels > 0.5)).mean()
            for tokens, labels in (train_set, test_set)
        ]
        for scale in scales
    ]
    close(array(table, shape=(3, 2), name=name), expected, atol=ROUNDED, name=name)


@graded("sweep", points=1, hint="Each scale starts anew from the given start, with the scale on both sets.")
def test_each_scale_starts_anew(student, rng):
    """A mark on token 0 is found at scale 1, missed at scale 0, and the scales before do not matter."""
    train_set, test_set = (
        (tokens, (tokens[:, 0, 0] > 0).astype(float))
        for tokens in (rng.normal(size=(200, 4, 4)), rng.normal(size=(200, 4, 4)))
    )
    positions = np.zeros((4, 4))
    positions[0, 3] = 6.0
    start = np.full(4, 0.1)
    arguments = (train_set, test_set, positions, start, start)
    table = array(
        student.once.position_sweep(*arguments, [0.0, 1.0, 0.0], steps=300),
        shape=(3, 2),
        name="position_sweep(..., [0, 1, 0])",
    )
    # These data are fixed, so a right answer always passes. Without the mark no rule does better than 0.69 on average
    # (four tokens), and 200 examples scatter by 0.035.
    require((table[1] > 0.85).all(), f"at scale 1 the mark is plain, both accuracies must pass 0.85; they are {table[1]}")
    require((table[0] < 0.85).all(), f"at scale 0 there is no mark to find, accuracies must stay low; they are {table[0]}")
    same(table[2], table[0], name="the second row at scale 0 against the first")


@graded("figure", points=1, hint="A median a scale, in the order of the scales: np.median(..., axis=0).")
def test_figure_shows_medians(student):
    """The curve goes through the medians, one point a scale."""
    scales, accuracies = [0.0, 1.0, 3.0], np.array([[0.60, 0.70, 0.92], [0.58, 0.69, 0.50], [0.59, 0.68, 0.93]])
    view = figure(student.sweep_figure(scales, accuracies, 0.63671875), name="sweep_figure(...)")
    require(len(view.axes) == 1, f"the figure must have one pair of axes, it has {len(view.axes)}")
    drawn = [line for line in view.axes[0].lines if line.linestyle not in ("None", "none", "", " ")]
    expected = [0.59, 0.69, 0.92]
    found = any(
        line.x.shape == line.y.shape == (3,)
        and np.allclose(line.x, scales, atol=1e-9)
        and np.allclose(line.y, expected, atol=1e-9)
        for line in drawn
    )
    require(
        found,
        f"no line goes through the medians {expected} at the scales {scales}; "
        f"the lines hold {shown([line.y for line in drawn])}",
    )


@graded("figure", points=1, hint="Say on each axis what it shows, and give median and bound a label in a legend.")
def test_figure_names_what_it_shows(student):
    """Both axes have names, and a legend tells median from bound."""
    scales, accuracies = [0.0, 1.0, 3.0], np.array([[0.60, 0.70, 0.92], [0.58, 0.69, 0.50], [0.59, 0.68, 0.93]])
    view = figure(student.sweep_figure(scales, accuracies, 0.63671875), name="sweep_figure(...)")
    require(len(view.axes) == 1, f"the figure must have one pair of axes, it has {len(view.axes)}")
    axes = view.axes[0]
    require(axes.xlabel.strip() and axes.ylabel.strip(), "both axes need a name")
    legend = [label.lower() for label in axes.legend if label.strip()]
    require(len(legend) >= 2, f"a legend must name the median and the bound; it holds {shown(legend)}")
    require(any("bound" in label for label in legend), f"no label in the legend contains the word 'bound': {shown(legend)}")


@graded("time", points=1, hint="Time t stands for the position span * t; the rest is as in sinusoidal_encoding.")
def test_embedding_of_three_times(student):
    """Times 1/2, 0 and 1, with a span of 2, stand for positions 1, 0 and 2."""
    name = "embed_time([0.5, 0, 1], 4, span=2.0)"
    expected = [[np.sin(t), np.cos(t), np.sin(0.01 * t), np.cos(0.01 * t)] for t in (1, 0, 2)]
    embedded = array(student.embed_time(np.array([0.5, 0.0, 1.0]), 4, span=2.0), shape=(3, 4), name=name)
    close(embedded, expected, atol=ROUNDED, name=name)


@graded("time", points=1, hint="Units are tanh(inputs @ weights + bias); fit on the train set, measure on the test set.")
def test_readout_of_one_unit(student):
    """One hidden unit that is always 1/2: the readout and its error can be worked out by hand."""
    layer = (np.zeros((2, 1)), np.array([np.arctanh(0.5)]))
    train_set = (np.ones((2, 2)), np.array([1.0, 3.0]))
    test_set = (np.ones((3, 2)), np.array([1.0, 0.0, 5.0]))
    # (1/4 + 3/4) c = (1/2)(2), so c = 1, and the prediction is 1/2 everywhere: errors 1/2, 1/2, 9/2.
    name = "readout_error(..., ridge=0.75)"
    error = scalar(student.readout_error(train_set, test_set, layer, ridge=0.75), name=name)
    close(error, (0.25 + 0.25 + 20.25) / 3, atol=rounding(10, 64), name=name)
