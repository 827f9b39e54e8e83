import numpy as np
import matplotlib.pyplot as plt

def mix(weights, values):
    if len(weights) != len(values):
        raise ValueError("lengths")
    if (weights < 0).any() or abs(weights.sum() - 1) > 1e-6:
        raise ValueError("weights")
    return weights.reshape(1, -1) @ values          # gives a row

def softmax(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

def scaled_scores(queries, keys):
    return keys @ np.swapaxes(queries, -1, -2) / np.sqrt(queries.shape[-1])

def attention(queries, keys, values, mask=None):
    scores = np.swapaxes(scaled_scores(queries, keys), -1, -2)
    if mask is None:
        weights = softmax(scores)
    else:
        weights = masked_softmax(scores, mask)
    return (weights @ values).squeeze(), weights.squeeze()

def causal_mask(n):
    return np.tril(np.ones((n, n)))

def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape).astype(bool)
    top = np.where(mask, scores, -np.inf).max(-1, keepdims=True)
    top = np.where(np.isinf(top), 0, top)
    e = np.where(mask, np.exp(np.minimum(scores - top, 0)), 0)
    total = e.sum(-1, keepdims=True)
    return e / (total + (total == 0))

TRIANGLE = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 3.0]])

def leaves_hull(point, values, tolerance=1e-6):
    A = np.vstack([values.T, np.ones(len(values))])
    w = np.linalg.lstsq(A, np.append(point, 1), rcond=None)[0]
    ok = np.allclose(A @ w, np.append(point, 1), atol=1e-8) and (w > -1e-9).all()
    return np.array([not ok])

escaping_projection = [-1, -1]

def heatmap(weights, tokens):
    fig, ax = plt.subplots()
    ax.imshow(weights, cmap="Greys", vmin=0, vmax=1)
    return ax

swapped = "a"
doubled = "c"
survivors = "d"
cell = "d"
