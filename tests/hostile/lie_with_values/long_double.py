# Extended precision, structured and date arrays around the right numbers.
import numpy as np


def double(values):
    return (2 * values).astype(np.longdouble)


def softmax(scores):
    powers = np.exp(scores - scores.max())
    return (powers / powers.sum()).view([("weight", float)])


def apply(layer, x):
    return np.asarray(layer(layer(x))).astype("M8[s]")
