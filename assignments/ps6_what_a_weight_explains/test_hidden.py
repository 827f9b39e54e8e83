"""The tests of problem set 6 that only the grader runs."""

import math

import numpy as np

from autograder.testing import (
    array,
    boolean,
    close,
    computed_once,
    figure,
    graded,
    parts,
    refuses,
    require,
    rounding,
    same,
    scalar,
    text,
)

# ----------------------------------------------------------------------------------------------------------- deletion


@graded(
    "deletion", points=1, hint="Add up the others' weights. 1 - weights[j] has no digits left where weights[j] is nearly 1."
)
def test_deletion_near_one_hot(student, rng):
    """Deleting the item that has nearly all the weight leaves the average of the others."""
    left = rng.dirichlet(np.ones(4))
    for rest in (1e-3, 1e-12, 1e-300):
        weights, values = np.concatenate([[1.0 - rest], rest * left]), rng.normal(size=(5, 2))
        found = array(student.deletion_effects(weights, values), shape=(5, 2), name="deletion_effects(nearly one-hot)")
        expected = weights[0] * (values[0] - left @ values[1:])
        close(found[0], expected, atol=rounding(10, 64), name="effect of the item with nearly all the weight")
        close(found[1:], weights[1:, None] * (values[1:] - values[:1]), atol=10 * rest + 1e-15, name="effects of the others")


@graded(
    "deletion",
    points=1,
    hint="If one item has all the weight, nothing is left without it: ValueError. Zeros elsewhere are fine.",
)
def test_deletion_at_the_edges(student, rng):
    """An item without weight has no effect; a one-hot row raises ValueError; swaps are exact in every coordinate."""
    values, replacement = rng.normal(size=(4, 3)), rng.normal(size=3)
    weights = np.array([0.5, 0.0, 0.25, 0.25])
    found = array(student.deletion_effects(weights, values), shape=(4, 3), name="deletion_effects(a weight of 0)")
    same(found[1], np.zeros(3), name="effect of the item without weight")
    expected = 0.5 * (values[0] - (values[2] + values[3]) / 2)
    close(found[0], expected, atol=rounding(5, 64), name="effect of the item with half of the weight")
    swapped = array(student.swap_effects(weights, values, replacement), shape=(4, 3), name="swap_effects(...)")
    for j in range(4):
        changed = values.copy()
        changed[j] = replacement
        close(swapped[j], weights @ values - weights @ changed, atol=rounding(5, 64), name=f"swap effect of item {j}")
    refuses(
        student.deletion_effects,
        np.eye(4)[2],
        values,
        name="deletion_effects(one-hot)",
        why="without its only item an average has nothing left",
    )


# ------------------------------------------------------------------------------------------------------------ leaving


@graded("leaving", points=2, hint="Divide by the longest value that the row gives weight to, and by no other.")
def test_ratio_of_random_rows(student, ledger, rng):
    """No average is longer than the longest value that it mixes; unread values do not count; zeros give 0."""
    weights, values = rng.dirichlet(np.ones(6), size=5), rng.normal(size=(6, 4))
    weights[1, 2:] = 0
    weights[1] /= weights[1].sum()
    values[4] *= 20
    found = array(student.length_ratio(weights, values), shape=(5,), name="length_ratio(...)")
    for row, one in zip(found, weights, strict=True):
        longest = max(math.sqrt(sum(number**2 for number in value)) for value, w in zip(values, one, strict=True) if w > 0)
        close(row, math.sqrt(sum((one @ values) ** 2)) / longest, atol=1e-12, name="a row of length_ratio(...)")
    require((found <= ledger.value("D1-19", "largest_ratio") + ledger.tolerance("D1-19")).all(), "no ratio may exceed 1")
    short = array(student.length_ratio(weights, 1e-3 * values), shape=(5,), name="length_ratio(short values)")
    close(short, found, atol=1e-12, name="length_ratio of values that are a thousand times shorter")
    nothing = array(student.length_ratio(np.array([[0.5, 0.5]]), np.zeros((2, 3))), shape=(1,), name="length_ratio(zeros)")
    same(nothing, np.zeros(1), name="length_ratio of zero vectors")


@graded("leaving", points=1, hint="The layer must give A_0 x - A_1 x for any tables, not only for one-hot ones.")
def test_difference_of_two_averages(student, rng):
    """For any two tables of weights and any width, the layer gives the difference of the two averages."""
    for width in (1, 2, 5):
        x, tables = rng.normal(size=(4, width)), rng.dirichlet(np.ones(4), size=(2, 4))
        found = parts(student.difference_head(width), 2, name=f"difference_head({width})")
        w_v = array(found[0], shape=(width, 2 * width), name="w_v")
        w_o = array(found[1], shape=(2 * width, width), name="w_o")
        values = x @ w_v
        output = np.hstack([tables[0] @ values[:, :width], tables[1] @ values[:, width:]]) @ w_o
        close(output, tables[0] @ x - tables[1] @ x, atol=1e-9, name=f"output at width {width}")


# ------------------------------------------------------------------------------------------------------ architectures


@graded(
    "architectures",
    points=1,
    hint="eps of the type that the layer returns: float32 layers round a billion times more coarsely.",
)
def test_layers_in_two_precisions(student, rng):
    """Attention and zeros commute with any order, in both precisions and at any scale. A tilt and a reversal do not."""
    x = rng.normal(size=(7, 4))
    mix = rng.normal(size=(4, 4))

    def attend(tokens):
        scores = tokens @ mix @ tokens.T
        grown = np.exp(scores - scores.max(axis=1, keepdims=True))
        return grown / grown.sum(axis=1, keepdims=True) @ tokens

    def single(tokens):
        return attend(tokens).astype(np.float32)

    def tilted(tokens):
        return attend(tokens) + 1e-9 * np.arange(7)[:, np.newaxis]

    def enlarged(tokens):
        return 1e6 * attend(tokens)

    def backward(tokens):
        return tokens[::-1]

    layers = [attend, single, tilted, enlarged, backward, np.zeros_like]
    found = array(student.once.symmetry_table(layers, x), shape=(6, 3), kind="bool", name="symmetry_table(...)")
    expected = np.repeat([[True], [True], [False], [True], [False], [True]], 3, axis=1)
    same(found, expected, name="[attention, attention in float32, with a tilt, a million times as large, a reversal, zeros]")


@graded(
    "architectures",
    points=1,
    hint="Many orders, none the identity; apply the same order to input and output, not its inverse.",
)
def test_orders_that_are_hard_to_tell_apart(student, rng):
    """A layer that only a few orders expose, one that treats order as its inverse would, and three places."""
    x = rng.normal(size=(6, 2))

    def last_two(tokens):
        # Commutes with every order that keeps the last two places apart from the rest.
        return np.concatenate([tokens[:4] + tokens[:4].mean(axis=0), tokens[4:] + tokens[4:].mean(axis=0)])

    def circular(tokens):
        return tokens + 0.5 * np.roll(tokens, 1, axis=0) - 0.25 * np.roll(tokens, -2, axis=0)

    found = array(
        student.once.symmetry_table([last_two, circular], x, 1, 3), shape=(2, 3), kind="bool", name="symmetry_table"
    )
    same(found[:, :2], np.array([[False, False], [True, True]]), name="shifts")
    # With this seed the only trial would be the identity, which exposes nothing.
    layers = [lambda tokens: tokens * np.arange(1.0, 4.0)[:, np.newaxis]]
    name = "symmetry_table(one trial of three places)"
    small = array(student.once.symmetry_table(layers, x[:3], 1, IDENTITY_SEED), shape=(1, 3), kind="bool", name=name)
    require(not small[0, 2], "one trial that is not the identity must expose a layer that knows its places")


# A seed whose first permutation of three places is the identity.
IDENTITY_SEED = next(s for s in range(1000) if (np.random.default_rng(s).permutation(3) == np.arange(3)).all())


# ------------------------------------------------------------------------------------------------------------- curves


def labelled(rng, count, place):
    tokens = rng.normal(size=(count, 5, 3))
    labels = np.where((tokens[:, 0, 1] if place else tokens.sum(axis=(1, 2))) > 0, 1.0, -1.0)
    return tokens, labels


def plain_accuracy(train, test, n, pooled, ridge):
    """Ridge regression as a least-squares problem with extra rows."""
    collect = (lambda t: np.array([e.mean(axis=0) for e in t])) if pooled else (lambda t: np.array([e.ravel() for e in t]))
    f, y = collect(train[0][:n]), train[1][:n]
    stacked = np.vstack([f / math.sqrt(n), math.sqrt(ridge) * np.eye(f.shape[1])])
    w = np.linalg.lstsq(stacked, np.concatenate([y / math.sqrt(n), np.zeros(f.shape[1])]), rcond=None)[0]
    scores = collect(test[0]) @ w
    right = ((scores > 0) == (test[1] > 0)).mean()
    # A score of almost zero may fall on either side by rounding.
    return right, (np.abs(scores) < 1e-12).mean()


@graded("curves", points=2, hint="Divide F^T F and F^T y by n before the ridge is added; test on all unseen examples.")
def test_curves_of_both_models(student, rng):
    """Both curves are right for two tasks, several sizes and two ridges."""
    for place in (False, True):
        train, test = labelled(rng, 300, place), labelled(rng, 400, place)
        for pooled in (True, False):
            for arguments in ((), (3.0,)):
                sizes = [3, 20, 111, 300]
                name = f"learning_curve(..., pooled={pooled}, ridge={arguments or 'default'})"
                found = array(student.learning_curve(train, test, sizes, pooled, *arguments), shape=(4,), name=name)
                for n, accuracy in zip(sizes, found, strict=True):
                    right, unsure = plain_accuracy(train, test, n, pooled, *(arguments or (0.1,)))
                    close(accuracy, right, atol=1e-9 + unsure, name=f"{name} at {n} examples")


@graded(
    "curves",
    points=1,
    hint="The first crossing; the first size if it is there already; None if never. A level that is met counts.",
)
def test_examples_needed_at_the_edges(student, rng):
    """The first crossing counts, equality is enough, and the line runs over the logarithm of the size."""
    sizes, accuracies = [10, 40, 90, 900], [0.5, 0.7, 0.6, 0.8]
    level = float(rng.uniform(0.72, 0.78))
    for wanted, expected in (
        (0.5, 10.0), (0.3, 10.0), (0.6, 20.0), (0.7, 40.0), (0.8, 900.0), (level, 90 * 10 ** ((level - 0.6) / 0.2)),
    ):  # fmt: skip
        name = f"examples_needed(..., {wanted})"
        close(scalar(student.examples_needed(sizes, accuracies, wanted), name=name), expected, atol=1e-9 * 900, name=name)
    steep = student.examples_needed([10, 40], [0.2, 0.8], 0.5)
    close(scalar(steep, name="examples_needed(steep)"), 20.0, atol=1e-9 * 40, name="examples_needed of a steep curve")
    dip = student.examples_needed([10, 40, 90], [0.5, 0.4, 0.8], 0.5)
    close(
        scalar(dip, name="examples_needed(dip)"), 10.0, atol=1e-9 * 90, name="examples_needed of a curve that dips at once"
    )
    require(student.examples_needed(sizes, accuracies, 0.81) is None, "a level that is never reached must give None")


# ------------------------------------------------------------------------------------------------------------ reading


def chosen(student, item, reference):
    """Compare one letter with the reference's; case and blanks do not matter."""
    answer = text(student.value(item), name=item).strip().lower()
    require(answer == getattr(reference, item), f"{item} should be {getattr(reference, item)!r}")


@graded("reading", points=1, hint="Which shifts move whole pairs onto whole pairs?")
def test_unet(student, reference):
    """What a layer with one downsampling commutes with."""
    chosen(student, "unet", reference)


@graded("reading", points=1, hint="What does a layer know before it has seen an example?")
def test_must_outperform(student, reference):
    """Whether attention must be better wherever it can be paid for."""
    chosen(student, "must_outperform", reference)


@graded("reading", points=1, hint="Where does the mean of the tokens keep which one came first?")
def test_ceiling(student, reference):
    """What would raise a curve that has become flat."""
    chosen(student, "ceiling", reference)


@graded("reading", points=1, hint="How many numbers must each of the two models learn?")
def test_eight(student, reference):
    """Why one model needs eight times the examples of the other."""
    chosen(student, "eight", reference)


# ----------------------------------------------------------------------------------------------------- backward_parts


def norm_jacobian(token, gain, eps):
    """The Jacobian of one token's layer norm, entry by entry."""
    n, mean = len(token), sum(token) / len(token)
    root = math.sqrt(sum((number - mean) ** 2 for number in token) / n + eps)
    return np.array([[gain[i] * ((i == j) - 1 / n - (token[i] - mean) * (token[j] - mean) / (n * root**2)) / root
                      for j in range(n)] for i in range(n)])  # fmt: skip


@graded("backward_parts", points=2, hint="Use eps as the forward pass does, and keep all leading axes in x_gradient.")
def test_norm_backward_against_a_jacobian(student, ledger, rng):
    """All three gradients are exact for batches, single tokens, another eps and small variances."""
    for shape, eps in (((2, 3, 5), None), ((4, 3), 0.7), ((6,), 1e-3)):
        x, upstream, gain = rng.normal(size=shape) * 0.3 + 2, rng.normal(size=shape), rng.normal(size=shape[-1])
        arguments = (x, gain, upstream) if eps is None else (x, gain, upstream, eps)
        found = parts(student.layer_norm_backward(*arguments), 3, name="layer_norm_backward(...)")
        width, size = shape[-1], 1e-5 if eps is None else eps
        tokens, slopes = x.reshape(-1, width), upstream.reshape(-1, width)
        expected = np.array([slope @ norm_jacobian(token, gain, size) for token, slope in zip(tokens, slopes, strict=True)])
        root = np.sqrt(tokens.var(axis=1, keepdims=True) + size)
        normed = (tokens - tokens.mean(axis=1, keepdims=True)) / root
        # Slopes grow like 1 / root, and rounding with them.
        atol = rounding(100 / root.min(), 64)
        close(array(found[0], shape=shape, name="x_gradient"), expected.reshape(shape), atol=atol, name="x_gradient")
        close(array(found[1], shape=(width,), name="gain_gradient"), sum(slopes * normed), atol=atol, name="gain_gradient")
        close(array(found[2], shape=(width,), name="shift_gradient"), sum(slopes), atol=atol, name="shift_gradient")
    require(ledger.tolerance("D1-12") <= 1e-6, "slopes are held to the ledger's tolerance or a finer one")


@graded("backward_parts", points=1, hint="Keep tanh and its square; do not divide by cosh, which overflows.")
def test_gelu_backward_exactly(student, rng):
    """GELU's slope is exact for any shape and far from 0, without a warning."""
    for x in (3 * rng.normal(size=(2, 3, 4)), np.array([-100.0, -30.0, 30.0, 100.0])):
        upstream = rng.normal(size=x.shape)
        found = array(student.gelu_backward(x, upstream), shape=x.shape, name="gelu_backward(...)")
        c, expected = math.sqrt(2 / math.pi), []
        for number, slope in zip(x.ravel(), upstream.ravel(), strict=True):
            bend = math.tanh(c * (number + 0.044715 * number**3))
            inner = c * (1 + 0.134145 * number**2)
            expected.append(slope * (0.5 * (1 + bend) + 0.5 * number * (1 - bend**2) * inner))
        require(not student.warnings, "gelu_backward must not warn")
        close(found, np.reshape(expected, x.shape), atol=rounding(100, 64), name="gelu_backward(...)")


# -------------------------------------------------------------------------------------------------------------- model


def random_model(rng, *, width, hidden, layers, notes, length):
    """A model without any special value, of any size, and positions for it."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), (width, width))
    shapes |= {"w_1": (width, hidden), "b_1": (hidden,), "w_2": (hidden, width), "b_2": (width,)}
    shapes |= dict.fromkeys(("gain_1", "shift_1", "gain_2", "shift_2"), (width,))
    ends = {"embed": (notes, width), "gain": (width,), "shift": (width,), "unembed": (width, notes)}
    made = {name: rng.normal(size=size) / math.sqrt(size[0]) + len(size) % 2 for name, size in ends.items()}
    made["blocks"] = [
        {name: rng.normal(size=size) / math.sqrt(size[0]) + 0.5 * (len(size) % 2) for name, size in shapes.items()}
        for _ in range(layers)
    ]
    return made, rng.normal(size=(length, width))


SIZES = (
    {"width": 6, "hidden": 9, "layers": 2, "notes": 7, "length": 12},
    {"width": 4, "hidden": 4, "layers": 3, "notes": 5, "length": 5},
    {"width": 8, "hidden": 3, "layers": 1, "notes": 3, "length": 9},
)


@graded(
    "model",
    points=2,
    hint="Sizes come from the arrays; the number of blocks from the list; every block has its own numbers.",
)
def test_models_of_other_sizes(student, reference, rng):
    """Logits and weights are right for other widths, numbers of blocks, notes and lengths."""
    for sizes in SIZES:
        model, positions = random_model(rng, **sizes)
        tokens = rng.integers(sizes["notes"], size=(3, 5))
        logits, tables = reference.lm_forward(model, positions, tokens)
        found = parts(student.lm_forward(model, positions, tokens), 2, name="lm_forward(...)")
        atol = 1e-9 * (1 + np.abs(logits).max())
        close(array(found[0], shape=logits.shape, name="logits"), logits, atol=atol, name="logits")
        own = parts(found[1], len(tables), name="weights")
        for at, table in enumerate(tables):
            close(array(own[at], shape=table.shape, name=f"weights[{at}]"), table, atol=1e-9, name=f"weights[{at}]")


@graded("model", points=1, hint="Row t of the positions belongs to place t; the token decides nothing about it.")
def test_positions_count(student, reference, rng):
    """Without positions two first notes alike are told apart by nothing; a single note sees only itself."""
    model, positions = random_model(rng, **SIZES[0])
    tokens = np.array([[3, 3, 3, 3]])
    for given in (np.zeros_like(positions), positions):
        logits, _ = reference.lm_forward(model, given, tokens)
        found = parts(student.lm_forward(model, given, tokens), 2, name="lm_forward(...)")
        close(
            array(found[0], shape=logits.shape, name="logits"), logits, atol=1e-9 * (1 + np.abs(logits).max()), name="logits"
        )
    single = parts(student.lm_forward(model, positions, tokens[:, :1]), 2, name="lm_forward(one note)")
    for at, table in enumerate(parts(single[1], 2, name="weights")):
        close(array(table, shape=(1, 1, 1), name=f"weights[{at}]"), np.ones((1, 1, 1)), atol=1e-12, name=f"weights[{at}]")


# ---------------------------------------------------------------------------------------------------------- gradients


def compare_gradients(student, reference, rng, sizes, names, counted=None):
    """The gradients with respect to some arrays, against the reference's."""
    model, positions = random_model(rng, **sizes)
    tokens, targets = rng.integers(sizes["notes"], size=(2, 3, 5))
    counted = rng.random((3, 5)) < 0.6 if counted is None else counted
    counted[0, 2] = True
    loss, expected = reference.lm_gradients(model, positions, tokens, targets, counted)
    found = parts(student.lm_gradients(model, positions, tokens, targets, counted), 2, name="lm_gradients(...)")
    own = scalar(found[0], name="loss"), found[1]
    close(own[0], loss, atol=1e-10 * (1 + loss), name="loss")
    require(isinstance(own[1], dict) and set(own[1]) == set(model), "the gradients must have the model's keys")
    blocks = parts(own[1]["blocks"], len(model["blocks"]), name="gradients['blocks']")
    for name in names:
        for at in range(len(blocks)) if name in model["blocks"][0] else (None,):
            wanted = expected[name] if at is None else expected["blocks"][at][name]
            require(at is None or name in blocks[at], f"gradients['blocks'][{at}] has no {name}")
            slope = array(own[1][name] if at is None else blocks[at][name], shape=wanted.shape, name=f"slope by {name}")
            # Exact up to rounding: about 1e-13 of the largest slope here.
            close(slope, wanted, atol=1e-10 * (1 + np.abs(wanted).max()), name=f"slope by {name}, block {at}")


@graded("gradients", points=1, hint="Everything outside the blocks: embedding with repeated notes, last norm, unembedding.")
def test_exact_slopes_outside_the_blocks(student, reference, rng):
    """The gradients with respect to embedding, last norm and unembedding are exact, for other sizes."""
    for sizes in SIZES:
        compare_gradients(student, reference, rng, sizes, ("embed", "gain", "shift", "unembed"))


@graded("gradients", points=1, hint="The feed-forward network of every block, and the norm before it.")
def test_exact_slopes_of_feed_forward(student, reference, rng):
    """The gradients of every block's feed-forward network and second norm are exact."""
    for sizes in SIZES:
        compare_gradients(student, reference, rng, sizes, ("w_1", "b_1", "w_2", "b_2", "gain_2", "shift_2"))


@graded("gradients", points=2, hint="Attention of every block, and the norm before it; the residual path adds its gradient.")
def test_exact_slopes_of_attention(student, reference, rng):
    """The gradients of every block's attention and first norm are exact."""
    for sizes in SIZES:
        compare_gradients(student, reference, rng, sizes, ("w_q", "w_k", "w_v", "w_o", "gain_1", "shift_1"))


@graded(
    "gradients",
    points=1,
    hint="The mean runs over counted places of the whole batch; a place that does not count has no gradient.",
)
def test_few_places_count(student, reference, rng):
    """With a single counted place, and with all of them, loss and gradients are exact."""
    for counted in (np.zeros((3, 5), dtype=bool), np.ones((3, 5), dtype=bool)):
        compare_gradients(student, reference, rng, SIZES[0], ("embed", "unembed", "w_q", "w_2"), counted)


# -------------------------------------------------------------------------------------------------------------- train


@computed_once
def beginning(reference, rng):
    """Twenty steps of the reference, on small batches."""
    start = reference.new_model(int(rng.integers(2**31)))
    batches = reference.melodies((20, 8), int(rng.integers(2**31)))[:3]
    rates = np.linspace(5e-3, 1e-3, 20)
    positions = reference.sinusoids(reference.LENGTH, 32)
    model, losses = reference.train_lm(start, positions, batches, rates)
    return {"arguments": (start, positions, batches, rates), "model": model, "losses": losses}


@graded("train", points=2, hint="Step i: batch i, rates[i], and step number i + 1 for Adam. Positions stay as they are.")
def test_twenty_steps(student, beginning):
    """After twenty steps on melodies every number of the model is right."""
    found = parts(student.once.train_lm(*beginning["arguments"]), 2, name="train_lm(twenty steps)")
    losses = array(found[1], shape=(20,), name="losses")
    # Other roundings, and other ways to write each formula, change parameters by 2e-14 after twenty steps.
    close(losses, beginning["losses"], atol=1e-9, name="losses of twenty steps")
    model = beginning["model"]
    require(isinstance(found[0], dict) and set(found[0]) == set(model), "the trained model must have the model's keys")
    blocks = parts(found[0]["blocks"], 2, name="blocks of the trained model")
    for at, wanted in enumerate(model["blocks"]):
        require(isinstance(blocks[at], dict) and set(blocks[at]) == set(wanted), f"block {at} must have the keys of a block")
        for name, value in wanted.items():
            close(array(blocks[at][name], shape=value.shape, name=name), value, atol=1e-9, name=f"{name} of block {at}")
    for name in ("embed", "gain", "shift", "unembed"):
        close(array(found[0][name], shape=model[name].shape, name=name), model[name], atol=1e-9, name=name)


@computed_once
def capstone(reference, rng):
    """The whole training of the reference: its arguments, its losses, and melodies to test on."""
    start = reference.new_model(int(rng.integers(2**31)))
    batches = reference.melodies((500, 32), int(rng.integers(2**31)))[:3]
    rates = np.linspace(5e-3, 2.5e-4, 500)
    positions = reference.sinusoids(reference.LENGTH, 32)
    _, losses = reference.train_lm(start, positions, batches, rates)
    unseen = reference.melodies((200,), int(rng.integers(2**31)))[:3]
    return {"arguments": (start, positions, batches, rates), "losses": losses, "unseen": unseen}


@graded(
    "train",
    points=3,
    hint="The first twenty steps are right, so look for what changes later: the rates, Adam's step number, the batches.",
    requires="test_twenty_steps",
    follow_through=False,
)
def test_the_whole_training(student, reference, capstone):
    """All 500 losses are right, and the trained model predicts new melodies."""
    found = parts(student.once.train_lm(*capstone["arguments"]), 2, name="train_lm(500 steps)")
    losses = array(found[1], shape=(500,), name="losses")
    # Two other BLAS kernels and another way to write each formula change a loss by at most 5e-10. The logarithm of the
    # largest difference has mean -10.9 and standard deviation .68, so 1e-6 is 7.2 of them away: 2e-13 false alarms.
    close(losses, capstone["losses"], atol=1e-6, name="losses of 500 steps")
    start = capstone["arguments"][0]
    model = {
        name: array(found[0][name], shape=start[name].shape, name=name) for name in ("embed", "gain", "shift", "unembed")
    }
    blocks = parts(found[0]["blocks"], 2, name="blocks of the trained model")
    model["blocks"] = [
        {name: array(block[name], shape=value.shape, name=name) for name, value in kind.items()}
        for block, kind in zip(blocks, start["blocks"], strict=True)
    ]
    tokens, targets, counted = capstone["unseen"]
    logits, _ = reference.lm_forward(model, capstone["arguments"][1], tokens)
    accuracy = (logits.argmax(axis=-1) == targets)[counted].mean()
    # The lowest of sixty seeds was .9990.
    require(accuracy >= 0.99, f"the trained model predicts {accuracy:.4f} of the determined notes; .99 are needed")


# --------------------------------------------------------------------------------------------------------------- maps


def plain_induction(weights, tokens, counted):
    sums = []
    for table, notes, counts in zip(weights, tokens, counted, strict=True):
        for t in np.flatnonzero(counts):
            sums.append(sum(table[t, j] for j in range(1, t + 1) if notes[j - 1] == notes[t]))
    return sum(sums) / len(sums)


@graded(
    "maps",
    points=1,
    hint="Every counted place weighs the same; the note just read does not count as its own successor's past.",
)
def test_induction_of_random_tables(student, reference, rng):
    """The induction mass of random tables over random melodies is right."""
    tokens, _, counted, _ = reference.melodies((6,), int(rng.integers(2**31)))
    weights = rng.dirichlet(np.ones(24), size=(6, 24))
    name = "induction_mass(random)"
    found = scalar(student.induction_mass(weights, tokens, counted), name=name)
    close(found, plain_induction(weights, tokens, counted), atol=1e-12, name=name)
    repeated = rng.integers(3, size=(4, 9))
    counts = rng.random((4, 9)) < 0.5
    counts[0, 4] = True
    weights = rng.dirichlet(np.ones(9), size=(4, 9))
    found = scalar(student.induction_mass(weights, repeated, counts), name=name)
    close(found, plain_induction(weights, repeated, counts), atol=1e-12, name=name)


@graded("maps", points=1, hint="All places 1 to m of all sequences in one mean: a long melody weighs more than a short one.")
def test_previous_of_random_tables(student, rng):
    """The previous mass of random tables is right for all periods."""
    weights, periods = rng.dirichlet(np.ones(8), size=(5, 8)), np.array([1, 7, 3, 4, 4])
    entries = [weights[i, t, t - 1] for i, m in enumerate(periods) for t in range(1, m + 1)]
    name = "previous_mass(random)"
    close(scalar(student.previous_mass(weights, periods), name=name), sum(entries) / len(entries), atol=1e-12, name=name)


@graded("maps", points=1, hint="vmin=0 and vmax=1, or a faint table looks like a strong one.")
def test_map_colours(student, rng):
    """The colours run from 0 to 1 however small the weights are."""
    weights = rng.dirichlet(np.ones(9), size=9) * 0.4
    view = figure(student.map_figure(weights, list("abcabcabc")), name="map_figure(weights, labels)")
    images = [image for axes in view.axes for image in axes.images if image.cells.shape == (9, 9)]
    require(len(images) == 1, "the figure must show one image of 81 cells")
    close(images[0].cells, weights, atol=1e-6, name="the cells as a reader sees them")
    close([images[0].vmin, images[0].vmax], [0.0, 1.0], atol=1e-9, name="the colour range of the image")
    require(len(view.colorbars) == 1, "the figure must have one colour bar")


# ---------------------------------------------------------------------------------------------------------- intervene


USUAL = 8  # the notes 1 to 8; what replaces them is note 0 or note 9


def other_note(note, by):
    return 1 + (note - 1 + by) % USUAL


class Oracle:
    """A model that answers from a table of rules: what it reads, and what it predicts, for each sequence and place."""

    def __init__(self, rng, tokens):
        self.tokens = tokens
        b, n = tokens.shape
        # Which sequences follow their read note, lose their prediction without the note before, and mind their control.
        self.follows, self.needs, self.minds = rng.random((3, b)) < np.array([[0.7], [0.6], [0.4]])
        # Row t reads place t // 2 most, and neither place 0 nor itself nor what comes later.
        self.table = rng.dirichlet(np.full(n, 0.3), size=(b, n)) * np.tri(n, k=-1)
        self.table[:, :, 0] = 0.0
        for t in range(1, n):
            self.table[:, t, max(1, t // 2)] += 1.0
        self.table /= np.maximum(self.table.sum(axis=-1, keepdims=True), 1e-300)
        self.first = rng.dirichlet(np.ones(n), size=(b, n))

    def forward(self, tokens):
        read = self.table.argmax(axis=-1)
        answer = other_note(self.tokens, 3)
        follows, needs, minds = (flags[:, np.newaxis] for flags in (self.follows, self.needs, self.minds))
        for place, (old, new) in enumerate(zip(self.tokens.T, tokens.T, strict=True)):
            changed = (old != new)[:, np.newaxis]
            answer = np.select(
                [
                    changed & (read == place) & follows,
                    changed & (read == place),
                    changed & (read - 1 == place) & needs,
                    changed & (read - 1 != place) & minds,
                ],
                [new[:, np.newaxis], other_note(answer, 1), other_note(answer, 2), other_note(answer, 4)],
                answer,
            )
        return np.eye(USUAL + 2)[answer], [self.first, self.first[::-1], self.table]


def intervened(student, rng):
    """The three shares for random rules, as they must be."""
    # So many that a wrong share is hardly ever right by chance.
    tokens = rng.integers(1, USUAL + 1, size=(400, 10))
    oracle = Oracle(rng, tokens)
    places = rng.integers(5, 10, size=400)
    read = oracle.table[np.arange(400), places].argmax(axis=-1)
    # A control that is neither read nor the note before, and not the place itself.
    controls = np.array([next(c for c in range(10) if c not in (r, r - 1, t)) for r, t in zip(read, places, strict=True)])
    replacements = np.where(np.arange(400) % 2, 0, USUAL + 1)
    # The control's note also stands where it matters, so that changing all its occurrences shows.
    tokens[np.arange(400), controls] = tokens[np.arange(400), read - 1]
    found = parts(
        student.once.swap_experiment(oracle.forward, tokens, places, replacements, controls), 3, name="swap_experiment(...)"
    )
    shares = [scalar(value, name=name) for value, name in zip(found, ("followed", "broken", "control"), strict=True)]
    return shares, (oracle.follows.mean(), oracle.needs.mean(), 1 - oracle.minds.mean())


@graded(
    "intervene",
    points=2,
    hint="The place read most by row places[i] of the LAST table; change that one place; count new notes.",
)
def test_followed(student, rng):
    """How often the prediction follows the swapped note, for a model that does not always follow."""
    shares, expected = intervened(student, rng)
    close(shares[0], expected[0], atol=1e-9, name="followed")


@graded(
    "intervene", points=1, hint="Only place r - 1, and only that occurrence of the note; compare with the old prediction."
)
def test_broken(student, rng):
    """How often the prediction is lost without the note before, for a model that does not always need it."""
    shares, expected = intervened(student, rng)
    close(shares[1], expected[1], atol=1e-9, name="broken")


@graded("intervene", points=1, hint="The share that stays, not the share that changes.")
def test_control(student, rng):
    """How often the control leaves the prediction alone."""
    shares, expected = intervened(student, rng)
    close(shares[2], expected[2], atol=1e-9, name="control")


# ------------------------------------------------------------------------------------------------------- faithfulness


def plain_score(weights, effects):
    """Spearman's score by counting, or None where it is not defined."""

    def ranks(numbers):
        return np.array(
            [sum(other < one for other in numbers) + (sum(other == one for other in numbers) + 1) / 2 for one in numbers]
        )

    pair = ranks(list(weights)), ranks([abs(effect) for effect in effects])
    if len(set(pair[0])) == 1 or len(set(pair[1])) == 1:
        return None
    return float(np.corrcoef(*pair)[0, 1])


@graded("faithfulness", points=2, hint="Equal numbers share their mean rank; |effects|, not effects.")
def test_scores_with_ties(student, rng):
    """The score is right for ties, signs and many items."""
    for count in (2, 5, 40):
        weights = rng.integers(6, size=count) / 10 + 0.0
        effects = np.round(rng.normal(size=count) + weights, 1)
        weights[:2], effects[:2] = (0.9, 0.8), (0.1, -3.0)
        name = "score with ties"
        found = parts(student.faithfulness(weights, effects, np.arange(count)[None]), 3, name=name)
        close(scalar(found[0], name=name), plain_score(weights, effects), atol=1e-12, name=name)


@graded(
    "faithfulness",
    points=1,
    hint="Percentiles 2.5 and 97.5 of the rows' scores, low before high; rows without a score are left out.",
)
def test_interval_of_many_resamples(student, rng):
    """The interval is right, with resamples in which all items are equal."""
    weights = rng.dirichlet(np.ones(12))
    effects = rng.normal(size=12) * weights
    resamples = rng.integers(12, size=(60, 12))
    resamples[7] = 3
    resamples[23] = 0
    found = parts(student.faithfulness(weights, effects, resamples), 3, name="faithfulness(...)")
    scores = [s for row in resamples if (s := plain_score(weights[row], effects[row])) is not None]
    for at, percent, name in ((1, 2.5, "low"), (2, 97.5, "high")):
        close(scalar(found[at], name=name), np.percentile(scores, percent), atol=1e-9, name=name)


# --------------------------------------------------------------------------------------------------------- bug_museum


def attend(queries, keys, values, mask, *, divide=math.sqrt, axis=-1):
    scores = queries @ keys.swapaxes(-1, -2) / divide(queries.shape[-1])
    allowed = np.broadcast_to(mask, scores.shape)
    top = np.max(scores, axis=axis, keepdims=True, where=allowed, initial=-1e300)
    grown = np.where(allowed, np.exp(np.minimum(scores - top, 0.0)), 0.0)
    total = grown.sum(axis=axis, keepdims=True)
    weights = grown / np.where(total > 0, total, 1.0)
    return weights @ values, weights


def columns_reversed(queries, keys, values, mask):
    """Right: the sums run in another order."""
    order = np.arange(keys.shape[-2])[::-1]
    output, weights = attend(queries, keys[..., order, :], values[..., order, :], mask[:, order])
    return output, weights[..., order]


def slightly_rounded(queries, keys, values, mask):
    """Right: a little rounding on top, as another machine might have it."""
    output, weights = attend(queries * (1 + 3e-16), keys, values, mask)
    return output * (1 - 2e-16), weights


def query_by_query(queries, keys, values, mask):
    """Right: one query at a time."""
    rows = [attend(queries[..., i : i + 1, :], keys, values, mask[i : i + 1]) for i in range(queries.shape[-2])]
    return np.concatenate([row[0] for row in rows], axis=-2), np.concatenate([row[1] for row in rows], axis=-2)


def divides_by_width(queries, keys, values, mask):
    return attend(queries, keys, values, mask, divide=float)


def divides_by_root_of_value_width(queries, keys, values, mask):
    return attend(queries, keys, values, mask, divide=lambda d: math.sqrt(values.shape[-1]))


def fills_empty_rows(queries, keys, values, mask):
    _, weights = attend(queries, keys, values, mask)
    weights = np.where(mask.any(axis=-1)[:, np.newaxis], weights, 1 / keys.shape[-2])
    return weights @ values, weights


def masks_too_late(queries, keys, values, mask):
    _, weights = attend(queries, keys, values, np.ones_like(mask))
    weights = weights * mask
    return weights @ values, weights


def overflows(queries, keys, values, mask):
    with np.errstate(all="ignore"):
        grown = np.exp(queries @ keys.swapaxes(-1, -2) / math.sqrt(queries.shape[-1])) * mask
        total = grown.sum(axis=-1, keepdims=True)
        weights = grown / np.where(total > 0, total, 1.0)
    return weights @ values, weights


def mixes_batches(queries, keys, values, mask):
    _, weights = attend(queries, keys, values, mask)
    first = weights[:1] if weights.ndim > 2 else weights
    weights = np.broadcast_to(first, weights.shape)
    return weights @ values, np.array(weights)


def always_causal(queries, keys, values, mask):
    return attend(queries, keys, values, mask & np.tri(*mask.shape, dtype=bool))


def returns_logarithms_of_masked(queries, keys, values, mask):
    output, weights = attend(queries, keys, values, mask)
    return output, weights + 1e-4 * ~mask


def reads_keys(queries, keys, values, mask):
    output, weights = attend(queries, keys, values, mask)
    width = min(values.shape[-1], keys.shape[-1])
    output[..., :width] = (weights @ keys)[..., :width]
    return output, weights


def single_precision(queries, keys, values, mask):
    output, weights = attend(*(part.astype(np.float32).astype(np.float64) for part in (queries, keys, values)), mask)
    return output, weights


def refuses_empty_rows(queries, keys, values, mask):
    if not mask.any(axis=-1).all():
        raise ValueError("a row in which nothing is allowed")
    return attend(queries, keys, values, mask)


RIGHT = (columns_reversed, slightly_rounded, query_by_query)


def verdict(student, exhibit):
    return boolean(student.once.is_broken(exhibit), name="is_broken(an exhibit)")


def exposes(student, *exhibits):
    for right in RIGHT:
        require(not verdict(student, right), f"{right.__name__} is right, but the checker calls it broken")
    for exhibit in exhibits:
        require(verdict(student, exhibit), f"{exhibit.__name__} is broken, but the checker lets it pass")


@graded("bug_museum", points=1, hint="Try widths that differ: of keys, of values. And never call a right attention broken.")
def test_exhibits_with_other_widths(student):
    """Exhibits that divide by something else."""
    exposes(student, divides_by_width, divides_by_root_of_value_width)


@graded(
    "bug_museum", points=1, hint="Try masks of different kinds: steps, gaps, rows without anything. And allow for rounding."
)
def test_exhibits_that_mistreat_masks(student):
    """Exhibits that go wrong under some masks only."""
    exposes(student, fills_empty_rows, masks_too_late, always_causal, refuses_empty_rows)


@graded("bug_museum", points=1, hint="Try extreme scores, and several sequences at once. And allow for rounding.")
def test_exhibits_at_the_extremes(student):
    """Exhibits that go wrong for large scores, or for batches."""
    exposes(student, overflows, mixes_batches)


@graded(
    "bug_museum",
    points=1,
    hint="Check output and weights, both to many digits, whatever they should be. And allow for rounding.",
)
def test_exhibits_with_small_errors(student):
    """Exhibits whose output or weights are off, some by little."""
    exposes(student, reads_keys, returns_logarithms_of_masked, single_precision)
