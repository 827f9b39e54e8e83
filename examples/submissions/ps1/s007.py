import numpy as np
import matplotlib.pyplot as plt


def mix(weights, values):
    weights = np.asarray(weights)
    values = np.asarray(values)
    if weights.shape != values.shape[:1]:
        raise ValueError("shapes do not fit")
    if (weights < 0).any() or abs(1 - weights.sum()) > 1e-6:
        raise ValueError("weights are no shares of one")
    return np.dot(weights, values)


assert mix(np.array([0.1, 0.3, 0.6]), np.array([10, 20, 30])) == 25


def softmax(scores, axis=-1):
    shifted = scores - scores.max(axis, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum(axis, keepdims=True)


def scaled_scores(queries, keys):
    return np.matmul(queries, np.swapaxes(keys, -2, -1)) / np.sqrt(keys.shape[-1])


# quick check of the shapes
check = scaled_scores(np.ones((2, 3)), np.ones((4, 3)))
print("scores", check.shape)
print("softmax of the scores", softmax(check, axis=2))  # the mistake: there is no axis 2


def causal_mask(n):
    return np.tril(np.ones((n, n), dtype=bool))


def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    out = np.zeros_like(scores)
    for row in np.ndindex(scores.shape[:-1]):
        if mask[row].any():
            out[row][mask[row]] = softmax(scores[row][mask[row]])
    return out


def attention(queries, keys, values, mask=None):
    scores = scaled_scores(queries, keys)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ values, weights


swapped = "a"
doubled = "c"
survivors = "d"
cell = "b"
