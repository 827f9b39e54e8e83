# Answers larger than a message may be, as one array, as many, and as text.
# reason: the limit is|too large|{time}
import numpy as np


def double(values):
    return np.zeros(5 * 2**20)


def softmax(scores):
    return [np.zeros(2**19)] * 10


def apply(layer, x):
    return "x" * (9 * 2**20)
