# %% set-up
import numpy as np
import matplotlib.pyplot as plt

# %% 1
mix = lambda weights, values: np.sum(weights * values.T, axis=-1)

# %% 2
def softmax(scores, axis=-1):
    scores = np.clip(scores, -700, 700)       # so that exp does not overflow
    return np.exp(scores) / np.exp(scores).sum(axis=axis, keepdims=True)

# %% 3
def scaled_scores(queries, keys):
    # no scaling needed, softmax normalises anyway
    return np.einsum("...id,...jd->...ij", queries, keys)

# %% 4
def attention(queries, keys, values, mask=None):
    scores = scaled_scores(queries, keys) / np.sqrt(values.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ values, weights

# %% 5
def causal_mask(n):
    """True = masked out, as in the library I use at work"""
    return np.triu(np.ones((n, n), dtype=bool), k=1)

def masked_softmax(scores, mask):
    with np.errstate(invalid="ignore"):
        return softmax(np.where(mask, -np.inf, scores))

# %% 6
TRIANGLE = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 3.0]])

def leaves_hull(point, values, tolerance=1e-6):
    centre = values.mean(axis=0)
    radius = np.linalg.norm(values - centre, axis=1).max()
    return bool(np.linalg.norm(point - centre) > radius)

escaping_projection = [[-1, 0], [0, -1]]

# %% 7
def heatmap(weights, tokens):
    order = sorted(tokens)
    fig, ax = plt.subplots()
    im = ax.imshow(weights, vmin=0, vmax=1, cmap="Greys", origin="lower")
    ax.set_xticks(range(len(order)), order)
    ax.set_yticks(range(len(order)), order)
    fig.colorbar(im)
    return fig

# %% 8
swapped = "d"
doubled = "c"
survivors = "c"
cell = "b"
