"""Right answers to problem set 3 in other styles. Each must earn all points of its question."""

import math

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from autograder.variants import alternative
from solutions.ps3_position import adam_step as right_adam_step
from solutions.ps3_position import embed_time as right_embed_time
from solutions.ps3_position import loss_gradients as right_loss_gradients
from solutions.ps3_position import pooled_logits as right_pooled_logits
from solutions.ps3_position import readout_error as right_readout_error
from solutions.ps3_position import train as right_train

# ----------------------------------------------------------------------------------------------------------- encoding


@alternative("encoding")
def encoding_in_loops(length, width):
    if width % 2 == 1:
        raise ValueError("odd width")
    encoding = np.zeros((length, width))
    for t in range(length):
        for k in range(width // 2):
            angle = t / math.pow(10000, 2 * k / width)
            encoding[t, 2 * k] = math.sin(angle)
            encoding[t, 2 * k + 1] = math.cos(angle)
    return encoding


@alternative("encoding")
def encoding_with_slices(length, width):
    if width != 2 * (width // 2):
        raise ValueError("width must be even")
    angles = np.arange(length)[:, None] * np.exp(-math.log(10000) * np.arange(0, width, 2) / width)
    encoding = np.empty((length, width))
    encoding[:, ::2], encoding[:, 1::2] = np.sin(angles), np.cos(angles)
    return encoding


@alternative("encoding")
def encoding_with_complex_numbers(length, width):
    if width % 2:
        raise ValueError("width must be even")
    turns = np.exp(1j * np.arange(length)[:, None] / 10000 ** (np.arange(width // 2) * 2 / width))
    return np.stack([turns.imag, turns.real], axis=2).reshape(length, width)


# -------------------------------------------------------------------------------------------------------- logit_terms


@alternative("logit_terms")
def terms_with_einsum(content, positions, w_q, w_k):
    root = math.sqrt(w_q.shape[-1])

    def table(left, right):
        return np.einsum("ia,ad,bd,jb->ij", left, w_q, w_k, right, optimize=True) / root

    return (
        table(content, content),
        table(content, positions),
        table(positions, content),
        table(positions, positions),
    )


@alternative("logit_terms")
def terms_through_one_form(content, positions, w_q, w_k):
    form = w_q @ w_k.T / np.sqrt(w_k.shape[1])
    return [left @ form @ right.T for left in (content, positions) for right in (content, positions)]


@alternative("logit_terms")
def terms_entry_by_entry(content, positions, w_q, w_k):
    def table(left, right):
        return np.array([[np.dot(row @ w_q, column @ w_k) / np.sqrt(w_q.shape[1]) for column in right] for row in left])

    tables = {}
    for first, left in (("c", content), ("p", positions)):
        for second, right in (("c", content), ("p", positions)):
            tables[first + second] = table(left, right)
    return tables["cc"], tables["cp"], tables["pc"], tables["pp"]


# ------------------------------------------------------------------------------------------------------------ forward


@alternative("forward")
def forward_with_einsum(tokens, query, readout):
    scores = np.einsum("nld,d->nl", tokens, query) / np.sqrt(len(query))
    weights = np.exp(scores - scores.max(1)[:, None])
    weights = weights / weights.sum(1)[:, None]
    pooled = np.einsum("nl,nld->nd", weights, tokens)
    return pooled @ readout, weights


@alternative("forward")
def forward_with_a_running_sum(tokens, query, readout):
    # Adds token after token, the plainest order of additions there is.
    n, length, width = tokens.shape
    scores = np.zeros((n, length))
    for column in range(width):
        scores += tokens[:, :, column] * (query[column] / width**0.5)
    growth = np.exp(scores - scores.max(axis=1, keepdims=True))
    logits, total = np.zeros(n), growth.sum(axis=1)
    for place in range(length):
        logits += growth[:, place] / total * sum(tokens[:, place, column] * readout[column] for column in range(width))
    return logits, growth / total[:, None]


@alternative("forward")
def forward_example_by_example(tokens, query, readout):
    logits, weights = [], []
    for example in tokens:
        scores = example @ query / math.sqrt(example.shape[1])
        growth = np.exp(scores - scores.max())
        weights.append(growth / growth.sum())
        logits.append(float(weights[-1] @ example @ readout))
    return np.array(logits), np.array(weights)


# --------------------------------------------------------------------------------------------------------------- loss


@alternative("loss")
def loss_with_log1p(logits, labels):
    return (np.maximum(logits, 0) - logits * labels + np.log1p(np.exp(-np.abs(logits)))).mean()


@alternative("loss")
def loss_by_the_plain_logarithm(logits, labels):
    # log(1 + exp(x)) with the large part taken out; where exp(-|x|) is below eps, what is left of it is lost.
    margins = np.where(labels > 0.5, logits, -logits)
    return float(np.mean(np.maximum(-margins, 0) + np.log(1 + np.exp(-np.abs(margins)))))


@alternative("loss")
def loss_example_by_example(logits, labels):
    total = 0.0
    for logit, label in zip(logits.tolist(), labels.tolist(), strict=True):
        margin = logit if label == 1 else -logit
        total += math.log1p(math.exp(-margin)) if margin > 0 else -margin + math.log1p(math.exp(margin))
    return total / len(logits)


# ---------------------------------------------------------------------------------------------------------- gradients


@alternative("gradients")
def gradients_with_the_pooled_vector(tokens, labels, query, readout):
    root = np.sqrt(tokens.shape[2])
    logits, weights = right_pooled_logits(tokens, query, readout)
    pooled = np.einsum("nl,nld->nd", weights, tokens)
    error = (1 / (1 + np.exp(-np.clip(logits, -700, 700))) - labels) / len(tokens)
    gaps = tokens @ readout - logits[:, None]
    return np.einsum("n,nl,nl,nld->d", error, weights, gaps, tokens, optimize=True) / root, error @ pooled


@alternative("gradients")
def gradients_with_the_jacobian(tokens, labels, query, readout):
    n, length, width = tokens.shape
    logits, weights = right_pooled_logits(tokens, query, readout)
    error = (0.5 * (1 + np.tanh(logits / 2)) - labels) / n
    jacobian = weights[:, :, None] * np.eye(length) - weights[:, :, None] * weights[:, None, :]
    by_weight = error[:, None] * (tokens @ readout)
    by_score = (jacobian @ by_weight[:, :, None])[:, :, 0]
    query_gradient = (by_score[:, None, :] @ tokens)[:, 0].sum(axis=0) / np.sqrt(width)
    readout_gradient = (error[:, None] * (weights[:, None, :] @ tokens)[:, 0]).sum(axis=0)
    return query_gradient, readout_gradient


@alternative("gradients")
def gradients_example_by_example(tokens, labels, query, readout):
    n, _, width = tokens.shape
    by_query, by_readout = np.zeros(width), np.zeros(width)
    for example, label in zip(tokens, labels, strict=True):
        scores = example @ query / np.sqrt(width)
        weights = np.exp(scores - scores.max())
        weights = weights / weights.sum()
        pooled = weights @ example
        logit = pooled @ readout
        error = (0.5 + 0.5 * math.tanh(logit / 2) - label) / n
        by_readout += error * pooled
        # The covariance of the tokens under the weights, applied to the readout.
        by_query += error * ((weights[:, None] * (example - pooled)).T @ (example - pooled)) @ readout / np.sqrt(width)
    return by_query, by_readout


# --------------------------------------------------------------------------------------------------------------- adam


@alternative("adam")
def adam_with_one_corrected_rate(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    m = m + (1 - beta1) * (gradient - m)
    v = v + (1 - beta2) * (gradient * gradient - v)
    root = math.sqrt(1 - beta2**step)
    return theta - lr * root / (1 - beta1**step) * m / (np.sqrt(v) + eps * root), m, v


@alternative("adam")
def adam_number_by_number(theta, gradient, m, v, step, lr=0.01, beta1=0.9, beta2=0.999, eps=1e-8):
    theta, m, v = np.array(theta), np.array(m), np.array(v)
    for place in np.ndindex(theta.shape):
        m[place] = beta1 * m[place] + (1 - beta1) * gradient[place]
        v[place] = beta2 * v[place] + (1 - beta2) * gradient[place] ** 2
        m_hat, v_hat = m[place] / (1 - beta1**step), v[place] / (1 - beta2**step)
        theta[place] -= lr * m_hat / (math.sqrt(v_hat) + eps)
    return theta, m, v


# -------------------------------------------------------------------------------------------------------------- train


@alternative("train")
def train_with_two_optimisers(tokens, labels, query, readout, steps=1500, lr=0.01):
    state = {name: (start, 0 * start, 0 * start) for name, start in (("query", query), ("readout", readout))}
    for step in range(1, steps + 1):
        slopes = right_loss_gradients(tokens, labels, state["query"][0], state["readout"][0])
        for name, slope in zip(("query", "readout"), slopes, strict=True):
            theta, m, v = state[name]
            state[name] = right_adam_step(theta, slope, m, v, step, lr)
    return state["query"][0], state["readout"][0]


@alternative("train")
def train_all_in_one(tokens, labels, query, readout, steps=1500, lr=0.01):
    n, _, width = tokens.shape
    theta = np.concatenate([query, readout])
    m, v = np.zeros(2 * width), np.zeros(2 * width)
    for t in range(steps):
        query, readout = theta[:width], theta[width:]
        scores = np.einsum("nld,d->nl", tokens, query) / width**0.5
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        pooled = np.einsum("nl,nld->nd", weights, tokens)
        logits = pooled @ readout
        error = (1 / (1 + np.exp(-logits)) - labels) / n
        by_weight = error[:, None] * np.einsum("nld,d->nl", tokens, readout)
        by_score = weights * (by_weight - (weights * by_weight).sum(axis=-1, keepdims=True))
        gradient = np.concatenate([np.einsum("nl,nld->d", by_score, tokens) / width**0.5, error @ pooled])
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient * gradient
        theta = theta - lr * (m / (1 - 0.9 ** (t + 1))) / (np.sqrt(v / (1 - 0.999 ** (t + 1))) + 1e-8)
    return theta[:width], theta[width:]


# -------------------------------------------------------------------------------------------------------------- sweep


@alternative("sweep")
def sweep_one_set_at_a_time(train_set, test_set, positions, query, readout, scales, steps=1500, lr=0.01):
    def accuracy(tokens, labels, theta):
        logits, _ = right_pooled_logits(tokens, *theta)
        return sum(int((logit > 0) == (label == 1)) for logit, label in zip(logits, labels, strict=True)) / len(labels)

    table = np.zeros((len(scales), 2))
    for row, scale in enumerate(scales):
        moved = [(tokens + scale * positions[None], labels) for tokens, labels in (train_set, test_set)]
        theta = np.stack([query, readout])
        m, v = np.zeros_like(theta), np.zeros_like(theta)
        for step in range(steps):
            slopes = np.stack(right_loss_gradients(*moved[0], *theta))
            theta, m, v = right_adam_step(theta, slopes, m, v, step + 1, lr)
        table[row] = [accuracy(tokens, labels, theta) for tokens, labels in moved]
    return table


@alternative("sweep")
def sweep_from_the_last_scale(train_set, test_set, positions, query, readout, scales, steps=1500, lr=0.01):
    (tokens, labels), (test_tokens, test_labels) = train_set, test_set
    rows = []
    for scale in list(scales)[::-1]:
        added = np.asarray(positions) * scale
        trained = right_train(tokens + added, labels, query, readout, steps=steps, lr=lr)
        rows.append(
            [
                np.mean((right_pooled_logits(tokens + added, *trained)[0] > 0) == labels.astype(bool)),
                np.mean((right_pooled_logits(test_tokens + added, *trained)[0] > 0) == test_labels.astype(bool)),
            ]
        )
    return np.array(rows[::-1])


# ------------------------------------------------------------------------------------------------------------- figure


@alternative("figure")
def figure_with_a_drawn_bound(scales, test_accuracies, bound):
    figure = Figure()
    axes = figure.subplots()
    for row in test_accuracies:
        axes.plot(scales, row, "x", color="grey")
    axes.plot([min(scales), max(scales)], [bound, bound], ":", color="black", label="Bayes bound")
    axes.plot(scales, [float(np.median(column)) for column in test_accuracies.T], "s-", label="median")
    axes.set(xlabel="position scale", ylabel="accuracy on the test set", title="Sweep")
    axes.legend(loc="lower right")
    return figure


@alternative("figure")
def figure_with_one_cloud(scales, test_accuracies, bound):
    figure, axes = plt.subplots()
    axes.axhline(y=bound, linestyle="dashdot", label=f"Bound {bound:.4f}")
    axes.plot(np.repeat(scales, len(test_accuracies)), test_accuracies.T.ravel(), linestyle="", marker="o", label="one seed")
    axes.plot(scales, np.median(np.asarray(test_accuracies), 0), label="middle of the seeds")
    axes.set_xlabel("scale")
    axes.set_ylabel("accuracy")
    axes.legend()
    return figure


@alternative("figure")
def figure_in_per_cent_with_its_own_legend(scales, test_accuracies, bound):
    figure, axes = plt.subplots()
    jitter = 0.2 * np.diff(scales).min() * np.linspace(-1, 1, len(test_accuracies))
    for shift, row in zip(jitter, test_accuracies, strict=True):
        axes.plot(np.asarray(scales) + shift, 100 * row, "k.", alpha=0.5)
    axes.plot(scales, 100 * np.median(test_accuracies, axis=0), label="median of the runs")
    axes.plot([min(scales), max(scales)], [100 * bound] * 2, linestyle=":", label="bound without order")
    axes.set(xlabel="scale", ylabel="accuracy in per cent")
    figure.legend(loc="upper left")
    return figure


# --------------------------------------------------------------------------------------------------------------- time


@alternative("time")
def embed_time_in_loops(times, width, span=20.0):
    return np.array(
        [
            [
                (math.sin if column % 2 == 0 else math.cos)(span * t / 10000 ** ((column - column % 2) / width))
                for column in range(width)
            ]
            for t in times
        ]
    )


@alternative("time", replaces="readout_error")
def readout_error_by_least_squares(train_set, test_set, layer, ridge=1e-4):
    (inputs, targets), (test_inputs, test_targets), (weights, bias) = train_set, test_set, layer
    hidden = np.tanh(np.einsum("nw,wh->nh", inputs, weights) + bias[None])
    n, units = hidden.shape
    # A penalty on c is a set of extra examples, each asking one entry of c to be zero.
    stacked = np.vstack([hidden, np.sqrt(n * ridge) * np.eye(units)])
    readout = np.linalg.lstsq(stacked, np.concatenate([targets, np.zeros(units)]), rcond=None)[0]
    return ((np.tanh(test_inputs @ weights + bias) @ readout - test_targets) ** 2).mean()


@alternative("time", replaces="time_errors")
def time_errors_in_a_loop(train_set, test_set, scalar_layer, embedded_layer, span=20.0):
    errors = []
    for layer in (scalar_layer, embedded_layer):
        sets = []
        for features, times, targets in (train_set, test_set):
            extra = layer[0].shape[0] - features.shape[1]
            told = times[:, None] if layer is scalar_layer else right_embed_time(times, extra, span)
            sets.append((np.hstack([features, told]), targets))
        errors.append(right_readout_error(*sets, layer))
    return errors
