"""The tests of problem set 1 that students run themselves."""

import numpy as np

from autograder.testing import array, boolean, close, figure, graded, parts, require, rounding, same, scalar, shown

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


@graded("softmax", points=1, hint="Each group along the axis must spend a budget of one.")
def test_softmax_without_preference_splits_evenly(student, ledger, rng):
    """Three equal scores get a third each, and a higher score gets more."""
    even = array(student.softmax(np.array([0, 0, 0])), shape=(3,), name="softmax([0, 0, 0])")
    close(even, np.full(3, ledger.value("D3-3", "weight")), atol=ledger.tolerance("D3-3"), name="softmax([0, 0, 0])")
    # exp(ln 2) = 2, so the budget splits as 1 : 2.
    uneven = array(student.softmax(np.array([0.0, np.log(2)])), shape=(2,), name="softmax([0, ln 2])")
    close(uneven, [1 / 3, 2 / 3], atol=rounding(1), name="softmax([0, ln 2])")
    # Far from zero, a shift makes no difference on paper, and all the difference to exp.
    name = "softmax([2000, 2000 + ln 2])"
    far = array(student.softmax(np.array([2000.0, 2000.0 + np.log(2)])), shape=(2,), name=name)
    close(far, [1 / 3, 2 / 3], atol=LOOSE, name=name)
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


@graded("scaled_scores", points=1, hint="One row a query, one column a key; the divisor is the square root of the width d.")
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


@graded("masking", points=1, hint="A position reads itself and everything before it: rows read, columns are read.")
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
    # How far the point lies beyond each side's line, measured outwards; the third corner tells which way is in.
    beyond = []
    for start, end, inner in ((a, b, c), (b, c, a), (c, a, b)):
        normal = np.array([end[1] - start[1], start[0] - end[0]]) / np.hypot(*(end - start))
        outward = -np.sign(normal @ (inner - start))
        beyond.append(outward * (normal @ (point - start)))
    require(
        max(beyond) >= 0.1 - 1e-9,
        f"the projected average {point.tolist()} must lie outside the triangle by at least 0.1; "
        f"measured beyond its sides: {[round(float(gap), 4) for gap in beyond]}",
    )


def image_of(view, weights):
    """The one image of the figure, and its axes; it must hold the weights, in whatever arrangement."""
    found = [(axes, image) for axes in view.axes for image in axes.images]
    require(len(found) == 1, f"the figure must hold one image beside its colour bar, it holds {len(found)}")
    axes, image = found[0]
    cells = array(image.cells, shape=weights.shape, name="the cells of the image")
    close(np.sort(cells, axis=None), np.sort(weights, axis=None), atol=LOOSE, name="all cells of the image, sorted")
    return axes, image


def words_beside(rows, weights, tokens):
    """The word each drawn row belongs to, told by its weights; in order where the weights do not tell."""
    drawn = [sorted(np.round(row, 6)) for row in rows]
    table = [sorted(np.round(row, 6)) for row in weights]
    return [tokens[table.index(row)] for row in drawn] if sorted(drawn) == sorted(table) else list(tokens)


DOG_BITES_MAN = ["dog", "bites", "man"]
# Neither rows nor columns have the same weights twice, in any order.
DOG_BITES_MAN_WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.75, 0.25, 0.0], [0.125, 0.375, 0.5]])


@graded("heatmap", points=1, hint="Rows are reading words, from the top down; columns are words read, from the left.")
def test_heatmap_draws_one_cell_a_weight(student):
    """Each weight is one cell, row 0 on top and column 0 on the left."""
    name = f"heatmap({DOG_BITES_MAN_WEIGHTS.tolist()}, {DOG_BITES_MAN})"
    view = figure(student.heatmap(DOG_BITES_MAN_WEIGHTS, DOG_BITES_MAN), name=name)
    _, image = image_of(view, DOG_BITES_MAN_WEIGHTS)
    close(image.cells, DOG_BITES_MAN_WEIGHTS, atol=LOOSE, name="the cells as a reader sees them, from the top left")


@graded("heatmap", points=1, hint="One tick a word, at the middle of its row or column, on both axes; name both axes.")
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
    require(axes.xlabel.strip() and axes.ylabel.strip(), "both axes need a name: words read along x, reading words along y")
