"""The tests of problem set 1 that students run themselves."""

import numpy as np

from autograder.testing import array, boolean, close, figure, graded, parts, refuses, require, same, scalar, shown

# Where a test is about something else than precision, an answer in float32 may pass: a hundred roundings of size 1e-7.
LOOSE = 1e-5


@graded("mix", points=1, hint="Multiply each value by its own weight first, then add.")
def test_mix_spends_the_budget_as_the_weights_say(student, ledger, rng):
    """The same three values, mixed with two sets of weights, give 25 and 15."""
    values = np.array(ledger.value("D3-1", "values"))
    for weights, expected in (("weights", "output"), ("swapped_weights", "swapped_output")):
        budget = ledger.value("D3-1", weights)
        name = f"mix({budget}, {values.tolist()})"
        output = scalar(student.mix(np.array(budget), values), name=name)
        close(output, ledger.value("D3-1", expected), atol=ledger.tolerance("D3-1"), name=name)
    # Other budgets and values, so that the two outputs above are not enough.
    cases = [(rng.dirichlet(np.ones(n)), rng.normal(size=n)) for n in (1, 2, 5)]
    for (budget, values), output in zip(cases, student.mix.each(cases), strict=True):
        name = f"mix({budget.tolist()}, {values.tolist()})"
        expected = sum(budget[j] * values[j] for j in range(len(values)))
        close(scalar(output, name=name), expected, atol=LOOSE * np.abs(values).max(), name=name)


@graded("mix", points=1, hint="The docstring lists three budgets that must be refused. With vectors, weigh whole rows.")
def test_mix_of_vectors_and_of_wrong_budgets(student):
    """Vectors are mixed coordinate by coordinate, and a wrong budget raises ValueError."""
    values = np.array([[10.0, 1.0], [20.0, 0.0], [30.0, 4.0]])
    name = f"mix([0.1, 0.3, 0.6], {values.tolist()})"
    output = array(student.mix(np.array([0.1, 0.3, 0.6]), values), shape=(2,), name=name)
    close(output, [25.0, 2.5], atol=25 * LOOSE, name=name)
    for weights, why in (
        ([0.5, 0.5], "there are two weights for three values"),
        ([0.3, 0.3, 0.3], "the weights sum to 0.9"),
        ([0.6, 0.6, -0.2], "a weight is negative"),
    ):
        refuses(student.mix, np.array(weights), values[:, 0], name=f"mix({weights}, [10, 20, 30])", why=why)


@graded("softmax", points=1, hint="Each group along the axis must spend a budget of one.")
def test_softmax_without_preference_splits_evenly(student, ledger, rng):
    """Three equal scores get a third each, and a higher score gets more."""
    even = array(student.softmax(np.array([0, 0, 0])), shape=(3,), name="softmax([0, 0, 0])")
    close(even, np.full(3, ledger.value("D3-3", "weight")), atol=LOOSE, name="softmax([0, 0, 0])")
    # exp(ln 2) = 2, so the budget splits as 1 : 2.
    uneven = array(student.softmax(np.array([0.0, np.log(2)])), shape=(2,), name="softmax([0, ln 2])")
    close(uneven, [1 / 3, 2 / 3], atol=LOOSE, name="softmax([0, ln 2])")
    parts_of_budget = rng.dirichlet(np.ones(4))
    name = f"softmax(log({parts_of_budget.tolist()}))"
    weights = array(student.softmax(np.log(parts_of_budget)), shape=(4,), name=name)
    close(weights, parts_of_budget, atol=LOOSE, name=name)


@graded("softmax", points=1, hint="Every line along `axis` is divided by its own sum; `axis` may be any of the axes.")
def test_softmax_normalises_along_the_axis(student):
    """Each line along the chosen axis gets weights of its own."""
    scores = np.log(np.array([[1.0, 1.0], [1.0, 3.0], [2.0, 4.0]]))
    for axis, expected in (
        (-1, [[1 / 2, 1 / 2], [1 / 4, 3 / 4], [1 / 3, 2 / 3]]),
        (0, [[1 / 4, 1 / 8], [1 / 4, 3 / 8], [2 / 4, 4 / 8]]),
    ):
        name = f"softmax(log([[1, 1], [1, 3], [2, 4]]), axis={axis})"
        close(array(student.softmax(scores, axis=axis), shape=(3, 2), name=name), expected, atol=LOOSE, name=name)
    rows = np.array([[1 / 2, 1 / 2], [1 / 4, 3 / 4], [1 / 3, 2 / 3]])
    name = "softmax(log([[1, 1], [1, 3], [2, 4]]))"
    close(array(student.softmax(scores), shape=(3, 2), name=name), rows, atol=LOOSE, name=name)


@graded("softmax", points=1, hint="exp of a large number overflows. Which shift of all scores leaves the weights alone?")
def test_softmax_is_stable_at_large_scores(student):
    """Scores of a few thousand, up or down, give the right weights, without overflow."""
    for scores, expected in (
        ([2000.0, 2000.0 + np.log(2)], [1 / 3, 2 / 3]),
        ([-2000.0, -2000.0 + np.log(2)], [1 / 3, 2 / 3]),
        ([-3000.0, 0.0, 3000.0], [0.0, 0.0, 1.0]),
    ):
        name = f"softmax({[round(score, 3) for score in scores]})"
        # float32 rounds scores near 2000 by up to 1e-4.
        close(array(student.softmax(np.array(scores)), shape=(len(scores),), name=name), expected, atol=1e-3, name=name)


@graded("softmax", points=1, hint="Keep the summed axis (keepdims), and shift each line by its own largest score.")
def test_softmax_of_tables_and_stacks(student, rng):
    """Any number of axes, along each of them; lines far below the largest score of all still get their weights."""
    for shape in ((3, 3), (2, 3, 4)):
        scores = rng.normal(size=shape)
        for axis in range(len(shape)):
            growth = np.exp(scores)
            expected = growth / np.expand_dims(growth.sum(axis=axis), axis)
            name = f"softmax(scores of shape {shape}, axis={axis})"
            close(array(student.softmax(scores, axis=axis), shape=shape, name=name), expected, atol=LOOSE, name=name)
    scores = np.array([[0.0, np.log(3.0)], [-2000.0, -2000.0 + np.log(3.0)]])
    name = "softmax([[0, ln 3], [-2000, -2000 + ln 3]])"
    close(array(student.softmax(scores), shape=(2, 2), name=name), [[1 / 4, 3 / 4]] * 2, atol=1e-3, name=name)


@graded(
    "scaled_scores", points=1, hint="One row per query, one column per key; the divisor is the square root of the width d."
)
def test_scores_compare_each_query_with_each_key(student, rng):
    """Two queries and three keys give two rows of three scaled scores."""
    queries = np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    keys = np.array([[2.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0], [1.0, 1.0, 1.0, -1.0]])
    name = "scaled_scores(queries of shape (2, 4), keys of shape (3, 4))"
    scores = array(student.scaled_scores(queries, keys), shape=(2, 3), name=name)
    # Dot products [[2, 0, 1], [2, 4, 2]], divided by sqrt(4) = 2.
    close(scores, [[1.0, 0.0, 0.5], [1.0, 2.0, 1.0]], atol=LOOSE, name=name)
    queries, keys = rng.normal(size=(2, 9)), rng.normal(size=(4, 9))
    name = "scaled_scores(queries of shape (2, 9), keys of shape (4, 9))"
    scores = array(student.scaled_scores(queries, keys), shape=(2, 4), name=name)
    # sqrt(9) = 3.
    expected = [[sum(query * key) / 3 for key in keys] for query in queries]
    close(scores, expected, atol=LOOSE * np.abs(expected).max(), name=name)


@graded("scaled_scores", points=1, hint="Swap only the last two axes of the keys; leading axes stay where they are.")
def test_scores_of_a_batch(student, rng):
    """Leading axes are independent copies, and different widths raise ValueError."""
    for lead, m, n, d in (((4,), 3, 2, 5), ((2, 3), 2, 4, 9), ((3,), 3, 3, 3)):
        queries, keys = rng.normal(size=(*lead, m, d)), rng.normal(size=(*lead, n, d))
        name = f"scaled_scores(queries of shape {queries.shape}, keys of shape {keys.shape})"
        scores = array(student.scaled_scores(queries, keys), shape=(*lead, m, n), name=name)
        for index in np.ndindex(*lead):
            expected = [[sum(query * key) / d**0.5 for key in keys[index]] for query in queries[index]]
            close(scores[index], expected, atol=10 * LOOSE, name=f"{name}{list(index)}")
    name = "scaled_scores(queries of width 4, keys of width 3)"
    refuses(student.scaled_scores, np.ones((2, 4)), np.ones((5, 3)), name=name, why="the widths differ")


@graded("attention", points=1, hint="Scores, then weights along the keys, then the weighted average of the values.")
def test_attention_of_one_query_over_four_keys(student, ledger):
    """One query over four keys spreads its weights as in the handout's figure."""
    wanted = np.array(ledger.value("D2-1", "relative_scores"))
    query = np.array([[2.0, 0.0, 0.0, 0.0]])
    keys = np.zeros((4, 4))
    keys[:, 0] = wanted  # q . k / sqrt(4) is then the wanted score
    values = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    output, weights = parts(student.attention(query, keys, values), 2, name="attention")
    weights = array(weights, shape=(1, 4), name="weights")
    close(weights[0], ledger.value("D2-1", "weights"), atol=ledger.tolerance("D2-1", "weights"), name="weights[0]")
    output = array(output, shape=(1, 2), name="output")
    # Items 1 and 3 carry the first coordinate, items 2 and 3 the second.
    expected = [weights[0, 0] + weights[0, 2], weights[0, 1] + weights[0, 2]]
    close(output[0], expected, atol=LOOSE, name="output[0]")


@graded("attention", points=1, hint="Weights come from content alone. Take the number of rows and columns from the inputs.")
def test_identical_keys_get_identical_weights(student, rng, ledger):
    """Two identical keys get the same weight, wherever they stand."""
    queries, keys, values = rng.normal(size=(3, 2)), rng.normal(size=(5, 2)), rng.normal(size=(5, 4))
    keys[4] = keys[1]
    output, weights = parts(student.attention(queries, keys, values), 2, name="attention")
    weights = array(weights, shape=(3, 5), name="weights")
    output = array(output, shape=(3, 4), name="output")
    close(weights[:, 4], weights[:, 1], atol=ledger.tolerance("D2-4"), name="weights[:, 4] against weights[:, 1]")
    growth = np.exp(queries @ keys.T / np.sqrt(2))
    expected = growth / growth.sum(axis=1, keepdims=True)
    close(weights, expected, atol=LOOSE, name="weights")
    close(output, expected @ values, atol=LOOSE * np.abs(values).max(), name="output")


@graded("attention", points=1, hint="True means: may be read. The mask acts on the scores, before the softmax.")
def test_attention_with_a_mask(student, rng):
    """A mask takes items away as if they were not there; a query that may read nothing gets zeros."""
    queries, keys, values = rng.normal(size=(3, 2)), rng.normal(size=(4, 2)), rng.normal(size=(4, 3))
    mask = np.array([[True, False, True, True], [False, False, False, False], [False, True, False, False]])
    output, weights = parts(student.attention(queries, keys, values, mask), 2, name="attention with a mask")
    output = array(output, shape=(3, 3), name="output with a mask")
    weights = array(weights, shape=(3, 4), name="weights with a mask")
    growth = np.exp(queries @ keys.T / np.sqrt(2)) * mask
    expected = growth / np.maximum(growth.sum(axis=1, keepdims=True), 1e-9)
    close(weights, expected, atol=LOOSE, name="weights with a mask")
    same(weights[~mask], np.zeros((~mask).sum()), name="the forbidden weights")
    close(output, expected @ values, atol=LOOSE * np.abs(values).max(), name="output with a mask")


@graded("attention", points=1, hint="Leading axes are independent copies: each must come out as if it were alone.")
def test_attention_of_a_batch(student, rng):
    """A batch of queries, keys and values of different sizes gives what each of its members gives alone."""
    queries, keys, values = rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 4, 5)), rng.normal(size=(2, 4, 1))
    output, weights = parts(student.attention(queries, keys, values), 2, name="attention of a batch")
    output = array(output, shape=(2, 3, 1), name="output of a batch")
    weights = array(weights, shape=(2, 3, 4), name="weights of a batch")
    for member in range(2):
        growth = np.exp(queries[member] @ keys[member].T / np.sqrt(5))
        expected = growth / growth.sum(axis=1, keepdims=True)
        close(weights[member], expected, atol=LOOSE, name=f"weights[{member}]")
        close(output[member], expected @ values[member], atol=LOOSE * np.abs(values).max(), name=f"output[{member}]")


@graded(
    "masking",
    points=1,
    hint="A position reads itself and everything before it. Row i belongs to query i, column j to key j.",
)
def test_causal_mask_of_a_few_positions(student):
    """The first position reads itself alone, and the last reads all."""
    for n, mask in zip((2, 3, 4), student.causal_mask.each([(2,), (3,), (4,)]), strict=True):
        mask = array(mask, shape=(n, n), kind="bool", name=f"causal_mask({n})")
        same(mask, np.array([[True] * (i + 1) + [False] * (n - i - 1) for i in range(n)]), name=f"causal_mask({n})")


@graded("masking", points=1, hint="Forbidden items get 0.0 itself, and the others share the whole budget between them.")
def test_masked_items_get_exactly_zero(student, ledger, rng):
    """Forbidden items weigh exactly zero, and the rest is a softmax over the rest."""
    scores = np.log(np.array([1.0, 2.0, 3.0, 6.0]))
    mask = np.array([True, False, True, False])
    name = "masked_softmax(log([1, 2, 3, 6]), [True, False, True, False])"
    weights = array(student.masked_softmax(scores, mask), shape=(4,), name=name)
    same(weights[~mask], np.zeros(2), name=f"{name}[[1, 3]]")
    close(weights[mask], [1 / 4, 3 / 4], atol=ledger.tolerance("D3-5", "survivor_gap"), name=f"{name}[[0, 2]]")
    shares, mask = rng.dirichlet(np.ones(5)), np.array([False, True, True, False, True])
    name = f"masked_softmax(log({shares.tolist()}), {mask.tolist()})"
    weights = array(student.masked_softmax(np.log(shares), mask), shape=(5,), name=name)
    close(weights, np.where(mask, shares, 0) / shares[mask].sum(), atol=LOOSE, name=name)


@graded("masking", points=1, hint="Where the sum over legal items is zero, do not divide by it.")
def test_row_without_legal_item_is_zero(student, ledger):
    """A row that may read nothing is zero throughout; its neighbours are untouched."""
    scores = np.log(np.array([[1.0, 3.0], [1.0, 3.0], [1.0, 3.0]]))
    mask = np.array([[True, True], [False, False], [False, True]])
    name = f"masked_softmax(log([[1, 3]] * 3), {mask.tolist()})"
    weights = array(student.masked_softmax(scores, mask), shape=(3, 2), name=name)
    warned = [text for text in student.warnings if text.startswith("RuntimeWarning")]
    require(not warned, f"`{name}` must not raise a warning, but raises {'; '.join(warned)}")
    same(weights[1], np.full(2, ledger.value("D3-7", "weight")), name=f"{name}[1]")
    close(weights[[0, 2]], [[1 / 4, 3 / 4], [0, 1]], atol=LOOSE, name=f"{name}[[0, 2]]")


@graded("masking", points=1, hint="Shift by the largest *legal* score. Keep forbidden scores out of the exponential.")
def test_forbidden_scores_have_no_influence(student):
    """The size of a forbidden score changes nothing, and raises no warning."""
    mask = np.array([True, True, False])
    for forbidden in (0.0, 5000.0, -5000.0):
        name = f"masked_softmax([0, ln 3, {forbidden:g}], [True, True, False])"
        weights = array(student.masked_softmax(np.array([0.0, np.log(3.0), forbidden]), mask), shape=(3,), name=name)
        warned = [text for text in student.warnings if text.startswith("RuntimeWarning")]
        require(not warned, f"`{name}` must not raise a warning, but raises {'; '.join(warned)}")
        close(weights, [1 / 4, 3 / 4, 0.0], atol=LOOSE, name=name)


@graded(
    "masking", points=1, hint="One mask may serve a whole batch: let it broadcast. Large legal scores need the usual shift."
)
def test_one_mask_for_a_batch(student, rng):
    """A mask with fewer axes than the scores applies to each member of the batch; legal scores may be large."""
    scores = rng.normal(size=(2, 4, 4)) + np.array([2000.0, -2000.0])[:, None, None]
    level = np.exp(scores - np.array([2000.0, -2000.0])[:, None, None])
    for mask in (np.tri(4, dtype=bool), np.array([True, False, True, True])):
        expected = level * mask / (level * mask).sum(axis=-1, keepdims=True)
        name = f"masked_softmax(scores of shape (2, 4, 4), mask of shape {mask.shape})"
        # float32 rounds scores near 2000 by up to 1e-4.
        close(array(student.masked_softmax(scores, mask), shape=(2, 4, 4), name=name), expected, atol=1e-3, name=name)


@graded("hull", points=1, hint="Ask for nonnegative weights that sum to one and give the point; both conditions count.")
def test_differences_and_negations_leave_the_hull(student, ledger):
    """Averages stay in the hull; a difference of values and a negated value leave it."""
    corners = np.array([[2.0, 1.0], [1.0, 2.0], [2.0, 2.0]])
    cases = [
        ("v1 - v2", np.array(ledger.value("D3-8", "difference")) @ corners[:2], True),
        ("-v1", np.array(ledger.value("D3-8", "negation")) @ corners[1::-1], True),
        ("a corner of the box around the values", np.array([1.0, 1.0]), True),
        ("v1/2 + v2/4 + v3/4", np.array([0.5, 0.25, 0.25]) @ corners, False),
        ("v1", corners[0], False),
    ]
    answers = student.leaves_hull.each((point, corners) for _, point, _ in cases)
    for (label, point, expected), answer in zip(cases, answers, strict=True):
        name = f"leaves_hull({point.tolist()}, {corners.tolist()})"
        answer = boolean(answer, name=name)
        where = "outside" if expected else "inside"
        require(answer == expected, f"{name} must be {expected}: the point is {label} and lies {where}; it was {answer}")


@graded("hull", points=1, hint="A point on the boundary counts as inside: compare with a tolerance, not with zero.")
def test_boundary_points_and_larger_hulls(student):
    """Corners and edges are inside, points a little beyond are outside, in two dimensions and in three."""
    square = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [0.0, 3.0], [1.0, 1.0]])
    solid = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    cases = [
        (square, [3.0, 3.0], False, "a corner"),
        (square, [1.0, 0.0], False, "on an edge"),
        (square, [1.5, 2.9], False, "inside"),
        (square, [1.0, -0.03], True, "just beyond an edge"),
        (solid, [0.3, 0.3, 0.3], False, "inside the tetrahedron"),
        (solid, [1 / 3, 1 / 3, 1 / 3], False, "on a face of the tetrahedron"),
        (solid, [0.4, 0.4, 0.4], True, "inside the box, outside the tetrahedron"),
        (square[1:2], [3.0, 0.0], False, "the only value"),
        (square[1:2], [3.0, 0.1], True, "not the only value"),
    ]
    answers = student.leaves_hull.each((np.array(point), values) for values, point, _, _ in cases)
    for (values, point, expected, label), answer in zip(cases, answers, strict=True):
        name = f"leaves_hull({point}, {values.tolist()})"
        answer = boolean(answer, name=name)
        require(answer == expected, f"{name} must be {expected}: the point is {label}; it was {answer}")


@graded("hull", points=1, hint="A projection may turn, stretch or mirror the plane; which of these carries the point away?")
def test_a_projection_carries_the_average_out(student):
    """The projection is invertible and takes the average out of the triangle."""
    projection = array(
        student.value("escaping_projection"), shape=(2, 2), kind="number", lists=True, name="escaping_projection"
    )
    # Beyond a condition number of 1e6 the matrix flattens the plane for all that a reader could see.
    require(
        np.linalg.cond(projection) < 1e6,
        f"escaping_projection must be invertible, and {projection.tolist()} throws a direction away",
    )
    a, b, c = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 3.0]])
    point = np.array([0.1, 0.3, 0.6]) @ np.array([a, b, c]) @ projection
    # Outside if beyond the line of a side, measured outwards; then the distance is that to the nearest point of a side.
    outside, distances = False, []
    for start, end, inner in ((a, b, c), (b, c, a), (c, a, b)):
        along = end - start
        normal = np.array([along[1], -along[0]])
        outside = outside or (normal @ (point - start)) * (normal @ (inner - start)) < 0
        share = np.clip((point - start) @ along / (along @ along), 0, 1)
        distances.append(float(np.hypot(*(point - start - share * along))))
    far = min(distances) if outside else 0.0
    require(
        far >= 0.1 - 1e-9,
        f"the projected average {point.tolist()} must lie outside the triangle by at least 0.1; its distance is {far:.4g}",
    )


def image_of(view, weights):
    """The one image of the figure, and its axes; it must hold the weights, nearly, in whatever arrangement."""
    found = [(axes, image) for axes in view.axes for image in axes.images]
    require(len(found) == 1, f"the figure must hold one image beside its colour bar, it holds {len(found)}")
    axes, image = found[0]
    cells = array(image.cells, shape=weights.shape, name="the cells of the image")
    # Rounded weights are for the test of the cells to judge.
    close(np.sort(cells, axis=None), np.sort(weights, axis=None), atol=0.06, name="all cells of the image, sorted")
    return axes, image


def words_beside(rows, weights, tokens):
    """The word each drawn row belongs to, told by the nearest weights; in order where the weights do not tell."""
    drawn, table = np.sort(rows, axis=1), np.sort(weights, axis=1)
    places = [int(np.abs(table - row).max(axis=1).argmin()) for row in drawn]
    return [tokens[place] for place in places] if sorted(places) == list(range(len(tokens))) else list(tokens)


DOG_BITES_MAN = ["dog", "bites", "man"]
# Neither rows nor columns have the same weights twice, in any order.
DOG_BITES_MAN_WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.75, 0.25, 0.0], [0.125, 0.375, 0.5]])


@graded(
    "heatmap",
    points=1,
    hint="Rows are queries, from the top down; columns are keys, from the left. One sharp cell per weight.",
)
def test_heatmap_draws_one_cell_per_weight(student):
    """Each weight is one cell, row 0 on top and column 0 on the left."""
    name = f"heatmap({DOG_BITES_MAN_WEIGHTS.tolist()}, {DOG_BITES_MAN})"
    view = figure(student.heatmap(DOG_BITES_MAN_WEIGHTS, DOG_BITES_MAN), name=name)
    _, image = image_of(view, DOG_BITES_MAN_WEIGHTS)
    close(image.cells, DOG_BITES_MAN_WEIGHTS, atol=LOOSE, name="the cells as a reader sees them, from the top left")
    require(not image.blurred, "the cells run into each other: draw the image without interpolation")


@graded("heatmap", points=1, hint="One tick per word, at the middle of its row or column, on both axes; name both axes.")
def test_heatmap_labels_rows_and_columns(student):
    """Every row and every column carries its word, and each axis has a name."""
    tokens, weights = DOG_BITES_MAN, DOG_BITES_MAN_WEIGHTS
    view = figure(student.heatmap(weights, tokens), name=f"heatmap({weights.tolist()}, {tokens})")
    axes, image = image_of(view, weights)
    for side, ticks, centers, words in (
        ("x", axes.xticks, image.centers_x, words_beside(np.transpose(image.cells), weights.T, tokens)),
        ("y", axes.yticks, image.centers_y, words_beside(image.cells, weights, tokens)),
    ):
        ticked = sorted((position, label) for position, label in ticks if label)
        expected = sorted(zip(centers, words, strict=True))
        require(
            [label for _, label in ticked] == [label for _, label in expected],
            f"the labels along {side} must be {[label for _, label in expected]} in this order, "
            f"they are {shown([label for _, label in ticked])}",
        )
        # A tenth of a cell is too little to see.
        close([position for position, _ in ticked], [position for position, _ in expected], atol=0.1, name=f"{side} ticks")
    require(axes.xlabel.strip() and axes.ylabel.strip(), "both axes need a name: keys along x, queries along y")


@graded("heatmap", points=1, hint="Fix the colour range, or the same weight looks different in two pictures.")
def test_heatmap_colours_run_from_zero_to_one(student):
    """The colours and the colour bar run from 0 to 1, however small the weights are."""
    weights, tokens = np.array([[0.5, 0.5], [0.25, 0.75]]), ["good", "morning"]
    view = figure(student.heatmap(weights, tokens), name=f"heatmap({weights.tolist()}, {tokens})")
    _, image = image_of(view, weights)
    close([image.vmin, image.vmax], [0.0, 1.0], atol=1e-9, name="the colour range of the image")
    require(len(view.colorbars) == 1, f"the figure must have one colour bar, it has {len(view.colorbars)}")
    bar = view.colorbars[0]
    close([bar.vmin, bar.vmax], [0.0, 1.0], atol=1e-9, name="the range of the colour bar")


@graded("heatmap", points=1, hint="Choose a colour map that gets darker, step by step, as the weight grows.")
def test_heatmap_is_dark_where_weights_are_large(student):
    """Dark cells mark large weights."""
    tokens, weights = DOG_BITES_MAN, DOG_BITES_MAN_WEIGHTS
    view = figure(student.heatmap(weights, tokens), name=f"heatmap({weights.tolist()}, {tokens})")
    _, image = image_of(view, weights)
    require(
        image.darkest == "high", f"large weights must be the dark ones; in the colour map {shown(image.cmap)} they are not"
    )
