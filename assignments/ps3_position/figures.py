"""The figures of problem set 3. `python -m assignments.ps3_position.figures` draws them anew, in about half a minute.

Every number in them is computed here with the reference solution.
"""

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from solutions.ps3_position import (
    BOUND,
    LENGTH,
    WIDTH,
    adam_step,
    draw_start,
    draw_task,
    embed_time,
    examples_last,
    logit_terms,
    pooled_logits,
    position_sweep,
    sinusoidal_encoding,
    slopes,
    sweep_figure,
    time_errors,
)

# Okabe and Ito's palette: distinguishable with every common form of colour blindness.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#6E6E6E"
STYLES = {0: (GREY, ":"), 1: (ORANGE, "--"), 3: (BLUE, "-")}
FRESH = 500  # added to the seed of a train set to get that of its test set


def encoding() -> Figure:
    """The table of position vectors, and how their distance tells position 0 from the others."""
    figure = Figure(figsize=(8.4, 3.4), layout="constrained")
    table, distances = figure.subplots(1, 2, width_ratios=[1.25, 1])
    positions = sinusoidal_encoding(LENGTH, WIDTH)
    image = table.imshow(positions, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
    table.set_xticks(range(WIDTH), ["sin", "cos"] * (WIDTH // 2), rotation="vertical", fontsize=8)
    for place in range(2, WIDTH, 2):
        table.axvline(place - 0.5, color="white", linewidth=2)
    table.set_xlabel("pair 0 (fast) to pair 7 (slow)")
    table.set_ylabel("position")
    table.set_title("one vector per position")
    figure.colorbar(image, ax=table, label="value")
    gaps = np.linalg.norm(positions - positions[0], axis=1)
    distances.plot(gaps, color=BLUE, marker="o")
    for place, gap in enumerate(gaps):
        distances.annotate(f"{gap:.2f}", (place, gap), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=8)
    distances.set_ylim(-0.1, 2.6)
    distances.set_xlabel("position")
    distances.set_ylabel("distance from position 0")
    distances.set_title("how far each is from position 0")
    return figure


def terms() -> Figure:
    """The four tables inside the scores, at two strengths of the positions."""
    rng = np.random.default_rng(3)
    content, (w_q, w_k) = rng.standard_normal((LENGTH, WIDTH)), rng.standard_normal((2, WIDTH, WIDTH)) / 4
    figure = Figure(figsize=(8.4, 4.4), layout="constrained")
    rows = figure.subplots(2, 4, sharex=True, sharey=True)
    names = ("content-content", "content-position", "position-content", "position-position")
    for row, scale in zip(rows, (1, 3), strict=True):
        tables = logit_terms(content, scale * sinusoidal_encoding(LENGTH, WIDTH), w_q, w_k)
        for panel, table, name in zip(row, tables, names, strict=True):
            image = panel.imshow(table, cmap="PuOr", vmin=-4, vmax=4)
            clipped_rows, clipped_columns = np.nonzero(np.abs(table) > 4)
            panel.plot(clipped_columns, clipped_rows, ".", color="white", markersize=4)
            panel.set_title(f"{name}\nst. dev. {table.std():.2f}", fontsize=9)
            panel.set_xticks([])
            panel.set_yticks([])
        row[0].set_ylabel(f"positions × {scale}\nquery")
    for panel in rows[1]:
        panel.set_xlabel("key")
    figure.colorbar(image, ax=rows, label="part of the score (dot: beyond)", shrink=0.8, extend="both")
    return figure


def trained_along(seed: int, scale: float, marks: list[int]) -> tuple[list[float], np.ndarray]:
    """Test accuracy after each of the marked steps, and the mean weight of every position at the end."""
    shift = scale * sinusoidal_encoding(LENGTH, WIDTH)
    (tokens, labels), (fresh, fresh_labels) = draw_task(seed), draw_task(seed + FRESH)
    columns, theta = examples_last(tokens + shift), np.stack(draw_start(seed))
    m, v, accuracies = np.zeros_like(theta), np.zeros_like(theta), []
    weights = np.zeros((1, LENGTH))
    for step in range(1, marks[-1] + 1):
        theta, m, v = adam_step(theta, slopes(columns, labels, theta), m, v, step)
        if step in marks:
            logits, weights = pooled_logits(fresh + shift, *theta)
            accuracies.append(float(((logits > 0) == (fresh_labels > 0.5)).mean()))
    return accuracies, weights.mean(axis=0)


def longer() -> Figure:
    """Accuracy against steps, far beyond the documented number, and where the weights go."""
    figure = Figure(figsize=(8.4, 3.4), layout="constrained")
    curves, bars = figure.subplots(1, 2, width_ratios=[1.25, 1])
    marks = [15, 30, 60, 100, 200, 350, 600, 1000, 1500, 2500, 4500, 8000, 15000]
    for scale, (color, style) in STYLES.items():
        # The question is whether scale 1 would catch up in ten times the steps; the others may stop earlier.
        seen = {0: marks[:10], 1: marks, 3: marks[:11]}[scale]
        runs = [trained_along(seed, scale, seen) for seed in range(3)]
        curves.plot(seen, np.median([run[0] for run in runs], axis=0), color=color, linestyle=style, label=f"scale {scale}")
        weights = np.median([run[1] for run in runs], axis=0)
        bars.plot(range(LENGTH), weights, color=color, linestyle=style, marker="o", label=f"scale {scale}")
    curves.axhline(BOUND, color=RED, linewidth=1)
    curves.text(15000, BOUND - 0.008, "bound without order", color=RED, fontsize=8, ha="right", va="top")
    curves.axvline(1500, color=GREY, linewidth=0.8)
    curves.text(1700, 0.5, "1500 steps", color=GREY, fontsize=8)
    curves.set_xscale("log")
    curves.set_xlabel("steps")
    curves.set_ylabel("test accuracy, median of three seeds")
    curves.legend(loc="upper left", fontsize=8)
    bars.set_xlabel("position")
    bars.set_ylabel("mean weight after training")
    bars.legend(fontsize=8)
    return figure


def sweep() -> Figure:
    """The sweep of the reference over seven seeds, drawn by the reference."""
    scales = [0, 0.5, 1, 2, 3, 4, 6, 8]
    positions = sinusoidal_encoding(LENGTH, WIDTH)
    tables = [
        position_sweep(draw_task(seed), draw_task(seed + FRESH), positions, *draw_start(seed), scales) for seed in range(7)
    ]
    figure = sweep_figure(scales, np.array(tables)[:, :, 1], BOUND)
    figure.set_size_inches(6.4, 3.8)
    return figure


def time() -> Figure:
    """Error by the scale of the appended number, against the embedding, at one budget."""
    multiples, seeds = [1, 2, 4, 6, 10, 20, 40], 10
    errors = np.zeros((seeds, len(multiples), 2))
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        sets = []
        for _ in range(2):
            features, times = rng.uniform(-1, 1, (400, 1)), rng.random(400)
            sets.append((features, times, np.sin(6 * np.pi * times + 2 * features[:, 0]) + 0.05 * rng.standard_normal(400)))
        layers = [(rng.standard_normal((1 + extra, 100)), rng.standard_normal(100)) for extra in (1, 8)]
        for place, multiple in enumerate(multiples):
            # Multiplying the number is the same as multiplying its row of weights.
            stretched = layers[0][0] * np.array([[1.0], [multiple]]), layers[0][1]
            errors[seed, place] = time_errors(*sets, stretched, layers[1])
    figure = Figure(figsize=(8.4, 3.4), layout="constrained")
    shapes, scales = figure.subplots(1, 2)
    moments = np.linspace(0, 1, 400)
    embedded = embed_time(moments, 8)
    shapes.plot(moments, np.sin(6 * np.pi * moments), color=GREY, linewidth=3, alpha=0.5, label="wanted, at feature 0")
    shapes.plot(moments, moments, color=ORANGE, linestyle="--", label="appended number")
    shapes.plot(moments, embedded[:, 0], color=BLUE, label="two of the eight columns")
    shapes.plot(moments, embedded[:, 2], color=BLUE, linestyle="-.")
    shapes.set_xlabel("time")
    shapes.set_ylabel("value")
    shapes.set_ylim(-1.1, 2.2)
    shapes.legend(loc="upper right", fontsize=8)
    medians = np.median(errors, axis=0)
    scales.plot(multiples, medians[:, 0], color=ORANGE, linestyle="--", marker="o", label="appended number")
    scales.plot(multiples, medians[:, 1], color=BLUE, marker="s", label="embedding of width 8")
    scales.set_xscale("log")
    scales.set_yscale("log")
    scales.set_ylim(0.008, 1.2)
    scales.set_yticks([0.01, 0.03, 0.1, 0.3, 1], ["0.01", "0.03", "0.1", "0.3", "1"])
    scales.set_xticks([1, 3, 10, 30], ["1", "3", "10", "30"])
    scales.set_xlabel("the appended number is multiplied by")
    scales.set_ylabel("mean squared error on fresh data")
    scales.legend(loc="center right", fontsize=8)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "encoding": encoding,
    "terms": terms,
    "sweep": sweep,
    "longer": longer,
    "time": time,
}


def main() -> None:
    """Write every figure, with the same bytes each time."""
    with mpl.rc_context({"svg.hashsalt": "ps3"}):
        for name, draw in FIGURES.items():
            draw().savefig(Path(__file__).parent / "figures" / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
