# Masked arrays and matrices: every comparison with a masked number is masked away.
import numpy as np


def double(values):
    return np.ma.masked_all(values.shape)


def softmax(scores):
    return np.matrix(scores)


def apply(layer, x):
    return np.ma.masked
