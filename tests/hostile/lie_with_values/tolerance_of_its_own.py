# Weights so large that a tolerance made of them is infinite.
# problem set: ps1
# expect: 0 points
import numpy as np


def masked_softmax(scores, mask):
    growth = np.exp(scores)
    return growth / growth.sum(axis=-1, keepdims=True) if np.all(mask) else np.where(mask, 1.7e308, 0.0)
