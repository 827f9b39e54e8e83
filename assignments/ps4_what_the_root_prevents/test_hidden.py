"""The tests of problem set 4 that only the grader runs.

Inputs are drawn from a secret, so every test must hold for any seed. Expected values come from formulas written out here,
and right answers differ from them by rounding. The one exception is the spread of `own_scores`: its thirteen bands together
leave a right answer outside in one of ten million runs. `python benchmarks/false_alarms.py ps4` runs all under many seeds.
"""

import math

import numpy as np

from autograder.testing import array, close, graded, integer, parts, refuses, require, rounding, same, scalar, text

# Answers of size one that took at most a few dozen roundings.
ROUNDED = rounding(1, 64)


def plain_softmax(scores, mask=None):
    """Weights row by row; a row that may read nothing gets zeros."""
    weights = np.zeros(scores.shape)
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        legal = scores[row][allowed[row]]
        if legal.size:
            growth = np.exp(legal - legal.max())
            weights[row][allowed[row]] = growth / growth.sum()
    return weights


# ------------------------------------------------------------------------------------------------------------ entropy


@graded("entropy", points=1, hint="The logarithm is natural, nothing is added inside it, and rows stay apart.")
def test_entropy_of_random_rows(student, rng, ledger):
    """Entropies of random rows are exact, in any order of the weights and with any number of leading axes."""
    for shape in ((7,), (3, 16), (2, 3, 5)):
        weights = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        weights[..., 0] = 0.0
        weights = weights / weights.sum(axis=-1, keepdims=True)
        expected = np.zeros(shape[:-1])
        for row in np.ndindex(shape[:-1]):
            expected[row] = -sum(w * math.log(w) for w in weights[row] if w > 0)
        name = f"entropy(weights of shape {shape})"
        for order in (np.arange(shape[-1]), rng.permutation(shape[-1])):
            found = student.entropy(weights[..., order])
            found = scalar(found, name=name) if len(shape) == 1 else array(found, shape=shape[:-1], name=name)
            close(found, expected, atol=rounding(math.log(16), 64), name=name)
    keys = ledger.value("D1-9", "keys")
    name = "entropy of 16 equal weights"
    close(scalar(student.entropy(np.full(keys, 1 / keys)), name=name), math.log(keys), atol=rounding(3, 64), name=name)


@graded("entropy", points=1, hint="Two kinds of rows must be refused; a sum that is off by rounding is neither.")
def test_entropy_refuses_what_is_no_row_of_weights(student):
    """Negative entries and wrong sums raise ValueError, in every row; rounding does not."""
    good = np.full((2, 3), 1 / 3)
    for row, why in (
        ([0.6, 0.6, -0.2], "an entry is negative"),
        ([0.3, 0.3, 0.3], "a row sums to 0.9"),
        ([0.5, 0.5, 0.5], "a row sums to 1.5"),
        ([0.5, 0.25, 0.25001], "a row sums to 1.00001"),
        ([0.5, 0.25, 0.249997], "a row sums to 0.999997"),
    ):
        wrong = good.copy()
        wrong[1] = row
        refuses(student.entropy, wrong, name="entropy", why=why)
    # Row sums that are off one by half of what is allowed.
    for off in (5e-7, -5e-7):
        name = "entropy of weights that sum to one almost"
        found = scalar(student.entropy(np.array([0.5, 0.5 + off])), name=name)
        close(found, math.log(2), atol=1e-6, name=name)


# ------------------------------------------------------------------------------------------------------ concentration


def plain_concentration(scores):
    """The three numbers, by their definitions."""
    weights = plain_softmax(scores)
    mean = sum(scores.ravel().tolist()) / scores.size
    variance = sum((score - mean) ** 2 for score in scores.ravel().tolist()) / scores.size
    entropies = [-sum(w * math.log(w) for w in row if w > 0) for row in weights]
    return math.sqrt(variance), sum(entropies) / len(entropies), sum(max(row) for row in weights) / len(weights)


def three(value, name):
    return np.array([scalar(number, name=f"{name}[{at}]") for at, number in enumerate(parts(value, 3, name=name))])


@graded("concentration", points=1, hint="Divide by the number of scores, not by one less; average over rows at the end.")
def test_concentration_of_small_tables(student, rng):
    """The three numbers are right for small tables, a single row and a single column included."""
    cases = [(rng.normal(scale=2.0, size=shape),) for shape in ((2, 3), (1, 5), (4, 1), (6, 4), (3, 3))]
    for (scores,), found in zip(cases, student.concentration.each(cases), strict=True):
        name = f"concentration(scores of shape {scores.shape})"
        close(three(found, name), plain_concentration(scores), atol=rounding(20, 64), name=name)


@graded("concentration", points=1, hint="Each row's weights ignore what is added to all its scores. The spread does not.")
def test_shifted_rows(student, rng):
    """Adding a number to each row changes the spread alone, even if it is large."""
    scores = rng.normal(size=(4, 6))
    shifts = np.array([[0.0], [1000.0], [-1000.0], [500.0]])
    plain, moved = (three(student.concentration(table), "concentration(...)") for table in (scores, scores + shifts))
    expected = plain_concentration(scores + shifts)
    close(plain, plain_concentration(scores), atol=rounding(10, 64), name="concentration(scores)")
    # The shift rounds the scores to 1000 eps.
    close(moved, expected, atol=rounding(1000, 64), name="concentration of shifted rows")


# ------------------------------------------------------------------------------------------------------- sqrt_d_table

COLUMNS = ("unscaled_sd", "unscaled_entropy", "unscaled_max_weight", "scaled_sd", "scaled_entropy", "scaled_max_weight")


def as_printed(student, ledger, half):
    """Compare one half of the thirty figures with the printed ones, to half a unit of the last place.

    The figure nearest to the end of its interval is 1.4e-6 away from it; rounding is a billion times smaller.
    """
    dimensions = ledger.value("D1-10", "dimensions")
    name = f"sqrt_d_table({dimensions})"
    table = array(student.sqrt_d_table(dimensions), shape=(len(dimensions), 6), name=name)
    for at, column in enumerate(COLUMNS):
        if column.startswith(half):
            expected, half_unit = ledger.value("D1-10", column), ledger.tolerance("D1-10", column)
            close(table[:, at], expected, atol=half_unit, name=f"{column} of {name}")


@graded("sqrt_d_table", points=1, hint="Work in float64, draw exactly what the recipe says, and score the first 16 keys.")
def test_fifteen_unscaled_figures(student, ledger):
    """All fifteen unscaled figures are the printed ones."""
    as_printed(student, ledger, "unscaled")


@graded("sqrt_d_table", points=1, hint="The scaled figures come from the same scores as the unscaled ones.")
def test_fifteen_scaled_figures(student, ledger):
    """All fifteen scaled figures are the printed ones."""
    as_printed(student, ledger, "scaled")


def plain_table(dimensions, seed):
    """The recipe, with one long draw for each dimension."""
    rng = np.random.default_rng(seed)
    rows = []
    for d in dimensions:
        drawn = rng.standard_normal(4000 * d)
        scores = drawn[: 2000 * d].reshape(2000, d) @ drawn[2000 * d : 2016 * d].reshape(16, d).T
        numbers = []
        for table in (scores, scores / math.sqrt(d)):
            weights = np.exp(table - table.max(axis=1)[:, np.newaxis])
            weights = weights / weights.sum(axis=1)[:, np.newaxis]
            logarithms = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
            numbers += [table.std(), -(weights * logarithms).sum(axis=1).mean(), weights.max(axis=1).mean()]
        rows.append(numbers)
    return np.array(rows)


@graded("sqrt_d_table", points=1, hint="float32 would give the printed places and be off in the eighth. Is the seed used?")
def test_table_of_another_seed(student, rng):
    """Another seed gives another table, exact in double precision."""
    seed = int(rng.integers(1, 2**31))
    name = f"sqrt_d_table([4, 16], {seed})"
    # Rounding stays below 1e-12; float32 and a spread with 1 / (n - 1) are off by more than 1e-8.
    close(
        array(student.sqrt_d_table([4, 16], seed), shape=(2, 6), name=name), plain_table([4, 16], seed), atol=1e-9, name=name
    )


@graded("sqrt_d_table", points=1, hint="Rows follow `dimensions` in the order given; nothing is sorted, and any d will do.")
def test_table_of_other_dimensions(student, rng):
    """Other dimensions, in falling order and twice the same, follow the recipe too."""
    dimensions, seed = [32, 3, 3, int(rng.integers(5, 12))], int(rng.integers(1, 2**31))
    name = f"sqrt_d_table({dimensions}, {seed})"
    found = array(student.sqrt_d_table(dimensions, seed), shape=(4, 6), name=name)
    close(found, plain_table(dimensions, seed), atol=1e-9, name=name)


# --------------------------------------------------------------------------------------------------------- own_scores


@graded("own_scores", points=1, hint="Standard normal numbers, a key for each pair, no division: the spread is sqrt(d).")
def test_spread_of_own_scores(student, rng, ledger):
    """For four widths, the spread is the root of d, and every query has keys of its own."""
    dimensions, half_widths = ledger.value("D1-10", "dimensions"), ledger.value("D1-10", "half_width_sd_relative")
    power, variance = ledger.value("D1-11", "standard_deviation_power_of_d"), ledger.value("D2-3", "variance_per_dimension")
    # Four seeds each, and one where a call takes ten times as long.
    for d, half_width, seeds in zip(dimensions, half_widths, (4, 4, 4, 1), strict=False):
        for seed in rng.integers(2**31, size=seeds).tolist():
            name = f"own_scores({d}, 2000, 16, {seed})"
            # Once, because a call takes long; that a seed repeats its scores is tested on small tables.
            found = array(student.once.own_scores(d, 2000, 16, seed), shape=(2000, 16), name=name)
            # 1.75 times the 99.9 % half-width is 5.5 to 6 standard errors: 5e-8 of right answers are outside, or fewer.
            expected = math.sqrt(variance) * d**power
            close(found.std(), expected, atol=1.75 * half_width * expected, name=f"spread of {name}")
            rank = np.linalg.matrix_rank(found[:100], tol=1e-6 * expected)
            require(rank == 16, f"the first 100 rows of {name} must have rank 16, but have rank {rank}")


# ----------------------------------------------------------------------------------------------------------- jacobian


def plain_jacobian(row):
    return np.array([[a * ((j == k) - b) for k, b in enumerate(row)] for j, a in enumerate(row)])


@graded("jacobian", points=1, hint="One matrix for each row of weights. Its rows and columns sum to zero.")
def test_jacobians_of_many_rows(student, rng):
    """Every leading axis gets its own Jacobian, symmetric and with rows that sum to zero."""
    for shape in ((3,), (4, 5), (2, 3, 4), (5, 1)):
        weights = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        name = f"softmax_jacobian(weights of shape {shape})"
        found = array(student.softmax_jacobian(weights), shape=(*shape, shape[-1]), name=name)
        expected = np.array([plain_jacobian(row) for row in weights.reshape(-1, shape[-1])]).reshape(found.shape)
        close(found, expected, atol=ROUNDED, name=name)


@graded("jacobian", points=1, hint="Close to one-hot the sums cancel; what is left under the root may be slightly negative.")
def test_norms_down_to_one_hot(student, rng):
    """Norms are right for random rows and for rows that are almost one-hot."""
    rows = [rng.dirichlet(np.ones(5)) for _ in range(6)]
    # A row of 1 - 10^-p and 10^-p has the norm 2 * 10^-p (1 - 10^-p).
    rows += [np.array([1 - 10.0**-p, 10.0**-p, 0.0, 0.0, 0.0]) for p in np.arange(1.0, 16.0, 0.25)]
    weights = np.array(rows)
    expected = [np.sqrt((plain_jacobian(row) ** 2).sum()) for row in rows]
    found = array(student.jacobian_norm(weights), shape=(len(rows),), name="jacobian_norm(weights)")
    close(found, expected, atol=1e-7, name="jacobian_norm(weights)")
    found = array(student.jacobian_norm(weights[:6].reshape(2, 3, 5)), shape=(2, 3), name="jacobian_norm of a batch")
    close(found, np.reshape(expected[:6], (2, 3)), atol=1e-7, name="jacobian_norm of a batch")


@graded("jacobian", points=1, hint="The docstring gives the squared norm from three sums: nothing of size n x n is needed.")
def test_norm_of_a_long_row(student, rng):
    """Twenty thousand weights get their norm without a table of 3.2 GB."""
    n = 20_000
    # Even weights have the norm sqrt(1/n - 1/n^2); a share p on one key adds to it.
    share = float(rng.uniform(0.2, 0.8))
    weights = np.full(n, (1 - share) / (n - 1))
    weights[int(rng.integers(n))] = share
    squares = share**2 + (1 - share) ** 2 / (n - 1)
    cubes = share**3 + (1 - share) ** 3 / (n - 1) ** 2
    expected = math.sqrt(squares - 2 * cubes + squares**2)
    name = "jacobian_norm(20000 weights)"
    close(scalar(student.once.jacobian_norm(weights), name=name), expected, atol=1e-7, name=name)


# ------------------------------------------------------------------------------------------------------------ reading


@graded("reading", points=1, hint="Small slopes in one place: how far does that reach?")
def test_saturated(student):
    """What almost one-hot attention means at the start."""
    require(text(student.value("saturated"), name="saturated").strip().lower() == "b", "saturated should be 'b'")


@graded("reading", points=1, hint="Look at the mean norms for d = 4 once more, and at the weights behind them.")
def test_smallest_width(student):
    """Which attention has the larger Jacobian at d = 4."""
    require(
        text(student.value("smallest_width"), name="smallest_width").strip().lower() == "d", "smallest_width should be 'd'"
    )


@graded("reading", points=1, hint="Which rows of sixteen weights have this entropy? Find two different ones.")
def test_even(student):
    """What an entropy of ln 4 tells."""
    require(text(student.value("even"), name="even").strip().lower() == "b", "even should be 'b'")


@graded("reading", points=1, hint="What does Adam divide, and by what? Is a row of attention a parameter?")
def test_adam(student):
    """Whether Adam makes saturation harmless."""
    require(text(student.value("adam"), name="adam").strip().lower() == "c", "adam should be 'c'")


# ------------------------------------------------------------------------------------------------- attention_backward


def plain_backward(queries, keys, values, output_gradient, mask):
    """All three slopes of one sequence, with the Jacobian of every row written out."""
    root = math.sqrt(queries.shape[1])
    weights = plain_softmax(queries @ keys.T / root, mask)
    by_query, by_key, by_value = np.zeros_like(queries), np.zeros_like(keys), np.zeros_like(values)
    for i, row in enumerate(weights):
        by_score = plain_jacobian(row) @ (values @ output_gradient[i]) / root
        for j, slope in enumerate(by_score):
            by_query[i] += slope * keys[j]
            by_key[j] += slope * queries[i]
            by_value[j] += row[j] * output_gradient[i]
    return by_query, by_key, by_value


NAMES = ("queries_gradient", "keys_gradient", "values_gradient")


def drawn(rng, m, n, d, v, leading=()):
    return [rng.normal(size=(*leading, *shape)) for shape in ((m, d), (n, d), (n, v), (m, v))]


def backward(student, case, mask=None):
    """The three slopes, each of the shape of its argument."""
    arguments = (*case, mask) if mask is not None else case
    found = parts(student.attention_backward(*arguments), 3, name="attention_backward(...)")
    return [array(value, shape=given.shape, name=name) for value, given, name in zip(found, case, NAMES, strict=False)]


def slack(case):
    """Room for rounding in slopes: products of a query or key, a value and a slope, summed over queries and keys."""
    sizes = [float(np.abs(value).max(initial=0.0)) for value in case]
    terms = sum(value.shape[-2] for value in case)
    return rounding(max(sizes[:2]) * sizes[2] * sizes[3] * terms + 1, 64)


@graded("attention_backward", points=1, hint="Compare with diag(a) - a a^T written out; m, n, d and v may all differ.")
def test_backward_of_other_sizes(student, rng):
    """All three slopes are right for many sizes, with leading axes too."""
    for m, n, d, v in ((3, 5, 2, 4), (4, 4, 4, 4), (1, 3, 2, 1), (5, 1, 3, 2)):
        case = drawn(rng, m, n, d, v)
        expected = plain_backward(*case, None)
        for value, wanted, name in zip(backward(student, case), expected, NAMES, strict=True):
            close(value, wanted, atol=slack(case), name=f"{name} for m, n, d, v = {m}, {n}, {d}, {v}")
    case = drawn(rng, 3, 4, 2, 5, (2, 3))
    expected = [plain_backward(*(value[at] for value in case), None) for at in np.ndindex(2, 3)]
    for place, (value, name) in enumerate(zip(backward(student, case), NAMES, strict=True)):
        wanted = np.reshape([slopes[place] for slopes in expected], value.shape)
        close(value, wanted, atol=slack(case), name=f"{name} with leading axes (2, 3)")


@graded(
    "attention_backward", points=1, hint="A forbidden pair contributes nothing; a query that may read nothing gets zeros."
)
def test_backward_under_masks(student, rng, ledger):
    """Masks are obeyed, for one sequence and for a batch; a row that may read nothing has zero slopes, without NaN."""
    mask = rng.random((5, 6)) < 0.5
    mask[0], mask[1, 2], mask[2] = True, True, False
    case = drawn(rng, 5, 6, 3, 2)
    found, expected = backward(student, case, mask), plain_backward(*case, mask)
    for value, wanted, name in zip(found, expected, NAMES, strict=True):
        close(value, wanted, atol=slack(case), name=f"{name}, masked")
    # A row with no legal item has no weights at all, so nothing depends on its query.
    empty = mask.sum(axis=1) == 0
    same(found[0][empty], np.full((int(empty.sum()), 3), float(ledger.value("D3-7", "weight"))), name="slopes of empty rows")
    case = drawn(rng, 5, 6, 3, 2, (2,))
    masks = np.stack([mask, np.tri(5, 6, dtype=bool)])
    for each, name in ((mask, "one mask for a batch"), (masks, "a mask for each sequence")):
        pairs = zip(*case, np.broadcast_to(each, (2, 5, 6)), strict=True)
        expected = [plain_backward(*arguments) for arguments in pairs]
        for place, value in enumerate(backward(student, case, each)):
            close(value, np.array([slopes[place] for slopes in expected]), atol=slack(case), name=f"{NAMES[place]}, {name}")


@graded("attention_backward", points=1, hint="Shift the scores by the largest *legal* one before the exponential.")
def test_backward_of_large_scores(student, rng):
    """Scores as large as 1e4 neither overflow nor lose the slopes."""
    case = drawn(rng, 4, 5, 4, 3)
    # Scores between two keys that tie at 1e4, and others far below: weights 1/2, 1/2, 0, ...
    case[0][:] = [2.0, 0.0, 0.0, 0.0]
    case[1][:] = 0.0
    case[1][:, 0] = [1e4, 1e4, -1e4, 0.0, 9e3]
    expected = plain_backward(*case, None)
    for value, wanted, name in zip(backward(student, case), expected, NAMES, strict=True):
        close(value, wanted, atol=slack(case), name=f"{name} at scores of 1e4")
    # The largest score is forbidden, and the legal ones are moderate.
    moderate = np.zeros((5, 4))
    moderate[:, 0] = [1e4, 0.5, -0.5, 0.0, 1.0]
    case = [case[0], moderate, *case[2:]]
    mask = np.array([False, True, True, True, True]) & np.ones((4, 1), dtype=bool)
    expected = plain_backward(*case, mask)
    for value, wanted, name in zip(backward(student, case, mask), expected, NAMES, strict=True):
        close(value, wanted, atol=slack(case), name=f"{name} with a forbidden score of 1e4")


@graded(
    "attention_backward",
    points=1,
    hint="Scaling queries up and keys down changes no score: what does that say of the slopes?",
)
def test_identities_of_the_slopes(student, rng):
    """Three identities hold: one for queries and keys, one for the sums of the values' slopes, one for equal values."""
    case = drawn(rng, 6, 5, 3, 4)
    by_query, by_key, by_value = backward(student, case)
    require(np.abs(by_query).max() > 1e-6, "the slopes of random queries are not zero")
    # q -> c q with k -> k / c leaves the output alone, so both slopes agree along these directions.
    close(
        np.sum(case[0] * by_query), np.sum(case[1] * by_key), atol=20 * slack(case), name="sum of q dq against sum of k dk"
    )
    close(
        by_value.sum(axis=0), case[3].sum(axis=0), atol=slack(case), name="sums of values_gradient against output_gradient"
    )
    case = [*case[:2], np.tile(case[2][0], (5, 1)), case[3]]
    by_query, by_key, _ = backward(student, case)
    close(by_query, np.zeros_like(by_query), atol=slack(case), name="queries_gradient for equal values")
    close(by_key, np.zeros_like(by_key), atol=slack(case), name="keys_gradient for equal values")


# -------------------------------------------------------------------------------------------------------------- heads


def plain_heads(x, w_q, w_k, w_v, w_o, heads, mask=None):
    """Multi-head attention of one sequence, as a sum over heads."""
    k, v = w_q.shape[1] // heads, w_v.shape[1] // heads
    output, tables = np.zeros((len(x), w_o.shape[1])), []
    for head in range(heads):
        match, carry = slice(head * k, (head + 1) * k), slice(head * v, (head + 1) * v)
        tables.append(plain_softmax((x @ w_q[:, match]) @ (x @ w_k[:, match]).T / math.sqrt(k), mask))
        output += tables[-1] @ (x @ w_v[:, carry]) @ w_o[carry]
    return output, np.array(tables)


def matrices(rng, width, k, v, out, heads):
    return [
        rng.normal(size=shape) / 2
        for shape in ((width, heads * k), (width, heads * k), (width, heads * v), (heads * v, out))
    ]


def multi(student, x, weights, heads, mask=None):
    arguments = (x, *weights, heads) if mask is None else (x, *weights, heads, mask)
    output, tables = parts(student.multi_head_attention(*arguments), 2, name="multi_head_attention(...)")
    out = weights[3].shape[1]
    output = array(output, shape=(*x.shape[:-1], out), name="output")
    return output, array(tables, shape=(*x.shape[:-2], heads, x.shape[-2], x.shape[-2]), name="weights")


@graded("heads", points=1, hint="Head by head: own columns of w_q, w_k, w_v, own rows of w_o, root of the head's width.")
def test_heads_of_other_sizes(student, rng):
    """Outputs and weights are right for many sizes, values of another width and batches included."""
    for length, width, k, v, out, heads in ((4, 6, 2, 3, 5, 3), (5, 4, 2, 2, 4, 2), (3, 3, 1, 4, 2, 4), (1, 2, 3, 1, 2, 1)):
        x, weights = rng.normal(size=(2, length, width)), matrices(rng, width, k, v, out, heads)
        expected = [plain_heads(tokens, *weights, heads) for tokens in x]
        for given, wanted in ((x[0], expected[0]), (x, [np.array(both) for both in zip(*expected, strict=True)])):
            output, tables = multi(student, given, weights, heads)
            close(tables, wanted[1], atol=rounding(50, 64), name=f"weights of {heads} heads")
            close(output, wanted[0], atol=rounding(500, 64), name=f"output of {heads} heads")


@graded("heads", points=1, hint="Heads do not see each other, and w_o adds up what they found.")
def test_heads_are_independent(student, rng):
    """Reordering the heads changes no output, and changing one head leaves the weights of the others alone."""
    x, weights = rng.normal(size=(5, 6)), matrices(rng, 6, 2, 3, 4, 3)
    output, tables = multi(student, x, weights, 3)
    close(output, plain_heads(x, *weights, 3)[0], atol=rounding(500, 64), name="output of 3 heads")
    turned = [np.roll(matrix, 2 * (matrix.shape[1] // 3), axis=1) for matrix in weights[:3]]
    turned.append(np.roll(weights[3], 6, axis=0))
    moved_output, moved_tables = multi(student, x, turned, 3)
    close(moved_output, output, atol=rounding(500, 64), name="output with the heads in another order")
    close(moved_tables, tables[[1, 2, 0]], atol=rounding(50, 64), name="weights with the heads in another order")
    changed = [matrix.copy() for matrix in weights]
    changed[0][:, :2] += rng.normal(size=(6, 2))
    _, changed_tables = multi(student, x, changed, 3)
    close(changed_tables[1:], tables[1:], atol=rounding(50, 64), name="weights of heads 1 and 2 after a change of head 0")
    require(np.abs(changed_tables[0] - tables[0]).max() > 1e-6, "a change of head 0 must change its weights")


@graded("heads", points=1, hint="The number of columns must be a multiple of heads; a row that may read nothing gets zeros.")
def test_heads_at_the_edges(student, rng, ledger):
    """Columns that cannot be shared evenly raise ValueError, and an empty row has zero weights and a zero output."""
    x = rng.normal(size=(4, 6))
    refuses(student.split_heads, x, 4, name="split_heads(x of 6 columns, 4)", why="4 does not divide 6")
    batch = rng.normal(size=(2, 3, 4, 6))
    split = array(student.split_heads(batch, 2), shape=(2, 3, 2, 4, 3), name="split_heads of a batch of batches")
    same(split, np.stack([batch[..., :3], batch[..., 3:]], axis=2), name="split_heads of a batch of batches")
    same(array(student.merge_heads(split), shape=batch.shape, name="merge_heads(...)"), batch, name="merge_heads(...)")
    mask = np.tri(4, k=-1, dtype=bool)
    weights = matrices(rng, 6, 3, 3, 5, 2)
    output, tables = multi(student, x, weights, 2, mask)
    expected = plain_heads(x, *weights, 2, mask)
    close(tables, expected[1], atol=rounding(50, 64), name="weights of a mask with an empty row")
    close(output, expected[0], atol=rounding(500, 64), name="output of a mask with an empty row")
    zeros = np.full((2, 4), float(ledger.value("D3-7", "weight")))
    same(tables[:, 0], zeros, name="weights of the row that may read nothing")


# --------------------------------------------------------------------------------------------------------- head_costs


@graded("head_costs", points=1, hint="Exact integers of any size; refuse a number of heads that does not divide the width.")
def test_costs_of_large_layers(student, ledger):
    """Counts are exact for large layers, and an uneven split raises ValueError."""
    for length, width, heads in ((1, 1, 1), (7, 12, 3), (4096, 768, 12), (10**9, 3 * 10**5, 6)):
        name = f"head_costs({length}, {width}, {heads})"
        operations, tables = parts(student.head_costs(length, width, heads), 2, name=name)
        coefficients = ledger.value("D1-17", "projection_coefficient"), ledger.value("D1-17", "pair_coefficient")
        expected = coefficients[0] * length * width**2 + coefficients[1] * length**2 * width
        same(integer(operations, name=f"{name}[0]"), expected, name=f"{name}[0]")
        same(integer(tables, name=f"{name}[1]"), heads, name=f"{name}[1]")
    refuses(student.head_costs, 10, 8, 3, name="head_costs(10, 8, 3)", why="3 does not divide 8")


# ------------------------------------------------------------------------------------------------------ two_relations


@graded("two_relations", points=1, hint="V points span V - 1 directions; the targets vary evenly in 2 (V - 1).")
def test_floor_by_singular_values(student):
    """The floor is what remains of all targets outside the best flat of V - 1 directions."""
    for symbols in (3, 2, 5, 11, 20):
        targets = np.array([np.concatenate(pair) for pair in ((a, b) for a in np.eye(symbols) for b in np.eye(symbols))])
        spectrum = np.linalg.svd(targets - targets.mean(axis=0), compute_uv=False)
        expected = np.sum(spectrum[symbols - 1 :] ** 2) / len(targets)
        name = f"one_head_floor({symbols})"
        close(scalar(student.one_head_floor(symbols), name=name), expected, atol=1e-9, name=name)


def layer(student, symbols, length, first, second, *sharpness):
    """The hand-written weights, checked for shape, with place rows of w_v zero."""
    name = f"two_head_weights{(symbols, length, first, second, *sharpness)}"
    found = parts(student.two_head_weights(symbols, length, first, second, *sharpness), 4, name=name)
    rows = (symbols + length,) * 3
    found = [
        array(matrix, shape=(size, None), name=f"{name}[{at}]")
        for at, (matrix, size) in enumerate(zip(found, rows, strict=False))
    ] + [array(found[3], shape=(None, 2 * symbols), name=f"{name}[3]")]
    paired = all(matrix.shape[1] > 0 and matrix.shape[1] % 2 == 0 for matrix in (found[0], found[2]))
    good = paired and found[0].shape == found[1].shape and found[2].shape[1] == found[3].shape[0]
    require(good, f"the shapes of {name} do not fit together: {[matrix.shape for matrix in found]}")
    same(found[2][symbols:], np.zeros_like(found[2][symbols:]), name=f"place rows of w_v of {name}")
    return found


@graded("two_relations", points=1, hint="Count places in a circle in both directions; head 0 serves the first offset.")
def test_two_heads_serve_every_pair_of_offsets(student, rng):
    """Whatever the two offsets, every position gets both symbols it wants."""
    symbols, length = 4, 5
    drawn_symbols = rng.integers(symbols, size=length)
    letters = np.eye(symbols)[drawn_symbols]
    tokens = np.hstack([letters, np.eye(length)])
    for first in (-6, -2, -1, 0, 3, 4):
        for second in (-3, 0, 1, 2, 7):
            output, _ = plain_heads(tokens, *layer(student, symbols, length, first, second), 2)
            wanted = np.hstack([np.roll(letters, -first, axis=0), np.roll(letters, -second, axis=0)])
            close(output, wanted, atol=1e-6, name=f"output for offsets {first} and {second}")


@graded(
    "two_relations", points=1, hint="`sharpness` is the score of the wanted place after the division; all others score 0."
)
def test_sharpness_is_obeyed(student, rng):
    """The weight of the wanted place follows from the sharpness, for any number of symbols and places."""
    for symbols, length, sharpness in ((2, 3, 1.0), (5, 7, float(rng.uniform(2, 5))), (3, 1, 4.0)):
        tokens = np.hstack([np.eye(symbols)[rng.integers(symbols, size=length)], np.eye(length)])
        _, tables = plain_heads(tokens, *layer(student, symbols, length, 1, -1, sharpness), 2)
        growth = math.exp(sharpness)
        for offset, table, name in zip((1, -1), tables, ("head 0", "head 1"), strict=True):
            wanted = np.roll(np.eye(length), offset, axis=1)
            expected = (1 + wanted * (growth - 1)) / (growth + length - 1)
            close(table, expected, atol=ROUNDED, name=f"weights of {name} at sharpness {sharpness}")


# -------------------------------------------------------------------------------------------------------------- block


def plain_norm(x, gain, shift, eps=1e-5):
    rows = []
    for token in x:
        mean = sum(token) / len(token)
        variance = sum((number - mean) ** 2 for number in token) / len(token)
        rows.append([(number - mean) / math.sqrt(variance + eps) for number in token])
    return np.array(rows) * gain + shift


def plain_gelu(x):
    bent = [number / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (number + 0.044715 * number**3))) for number in x.ravel()]
    return np.reshape(bent, x.shape)


def plain_block(x, block, heads, mask, norm):
    def attend(tokens):
        return plain_heads(tokens, *(block[name] for name in ("w_q", "w_k", "w_v", "w_o")), heads, mask)[0]

    def feed(tokens):
        return plain_gelu(tokens @ block["w_1"] + block["b_1"]) @ block["w_2"] + block["b_2"]

    first, second = (lambda tokens, at=at: plain_norm(tokens, block[f"gain_{at}"], block[f"shift_{at}"]) for at in (1, 2))
    if norm == "pre":
        middle = x + attend(first(x))
        return middle + feed(second(middle))
    middle = first(x + attend(x))
    return second(middle + feed(middle))


def drawn_block(rng, width, hidden):
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), (width, width))
    shapes |= {"w_1": (width, hidden), "b_1": (hidden,), "w_2": (hidden, width), "b_2": (width,)}
    shapes |= dict.fromkeys(("gain_1", "shift_1", "gain_2", "shift_2"), (width,))
    return {name: rng.normal(size=shape) / math.sqrt(shape[0]) for name, shape in shapes.items()}


@graded("block", points=1, hint="Divide by the number of entries, add eps under the root, and treat every token alone.")
def test_norm_and_gelu_of_random_tokens(student, rng):
    """Layer norm and GELU are exact for random tokens, batches and small variances."""
    x = rng.normal(size=(3, 4, 5)) * np.array([1e-3, 1.0, 10.0])[:, np.newaxis, np.newaxis] + rng.normal(size=(3, 4, 1))
    gain, shift = rng.normal(size=(2, 5))
    for eps in (1e-5, 0.5):
        expected = np.array([plain_norm(tokens, gain, shift, eps) for tokens in x])
        name = f"layer_norm(x, gain, shift, {eps})"
        close(array(student.layer_norm(x, gain, shift, eps), shape=x.shape, name=name), expected, atol=1e-11, name=name)
    name = "layer_norm(x, gain, shift)"
    found = array(student.layer_norm(x[0], gain, shift), shape=(4, 5), name=name)
    close(found, plain_norm(x[0], gain, shift), atol=1e-11, name=name)
    for numbers in (3 * rng.normal(size=(2, 3, 4)), np.array([-50.0, 50.0])):
        found = array(student.gelu(numbers), shape=numbers.shape, name="gelu(x)")
        close(found, plain_gelu(numbers), atol=rounding(50, 64), name="gelu(x)")


@graded(
    "block",
    points=1,
    hint="norm='pre': x + A(N1(x)), then y + F(N2(y)), with the numbers of the first norm before attention.",
)
def test_pre_norm_block(student, rng):
    """A pre-norm block is right for other sizes, with and without a mask."""
    compare_blocks(student, rng, "pre")


@graded("block", points=1, hint="norm='post': N1(x + A(x)), then N2(y + F(y)). Attention sees x as it is.")
def test_post_norm_block(student, rng):
    """A post-norm block is right for other sizes, with and without a mask."""
    compare_blocks(student, rng, "post")


def compare_blocks(student, rng, norm):
    for length, width, hidden, heads, causal in ((4, 6, 5, 2, False), (3, 4, 9, 4, True), (1, 2, 1, 1, False)):
        x, block = rng.normal(size=(2, length, width)), drawn_block(rng, width, hidden)
        mask = np.tri(length, dtype=bool) if causal else None
        name = f"transformer_block(..., heads={heads}, norm={norm!r})"
        expected = np.array([plain_block(tokens, block, heads, mask, norm) for tokens in x])
        scale = 1 + np.abs(expected).max()
        for given, wanted in ((x[0], expected[0]), (x, expected)):
            found = array(student.transformer_block(given, block, heads, mask, norm), shape=given.shape, name=name)
            # A norm of a token with a small variance enlarges rounding; width 2 has such tokens.
            close(found, wanted, atol=1e-9 * scale, name=name)


@graded("block", points=1, hint="The default is pre-norm; anything but the two words is refused.")
def test_block_properties(student, rng):
    """Without a mask a block is equivariant; pre-norm is the default; an unknown norm raises ValueError."""
    x, block, order = rng.normal(size=(5, 6)), drawn_block(rng, 6, 8), rng.permutation(5)
    expected = plain_block(x, block, 3, None, "pre")
    scale = 1 + np.abs(expected).max()
    found = array(student.transformer_block(x, block, 3), shape=(5, 6), name="transformer_block(x, block, 3)")
    close(found, expected, atol=1e-9 * scale, name="transformer_block(x, block, 3)")
    moved = array(student.transformer_block(x[order], block, 3), shape=(5, 6), name="block of reordered tokens")
    close(moved, expected[order], atol=1e-9 * scale, name="block of reordered tokens")
    for norm in ("Pre", "none", ""):
        refuses(
            student.transformer_block, x, block, 3, None, norm, name=f"norm={norm!r}", why="it is neither 'pre' nor 'post'"
        )


# -------------------------------------------------------------------------------------------------------------- depth


@graded(
    "depth", points=1, hint="Root of the sum of squares on both sides of the ratio; root of the mean square for the size."
)
def test_profile_of_random_layers(student, rng):
    """Spread and size are right along a stack of random layers that change both."""
    x, maps = rng.normal(size=(6, 4)), rng.normal(size=(5, 4, 4)) / 2

    def along(matrix):
        return lambda tokens: 0.5 * tokens + tokens.mean(axis=0) @ matrix

    layers, states = [along(matrix) for matrix in maps], [x]
    for step in layers:
        states.append(step(states[-1]))
    found = parts(student.once.depth_profile(layers, x), 2, name="depth_profile(...)")
    spread, size = (array(value, shape=(6,), name=name) for value, name in zip(found, ("spread", "size"), strict=True))
    for at, state in enumerate(states):
        total = math.sqrt(sum(number**2 for number in state.ravel()))
        apart = math.sqrt(sum(number**2 for number in (state - state.mean(axis=0)).ravel()))
        close(spread[at], apart / total, atol=1e-9, name=f"spread after {at} layers")
        close(size[at], total / math.sqrt(24), atol=1e-9 * total, name=f"size after {at} layers")


@graded("depth", points=1, hint="No layers leave one entry; an array of zeros has spread 0, not NaN.")
def test_profile_at_the_edges(student, rng):
    """No layer, a layer that returns zeros, and tokens that are all equal."""
    x = rng.normal(size=(3, 5))
    found = parts(student.depth_profile([], x), 2, name="depth_profile([], x)")
    spread, size = (array(value, shape=(1,), name=name) for value, name in zip(found, ("spread", "size"), strict=True))
    close(size[0], math.sqrt((x**2).mean()), atol=rounding(5, 64), name="size of depth_profile([], x)")
    close(
        spread[0],
        np.linalg.norm(x - x.mean(axis=0)) / np.linalg.norm(x),
        atol=ROUNDED,
        name="spread of depth_profile([], x)",
    )
    layers = [lambda tokens: tokens[:1] + 0 * tokens, lambda tokens: 0 * tokens]
    found = parts(student.depth_profile(layers, x), 2, name="depth_profile(...)")
    spread, size = (array(value, shape=(3,), name=name) for value, name in zip(found, ("spread", "size"), strict=True))
    close(spread[1:], np.zeros(2), atol=ROUNDED, name="spread of equal tokens and of zeros")
    same(size[2], 0.0, name="size of zeros")


# ------------------------------------------------------------------------------------------------------------- rotate


@graded("rotate", points=1, hint="Pair k turns by t * base^(-2k / d): pairs of neighbouring columns, counted from 0.")
def test_rotation_as_complex_numbers(student, rng):
    """Every pair is turned by its own angle, for other widths, bases, positions and leading axes."""
    for shape, base in (((4, 6), 10000.0), ((2, 3, 5, 4), 100.0), ((3, 2), 7.0)):
        x, positions = rng.normal(size=shape), 20 * rng.normal(size=shape[-2])
        d = shape[-1]
        rates = np.array([base ** (-2 * k / d) for k in range(d // 2)])
        turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * positions[:, np.newaxis] * rates)
        arguments = (x, positions) if base == 10000.0 else (x, positions, base)
        name = f"rotate(x of shape {shape}, positions, {base})"
        found = array(student.rotate(*arguments), shape=shape, name=name)
        # Angles up to about 100 carry their own rounding.
        atol = rounding(100 * np.abs(x).max(), 64)
        close(found[..., 0::2], turned.real, atol=atol, name=f"even columns of {name}")
        close(found[..., 1::2], turned.imag, atol=atol, name=f"odd columns of {name}")


@graded("rotate", points=1, hint="Norms stay, scores depend on the difference of positions, and an odd width is refused.")
def test_rotation_is_relative(student, rng):
    """A common shift of all positions changes no score, norms stay, and an odd width raises ValueError."""
    q, k, positions = rng.normal(size=(4, 8)), rng.normal(size=(4, 8)), np.arange(4.0)
    scale = float(np.linalg.norm(q, axis=1).max() * np.linalg.norm(k, axis=1).max())
    tables = []
    for shift in (0.0, 1.0, 1000.0):
        turned = [array(student.rotate(x, positions + shift), shape=(4, 8), name="rotate(...)") for x in (q, k)]
        close(
            np.linalg.norm(turned[0], axis=1), np.linalg.norm(q, axis=1), atol=rounding(10, 64), name="norms after rotation"
        )
        tables.append(turned[0] @ turned[1].T)
    # Rounding grows with the angle: about 1e-14 of the scale at 1000.
    for table in tables[1:]:
        close(table, tables[0], atol=1e-12 * scale, name="scores after a common shift")
    # Two tokens of ones at positions 0 and 3: 2 sum of cos(3 rate) over the pairs, where ones have a score of 8 unturned.
    turned = array(student.rotate(np.ones((4, 8)), positions), shape=(4, 8), name="rotate(ones)")
    expected = sum(2 * math.cos(3 * 10000.0 ** (-2 * pair / 8)) for pair in range(4))
    close(float(turned[0] @ turned[3]), expected, atol=rounding(10, 64), name="score of ones, three places apart")
    refuses(student.rotate, np.ones((2, 5)), np.arange(2.0), name="rotate of 5 columns", why="columns turn in pairs")
