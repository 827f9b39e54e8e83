"""The figures of problem set 4. `python -m assignments.ps4_what_the_root_prevents.figures` draws them anew, in seconds.

Every number in them is computed here with the reference solution.
"""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Polygon, Rectangle

from solutions.ps4_what_the_root_prevents import jacobian_norm, rotate, softmax, softmax_jacobian

# Okabe and Ito's palette: distinguishable with every common form of colour blindness.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#6E6E6E"
LIGHT = {"attention": "#CFE3F1", "feed": "#FBE3B5", "norm": "#E4E4E4"}


def box(axes: Axes, x: float, y: float, text: str, color: str, *, width: float = 2.5, height: float = 0.62) -> None:
    corner = (x - width / 2, y - height / 2)
    axes.add_patch(FancyBboxPatch(corner, width, height, boxstyle="round,pad=0.03", facecolor=color, edgecolor="black"))
    axes.text(x, y, text, ha="center", va="center", fontsize=9)


def arrow(axes: Axes, *points: tuple[float, float]) -> None:
    """A line through the points, with a head at the last one."""
    for start, end in pairwise(points[:-1]):
        axes.plot(*zip(start, end, strict=True), color="black", linewidth=1.2, solid_capstyle="round")
    style = {"arrowstyle": "-|>", "color": "black", "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", points[-1], points[-2], arrowprops=style)


def plus(axes: Axes, x: float, y: float) -> None:
    axes.plot([x], [y], marker="o", markersize=15, markerfacecolor="white", markeredgecolor="black", zorder=3)
    axes.text(x, y - 0.015, "+", ha="center", va="center", fontsize=12, zorder=4)


def block() -> Figure:
    """The Transformer block in both arrangements, with the section that builds each part."""
    figure = Figure(figsize=(8.6, 6.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    parts = (
        ("multi-head attention\n(sections 3, 7, 8)", "attention", "layer norm $N_1$ (11)"),
        ("feed-forward network\n(section 11)", "feed", "layer norm $N_2$ (11)"),
    )
    for axes, title in ((left, "pre-norm"), (right, "post-norm")):
        axes.set_title(title, fontsize=12)
        axes.set_xlim(-1.4, 4.4)
        axes.set_ylim(-0.9, 8.3)
        axes.axis("off")
        axes.text(0, -0.6, "tokens $x$, with positions (13)", ha="center", fontsize=9)
    for number, (sublayer, color, norm) in enumerate(parts):
        base = 0.2 + 3.8 * number
        # Pre-norm: the road runs straight up on the left, the sublayer hangs beside it.
        arrow(left, (0, base - (0.45 if number == 0 else 0.62)), (0, base + 2.83))
        arrow(left, (0, base + 0.1), (2.3, base + 0.1), (2.3, base + 0.57))
        box(left, 2.3, base + 0.9, norm, LIGHT["norm"])
        arrow(left, (2.3, base + 1.22), (2.3, base + 1.58))
        box(left, 2.3, base + 2.0, sublayer, LIGHT[color], height=0.8)
        arrow(left, (2.3, base + 2.42), (2.3, base + 3.0), (0.2, base + 3.0))
        plus(left, 0, base + 3.0)
        # Post-norm: the norm stands on the road.
        arrow(right, (0, base - 0.45), (0, base + 1.63))
        arrow(right, (0, base + 0.1), (2.3, base + 0.1), (2.3, base + 0.47))
        box(right, 2.3, base + 0.9, sublayer, LIGHT[color], height=0.8)
        arrow(right, (2.3, base + 1.32), (2.3, base + 1.8), (0.2, base + 1.8))
        plus(right, 0, base + 1.8)
        arrow(right, (0, base + 1.98), (0, base + 2.42))
        box(right, 0, base + 2.75, norm, LIGHT["norm"])
        if number == 0:
            arrow(right, (0, base + 3.08), (0, base + 3.45))
    for axes, x in ((left, 0.0), (right, 0.0)):
        arrow(axes, (x, 7.2 if axes is left else 7.08), (x, 7.75))
        axes.text(x, 7.9, "to the next block", ha="center", fontsize=9)
    left.text(-0.35, 2.3, "residual path (11, 12)", rotation=90, ha="center", va="center", fontsize=9, color=BLUE)
    right.text(-0.35, 1.0, "residual\npath", rotation=90, ha="center", va="center", fontsize=9, color=BLUE)
    return figure


def steps() -> Figure:
    """How the error of a difference quotient depends on the step."""
    scores = np.random.default_rng(0).standard_normal((200, 8))
    exact = softmax_jacobian(softmax(scores))
    sizes = 10.0 ** -np.arange(1.0, 12.01, 0.25)
    errors = []
    for h in sizes:
        columns = [(softmax(scores + h * move) - softmax(scores - h * move)) / (2 * h) for move in np.eye(8)]
        errors.append(np.abs(np.stack(columns, axis=-1) - exact).max())
    figure = Figure(figsize=(6.6, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.loglog(sizes, errors, color=BLUE, marker="o", markersize=4)
    best = int(np.argmin(errors))
    axes.annotate(
        f"best: {errors[best]:.0e} near h = 1e-5", (sizes[best], errors[best]), (3e-6, 3e-13), fontsize=9, ha="center"
    )
    axes.text(2.5e-3, 1e-8, "truncation, ∝ h²", fontsize=9, color=GREY, ha="left", va="top")
    axes.text(3e-9, 3e-7, "rounding, ∝ ε/h", fontsize=9, color=GREY, ha="left", va="bottom")
    axes.set_ylim(1e-13, 1e-3)
    axes.set_xlabel("step h")
    axes.set_ylabel("largest error of the quotient")
    return figure


def careful_norm(row: np.ndarray) -> float:
    """The norm of the Jacobian of one row without any cancellation; the first weight is the largest."""
    top, others = row[0], row[1:]
    rest, squares = others.sum(), (others**2).sum()
    pairs = 2 * sum(a * a * b * b for place, a in enumerate(others) for b in others[place + 1 :])
    return float(np.sqrt((top * rest) ** 2 + (others**2 * (1 - others) ** 2).sum() + 2 * top**2 * squares + pairs))


def cancellation() -> Figure:
    """Relative error of two ways to compute the norm, near one-hot."""
    distances = 10.0 ** -np.arange(0.5, 10.01, 0.125)
    plain, careful = [], []
    shares = np.array([0.5, 0.3, 0.2])
    for distance in distances:
        row = np.concatenate([[1 - distance], distance * shares])
        # With r = distance: exact sums of products of small numbers, and 1 - r to the last bit.
        exact = distance * np.sqrt(
            (1 - distance) ** 2 * (1 + 2 * (shares**2).sum())
            + (shares**2 * (1 - distance * shares) ** 2).sum()
            + distance**2 * ((shares**2).sum() ** 2 - (shares**4).sum())
        )
        plain.append(abs(float(jacobian_norm(row)) / exact - 1))
        careful.append(abs(careful_norm(row) / exact - 1))
    figure = Figure(figsize=(6.6, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.loglog(distances, np.maximum(plain, 1e-17), color=RED, marker="s", markersize=3, linestyle="--", label="three sums")
    axes.loglog(
        distances, np.maximum(careful, 1e-17), color=BLUE, marker="o", markersize=3, label="rearranged, no cancellation"
    )
    axes.invert_xaxis()
    axes.set_xlabel("distance of the largest weight from one")
    axes.set_ylabel("relative error of the norm")
    axes.legend()
    return figure


def split() -> Figure:
    """The right split into heads, and a reshape alone."""
    length, heads, k = 4, 2, 3
    entries = np.array([[f"{token}{column}" for column in range(heads * k)] for token in range(length)])
    right = entries.reshape(length, heads, k).swapaxes(0, 1)
    wrong = entries.reshape(heads, length, k)
    figure = Figure(figsize=(8.6, 2.6), layout="constrained")
    whole, good, bad = figure.subplots(1, 3, width_ratios=[6.6, 7.6, 7.6])

    def draw(axes: Axes, table: np.ndarray, at: float) -> None:
        for (row, column), entry in np.ndenumerate(table):
            first = int(entry[1]) < k
            cell = Rectangle((at + column, -row), 1, -1, facecolor="#CFE3F1" if first else "#FBE3B5", edgecolor="black")
            if not first:
                cell.set_hatch("..")
            axes.add_patch(cell)
            style = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
            axes.text(at + column + 0.5, -row - 0.5, entry, ha="center", va="center", fontsize=9, bbox=style)

    draw(whole, entries, 0)
    whole.set_title("x: four tokens, six columns", fontsize=10)
    whole.text(3, -4.5, "entry = token, column", ha="center", fontsize=9)
    for axes, tables, title in ((good, right, "split_heads(x, 2)"), (bad, wrong, "reshape alone: wrong")):
        for head, table in enumerate(tables):
            draw(axes, table, 4 * head)
            axes.text(4 * head + 1.5, -4.5, f"head {head}", ha="center", fontsize=9)
        axes.set_title(title, fontsize=10)
    for axes, width in ((whole, 6), (good, 7), (bad, 7)):
        axes.set_xlim(-0.3, width + 0.3)
        axes.set_ylim(-4.9, 0.3)
        axes.set_aspect("equal")
        axes.axis("off")
    return figure


def relations() -> Figure:
    """Four wanted pairs, and what one head reaches, for two symbols."""
    figure = Figure(figsize=(7.6, 3.7), layout="constrained")
    one, two = figure.subplots(1, 2, sharey=True)
    half = np.sqrt(0.5)
    corners = {"A, A": (-half, -half), "B, A": (half, -half), "A, B": (-half, half), "B, B": (half, half)}
    for axes, title in ((one, "one head: two points, and the line between"), (two, "two heads: every corner")):
        for name, (x, y) in corners.items():
            axes.plot(x, y, marker="*", markersize=14, color=ORANGE, markeredgecolor="black", linestyle="none", zorder=3)
            axes.annotate(name, (x, y), (0, 10 if y > 0 else -20), textcoords="offset points", ha="center", fontsize=9)
        axes.set_title(title, fontsize=10)
        axes.set_xlim(-1.35, 1.35)
        axes.set_ylim(-1.35, 1.35)
        axes.set_aspect("equal")
        axes.set_xlabel("first symbol wanted")
        axes.set_xticks([-half, half], ["A", "B"])
        axes.set_yticks([-half, half], ["A", "B"])
    one.set_ylabel("second symbol wanted")
    one.plot([-half, half], [0, 0], color=BLUE, marker="o", linewidth=2.5, label="reached")
    for x, y in corners.values():
        one.plot([x, x], [0, y], color=GREY, linestyle=":")
    one.text(half + 0.06, 0.35, "squared\ndistance\n½", fontsize=8, color=GREY, va="center")
    two.add_patch(Polygon([(-half, -half), (half, -half), (half, half), (-half, half)], facecolor="#CFE3F1", edgecolor=BLUE))
    return figure


def rotary() -> Figure:
    """A query turned by its position, and a score that depends on the distance alone."""
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    hands, curve = figure.subplots(1, 2, width_ratios=[1, 1.5])
    query = np.array([[1.0, 0.0]])
    for position in range(4):
        x, y = rotate(query, np.array([float(position)]), 10000.0)[0]
        hands.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": BLUE, "linewidth": 1.5})
        hands.text(1.15 * x, 1.15 * y, f"t = {position}", ha="center", va="center", fontsize=9)
    hands.set_xlim(-1.45, 1.45)
    hands.set_ylim(-1.35, 1.35)
    hands.set_aspect("equal")
    hands.set_title("one pair of columns: a turn of 1 radian each", fontsize=10)
    hands.set_xlabel("column 0")
    hands.set_ylabel("column 1")
    rng = np.random.default_rng(4)
    q = rng.standard_normal((1, 16))
    k = q + 0.5 * rng.standard_normal((1, 16))
    for start, marker, color, size in ((0, "o", BLUE, 7), (7, "x", RED, 6), (500, "+", "black", 9)):
        distances = np.arange(0.0, 30.0)
        scores = [
            float(rotate(q, np.array([start + 0.0]))[0] @ rotate(k, np.array([start + distance]))[0]) / 4
            for distance in distances
        ]
        fill = "none" if marker == "o" else color
        style = {"marker": marker, "color": color, "markerfacecolor": fill, "linestyle": "none", "markersize": size}
        curve.plot(distances, scores, **style, label=f"query at position {start}")
    curve.set_xlabel("distance from query to key")
    curve.set_ylabel("score")
    curve.set_title("only the distance counts", fontsize=10)
    curve.legend(fontsize=8)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "block": block,
    "steps": steps,
    "cancellation": cancellation,
    "split": split,
    "relations": relations,
    "rotary": rotary,
}


def main() -> None:
    """Write every figure, with the same bytes each time."""
    with mpl.rc_context({"svg.hashsalt": "ps4"}):
        for name, draw in FIGURES.items():
            draw().savefig(Path(__file__).parent / "figures" / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
