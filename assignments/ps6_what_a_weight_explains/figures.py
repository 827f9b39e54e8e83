"""The figures of problem set 6's handout. `python -m assignments.ps6_what_a_weight_explains.figures` draws them anew."""

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

HERE = Path(__file__).parent
# Colours that a colour-blind reader can tell apart (Okabe and Ito), and that differ in print.
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#7f7f7f"


def deletion() -> Figure:
    """Three values on a line, their average, and where it moves when one of them is deleted."""
    values, weights = np.array([10.0, 20.0, 30.0]), np.array([0.1, 0.3, 0.6])
    output = weights @ values
    figure, axes = plt.subplots(figsize=(7.4, 3.0), layout="constrained")
    axes.scatter(values, [0, 0, 0], s=3000 * weights, facecolors="#9ecae1", edgecolors=BLUE, zorder=2)
    for value, weight in zip(values, weights, strict=True):
        axes.text(value, 0, f"{weight:g}", ha="center", va="center", zorder=3)
    axes.axvline(output, color="black", linewidth=1, zorder=1)
    axes.text(output, 0.42, "output 25 ", ha="right", va="bottom")
    for row, j in enumerate((1, 2), start=1):
        left = np.delete(weights, j)
        without = left @ np.delete(values, j) / left.sum()
        height = -0.45 * row
        axes.annotate("", (without, height), (output, height), arrowprops={"arrowstyle": "->", "color": ORANGE})
        side = "left" if without > output else "right"
        told = f"without {values[j]:g}: {without:.1f}"
        axes.text(without + (0.25 if side == "left" else -0.25), height, told, ha=side, va="center", color=ORANGE)
    axes.set(xlim=(8, 33), ylim=(-1.25, 0.75), yticks=[], xlabel="value")
    axes.spines[["top", "right", "left"]].set_visible(False)
    return figure


def hull() -> Figure:
    """Two values, the segment of their averages, and their difference outside it."""
    first, second = np.array([2.2, 0.7]), np.array([0.9, 1.6])
    figure, axes = plt.subplots(figsize=(5.4, 3.6), layout="constrained")
    axes.plot(*np.array([first, second]).T, color=BLUE, linewidth=4, alpha=0.5, solid_capstyle="round", zorder=1)
    for vector, name, colour in ((first, "$v_1$", BLUE), (second, "$v_2$", BLUE), (first - second, "$v_1 - v_2$", ORANGE)):
        axes.annotate("", vector, (0, 0), arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 1.5})
        axes.text(*(vector + np.array([0.08, 0.06])), name, color=colour)
    axes.annotate("all averages", (1.5, 1.2), (2.0, 1.6), color=BLUE, arrowprops={"arrowstyle": "-", "color": GREY})
    axes.axhline(0, color=GREY, linewidth=0.5)
    axes.axvline(0, color=GREY, linewidth=0.5)
    axes.set(xlim=(-0.3, 3.0), ylim=(-1.2, 2.0), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    return figure


def needed() -> Figure:
    """A learning curve over the logarithm of the size, and where it crosses a level."""
    sizes, accuracies = np.array([100, 400, 1600]), np.array([0.6, 0.8, 0.9])
    figure, axes = plt.subplots(figsize=(6.0, 3.4), layout="constrained")
    axes.semilogx(sizes, accuracies, "o-", color=BLUE, label="straight over the logarithm")
    straight = np.linspace(100, 1600, 200)
    axes.semilogx(
        straight, np.interp(straight, sizes, accuracies), color=GREY, linestyle=":", label="straight over the size"
    )
    axes.plot([90, 200, 200], [0.7, 0.7, 0.55], color=ORANGE, linestyle="--")
    axes.text(205, 0.57, "200 examples", color=ORANGE)
    axes.set(xlabel="training examples", ylabel="test accuracy", xlim=(90, 1800), ylim=(0.55, 0.95))
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.legend(loc="lower right", fontsize=8)
    return figure


def _melody(axes: Axes, notes: str, height: float, marks: dict[int, str] | None = None) -> None:
    """A row of boxes with a note each; `marks` gives some of them a colour."""
    for place, note in enumerate(notes):
        colour = (marks or {}).get(place, "white")
        axes.add_patch(Rectangle((place - 0.4, height - 0.25), 0.8, 0.5, facecolor=colour, edgecolor="black", linewidth=0.8))
        axes.text(place, height, note, ha="center", va="center")


def mechanism() -> Figure:
    """How two layers can find what came next last time."""
    tune = "cegacegac"
    figure, axes = plt.subplots(figsize=(8.2, 3.9), layout="constrained")
    _melody(axes, tune, 0.0, {8: "#fdd0a2"})
    for place in range(1, len(tune)):
        axes.annotate(
            "", (place, 0.95), (place - 1, 0.27), arrowprops={"arrowstyle": "->", "color": BLUE if place in (1, 5) else GREY}
        )
    for place, note in enumerate(tune):
        left = f"after {tune[place - 1]}" if place else "–"
        axes.add_patch(
            Rectangle(
                (place - 0.45, 0.97),
                0.9,
                0.5,
                facecolor="#9ecae1" if place in (1, 5) else "white",
                edgecolor="black",
                linewidth=0.8,
            )
        )
        axes.text(place, 1.22, f"{note}\n{left}", ha="center", va="center", fontsize=8)
    for place, bend in ((1, -0.28), (5, -0.28)):
        style = {"arrowstyle": "<-", "color": ORANGE, "connectionstyle": f"arc3,rad={bend}", "linewidth": 1.5}
        axes.annotate("", (8, 2.25), (place, 1.5), arrowprops=style)
    axes.text(8.4, 2.85, "I am c. Who stands after c?\nTwice e, so e comes next.", ha="right", va="bottom", color=ORANGE)
    axes.text(-0.75, 0.0, "notes", ha="right", va="center")
    axes.text(-0.75, 1.22, "after layer 1", ha="right", va="center")
    axes.text(-0.75, 2.3, "layer 2", ha="right", va="center")
    axes.set(xlim=(-2.4, 8.7), ylim=(-0.4, 3.7))
    axes.set_axis_off()
    return figure


def swaps() -> Figure:
    """The three experiments: which one note is replaced by x, and what is asked."""
    tune = "cegacega"
    figure, axes = plt.subplots(figsize=(8.2, 3.3), layout="constrained")
    experiments = (
        ("unchanged", None, "predicts c"),
        ("followed: the note at r", 4, "predicts x?"),
        ("broken: the note at r − 1", 3, "no longer c?"),
        ("control: another note", 1, "still c?"),
    )
    for row, (title, changed, question) in enumerate(experiments):
        height = -0.8 * row
        notes = tune if changed is None else f"{tune[:changed]}x{tune[changed + 1 :]}"
        _melody(axes, notes, height, {} if changed is None else {changed: "#fdd0a2"})
        axes.text(-0.8, height, title, ha="right", va="center")
        axes.text(7.8, height, question, ha="left", va="center", color=GREEN)
    axes.annotate("r", (4, 0.27), (4, 0.75), ha="center", color=BLUE, arrowprops={"arrowstyle": "->", "color": BLUE})
    axes.text(7, 0.55, "asked here", ha="center", color=GREEN)
    axes.set(xlim=(-4.2, 9.9), ylim=(-2.8, 1.0))
    axes.set_axis_off()
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "deletion": deletion,
    "hull": hull,
    "needed": needed,
    "mechanism": mechanism,
    "swaps": swaps,
}


def main() -> None:
    """Write every figure, with the same bytes each time."""
    with mpl.rc_context({"svg.hashsalt": "ps6"}):
        for name, draw in FIGURES.items():
            draw().savefig(HERE / "figures" / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
