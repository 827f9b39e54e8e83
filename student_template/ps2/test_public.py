"""The tests of problem set 2 that students run themselves."""

from fractions import Fraction

import numpy as np

from autograder.testing import array, boolean, close, fraction, graded, integer, parts, require, same, scalar

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


# ------------------------------------------------------------------------------------------------------------ pooling


@graded("pooling", points=1, hint="One score a token, divided by sqrt(k); their softmax weighs the rows of x @ w_v.")
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
