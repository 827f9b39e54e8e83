import numpy as np
import matplotlib.pyplot as plt

def mix(weights, values):
    if len(weights) != len(values) or np.any(weights < 0) or abs(np.sum(weights) - 1) > 1e-6:
        raise ValueError("bad weights")
    return np.average(values, axis=0, weights=weights)

def softmax(scores, axis=-1):
    e = np.exp(scores - np.amax(scores, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)

def scaled_scores(queries, keys):
    return queries @ np.swapaxes(keys, -1, -2) / np.sqrt(np.shape(queries)[-1])

def attention(queries, keys, values, mask=None):
    scores = scaled_scores(queries, keys)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ values, weights

def causal_mask(n):
    return np.tri(n) == 1

def masked_softmax(scores, mask):
    legal = np.broadcast_to(mask, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=legal, initial=-1e6)
    e = np.zeros(scores.shape)
    np.exp(scores - top, out=e, where=legal)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)

TRIANGLE = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 3.0]])

def leaves_hull(point, values, tolerance=1e-6):
    # Frank-Wolfe: walk to the point. If it is inside we get there.
    here = values[0]
    while np.linalg.norm(here - point) > tolerance:
        best = values[np.argmin(values @ (here - point))]
        step = best - here
        if np.dot(step, step) > 0:
            t = np.clip(np.dot(point - here, step) / np.dot(step, step), 0, 1)
            here = here + t * step
    return False

escaping_projection = np.array([[-1.0, 0.0], [0.0, 1.0]])

def heatmap(weights, tokens):
    if len(weights) != len(tokens) or len(weights[0]) != len(tokens):
        raise ValueError("size")
    fig = plt.figure()
    ax = fig.add_subplot(111)
    picture = ax.matshow(weights, cmap="binary", vmin=0, vmax=1)
    fig.colorbar(picture)
    ax.set_xticks(range(len(tokens)))
    ax.set_yticks(range(len(tokens)))
    ax.set_xticklabels(tokens)
    ax.set_yticklabels(tokens)
    ax.set_xlabel("read")
    ax.set_ylabel("reader")
    return fig

swapped = "a"
doubled = "c"
survivors = "d"
cell = "b"
causation = "Mask the word and see if the prediction changes. If it changes, the claim is supported, otherwise not."

# my predictions
guess_sharpness = "d"
guess_effect = 25
