"""Problem set 1."""
import itertools

import matplotlib.pyplot as plt
import numpy as np


def mix(weights, values):
    if weights.shape[0] != values.shape[0]:
        raise ValueError("one weight per value, please")
    if np.any(weights < 0) or abs(weights.sum() - 1.0) > 1e-6:
        raise ValueError("not a budget of one")
    return np.einsum("n,n...->...", weights, values)


def softmax(scores, axis=-1):
    e = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def scaled_scores(queries, keys):
    d = queries.shape[-1]
    if keys.shape[-1] != d:
        raise ValueError("queries and keys of different widths")
    return np.einsum("...md,...nd->...mn", queries, keys) / np.sqrt(d)


def causal_mask(n):
    return np.arange(n)[None, :] <= np.arange(n)[:, None]


def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    # shift by the biggest allowed score; -1e5 is below anything allowed
    top = np.max(np.where(mask, scores, -1e5), axis=-1, keepdims=True)
    e = np.where(mask, np.exp(np.where(mask, scores - top, 0.0)), 0.0)
    s = e.sum(axis=-1, keepdims=True)
    s[s == 0] = 1.0
    return e / s


def attention(queries, keys, values, mask=None):
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError("one value per key")
    s = scaled_scores(queries, keys)
    w = softmax(s) if mask is None else masked_softmax(s, mask)
    return np.einsum("...mn,...nv->...mv", w, values), w


TRIANGLE = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 3.0]])


def leaves_hull(point, values, tolerance=1e-6):
    # Caratheodory: d + 1 values are enough, so try all groups of that size or smaller.
    n, d = values.shape
    limit = tolerance * np.abs(values).max()
    rhs = np.append(point, 1.0)
    for size in range(1, min(n, d + 1) + 1):
        for group in itertools.combinations(range(n), size):
            corners = values[list(group)]
            A = np.vstack([corners.T, np.ones(size)])
            w, _, rank, _ = np.linalg.lstsq(A, rhs, rcond=None)
            if rank < size:
                continue  # a smaller group does the same job
            if w.min() > -1e-9 and np.linalg.norm(w @ corners - point) <= limit and abs(w.sum() - 1) < 1e-6:
                return False
    return True


# turn the plane by 180 degrees: everything lands in the third quadrant
escaping_projection = [[-1, 0], [0, -1]]


def heatmap(weights, tokens):
    n = len(tokens)
    if weights.shape != (n, n):
        raise ValueError(f"expected a {n} x {n} table")
    fig, ax = plt.subplots()
    im = ax.imshow(weights, vmin=0, vmax=1, cmap="Blues")
    ax.set_xticks(np.arange(n), labels=tokens, rotation=90)
    ax.set_yticks(np.arange(n), labels=tokens)
    ax.set_xlabel("is read")
    ax.set_ylabel("reads")
    fig.colorbar(im)
    return fig


swapped = "a"
doubled = "c"
survivors = "d"
cell = "b"

causation = """The weight is only a coefficient: it tells how the average was put together. If the value of "cat" is close to
the average of the other values, removing it changes nothing, whatever its weight. To test the claim I would mask "cat" for
the row of "it", recompute, and compare the probability of "tired" before and after; then the same for every other word.
If the drop is large for "cat" and follows weight times distance for the other words, that supports the claim. If the
probability does not move, or moves as much for words with tiny weights, it speaks against it."""

# my predictions
guess_sharpness = "d"
guess_effect = 30
