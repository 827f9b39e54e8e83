"""The tests of problem set 1 that only the grader runs.

Expected values come from formulas written out here or from the reference; a student reads no more than title and hint.
"""

import numpy as np

from autograder.testing import (
    array,
    boolean,
    close,
    figure,
    graded,
    parts,
    refuses,
    require,
    rounding,
    same,
    scalar,
    shown,
    text,
)

# Where a test is about something else than precision, an answer in float32 may pass: a hundred roundings of size 1e-7.
LOOSE = 1e-5


def plain_attention(queries, keys, values):
    """Output and weights of one sequence by the definition; for scores too small to overflow."""
    growth = np.exp(np.einsum("id,jd->ij", queries, keys) / np.sqrt(queries.shape[1]))
    weights = growth / growth.sum(axis=1, keepdims=True)
    return weights @ values, weights


# ---------------------------------------------------------------------------------------------------------------- mix


@graded("mix", points=1, hint="Weigh whole rows, in float64. The sum may be off by 1e-6, no more and no less.")
def test_mix_of_other_budgets(student, rng):
    """Vectors are mixed in double precision; a budget that is off by rounding passes, and one off by more does not."""
    # The square case tells weighted rows from weighted columns.
    cases = [(rng.dirichlet(np.ones(n)), rng.normal(size=(n, d))) for n, d in ((3, 3), (5, 2), (1, 4))]
    for (weights, values), output in zip(cases, student.mix.each(cases), strict=True):
        n, d = values.shape
        name = f"mix(weights of shape ({n},), values of shape ({n}, {d}))"
        expected = [sum(weights[j] * values[j, c] for j in range(n)) for c in range(d)]
        output = array(output, shape=(d,), name=name)
        # n products and their sum, each rounded once.
        close(output, expected, atol=rounding(np.abs(values).max(), 16), name=name)
    values = np.array([10.0, 20.0, 30.0])
    refuses(student.mix, np.array([1.0]), values, name="mix", why="there is one weight for three values")
    refuses(student.mix, np.array([0.5, 0.5, 0.5]), values, name="mix", why="the weights sum to 1.5")
    refuses(student.mix, np.array([0.7, 0.7, -0.4]), values, name="mix", why="a weight is negative")
    # Half of the tolerance and five times as much, above and below.
    for miss in (5e-7, -5e-7):
        name = f"mix of weights that sum to one within {miss:g}"
        weights = np.array([0.25, 0.5, 0.25 + miss])
        close(scalar(student.mix(weights, values), name=name), 20.0, atol=1e-3, name=name)
        why = f"the weights miss one by {10 * miss:g}"
        refuses(student.mix, np.array([0.25, 0.5, 0.25 + 10 * miss]), values, name="mix", why=why)
    name = "mix([0, 1, 0], [10, 20, 30])"
    close(scalar(student.mix(np.array([0.0, 1.0, 0.0]), values), name=name), 20.0, atol=LOOSE * 20, name=name)
    # Ten tenths do not sum to one exactly in floating point.
    name = "mix([0.1] * 10, [0, 1, ..., 9])"
    close(scalar(student.mix(np.full(10, 0.1), np.arange(10.0)), name=name), 4.5, atol=LOOSE, name=name)


# ------------------------------------------------------------------------------------------------------------ softmax


@graded("softmax", points=1, hint="Only differences of scores matter. Does anything in your code look at their level?")
def test_softmax_ignores_a_common_shift(student, rng):
    """Adding one number to all scores leaves the weights as they were."""
    scores = rng.normal(size=6)
    growth = np.exp(scores)
    expected = growth / growth.sum()
    shifts = (0.0, 100.0, -100.0, 5000.0)
    for shift, weights in zip(shifts, student.softmax.each((scores + shift,) for shift in shifts), strict=True):
        name = f"softmax(scores + {shift:g})"
        weights = array(weights, shape=(6,), name=name)
        # Adding the shift rounds each score by half an eps of the shift; in float32 by up to 3e-4 at 5000.
        close(weights, expected, atol=max(rounding(shift), 1e-3 if shift == 5000 else 1e-4), name=name)
    # Without a shift, no such loss: scores of size one keep the weights to a few units of rounding.
    close(
        array(student.softmax(scores), shape=(6,), name="softmax(scores)"),
        expected,
        atol=rounding(1, 32),
        name="softmax",
    )


@graded("softmax", points=1, hint="Shift each line by its own largest score, not all lines by the largest of all.")
def test_softmax_of_lines_at_different_levels(student, rng):
    """Arrays of one to four axes; lines far below the largest score of the whole array still get their weights."""
    shapes = ((4,), (3, 3), (2, 3, 4), (2, 3, 2, 3))
    cases = [
        (scores, axis)
        for scores in (rng.normal(size=shape) for shape in shapes)
        for axis in range(-scores.ndim, scores.ndim)
    ]
    for (scores, axis), weights in zip(cases, student.softmax.each(cases), strict=True):
        growth = np.exp(scores)
        expected = growth / np.expand_dims(growth.sum(axis=axis), axis)
        name = f"softmax(scores of shape {scores.shape}, axis={axis})"
        close(array(weights, shape=scores.shape, name=name), expected, atol=LOOSE, name=name)
    # Scores at the ends of the range that the docstring names; float32 rounds them by up to 5e-4.
    extremes = np.array([[1e4, 1e4 + np.log(2.0)], [-1e4, -1e4 + np.log(2.0)]])
    weights = array(student.softmax(extremes), shape=(2, 2), name="softmax(scores near 1e4 and -1e4)")
    close(weights, [[1 / 3, 2 / 3]] * 2, atol=1e-3, name="softmax(scores near 1e4 and -1e4)")
    levels = np.array([[-9000.0], [0.0], [9000.0]])
    scores = levels + np.log(np.array([1.0, 2.0, 5.0]))
    weights = array(student.softmax(scores), shape=(3, 3), name="softmax(three lines at levels -9000, 0, 9000)")
    # float32 rounds scores near 9000 by up to 5e-4.
    close(weights, np.tile([1 / 8, 2 / 8, 5 / 8], (3, 1)), atol=1e-3, name="softmax(three lines at different levels)")
    columns = array(student.softmax(scores.T, axis=0), shape=(3, 3), name="softmax(three columns, axis=0)")
    close(columns, np.tile([[1 / 8], [2 / 8], [5 / 8]], 3), atol=1e-3, name="softmax(three columns, axis=0)")


# ------------------------------------------------------------------------------------------------------ scaled_scores


@graded("scaled_scores", points=1, hint="A sum of d independent products has a standard deviation of √d.")
def test_scaled_scores_have_variance_one(student, rng, ledger):
    """Scores of random queries and keys have a standard deviation of one, whatever their width."""
    dimensions = ledger.value("D1-10", "dimensions")
    half_widths = ledger.value("D1-10", "half_width_sd_relative")
    recipe_queries = ledger.value("D1-10", "recipe")["queries"]
    count, own_keys = 200, ledger.value("D1-10", "recipe")["used_keys"]
    cases = [(rng.normal(size=(count, 1, d)), rng.normal(size=(count, own_keys, d))) for d in (4, 16, 64)]
    for (queries, keys), scores in zip(cases, student.scaled_scores.each(cases), strict=True):
        d = queries.shape[-1]
        name = f"scaled_scores({count} random queries with {own_keys} keys each, d = {d})"
        scores = array(scores, shape=(count, 1, own_keys), name=name)
        # One run in a thousand falls outside; fewer queries than in the ledger's run widen the band.
        band = half_widths[dimensions.index(d)] * np.sqrt(recipe_queries / count)
        close(
            scores.std(), np.sqrt(ledger.value("D2-3", "scaled_variance")), atol=band, name=f"standard deviation of {name}"
        )
        expected = [sum(queries[0, 0, c] * keys[0, j, c] for c in range(d)) / d**0.5 for j in range(own_keys)]
        close(scores[0, 0], expected, atol=LOOSE * d, name=f"first row of {name}")


@graded("scaled_scores", points=1, hint="Stay in float64 all the way, and let a mismatch of widths be an error.")
def test_scores_are_precise_and_widths_must_agree(student, rng):
    """Double precision is kept, and queries and keys of different widths raise ValueError."""
    queries, keys = rng.normal(size=(4, 7)), rng.normal(size=(3, 7))
    scores = array(student.scaled_scores(queries, keys), shape=(4, 3), name="scaled_scores(queries, keys)")
    expected = np.einsum("id,jd->ij", queries, keys) / np.sqrt(7)
    # Seven products and their sum, each rounded once.
    largest = np.abs(queries).max() * np.abs(keys).max() * 7
    close(scores, expected, atol=rounding(largest, 16), name="scaled_scores(queries, keys)")
    refuses(student.scaled_scores, queries, keys[:, :4], name="scaled_scores", why="widths 7 and 4 differ")
    # A width of one would broadcast.
    refuses(student.scaled_scores, queries, keys[:, :1], name="scaled_scores", why="widths 7 and 1 differ")
    refuses(student.scaled_scores, queries[:, :1], keys, name="scaled_scores", why="widths 1 and 7 differ")


# ---------------------------------------------------------------------------------------------------------- attention


@graded("attention", points=1, hint="The output is an average of the values: its weights are not negative and sum to one.")
def test_attention_stays_in_the_hull(student, rng, reference, ledger):
    """Every output lies in the hull of the values, is no longer than the longest of them, and is what the weights say."""
    queries, keys, values = 3 * rng.normal(size=(6, 3)), rng.normal(size=(5, 3)), 10 + rng.normal(size=(5, 2))
    output, weights = parts(student.attention(queries, keys, values), 2, name="attention")
    output, weights = array(output, shape=(6, 2), name="output"), array(weights, shape=(6, 5), name="weights")
    close(output, weights @ values, atol=LOOSE * np.abs(values).max(), name="output against weights @ values")
    expected, _ = plain_attention(queries, keys, values)
    close(output, expected, atol=LOOSE * np.abs(values).max(), name="output")
    for row, point in enumerate(output):
        require(
            not reference.leaves_hull(point, values, LOOSE), f"output[{row}] = {point} lies outside the hull of the values"
        )
    longest = np.linalg.norm(values, axis=1).max()
    ratio = np.linalg.norm(output, axis=1).max() / longest
    largest = ledger.value("D1-19", "largest_ratio") + max(LOOSE, ledger.tolerance("D1-19"))
    require(ratio <= largest, f"an output is {ratio:.6f} times as long as the longest value")


@graded("attention", points=1, hint="Nothing may depend on the place of an item, nor on the other queries.")
def test_attention_follows_a_new_order(student, rng, ledger):
    """Items in a new order give the same output, and queries in a new order give rows in that order."""
    queries, keys, values = rng.normal(size=(4, 3)), rng.normal(size=(6, 3)), rng.normal(size=(6, 2))
    items, rows = np.array([3, 0, 5, 1, 4, 2]), np.array([2, 0, 3, 1])
    expected, expected_weights = plain_attention(queries, keys, values)
    tolerance = ledger.tolerance("D3-9") * np.abs(expected).max()
    plain, plain_weights = parts(student.attention(queries, keys, values), 2, name="attention")
    plain = array(plain, shape=(4, 2), name="output")
    plain_weights = array(plain_weights, shape=(4, 6), name="weights")
    # Double precision: the scores are of size ten at most, and exp passes their rounding on.
    close(plain, expected, atol=rounding(np.abs(values).max(), 100), name="output")
    close(plain_weights, expected_weights, atol=rounding(1, 100), name="weights")
    moved, moved_weights = parts(student.attention(queries[rows], keys[items], values[items]), 2, name="attention")
    moved = array(moved, shape=(4, 2), name="output in the new order")
    moved_weights = array(moved_weights, shape=(4, 6), name="weights in the new order")
    close(moved, plain[rows], atol=tolerance, name="output in the new order")
    close(moved_weights, plain_weights[rows][:, items], atol=ledger.tolerance("D3-9"), name="weights in the new order")


@graded("attention", points=1, hint="A mask broadcasts: one for all, or one for each query or member. Sizes must fit.")
def test_attention_under_many_masks(student, rng, ledger):
    """Masks of every shape that broadcasts, batches and single items work, and sizes that do not fit raise ValueError."""
    queries, keys = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 6, 5))
    values = rng.normal(size=(2, 3, 6, 3))
    masks = [rng.random(shape) < 0.6 for shape in ((6,), (1, 6), (4, 1), (4, 6), (3, 4, 6), (2, 1, 4, 6))]
    masks[3][1] = False  # a query that may read nothing
    for mask in (None, *masks):
        what = "no mask" if mask is None else f"a mask of shape {mask.shape}"
        arguments = (queries, keys, values) if mask is None else (queries, keys, values, mask)
        output, weights = parts(student.attention(*arguments), 2, name=f"attention with {what}")
        output = array(output, shape=(2, 3, 4, 3), name=f"output with {what}")
        weights = array(weights, shape=(2, 3, 4, 6), name=f"weights with {what}")
        legal = np.broadcast_to(True if mask is None else mask, weights.shape)
        expected, expected_weights = np.zeros(output.shape), np.zeros(weights.shape)
        for index in np.ndindex(2, 3, 4):
            seen = legal[index]
            if seen.any():
                alone = plain_attention(queries[index][None], keys[index[:2]][seen], values[index[:2]][seen])
                expected[index], expected_weights[index][seen] = alone[0][0], alone[1][0]
        close(output, expected, atol=LOOSE * np.abs(values).max(), name=f"output with {what}")
        close(weights, expected_weights, atol=LOOSE, name=f"weights with {what}")
        nothing = ledger.value("D3-7", "weight")
        same(weights[~legal], np.full((~legal).sum(), nothing), name=f"forbidden weights with {what}")
    cases = [
        (rng.normal(size=(m, d)), rng.normal(size=(n, d)), rng.normal(size=(n, v)))
        for m, n, d, v in ((1, 1, 1, 1), (3, 1, 2, 4), (1, 4, 3, 1), (4, 4, 4, 4))
    ]
    for (queries, keys, values), answer in zip(cases, student.attention.each(cases), strict=True):
        name = f"attention(shapes {queries.shape}, {keys.shape}, {values.shape})"
        output, weights = parts(answer, 2, name="attention")
        expected, expected_weights = plain_attention(queries, keys, values)
        output = array(output, shape=expected.shape, name=f"output of {name}")
        close(output, expected, atol=LOOSE * np.abs(values).max(), name=f"output of {name}")
        weights = array(weights, shape=expected_weights.shape, name=f"weights of {name}")
        close(weights, expected_weights, atol=LOOSE, name=f"weights of {name}")
    queries, keys, values = rng.normal(size=(2, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    refuses(student.attention, queries, keys[:, :2], values, name="attention", why="queries and keys differ in width")
    refuses(student.attention, queries, keys[:, :1], values, name="attention", why="keys of width 1 are no keys of width 3")
    refuses(student.attention, queries, keys, values[:3], name="attention", why="keys and values differ in number")
    refuses(student.attention, queries, keys, values[:1], name="attention", why="one value does not serve four keys")


# ------------------------------------------------------------------------------------------------------------ masking


@graded("masking", points=1, hint="What the forbidden items lose, the others share; none of them may shrink.")
def test_survivors_grow(student, rng, ledger):
    """Masking makes each surviving weight larger, all by the same factor; the causal mask is right at every size."""
    for n, mask in zip((1, 7), student.causal_mask.each([(1,), (7,)]), strict=True):
        mask = array(mask, shape=(n, n), kind="bool", name=f"causal_mask({n})")
        same(mask, np.array([[j <= i for j in range(n)] for i in range(n)]), name=f"causal_mask({n})")
    scores = rng.normal(size=(4, 6))
    mask = np.tri(4, 6, 1, dtype=bool)
    weights = array(student.masked_softmax(scores, mask), shape=(4, 6), name="masked_softmax(scores, mask)")
    free = array(student.masked_softmax(scores, np.ones((4, 6), dtype=bool)), shape=(4, 6), name="all legal")
    growth = np.exp(scores)
    expected = growth / growth.sum(axis=1, keepdims=True)
    close(free, expected, atol=LOOSE, name="masked_softmax(scores, everything legal)")
    for row in range(4):
        legal = mask[row]
        name = f"growth of the surviving weights of row {row}"
        # The free weights err by up to LOOSE, the smallest of them by the largest share.
        allowed = 4 * LOOSE / expected[row, legal].min()
        factor = weights[row, legal] / free[row, legal]
        least = ledger.value("D3-6", "smallest_factor")
        require((factor >= least - allowed).all(), f"{name} must be at least one, it is {shown(factor)}")
        close(factor, np.full(legal.sum(), 1 / expected[row, legal].sum()), atol=allowed, name=name)


@graded("masking", points=1, hint="Shift each row by its largest legal score; a forbidden one must not enter anywhere.")
def test_legal_scores_of_any_size(student):
    """Legal scores near the limits give the right weights in every row, whatever the forbidden scores are."""
    mask = np.array([True, True, False])
    for forbidden in (0.0, 1e4, -1e4, 1e300):
        name = f"masked_softmax([0, ln 3, {forbidden:g}], [True, True, False])"
        weights = array(student.masked_softmax(np.array([0.0, np.log(3.0), forbidden]), mask), shape=(3,), name=name)
        warned = [text for text in student.warnings if text.startswith("RuntimeWarning")]
        require(not warned, f"{name} raises {'; '.join(map(shown, warned))}")
        close(weights, [1 / 4, 3 / 4, 0.0], atol=LOOSE, name=name)
        same(weights[2:], np.zeros(1), name=f"{name}[2]")
    # Among legal scores of -1e4, a forbidden one must lie lower still.
    name = "masked_softmax([-1e4, -1e4, -1e4], [True, False, True])"
    weights = array(student.masked_softmax(np.full(3, -1e4), np.array([True, False, True])), shape=(3,), name=name)
    close(weights, [1 / 2, 0, 1 / 2], atol=LOOSE, name=name)
    levels = np.array([[9000.0], [-9000.0], [0.0]])
    scores = levels + np.log(np.array([1.0, 2.0, 7.0, 5.0]))
    mask = np.array([[True, True, False, True], [True, False, True, False], [False, True, False, False]])
    expected = np.array([[1 / 8, 2 / 8, 0, 5 / 8], [1 / 8, 0, 7 / 8, 0], [0, 1, 0, 0]])
    name = "masked_softmax(rows at levels 9000, -9000, 0)"
    weights = array(student.masked_softmax(scores, mask), shape=(3, 4), name=name)
    # float32 rounds scores near 9000 by up to 5e-4.
    close(weights, expected, atol=1e-3, name=name)
    same(weights[~mask], np.zeros((~mask).sum()), name=f"the forbidden weights of {name}")


@graded("masking", points=1, hint="One mask may serve a whole batch: let it broadcast to the scores.")
def test_masks_that_broadcast(student, rng):
    """A mask with fewer axes than the scores applies to each member of the batch."""
    scores = rng.normal(size=(2, 3, 4, 4))
    growth = np.exp(scores)
    # Rows that may read nothing are another test's: here each row may read its own position.
    own = np.eye(4, dtype=bool)
    masks = (np.tri(4, dtype=bool), np.array([True, False, True, True]), (rng.random((2, 1, 4, 4)) < 0.5) | own)
    for mask, weights in zip(masks, student.masked_softmax.each((scores, mask) for mask in masks), strict=True):
        expected = growth * mask / (growth * mask).sum(axis=-1, keepdims=True)
        name = f"masked_softmax(scores of shape (2, 3, 4, 4), mask of shape {mask.shape})"
        weights = array(weights, shape=scores.shape, name=name)
        close(weights, expected, atol=LOOSE, name=name)


# --------------------------------------------------------------------------------------------------------------- hull


def asks(student, values, cases):
    """Ask for several points at once; `cases` holds (point, lies outside, what the point is)."""
    points = [np.asarray(point, dtype=float) for point, _, _ in cases]
    answers = student.leaves_hull.each((point, values) for point in points)
    for point, (_, outside, label), answer in zip(points, cases, answers, strict=True):
        name = f"leaves_hull({point.tolist()}, {values.tolist()})"
        answer = boolean(answer, name=name)
        require(answer == outside, f"{name} must be {outside}: the point is {label}; it was {answer}")


@graded("hull", points=1, hint="A point on the boundary counts as inside: compare with a tolerance, not with zero.")
def test_boundary_points_are_inside(student, rng):
    """Corners and edges are inside, points a little beyond are outside, also between the extremes of every coordinate."""
    values = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 3.0]])
    cases = [(corner, False, "a corner") for corner in values]
    for start, end, inner in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        # Thirds and sevenths are not exact in floating point, so rounding puts the points to either side of the edge.
        for share in (1 / 3, 2 / 7):
            on_edge = share * values[start] + (1 - share) * values[end]
            beyond = on_edge - 0.004 * (values[inner] - on_edge)
            cases += [(on_edge, False, "on an edge"), (beyond, True, "just beyond an edge")]
    asks(student, values, cases)
    values = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    cases = [
        ([0.9, 0.9, 0.9], True, "inside the box, outside the tetrahedron"),
        ([0.4, 0.4, 0.4], True, "inside the box, a little outside the tetrahedron"),
        ([0.3, 0.3, 0.3], False, "inside the tetrahedron"),
        ([0.1, 0.2, 0.0], False, "on a face of the tetrahedron"),
    ]
    asks(student, values, cases)
    # On the way to the side that is nearest to the point, a search drops two values at once.
    corners = np.array([[1.0, -1.0], [4.0, -3.0], [4.0, -4.0], [1.0, 1.0]])
    asks(student, corners, [([4.0, -2.0], True, "beyond a side"), ([3.0, -2.5], False, "inside")])
    # Far from the origin the same picture: scaled-down values lie outside.
    asks(student, values + 2, [([2.2, 2.2, 2.2], False, "inside"), ([1.1, 1.1, 1.1], True, "half of a point inside")])


@graded(
    "hull",
    points=1,
    hint="Negative weights do not count, even when they sum to one; nor does a projection onto the span.",
)
def test_flat_hulls(student):
    """Values on one line or plane span a flat hull: points beside it and points along it but beyond are outside."""
    line = np.array([[1.0, 1.0, 1.0], [2.0, 3.0, 1.0], [3.0, 5.0, 1.0]])
    asks(
        student,
        line,
        [
            (line[0] / 3 + 2 * line[2] / 3, False, "on the segment"),
            (2 * line[2] - line[1], True, "on the line, beyond the segment"),
            (line[1] + [0, 0, 0.1], True, "beside the segment"),
        ],
    )
    square = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]])
    asks(
        student,
        square,
        [
            ([0.5, 0.5, 1.0], False, "the middle of the square"),
            ([0.25, 0.5, 0.75], False, "inside the square"),
            ([0.5, 0.5, 1.2], True, "above the square"),
            ([1.5, 0.5, 2.0], True, "in the plane of the square, beyond it"),
        ],
    )


@graded("hull", points=1, hint="One value is a hull of its own; a value that occurs twice changes nothing.")
def test_one_value_and_repeated_values(student):
    """A single value reaches itself alone, and repeated values reach no more than different ones."""
    one = np.array([[2.0, -1.0]])
    asks(student, one, [([2.0, -1.0], False, "the only value"), ([2.0, -0.9], True, "another point")])
    thrice = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
    asks(student, thrice, [([1.0, 2.0], False, "the only value"), ([0.5, 1.0], True, "another point")])
    repeated = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 0.0], [0.0, 3.0], [3.0, 0.0]])
    asks(student, repeated, [([1.0, 1.0], False, "inside"), ([2.0, 2.0], True, "beyond the long side")])
    numbers = np.array([[10.0], [20.0], [30.0]])
    asks(student, numbers, [([25.0], False, "between the values"), ([31.0], True, "above all values")])


@graded(
    "hull",
    points=1,
    hint="Many values, wide vectors, any unit. The tolerance is relative to the largest coordinate, and small.",
)
def test_hulls_of_random_values(student, rng):
    """Random averages are inside; the same points pushed beyond a supporting plane are outside."""
    # The limit is relative to the values, so the unit must not matter.
    for n, d, unit in ((5, 2, 1e-6), (7, 3, 1.0), (10, 2, 1e6), (12, 8, 1e2), (6, 8, 1e-2), (4, 1, 1.0)):
        values = rng.normal(size=(n, d)) * unit
        size = np.abs(values).max()
        cases = []
        for number in range(2):
            inside = rng.dirichlet(np.ones(n)) @ values
            direction = rng.normal(size=d)
            if n <= d and number == 1:
                # The last point lies beside the plane of the values, right above one inside their hull.
                plane = np.linalg.svd(values[1:] - values[0], full_matrices=False)[2]
                direction -= plane.T @ (plane @ direction)
            direction /= np.linalg.norm(direction)
            # No value lies further along the direction than `reach`, so a point beyond it is outside.
            reach = (values @ direction).max()
            # The docstring promises at least 1e-3 times the largest coordinate.
            outside = inside + (reach - inside @ direction + 1.5e-3 * size) * direction
            cases += [(inside, False, "an average"), (outside, True, "beyond a supporting plane")]
        asks(student, values, cases)


# ------------------------------------------------------------------------------------------------------------ heatmap


def image_of(view, weights):
    """The one image of the figure, and its axes; it must hold the weights, nearly, in whatever arrangement."""
    found = [(axes, image) for axes in view.axes for image in axes.images]
    require(len(found) == 1, f"the figure must hold one image beside its colour bar, it holds {len(found)}")
    axes, image = found[0]
    cells = array(image.cells, shape=weights.shape, name="the cells of the image")
    # Rounded weights are for the public test of the cells to judge.
    close(np.sort(cells, axis=None), np.sort(weights, axis=None), atol=0.06, name="all cells of the image, sorted")
    return axes, image


SEVEN_WORDS = ["the", "cat", "slept", "because", "it", "felt", "warm"]


def seven_words(student, ledger):
    """The picture of the seven-word sentence: its axes and its image."""
    scores = np.sin(np.arange(49.0)).reshape(7, 7)
    scores[4] = 0.0
    scores[4, 1] = ledger.value("D3-2", "raised_score")
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    view = figure(student.heatmap(weights, SEVEN_WORDS), name="heatmap(weights of seven words, tokens)")
    return image_of(view, weights)


@graded("heatmap", points=1, hint="Find the row of 'it' by its label, and go along it to the darkest cell.")
def test_heatmap_of_seven_words(student, ledger):
    """In the seven-word sentence, the label 'it' leads to the row whose largest weight is on 'cat'."""
    axes, image = seven_words(student, ledger)
    cells, columns, rows = np.asarray(image.cells), {}, {}
    for ticks, centers, places in ((axes.xticks, image.centers_x, columns), (axes.yticks, image.centers_y, rows)):
        for position, label in ticks:
            places[label] = int(np.abs(np.asarray(centers) - position).argmin())
    require("it" in rows and "cat" in columns, "the words 'it' and 'cat' must be among the labels of the seven words")
    row = cells[rows["it"]]
    require(row.argmax() == columns["cat"], "the largest weight in the row labelled 'it' must stand under 'cat'")
    close(
        row.max(),
        ledger.value("D3-2", "weight"),
        atol=ledger.tolerance("D3-2", "weight") + 0.05,  # a rounded cell
        name="the cell of 'it' and 'cat'",
    )


@graded("heatmap", points=1, hint="A word may occur twice, and a table must fit its words: one row and one column each.")
def test_heatmap_of_repeated_words(student, rng):
    """A word that occurs twice has two rows and two columns; a table of another size raises ValueError."""
    tokens = ["the", "dog", "saw", "the", "cat"]
    weights = rng.dirichlet(np.ones(5), size=5)
    view = figure(student.heatmap(weights, tokens), name="heatmap(weights, ['the', 'dog', 'saw', 'the', 'cat'])")
    axes, _ = image_of(view, weights)
    for side, ticks in (("x", axes.xticks), ("y", axes.yticks)):
        labels = [label for _, label in sorted(ticks) if label]
        require(
            sorted(labels) == sorted(tokens), f"the labels along {side} must be the five words, they are {shown(labels)}"
        )
    refuses(student.heatmap, weights, tokens[:4], name="heatmap", why="four words do not name five rows")
    refuses(student.heatmap, weights[:3], tokens, name="heatmap", why="five words do not name three rows")


# ------------------------------------------------------------------------------------------------------------ reading


def chosen(student, item, reference):
    """Compare one answer with the reference's; case and blanks do not matter."""
    answer = text(student.value(item), name=item).strip().lower()
    require(answer == getattr(reference, item), f"{item} must be {getattr(reference, item)!r}, it was {shown(answer)}")


@graded("reading", points=1, hint="Write the weights below the values, before and after the swap.")
def test_reading_swapped(student, reference):
    """Which item holds the largest share after the swap."""
    chosen(student, "swapped", reference)


@graded("reading", points=1, hint="Count the ordered pairs of three items, then those of six.")
def test_reading_doubled(student, reference):
    """How many weights a text of twice the length needs."""
    chosen(student, "doubled", reference)


@graded("reading", points=1, hint="The others are divided by a smaller total than before, and all by the same one.")
def test_reading_survivors(student, reference):
    """What masking one item does to the weights of the others."""
    chosen(student, "survivors", reference)


@graded("reading", points=1, hint="Compare with an even split; who reads and who is read are different things.")
def test_reading_cell(student, reference):
    """What one cell of a heatmap says."""
    chosen(student, "cell", reference)
