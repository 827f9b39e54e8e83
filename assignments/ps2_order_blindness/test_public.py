"""The tests of problem set 2 that students run themselves."""

import itertools
import math
from fractions import Fraction

import numpy as np

from autograder.testing import array, boolean, close, fraction, graded, integer, parts, refuses, require, same, scalar

# Where a test is about something else than precision, an answer in float32 may pass: a hundred roundings of size 1e-7.
LOOSE = 1e-5

# A cycle of three. It is not its own inverse, so it tells a reordering from the way back.
CYCLE = np.array([1, 2, 0])


def doubled(x):
    """The simplest equivariant layer that does something: every token times two, without any rounding."""
    return 2.0 * x


def minus_average(x):
    """An equivariant layer: every token minus the average of all tokens."""
    return x - x.mean(axis=0)


def numbered(x):
    """A layer with positions: adds to every token the number of its place."""
    return x + np.arange(len(x))[:, None]


# ----------------------------------------------------------------------------------------------------- self_attention


def projections(rng, d, d_k, d_v, dtype=np.float64):
    """Random w_q, w_k and w_v that keep scores and values near one."""
    shapes = ((d, d_k), (d, d_k), (d, d_v))
    return [(rng.normal(size=shape) / np.sqrt(d)).astype(dtype) for shape in shapes]


def plain_attention(x, w_q, w_k, w_v, mask=None):
    """Self-attention by the definition, in loops; for scores too small to overflow."""
    output = np.zeros((len(x), w_v.shape[1]))
    for i, token in enumerate(x):
        legal = [j for j in range(len(x)) if mask is None or mask[i, j]]
        growth = [math.exp(float((token @ w_q) @ (x[j] @ w_k)) / math.sqrt(w_q.shape[1])) for j in legal]
        for j, part in zip(legal, growth, strict=True):
            output[i] += part / sum(growth) * (x[j] @ w_v)
    return output


@graded("self_attention", points=1, hint="Equal scores mean equal weights: each output is the plain average of the values.")
def test_a_query_that_asks_nothing_gets_the_average(student):
    """With zero queries every token gets the average of all values."""
    x = np.array([[1.0, 0.0, 2.0], [3.0, 4.0, 0.0]])
    w_k = np.ones((3, 2))
    w_v = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]])
    name = "self_attention(x, zeros, w_k, w_v)"
    output = array(student.self_attention(x, np.zeros((3, 2)), w_k, w_v), shape=(2, 4), name=name)
    # Values are [1, 0, 2, 3] and [3, 4, 0, 7].
    close(output, [[2.0, 2.0, 1.0, 5.0]] * 2, atol=LOOSE, name=name)


@graded("self_attention", points=1, hint="Divide scores by the root of the number of columns of w_q; softmax runs along j.")
def test_weights_follow_the_scores(student):
    """Two tokens whose weights can be worked out by hand, with and without a mask."""
    # Token 0 has query 2 ln 3 along every axis of four, token 1 asks nothing; keys are [1, 0, 0, 0] and zero.
    # So token 0 scores (2 ln 3)/sqrt(4) = ln 3 against 0, which gives weights 3/4 and 1/4.
    x = np.eye(2)
    w_q = np.array([[2 * np.log(3.0)] * 4, [0.0] * 4])
    w_k = np.array([[1.0, 0.0, 0.0, 0.0], [0.0] * 4])
    w_v = np.array([[8.0], [0.0]])
    name = "self_attention(x, w_q, w_k, w_v)"
    close(array(student.self_attention(x, w_q, w_k, w_v), shape=(2, 1), name=name), [[6.0], [4.0]], atol=LOOSE, name=name)
    mask = np.array([[True, True], [False, True]])
    name = "self_attention(x, w_q, w_k, w_v, mask=[[True, True], [False, True]])"
    masked = array(student.self_attention(x, w_q, w_k, w_v, mask=mask), shape=(2, 1), name=name)
    close(masked, [[6.0], [0.0]], atol=LOOSE, name=name)


@graded(
    "self_attention",
    points=1,
    hint="Check the shapes one by one: tokens, queries and values may differ in width. Forbidden scores drop out before the "
    "softmax.",
)
def test_attention_of_other_sizes(student, rng):
    """Widths may all differ, and a mask takes tokens out before the budget is split."""
    cases = []
    for n, d, d_k, d_v in ((4, 3, 5, 2), (3, 3, 3, 3), (1, 2, 6, 3)):
        x, weights = rng.normal(size=(n, d)), projections(rng, d, d_k, d_v)
        cases += [(x, *weights, mask) for mask in (None, np.tri(n, dtype=bool))]
    for (x, *weights, mask), output in zip(cases, student.self_attention.each(cases), strict=True):
        d_k, d_v = weights[0].shape[1], weights[2].shape[1]
        name = f"self_attention(x of shape {x.shape}, d_k = {d_k}, d_v = {d_v}, {'no' if mask is None else 'a causal'} mask)"
        output = array(output, shape=(len(x), d_v), name=name)
        close(output, plain_attention(x, *weights, mask=mask), atol=LOOSE * 10, name=name)


@graded(
    "self_attention", points=1, hint="exp overflows near 710: shift each row first. Mind the row that has nothing to read."
)
def test_attention_with_nothing_to_read_and_with_large_scores(student):
    """A token that may read nothing gets a row of zeros, and scores of a few thousand do no harm."""
    x, w_v = np.eye(2), np.array([[3.0], [5.0]])
    mask = np.array([[True, True], [False, False]])
    name = "self_attention(x, zeros, zeros, w_v, mask=[[True, True], [False, False]])"
    output = array(student.self_attention(x, np.zeros((2, 2)), np.zeros((2, 2)), w_v, mask=mask), shape=(2, 1), name=name)
    same(output[1], np.zeros(1), name=f"{name}[1]")
    close(output[0], [4.0], atol=LOOSE, name=f"{name}[0]")
    # Token 0 scores 2000 and 0, token 1 scores 0 and 2000.
    name = "self_attention(x, w_q, identity, w_v) with scores of 2000 and 0"
    w_q = 2000 * math.sqrt(2) * np.eye(2)
    output = array(student.self_attention(x, w_q, np.eye(2), w_v), shape=(2, 1), name=name)
    close(output, [[3.0], [5.0]], atol=LOOSE, name=name)


# --------------------------------------------------------------------------------------------------- equivariance_gap


@graded("equivariance_gap", points=1, hint="Use the same permutation on both sides: before the layer, and after it.")
def test_an_equivariant_layer_has_no_gap(student, ledger):
    """Taking away the average leaves no gap; numbering the places leaves one that you can count."""
    x = np.array([[1.0, 5.0], [2.0, -3.0], [6.0, 4.0]])
    name = "equivariance_gap(minus_average, x, [1, 2, 0])"
    gap = scalar(student.equivariance_gap(minus_average, x, CYCLE), name=name)
    close(gap, ledger.value("D1-1", "exact_gap"), atol=ledger.tolerance("D1-1") * 7, name=name)  # no number exceeds 7
    # Token 0 moves from place 0 to place 2, so its number changes by 2; the other two change by 1.
    name = "equivariance_gap(numbered, x, [1, 2, 0])"
    close(scalar(student.equivariance_gap(numbered, x, CYCLE), name=name), 2.0, atol=LOOSE, name=name)


@graded("equivariance_gap", points=1, hint="Take absolute values before you look for the largest difference.")
def test_the_gap_is_the_largest_difference(student):
    """A layer that leaves one token alone and spoils another has the gap of the spoilt one."""

    def spoils_the_last(x):
        return x - 5.0 * (np.arange(len(x)) == len(x) - 1)[:, None]

    x = np.zeros((4, 2))
    name = "equivariance_gap(spoils_the_last, x, [0, 3, 2, 1])"
    gap = scalar(student.equivariance_gap(spoils_the_last, x, np.array([0, 3, 2, 1])), name=name)
    close(gap, 5.0, atol=LOOSE, name=name)

    def lower_if_sorted(x):
        return x - 4.0 * (np.diff(x[:, 0]) > 0).all()

    # In rising order, every token loses 4; in any other order, none does.
    x = np.array([[3.0], [1.0], [2.0]])
    name = "equivariance_gap(lower_if_sorted, [[3], [1], [2]], [1, 2, 0])"
    close(scalar(student.equivariance_gap(lower_if_sorted, x, CYCLE), name=name), 4.0, atol=LOOSE, name=name)


@graded(
    "equivariance_gap", points=1, hint="Compare the number of rows before you subtract. And a gap with NaN in it is NaN."
)
def test_gaps_that_cannot_be_measured(student):
    """A layer without one row per token is refused, and NaN shows."""
    x = np.array([[1.0, 5.0], [2.0, -3.0], [6.0, 4.0]])
    name = "equivariance_gap(average, x, [1, 2, 0])"
    refuses(student.equivariance_gap, lambda y: y.mean(axis=0), x, CYCLE, name=name, why="an average has no row per token")
    refuses(student.equivariance_gap, lambda y: y[:1], x, CYCLE, name="equivariance_gap", why="one row is not three")

    def hole(y):
        return np.where(np.arange(len(y))[:, None] == 2, np.nan, y)

    name = "equivariance_gap(a layer with NaN in one row, x, [1, 2, 0])"
    gap = scalar(student.equivariance_gap(hole, x, CYCLE), name=name, finite=False)
    require(np.isnan(gap), f"{name} should be NaN, not {gap}")


# ----------------------------------------------------------------------------------------------------- is_equivariant


@graded("is_equivariant", points=1, hint="Rounding makes the gap of an equivariant layer tiny, not zero.")
def test_verdict_on_plain_layers(student, rng):
    """Taking away the average passes; numbering the places does not."""
    x = rng.normal(size=(7, 3))
    verdict = boolean(student.is_equivariant(doubled, x), name="is_equivariant(doubled, x)")
    require(verdict, "is_equivariant(doubled, x) should be True: each token is doubled where it stands")
    verdict = boolean(student.is_equivariant(minus_average, x), name="is_equivariant(minus_average, x)")
    require(verdict, "is_equivariant(minus_average, x) should be True: reordering tokens does not change their average")
    verdict = boolean(student.is_equivariant(numbered, x), name="is_equivariant(numbered, x)")
    require(not verdict, "is_equivariant(numbered, x) should be False: a token that moves gets another number")


@graded("is_equivariant", points=1, hint="Zero is at most zero: when nothing differs, the layer passes whatever its scale.")
def test_verdict_on_a_silent_and_a_running_layer(student, rng):
    """A layer of zeros passes; a running sum does not."""
    x = rng.normal(size=(6, 2))
    verdict = boolean(student.is_equivariant(np.zeros_like, x), name="is_equivariant(np.zeros_like, x)")
    require(verdict, "is_equivariant(np.zeros_like, x) should be True: the output is zero in every order")

    def running_sum(y):
        return np.cumsum(y, axis=0)

    verdict = boolean(student.is_equivariant(running_sum, x), name="is_equivariant(running_sum, x)")
    require(not verdict, "is_equivariant(running_sum, x) should be False: each sum holds the tokens that came before")


@graded("is_equivariant", points=1, hint="Take eps from the dtype of the layer's output, and compare with its scale.")
def test_verdict_in_single_precision(student, rng):
    """In float32, rounding passes and a small position signal does not."""
    x = rng.normal(size=(8, 3)).astype(np.float32)

    def whisper(y):
        return minus_average(y) + np.linspace(0, 1e-3, len(y), dtype=np.float32)[:, None]

    verdict = boolean(student.is_equivariant(minus_average, x), name="is_equivariant(minus_average, x in float32)")
    require(verdict, "is_equivariant(minus_average, x) should be True for float32 as well: its rounding is coarser")
    verdict = boolean(student.is_equivariant(whisper, x), name="is_equivariant(whisper, x in float32)")
    require(not verdict, "is_equivariant(whisper, x) should be False: it adds up to 0.001 by place, far above rounding")


@graded("is_equivariant", points=1, hint="Large numbers have large rounding errors, small numbers have small ones.")
def test_verdict_in_other_units(student, rng):
    """Measured in other units, a layer gets the same verdict."""
    x = rng.normal(size=(7, 3))
    for unit in (1e-14, 1e10):

        def plain(y, unit=unit):
            return unit * minus_average(y)

        def spoilt(y, unit=unit):
            return plain(y, unit) + 1e-6 * unit * np.arange(len(y))[:, None]

        verdict = boolean(student.is_equivariant(plain, x), name=f"is_equivariant({unit:g} * minus_average, x)")
        require(verdict, f"is_equivariant({unit:g} * minus_average, x) should be True: only the unit has changed")
        verdict = boolean(student.is_equivariant(spoilt, x), name=f"is_equivariant({unit:g} * nearly, x)")
        require(not verdict, f"places are numbered faintly, in units of {unit:g}: is_equivariant should be False")


@graded(
    "is_equivariant",
    points=1,
    hint="Ask for gap <= tolerance, not for gap > tolerance. Try as many orders as the caller asks for.",
)
def test_verdict_on_gaps_that_are_no_numbers(student, rng):
    """A layer of NaN does not pass, and a layer that passes has been tried with as many reorderings as were asked for."""
    x = rng.normal(size=(9, 2))
    verdict = boolean(student.is_equivariant(lambda y: np.full_like(y, np.nan), x), name="is_equivariant(a layer of NaN, x)")
    require(not verdict, "is_equivariant(a layer of NaN, x) should be False: NaN is not a small difference")
    seen = set()

    def watched(y):
        seen.add(y.tobytes())
        return 2.0 * y

    verdict = boolean(student.is_equivariant(watched, x, trials=30), name="is_equivariant(doubled, x, trials=30)")
    require(verdict, "is_equivariant(doubled, x, trials=30) should be True")
    # Of 30 random permutations of nine tokens, more than two coincide with a probability below 1e-9.
    require(len(seen) >= 28, f"with trials=30 the layer should see 30 reorderings, but it saw {len(seen)} different inputs")


# ------------------------------------------------------------------------------------------------------------ pooling


@graded("pooling", points=1, hint="One score per token, divided by sqrt(d_k); their softmax weighs the rows of x @ w_v.")
def test_one_query_pools_the_tokens(student):
    """A query of zeros gives the average value; another one gives weights you can work out by hand."""
    x = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    w_k = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    w_v = np.array([[10.0, 2.0, 0.0], [20.0, 0.0, 5.0]])
    name = "pooled_attention(x, zeros, w_k, w_v)"
    pooled = array(student.pooled_attention(x, np.zeros(4), w_k, w_v), shape=(3,), name=name)
    close(pooled, [10.0, 2 / 3, 5 / 3], atol=LOOSE, name=name)
    # Scores are ln 2, ln 5 and 0 after division by sqrt(4); the budget splits as 2 : 5 : 1.
    query = np.array([2 * np.log(2.0), 2 * np.log(5.0), 7.0, 7.0])
    name = "pooled_attention(x, query, w_k, w_v)"
    pooled = array(student.pooled_attention(x, query, w_k, w_v), shape=(3,), name=name)
    close(pooled, [120 / 8, 4 / 8, 25 / 8], atol=10 * LOOSE, name=name)


@graded("pooling", points=1, hint="Invariance leaves the output where it is: only the input is reordered.")
def test_invariance_gap_of_simple_layers(student):
    """An average does not notice a reordering; the first token does."""
    x = np.array([[1.0, 5.0], [2.0, -3.0], [6.0, 4.0]])
    name = "invariance_gap(average, x, [1, 2, 0])"
    gap = scalar(student.invariance_gap(lambda y: y.mean(axis=0), x, CYCLE), name=name)
    close(gap, 0.0, atol=LOOSE, name=name)
    # The first token changes from [1, 5] to [2, -3].
    name = "invariance_gap(first_token, x, [1, 2, 0])"
    close(scalar(student.invariance_gap(lambda y: y[0], x, CYCLE), name=name), 8.0, atol=LOOSE, name=name)
    # Each token takes the row of another; the second numbers 5 and -3 are furthest apart.
    name = "invariance_gap(doubled, x, [1, 2, 0])"
    close(scalar(student.invariance_gap(doubled, x, CYCLE), name=name), 16.0, atol=LOOSE, name=name)


@graded("pooling", points=1, hint="exp overflows near 710. One weight per token; the weights multiply x @ w_v, not x.")
def test_pooling_of_other_sizes(student, rng):
    """Widths may all differ, and scores of a few thousand do no harm."""
    for n, d, d_k, d_v in ((4, 3, 5, 2), (3, 3, 3, 3)):
        x, query = rng.normal(size=(n, d)), rng.normal(size=d_k)
        _, w_k, w_v = projections(rng, d, d_k, d_v)
        growth = [math.exp(float(x[j] @ w_k @ query) / math.sqrt(d_k)) for j in range(n)]
        expected = sum(growth[j] * (x[j] @ w_v) for j in range(n)) / sum(growth)
        name = f"pooled_attention(x of shape {x.shape}, d_k = {d_k}, d_v = {d_v})"
        close(
            array(student.pooled_attention(x, query, w_k, w_v), shape=(d_v,), name=name),
            expected,
            atol=LOOSE * 10,
            name=name,
        )
    name = "pooled_attention with scores of 2000 and -2000"
    query = 2000 * math.sqrt(2) * np.array([1.0, -1.0])
    pooled = array(student.pooled_attention(np.eye(2), query, np.eye(2), np.eye(2)), shape=(2,), name=name)
    close(pooled, [1.0, 0.0], atol=LOOSE, name=name)


# ---------------------------------------------------------------------------------------------- sign_of_mean_accuracy


@graded("sign_of_mean_accuracy", points=1, hint="One half, plus the angle arcsin(1/sqrt(length)), in radians, over pi.")
def test_accuracy_of_the_sign_of_the_mean(student, ledger):
    """Eight tokens give .6150; one token is its own mean."""
    length = ledger.value("D1-5", "length")
    name = f"sign_of_mean_accuracy({length})"
    accuracy = scalar(student.sign_of_mean_accuracy(length), name=name)
    close(accuracy, ledger.value("D1-5", "accuracy"), atol=1e-6, name=name)  # the ledger's tolerance for this row
    close(
        scalar(student.sign_of_mean_accuracy(1), name="sign_of_mean_accuracy(1)"),
        1.0,
        atol=LOOSE,
        name="sign_of_mean_accuracy(1)",
    )


@graded("sign_of_mean_accuracy", points=1, hint="Four tokens: arcsin(1/2) is a sixth of pi. No tokens: see the docstring.")
def test_accuracy_of_four_tokens_and_of_none(student):
    """Four tokens give two thirds, and no tokens are refused."""
    name = "sign_of_mean_accuracy(4)"
    close(scalar(student.sign_of_mean_accuracy(4), name=name), 2 / 3, atol=LOOSE, name=name)
    for length in (0, -1):
        refuses(student.sign_of_mean_accuracy, length, name=f"sign_of_mean_accuracy({length})", why="there is no token")


# ---------------------------------------------------------------------------------------------- simulate_sign_of_mean


def two_numbers(value, name):
    """The estimate and the half-width of an answer."""
    estimate, half_width = parts(value, 2, name=name)
    return scalar(estimate, name=f"the estimate of {name}"), scalar(half_width, name=f"the half-width of {name}")


def band(trials):
    """How far a correct estimate may lie from the truth, with false-alarm rate 1e-7.

    Hoeffding: P(|estimate - truth| >= t) <= 2 exp(-2 trials t^2), for any truth and any number of trials.
    """
    return np.sqrt(np.log(2 / 1e-7) / (2 * trials))


@graded("simulate_sign_of_mean", points=1, hint="One token is always right about itself, so nothing is left to chance.")
def test_simulation_of_one_token(student):
    """With one token every trial is a success, and the interval has no width."""
    estimate, half_width = two_numbers(student.simulate_sign_of_mean(1, 500, 1), "simulate_sign_of_mean(1, 500, 1)")
    same(estimate, 1.0, name="the estimate of simulate_sign_of_mean(1, 500, 1)")
    same(half_width, 0.0, name="the half-width of simulate_sign_of_mean(1, 500, 1)")
    estimate, _ = two_numbers(student.simulate_sign_of_mean(2, 500, 1), "simulate_sign_of_mean(2, 500, 1)")
    # For two tokens the truth is 3/4; the band is 0.13 wide on each side.
    close(estimate, 0.75, atol=band(500), name="the estimate of simulate_sign_of_mean(2, 500, 1)")


@graded("simulate_sign_of_mean", points=1, hint="The half-width shrinks with the square root of the number of trials.")
def test_simulation_of_three_tokens(student):
    """Three tokens agree with theory, and the half-width follows its formula."""
    trials = 20_000
    name = f"simulate_sign_of_mean(3, {trials}, 5)"
    estimate, half_width = two_numbers(student.simulate_sign_of_mean(3, trials, 5), name)
    # Truth 0.6959, band 0.0205: the majority of signs (0.75) and a single fresh token (0.5) lie outside.
    truth = 0.5 + np.arcsin(1 / np.sqrt(3)) / np.pi
    close(estimate, truth, atol=band(trials), name=f"the estimate of {name}")
    expected = 1.96 * np.sqrt(estimate * (1 - estimate) / trials)
    # A thousandth: whether you divide by trials or trials - 1, or take 1.95996 for 1.96, does not matter.
    allowed = 1e-3 * 1.96 * np.sqrt(truth * (1 - truth) / trials)
    close(half_width, expected, atol=allowed, name=f"the half-width of {name}")


@graded(
    "simulate_sign_of_mean", points=1, hint="Make one generator from the seed, before any loop, and draw everything from it."
)
def test_simulations_with_other_seeds(student):
    """The same seed gives the same estimate, another seed another one, and both are near the truth."""
    estimates = [
        two_numbers(answer, f"simulate_sign_of_mean(5, 4000, {seed})")[0]
        for seed, answer in enumerate(student.simulate_sign_of_mean.each((5, 4000, seed) for seed in range(8)))
    ]
    truth = 0.5 + np.arcsin(1 / np.sqrt(5)) / np.pi
    for seed, estimate in enumerate(estimates):
        # Truth 0.648, band 0.046.
        close(estimate, truth, atol=band(4000), name=f"the estimate of simulate_sign_of_mean(5, 4000, {seed})")
    # Two estimates coincide in about one of a hundred cases, eight practically never.
    require(len(set(estimates)) > 1, f"eight seeds gave the same estimate, {estimates[0]}: each must give draws of its own")


# ----------------------------------------------------------------------------------------------------- bayes_decision


def decides(student, cases):
    """Compare the decision about each list of signs with the one that goes with it."""
    answers = student.bayes_decision.each((np.array(signs),) for signs, _ in cases)
    for (signs, expected), decision in zip(cases, answers, strict=True):
        name = f"bayes_decision({signs})"
        same(integer(decision, name=name), expected, name=name)


@graded(
    "bayes_decision", points=1, hint="Any token may have stood at position zero, all with the same chance: count the signs."
)
def test_the_majority_decides(student):
    """Five against three: the five win, wherever they stand."""
    decides(student, (([1, 1, 1, -1, -1, -1, 1, 1], 1), ([1, 1, -1, -1, -1, 1, -1, -1], -1), ([-1], -1)))


@graded("bayes_decision", points=1, hint="The docstring says what to return on a tie. A decision is +1 or -1, never 0.")
def test_a_tie_is_decided_too(student):
    """Two against two is decided by the stated rule, and one sign more or less makes it no tie."""
    decides(student, (([-1, 1, -1, 1], 1), ([1, -1], 1), ([-1, 1], 1), ([1, -1, -1], -1), ([-1, 1, 1], 1)))


@graded("bayes_decision", points=1, hint="Check what you get: signs are +1 and -1, and there is at least one.")
def test_what_is_not_a_list_of_signs(student):
    """An empty list is refused, and so is anything but +1 and -1."""
    for signs in ([], [1, 0, -1], [1, 1, 3]):
        name = f"bayes_decision({signs})"
        refuses(student.bayes_decision, np.array(signs), name=name, why="signs are +1 and -1, at least one")


# ---------------------------------------------------------------------------------------------- invariant_bayes_bound


@graded("invariant_bayes_bound", points=1, hint="Average max(r, length - r)/length over r, each r as often as it occurs.")
def test_bound_for_eight_tokens(student, ledger):
    """Eight tokens: 163/256, exactly; four tokens: 11/16."""
    length = ledger.value("D1-6", "length")
    name = f"invariant_bayes_bound({length})"
    expected = Fraction(ledger.value("D1-6", "numerator"), ledger.value("D1-6", "denominator"))
    same(fraction(student.invariant_bayes_bound(length), name=name), expected, name=name)
    # Of 16 patterns, 2 give 4/4, 8 give 3/4 and 6 give 2/4.
    name = "invariant_bayes_bound(4)"
    same(fraction(student.invariant_bayes_bound(4), name=name), Fraction(11, 16), name=name)


@graded("invariant_bayes_bound", points=1, hint="Work it out by hand for one, two and three tokens first.")
def test_bound_for_few_tokens(student):
    """One, two and three tokens can be counted on fingers; a certain sign is always guessed."""
    for length, expected in ((1, Fraction(1)), (2, Fraction(3, 4)), (3, Fraction(3, 4))):
        name = f"invariant_bayes_bound({length})"
        same(fraction(student.invariant_bayes_bound(length), name=name), expected, name=name)
    for p in (Fraction(0), Fraction(1)):
        name = f"invariant_bayes_bound(5, p={p})"
        same(fraction(student.invariant_bayes_bound(5, p=p), name=name), Fraction(1), name=name)


@graded(
    "invariant_bayes_bound", points=1, hint="p changes how likely each r is, and nothing else. Impossible p: ValueError."
)
def test_bound_for_mostly_positive_signs(student):
    """With p = 3/4, counting all patterns of three signs gives 13/16; a p above one is refused."""
    p = Fraction(3, 4)
    expected = Fraction(0)
    for signs in itertools.product((0, 1), repeat=3):
        r = sum(signs)
        expected += p**r * (1 - p) ** (3 - r) * Fraction(max(r, 3 - r), 3)
    name = "invariant_bayes_bound(3, p=3/4)"
    same(fraction(student.invariant_bayes_bound(3, p=p), name=name), expected, name=name)
    name = "invariant_bayes_bound(3, p=5/4)"
    refuses(student.invariant_bayes_bound, 3, p=Fraction(5, 4), name=name, why="a probability is at most 1")


# ------------------------------------------------------------------------------------------------------------- shifts


@graded("shifts", points=1, hint="kernel[j] belongs to the token j places earlier on the ring.")
def test_convolution_on_a_ring(student):
    """A kernel of one number scales; a kernel [0, 1] passes every token on to its successor."""
    x = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]])
    cases = (
        ([2.0], 2 * x),
        ([0.0, 1.0], x[[3, 0, 1, 2]]),
        ([1.0, 0.0, 0.5], x + 0.5 * x[[2, 3, 0, 1]]),
    )
    for kernel, expected in cases:
        name = f"circular_convolution(x, {kernel})"
        output = array(student.circular_convolution(x, np.array(kernel)), shape=(4, 2), name=name)
        close(output, expected, atol=50 * LOOSE, name=name)  # outputs reach 50


@graded("shifts", points=1, hint="Shift the input, shift the output, compare; both by np.roll(..., s, axis=0).")
def test_verdict_on_shifts(student, rng):
    """Adding each token's successor commutes with shifts; numbering the places does not."""
    x = rng.normal(size=(6, 3))

    def plus_successor(y):
        return y + np.roll(y, -1, axis=0)

    name = "is_shift_equivariant(doubled, x)"
    require(boolean(student.is_shift_equivariant(doubled, x), name=name), f"{name} should be True")
    name = "is_shift_equivariant(plus_successor, x)"
    require(boolean(student.is_shift_equivariant(plus_successor, x), name=name), f"{name} should be True")
    name = "is_shift_equivariant(numbered, x)"
    require(not boolean(student.is_shift_equivariant(numbered, x), name=name), f"{name} should be False")


@graded("shifts", points=1, hint="Indices run round the ring as often as the kernel needs, whatever the number of tokens.")
def test_convolution_by_its_formula(student, rng):
    """Kernels shorter and longer than the ring give what the formula says, for each column alike."""
    for n, d, m in ((5, 2, 3), (3, 3, 3), (2, 1, 5)):
        x, kernel = rng.normal(size=(n, d)), rng.normal(size=m)
        expected = [[sum(kernel[j] * x[(i - j) % n, c] for j in range(m)) for c in range(d)] for i in range(n)]
        name = f"circular_convolution(x of shape ({n}, {d}), kernel of length {m})"
        close(array(student.circular_convolution(x, kernel), shape=(n, d), name=name), expected, atol=LOOSE * 10, name=name)


@graded("shifts", points=1, hint="The rounding rule is that of is_equivariant, and so are NaN and a layer of zeros.")
def test_shift_verdict_needs_a_tolerance(student, rng):
    """Rounding passes, a faint defect does not, zeros pass, and NaN does not."""
    x = rng.normal(size=(6, 3))

    def spoilt(y):
        return minus_average(y) + 1e-9 * np.arange(len(y))[:, None]

    for layer, what, expected in (
        (minus_average, "minus_average", True),
        (spoilt, "a layer with places numbered in units of 1e-9", False),
        (np.zeros_like, "np.zeros_like", True),
        (lambda y: np.full_like(y, np.nan), "a layer of NaN", False),
    ):
        name = f"is_shift_equivariant({what}, x)"
        verdict = boolean(student.is_shift_equivariant(layer, x), name=name)
        require(verdict == expected, f"{name} should be {expected}")
