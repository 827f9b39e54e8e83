# Arrays of enormous shape with zero strides: exabytes that take eight bytes here.
# reason: too large to send
import numpy as np


def double(values):
    return np.lib.stride_tricks.as_strided(np.zeros(1), (2**20, 2**20, 2**20), (0, 0, 0))


def softmax(scores):
    return np.broadcast_to(0.5, (2**31,))


def apply(layer, x):
    return np.broadcast_to(np.zeros(0), (2**62, 0))
