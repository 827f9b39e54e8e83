"""Drawings of what your own functions do, one for each question."""

import matplotlib.pyplot as plt
import numpy as np

# Okabe and Ito's palette: distinguishable with every common form of colour blindness. Lines differ in style as well.
BLUE, ORANGE, RED, GREY = "#0072B2", "#E69F00", "#D55E00", "#6E6E6E"


def encoding(work):
    """Your position vectors for forty positions, and how alike two positions are at each distance.

    The dot product of two positions depends on their distance alone, so the curves of all
    positions lie on each other.
    """
    vectors = work.sinusoidal_encoding(40, 16)
    drawing, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    picture = left.imshow(vectors.T, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
    left.set_xlabel("position")
    left.set_ylabel("column")
    drawing.colorbar(picture, ax=left)
    for start, style in ((0, "-"), (10, "--"), (20, ":")):
        right.plot(vectors[start : start + 20] @ vectors[start], style, color=BLUE, label=f"from position {start}")
    right.set_xlabel("distance")
    right.set_ylabel("dot product")
    right.legend()
    return drawing


def forward(work):
    """Your logit for one example of eight tokens, as the query grows longer in the direction of token 3.

    At length 0 the logit is the mean of the eight values. A long query picks a single token: the
    logit ends at the value of token 3.
    """
    generator = np.random.default_rng(2)
    tokens, readout = generator.normal(size=(1, 8, 16)), generator.normal(size=16)
    lengths = np.linspace(0, 16, 41)
    logits = [work.pooled_logits(tokens, length * tokens[0, 3] / 4, readout)[0][0] for length in lengths]
    drawing, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    axes.plot(lengths, logits, color=BLUE, label="your logit")
    values = tokens[0] @ readout
    axes.axhline(values.mean(), color=GREY, linestyle=":", label="mean of the values")
    axes.axhline(values[3], color=RED, linestyle="--", label="value of token 3")
    axes.set_xlabel("length of the query")
    axes.legend(frameon=False)
    return drawing


def loss(work):
    """What your loss charges for a logit when the label is 1, and when it is 0.

    To the wrong side it grows by 1 for each unit of the logit, without limit and without a kink.
    """
    logits = np.linspace(-12, 12, 121)
    drawing, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for label, color, style in ((1.0, BLUE, "-"), (0.0, ORANGE, "--")):
        costs = [work.logistic_loss(np.array([logit]), np.array([label])) for logit in logits]
        axes.plot(logits, costs, style, color=color, label=f"label {label:g}")
    axes.axhline(np.log(2), color=GREY, linestyle=":")
    axes.text(-11.5, np.log(2) + 0.2, "ln 2, the price of not knowing", color=GREY)
    axes.set_xlabel("logit")
    axes.set_ylabel("loss in nats")
    axes.legend(frameon=False)
    return drawing


def gradients(work):
    """The difference between your slope and a difference quotient, for steps from 0.1 to a ten-billionth.

    A right gradient gives a V: too large a step misses the curvature, too small a one drowns in
    rounding. A wrong gradient gives a flat line.
    """
    generator = np.random.default_rng(2)
    tokens, labels = generator.normal(size=(20, 8, 16)), (np.arange(20) % 2).astype(float)
    query, readout, along, beside = generator.normal(size=(4, 16))
    by_query, by_readout = work.loss_gradients(tokens, labels, query, readout)
    slope = by_query @ along + by_readout @ beside

    def value(step):
        return work.logistic_loss(work.pooled_logits(tokens, query + step * along, readout + step * beside)[0], labels)

    steps = 10.0 ** -np.arange(1.0, 11.0)
    gaps = [abs((value(step) - value(-step)) / (2 * step) - slope) for step in steps]
    drawing, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    axes.loglog(steps, np.maximum(gaps, 1e-17), "-o", color=BLUE)
    axes.axvline(1e-5, color=GREY, linestyle=":")
    axes.set_xlabel("step h")
    axes.set_ylabel("difference from your slope")
    return drawing


def adam(work):
    """A hundred steps down a narrow valley: your Adam, and plain descent at the largest rate that does not explode.

    The valley is a hundred times as steep across as along. Adam gives each coordinate a step of
    its own size.
    """
    steepness = np.array([1.0, 100.0])
    paths = {"your Adam, lr 0.1": [np.array([-4.0, 1.0])], "plain descent, lr 0.015": [np.array([-4.0, 1.0])]}
    mean, square = np.zeros(2), np.zeros(2)
    for step in range(1, 101):
        place, other = paths["your Adam, lr 0.1"][-1], paths["plain descent, lr 0.015"][-1]
        moved, mean, square = work.adam_step(place, steepness * place, mean, square, step, lr=0.1)
        paths["your Adam, lr 0.1"].append(moved)
        paths["plain descent, lr 0.015"].append(other - 0.015 * steepness * other)
    drawing, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for (label, path), color, style in zip(paths.items(), (BLUE, ORANGE), ("-o", "--s"), strict=True):
        axes.plot(*np.transpose(path), style, color=color, markersize=3, label=label)
    axes.plot(0, 0, "*", color="black", markersize=12, label="lowest point")
    axes.set_xlabel("along the valley")
    axes.set_ylabel("across the valley")
    axes.legend(frameon=False)
    return drawing


def _experiment(work, seed, examples):
    """Fresh data for training and testing, and a start."""
    return work.draw_task(seed, examples), work.draw_task(seed + 500, examples), work.draw_start(seed)


def train(work):
    """Your training on 300 examples with strong positions: the loss, and the weight that position 0 gets.

    The loss falls as soon as the query has found the position. From 1/8, the weight rises towards 1.
    """
    (tokens, labels), _, start = _experiment(work, 0, 300)
    tokens = tokens + 3 * work.sinusoidal_encoding(work.LENGTH, work.WIDTH)
    marks, losses, shares = [0, 10, 25, 50, 100, 200, 400], [], []
    for steps in marks:
        logits, weights = work.pooled_logits(tokens, *work.train(tokens, labels, *start, steps=steps))
        losses.append(work.logistic_loss(logits, labels))
        shares.append(weights[:, 0].mean())
    drawing, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    axes.plot(marks, losses, "-o", color=BLUE, label="train loss")
    axes.plot(marks, shares, "--s", color=RED, label="mean weight of position 0")
    axes.axhline(np.log(2), color=GREY, linestyle=":", label="ln 2: knowing nothing")
    axes.set_xlabel("steps")
    axes.set_ylim(0, 1)
    axes.legend(frameon=False)
    return drawing


def sweep(work):
    """The curve of this problem set, from your own sweep: test accuracy against the strength of the positions.

    Five scales on 1000 examples, with 500 steps in place of 1500. The lower line is the most that
    this model can reach without positions, the upper one the most that any rule can.
    """
    train_set, test_set, start = _experiment(work, 2, 1000)
    scales = [0, 1, 2, 3, 4]
    vectors = work.sinusoidal_encoding(work.LENGTH, work.WIDTH)
    table = work.position_sweep(train_set, test_set, vectors, *start, scales, steps=500)
    drawing, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(scales, table[:, 0], "--s", color=ORANGE, label="train accuracy")
    axes.plot(scales, table[:, 1], "-o", color=BLUE, label="test accuracy")
    axes.axhline(work.BOUND, color=RED, linestyle=":", label="bound for any rule without order")
    axes.axhline(0.615, color=GREY, linestyle="-.", label="sign of the mean")
    predicted = {"a": 0.6, "b": 0.7, "c": 0.9, "d": 1.0}.get(work.guess_table)
    if predicted is not None:
        axes.plot(1, predicted, "x", color="black", markersize=11, label=f"you predicted {predicted:.0%} at scale 1")
    axes.set_xlabel("scale of the positions")
    axes.set_ylabel("accuracy")
    axes.legend(frameon=False)
    return drawing


def figure(work):
    """Your picture of a sweep of seven made-up runs, one of which fails at scale 8.

    Can you read off what is typical, how much runs differ, and what would be possible without
    positions?
    """
    typical = np.array([0.59, 0.62, 0.69, 0.82, 0.92, 0.96, 0.98, 0.98])
    runs = typical + 0.012 * np.random.default_rng(4).normal(size=(7, 8))
    runs[2, 7] = 0.62
    return work.sweep_figure([0, 0.5, 1, 2, 3, 4, 6, 8], np.minimum(runs, 1.0), work.BOUND)


def logit_terms(work):
    """Your four tables for eight random tokens, with the positions as they are and three times as strong.

    The factors are 1, 3, 3 and 9. Look for rows and columns that are nearly constant.
    """
    generator = np.random.default_rng(5)
    content, (w_q, w_k) = generator.normal(size=(8, 16)), generator.normal(size=(2, 16, 16)) / 4
    vectors = work.sinusoidal_encoding(8, 16)
    names = ("content-content", "content-position", "position-content", "position-position")
    split = [work.logit_terms(content, scale * vectors, w_q, w_k) for scale in (1, 3)]
    largest = np.abs(split).max()
    drawing, rows = plt.subplots(2, 4, figsize=(9, 4.8), layout="constrained", sharex=True, sharey=True)
    for panels, tables, scale in zip(rows, split, (1, 3), strict=True):
        for axes, table, name in zip(panels, tables, names, strict=True):
            picture = axes.imshow(table, cmap="PuOr", vmin=-largest, vmax=largest)
            axes.set_title(f"{name}\nstandard deviation {np.std(table):.2f}", fontsize=8)
        panels[0].set_ylabel(f"positions × {scale}\nquery")
    for axes in rows[1]:
        axes.set_xlabel("key")
    drawing.colorbar(picture, ax=rows, label="part of the score")
    return drawing


def time(work):
    """The error of your readout on a wave in time, against the span of the embedding.

    The dashed line is the appended number. The embedding is no magic: it needs a span at which one
    of its rates comes near the wave's.
    """
    generator = np.random.default_rng(6)
    sets = []
    for _ in range(2):
        features, times = generator.uniform(-1, 1, (300, 1)), generator.random(300)
        sets.append((features, times, np.sin(6 * np.pi * times + 2 * features[:, 0])))
    bias = generator.normal(size=100)
    layers = (generator.normal(size=(2, 100)), bias), (generator.normal(size=(9, 100)), bias)
    spans = [1, 2, 5, 10, 20, 40]
    errors = np.array([work.time_errors(*sets, *layers, span=float(span)) for span in spans])
    drawing, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    axes.plot(spans, errors[:, 1], "-o", color=BLUE, label="embedding of width 8")
    axes.plot(spans, errors[:, 0], "--", color=ORANGE, label="appended number")
    predicted = {"a": 1, "b": 3, "c": 30, "d": 3000}.get(work.guess_time)
    if predicted is not None:
        axes.plot(
            20, errors[0, 0] / predicted, "x", color="black", markersize=11, label=f"you predicted a factor of {predicted}"
        )
    axes.set_yscale("log")
    axes.set_xlabel("span of the embedding")
    axes.set_ylabel("mean squared error on fresh data")
    axes.legend(frameon=False)
    return drawing
