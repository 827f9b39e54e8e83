"""What your own functions show, once they work: one picture for each question. Each runs in about a second."""

import matplotlib.pyplot as plt
import numpy as np

# Okabe and Ito's palette: distinguishable with every common form of colour blindness. Lines differ in style as well.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#6E6E6E"
WIDTHS = [4, 16, 64, 256, 1024]


def _against_width(axes, label):
    axes.set_xscale("log", base=4)
    axes.set_xticks(WIDTHS, [str(d) for d in WIDTHS])
    axes.set_xlabel("width d")
    axes.set_ylabel(label)


def entropy(work):
    """The entropy of a row that splits its weight between one favourite and fifteen others.

    It is largest at the even split and falls to zero as the favourite wins. Where does it
    start, and why not at zero?
    """
    shares = np.linspace(0.0, 1.0, 101)
    rows = np.column_stack([shares, *[(1 - shares) / 15] * 15])
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    axes.plot(shares, work.entropy(rows), color=BLUE)
    axes.axhline(np.log(16), color=GREY, linestyle="--")
    axes.text(0.98, np.log(16) - 0.05, "ln 16, the most there is", ha="right", va="top", color=GREY)
    axes.axvline(1 / 16, color=GREY, linestyle=":")
    axes.text(1 / 16 + 0.01, 0.1, "even split", color=GREY)
    axes.set_xlabel("weight of the favourite")
    axes.set_ylabel("entropy in nats")
    return figure


def concentration(work):
    """The same random scores, multiplied by a factor from 0 to 20: what their standard deviation
    does to a softmax.

    A factor of 1 is what division by the root gives you. At 8, which is the standard deviation at
    width 64 without it, the favourite has most of the weight.
    """
    scores = np.random.default_rng(1).standard_normal((500, 16))
    factors = np.linspace(0.0, 20.0, 41)
    _, entropies, winners = np.transpose([work.concentration(factor * scores) for factor in factors])
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    axes.plot(factors, entropies, color=BLUE, label="mean entropy (nats)")
    axes.plot(factors, winners, color=RED, linestyle="--", label="mean largest weight")
    axes.set_xlabel("standard deviation of the scores")
    axes.legend()
    return figure


def sqrt_d_table(work):
    """What dividing by the root prevents: your thirty figures as two curves.

    Without the division, entropy falls towards zero and the winner takes nearly everything.
    With it, both hardly depend on the width.
    """
    table = work.sqrt_d_table(WIDTHS)
    figure, panels = plt.subplots(1, 2, figsize=(9, 4.0), layout="constrained")
    for axes, column, label in zip(panels, (1, 2), ("mean entropy in nats", "mean largest weight"), strict=True):
        axes.plot(WIDTHS, table[:, column], color=RED, marker="s", linestyle="--", label="unscaled")
        axes.plot(WIDTHS, table[:, 3 + column], color=BLUE, marker="o", label="divided by √d")
        landmark = {1: np.log(16), 2: 1 / 16}[column]
        axes.axhline(landmark, color=GREY, linewidth=1, linestyle=":", label="even split")
        _against_width(axes, label)
        axes.set_ylim(0, 2.95 if column == 1 else 1.0)
    predicted = {"a": 0.06, "b": 0.25, "c": 0.5, "d": 0.95}.get(work.guess_winner)
    if predicted is not None:
        panels[1].plot(
            [1024], [predicted], color="black", marker="x", markersize=10, linestyle="none", label="you predicted"
        )
    figure.legend(*panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def own_scores(work):
    """The standard deviation of the scores in thirty runs at d = 4: with keys of their own, and
    with sixteen keys that all queries share.

    Both are right on average. Only one of them is an experiment that you could grade.
    """
    own = [np.std(work.own_scores(4, 1000, 16, seed)) / 2 for seed in range(30)]
    shared = []
    for seed in range(30):
        rng = np.random.default_rng(100 + seed)
        shared.append(np.std(rng.standard_normal((1000, 4)) @ rng.standard_normal((4, 16))) / 2)
    figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
    axes.plot(own, np.full(30, 1.0), "o", color=BLUE, alpha=0.6)
    axes.plot(shared, np.full(30, 0.0), "s", color=RED, alpha=0.6)
    axes.axvline(1.0, color=GREY, linestyle=":")
    axes.set_yticks([0, 1], ["shared keys", "own keys"])
    axes.set_ylim(-0.6, 1.6)
    axes.set_xlabel("standard deviation of the scores, divided by √d: one mark per run")
    return figure


def jacobian(work):
    """How strongly the weights respond, against the width, and against how sure a row is.

    Left: the mean norm of your Jacobian. Right: the norm of a row with one favourite among
    sixteen keys; it is largest in between, which is why d = 4 is an exception.
    """
    rng = np.random.default_rng(0)
    figure, (means, single) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    norms = []
    for d in WIDTHS:
        scores = np.linalg.norm(rng.standard_normal((2000, d)), axis=1)[:, np.newaxis] * rng.standard_normal((2000, 16))
        norms.append([np.mean(work.jacobian_norm(work.softmax(table))) for table in (scores, scores / np.sqrt(d))])
    unscaled, scaled = np.transpose(norms)
    means.plot(WIDTHS, unscaled, color=RED, marker="s", linestyle="--", label="unscaled")
    means.plot(WIDTHS, scaled, color=BLUE, marker="o", label="divided by √d")
    _against_width(means, "mean norm of the Jacobian")
    means.set_ylim(0, 0.36)
    means.legend()
    shares = np.linspace(1 / 16, 1.0, 100)
    single.plot(shares, work.jacobian_norm(np.column_stack([shares, *[(1 - shares) / 15] * 15])), color=BLUE)
    single.set_xlabel("weight of the favourite, from the even split on")
    single.set_ylabel("norm of the Jacobian")
    return figure


def attention_backward(work):
    """Your gradient against small steps, for one random direction and steps from 0.1 to 1e-10.

    A right gradient gives the V of section 5. A wrong one gives a flat line: the difference
    does not shrink with the step.
    """
    rng = np.random.default_rng(3)
    queries, keys, values, weighting = (rng.standard_normal((6, 4)) for _ in range(4))
    directions = rng.standard_normal((3, 6, 4))

    def loss(step):
        q, k, v = (each + step * along for each, along in zip((queries, keys, values), directions, strict=True))
        return np.sum(weighting * (work.softmax(q @ k.T / 2) @ v))

    gradients = work.attention_backward(queries, keys, values, weighting)
    slope = sum(np.sum(gradient * along) for gradient, along in zip(gradients, directions, strict=True))
    steps = 10.0 ** -np.arange(1, 11)
    gaps = [abs((loss(h) - loss(-h)) / (2 * h) - slope) for h in steps]
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    axes.loglog(steps, np.maximum(gaps, 1e-16), color=BLUE, marker="o")
    axes.axvline(1e-5, color=GREY, linestyle=":")
    axes.set_xlabel("step h")
    axes.set_ylabel("difference from your slope")
    return figure


def heads(work):
    """Four heads over the same eight random tokens: four tables from one layer."""
    rng = np.random.default_rng(5)
    x, matrices = rng.standard_normal((8, 16)), rng.standard_normal((4, 16, 16)) / 4
    _, weights = work.multi_head_attention(x, *matrices, 4)
    figure, panels = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained", sharey=True)
    for head, (axes, table) in enumerate(zip(panels, weights, strict=True)):
        image = axes.imshow(table, cmap="Greys", vmin=0, vmax=1)
        axes.set_title(f"head {head}")
        axes.set_xlabel("key")
    panels[0].set_ylabel("query")
    figure.colorbar(image, ax=panels, label="weight")
    return figure


def head_costs(work):
    """Operations and weights of one layer of width 512, for 1 to 64 heads and 2048 tokens."""
    heads = [1, 2, 4, 8, 16, 32, 64]
    costs = [work.head_costs(2048, 512, number) for number in heads]
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    axes.loglog(heads, [operations for operations, _ in costs], color=BLUE, marker="o", label="operations")
    axes.loglog(
        heads, [tables * 2048**2 for _, tables in costs], color=RED, marker="s", linestyle="--", label="weights to store"
    )
    axes.set_xticks(heads, [str(number) for number in heads])
    axes.minorticks_off()
    axes.set(xlabel="heads", ylabel="number")
    axes.legend()
    return figure


def two_relations(work):
    """Your two heads at work: each reads one place, in a circle, and no training was needed."""
    symbols, length = 5, 8
    letters = np.random.default_rng(2).integers(symbols, size=length)
    tokens = np.hstack([np.eye(symbols)[letters], np.eye(length)])
    w_q, w_k, *_ = work.two_head_weights(symbols, length, 1, -2)
    k = w_q.shape[1] // 2
    figure, panels = plt.subplots(1, 2, figsize=(6.6, 3.4), layout="constrained", sharey=True)
    for head, (axes, offset) in enumerate(zip(panels, ("+1", "−2"), strict=True)):
        own = slice(head * k, (head + 1) * k)
        weights = work.softmax((tokens @ w_q[:, own]) @ (tokens @ w_k[:, own]).T / np.sqrt(k))
        image = axes.imshow(weights, cmap="Greys", vmin=0, vmax=1)
        axes.set_title(f"head {head}: offset {offset}")
        axes.set_xlabel("place of the key")
    panels[0].set_ylabel("place of the query")
    figure.colorbar(image, ax=panels, label="weight")
    figure.suptitle(
        f"one head cannot get below an error of {work.one_head_floor(symbols):.2f} with {symbols} symbols", fontsize=10
    )
    return figure


def _random_block(rng, width, hidden):
    """A block with random weights of the usual size, gains of one and shifts of zero."""
    block = {name: rng.standard_normal((width, width)) / np.sqrt(width) for name in ("w_q", "w_k", "w_v", "w_o")}
    block["w_1"], block["b_1"] = rng.standard_normal((width, hidden)) / np.sqrt(width), np.zeros(hidden)
    block["w_2"], block["b_2"] = rng.standard_normal((hidden, width)) / np.sqrt(hidden), np.zeros(width)
    for number in (1, 2):
        block[f"gain_{number}"], block[f"shift_{number}"] = np.ones(width), np.zeros(width)
    return block


def block(work):
    """Who depends on whom in your block: token 4 of 8 is changed, with and without a causal
    mask.

    Without a mask every row moves, the changed one most. With it, nothing before token 4
    moves at all.
    """
    rng = np.random.default_rng(7)
    x, weights = rng.standard_normal((8, 16)), _random_block(rng, 16, 64)
    changed = x.copy()
    changed[4] = rng.standard_normal(16)
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    for place, (mask, label, color) in enumerate(((None, "no mask", BLUE), (work.causal_mask(8), "causal mask", ORANGE))):
        moved = work.transformer_block(changed, weights, 4, mask) - work.transformer_block(x, weights, 4, mask)
        style = {"color": color, "edgecolor": "black", "hatch": "//" if place else ""}
        axes.bar(np.arange(8) + 0.4 * place - 0.2, np.linalg.norm(moved, axis=1), width=0.4, label=label, **style)
    axes.set_xlabel("token")
    axes.set_ylabel("how far its output moved")
    axes.legend()
    return figure


def depth(work):
    """What each part of a block adds: spread and size of sixteen tokens through twelve random
    layers.

    Attention alone makes all tokens equal. Residual connections keep them apart and let
    them grow. Norms tame the growth.
    """
    rng = np.random.default_rng(0)
    x, blocks = rng.standard_normal((16, 32)), [_random_block(rng, 32, 128) for _ in range(12)]

    def attend(block):
        return lambda tokens: work.multi_head_attention(tokens, *(block[name] for name in ("w_q", "w_k", "w_v", "w_o")), 4)[
            0
        ]

    def with_residual(layer):
        return lambda tokens: tokens + layer(tokens)

    def whole(block, norm):
        return lambda tokens: work.transformer_block(tokens, block, 4, None, norm)

    stacks = {
        "attention alone": ([attend(block) for block in blocks], RED, ":", "v"),
        "attention + residual": ([with_residual(attend(block)) for block in blocks], ORANGE, "-.", "^"),
        "whole block, pre-norm": ([whole(block, "pre") for block in blocks], BLUE, "-", "o"),
        "whole block, post-norm": ([whole(block, "post") for block in blocks], GREEN, "--", "s"),
    }
    figure, (spreads, sizes) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    for label, (layers, color, line, marker) in stacks.items():
        spread, size = work.depth_profile(layers, x)
        style = {"color": color, "linestyle": line, "marker": marker, "markersize": 4}
        spreads.semilogy(np.maximum(spread, 1e-17), label=label, **style)
        sizes.plot(size, label=label, **style)
    predicted = {"b": 4, "c": 40, "d": 400}.get(work.guess_depth)
    if predicted is not None and predicted <= 12:
        spreads.axvline(predicted, color="black", linewidth=1)
        spreads.text(predicted + 0.2, 1e-9, "you predicted", rotation=90)
    elif work.guess_depth is not None:
        spreads.set_title(
            "you predicted: " + ("never" if predicted is None else f"after {predicted} layers, far to the right"), fontsize=9
        )
    spreads.set_ylabel("spread: 0 if all tokens are equal")
    sizes.set_ylabel("size: root mean square")
    for axes in (spreads, sizes):
        axes.set_xlabel("layers")
    figure.legend(*sizes.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    return figure


def rotate(work):
    """The score of a fixed query and a fixed key against their distance, at three places in
    the sequence.

    Three curves lie on each other: the place does not matter, only the distance does.
    """
    rng = np.random.default_rng(4)
    q, distances = rng.standard_normal((1, 16)), np.arange(0.0, 60.0)
    k = np.repeat(q + 0.5 * rng.standard_normal((1, 16)), len(distances), axis=0)
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    for start, color, style in ((0.0, BLUE, "-"), (100.0, ORANGE, "--"), (1000.0, "black", ":")):
        scores = work.rotate(k, start + distances) @ work.rotate(q, np.array([start]))[0]
        axes.plot(distances, scores / 4, color=color, linestyle=style, linewidth=2, label=f"query at {start:g}")
    axes.set_xlabel("distance of the key")
    axes.set_ylabel("score")
    axes.legend()
    return figure
