"""Drawings of what your own functions do, one for each question."""

import matplotlib.pyplot as plt
import numpy as np


def mix(work):
    """Every blend of two values lies on the line between them: your `mix`, for shares from 0 to 1.

    No share takes the output below the smaller value or above the larger one.
    """
    shares = np.linspace(0, 1, 41)
    outputs = [work.mix(np.array([1 - share, share]), np.array([10.0, 30.0])) for share in shares]
    drawing, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.plot(shares, outputs, color="black")
    axes.axhline(10, color="grey", linestyle=":")
    axes.axhline(30, color="grey", linestyle=":")
    axes.set_xlabel("weight of the second value")
    axes.set_ylabel("output")
    axes.set_title("A blend of 10 and 30")
    return drawing


def softmax(work):
    """Your weights for five scores, and for the same scores times 3 and times 10.

    Larger differences between scores make the weights sharper. The order of the items never changes.
    """
    scores = np.array([0.0, 0.4, 0.8, 1.2, 1.0])
    drawing, panels = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
    for axes, factor in zip(panels, (1, 3, 10), strict=True):
        axes.bar(range(1, 6), work.softmax(factor * scores), color="0.45")
        axes.axhline(1 / 5, color="black", linestyle=":")
        axes.set_title(f"scores × {factor}")
        axes.set_xlabel("item")
    panels[0].set_ylabel("weight (dotted: even split)")
    return drawing


def scaled_scores(work):
    """The largest of sixteen weights, on average over random queries, with the division by √d and without it.

    With your division the curve stays flat. Without it, attention turns into a selection as the width grows.
    """
    generator = np.random.default_rng(7)
    widths = [4, 16, 64, 256, 1024]
    curves = {"divided by √d": [], "not divided": []}
    for width in widths:
        queries, keys = generator.normal(size=(200, width)), generator.normal(size=(16, width))
        scores = work.scaled_scores(queries, keys)
        curves["divided by √d"].append(work.softmax(scores).max(axis=-1).mean())
        curves["not divided"].append(work.softmax(scores * np.sqrt(width)).max(axis=-1).mean())
    drawing, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for (label, curve), style in zip(curves.items(), ("-o", "--s"), strict=True):
        axes.plot(widths, curve, style, color="black", label=label)
    if work.guess_sharpness in ("a", "b", "c", "d"):
        low, high = {"a": (0.04, 0.08), "b": (0.2, 0.3), "c": (0.5, 0.7), "d": (0.9, 1.0)}[work.guess_sharpness]
        axes.axhspan(low, high, color="0.85", label=f"your prediction ({work.guess_sharpness}) for width 1024")
    axes.set_xscale("log", base=2)
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("width d")
    axes.set_ylabel("largest of 16 weights")
    axes.legend()
    return drawing


def attention(work):
    """Your layer reads five items, shuffled and not. The outputs of the queries are the same points.

    Queries read content, not places: reordering key-value pairs changes nothing.
    """
    generator = np.random.default_rng(11)
    queries, keys, values = (generator.normal(size=(size, 2)) for size in (4, 5, 5))
    order = generator.permutation(5)
    drawing, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.plot(*values.T, "s", color="0.7", label="values")
    axes.plot(
        *work.attention(queries, keys, values)[0].T, "o", color="black", markersize=9, fillstyle="none", label="outputs"
    )
    shuffled = work.attention(queries, keys[order], values[order])[0]
    axes.plot(*shuffled.T, "x", color="black", label="outputs, items shuffled")
    axes.set_xlabel("first coordinate")
    axes.set_ylabel("second coordinate")
    axes.legend()
    return drawing


def masking(work):
    """How eight positions with random scores spend their budgets under your causal mask.

    Every bar is as long as every other one: a whole budget. Position 1 can only read itself; a darker part is a later item.
    """
    scores = np.random.default_rng(3).normal(size=(8, 8))
    weights = work.masked_softmax(scores, work.causal_mask(8))
    drawing, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    rows = np.arange(1, 9)
    for item in range(8):
        shade = str(0.95 - 0.11 * item)
        axes.barh(rows, weights[:, item], left=weights[:, :item].sum(axis=1), color=shade, edgecolor="black")
    axes.set_yticks(rows)
    axes.invert_yaxis()
    axes.set_xlabel("share of the budget")
    axes.set(ylabel="query")
    return drawing


def hull(work):
    """Where your `leaves_hull` says outside (white) and inside (grey), on a grid around a triangle.

    The border should be the triangle itself, with its slanted sides. Crosses are the corners after your matrix.
    """
    corners = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 3.0]])
    steps = np.linspace(0, 4, 33)
    inside = [[not work.leaves_hull(np.array([x, y]), corners) for x in steps] for y in steps]
    drawing, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.pcolormesh(steps, steps, inside, cmap="Greys", vmin=0, vmax=2.5)
    axes.plot(*np.vstack([corners, corners[:1]]).T, color="black", label="triangle")
    if work.escaping_projection is not None:
        moved = corners @ np.array(work.escaping_projection)
        axes.plot(*moved.T, "x", color="black", label="corners after your matrix")
    axes.set_xlabel("first coordinate")
    axes.set_ylabel("second coordinate")
    axes.set_aspect("equal")
    axes.legend()
    return drawing


def heatmap(work):
    """Your heatmap of a sentence read with random scores.

    Read one row aloud: "the word ... puts so much of its weight on ...".
    """
    words = ["the", "cat", "sat", "on", "the", "mat"]
    return work.heatmap(work.softmax(np.random.default_rng(5).normal(size=(6, 6))), words)


def causation(work):
    """How far the output moves when each of ten items is deleted, against the weight of the item (your `mix`).

    If weights were causes, the points would lie on a rising line. The ring is the item with the largest weight.
    """
    generator = np.random.default_rng(2)
    weights, values = generator.dirichlet(np.ones(10)), generator.normal(size=10)
    before = work.mix(weights, values)
    effects = []
    for item in range(10):
        left = np.delete(weights, item)
        effects.append(abs(before - work.mix(left / left.sum(), np.delete(values, item))))
    drawing, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.plot(weights, effects, "o", color="black")
    axes.plot(weights.max(), effects[weights.argmax()], "o", color="black", markersize=16, fillstyle="none")
    output = work.mix(np.array([0.5, 0.5]), np.array([20.0, 40.0]))
    predicted = "" if work.guess_effect is None else f" (you predicted {work.guess_effect})"
    axes.set_title(f"The case of the prediction: 30 before, {output:g} after{predicted}", fontsize="medium")
    axes.set_xlabel("weight of the deleted item")
    axes.set_ylabel("change of the output")
    return drawing
