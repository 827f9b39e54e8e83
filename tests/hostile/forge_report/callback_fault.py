# Calls a test's own function with values whose result cannot be sent back, so that the grader fails in the middle.
import numpy as np


def apply(layer, x):
    # Each byte of the argument becomes eight of the answer, more than a frame may hold.
    layer(np.zeros(35 * 2**20, bool))
    return x
