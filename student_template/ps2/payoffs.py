"""Drawings of what your own functions do, one for each question."""

import itertools

import matplotlib.pyplot as plt
import numpy as np

# Okabe and Ito's palette: distinguishable with every common form of colour blindness. Lines differ in style as well.
BLUE, ORANGE, RED, GREY = "#0072B2", "#E69F00", "#D55E00", "#6E6E6E"
WORDS = ["dog", "bites", "man", "in", "the", "park"]
SHUFFLED = np.array([2, 5, 0, 4, 1, 3])


def _random_layer(work, mask=None):
    """Six random tokens of width 8, and your layer with random projections."""
    generator = np.random.default_rng(7)
    tokens, projections = generator.normal(size=(6, 8)), generator.normal(size=(3, 8, 8)) / np.sqrt(8)
    return tokens, lambda y: work.self_attention(y, *projections, mask=mask)


def self_attention(work):
    """How much each word reads each other word in your layer, in two orders of the same six words.

    Values are one-hot here, so each row of the output is a row of weights. Find "the" reading
    "man" on both sides: the shade must be the same.
    """
    generator = np.random.default_rng(7)
    tokens, (w_q, w_k) = generator.normal(size=(6, 8)), generator.normal(size=(2, 8, 8)) / np.sqrt(8)
    drawing, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for axes, order, title in zip(panels, (np.arange(6), SHUFFLED), ("as written", "reordered"), strict=True):
        # Six more columns name the words; queries and keys do not see them.
        names = np.hstack([tokens, np.eye(6)])[order]
        blind = np.zeros((6, 8))
        by_name = work.self_attention(
            names, np.vstack([1.4 * w_q, blind]), np.vstack([w_k, blind]), np.vstack([np.zeros((8, 6)), np.eye(6)])
        )
        picture = axes.imshow(by_name[:, order], cmap="Greys", vmin=0, vmax=1)
        axes.set_xticks(range(6), [WORDS[place] for place in order], rotation=40)
        axes.set_yticks(range(6), [WORDS[place] for place in order])
        axes.set_title(title)
        axes.set_xlabel("key")
    panels[0].set_ylabel("query")
    drawing.colorbar(picture, ax=panels, label="weight", shrink=0.8)
    return drawing


def equivariance_gap(work):
    """Your gap of your own layer over two hundred reorderings, without a mask and with a causal one.

    Without a mask all gaps are rounding. With it, hardly any reordering leaves the outputs alone.
    """
    generator = np.random.default_rng(1)
    orders = [generator.permutation(6) for _ in range(200)]
    drawing, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for mask, label, color in ((None, "no mask", BLUE), (np.tri(6, dtype=bool), "causal mask", RED)):
        tokens, layer = _random_layer(work, mask)
        gaps = np.array([work.equivariance_gap(layer, tokens, order) for order in orders])
        axes.hist(np.log10(np.maximum(gaps, 1e-17)), bins=np.arange(-17.25, 1.5, 0.25), color=color, label=label)
    axes.set_xlabel("power of ten of the gap (−17: exactly zero)")
    axes.set_ylabel("reorderings")
    axes.legend()
    return drawing


def pooling(work):
    """Eight tokens in a hundred orders: the rows of attention trade places, your pooled number does not move.

    Grey: the first output row, which belongs to whichever token stands first. Blue: the pooled
    number. It moves in the sixteenth digit only.
    """
    generator = np.random.default_rng(3)
    tokens, query = generator.normal(size=(8, 4)), generator.normal(size=4)
    w_q, w_k, w_v = generator.normal(size=(4, 4)), generator.normal(size=(4, 4)), generator.normal(size=(4, 1))
    orders = [generator.permutation(8) for _ in range(100)]
    first = [work.self_attention(tokens[order], w_q, w_k, w_v)[0, 0] for order in orders]
    pooled = [work.pooled_attention(tokens[order], query, w_k, w_v)[0] for order in orders]
    drawing, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    axes.plot(first, ".", color=GREY, label="first row of self-attention")
    axes.plot(pooled, color=BLUE, label="pooled by a learned query")
    axes.set_xlabel("order of the tokens")
    axes.set_ylabel("output")
    drawing.legend(loc="outside upper center", ncols=2)
    return drawing


def sign_of_mean_accuracy(work):
    """Your accuracy of the sign of the mean, from one token to a hundred, and your prediction for eight.

    It falls towards a coin, but slowly: to halve the advantage takes four times as many tokens.
    """
    lengths = np.arange(1, 101)
    drawing, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    axes.plot(lengths, [work.sign_of_mean_accuracy(int(length)) for length in lengths], color=BLUE)
    axes.axhline(0.5, color=GREY, linestyle=":")
    predicted = {"a": 0.5, "b": 0.62, "c": 0.75, "d": 0.88}.get(work.guess_baseline)
    if predicted is not None:
        axes.plot(8, predicted, "x", color="black", markersize=10, label=f"you predicted {predicted} for eight tokens")
        axes.legend()
    axes.set_xscale("log")
    axes.set_xticks([1, 8, 32, 100], ["1", "8", "32", "100"])
    axes.set_xlabel("number of tokens")
    axes.set_ylabel("accuracy")
    return drawing


def bayes_decision(work):
    """Your rule against the sign of the mean, by the number of positive tokens among eight.

    Twenty thousand random examples. Where the two rules disagree, one loud token has outvoted
    several quiet ones, and the majority is right more often.
    """
    tokens = np.random.default_rng(4).normal(size=(20_000, 8))
    signs = np.where(tokens > 0, 1, -1)
    rules = {tuple(row): work.bayes_decision(np.array(row)) for row in itertools.product((-1, 1), repeat=8)}
    majority = np.array([rules[tuple(row)] for row in signs.tolist()])
    by_mean = np.where(tokens.mean(axis=1) > 0, 1, -1)
    counts = (signs > 0).sum(axis=1)
    drawing, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for answers, label, color, style in ((majority, "your rule", BLUE, "-o"), (by_mean, "sign of the mean", ORANGE, "--s")):
        shares = [np.mean(answers[counts == r] == signs[counts == r, 0]) for r in range(9)]
        total = np.mean(answers == signs[:, 0])
        axes.plot(range(9), shares, style, color=color, label=f"{label}: right in {total:.1%} of all examples")
    axes.set_xlabel("positive tokens among eight")
    axes.set_ylabel("share of right answers")
    axes.legend()
    return drawing


def is_equivariant(work):
    """What your verdict tolerates: a layer whose last place is louder, by ever smaller amounts.

    The line is where your verdict turns from broken to equivariant. In float64 it should lie near
    1e-14, in float32 near 1e-5.
    """
    amounts = 10.0 ** -np.arange(1, 18)
    drawing, axes = plt.subplots(figsize=(7, 2.6), layout="constrained")
    for row, dtype in enumerate((np.float64, np.float32)):
        tokens = np.random.default_rng(5).normal(size=(7, 3)).astype(dtype)

        def louder(y, amount):
            return 2 * y + (amount * (np.arange(len(y)) == len(y) - 1)[:, None]).astype(y.dtype)

        verdicts = [work.is_equivariant(lambda y, amount=amount: louder(y, amount), tokens) for amount in amounts]
        for passes, color, marker in ((True, BLUE, "o"), (False, RED, "x")):
            chosen = [amount for amount, verdict in zip(amounts, verdicts, strict=True) if bool(verdict) == passes]
            label = ("equivariant" if passes else "broken") if row == 0 else None
            axes.plot(chosen, [row] * len(chosen), linestyle="none", marker=marker, color=color, label=label)
    axes.set_xscale("log")
    axes.set_ylim(-0.6, 2.0)
    axes.set_yticks([0, 1], ["float64", "float32"])
    axes.set_xlabel("how much louder the last place is")
    axes.legend(loc="upper center", ncols=2)
    return drawing


def simulate_sign_of_mean(work):
    """Forty of your simulations with their intervals. About two of forty should miss the truth."""
    drawing, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    truth = 0.5 + np.arcsin(1 / np.sqrt(8)) / np.pi
    for seed in range(40):
        estimate, half_width = work.simulate_sign_of_mean(8, 1000, seed)
        missed = abs(estimate - truth) > half_width
        axes.errorbar(seed, estimate, half_width, color=RED if missed else BLUE, marker="x" if missed else ".")
    axes.axhline(truth, color=GREY, linestyle="--")
    axes.set_xlabel("seed")
    axes.set_ylabel("estimate and interval")
    return drawing


def invariant_bayes_bound(work):
    """Your bound against the number of tokens, beside your accuracy of the sign of the mean.

    The bound falls in steps: an odd token costs nothing, because it breaks ties.
    """
    lengths = list(range(1, 25))
    drawing, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    axes.plot(
        lengths, [float(work.invariant_bayes_bound(length)) for length in lengths], "-s", color=BLUE, label="your bound"
    )
    means = [work.sign_of_mean_accuracy(length) for length in lengths]
    axes.plot(lengths, means, "--o", color=ORANGE, label="sign of the mean")
    axes.axhline(0.5, color=GREY, linestyle=":")
    axes.set_xlabel("number of tokens")
    axes.set_ylabel("accuracy")
    axes.legend()
    return drawing


def shifts(work):
    """A pulse on a ring and your convolution of it, before and after a shift, and after a swap of two tokens.

    After the shift, the answer is the old one, shifted. After the swap it has another shape.
    """
    pulse = np.zeros((12, 1))
    pulse[2:4] = 1.0
    kernel = np.array([0.1, 0.5, 0.3, 0.1])
    swapped = pulse.copy()
    swapped[[3, 8]] = pulse[[8, 3]]
    drawing, panels = plt.subplots(1, 3, figsize=(9, 2.8), sharey=True, layout="constrained")
    cases = ((pulse, "as it is"), (np.roll(pulse, 5, axis=0), "shifted by 5"), (swapped, "tokens 3 and 8 swapped"))
    for axes, (tokens, title) in zip(panels, cases, strict=True):
        axes.bar(range(12), tokens[:, 0], color="0.8", label="tokens")
        axes.plot(work.circular_convolution(tokens, kernel)[:, 0], "-o", color=BLUE, label="your convolution")
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel("place")
    panels[0].legend(fontsize="small")
    return drawing


def broken_bound(work):
    """Twenty thousand tests of 1000 examples each, for a rule that is right as often as your bound says.

    The dark part is the tests that show 66 % or more.
    """
    shares = np.random.default_rng(6).binomial(1000, float(work.invariant_bayes_bound(8)), size=20_000) / 1000
    drawing, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for chosen, color in ((shares[shares < 0.66], "0.75"), (shares[shares >= 0.66], "0.2")):
        axes.hist(chosen, bins=np.arange(0.5775, 0.7, 0.005), color=color)
    predicted = {"a": "never", "b": "in 6 of 100", "c": "in 6 of 10 000", "d": "in half"}.get(work.guess_broken)
    said = "" if predicted is None else f"; you predicted {predicted}"
    axes.set_title(f"66 % or more: {np.mean(shares >= 0.66):.1%} of all tests{said}", fontsize="medium")
    axes.set_xlabel("accuracy on 1000 examples")
    axes.set_ylabel("tests")
    return drawing
