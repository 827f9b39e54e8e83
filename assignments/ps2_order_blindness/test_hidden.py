"""The tests of problem set 2 that only the grader runs.

Expected values come from formulas written out here or from the reference; a student reads no more than title and hint.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

from autograder.testing import (
    array,
    boolean,
    close,
    fraction,
    graded,
    integer,
    parts,
    refuses,
    require,
    rounding,
    same,
    scalar,
    text,
)

# Where a test is about something else than precision, an answer in float32 may pass: a hundred roundings of size 1e-7.
LOOSE = 1e-5

CAUSAL = np.tril(np.ones((12, 12), dtype=bool))


def projections(rng, d, d_k, d_v, dtype=np.float64):
    """Random w_q, w_k and w_v that keep scores and values near one."""
    shapes = ((d, d_k), (d, d_k), (d, d_v))
    return [(rng.normal(size=shape) / np.sqrt(d)).astype(dtype) for shape in shapes]


def plain_attention(x, w_q, w_k, w_v, mask=None):
    """Self-attention by the definition, in loops; for scores too small to overflow."""
    queries, keys, values = x @ w_q, x @ w_k, x @ w_v
    output = np.zeros_like(values)
    for i in range(len(x)):
        legal = [j for j in range(len(x)) if mask is None or mask[i, j]]
        growth = [math.exp(float(queries[i] @ keys[j]) / math.sqrt(w_q.shape[1])) for j in legal]
        for j, part in zip(legal, growth, strict=True):
            output[i] += part / sum(growth) * values[j]
    return output


def orders(rng, n, count):
    """Permutations of n places, none of which is its own inverse."""
    found = []
    while len(found) < count:
        order = rng.permutation(n)
        if not np.array_equal(order[order], np.arange(n)):
            found.append(order)
    return found


def doubled(x):
    return 2.0 * x


def minus_average(x):
    return x - x.mean(axis=0)


def running_sum(x):
    return np.cumsum(x, axis=0)


def louder_at(place, amount):
    """A function that adds `amount` to one place, in the dtype of its argument."""

    def add(y):
        return y + (amount * (np.arange(len(y)) == place)[:, None]).astype(y.dtype)

    return add


def ring_convolution(kernel):
    return lambda y: sum(weight * np.roll(y, j, axis=0) for j, weight in enumerate(kernel))


# ----------------------------------------------------------------------------------------------------- self_attention


@graded("self_attention", points=1, hint="Nothing in the layer may depend on the row number of a token; compute in float64.")
def test_attention_reorders_with_its_tokens(student, rng, ledger):
    """Other sizes are right too, and reordered tokens give reordered outputs, down to rounding."""
    cases = [
        (2 * rng.normal(size=(n, d)), *projections(rng, d, d_k, d_v))
        for n, d, d_k, d_v in ((5, 4, 3, 2), (4, 4, 4, 4), (1, 2, 6, 3), (7, 3, 2, 8))
    ]
    for (x, *weights), output in zip(cases, student.self_attention.each(cases), strict=True):
        d_k, d_v = weights[0].shape[1], weights[2].shape[1]
        name = f"self_attention(x of shape {x.shape}, d_k = {d_k}, d_v = {d_v})"
        output = array(output, shape=(len(x), d_v), name=name)
        close(output, plain_attention(x, *weights), atol=LOOSE * 10, name=name)
    x, weights = rng.normal(size=(8, 5)), projections(rng, 5, 4, 3)
    output = array(student.self_attention(x, *weights), shape=(8, 3), name="self_attention(x)")
    scale = np.abs(plain_attention(x, *weights)).max()
    moves = list(orders(rng, 8, 4))
    answers = student.self_attention.each((x[order], *weights) for order in moves)
    for order, moved in zip(moves, answers, strict=True):
        moved = array(moved, shape=(8, 3), name="self_attention(x[order])")
        close(moved, output[order], atol=ledger.tolerance("D1-1") * scale, name="self_attention(x[order])")
    changed = x.copy()
    changed[3] += 1.0
    other = array(student.self_attention(changed, *weights), shape=(8, 3), name="self_attention(changed x)")
    # Each weight is at least e^-10 or so here, and the value of token 3 moved by about one.
    require(np.abs(other - output).max(axis=1).min() > 1e-6, "a change of one token must reach every output")
    require(np.ptp(output, axis=0).max() > 1e-3, "different tokens should get different outputs")


@graded(
    "self_attention",
    points=1,
    hint="Forbidden scores drop out before the softmax, so the other weights share the whole budget.",
)
def test_attention_obeys_its_mask(student, rng, ledger):
    """Weights of forbidden tokens are exactly zero, the rest spend the budget, and a causal mask breaks the symmetry."""
    x, weights = rng.normal(size=(6, 4)), projections(rng, 4, 3, 5)
    for mask in (CAUSAL[:6, :6], (rng.random((6, 6)) < 0.5) | np.eye(6, dtype=bool)):
        name = "self_attention(x, w_q, w_k, w_v, mask)"
        output = array(student.self_attention(x, *weights, mask=mask), shape=(6, 5), name=name)
        close(output, plain_attention(x, *weights, mask=mask), atol=LOOSE * 10, name=name)
    name = "self_attention(x, w_q, w_k, w_v, causal mask)"
    causal = CAUSAL[:6, :6]
    output = array(student.self_attention(x, *weights, mask=causal), shape=(6, 5), name=name)
    scale = np.abs(plain_attention(x, *weights, mask=causal)).max()
    changed = x.copy()
    changed[4:] *= -8.0  # scores stay below a thousand, far from the promised 1e4
    other = array(student.self_attention(changed, *weights, mask=causal), shape=(6, 5), name=name)
    # A zero weight removes all trace of a token; what remains is the rounding of another batch of products.
    close(other[:4], output[:4], atol=rounding(scale, 64), name=f"{name}[:4] after tokens 4 and 5 changed")
    order = np.array([5, 4, 3, 2, 1, 0])
    moved = array(student.self_attention(x[order], *weights, mask=causal), shape=(6, 5), name=name)
    gap = np.abs(moved - output[order]).max()
    require(gap > ledger.value("D1-20", "smallest_gap_to_ask_for"), "a causal mask must break the symmetry")


@graded(
    "self_attention", points=1, hint="Two edge cases of the docstring: a token that may read nothing, and very large scores."
)
def test_attention_at_its_edges(student, rng, ledger):
    """A token that may read nothing gets zeros, and huge scores do no harm."""
    x, weights = rng.normal(size=(5, 4)), projections(rng, 4, 3, 2)
    mask = np.array([[1, 0, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]], dtype=bool)
    name = "self_attention with rows of the mask that are all False"
    output = array(student.self_attention(x, *weights, mask=mask), shape=(5, 2), name=name)
    same(output[[1, 4]], np.full((2, 2), ledger.value("D3-7", "weight")), name=name)
    close(output, plain_attention(x, *weights, mask=mask), atol=LOOSE * 10, name=name)
    # Scores +-1e4: token 0 reads token 0 only, token 1 reads token 1 only.
    x = np.array([[1.0, 0.0], [0.0, 1.0]])
    w = np.array([[1e4, -1e4], [-1e4, 1e4]]) / 2 * math.sqrt(2)
    for allowed in (None, np.ones((2, 2), dtype=bool), np.eye(2, dtype=bool)):
        name = "self_attention with scores of +-1e4"
        output = array(
            student.self_attention(x, w, np.eye(2), np.array([[3.0], [5.0]]), mask=allowed), shape=(2, 1), name=name
        )
        close(output, [[3.0], [5.0]], atol=LOOSE, name=name)
    # One row of scores at -1e4 and one at 1e4: each row has its own largest score.
    name = "self_attention with rows of scores at -1e4 and 1e4"
    w = np.array([[-1e4], [1e4]])
    output = array(student.self_attention(x, w, np.ones((2, 1)), np.eye(2)), shape=(2, 2), name=name)
    close(output, np.full((2, 2), 0.5), atol=LOOSE, name=name)
    # Large scores that differ by ln 3. In float32 they are off by up to 5e-4, and weights by as much.
    name = "self_attention with scores of 9000 and 9000 + ln 3"
    keys = np.array([[1.0], [1 + math.log(3) / 9000]])
    output = array(student.self_attention(x, np.full((2, 1), 9000.0), keys, np.eye(2)), shape=(2, 2), name=name)
    close(output, [[0.25, 0.75]] * 2, atol=2e-3, name=name)
    # All scores near -1e4: no weight may be lost to underflow, and a forbidden score must lie below any legal one.
    arguments = (x, -1e4 * np.ones((2, 1)), np.ones((2, 1)), np.eye(2))
    for allowed, expected in ((None, np.full((2, 2), 0.5)), (np.array([[True, True], [False, True]]), [[0.5, 0.5], [0, 1]])):
        name = f"self_attention with all scores at -1e4 and {'no' if allowed is None else 'a'} mask"
        output = array(student.self_attention(*arguments, mask=allowed), shape=(2, 2), name=name)
        close(output, expected, atol=LOOSE, name=name)


@graded(
    "self_attention",
    points=1,
    hint="Look for float64 numbers that pull a float32 array up: the docstring names the usual one.",
)
def test_attention_keeps_its_precision(student, rng):
    """Single precision goes in, single precision comes out; double stays double."""
    for dtype in (np.float32, np.float64):
        x, weights = rng.normal(size=(6, 4)).astype(dtype), projections(rng, 4, 3, 5, dtype)
        expected = plain_attention(x.astype(np.float64), *(w.astype(np.float64) for w in weights))
        for mask in (None, CAUSAL[:6, :6]):
            name = f"self_attention(x, ...) in {np.dtype(dtype).name}"
            output = array(student.self_attention(x, *weights, mask=mask), shape=(6, 5), name=name)
            require(output.dtype == dtype, f"{name} returned {output.dtype}")
            if mask is None:
                # A few dozen products and sums of numbers near one, each rounded once.
                close(output, expected, atol=rounding(expected, 256, dtype), name=name)


# --------------------------------------------------------------------------------------------------- equivariance_gap


@graded("equivariance_gap", points=1, hint="The gap is the largest absolute difference over all tokens and columns.")
def test_gap_of_layers_with_known_gaps(student, reference, rng, ledger):
    """Layers of every width have the gap that arithmetic gives, and so has attention with and without a causal mask."""
    layers = {
        "one number per token": lambda y: y[:, 0] * np.arange(1, len(y) + 1),
        "wide": lambda y: np.repeat(y, 3, axis=1) * np.linspace(-1, 3, len(y))[:, None],
        "lower at the end": lambda y: y - 100.0 * (np.arange(len(y)) == len(y) - 1)[:, None],
        "running sum": running_sum,
        "plain": lambda y: 3.0 * y,
    }
    x = rng.normal(size=(6, 2))
    for what, layer in layers.items():
        for order in orders(rng, 6, 2):
            expected = np.abs(layer(x[order]) - layer(x)[order]).max()
            name = f"equivariance_gap({what})"
            gap = scalar(student.equivariance_gap(layer, x, order), name=name)
            close(gap, expected, atol=LOOSE * max(expected, 1.0), name=name)
    weights, x = projections(rng, 5, 4, 6), rng.normal(size=(8, 5))

    def full(y):
        return reference.self_attention(y, *weights)

    def causal(y):
        return reference.self_attention(y, *weights, mask=CAUSAL[: len(y), : len(y)])

    for order in orders(rng, 8, 2):
        gap = scalar(student.equivariance_gap(full, x, order), name="equivariance_gap(full attention)")
        close(gap, 0.0, atol=ledger.tolerance("D1-1") * np.abs(full(x)).max(), name="equivariance_gap(full attention)")
        gap = scalar(student.equivariance_gap(causal, x, order), name="equivariance_gap(causal attention)")
        expected = np.abs(causal(x[order]) - causal(x)[order]).max()
        require(expected > ledger.value("D1-20", "smallest_gap_to_ask_for"), "the test's own layer must break the symmetry")
        close(gap, expected, atol=LOOSE * expected, name="equivariance_gap(causal attention)")


@graded("equivariance_gap", points=1, hint="The docstring says what happens without n rows, and what a gap with NaN is.")
def test_gap_that_cannot_be_measured(student, rng):
    """An output without one row per token is refused, and NaN stays visible."""
    x = rng.normal(size=(6, 4))
    order = orders(rng, 6, 1)[0]
    pooled = {
        "a vector of another length": lambda y: y.mean(axis=0),
        "one row": lambda y: y.mean(axis=0, keepdims=True),
        "more rows than tokens": lambda y: np.vstack([y, y]),
    }
    for what, layer in pooled.items():
        refuses(student.equivariance_gap, layer, x, order, name="equivariance_gap", why=f"the layer returns {what}")
    # With a single token, two rows can be subtracted from one, and NumPy does not complain.
    twice, single, stay = pooled["more rows than tokens"], x[:1], np.array([0])
    refuses(student.equivariance_gap, twice, single, stay, name="equivariance_gap", why="a layer turns one row into two")

    def hole(y):
        return np.where(np.arange(len(y))[:, None] == 2, np.nan, y)

    gap = scalar(student.equivariance_gap(hole, x, order), name="equivariance_gap(layer with NaN)", finite=False)
    require(np.isnan(gap), f"the gap of a layer with NaN should be NaN, not {gap}")
    gap = scalar(student.equivariance_gap(lambda y: y, x, order), name="equivariance_gap(identity)")
    same(gap, 0.0, name="equivariance_gap(identity)")


# ----------------------------------------------------------------------------------------------------- is_equivariant
#
# A test that draws permutations can miss a broken symmetry. The chance that a correct answer does so is given where it is
# largest; everywhere it is below 1e-6. Layers that pass have gaps below 16 eps of the scale, the others above 1000 eps.


def expect_verdict(student, layer, x, expected, why, **keywords):
    """Require the verdict `expected`, for the reason `why`."""
    verdict = boolean(student.is_equivariant(layer, x, **keywords), name="is_equivariant(layer, x)")
    require(verdict == expected, f"is_equivariant should be {expected} here: {why}")


@graded(
    "is_equivariant", points=1, hint="Compare the layer of the reordered tokens with the reordered layer, token by token."
)
def test_verdict_on_attention(student, reference, rng):
    """Attention alone passes; attention with a sense of place does not."""
    for n, d in ((5, 3), (9, 6)):
        x, weights = rng.normal(size=(n, d)), projections(rng, d, 4, d)

        def full(y, weights=weights):
            return reference.self_attention(y, *weights)

        def causal(y, weights=weights):
            return reference.self_attention(y, *weights, mask=CAUSAL[: len(y), : len(y)])

        def positional(y, weights=weights):
            return reference.self_attention(y + np.sin(np.arange(len(y)))[:, None], *weights)

        scale = np.abs(full(x)).max()
        # A permutation misses these two when it leaves their place alone: (1/5)^20 at most.
        faint, fainter = louder_at(0, 1e-9 * scale), louder_at(n - 1, 1e-10 * scale)
        # The doubled tokens come first: they tell an answer that forgets rounding from one that forgets to reorder.
        expect_verdict(student, doubled, x, True, "each token is doubled where it stands")
        expect_verdict(student, full, x, True, "full attention uses no positions")
        expect_verdict(student, causal, x, False, "a causal mask is tied to places")
        expect_verdict(student, positional, x, False, "positions are added to the tokens")
        for nearly in (faint, fainter):
            expect_verdict(
                student,
                lambda y, nearly=nearly, full=full: nearly(full(y)),
                x,
                False,
                "one place is louder, by what float32 cannot see",
            )


@graded(
    "is_equivariant",
    points=1,
    hint="The tolerance is one number: eps of the output's dtype times the largest output. Tokens keep their dtype.",
)
def test_verdict_takes_its_tolerance_from_the_output(student, reference, rng):
    """Rounding is judged by the dtype and the scale of the layer's output, whatever dtype the tokens have."""
    x, weights = rng.normal(size=(8, 8)).astype(np.float32), projections(rng, 8, 8, 8, np.float32)

    def full(y):
        return reference.self_attention(y, *weights)

    scale = np.abs(full(x)).max()
    # A permutation misses a place when it leaves it alone: (1/8)^20 at most.
    nearly, faint = louder_at(7, 1e-3 * scale), louder_at(7, 1e-9)

    def picky(y):
        """Honest for tokens in float32. In any other dtype, places leave a trace."""
        return full(y) if y.dtype == np.float32 else y + np.arange(len(y))[:, None]

    def to_single(y):
        return full(y.astype(np.float32))

    def to_double(y):
        return faint(2.0 * y.astype(np.float64))

    def cancels(y):
        """Numbers near zero that are left over from large ones carry the rounding of the large ones."""
        return np.hstack([y.astype(np.float64) - y.astype(np.float64).mean(axis=0), np.full((len(y), 1), 1e3)])

    expect_verdict(student, full, x, True, "its gap is float32 rounding")
    expect_verdict(student, lambda y: nearly(full(y)), x, False, "one place is louder by a thousandth")
    expect_verdict(student, picky, x, True, "the tokens are float32, and should reach the layer so")
    expect_verdict(student, to_single, x.astype(np.float64), True, "the output is float32, and so is its rounding")
    expect_verdict(student, to_double, x, False, "the output is float64, and one place is louder by 1e-9")
    tokens = 1e3 * rng.normal(size=(8, 2))
    tokens[3] = np.delete(tokens, 3, axis=0).mean(axis=0)  # what is left of this token is rounding
    expect_verdict(student, cancels, tokens, True, "the scale is that of the largest output")
    for unit in (1e-14, 1e10):
        double = [w.astype(np.float64) for w in weights]

        def scaled(y, unit=unit, double=double):
            return unit * reference.self_attention(y, *double)

        def numbered(y, unit=unit, scaled=scaled):
            return scaled(y) + 1e-8 * unit * np.arange(len(y))[:, None]

        expect_verdict(student, scaled, x.astype(np.float64), True, f"only the unit changed, to {unit}")
        expect_verdict(student, numbered, x.astype(np.float64), False, f"places are numbered faintly, in units of {unit}")


@graded(
    "is_equivariant",
    points=1,
    hint="A few special reorderings prove little. Draw permutations at random, from `seed`, and all `trials` of them.",
)
def test_verdict_on_smaller_symmetries(student, rng):
    """A layer that commutes with some reorderings only does not pass, if as many are tried as were asked for."""
    x = rng.normal(size=(6, 3))
    seen = set()

    def watched(y):
        seen.add(y.tobytes())
        return 3.0 * y

    def even_only(y):
        """Changes its sign with every swap of two tokens, so it commutes with the even permutations: half of all."""
        s = y[:, 0]
        return y * np.prod([np.sign(s[j] - s[i]) for i in range(len(s)) for j in range(i)])

    def within_pairs(y):
        """Every token gets the average of its pair (0, 1), (2, 3), ..."""
        return y + np.repeat((y[0::2] + y[1::2]) / 2, 2, axis=0)

    def minus_largest(y):
        return y - y.max(axis=0)

    expect_verdict(student, ring_convolution([0.5, 0.3, 0.2]), x, False, "it commutes with shifts only")
    expect_verdict(
        student, ring_convolution([0.5, 0.2, 0, 0, 0, 0.2]), x, False, "it commutes with shifts and reversal only"
    )
    expect_verdict(student, within_pairs, x, False, "it commutes with swaps inside the pairs")
    # One random permutation misses this one with probability 1/2, forty with 2^-40.
    expect_verdict(student, even_only, x, False, "it commutes with even permutations only", trials=40)
    expect_verdict(student, minus_largest, x, True, "the largest value does not depend on the order")
    for trials, seed in ((3, 1), (60, 2)):
        seen.clear()
        tokens = rng.normal(size=(10, 2))
        expect_verdict(student, watched, tokens, True, "each token is tripled", trials=trials, seed=seed)
        # The layer sees the tokens as they are and in `trials` orders; of 10! orders, two coincide with a chance of 5e-4,
        # four with less than 1e-10.
        low, high = trials - 2, trials + 1
        require(low <= len(seen) <= high, f"with trials={trials} the layer saw {len(seen)} different inputs")
    by_seed = []
    for seed in (3, 4):
        seen.clear()
        expect_verdict(student, watched, tokens, True, "each token is tripled", trials=20, seed=seed)
        by_seed.append(set(seen))
    # The tokens as they are, and one coincidence; for two of 20 x 20 pairs out of 10! the chance is below 1e-8.
    shared = len(by_seed[0] & by_seed[1])
    require(shared <= 2, f"with another seed the layer should see other permutations, but {shared} inputs were the same")


@graded("is_equivariant", points=1, hint="What is unpredictable, has a memory, or is no number at all is not equivariant.")
def test_verdict_on_strange_layers(student, rng):
    """Layers that are random, remember, or return no numbers do not pass."""
    x = rng.normal(size=(6, 3))
    noise = np.random.default_rng(3)
    seen = []

    def noisy(y):
        return y * (1 + 0.1 * noise.random())

    def tiring(y):
        seen.append(1)
        return minus_average(y) + 0.01 * len(seen)

    first = []

    def remembers(y):
        first.append(y.copy())
        return first[0]

    def hole(y):
        return np.full_like(y, np.nan)

    def one_hole(y):
        return np.where(y == y.max(), np.nan, y)

    def overflow(y):
        return np.where(y == y.max(), np.inf, y)

    def lost_when_moved(y):
        return np.where(y[0, 0] == x[0, 0], y, np.nan)

    expect_verdict(student, noisy, x, False, "the layer is random")
    expect_verdict(student, tiring, x, False, "the layer counts its calls")
    expect_verdict(student, remembers, x, False, "the layer keeps its first answer")
    expect_verdict(student, hole, x, False, "the layer returns NaN")
    expect_verdict(student, one_hole, x, False, "the layer returns one NaN a column")
    expect_verdict(student, overflow, x, False, "the layer returns infinity")
    # A permutation misses this one when it leaves token 0 alone: (1/6)^20 for all of them.
    expect_verdict(student, lost_when_moved, x, False, "the layer returns NaN for reordered tokens")
    expect_verdict(student, minus_average, x, True, "the layer is an honest one")


# ---------------------------------------------------------------------------------------------------- symmetry_claims


def letter(student, name):
    """The answer to a choice question, in whatever case it was typed."""
    return text(student.value(name), name=name).strip().lower()


@graded("symmetry_claims", points=1, hint="Try each claim on a layer with three tokens before you decide.")
def test_symmetry_claims(student, reference):
    """The claim that fails is found."""
    same(letter(student, "symmetry_claims"), reference.symmetry_claims, name="symmetry_claims")


# ------------------------------------------------------------------------------------------------------------ pooling


@graded("pooling", points=1, hint="The sum over tokens must not depend on their order, and exp must not overflow.")
def test_pooled_attention_is_a_set_function(student, rng, ledger):
    """Random sizes are right, reordering changes nothing but rounding, every token counts, huge scores do no harm."""
    for n, d, d_k, d_v in ((5, 4, 3, 2), (1, 2, 5, 4), (8, 3, 3, 3)):
        x, query = 2 * rng.normal(size=(n, d)), 2 * rng.normal(size=d_k)
        _, w_k, w_v = projections(rng, d, d_k, d_v)
        growth = [math.exp(float(x[j] @ w_k @ query) / math.sqrt(d_k)) for j in range(n)]
        expected = sum(growth[j] * (x[j] @ w_v) for j in range(n)) / sum(growth)
        name = f"pooled_attention(x of shape ({n}, {d}), d_k = {d_k}, d_v = {d_v})"
        pooled = array(student.pooled_attention(x, query, w_k, w_v), shape=(d_v,), name=name)
        close(pooled, expected, atol=LOOSE * 10, name=name)
    x, query = rng.normal(size=(7, 4)), rng.normal(size=3)
    _, w_k, w_v = projections(rng, 4, 3, 5)
    pooled = array(student.pooled_attention(x, query, w_k, w_v), shape=(5,), name="pooled_attention(x)")
    for moved in student.pooled_attention.each((x[order], query, w_k, w_v) for order in orders(rng, 7, 3)):
        moved = array(moved, shape=(5,), name="pooled_attention(x[order])")
        close(moved, pooled, atol=ledger.tolerance("D1-4") * np.abs(x @ w_v).max(), name="pooled_attention(x[order])")
    # Row j of the identity, as a column, adds one to all numbers of token j.
    for other in student.pooled_attention.each((x + token[:, None], query, w_k, w_v) for token in np.eye(7)):
        other = array(other, shape=(5,), name="pooled_attention(changed x)")
        require(np.abs(other - pooled).max() > 1e-6, "a change of any token must change the pooled vector")
    name = "pooled_attention with scores of +-1e4"
    tall = array(student.pooled_attention(np.eye(2), np.array([1e4, -1e4]), np.eye(2), np.eye(2)), shape=(2,), name=name)
    close(tall, [1.0, 0.0], atol=LOOSE, name=name)
    near = np.array([[1.0], [1 + math.log(3) / 9000]])
    close_call = student.pooled_attention(np.eye(2), np.array([9000.0]), near, np.eye(2))
    close(array(close_call, shape=(2,), name=name), [0.25, 0.75], atol=2e-3, name=f"{name}, which differ by ln 3")
    low = array(student.pooled_attention(np.eye(2), np.array([-1e4, -1e4]), np.eye(2), np.eye(2)), shape=(2,), name=name)
    close(low, [0.5, 0.5], atol=LOOSE, name=name)


@graded(
    "pooling", points=1, hint="Equivariant is not invariant: a layer that reorders with its input has an invariance gap."
)
def test_invariance_gap_of_attention(student, reference, rng, ledger):
    """Attention followed by a mean is invariant; attention alone, or a causal layer, is not."""
    x, weights = rng.normal(size=(8, 5)), projections(rng, 5, 4, 6)

    def full(y):
        return reference.self_attention(y, *weights)

    def mean_of_causal(y):
        return reference.self_attention(y, *weights, mask=CAUSAL[: len(y), : len(y)]).mean(axis=0)

    for order in orders(rng, 8, 3):
        name = "invariance_gap(attention and mean)"
        gap = scalar(student.invariance_gap(lambda y: full(y).mean(axis=0), x, order), name=name)
        close(gap, 0.0, atol=ledger.tolerance("D1-4") * np.abs(full(x)).max(), name=name)
        for layer, name in ((full, "invariance_gap(attention)"), (mean_of_causal, "invariance_gap(causal and mean)")):
            expected = np.abs(layer(x[order]) - layer(x)).max()
            require(expected > 1e-3, "the test's own layer must not be invariant")
            gap = scalar(student.invariance_gap(layer, x, order), name=name)
            close(gap, expected, atol=LOOSE * expected, name=name)


@graded(
    "pooling",
    points=1,
    hint="The gap is the largest absolute difference, for outputs of any shape, a single number included.",
)
def test_invariance_gap_of_layers_with_known_gaps(student, rng):
    """Outputs of every shape have the gap that arithmetic gives, and NaN shows."""
    layers = {
        "a number": lambda y: float(y[0, 0]),
        "a vector": lambda y: np.arange(1, len(y) + 1) @ y,
        "a table": lambda y: 2.0 * y,
        "only smaller": lambda y: -np.abs(y[2] - y[:2].sum(axis=0)) - 5.0 * (y[0, 0] > y[1, 0]),
        "the largest": lambda y: y.max(axis=0),
    }
    x = rng.normal(size=(6, 3))
    for what, layer in layers.items():
        for order in orders(rng, 6, 3):
            expected = np.max(np.abs(np.asarray(layer(x[order])) - np.asarray(layer(x))))
            name = f"invariance_gap({what})"
            close(scalar(student.invariance_gap(layer, x, order), name=name), expected, atol=LOOSE * 10, name=name)

    def hole(y):
        return np.append(y.sum(axis=0), np.nan)

    gap = scalar(student.invariance_gap(hole, x, orders(rng, 6, 1)[0]), name="invariance_gap(layer with NaN)", finite=False)
    require(np.isnan(gap), f"the gap of a layer with NaN should be NaN, not {gap}")


# ---------------------------------------------------------------------------------------------- sign_of_mean_accuracy


@graded("sign_of_mean_accuracy", points=1, hint="The correlation of one token with the mean is 1/sqrt(length).")
def test_accuracy_at_other_lengths(student):
    """Other lengths follow the closed form, from two tokens to very many, and a length below one is refused."""
    lengths = (2, 3, 4, 5, 7, 16, 50, 1000, 10**4, 10**8)
    answers = student.sign_of_mean_accuracy.each((length,) for length in lengths)
    for length, accuracy in zip(lengths, answers, strict=True):
        # The same angle, measured from the other side.
        expected = 1 - math.atan2(math.sqrt(length - 1), 1) / math.pi
        name = f"sign_of_mean_accuracy({length})"
        close(scalar(accuracy, name=name), expected, atol=1e-7, name=name)  # float32 passes
    for length in (0, -4):
        refuses(student.sign_of_mean_accuracy, length, name=f"sign_of_mean_accuracy({length})", why="there is no token")


# ---------------------------------------------------------------------------------------------- simulate_sign_of_mean
#
# A correct submission fails one of the eleven estimates here with a chance of at most 5e-8 each, the scatter with 6e-10, one
# of the public checks with 1e-7 each: together below 1e-6.


def band(trials):
    """How far a correct estimate may lie from the truth: Hoeffding, P(|estimate - truth| >= t) <= 2 exp(-2 trials t^2)."""
    return math.sqrt(math.log(2 / 5e-8) / (2 * trials))


def truth(length):
    return 0.5 + math.asin(1 / math.sqrt(length)) / math.pi


def half_width_of(estimate, trials):
    return 1.96 * math.sqrt(estimate * (1 - estimate) / trials)


def allowed_half_width(length, trials):
    """Two thousandths: division by trials - 1, or 1.95996 for 1.96, pass; another confidence level does not."""
    return 2e-3 * half_width_of(truth(length), trials)


def simulated(student, cases):
    """The two numbers of each simulation; `cases` holds (length, trials, seed)."""
    for case, answer in zip(cases, student.simulate_sign_of_mean.each(cases), strict=True):
        name = f"simulate_sign_of_mean{case}"
        estimate, half_width = parts(answer, 2, name=name)
        yield scalar(estimate, name=f"the estimate of {name}"), scalar(half_width, name=f"the half-width of {name}")


@graded(
    "simulate_sign_of_mean",
    points=1,
    hint="A trial succeeds when the mean has the sign of token 0. The half-width follows from the estimate and the trials.",
)
def test_simulation_agrees_with_theory(student):
    """Long runs agree with the closed form, and the half-width fits the estimate and the number of trials."""
    # At 100 000 trials the band is 0.0092; the majority of signs would be 0.0217 off at length 8, 0.054 at length 3.
    cases = ((8, 100_000, 11), (3, 100_000, 12))
    for (length, trials, _), (estimate, _) in zip(cases, simulated(student, cases), strict=True):
        close(estimate, truth(length), atol=band(trials), name=f"estimate at length {length}")
    cases = ((2, 1000, 21), (8, 4000, 22), (30, 9000, 23))
    for (length, trials, _), (estimate, half_width) in zip(cases, simulated(student, cases), strict=True):
        close(estimate, truth(length), atol=band(trials), name=f"estimate at length {length}")
        close(half_width, half_width_of(estimate, trials), atol=allowed_half_width(length, trials), name="half-width")
    # Very many tokens: success is close to a coin, and by chance some estimates fall below one half.
    for estimate, half_width in simulated(student, [(1000, 400, seed) for seed in range(30, 36)]):
        close(estimate, truth(1000), atol=band(400), name="estimate of few trials")
        close(half_width, half_width_of(estimate, 400), atol=allowed_half_width(1000, 400), name="half-width of few trials")


@graded(
    "simulate_sign_of_mean",
    points=1,
    hint="Fresh draws for every seed, all trials independent, and nothing but the draws in the estimate.",
)
def test_estimates_scatter_as_they_should(student):
    """Over many seeds the estimates scatter as independent trials do."""
    length, trials, seeds = 4, 400, 40
    spread = math.sqrt(truth(length) * (1 - truth(length)) / trials)
    cases = [(length, trials, seed) for seed in range(100, 100 + seeds)]
    estimates = [estimate for estimate, _ in simulated(student, cases)]
    # Two estimates of 400 trials are equal in 4 % of all cases, forty practically never.
    require(len(set(estimates)) > 1, "all seeds gave the same estimate")
    require(all(0 <= estimate <= 1 for estimate in estimates), "an estimate is a share of the trials")
    total = sum(((estimate - truth(length)) / spread) ** 2 for estimate in estimates)
    # Close to chi-squared with 40 degrees of freedom. From the binomial distribution itself: P(total < 6) = 8e-11 (by
    # convolution) and P(total > 130) <= 5e-10 (Chernoff).
    require(6 < total < 130, f"estimates of {seeds} seeds scatter by {math.sqrt(total / seeds):.2f} of what they should")


# ----------------------------------------------------------------------------------------------------- bayes_decision


@graded(
    "bayes_decision",
    points=1,
    hint="Count how often your rule is right over all sign patterns of a few tokens; no order allowed.",
)
def test_decisions_reach_the_bound(student, rng, ledger):
    """Over all sign patterns the rule is right exactly as often as the best rule; long lists are decided too."""
    length = ledger.value("D1-6", "length")
    right = 0
    patterns = list(itertools.product((1, -1), repeat=length))
    answers = student.bayes_decision.each((np.array(signs),) for signs in patterns)
    for signs, decision in zip(patterns, answers, strict=True):
        decision = integer(decision, name="bayes_decision(signs)")
        require(decision in (-1, 1), f"a decision is +1 or -1, not {decision}")
        right += decision == signs[0]
        majority = 1 if sum(signs) >= 0 else -1
        same(decision, majority, name=f"bayes_decision({list(signs)})")
    bound = Fraction(ledger.value("D1-6", "numerator"), ledger.value("D1-6", "denominator"))
    same(Fraction(right, 2**length), bound, name="the accuracy over all sign patterns")

    cases = ((51, 101, 1), (50, 101, -1), (50, 100, 1), (1, 1, 1), (0, 3, -1))
    answers = student.bayes_decision.each(
        (rng.permutation(np.where(np.arange(n) < positive, 1, -1)),) for positive, n, _ in cases
    )
    for (positive, n, expected), decision in zip(cases, answers, strict=True):
        decision = integer(decision, name="bayes_decision(signs)")
        same(decision, expected, name=f"bayes_decision with {positive} positive signs of {n}")
    for signs in ([], [1, 0, -1], [1, 2, -1], [0.5, 1.0]):
        refuses(student.bayes_decision, np.array(signs), name="bayes_decision", why="signs are +1 and -1, at least one")


# ---------------------------------------------------------------------------------------------- invariant_bayes_bound


def even_bound(length):
    """The bound for p = 1/2 in closed form: 1/2 + C(2m, m) / 2^(2m + 1) with m = length // 2."""
    m = length // 2
    return Fraction(1, 2) + Fraction(math.comb(2 * m, m), 2 ** (2 * m + 1))


@graded("invariant_bayes_bound", points=1, hint="Stay with fractions from the first line to the last.")
def test_bound_at_every_length(student):
    """Every length up to twelve, and biased signs, give the exact fraction."""
    cases = ((2, Fraction(1, 3)), (3, Fraction(9, 10)), (5, Fraction(2, 7)), (6, Fraction(5, 8)), (7, Fraction(0)))
    for (length, p), bound in zip(cases, student.invariant_bayes_bound.each(cases), strict=True):
        expected = Fraction(0)
        for signs in itertools.product((0, 1), repeat=length):
            r = sum(signs)
            expected += p**r * (1 - p) ** (length - r) * Fraction(max(r, length - r), length)
        name = f"invariant_bayes_bound({length}, p={p})"
        same(fraction(bound, name=name), expected, name=name)
    lengths = range(1, 13)
    answers = student.invariant_bayes_bound.each((length,) for length in lengths)
    for length, bound in zip(lengths, answers, strict=True):
        name = f"invariant_bayes_bound({length})"
        same(fraction(bound, name=name), even_bound(length), name=name)


@graded(
    "invariant_bayes_bound",
    points=1,
    hint="Hundreds of tokens need binomial coefficients; impossible questions need a ValueError.",
)
def test_bound_for_long_and_for_impossible_inputs(student):
    """Impossible inputs are refused, and hundreds of tokens work."""
    for length, p in ((0, Fraction(1, 2)), (-3, Fraction(1, 2)), (4, Fraction(-1, 3)), (4, Fraction(4, 3))):
        name = f"invariant_bayes_bound({length}, p={p})"
        refuses(student.invariant_bayes_bound, length, p=p, name=name, why="there is no such experiment")
    # Last, because whoever lists all patterns is stopped here, and nowhere else.
    for length in (30, 201, 400):
        name = f"invariant_bayes_bound({length})"
        same(fraction(student.invariant_bayes_bound(length), name=name), even_bound(length), name=name)


# -------------------------------------------------------------------------------------------- baselines, biased_signs


@graded("baselines", points=1, hint="Which of the two numbers belongs to a rule, and which to all rules?")
def test_baselines(student, reference):
    """The two numbers and the trained model are put in the right order."""
    same(letter(student, "baselines"), reference.baselines, name="baselines")


@graded("biased_signs", points=1, hint="Ask what is still unknown once you have seen the set of tokens.")
def test_biased_signs(student, reference):
    """The guess and its chance are right when signs are biased."""
    same(letter(student, "biased_signs"), reference.biased_signs, name="biased_signs")


# ------------------------------------------------------------------------------------------------------------- shifts


@graded(
    "shifts",
    points=1,
    hint="Indices run round the ring, in the direction of the docstring's formula, as often as the kernel needs.",
)
def test_convolution_by_definition(student, rng):
    """Random tokens and kernels give what the formula says."""
    sizes = ((5, 2, 3), (4, 4, 3), (4, 3, 4), (3, 1, 8), (1, 2, 3), (6, 2, 1), (2, 2, 2))
    cases = [(rng.normal(size=(n, d)), rng.normal(size=m)) for n, d, m in sizes]
    for (x, kernel), output in zip(cases, student.circular_convolution.each(cases), strict=True):
        (n, d), m = x.shape, len(kernel)
        expected = np.zeros((n, d))
        for i in range(n):
            for j in range(m):
                expected[i] += kernel[j] * x[(i - j) % n]
        name = f"circular_convolution(x of shape ({n}, {d}), kernel of length {m})"
        output = array(output, shape=(n, d), name=name)
        close(output, expected, atol=LOOSE * 10, name=name)


def expect_shift_verdict(student, layer, x, expected, why):
    """Require the verdict `expected`, for the reason `why`."""
    verdict = boolean(student.is_shift_equivariant(layer, x), name="is_shift_equivariant(layer, x)")
    require(verdict == expected, f"is_shift_equivariant should be {expected} here: {why}")


@graded(
    "shifts",
    points=1,
    hint="There are n shifts, and each of them counts. The rounding rule is the one of is_equivariant.",
)
def test_shift_verdict_on_many_layers(student, reference, rng):
    """Convolution on a ring and full attention pass, rounding included; layers with an edge or with faint places do not."""
    x, weights = rng.normal(size=(7, 4)), projections(rng, 4, 4, 4)
    kernel = [0.5, 0.3, 0.2]

    def full(y):
        return reference.self_attention(y, *weights)

    def causal(y):
        return reference.self_attention(y, *weights, mask=CAUSAL[: len(y), : len(y)])

    def with_edge(y):
        padded = np.vstack([np.zeros((2, y.shape[1])), y])
        return sum(weight * padded[2 - j : 2 - j + len(y)] for j, weight in enumerate(kernel))

    expect_shift_verdict(student, doubled, x, True, "each token is doubled where it stands")
    expect_shift_verdict(student, ring_convolution(kernel), x, True, "a convolution on a ring has no edge")
    expect_shift_verdict(student, lambda y: np.tanh(ring_convolution(kernel)(y)), x, True, "tanh treats all places alike")
    expect_shift_verdict(student, full, x, True, "shifts are permutations")
    expect_shift_verdict(student, with_edge, x, False, "zeros before the first token make an edge")
    expect_shift_verdict(student, causal, x, False, "the causal mask has a first place")
    expect_shift_verdict(student, running_sum, x, False, "a running sum starts at the first place")
    x = np.array([[-1.0], [-2.0], [3.0], [5.0], [0.5], [-4.0]])

    def within_pairs(y):
        return y + np.repeat((y[0::2] + y[1::2]) / 2, 2, axis=0)

    def gate_at_the_front(y):
        return y + np.where(np.arange(len(y))[:, None] == 0, np.maximum(y, 0.0), 0.0)

    def mirrored(y):
        return y + y[::-1]

    expect_shift_verdict(student, within_pairs, x, False, "it commutes with even shifts only")
    # The tokens that come to the front after one step in either direction are negative, and the gate stays shut.
    expect_shift_verdict(student, gate_at_the_front, x, False, "a positive token at the front is treated differently")
    expect_shift_verdict(student, mirrored, x, False, "it commutes with reversal only")
    expect_shift_verdict(student, lambda y: y + np.roll(y, 3, axis=0), x, True, "it adds the token opposite on the ring")
    x, weights = rng.normal(size=(8, 6)), projections(rng, 6, 6, 6)

    def alike(y):
        return reference.self_attention(y, *(w.astype(y.dtype) for w in weights))

    single = x.astype(np.float32)
    scale = np.abs(alike(x)).max()
    faint, small = louder_at(3, 1e-9 * scale), louder_at(3, 1e-3 * scale)
    expect_shift_verdict(student, doubled, x, True, "each token is doubled where it stands")
    expect_shift_verdict(student, alike, x, True, "its gap is float64 rounding")
    expect_shift_verdict(student, alike, single, True, "its gap is float32 rounding")
    expect_shift_verdict(student, lambda y: 1e10 * alike(y), x, True, "large numbers have large rounding errors")
    expect_shift_verdict(student, lambda y: faint(alike(y)), x, False, "one place is louder by 1e-9")
    expect_shift_verdict(student, lambda y: small(alike(y)), single, False, "one place is louder by 1e-3")
    expect_shift_verdict(student, lambda y: 1e-14 * running_sum(y), x, False, "small numbers have small rounding errors")
    expect_shift_verdict(student, np.zeros_like, x, True, "zeros shift to zeros")
    expect_shift_verdict(student, lambda y: np.where(y == y.max(), np.nan, y), x, False, "the layer returns one NaN")
    expect_shift_verdict(student, lambda y: np.where(y == y.max(), np.inf, y), x, False, "the layer returns infinity")
    expect_shift_verdict(student, lambda y: alike(y.astype(np.float32)), x, True, "the output is float32")


# ---------------------------------------------------------------------------------------------------- groups, freedom


@graded("groups", points=1, hint="Every shift is a permutation. Is every permutation a shift?")
def test_groups(student, reference):
    """What follows from one symmetry for the other is right."""
    same(letter(student, "groups"), reference.groups, name="groups")


@graded("freedom", points=1, hint="Move one entry of the matrix by all permutations, and see where it can land.")
def test_freedom(student, reference):
    """The free numbers of a symmetric linear layer are counted right."""
    same(letter(student, "freedom"), reference.freedom, name="freedom")
