# Redefines its functions after the first call: the code that passed the visible tests is not the code that runs later.
# expect: 2 points
import numpy as np


def double(values):
    globals()["double"] = lambda values: np.zeros_like(values)
    return 2 * values if values.shape == (3,) else np.zeros_like(values)


def softmax(scores):
    return np.array([0.25, 0.75])


def apply(layer, x):
    return x + 2.0
