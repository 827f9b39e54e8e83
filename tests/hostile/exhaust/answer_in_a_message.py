# Answers what must be refused with eight thousand arrays, which a message about it would have to show.
# problem set: ps3
# expect: 0 points
import numpy as np


def sinusoidal_encoding(length, width):
    return [np.full(900, 1 / 3)] * 8_000


def logit_terms(*_):
    return {str(number): np.full((3, 3), 1 / 3) for number in range(4000)}
