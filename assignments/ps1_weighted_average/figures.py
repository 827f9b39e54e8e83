"""The figures of problem set 1's handout. `python -m assignments.ps1_weighted_average.figures` draws them anew."""

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import yaml
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from solutions.ps1_weighted_average import causal_mask, masked_softmax, softmax

HERE = Path(__file__).parent
LEDGER = yaml.safe_load((HERE.parent / "ledger.yml").read_text(encoding="utf-8"))["rows"]

# Distinguishable with any form of colour blindness (Okabe and Ito), and by lightness alone in the order used here.
DARK, MIDDLE, LIGHT, WARM, GREY = "#0072B2", "#56B4E9", "#CDE8F7", "#D55E00", "#8A8A8A"
# Three values and a matrix that turns and shears the plane, chosen so that no three points of the drawing of the hull lie on
# a line by accident.
CORNERS = np.array([[1.0, 0.4], [3.0, 1.0], [2.0, 3.0]])
PROJECTION = np.array([[0.2, 1.1], [-1.3, 0.4]])
SENTENCE = ["the", "cat", "slept", "because", "it", "felt", "warm"]


def _values(row: str) -> dict:
    return LEDGER[row]["values"]


def _plain(axes: Axes) -> Axes:
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def sentence_weights() -> np.ndarray:
    """Invented weights for the seven words, whose row of 'it' is the ledger's D3-2."""
    scores = np.random.default_rng(3).normal(scale=0.35, size=(7, 7))
    scores[4] = 0.0
    scores[4, 1] = _values("D3-2")["raised_score"]
    return softmax(scores)


def two_blends() -> Figure:
    """The same three values, blended in two proportions."""
    figure = Figure(figsize=(7.2, 2.6), layout="constrained")
    axes = _plain(figure.subplots())
    row = _values("D3-1")
    for y, weights, parts in ((1, row["weights"], row["parts"]), (0, row["swapped_weights"], row["swapped_parts"])):
        left = 0.0
        for value, weight, part, colour, ink in zip(
            row["values"], weights, parts, (LIGHT, MIDDLE, DARK), ("black", "black", "white"), strict=True
        ):
            axes.barh(y, part, left=left, height=0.62, color=colour, edgecolor="white", linewidth=1.5)
            label = f"{weight} · {value}\n= {part}"
            if part > 2:
                axes.text(left + part / 2, y, label, ha="center", va="center", color=ink, fontsize=9)
            else:
                axes.annotate(label.replace("\n", " "), (left + 0.7, y + 0.5), va="center", fontsize=9)
                axes.plot([left + 0.5, left + 0.5], [y + 0.31, y + 0.5], color=GREY, linewidth=0.8)
            left += part
        axes.text(left + 0.3, y, f"output {left:g}", va="center", fontweight="bold")
    axes.set_yticks([1, 0], ["weights .1, .3, .6", "weights .6, .3, .1"])
    axes.set_xlim(0, 29)
    axes.set_ylim(-0.45, 1.7)
    axes.set_xlabel("what each value contributes to the blend")
    return figure


def common_shift() -> Figure:
    """Scores at two levels, and the one set of weights they share."""
    figure = Figure(figsize=(7.2, 2.7), layout="constrained")
    panels = figure.subplots(1, 3)
    scores = np.array([0.0, 1.0, 2.5])
    names = ["a", "b", "c"]
    for axes, shift, title in ((panels[0], 0.0, "scores"), (panels[1], -scores.max(), "shifted: the largest is 0")):
        shown = scores + shift
        _plain(axes).bar(names, shown, color=GREY)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_ylim(-3.1, 3.1)
        axes.set_title(title, fontsize=10)
        for place, score in enumerate(shown):
            axes.text(place, score + (0.12 if score >= 0 else -0.12), f"${score:g}$", ha="center",
                      va="bottom" if score >= 0 else "top")  # fmt: skip
    weights = softmax(scores)
    _plain(panels[2]).bar(names, weights, color=DARK)
    panels[2].set_ylim(0, 1)
    panels[2].set_title("weights of both", fontsize=10)
    for place, weight in enumerate(weights):
        panels[2].text(place, weight + 0.02, f"{weight:.3f}", ha="center")
    return figure


def four_keys() -> Figure:
    """The weights of one query over four keys, against an even split."""
    figure = Figure(figsize=(6.4, 2.5), layout="constrained")
    axes = _plain(figure.subplots())
    weights = _values("D2-1")["weights"]
    places = np.arange(len(weights))
    axes.barh(places, weights, color=DARK, height=0.6)
    axes.axvline(1 / len(weights), color=WARM, linestyle="--")
    axes.text(1 / len(weights) + 0.01, 2.98, "even split", color=WARM, va="center")
    for place, weight in zip(places, weights, strict=True):
        # The bar that ends at the dashed line carries its label inside.
        inside = abs(weight - 1 / len(weights)) < 0.1
        axes.text(weight - 0.01 if inside else weight + 0.01, place, f"{weight:.2f}", va="center",
                  ha="right" if inside else "left", color="white" if inside else "black")  # fmt: skip
    axes.set_yticks(places, [f"key {place + 1}" for place in places])
    axes.invert_yaxis()
    axes.set_xlim(0, 0.72)
    axes.set_xlabel("weight of the value behind the key")
    return figure


def spread() -> Figure:
    """What the width does to scores and to the largest weight, without and with the division."""
    figure = Figure(figsize=(7.2, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    row = _values("D1-10")
    widths = row["dimensions"]
    for axes, name, title in ((left, "sd", "st. dev. of the scores"), (right, "max_weight", "largest of 16 weights")):
        _plain(axes).plot(widths, row[f"unscaled_{name}"], "o-", color=WARM, label="q · k")
        axes.plot(widths, row[f"scaled_{name}"], "s--", color=DARK, label="q · k / √d")
        axes.set_xscale("log", base=2)
        axes.set_xticks(widths, [str(width) for width in widths])
        axes.set_xlabel("width d")
        axes.set_title(title, fontsize=10)
    left.set_yscale("log", base=2)
    left.set_yticks([1, 4, 16], ["1", "4", "16"])
    right.set_ylim(0, 1.05)
    right.axhline(1 / row["recipe"]["used_keys"], color=GREY, linewidth=1)
    right.text(widths[-1], 1 / row["recipe"]["used_keys"] + 0.02, "even split", color="#555555", ha="right")
    left.legend(frameon=False)
    return figure


def masked_row() -> Figure:
    """A causal mask, and one row of weights before and after masking."""
    figure = Figure(figsize=(7.2, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.5))
    words = ["dog", "bites", "man", "today"]
    mask = causal_mask(4)
    left.imshow(mask, cmap="Greys", vmin=0, vmax=1.3)
    for i, j in np.ndindex(4, 4):
        left.text(j, i, "read" if mask[i, j] else "", ha="center", va="center", color="white")
    left.set_xticks(range(4), words)
    left.set_yticks(range(4), words)
    left.set_xlabel("key")
    left.set_ylabel("query")
    left.set_title("causal mask", fontsize=10)

    scores = np.log(np.array([1.0, 3.0, 4.0, 2.0]))
    before, after = softmax(scores), masked_softmax(scores, mask[1])
    places = np.arange(4)
    _plain(right).bar(places - 0.2, before, 0.38, color=MIDDLE, label="all four legal")
    right.bar(places + 0.2, after, 0.38, color=DARK, label="two legal")
    for place in places:
        right.text(place - 0.2, before[place] + 0.015, f"{before[place]:g}", ha="center")
        right.text(place + 0.2, after[place] + 0.015, f"{after[place]:g}", ha="center")
    right.set_xticks(places, words)
    right.set_ylim(0, 0.9)
    right.set_ylabel("weight")
    right.set_title("the row of 'bites', without and with the mask", fontsize=10)
    right.legend(frameon=False)
    return figure


def hull() -> Figure:
    """Three values, their hull, an average inside, and three points that no average reaches."""
    figure = Figure(figsize=(6.6, 4.6), layout="constrained")
    axes = _plain(figure.subplots())
    a, b, _ = CORNERS
    axes.fill(*CORNERS.T, color=LIGHT, zorder=0)
    axes.plot(*np.vstack([CORNERS, a]).T, color=DARK, linewidth=1.2)
    axes.plot(*CORNERS.T, "o", color=DARK, markersize=7)
    for name, point, offset in zip(("$v_1$", "$v_2$", "$v_3$"), CORNERS, ((-18, 2), (8, -4), (8, 2)), strict=True):
        axes.annotate(name, point, offset, textcoords="offset points")
    average = np.array(_values("D3-1")["weights"]) @ CORNERS
    projected = average @ PROJECTION
    axes.plot(*average, "D", color="black")
    axes.annotate("the average .1 $v_1$ + .3 $v_2$ + .6 $v_3$", average, (24, 0), textcoords="offset points")
    for name, point, offset in (
        ("$v_1 - v_2$", a - b, (-20, -18)),
        ("$-v_1$", -a, (10, -4)),
        ("the average,\nprojected", projected, (-28, -36)),
    ):
        axes.plot(*point, "X", color=WARM, markersize=9)
        axes.annotate(name, point, offset, textcoords="offset points", color=WARM)
    axes.annotate("", projected, average, arrowprops={"arrowstyle": "->", "color": GREY, "linestyle": "--", "shrinkA": 6})
    axes.axhline(0, color=GREY, linewidth=0.6)
    axes.axvline(0, color=GREY, linewidth=0.6)
    axes.set_aspect("equal")
    axes.set_xlim(-3.2, 5.9)
    axes.set_ylim(-1.6, 3.5)
    axes.set_xlabel("first coordinate")
    axes.set_ylabel("second coordinate")
    return figure


def seven_words() -> Figure:
    """One table of weights with colours fixed from 0 to 1, and again with colours that adapt."""
    figure = Figure(figsize=(8.4, 4.0), layout="constrained")
    weights = sentence_weights()
    for axes, limits, title in zip(
        figure.subplots(1, 2), ((0.0, 1.0), (None, None)), ("colours from 0 to 1", "colours that adapt"), strict=True
    ):
        image = axes.imshow(weights, cmap="Greys", vmin=limits[0], vmax=limits[1])
        axes.set_xticks(range(7), SENTENCE, rotation=45, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(7), SENTENCE)
        axes.set_xlabel("key")
        axes.set_ylabel("query")
        axes.set_title(title, fontsize=10)
        axes.add_patch(mpl.patches.Rectangle((0.5, 3.5), 1, 1, fill=False, edgecolor=WARM, linewidth=2))
        figure.colorbar(image, ax=axes, label="weight", shrink=0.8)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "two_blends": two_blends,
    "common_shift": common_shift,
    "four_keys": four_keys,
    "spread": spread,
    "masked_row": masked_row,
    "hull": hull,
    "seven_words": seven_words,
}


def main() -> None:
    """Write every figure, with the same bytes each time."""
    with mpl.rc_context({"svg.hashsalt": "ps1"}):
        for name, draw in FIGURES.items():
            draw().savefig(HERE / "figures" / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
