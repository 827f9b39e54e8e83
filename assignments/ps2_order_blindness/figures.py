"""The figures of problem set 2. Every number in them is computed here or read off the reference solution."""

import math
from fractions import Fraction

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, Wedge

from solutions.ps2_order_blindness import (
    circular_convolution,
    equivariance_gap,
    invariant_bayes_bound,
    self_attention,
    sign_of_mean_accuracy,
)

# Okabe and Ito's palette: distinguishable with every common form of colour blindness.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#6E6E6E"
WORDS = ["dog", "bites", "man", "in", "the", "park"]


def random_layer(dtype: type = np.float64, width: int = 8) -> tuple[np.ndarray, list[np.ndarray]]:
    """Six random tokens and three projections, the same ones in every figure."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal((len(WORDS), width)).astype(dtype)
    return x, [rng.standard_normal((width, width)).astype(dtype) / dtype(math.sqrt(width)) for _ in range(3)]


def shuffle() -> Figure:
    """Attention weights before and after a reordering: the same cells, moved."""
    x, (w_q, w_k, _) = random_layer()
    order = np.array([2, 5, 0, 4, 1, 3])
    figure = Figure(figsize=(8.4, 4.0), layout="constrained")
    panels = figure.subplots(1, 2)
    for panel, permutation, title in ((panels[0], np.arange(6), "as written"), (panels[1], order, "reordered")):
        tokens = x[permutation]
        scores = 1.4 * (tokens @ w_q) @ (tokens @ w_k).T / math.sqrt(w_q.shape[1])
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        image = panel.imshow(weights, cmap="Greys", vmin=0, vmax=1)
        words = [WORDS[i] for i in permutation]
        panel.set_xticks(range(6), words, rotation=35)
        panel.set_yticks(range(6), words)
        panel.set_title(title)
        panel.set_xlabel("key")
        row, column = words.index("the"), words.index("man")
        panel.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=RED, linewidth=2.2))
        panel.text(
            column,
            row,
            f"{weights[row, column]:.2f}",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if weights[row, column] > 0.4 else "black",
        )
    panels[0].set_ylabel("query")
    figure.colorbar(image, ax=panels, label="weight", shrink=0.85)
    return figure


def gaps() -> Figure:
    """Relative gaps of six layers, with the line that separates rounding from a broken symmetry."""
    order = np.array([2, 5, 0, 4, 1, 3])
    causal = np.tril(np.ones((6, 6), dtype=bool))
    x, weights = random_layer()
    x32, weights32 = random_layer(np.float32)
    kernel = np.array([0.5, 0.3, 0.2])
    position = np.linspace(-1, 1, 6)[:, None]
    bias = 1e-3 * position.astype(np.float32)
    shift = np.roll(np.arange(6), 2)
    layers = [
        ("full attention, float64", lambda y: self_attention(y, *weights), x, order),
        ("full attention, float32", lambda y: self_attention(y, *weights32), x32, order),
        ("float32, with a tiny position signal", lambda y: self_attention(y, *weights32) + bias, x32, order),
        ("with positions added", lambda y: self_attention(y + position, *weights), x, order),
        ("with a causal mask", lambda y: self_attention(y, *weights, mask=causal), x, order),
        ("circular convolution, tokens reordered", lambda y: circular_convolution(y, kernel), x, order),
        ("circular convolution, tokens shifted", lambda y: circular_convolution(y, kernel), x, shift),
    ]
    figure = Figure(figsize=(8.4, 3.8), layout="constrained")
    axes = figure.subplots()
    floor = 2e-18
    for place, (_, layer, tokens, permutation) in enumerate(layers):
        gap = equivariance_gap(layer, tokens, permutation) / float(np.abs(layer(tokens)).max())
        single = tokens.dtype == np.float32
        limit = 64 * np.finfo(tokens.dtype).eps
        broken = gap > limit
        axes.plot([limit, limit], [place - 0.32, place + 0.32], color=GREY, linewidth=2)
        axes.plot(
            max(gap, floor),
            place,
            marker="X" if broken else "o",
            color=RED if broken else BLUE,
            markersize=9,
            linestyle="none",
            fillstyle="none" if single else "full",
            markeredgewidth=1.8,
        )
        if gap == 0:
            axes.annotate("exactly 0", (floor, place), xytext=(9, -3), textcoords="offset points", fontsize=9)
    axes.set_yticks(range(len(layers)), [name for name, *_ in layers])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(1e-18, 30)
    axes.set_xlabel("largest difference / largest output")
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    handles = [
        axes.plot([], [], marker="o", color=BLUE, linestyle="none", label="only rounding")[0],
        axes.plot([], [], marker="X", color=RED, linestyle="none", label="symmetry broken")[0],
        axes.plot([], [], color=GREY, linewidth=2, label="64 eps of the dtype (open marks: float32)")[0],
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    return figure


def half_planes() -> Figure:
    """Why arcsin: two half-planes whose edges meet at an angle."""
    length = 8
    angle = math.degrees(math.acos(1 / math.sqrt(length)))
    figure = Figure(figsize=(5.4, 5.0), layout="constrained")
    axes = figure.subplots()
    # Token 0 is positive right of the vertical line; the mean is positive on the side its own arrow points to.
    agree = [(angle - 90, 90), (angle + 90, 270)]
    disagree = [(-90, angle - 90), (90, angle + 90)]
    for spans, colour, label in ((agree, BLUE, "signs agree"), (disagree, ORANGE, "signs differ")):
        for k, (start, end) in enumerate(spans):
            axes.add_patch(
                Wedge(
                    (0, 0),
                    1.0,
                    start,
                    end,
                    facecolor=colour,
                    alpha=0.35,
                    edgecolor="none",
                    hatch=None if colour == BLUE else "///",
                    label=label if k == 0 else None,
                )
            )
    for direction, text in ((0.0, "token 0"), (math.radians(angle), "mean of all tokens")):
        tip = (1.12 * math.cos(direction), 1.12 * math.sin(direction))
        axes.annotate("", xy=tip, xytext=(0, 0), arrowprops={"arrowstyle": "-|>", "color": "black", "linewidth": 1.6})
        axes.text(tip[0] + 0.02, tip[1] + (0.05 if direction else -0.13), text, ha="center")
        edge = direction + math.pi / 2
        axes.plot([-math.cos(edge), math.cos(edge)], [-math.sin(edge), math.sin(edge)], color=GREY, linestyle="--")
    arc = np.radians(np.linspace(0, angle, 40))
    axes.plot(0.28 * np.cos(arc), 0.28 * np.sin(arc), color="black", linewidth=1)
    axes.text(0.32, 0.2, f"{angle:.1f}°", fontsize=10)
    axes.set_xlim(-1.15, 1.5)
    axes.set_ylim(-1.15, 1.25)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(f"{length} tokens: signs agree on {1 - angle / 180:.4f} of the circle")
    axes.legend(loc="lower right", frameon=False)
    return figure


def counting() -> Figure:
    """How the bound adds up for eight tokens: how likely each count is, and what the best guess earns there."""
    length = 8
    counts = np.arange(length + 1)
    likely = np.array([math.comb(length, r) / 2**length for r in counts])
    right = np.maximum(counts, length - counts) / length
    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.bar(counts, likely, color="0.85", edgecolor=GREY, label="share of sequences")
    axes.bar(counts, likely * right, color=BLUE, label="of which the majority is right")
    for r in counts:
        text = Fraction(int(max(r, length - r)), length)
        axes.annotate(str(text), (r, likely[r]), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=9)
    axes.set_xticks(counts)
    axes.set_ylim(0, 0.33)
    axes.set_xlabel("positive tokens among eight")
    axes.set_ylabel("share")
    axes.set_title(f"All blue areas together: {invariant_bayes_bound(length)} = {float(invariant_bayes_bound(length))}")
    axes.legend(frameon=False, loc="upper right", fontsize=9)
    return figure


def ceilings() -> Figure:
    """Two reference lines against length, and the measured model without positions."""
    lengths = np.arange(1, 33)
    figure = Figure(figsize=(8.0, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.plot(
        lengths,
        [float(invariant_bayes_bound(int(n))) for n in lengths],
        color=BLUE,
        marker="s",
        markersize=4,
        label="bound: best rule that ignores order",
    )
    axes.plot(
        lengths,
        [sign_of_mean_accuracy(int(n)) for n in lengths],
        color=ORANGE,
        marker="o",
        markersize=4,
        linestyle="--",
        label="sign of the mean",
    )
    axes.axhline(0.5, color=GREY, linewidth=1, linestyle=":", label="coin")
    bound = float(invariant_bayes_bound(8))
    reach = 3 * math.sqrt(bound * (1 - bound) / 1000)
    axes.errorbar([8], [bound], yerr=[reach], color=BLUE, capsize=5, linewidth=1.4, linestyle="none")
    axes.annotate(
        "three standard deviations\nof 1000 test examples",
        (8, bound + reach),
        xytext=(10.5, 0.74),
        arrowprops={"arrowstyle": "-", "color": GREY},
        fontsize=9,
    )
    # The measured accuracies are row D1-7 of the ledger, at scale 0.
    axes.plot(8, 0.58, marker="D", color=RED, markersize=8, linestyle="none", label="trained, no positions: test")
    axes.plot(
        8,
        0.64,
        marker="D",
        color=RED,
        markersize=8,
        fillstyle="none",
        linestyle="none",
        label="trained, no positions: train",
    )
    axes.set_xscale("log", base=2)
    axes.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    axes.set_xlabel("number of tokens")
    axes.set_ylabel("accuracy")
    axes.set_ylim(0.48, 1.02)
    axes.legend(frameon=False, loc="upper right", fontsize=9)
    return figure


def patterns() -> Figure:
    """Which entries of a linear layer on eight numbers must be equal under three symmetries."""
    n = 8
    grids = [
        ("no symmetry: 64 numbers", np.arange(n * n).reshape(n, n)),
        ("every shift: 8 numbers", (np.arange(n)[:, None] - np.arange(n)) % n),
        ("every permutation: 2 numbers", np.where(np.eye(n, dtype=bool), 0, 6)),
    ]
    figure = Figure(figsize=(8.6, 3.2), layout="constrained")
    for panel, (title, grid) in zip(figure.subplots(1, 3), grids, strict=True):
        top = int(grid.max())
        shades = ListedColormap([_shade(value / max(top, 1)) for value in range(top + 1)])
        panel.imshow(grid, cmap=shades, vmin=-0.5, vmax=top + 0.5)
        if top < n * n - 1:
            for (row, column), value in np.ndenumerate(grid):
                light = value / top > 0.55
                letter = "abcdefgh"[value] if top == n - 1 else "ab"[int(value > 0)]
                panel.text(column, row, letter, ha="center", va="center", fontsize=8, color="black" if light else "white")
        panel.set_title(title, fontsize=10)
        panel.set_xticks([])
        panel.set_yticks([])
    return figure


def _shade(fraction: float) -> tuple[float, float, float]:
    """A step on a straight line from dark blue to pale yellow; its brightness alone tells the steps apart."""
    dark, pale = np.array([0.0, 0.15, 0.35]), np.array([1.0, 0.93, 0.6])
    red, green, blue = dark + fraction * (pale - dark)
    return float(red), float(green), float(blue)


FIGURES = {
    "shuffle": shuffle,
    "gaps": gaps,
    "half_planes": half_planes,
    "counting": counting,
    "ceilings": ceilings,
    "patterns": patterns,
}
