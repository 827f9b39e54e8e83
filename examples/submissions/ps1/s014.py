"""PS1 in float32, as on a GPU."""
import numpy as np
from matplotlib import pyplot as plt

f32 = np.float32


def mix(weights, values):
    w = np.asarray(weights, dtype=f32)
    v = np.asarray(values, dtype=f32)
    if w.shape[0] != v.shape[0]:
        raise ValueError("need one weight for each value")
    if w.min() < 0:
        raise ValueError("negative share")
    if abs(float(w.sum()) - 1) > 1e-6:
        raise ValueError("shares must sum to one")
    return w @ v


def softmax(scores, axis=-1):
    s = np.asarray(scores, dtype=f32)
    s = np.exp(s - s.max(axis=axis, keepdims=True))
    return s / s.sum(axis=axis, keepdims=True)


def scaled_scores(queries, keys):
    q, k = queries.astype(f32), keys.astype(f32)
    return q @ np.swapaxes(k, -1, -2) / f32(np.sqrt(q.shape[-1]))


def attention(queries, keys, values, mask=None):
    s = scaled_scores(queries, keys)
    w = softmax(s) if mask is None else masked_softmax(s, mask)
    return w @ values.astype(f32), w


def causal_mask(n):
    return np.tri(n, n, 0, dtype=bool)


def masked_softmax(scores, mask):
    s = np.where(mask, scores, -np.inf).astype(f32)
    top = s.max(axis=-1, keepdims=True)
    top[top == -np.inf] = 0
    e = np.exp(s - top)
    total = e.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    return e / total


TRIANGLE = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 3.0]], dtype=f32)


def leaves_hull(point, values, tolerance=1e-6):
    """Nearest point of the hull, by projected gradient on the weights."""
    p, v = np.asarray(point, dtype=f32), np.asarray(values, dtype=f32)
    centre = v.mean(axis=0)
    p, v = p - centre, v - centre
    size = max(np.abs(v).max(), np.abs(p).max(), f32(1e-30))
    p, v = p / size, v / size
    w = np.full(len(v), 1 / len(v), dtype=f32)
    rate = 1 / max(np.linalg.norm(v @ v.T, 2), f32(1e-6))
    ahead, before = w, w
    for step in range(1, 300):
        w = project_on_simplex(ahead - rate * (v @ (ahead @ v - p)))
        if np.abs(w - before).max() < 1e-6 or np.linalg.norm(w @ v - p) < 1e-3:
            break
        ahead, before = w + (step - 1) / (step + 2) * (w - before), w
    return bool(np.linalg.norm(w @ v - p) > 3e-3)


def project_on_simplex(x):
    u = np.sort(x)[::-1]
    c = np.cumsum(u) - 1
    k = np.nonzero(u - c / np.arange(1, len(x) + 1) > 0)[0][-1]
    return np.maximum(x - c[k] / (k + 1), 0)


escaping_projection = np.array([[-1, 0], [0, -1]], dtype=f32)


def heatmap(weights, tokens):
    n = len(tokens)
    if np.shape(weights) != (n, n):
        raise ValueError("table size")
    fig, ax = plt.subplots()
    im = ax.imshow(np.asarray(weights, dtype=f32), cmap="Purples", vmin=0, vmax=1)
    ax.set_xticks(range(n))
    ax.set_yticks(range(n))
    ax.set_xticklabels(tokens)
    ax.set_yticklabels(tokens)
    ax.set_xlabel("read")
    ax.set_ylabel("reading")
    fig.colorbar(im, ax=ax)
    return fig


swapped = "a"
doubled = "c"
survivors = "d"
cell = "b"
causation = "A weight is a share, not an effect. Remove the word, renormalise, and see whether the prediction moves as predicted."

# my predictions
guess_sharpness = "c"
guess_effect = 30.0
