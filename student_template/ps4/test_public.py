"""The tests of problem set 4 that students run themselves."""

import math

import numpy as np

from autograder.testing import array, close, graded, integer, parts, require, rounding, same, scalar

# Answers of size one that took at most a few dozen roundings.
ROUNDED = rounding(1, 64)
# Central differences err least at a step near 1e-5: by about 1e-10 here, far below the tolerance of 1e-6.
STEP = 1e-5


def plain_weights(scores):
    """Softmax along the last axis, for scores that are not large."""
    growth = np.exp(scores)
    return growth / np.sum(growth, axis=-1, keepdims=True)


# ------------------------------------------------------------------------------------------------------------ entropy


@graded("entropy", points=1, hint="Sixteen times -(1/16) ln(1/16), with the natural logarithm.")
def test_even_split_over_sixteen_keys(student, ledger):
    """Sixteen equal weights have the entropy ln 16, and four have ln 4."""
    keys = ledger.value("D1-9", "keys")
    found = scalar(student.entropy(np.full(keys, 1 / keys)), name="entropy of 16 equal weights")
    close(
        found, ledger.value("D1-9", "entropy"), atol=ledger.tolerance("D1-9", "entropy"), name="entropy of 16 equal weights"
    )
    name = "entropy([[0.25, 0.25, 0.25, 0.25]])"
    rows = array(student.entropy(np.full((1, 4), 0.25)), shape=(1,), name=name)
    close(rows, [math.log(4)], atol=ledger.tolerance("D1-9", "entropy"), name=name)


@graded(
    "entropy", points=1, hint="0 ln 0 counts as 0. np.log(0) warns and 0 * -inf is NaN, so zeros must not reach the log."
)
def test_a_certain_row_has_no_entropy(student):
    """A one-hot row has entropy 0, without NaN and without a warning."""
    name = "entropy([[1, 0, 0], [0, 0.5, 0.5]])"
    found = array(student.entropy(np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])), shape=(2,), name=name)
    require(not student.warnings, f"{name} gives a warning: {student.warnings[:1]}")
    close(found, [0.0, math.log(2)], atol=ROUNDED, name=name)


# ------------------------------------------------------------------------------------------------------ concentration

# Row 0 gives the weights 1/4, 1/4, 1/2 and row 1 an even split.
WORKED = np.array([[0.0, 0.0, math.log(2)], [0.0, 0.0, 0.0]])


@graded("concentration", points=1, hint="One spread for all six scores together: `scores.std()` with NumPy's default.")
def test_spread_of_the_worked_table(student):
    """The spread is taken over all scores of the table at once."""
    found = parts(student.concentration(WORKED), 3, name="concentration(worked table)")
    # One of six numbers is ln 2: mean ln 2 / 6, variance (1/6)(5/6) (ln 2)^2.
    spread = scalar(found[0], name="spread of the worked table")
    close(spread, math.log(2) * math.sqrt(5) / 6, atol=ROUNDED, name="spread of the worked table")


@graded("concentration", points=1, hint="First weights, then entropy and maximum of each row, then the mean over the rows.")
def test_entropy_and_largest_weight_of_the_worked_table(student):
    """Entropy and largest weight are computed row by row, then averaged."""
    found = parts(student.concentration(WORKED), 3, name="concentration(worked table)")
    # Row 0 has entropy 2 (1/4) ln 4 + (1/2) ln 2 = (3/2) ln 2.
    for value, expected, name in (
        (found[1], (1.5 * math.log(2) + math.log(3)) / 2, "mean_entropy of the worked table"),
        (found[2], (1 / 2 + 1 / 3) / 2, "mean_largest of the worked table"),
    ):
        close(scalar(value, name=name), expected, atol=ROUNDED, name=name)


# ------------------------------------------------------------------------------------------------------- sqrt_d_table


def printed(ledger, row, columns):
    """The printed figures of a row of the table, each with half a unit of its last printed place."""
    return [(ledger.value("D1-10", column)[row], ledger.tolerance("D1-10", column)) for column in columns]


UNSCALED = ("unscaled_sd", "unscaled_entropy", "unscaled_max_weight")
SCALED = ("scaled_sd", "scaled_entropy", "scaled_max_weight")


@graded("sqrt_d_table", points=1, hint="Queries first, then 2000 keys, of which the first 16 count; no division yet.")
def test_first_row_unscaled(student, ledger):
    """At d = 4, the three unscaled figures are the printed ones."""
    found = array(student.sqrt_d_table([4]), shape=(1, 6), name="sqrt_d_table([4])")
    for value, (expected, half_unit), column in zip(found[0, :3], printed(ledger, 0, UNSCALED), UNSCALED, strict=True):
        close(value, expected, atol=half_unit, name=f"{column} at d = 4")


@graded("sqrt_d_table", points=1, hint="The same scores again, each divided by the square root of d, then softmax.")
def test_first_row_scaled(student, ledger):
    """At d = 4, the three scaled figures are the printed ones."""
    found = array(student.sqrt_d_table([4]), shape=(1, 6), name="sqrt_d_table([4])")
    for value, (expected, half_unit), column in zip(found[0, 3:], printed(ledger, 0, SCALED), SCALED, strict=True):
        close(value, expected, atol=half_unit, name=f"{column} at d = 4")


@graded("sqrt_d_table", points=1, hint="One generator for the whole table: d = 16 goes on where d = 4 stopped.")
def test_second_row_goes_on(student, ledger):
    """At d = 16, after d = 4, all six figures are the printed ones."""
    found = array(student.sqrt_d_table([4, 16]), shape=(2, 6), name="sqrt_d_table([4, 16])")
    columns = (*UNSCALED, *SCALED)
    for value, (expected, half_unit), column in zip(found[1], printed(ledger, 1, columns), columns, strict=True):
        close(value, expected, atol=half_unit, name=f"{column} at d = 16")


@graded(
    "sqrt_d_table", points=1, hint="The division changes every score by the same factor: its spread, by exactly sqrt(d)."
)
def test_division_divides_the_spread(student):
    """Whatever the seed, the scaled spread is the unscaled one divided by the root of d."""
    tables = [
        array(student.sqrt_d_table([9, 25], seed), shape=(2, 6), name="sqrt_d_table([9, 25], seed)") for seed in (1, 2)
    ]
    for found in tables:
        close(found[:, 3], found[:, 0] / [3, 5], atol=rounding(5, 64), name="scaled spread against unscaled spread")
    require(np.abs(tables[0] - tables[1]).max() > 1e-6, "seeds 1 and 2 must give different tables; yours are the same")


# --------------------------------------------------------------------------------------------------------- own_scores


@graded("own_scores", points=1, hint="Make a generator from the seed inside the function: np.random.default_rng(seed).")
def test_seed_decides_the_scores(student):
    """The shape is (queries, keys), and another seed gives other scores."""
    first, second = (
        array(student.own_scores(8, 30, 5, seed), shape=(30, 5), name=f"own_scores(8, 30, 5, {seed})") for seed in (3, 4)
    )
    require(np.abs(first - second).max() > 1e-6, "seeds 3 and 4 must give different scores; yours are the same")


@graded(
    "own_scores", points=1, hint="With shared keys, scores are Q K^T, a table whose rank is at most d. Yours must be higher."
)
def test_every_query_has_its_own_keys(student):
    """At d = 4, scores of shared keys have rank 4 and scores of own keys have full rank."""
    found = array(student.own_scores(4, 40, 16, 5), shape=(40, 16), name="own_scores(4, 40, 16, 5)")
    # A table of 40 x 16 with independent rows has full rank with certainty, and the sixteenth singular value near 3.
    values = np.linalg.svd(found, compute_uv=False)
    rank = int((values > 1e-6 * values[0]).sum())
    require(rank == 16, f"the scores of 40 queries with 16 own keys each have rank 16, but yours have rank {rank}")


# ----------------------------------------------------------------------------------------------------------- jacobian


@graded(
    "jacobian", points=1, hint="Raising a score raises its own weight, by a_j, and everyone pays, in proportion to a_j a_k."
)
def test_jacobian_matches_small_steps(student, ledger, rng):
    """Each column of the Jacobian is what a small change of one score does to the weights."""
    scores = rng.normal(size=5)
    found = array(student.softmax_jacobian(plain_weights(scores)), shape=(5, 5), name="softmax_jacobian(weights)")
    moves = STEP * np.eye(5)
    measured = [(plain_weights(scores + move) - plain_weights(scores - move)) / (2 * STEP) for move in moves]
    close(found, np.transpose(measured), atol=ledger.tolerance("D1-12"), name="softmax_jacobian(weights)")


@graded("jacobian", points=1, hint="For weights 1/2, 1/2 every entry of the Jacobian is plus or minus 1/4.")
def test_norm_by_hand(student):
    """The norm of an even split over two keys is 1/2, and that of a one-hot row is 0."""
    name = "jacobian_norm([[0.5, 0.5], [0, 1]])"
    found = array(student.jacobian_norm(np.array([[0.5, 0.5], [0.0, 1.0]])), shape=(2,), name=name)
    close(found, [0.5, 0.0], atol=1e-7, name=name)


@graded("jacobian", points=1, hint="One norm for each row of weights. The mean over the rows is taken by the test.")
def test_mean_norms_of_the_ledger(student, ledger, rng):
    """Mean norms over 4000 queries: without the division they fall with d, and at d = 4 they are the larger ones."""
    queries, keys = ledger.value("D1-13", "queries"), ledger.value("D1-13", "keys")
    for place, d in enumerate(ledger.value("D1-13", "dimensions")):
        # Given the query, the scores of its own keys are independent normal numbers with the query's length as spread.
        lengths = np.linalg.norm(rng.normal(size=(queries, d)), axis=1, keepdims=True)
        scores = lengths * rng.normal(size=(queries, keys))
        for column, factor in (("unscaled", 1.0), ("scaled", d**-0.5)):
            name = f"jacobian_norm of 4000 rows, d = {d}, {column}"
            found = array(student.jacobian_norm(plain_weights(scores * factor)), shape=(queries,), name=name)
            limit = ledger.value("D1-13", f"{column}_norm")[place]
            # 5.5 standard errors of 4000 queries; these draws are fixed, so a right answer always passes.
            band = 5.5 * ledger.value("D1-13", f"{column}_relative_standard_error")[place] * limit
            close(found.mean(), limit, atol=band, name=f"mean {name}")


# ------------------------------------------------------------------------------------------------- attention_backward


def attended(queries, keys, values, mask):
    """The forward pass whose slopes are asked for."""
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(queries.shape[-1])
    return plain_weights(np.where(mask, scores, -np.inf)) @ values


def along(student, rng, place, mask):
    """The slope along a random direction of one argument: from the gradient, and from two small steps."""
    shapes = ((5, 3), (4, 3), (4, 2))
    case, direction = [rng.normal(size=shape) for shape in shapes], rng.normal(size=shapes[place])
    weighting = rng.normal(size=(5, 2))
    ends = []
    for sign in (1, -1):
        moved = [value + sign * STEP * direction if at == place else value for at, value in enumerate(case)]
        ends.append(np.sum(weighting * attended(*moved, mask)))
    found = parts(student.attention_backward(*case, weighting, mask), 3, name="attention_backward(...)")
    name = ("queries_gradient", "keys_gradient", "values_gradient")[place]
    gradient = array(found[place], shape=shapes[place], name=name)
    return float(np.sum(gradient * direction)), float(ends[0] - ends[1]) / (2 * STEP), f"{name} along a random direction"


EVERYTHING = np.ones((5, 4), dtype=bool)
STAIRS = np.tri(5, 4, dtype=bool)


@graded(
    "attention_backward",
    points=1,
    hint="The output is weights @ values: each value collects slopes by its column of weights.",
)
def test_slope_along_values(student, ledger, rng):
    """The slope by the values agrees with small steps."""
    found, measured, name = along(student, rng, 2, EVERYTHING)
    close(found, measured, atol=ledger.tolerance("D1-12"), name=name)


@graded(
    "attention_backward", points=1, hint="Chain: output to weights, weights to scores by the Jacobian, scores to queries."
)
def test_slope_along_queries(student, ledger, rng):
    """The slope by the queries agrees with small steps."""
    found, measured, name = along(student, rng, 0, EVERYTHING)
    close(found, measured, atol=ledger.tolerance("D1-12"), name=name)


@graded("attention_backward", points=1, hint="A key meets every query: sum over the queries, and do not forget 1 / sqrt(d).")
def test_slope_along_keys(student, ledger, rng):
    """The slope by the keys agrees with small steps."""
    found, measured, name = along(student, rng, 1, EVERYTHING)
    close(found, measured, atol=ledger.tolerance("D1-12"), name=name)


@graded(
    "attention_backward",
    points=1,
    hint="A forbidden pair has weight zero; use the mask in the weights and the rest follows.",
)
def test_slope_under_a_mask(student, ledger, rng):
    """Under a mask, all three slopes agree with small steps."""
    for place in range(3):
        found, measured, name = along(student, rng, place, STAIRS)
        close(found, measured, atol=ledger.tolerance("D1-12"), name=f"{name}, masked")


@graded(
    "attention_backward",
    points=1,
    hint="By hand: weights 1/2, 1/2; raising one score by s moves the output by s/4 (v - v').",
)
def test_backward_by_hand(student):
    """One query of zeros, two keys, one-dimensional values 0 and 8."""
    # sqrt(d) = 2. Weights 1/2 each; the slopes by the scores are 1/2 (0 - 4) = -2 and 1/2 (8 - 4) = 2.
    queries, keys = np.zeros((1, 4)), np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0]])
    case = (queries, keys, np.array([[0.0], [8.0]]), np.array([[1.0]]))
    found = parts(student.attention_backward(*case), 3, name="attention_backward(...)")
    expected = ([[-1.0, 3.0, 0.0, 0.0]], np.zeros((2, 4)), [[0.5], [0.5]])
    names = ("queries_gradient", "keys_gradient", "values_gradient")
    for value, wanted, name in zip(found, expected, names, strict=True):
        close(array(value, shape=np.shape(wanted), name=name), wanted, atol=rounding(8, 64), name=name)


# -------------------------------------------------------------------------------------------------------------- heads


@graded("heads", points=1, hint="Reshape the last axis to (heads, k) first, then move the axis of the heads forward.")
def test_each_head_gets_its_columns(student):
    """Head 0 gets the first columns of every token, head 1 the next ones."""
    # Entry = 10 * token + column.
    x = 10.0 * np.arange(3)[:, np.newaxis] + np.arange(4)
    found = array(student.split_heads(x, 2), shape=(2, 3, 2), name="split_heads(x, 2)")
    same(
        found, np.array([[[0, 1], [10, 11], [20, 21]], [[2, 3], [12, 13], [22, 23]]], dtype=float), name="split_heads(x, 2)"
    )


@graded("heads", points=1, hint="merge_heads undoes split_heads: swap the axes back, then reshape.")
def test_merging_undoes_splitting(student, rng):
    """Splitting and merging gives back the same array, for one sequence and for a batch."""
    for shape, heads in (((5, 6), 3), ((2, 4, 6), 2)):
        x = rng.normal(size=shape)
        split = array(student.split_heads(x, heads), name="split_heads(x, heads)")
        same(
            array(student.merge_heads(split), shape=shape, name="merge_heads(split_heads(x))"),
            x,
            name="merge_heads(split_heads(x))",
        )


@graded("heads", points=1, hint="One head is the plain layer, followed by the output projection.")
def test_one_head_is_the_plain_layer(student, rng):
    """With one head, weights and output are those of plain attention with an output projection."""
    x, w_q, w_k, w_v, w_o = (rng.normal(size=shape) for shape in ((5, 4), (4, 3), (4, 3), (4, 2), (2, 6)))
    found = parts(student.multi_head_attention(x, w_q, w_k, w_v, w_o, 1), 2, name="multi_head_attention(..., heads=1)")
    weights = plain_weights((x @ w_q) @ (x @ w_k).T / math.sqrt(3))
    close(array(found[1], shape=(1, 5, 5), name="weights"), weights[np.newaxis], atol=rounding(50, 64), name="weights")
    expected = weights @ (x @ w_v @ w_o)
    close(array(found[0], shape=(5, 6), name="output"), expected, atol=rounding(100, 64), name="output")


@graded("heads", points=1, hint="Divide by the root of the head's own width; each head has a table of its own.")
def test_two_heads_see_different_things(student):
    """One head looks at the first two columns, the other at the last two, each with its own width under the root."""
    # The tokens differ in column 0 alone, so head 1 sees no difference. Head 0 scores q . k / sqrt(2).
    x = np.array([[math.sqrt(2), 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]])
    eye = np.eye(4)
    found = parts(student.multi_head_attention(x, eye, eye, eye, eye, 2), 2, name="multi_head_attention(..., heads=2)")
    weights = array(found[1], shape=(2, 2, 2), name="weights")
    preferred = 1 / (1 + math.exp(-math.sqrt(2)))
    expected = [[[preferred, 1 - preferred], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]
    close(weights, expected, atol=ROUNDED, name="weights")
    expected = [[math.sqrt(2) * preferred, 0.0, 1.0, 1.0], [math.sqrt(0.5), 0.0, 1.0, 1.0]]
    close(array(found[0], shape=(2, 4), name="output"), expected, atol=ROUNDED, name="output")


@graded("heads", points=1, hint="The mask is the same for all heads; the weights of what may be read still sum to one.")
def test_mask_holds_in_every_head(student, rng):
    """Under a causal mask no head reads ahead, and every row still sums to one."""
    x, matrices = rng.normal(size=(4, 6)), rng.normal(size=(4, 6, 6))
    mask = np.tri(4, dtype=bool)
    found = parts(student.multi_head_attention(x, *matrices, 3, mask), 2, name="multi_head_attention(..., heads=3, mask)")
    weights = array(found[1], shape=(3, 4, 4), name="weights")
    same(np.where(mask, 0.0, weights), np.zeros((3, 4, 4)), name="weights of what may not be read")
    close(weights.sum(axis=-1), np.ones((3, 4)), atol=ROUNDED, name="sums of the rows")


# --------------------------------------------------------------------------------------------------------- head_costs


@graded("head_costs", points=1, hint="The heads' widths add up to d. What changes is the number of L x L tables.")
def test_costs_of_a_small_layer(student, ledger):
    """Ten tokens of width 8: the same operations for one head and for four, but four tables."""
    for heads in (1, 4):
        name = f"head_costs(10, 8, {heads})"
        operations, tables = parts(student.head_costs(10, 8, heads), 2, name=name)
        # 6 * 10 * 64 + 4 * 100 * 8, in heads of any number.
        expected = 7040 * ledger.value("D1-21", "relative_leading_arithmetic")
        same(integer(operations, name=f"{name}[0]"), expected, name=f"{name}[0]")
        same(integer(tables, name=f"{name}[1]"), heads * ledger.value("D1-21", "weight_tables_per_head"), name=f"{name}[1]")


# ------------------------------------------------------------------------------------------------------ two_relations


@graded(
    "two_relations", points=1, hint="Total variance of the targets, minus what V points on one flat can explain: half of it."
)
def test_floor_for_two_symbols(student):
    """With two symbols, four corners of a square are wanted, and one head reaches a line: the floor is 1/2."""
    name = "one_head_floor(2)"
    close(scalar(student.one_head_floor(2), name=name), 0.5, atol=1e-9, name=name)


def halves(student):
    """Hand-written weights for 3 symbols, 5 places and offsets 1 and -2, cut into the two heads."""
    name = "two_head_weights(3, 5, 1, -2)"
    w_q, w_k, w_v, w_o = parts(student.two_head_weights(3, 5, 1, -2), 4, name=name)
    w_q, w_k = array(w_q, shape=(8, None), name=f"{name}[0]"), array(w_k, shape=(8, None), name=f"{name}[1]")
    require(
        w_q.shape == w_k.shape and w_q.shape[1] % 2 == 0 < w_q.shape[1], "w_q and w_k need the same even number of columns"
    )
    w_v = array(w_v, shape=(8, None), name=f"{name}[2]")
    require(w_v.shape[1] % 2 == 0 < w_v.shape[1], "w_v must have an even number of columns, half of them for each head")
    w_o = array(w_o, shape=(w_v.shape[1], 6), name=f"{name}[3]")
    k, v = w_q.shape[1] // 2, w_v.shape[1] // 2
    return [
        (w_q[:, h * k : (h + 1) * k], w_k[:, h * k : (h + 1) * k], w_v[:, h * v : (h + 1) * v], w_o[h * v : (h + 1) * v])
        for h in (0, 1)
    ]


@graded("two_relations", points=1, hint="The query of place i must match the key of place i + offset, counted in a circle.")
def test_each_head_finds_its_place(student, rng):
    """Head 0 reads the place one to the right and head 1 the place two to the left, in a circle."""
    tokens = np.hstack([np.eye(3)[rng.integers(3, size=5)], np.eye(5)])
    for (w_q, w_k, _, _), offset, name in zip(halves(student), (1, -2), ("head 0", "head 1"), strict=True):
        weights = plain_weights((tokens @ w_q) @ (tokens @ w_k).T / math.sqrt(w_q.shape[1]))
        # weights[i, j] = 1 where j = i + offset in a circle.
        close(weights, np.roll(np.eye(5), offset, axis=1), atol=1e-6, name=f"weights of {name}")


@graded("two_relations", points=1, hint="Values carry the symbol alone; w_o puts head 0's symbol first and head 1's second.")
def test_values_hand_over_the_symbol(student):
    """What head 0 reads arrives in the first columns, what head 1 reads in the last, and places are not passed on."""
    for (_, _, w_v, w_o), columns, name in zip(
        halves(student), (slice(0, 3), slice(3, 6)), ("head 0", "head 1"), strict=True
    ):
        same(w_v[3:], np.zeros_like(w_v[3:]), name=f"place rows of w_v, {name}")
        close(w_v[:3] @ w_o, np.eye(6)[columns], atol=ROUNDED, name=f"what each symbol adds to the output through {name}")


# -------------------------------------------------------------------------------------------------------------- block


@graded("block", points=1, hint="Mean and variance run over the numbers of one token; eps is added to the variance.")
def test_norm_of_two_tokens(student):
    """Two tokens of width four are normalised by hand."""
    x = np.array([[1.0, 3.0, 1.0, 3.0], [0.0, 0.0, 0.0, 8.0]])
    # Means 2 and 2, variances 1 and 12; eps = 0.25 in place of 1e-5 makes its place visible.
    name = "layer_norm(x, gain, shift, eps=0.25)"
    found = array(
        student.layer_norm(x, np.array([1.0, 1.0, 1.0, 2.0]), np.array([0.0, 0.0, 5.0, 0.0]), 0.25), shape=(2, 4), name=name
    )
    first, second = np.array([-1, 1, -1, 1]) / math.sqrt(1.25), np.array([-2, -2, -2, 6]) / 3.5
    expected = np.array([first, second]) * [1, 1, 1, 2] + [0, 0, 5, 0]
    close(found, expected, atol=rounding(5, 64), name=name)


@graded(
    "block",
    points=1,
    hint="The tanh form in the docstring, for negative numbers too. Far out, GELU is x on the right and 0 on the left.",
)
def test_gelu_of_five_numbers(student):
    """GELU at -10, -1, 0, 1 and 10."""
    name = "gelu([-10, -1, 0, 1, 10])"
    found = array(student.gelu(np.array([-10.0, -1.0, 0.0, 1.0, 10.0])), shape=(5,), name=name)
    # At 1 the tanh form gives 0.8411920, and x - gelu(-x) the same again.
    close(found, [0.0, -0.15880801, 0.0, 0.84119199, 10.0], atol=1e-8, name=name)


def quiet_block(width, hidden):
    """A block whose sublayers add nothing."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), (width, width))
    shapes |= {"w_1": (width, hidden), "b_1": (hidden,), "w_2": (hidden, width), "b_2": (width,)}
    block = {name: np.zeros(shape) for name, shape in shapes.items()}
    return block | {
        name: np.full(width, float(name.startswith("gain"))) for name in ("gain_1", "shift_1", "gain_2", "shift_2")
    }


@graded("block", points=1, hint="With norm='pre' the residual path is never normalised; with 'post' both norms act on it.")
def test_silent_sublayers(student):
    """If both sublayers add nothing, pre-norm changes nothing and post-norm normalises twice."""
    x, block = np.array([[1.0, -1.0, 1.0, -1.0], [6.0, 6.0, 0.0, 0.0]]), quiet_block(4, 3)
    same(array(student.transformer_block(x, block, 2), shape=(2, 4), name="pre-norm block"), x, name="pre-norm block")
    # Deviations of 1 and 3 come out as 1 / sqrt(1 + eps) and 3 / sqrt(9 + eps), and then once more.
    once = np.array([1 / math.sqrt(1 + 1e-5), 3 / math.sqrt(9 + 1e-5)])
    twice = once / np.sqrt(once**2 + 1e-5)
    expected = twice[:, np.newaxis] * [[1, -1, 1, -1], [1, 1, -1, -1]]
    found = array(student.transformer_block(x, block, 2, None, "post"), shape=(2, 4), name="post-norm block")
    close(found, expected, atol=1e-12, name="post-norm block")


@graded("block", points=1, hint="Each sublayer's result is added to what went into its layer norm, not to what came out.")
def test_what_each_sublayer_adds(student):
    """When the norms pass on nothing but their shifts, each sublayer adds the same known vector to every token."""
    x, block = np.array([[5.0, 1.0], [2.0, 7.0], [0.0, -3.0]]), quiet_block(2, 2)
    block |= {
        "gain_1": np.zeros(2),
        "gain_2": np.zeros(2),
        "shift_1": np.array([1.0, 2.0]),
        "shift_2": np.array([10.0, 0.0]),
    }
    block |= {"w_v": np.array([[1.0, 0.0], [0.0, 3.0]]), "w_o": np.array([[0.0, 1.0], [1.0, 0.0]])}
    block |= {
        "w_1": np.eye(2),
        "b_1": np.array([5.0, -20.0]),
        "w_2": np.array([[1.0, 2.0], [9.0, 9.0]]),
        "b_2": np.array([0.5, 0.0]),
    }
    # Attention averages equal tokens (1, 2): values (1, 6), projected (6, 1). GELU of (15, -20) is (15, 0): (15.5, 30).
    found = array(student.transformer_block(x, block, 1), shape=(3, 2), name="pre-norm block")
    close(found, x + np.array([6.0 + 15.5, 1.0 + 30.0]), atol=1e-12, name="pre-norm block")


@graded("block", points=1, hint="Pass heads and mask on to the attention sublayer; nothing else may mix tokens.")
def test_block_does_not_read_ahead(student, rng):
    """Under a causal mask, changing the last token changes no other row, before or after normalisation."""
    x, block = rng.normal(size=(4, 6)), {name: rng.normal(size=value.shape) for name, value in quiet_block(6, 5).items()}
    changed = x.copy()
    changed[3] += rng.normal(size=6)
    for norm in ("pre", "post"):
        name = f"transformer_block(..., heads=2, mask, {norm!r})"
        rows = [
            array(student.transformer_block(tokens, block, 2, np.tri(4, dtype=bool), norm), shape=(4, 6), name=name)
            for tokens in (x, changed)
        ]
        # Outputs are of size 100 at most, and the wrong ones we know of differ by more than 0.1.
        close(rows[1][:3], rows[0][:3], atol=1e-9, name=f"earlier rows of {name}")
        require(np.abs(rows[1][3] - rows[0][3]).max() > 1e-6, f"{name} must depend on the token it changes")


# -------------------------------------------------------------------------------------------------------------- depth


@graded("depth", points=1, hint="Entry 0 describes x itself; then one entry after each layer.")
def test_profile_of_doubling(student):
    """Doubling every number doubles the size and leaves the spread as it was."""
    x = np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    found = parts(
        student.depth_profile([lambda tokens: 2 * tokens, lambda tokens: 2 * tokens], x), 2, name="depth_profile(...)"
    )
    # The mean token is (1, 1): squared distances 5, 1 and 2, of a total of 14.
    spread, size = array(found[0], shape=(3,), name="spread"), array(found[1], shape=(3,), name="size")
    close(spread, np.full(3, math.sqrt(8 / 14)), atol=ROUNDED, name="spread")
    close(size, np.array([1, 2, 4]) * math.sqrt(14 / 6), atol=rounding(8, 64), name="size")


@graded("depth", points=1, hint="The mean token is the mean over the tokens: axis 0.")
def test_averaging_removes_the_spread(student, rng):
    """A layer that gives every token the mean token leaves a spread of zero."""
    x = rng.normal(size=(5, 3)) + 1.0
    found = parts(
        student.depth_profile([lambda tokens: np.tile(tokens.mean(axis=0), (5, 1))], x), 2, name="depth_profile(...)"
    )
    spread = array(found[0], shape=(2,), name="spread")
    close(spread[1], 0.0, atol=rounding(1, 64), name="spread after averaging")
    require(spread[0] > 0.1, f"before averaging the tokens differ; the spread must say so, but it is {spread[0]}")


@graded("depth", points=1, hint="Each layer gets what the layer before returned, and is called once.")
def test_layers_run_in_turn(student):
    """Layers run one after another, each on the result of the one before, and once only."""
    seen = []

    def layer(tokens):
        seen.append(float(tokens[0, 0]))
        return tokens + 1.0

    found = parts(student.once.depth_profile([layer] * 3, np.array([[1.0, 2.0], [3.0, 2.0]])), 2, name="depth_profile(...)")
    require(seen == [1.0, 2.0, 3.0], f"the three layers must see 1, 2, 3 in the first place, but saw {seen[:9]}")
    # After two steps the entries are 3, 4, 5, 4.
    close(array(found[1], shape=(4,), name="size")[2], math.sqrt(66 / 4), atol=rounding(4, 64), name="size after two layers")


# ------------------------------------------------------------------------------------------------------------- rotate


@graded("rotate", points=1, hint="(u, w) becomes (u cos - w sin, u sin + w cos); pair k is columns 2k and 2k + 1.")
def test_quarter_turn(student):
    """A quarter turn of the first pair sends (1, 0) to (0, 1); the second pair turns a hundred times more slowly."""
    x, angle = np.array([[1.0, 0.0, 1.0, 0.0]]), math.pi / 2
    found = array(student.rotate(x, np.array([angle])), shape=(1, 4), name="rotate([[1, 0, 1, 0]], [pi / 2])")
    expected = [[0.0, 1.0, math.cos(angle / 100), math.sin(angle / 100)]]
    close(found, expected, atol=1e-12, name="rotate([[1, 0, 1, 0]], [pi / 2])")


@graded("rotate", points=1, hint="Turning both by the same amount changes no dot product; position 0 turns nothing.")
def test_scores_depend_on_the_difference(student, rng):
    """Position 0 leaves a vector alone, and scores of rotated vectors depend on the difference of positions."""
    q, k = rng.normal(size=(2, 1, 6))
    same(array(student.rotate(q, np.zeros(1)), shape=(1, 6), name="rotate(q, [0])"), q, name="rotate(q, [0])")
    turned = [
        (student.rotate(q, np.array([float(i)])), student.rotate(k, np.array([float(j)])))
        for i, j in ((2, 5), (9, 12), (2, 6))
    ]
    names = ("positions 2 and 5", "positions 9 and 12", "positions 2 and 6")
    scores = [
        float(np.sum(array(left, shape=(1, 6), name=name) * array(right, shape=(1, 6), name=name)))
        for (left, right), name in zip(turned, names, strict=True)
    ]
    close(
        scores[1],
        scores[0],
        atol=1e-12 * float(np.linalg.norm(q) * np.linalg.norm(k)),
        name="score at 9 and 12 against 2 and 5",
    )
    require(abs(scores[2] - scores[0]) > 1e-6, "the score at 2 and 6 must differ from the one at 2 and 5")
