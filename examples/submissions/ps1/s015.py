# No vectorising. I want to see every step.
import math

import matplotlib.pyplot as plt
import numpy as np


def mix(weights, values):
    if len(weights) != len(values):
        raise ValueError("different lengths")
    spent = 0.0
    for w in weights:
        if w < 0:
            raise ValueError("negative weight")
        spent += w
    if abs(spent - 1) > 1e-6:
        raise ValueError("budget not spent exactly")
    if np.ndim(values) == 1:
        out = 0.0
        for j in range(len(values)):
            out += weights[j] * values[j]
        return out
    out = np.zeros(values.shape[1])
    for j in range(len(values)):
        for c in range(values.shape[1]):
            out[c] += weights[j] * values[j, c]
    return out


def softmax_of_list(s):
    if len(s) == 0:
        return []
    biggest = max(s)
    e = [math.exp(x - biggest) for x in s]
    total = math.fsum(e)
    return [x / total for x in e]


def softmax(scores, axis=-1):
    moved = np.moveaxis(np.array(scores, dtype=float), axis, -1)
    out = np.zeros(moved.shape)
    for index in np.ndindex(moved.shape[:-1]):
        out[index] = softmax_of_list(list(moved[index]))
    return np.moveaxis(out, -1, axis)


def scaled_scores(queries, keys):
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError("queries and keys have different widths")
    lead = queries.shape[:-2]
    m, d = queries.shape[-2:]
    n = keys.shape[-2]
    out = np.zeros(lead + (m, n))
    for b in np.ndindex(lead):
        for i in range(m):
            for j in range(n):
                s = 0.0
                for c in range(d):
                    s += queries[b][i, c] * keys[b][j, c]
                out[b + (i, j)] = s / math.sqrt(d)
    return out


def attention(queries, keys, values, mask=None):
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError("every key needs a value")
    scores = scaled_scores(queries, keys)
    if mask is None:
        mask = np.ones(scores.shape, dtype=bool)
    weights = masked_softmax(scores, mask)
    out = np.zeros(scores.shape[:-1] + (values.shape[-1],))
    for b in np.ndindex(scores.shape[:-2]):
        for i in range(scores.shape[-2]):
            for j in range(scores.shape[-1]):
                out[b + (i,)] += weights[b + (i, j)] * values[b][j]
    return out, weights


def causal_mask(n):
    mask = np.zeros((n, n), dtype=bool)
    for reader in range(n):
        for item in range(reader + 1):
            mask[reader, item] = True
    return mask


def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    out = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        allowed = [j for j in range(scores.shape[-1]) if mask[index][j]]
        for j, w in zip(allowed, softmax_of_list([scores[index][j] for j in allowed])):
            out[index][j] = w
    return out


TRIANGLE = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 3.0]])


def leaves_hull(point, values, tolerance=1e-6):
    """Nearest point of the hull: polytope walk with an active set of corners."""
    v = values - point
    size = np.abs(values).max()
    active = [int((v ** 2).sum(axis=1).argmin())]
    lam = np.array([1.0])
    for _ in range(1000):
        x = lam @ v[active]
        if np.linalg.norm(x) <= tolerance * size:
            return False
        j = int((v @ x).argmin())
        if v[j] @ x > x @ x - 1e-12 * size * size or j in active:
            break
        active.append(j)
        lam = np.append(lam, 0.0)
        while True:
            # nearest point of the flat through the active corners
            k = len(active)
            system = np.zeros((k + 1, k + 1))
            system[0, 1:] = system[1:, 0] = 1
            system[1:, 1:] = v[active] @ v[active].T / size ** 2
            mu = np.linalg.lstsq(system, np.append(1.0, np.zeros(k)), rcond=None)[0][1:]
            if (mu > 1e-13).all():
                lam = mu
                break
            t = min(lam[i] / (lam[i] - mu[i]) for i in range(k) if mu[i] <= 1e-13 and lam[i] > mu[i])
            lam = (1 - t) * lam + t * mu
            keep = [i for i in range(k) if lam[i] > 1e-13]
            if len(keep) == k:
                keep.remove(int(lam.argmin()))
            active = [active[i] for i in keep]
            lam = lam[keep] / lam[keep].sum()
    x = lam @ v[active]
    return bool(np.linalg.norm(x) > tolerance * size)


escaping_projection = [[10, 0], [0, 10]]


def heatmap(weights, tokens):
    rows = len(weights)
    if rows != len(tokens):
        raise ValueError("rows and words")
    for row in weights:
        if len(row) != len(tokens):
            raise ValueError("columns and words")
    fig, ax = plt.subplots()
    picture = ax.imshow(weights, cmap="gist_yarg", vmin=0.0, vmax=1.0, origin="upper")
    ax.xaxis.set_ticks(list(range(rows)))
    ax.xaxis.set_ticklabels(tokens)
    ax.yaxis.set_ticks(list(range(rows)))
    ax.yaxis.set_ticklabels(tokens)
    ax.set_xlabel("word that is read")
    ax.set_ylabel("word that reads")
    fig.colorbar(picture)
    for i in range(rows):
        for j in range(rows):
            ax.text(j, i, "%.2f" % weights[i][j], ha="center", va="center", color="red")
    return fig


swapped = "a"
doubled = "c"
survivors = "d"
cell = "b"
causation = """No. The weight multiplies a value, and only the product counts, and after that come other layers. I would take
"cat" away in that row (mask it), let the others share its budget, and record how the probability of "tired" changes. Then I do the
same with each other word and plot the change against weight times (value minus average of the rest). Points on a rising line
speak for the claim, a cloud speaks against it, and no change for "cat" settles it."""

# my predictions
guess_sharpness = "d"
guess_effect = 30
