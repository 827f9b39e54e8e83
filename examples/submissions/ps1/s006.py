import numpy as np


def mix(weights, values):
    if len(weights) != len(values):
        raise ValueError("sizes")
    if min(weights) < 0 or abs(sum(weights) - 1) > 1e-6:
        raise ValueError("budget")
    return sum(w * v for w, v in zip(weights, values))


def softmax(scores, axis=-1):
    top = np.max(scores, axis=axis, keepdims=True)
    e = np.exp(scores - top)
    return e / e.sum(axis=axis, keepdims=True


def scaled_scores(queries, keys):
    return queries @ np.swapaxes(keys, -1, -2) / np.sqrt(queries.shape[-1])


swapped = "a"
