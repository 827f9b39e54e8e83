# Right answers at the first call, other ones at the second.
# reason: gave a different answer when called again
import numpy as np

calls = 0


def double(values):
    global calls
    calls += 1
    return 2 * values if calls % 2 else 3 * values


def softmax(scores):
    global calls
    calls += 1
    powers = np.exp(scores - scores.max())
    return powers / powers.sum() + (0.0 if calls % 2 else 0.01)
