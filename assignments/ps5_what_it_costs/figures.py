"""The figures of problem set 5's handout. `python -m assignments.ps5_what_it_costs.figures` draws them anew."""

import math
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import yaml
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

HERE = Path(__file__).parent
LEDGER = yaml.safe_load((HERE.parent / "ledger.yml").read_text(encoding="utf-8"))["rows"]
# Colours that a colour-blind reader can tell apart (Okabe and Ito), and that differ in print.
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#7f7f7f"
TIMES = LEDGER["D1-16"]["values"]
LENGTHS, MEASURED, WIDTH = np.array(TIMES["lengths"]), np.array(TIMES["milliseconds"]), TIMES["dimension"]


def reach() -> Figure:
    """Which places an output reads: plain, dilated, and strided stacks of three taps."""
    stacks = (
        ("plain: reach 4", [1, 1], [1, 1]),
        ("dilations 1, 2: reach 6", [1, 2], [1, 1]),
        ("stride 2: reach 6", [1, 1], [2, 1]),
    )
    figure, grid = plt.subplots(1, 3, figsize=(9, 2.9), layout="constrained", sharey=True)
    for axes, (title, dilations, strides) in zip(grid, stacks, strict=True):
        steps = [1, strides[0], strides[0] * strides[1]]
        read: list[set[int]] = [set(), set(), {0}]
        for layer in (1, 0):
            for place in read[layer + 1]:
                for tap in range(3):
                    source = place - tap * dilations[layer] * steps[layer]
                    read[layer].add(source)
                    axes.plot([place, source], [layer + 1, layer], color=BLUE, linewidth=1, zorder=1)
        for layer in range(3):
            for place in range(-8, 1):
                if place % steps[layer] == 0:
                    seen = place in read[layer]
                    axes.scatter(
                        place, layer, s=60, zorder=2, facecolors=BLUE if seen else "white", edgecolors=BLUE if seen else GREY
                    )
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("input place, relative to the output")
        axes.set_xticks(range(-8, 1, 2))
        axes.set_yticks([0, 1, 2], ["input", "layer 1", "layer 2"])
        axes.set_ylim(-0.4, 2.4)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def cost() -> Figure:
    """Operations of projections and pairs against length."""
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    length = np.logspace(1, 4, 200)
    projections, pairs = 6 * length * WIDTH**2, 4 * length**2 * WIDTH
    axes.loglog(length, projections, color=BLUE, linestyle="--", label="projections, 6Ld²")
    axes.loglog(length, pairs, color=ORANGE, linestyle="-.", label="pairs, 4L²d")
    axes.loglog(length, projections + pairs, color="black", label="both")
    crossover = 1.5 * WIDTH
    axes.plot(crossover, 6 * crossover * WIDTH**2, "o", color="black")
    axes.annotate(
        "L = 1.5 d = 96", (crossover, 6 * crossover * WIDTH**2), (150, 3e5), arrowprops={"arrowstyle": "-", "color": GREY}
    )
    axes.set(xlabel="length L (tokens), width d = 64", ylabel="operations")
    axes.legend()
    return figure


def growth() -> Figure:
    """The document's times beside the two predictions."""
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    flops = 6 * LENGTHS * WIDTH**2 + 4 * LENGTHS**2 * WIDTH
    axes.loglog(LENGTHS, (LENGTHS / 64) ** 2, color=ORANGE, linestyle="-.", label="pure pairs, (L/64)²")
    axes.loglog(LENGTHS, flops / flops[0], color=BLUE, linestyle="--", label="projections and pairs")
    axes.loglog(LENGTHS, MEASURED / MEASURED[0], "o", color="black", label="measured")
    axes.annotate(
        "the one step that is\nsteeper than the square",
        (360, 17.5),
        (480, 4),
        arrowprops={"arrowstyle": "->", "color": GREY},
    )
    axes.set(xlabel="length (tokens)", ylabel="time relative to length 64")
    axes.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
    axes.minorticks_off()
    axes.legend()
    return figure


def patches() -> Figure:
    """A numbered image: a reshape alone, and with the axes swapped."""
    figure, grid = plt.subplots(1, 2, figsize=(8, 2.9), layout="constrained")
    numbers = np.arange(24).reshape(4, 6)
    tokens = {
        "reshape alone: a token is a strip": numbers.reshape(6, 4),
        "with the axes swapped: a token is a patch": numbers.reshape(2, 2, 3, 2).transpose(0, 2, 1, 3).reshape(6, 4),
    }
    shades = ["#ffffff", "#9ecae1", "#fdd0a2", "#c7e9c0", "#bdbdbd", "#dadaeb"]
    for axes, (title, table) in zip(grid, tokens.items(), strict=True):
        for token, members in enumerate(table):
            for number in members:
                row, column = divmod(int(number), 6)
                axes.add_patch(Rectangle((column, row), 1, 1, facecolor=shades[token], edgecolor="black", linewidth=0.7))
                axes.text(column + 0.5, row + 0.42, str(number), ha="center", va="center", fontsize=10)
                axes.text(column + 0.5, row + 0.8, f"token {token}", ha="center", va="center", fontsize=6)
        axes.set(xlim=(0, 6), ylim=(4, 0), aspect="equal")
        axes.set_title(title, fontsize=10)
        axes.set_axis_off()
    return figure


def running() -> Figure:
    """Two blocks of scores: the totals before, after conversion, and after the second block."""
    first, second = np.array([1.0, 2.0, 0.5]), np.array([3.0, 1.5])
    figure, axes = plt.subplots(figsize=(7.4, 3.4), layout="constrained")
    bars = [
        ("after block 1\nlargest = 2", np.exp(first - 2.0), np.array([])),
        ("converted\nlargest = 3", np.exp(first - 3.0), np.array([])),
        ("after block 2\nlargest = 3", np.exp(first - 3.0), np.exp(second - 3.0)),
    ]
    for place, (_, old, new) in enumerate(bars):
        bottom = 0.0
        for height in old:
            axes.bar(place, height, 0.5, bottom=bottom, color=BLUE, edgecolor="white")
            bottom += height
        for height in new:
            axes.bar(place, height, 0.5, bottom=bottom, color=ORANGE, edgecolor="white", hatch="//")
            bottom += height
        axes.text(place, bottom + 0.04, f"total = {bottom:.2f}", ha="center")
    axes.annotate("× exp(2 − 3)", (0.74, 0.55), (0.27, 0.9), arrowprops={"arrowstyle": "->"})
    axes.set_xticks(range(3), [label for label, _, _ in bars])
    axes.set(ylabel="sum of exp(score − largest)", ylim=(0, 2.1))
    axes.bar([9], [0], color=BLUE, label="scores 1, 2, 0.5")
    axes.bar([9], [0], color=ORANGE, hatch="//", edgecolor="white", label="scores 3, 1.5")
    axes.set_xlim(-0.5, 2.5)
    axes.legend(loc="upper center")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def patterns() -> Figure:
    """Who reads whom: all pairs, row blocks, a window, and mixtures."""
    count = 12
    place = np.arange(count)
    figure, grid = plt.subplots(1, 4, figsize=(9.4, 2.9), layout="constrained")
    full = np.ones((count, count))
    blocks = np.repeat(np.array([1.0, 0.75, 0.5, 0.25]), 3)[:, None] * full
    band = (np.abs(place[:, None] - place) <= 2).astype(float)
    mixtures = np.ones((count, 3))
    for axes, (title, table, label) in zip(
        grid,
        (
            ("all pairs", full, "keys"),
            ("blocks: all pairs,\na few rows at a time", blocks, "keys"),
            ("window 2", band, "keys"),
            ("mixtures: 3 columns\nfor 12 tokens", mixtures, "mixtures"),
        ),
        strict=True,
    ):
        axes.pcolormesh(table, cmap="Blues", vmin=0, vmax=1.4, edgecolors="white", linewidth=0.8)
        middle = table.shape[1] / 2
        axes.set(aspect="equal", xlim=(middle - 6, middle + 6), ylim=(count, 0), xticks=[], yticks=[], xlabel=label)
        axes.set_title(title, fontsize=10)
        axes.spines[:].set_visible(False)
    grid[0].set_ylabel("queries")
    return figure


def features() -> Figure:
    """Mean error of random features against their number, at two scales of queries and keys."""
    rng = np.random.default_rng(5)
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    counts = [16, 64, 256, 1024, 4096]
    for scale, colour, style, label in (
        (0.5, BLUE, "o-", "queries and keys halved"),
        (1.0, ORANGE, "s--", "as drawn, N(0, 1)"),
    ):
        errors = []
        for count in counts:
            draws = []
            for _ in range(20):
                queries, keys, values = rng.normal(size=(3, 64, 16))
                queries, keys = scale * queries, scale * keys
                directions = rng.normal(size=(count, 16))
                table = positive(queries, directions) @ positive(keys, directions).T
                scores = queries @ keys.T / 4
                weights = np.exp(scores - scores.max(axis=1, keepdims=True))
                exact = weights / weights.sum(axis=1, keepdims=True) @ values
                draws.append(np.abs(table / table.sum(axis=1, keepdims=True) @ values - exact).mean())
            errors.append(np.mean(draws))
        axes.loglog(counts, errors, style, color=colour, label=label)
    axes.loglog(
        counts, 0.09 * np.sqrt(16 / np.array(counts)), color=GREY, linestyle=":", label="halved with four times as many"
    )
    axes.set(xlabel="number of random features", ylabel="mean error of the output")
    axes.legend()
    return figure


def positive(x: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Positive random features of attention at width 16."""
    scaled = x / 16**0.25
    return np.exp(scaled @ directions.T - (scaled**2).sum(axis=1, keepdims=True) / 2) / math.sqrt(len(directions))


FIGURES: dict[str, Callable[[], Figure]] = {
    "reach": reach,
    "cost": cost,
    "growth": growth,
    "patches": patches,
    "running": running,
    "patterns": patterns,
    "features": features,
}


def main() -> None:
    """Write every figure, with the same bytes each time."""
    with mpl.rc_context({"svg.hashsalt": "ps5"}):
        for name, draw in FIGURES.items():
            draw().savefig(HERE / "figures" / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
