import numpy as np
import matplotlib.pyplot as plt

# question 1
def mix(weights, values):
    total = 0
    for i in range(len(weights)):
        total += weights[i] * values[i]
    return total

# question 2: just the formula
def softmax(scores, axis=-1):
    exp = np.exp(scores)
    return exp / exp.sum(axis=axis, keepdims=True)

# question 3
def scaled_scores(queries, keys):
    d = queries.shape[-1]
    dots = queries @ np.swapaxes(keys, -1, -2)
    return dots / d

# question 4
def attention(queries, keys, values, mask=None):
    d = keys.shape[-1]
    s = queries @ np.swapaxes(keys, -1, -2) / d ** 0.5
    if mask is not None:
        s = np.where(mask, s, -1e9)
    w = softmax(s)
    return w @ values, w

# question 5
def causal_mask(n):
    m = np.zeros((n, n), dtype=bool)
    for i in range(n):
        m[i, : i + 1] = True
    return m

def masked_softmax(scores, mask):
    return softmax(np.where(mask, scores, -1e9))

# question 6
TRIANGLE = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 3.0]])

def leaves_hull(point, values, tolerance=1e-6):
    # inside the box of the values?
    eps = tolerance * np.abs(values).max()
    low, high = values.min(axis=0) - eps, values.max(axis=0) + eps
    return bool(np.any(point < low) or np.any(point > high))

escaping_projection = [[5, 0], [0, 5]]

# question 7
def heatmap(weights, tokens):
    fig, ax = plt.subplots()
    im = ax.imshow(weights, cmap="Greys")
    ax.set_xticks(range(len(tokens)))
    ax.set_xticklabels(tokens)
    ax.set_yticks(range(len(tokens)))
    ax.set_yticklabels(tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    fig.colorbar(im)
    return fig

# question 8
swapped = "c"
doubled = "c"
survivors = "b"
cell = "b"

causation = "If the weight is large the word is important for the output, so I think the claim is right in most cases."

# my predictions
guess_sharpness = "b"
guess_effect = 45
