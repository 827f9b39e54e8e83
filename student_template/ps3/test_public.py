"""The tests of problem set 3 that students run themselves."""

import numpy as np

from autograder.testing import array, close, figure, graded, parts, refuses, require, same, scalar, shown

# Where a test is about something else than precision, an answer in float32 may pass: a hundred roundings of size 1e-7, and
# central differences with a step of 1e-5, which err by 1e-10. The wrong gradients we know of are off by more than 1e-3.
LOOSE = 1e-5


@graded("encoding", points=1, hint="Row t, pair k: the sine and the cosine of t * 10000^(-2k / width), side by side.")
def test_encoding_of_three_positions(student):
    """Three positions of width four hold the sines and cosines of two rates."""
    # The rates are 10000^0 = 1 and 10000^(-1/2) = 0.01.
    expected = [[np.sin(t), np.cos(t), np.sin(0.01 * t), np.cos(0.01 * t)] for t in range(3)]
    name = "sinusoidal_encoding(3, 4)"
    close(array(student.sinusoidal_encoding(3, 4), shape=(3, 4), name=name), expected, atol=LOOSE, name=name)


@graded("encoding", points=1, hint="Position 0 is 0, 1, 0, 1, ...; each sine needs the cosine of the same angle.")
def test_encodings_differ_in_direction_only(student):
    """All positions have vectors of one length, and a dot product tells the distance of two positions."""
    name = "sinusoidal_encoding(9, 6)"
    encoding = array(student.sinusoidal_encoding(9, 6), shape=(9, 6), name=name)
    close(encoding[0], [0, 1, 0, 1, 0, 1], atol=LOOSE, name=f"{name}[0]")
    # sin^2 + cos^2 = 1 for each of the three pairs.
    close((encoding**2).sum(axis=1), np.full(9, 3.0), atol=3 * LOOSE, name=f"squared lengths of {name}")
    products = encoding @ encoding.T
    for distance in range(1, 9):
        along = np.diagonal(products, distance)
        close(
            along,
            np.full(len(along), products[0, distance]),
            atol=3 * LOOSE,
            name=f"dot products at distance {distance}",
        )
        require(along[0] < 3 - 1e-6, f"positions {distance} apart must have different vectors; theirs are the same")


@graded("encoding", points=1, hint="The exponent is -2k / width, where k is the number of the pair. And an odd width?")
def test_encoding_of_other_widths(student):
    """Widths of two and six have the right rates, and an odd width is refused."""
    for length, width in ((4, 2), (12, 6)):
        name = f"sinusoidal_encoding({length}, {width})"
        encoding = array(student.sinusoidal_encoding(length, width), shape=(length, width), name=name)
        for pair in range(width // 2):
            angles = np.arange(length) / 10000 ** (2 * pair / width)
            close(encoding[:, 2 * pair], np.sin(angles), atol=LOOSE, name=f"{name}[:, {2 * pair}]")
            close(encoding[:, 2 * pair + 1], np.cos(angles), atol=LOOSE, name=f"{name}[:, {2 * pair + 1}]")
    for width in (1, 5):
        refuses(student.sinusoidal_encoding, 4, width, name=f"sinusoidal_encoding(4, {width})", why="the width is odd")


@graded("encoding", points=1, hint="A shift turns each pair by a fixed angle: sine and cosine must share one angle.")
def test_shift_is_a_rotation(student):
    """Moving one place along turns each pair by its own rate, wherever you start."""
    name = "sinusoidal_encoding(20, 8)"
    encoding = array(student.sinusoidal_encoding(20, 8), shape=(20, 8), name=name)
    for pair, rate in enumerate((1.0, 0.1, 0.01, 0.001)):
        sine, cosine = encoding[:, 2 * pair], encoding[:, 2 * pair + 1]
        turned = sine[:-1] * np.cos(rate) + cosine[:-1] * np.sin(rate)
        close(sine[1:], turned, atol=LOOSE, name=f"column {2 * pair} of {name}, one place along")


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
        close(array(table, shape=(2, 2), name=name), values, atol=30 * LOOSE, name=name)


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
        close(sum(tables), scores, atol=100 * LOOSE, name=f"the sum of the four tables, {name} added")
    for place, table in enumerate(tables[1:], start=1):
        same(table, np.zeros((5, 5)), name=f"table {place} without positions")


@graded("logit_terms", points=1, hint="How often does the scale of the positions enter each of the four products?")
def test_tables_grow_with_the_scale(student, rng):
    """Stronger positions change each table by its own power of the scale."""
    content, positions = rng.normal(size=(2, 5, 4))
    w_q, w_k = rng.normal(size=(2, 4, 4))
    weak = parts(student.logit_terms(content, positions, w_q, w_k), 4, name="logit_terms(x, p, w_q, w_k)")
    strong = parts(student.logit_terms(content, 3 * positions, w_q, w_k), 4, name="logit_terms(x, 3 p, w_q, w_k)")
    for place, (factor, before, after) in enumerate(zip((1, 3, 3, 9), weak, strong, strict=True)):
        before = array(before, shape=(5, 5), name=f"table {place}")
        require(np.abs(before).max() > 0.01, f"table {place} is empty; it must compare its two parts")
        after = array(after, shape=(5, 5), name=f"table {place}, positions times 3")
        close(after, factor * before, atol=1000 * LOOSE, name=f"table {place}, positions times 3")


@graded("logit_terms", points=1, hint="content_position: the content of the query's token with the position of the key's.")
def test_tables_depend_on_the_right_side(student, rng):
    """Changing the content of one token touches only its own row or column in the mixed tables."""
    content, positions = rng.normal(size=(2, 4, 6))
    w_q, w_k = rng.normal(size=(2, 6, 3))
    changed = content.copy()
    changed[2] += 1.0
    before, after = (
        [array(table, shape=(4, 4), name="a table") for table in parts(value, 4, name="logit_terms(...)")]
        for value in student.logit_terms.each((tokens, positions, w_q, w_k) for tokens in (content, changed))
    )
    token = np.arange(4) == 2
    row, column = np.broadcast_to(token[:, None], (4, 4)), np.broadcast_to(token, (4, 4))
    names = ("content_content", "content_position", "position_content", "position_position")
    for name, old, new, expected in zip(names, before, after, (row | column, row, column, row & ~row), strict=True):
        # What changes at all changes by about one; float32 rounds by 1e-6.
        same(np.abs(new - old) > 1e-4, expected, name=f"entries of {name} that change with token 2")


@graded("forward", points=1, hint="Score, softmax over the tokens of each example, weighted average, dot with the readout.")
def test_pooling_by_hand(student):
    """One example of two tokens: scores 0 and ln 3 give weights 1/4 and 3/4."""
    # sqrt(width) = 2, so query . x = 2 ln 3 is a score of ln 3.
    tokens = np.array([[[0.0, 8.0, 0.0, 0.0], [1.0, 0.0, 4.0, 0.0]]])
    query, readout = np.array([2 * np.log(3), 0.0, 0.0, 0.0]), np.array([0.0, 1.0, 10.0, 0.0])
    logits, weights = parts(student.pooled_logits(tokens, query, readout), 2, name="pooled_logits(...)")
    close(array(weights, shape=(1, 2), name="weights"), [[0.25, 0.75]], atol=LOOSE, name="weights")
    # The values read off the tokens are 8 and 40.
    close(array(logits, shape=(1,), name="logits"), [0.25 * 8 + 0.75 * 40], atol=40 * LOOSE, name="logits")


@graded("forward", points=1, hint="A query of zeros has no preference. Which weights does an even split give?")
def test_query_of_zeros_takes_the_mean(student, rng):
    """A query of zeros pools each example to the mean of its tokens."""
    tokens, readout = rng.normal(size=(3, 5, 4)), rng.normal(size=4)
    logits, weights = parts(student.pooled_logits(tokens, np.zeros(4), readout), 2, name="pooled_logits(tokens, zeros, w)")
    close(array(weights, shape=(3, 5), name="weights"), np.full((3, 5), 0.2), atol=LOOSE, name="weights")
    expected = [readout @ example.mean(axis=0) for example in tokens]
    close(array(logits, shape=(3,), name="logits"), expected, atol=10 * LOOSE, name="logits")


@graded("forward", points=1, hint="exp overflows near 710. Which shift of the scores of one example changes no weight?")
def test_pooling_with_large_scores(student):
    """Scores of a few thousand give the right weights; each example is shifted by its own largest score."""
    tokens = np.zeros((2, 3, 4))
    tokens[:, :, 0] = [[1.0, 0.0, -1.0], [-1.0, -1.0, -1.0]]
    tokens[:, :, 1] = [1.0, 2.0, 4.0]
    query, readout = np.array([6000.0, 0.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0, 0.0])
    logits, weights = parts(student.pooled_logits(tokens, query, readout), 2, name="pooled_logits(...)")
    weights = array(weights, shape=(2, 3), name="weights at scores of 3000, 0 and -3000, and of -3000 three times")
    close(weights, [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]], atol=LOOSE, name="weights at large scores")
    close(array(logits, shape=(2,), name="logits"), [1.0, 7 / 3], atol=10 * LOOSE, name="logits at large scores")


@graded("forward", points=1, hint="Examples do not see each other: no sum or maximum runs over them.")
def test_examples_are_independent(student, rng):
    """An example gets the same weights and the same logit alone and in company, and its weights sum to one."""
    tokens, query, readout = rng.normal(size=(5, 4, 3)), rng.normal(size=3), rng.normal(size=3)
    tokens *= np.array([0.1, 1.0, 1.0, 10.0, 30.0])[:, None, None]
    logits, weights = parts(student.pooled_logits(tokens, query, readout), 2, name="pooled_logits(five examples)")
    logits, weights = array(logits, shape=(5,), name="logits"), array(weights, shape=(5, 4), name="weights")
    close(weights.sum(axis=1), np.ones(5), atol=LOOSE, name="the sums of the weights of each example")
    close(logits, (weights * (tokens @ readout)).sum(axis=1), atol=100 * LOOSE, name="logits against weights")
    for place in range(5):
        alone = parts(student.pooled_logits(tokens[place : place + 1], query, readout), 2, name="pooled_logits(one)")
        single = array(alone[0], shape=(1,), name="logits")[0]
        close(single, logits[place], atol=1000 * LOOSE, name=f"logit of example {place} alone")
        single = array(alone[1], shape=(1, 4), name="weights")[0]
        close(single, weights[place], atol=100 * LOOSE, name=f"weights of example {place} alone")


@graded("loss", points=1, hint="Probabilities 1/2 and 1/4 cost ln 2 and ln 4; then take the mean.")
def test_loss_of_two_examples(student):
    """A logit of 0 costs ln 2; a logit of ln 3 against the label costs ln 4."""
    name = "logistic_loss([0, ln 3], [1, 0])"
    loss = scalar(student.logistic_loss(np.array([0.0, np.log(3)]), np.array([1.0, 0.0])), name=name)
    close(loss, 1.5 * np.log(2), atol=LOOSE, name=name)


@graded("loss", points=1, hint="exp overflows, and log(0) is infinite. np.logaddexp(0, x) is log(1 + exp(x)) for any x.")
def test_loss_of_very_sure_answers(student):
    """Answers that are very sure and right cost nothing, and those that are wrong cost the size of their logit."""
    for logits, labels, expected in (
        ([2000.0, -3000.0], [1.0, 0.0], 0.0),
        ([2000.0, -3000.0], [0.0, 1.0], 2500.0),
        ([-800.0, 0.0], [1.0, 1.0], (800 + np.log(2)) / 2),
    ):
        name = f"logistic_loss({logits}, {labels})"
        loss = scalar(student.logistic_loss(np.array(logits), np.array(labels)), name=name)
        close(loss, expected, atol=max(1.0, expected) * LOOSE, name=name)


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
    close(gradient, expected, atol=LOOSE, name="readout_gradient, query of zeros")


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
    close(gradient, differences(loss, query), atol=LOOSE, name="query_gradient")


@graded("gradients", points=1, hint="Compare with (loss(q + h) - loss(q - h)) / 2h, number by number; the loss is a mean.")
def test_gradients_of_several_examples(student, rng):
    """With several examples of several tokens, both gradients are the slopes that small steps measure."""
    for n, length, width in ((5, 3, 4), (2, 4, 3)):
        tokens, query, readout = rng.normal(size=(n, length, width)), rng.normal(size=width), rng.normal(size=width)
        labels = (np.arange(n) % 2).astype(float)

        def loss(moved_query, moved_readout, tokens=tokens, labels=labels):
            growth = np.exp(tokens @ moved_query / np.sqrt(tokens.shape[2]))
            logits = (growth * (tokens @ moved_readout)).sum(axis=1) / growth.sum(axis=1)
            return np.mean(np.log(1 + np.exp(-np.where(labels > 0.5, logits, -logits))))

        found = parts(student.loss_gradients(tokens, labels, query, readout), 2, name="loss_gradients(...)")
        wanted = (
            differences(lambda moved, loss=loss, readout=readout: loss(moved, readout), query),
            differences(lambda moved, loss=loss, query=query: loss(query, moved), readout),
        )
        for value, slope, name in zip(found, wanted, ("query_gradient", "readout_gradient"), strict=True):
            close(array(value, shape=(width,), name=name), slope, atol=LOOSE, name=f"{name} of {n} examples")


@graded("gradients", points=1, hint="Where does exp meet a large number? 1 / (1 + exp(-z)) overflows at z = -1000.")
def test_gradients_of_very_sure_answers(student):
    """A logit of 1000 or -1000 gives finite gradients, without a warning."""
    tokens = np.array([[[1.0, 1.0], [1.0, 1.0]], [[-1.0, 2.0], [-1.0, 2.0]]])
    readout = np.array([1000.0, 0.0])
    found = parts(student.loss_gradients(tokens, np.zeros(2), np.zeros(2), readout), 2, name="loss_gradients(...)")
    warned = [text for text in student.warnings if text.startswith("RuntimeWarning")]
    require(not warned, f"loss_gradients at logits of 1000 and -1000 raises {'; '.join(warned)}")
    # The first example is wrong for sure, with an error of 1/2; the second is right for sure.
    close(array(found[1], shape=(2,), name="readout_gradient"), [0.5, 0.5], atol=LOOSE, name="readout_gradient")
    close(array(found[0], shape=(2,), name="query_gradient"), [0.0, 0.0], atol=LOOSE, name="query_gradient")


@graded(
    "adam", points=1, hint="At step 1 the corrected averages are the gradient and its square: a step of lr, with its sign."
)
def test_first_step_of_adam(student):
    """The first step moves every number by lr, against the sign of its slope."""
    theta, gradient = np.array([1.0, -2.0, 3.0]), np.array([0.5, -4.0, 0.0])
    found = parts(student.adam_step(theta, gradient, np.zeros(3), np.zeros(3), 1, lr=0.1), 3, name="adam_step(...)")
    expected = ([0.9, -1.9, 3.0], [0.05, -0.4, 0.0], [0.00025, 0.016, 0.0])
    # Wherever eps = 1e-8 stands, it shortens a step by less than a part in a million.
    for value, wanted, name in zip(found, expected, ("theta", "m", "v"), strict=True):
        close(array(value, shape=(3,), name=name), wanted, atol=1e-6, name=f"{name} after the first step")


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
        # A wrong correction moves theta by 1e-3, and one that is kept moves m and v by more.
        close(array(value, shape=(1,), name=name), [wanted], atol=1e-6, name=f"{name} after the second step")


@graded("adam", points=1, hint="All that the step needs comes in as an argument: lr, the betas and the step, for any shape.")
def test_settings_of_adam(student, rng):
    """Other settings, other shapes and steps in any order follow the formula."""
    for shape, step, lr, beta1, beta2 in (((2, 3), 3, 0.5, 0.5, 0.8), ((), 1, 1.0, 0.9, 0.999), ((4,), 2, 0.1, 0.0, 0.5)):
        theta, slope, m, v = rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=shape), 1 + rng.random(shape)
        name = f"adam_step(..., step={step}, lr={lr}, beta1={beta1}, beta2={beta2})"
        moved, mean, square = (
            scalar(value, name=name) if shape == () else array(value, shape=shape, name=name)
            for value in parts(student.adam_step(theta, slope, m, v, step, lr=lr, beta1=beta1, beta2=beta2), 3, name=name)
        )
        wanted_mean, wanted_square = (
            np.asarray(beta * old + (1 - beta) * new) for beta, old, new in ((beta1, m, slope), (beta2, v, slope**2))
        )
        close(np.asarray(mean), wanted_mean, atol=LOOSE, name=f"m of {name}")
        close(np.asarray(square), wanted_square, atol=LOOSE, name=f"v of {name}")
        length = lr * np.abs(wanted_mean / (1 - beta1**step)) / np.sqrt(wanted_square / (1 - beta2**step))
        close(np.asarray(np.abs(moved - theta)), length, atol=10 * LOOSE, name=f"the size of the step of {name}")


@graded("train", points=1, hint="The first step of Adam moves every number by lr; query and readout move together.")
def test_no_step_and_one_step(student, rng):
    """No step returns the start; one step moves the readout by lr, against the sign of its slope."""
    tokens, query, readout = rng.normal(size=(20, 3, 4)), np.zeros(4), rng.normal(size=4)
    labels = (tokens[:, 0, 0] > 0).astype(float)
    unmoved = parts(student.train(tokens, labels, query, readout, steps=0), 2, name="train(..., steps=0)")
    for value, start, name in zip(unmoved, (query, readout), ("query", "readout"), strict=True):
        close(array(value, shape=(4,), name=f"{name} after no step"), start, atol=LOOSE, name=f"{name} after no step")
    moved = parts(student.train(tokens, labels, query, readout, steps=1, lr=0.05), 2, name="train(..., steps=1, lr=0.05)")
    slope = differences(lambda other: loss_of_mean(tokens, labels, other), readout)
    # eps = 1e-8 shortens the step by a hundredth where the slope is as small as 1e-6.
    readout_moved, query_moved = array(moved[1], shape=(4,), name="readout"), array(moved[0], shape=(4,), name="query")
    close(readout_moved, readout - 0.05 * np.sign(slope), atol=5e-4, name="readout after a step")
    close(np.abs(query_moved), np.full(4, 0.05), atol=5e-4, name="|query| after a step")


@graded("train", points=1, hint="While a slope keeps its sign, each step is about lr long. Do m, v and step go on?")
def test_a_slope_that_keeps_its_sign(student):
    """With one example of two equal tokens, each step moves the readout by about lr."""
    tokens = np.array([[[0.2, -0.4], [0.2, -0.4]]])
    for steps, lr in ((2, 0.01), (20, 0.01), (20, 0.03)):
        name = f"train(..., steps={steps}, lr={lr})"
        start = np.array([0.3, 0.1]), np.zeros(2)
        found = parts(student.train(tokens, np.ones(1), *start, steps=steps, lr=lr), 2, name=name)
        # A slope that shrinks a little on the way makes the later steps a little shorter.
        readout = array(found[1], shape=(2,), name=f"readout of {name}")
        far = steps * lr
        close(readout, [far, -far], atol=0.15 * far, name=f"readout of {name}")


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


@graded("sweep", points=1, hint="One row for each scale, in the order given: train accuracy first, then test accuracy.")
def test_sweep_without_training(student, rng):
    """With no step to take, a sweep measures the start: here a rule that reads the mean of each example."""
    train_set, test_set = (
        (tokens, (tokens[:, 0, 0] > 0).astype(float))
        for tokens in (rng.normal(size=(40, 3, 4)), rng.normal(size=(50, 3, 4)))
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
    # Half of one example: a rounded share is a matter of taste here.
    close(array(table, shape=(3, 2), name=name), expected, atol=0.01, name=name)


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


@graded("sweep", points=1, hint="Count with the labels that are given. What does a logit of exactly zero predict?")
def test_sweep_takes_labels_as_they_are(student, rng):
    """Any labels will do, and a logit of zero predicts 0."""
    train_set, test_set = (rng.normal(size=(20, 3, 4)), np.ones(20)), (rng.normal(size=(10, 3, 4)), np.zeros(10))
    test_set[1][:3] = 1.0
    # With labels of 1 only, the readout learns to say 1 to the mean of shifted tokens.
    shifted = [(tokens + 3.0, labels) for tokens, labels in (train_set, test_set)]
    arguments = (*shifted, np.zeros((3, 4)), np.zeros(4), np.full(4, -0.01))
    name = "a sweep where every train example has label 1"
    table = array(student.position_sweep(*arguments, [1], steps=30), shape=(1, 2), name=name)
    close(table, [[1.0, 0.3]], atol=LOOSE, name=name)
    arguments = (train_set, test_set, rng.normal(size=(3, 4)), rng.normal(size=4))
    name = "a sweep with a readout of zeros"
    table = array(student.position_sweep(*arguments, np.zeros(4), [0, 5], steps=0), shape=(2, 2), name=name)
    close(table, [[0.0, 0.7], [0.0, 0.7]], atol=LOOSE, name=name)


NO_LINE = ("None", "none", "", " ")


def unit_of(axes, height):
    """1 if the figure shows shares, 100 if it shows per cent: told by the line of the bound."""
    return 100.0 if any(np.allclose(line.y, 100 * height, atol=1e-6) for line in axes.lines if line.y.size) else 1.0


@graded("figure", points=1, hint="A median for each scale, in the order of the scales: np.median(..., axis=0).")
def test_figure_shows_medians(student):
    """The curve goes through the medians, one point for each scale."""
    scales, accuracies = [0.0, 1.0, 3.0], np.array([[0.60, 0.70, 0.92], [0.58, 0.69, 0.50], [0.59, 0.68, 0.93]])
    view = figure(student.sweep_figure(scales, accuracies, 0.63671875), name="sweep_figure(...)")
    require(len(view.axes) == 1, f"the figure must have one pair of axes, it has {len(view.axes)}")
    drawn = [line for line in view.axes[0].lines if line.linestyle not in NO_LINE]
    expected = [share * unit_of(view.axes[0], 0.63671875) for share in (0.59, 0.69, 0.92)]
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


@graded("figure", points=1, hint="One unconnected marker for every seed at every scale, and none of them transparent.")
def test_every_run_is_a_marker(student):
    """Every single accuracy is a marker that can be seen, at its scale or a little beside it."""
    scales, accuracies = [0.0, 1.0, 3.0], np.array([[0.60, 0.70, 0.92], [0.58, 0.69, 0.50], [0.59, 0.68, 0.93]])
    view = figure(student.sweep_figure(scales, accuracies, 0.63671875), name="sweep_figure(...)")
    require(len(view.axes) == 1, f"the figure must have one pair of axes, it has {len(view.axes)}")
    axes = view.axes[0]
    unit = unit_of(axes, 0.63671875)
    markers = [
        (float(x), float(y) / unit)
        for line in axes.lines
        if line.linestyle in NO_LINE and line.marker not in NO_LINE
        for x, y in zip(line.x, line.y, strict=True)
    ]
    for scale, column in zip(scales, accuracies.T, strict=True):
        for accuracy in column:
            # A quarter of the smallest gap between scales is room for jitter.
            near = any(abs(x - scale) <= 0.25 and abs(y - accuracy) < 1e-6 for x, y in markers)
            require(near, f"no unconnected marker stands at the accuracy {accuracy} of scale {scale:g}")


@graded("time", points=1, hint="Time t stands for the position span * t; the rest is as in sinusoidal_encoding.")
def test_embedding_of_three_times(student):
    """Times 1/2, 0 and 1, with a span of 2, stand for positions 1, 0 and 2."""
    name = "embed_time([0.5, 0, 1], 4, span=2.0)"
    expected = [[np.sin(t), np.cos(t), np.sin(0.01 * t), np.cos(0.01 * t)] for t in (1, 0, 2)]
    embedded = array(student.embed_time(np.array([0.5, 0.0, 1.0]), 4, span=2.0), shape=(3, 4), name=name)
    close(embedded, expected, atol=LOOSE, name=name)


@graded("time", points=1, hint="Units are tanh(inputs @ weights + bias); fit on the train set, measure on the test set.")
def test_readout_of_one_unit(student):
    """One hidden unit that is always 1/2: the readout and its error can be worked out by hand."""
    layer = (np.zeros((2, 1)), np.array([np.arctanh(0.5)]))
    train_set = (np.ones((2, 2)), np.array([1.0, 3.0]))
    test_set = (np.ones((3, 2)), np.array([1.0, 0.0, 5.0]))
    # (1/4 + 3/4) c = (1/2)(2), so c = 1, and the prediction is 1/2 everywhere: errors 1/2, 1/2, 9/2.
    name = "readout_error(..., ridge=0.75)"
    error = scalar(student.readout_error(train_set, test_set, layer, ridge=0.75), name=name)
    close(error, (0.25 + 0.25 + 20.25) / 3, atol=10 * LOOSE, name=name)


@graded("time", points=1, hint="Features first, then what tells the time; the scalar's error comes first.")
def test_one_unit_that_sees_the_time(student):
    """With a layer that looks at one column of its inputs only, both errors can be worked out by hand."""
    times = np.array([0.1, 0.4, 0.9])
    data = np.full((3, 2), 7.0), times, np.array([1.0, 2.0, 0.0])
    layers = [(np.eye(width)[:, [column]], np.zeros(1)) for width, column in ((3, 2), (6, 4))]
    found = parts(student.time_errors(data, data, *layers, span=2.0), 2, name="time_errors(..., span=2)")
    # The scalar layer sees the time, column 2. The other sees column 4: after two features, sin(0.01 * 2 t) of width 4.
    seen = np.tanh(times), np.tanh(np.sin(0.02 * times))
    for value, unit, name in zip(found, seen, ("scalar", "embedding"), strict=True):
        readout = np.mean(unit * data[2]) / (np.mean(unit**2) + 1e-4)
        expected = np.mean((unit * readout - data[2]) ** 2)
        close(scalar(value, name=name), expected, atol=1e-3 * expected, name=f"error with the {name}")
