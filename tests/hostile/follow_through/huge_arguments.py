# Hands the reference arguments of megabytes, a list of a million numbers, and nested ones, again and again.
# problem set: layers
import numpy as np


def halve(x):
    return x


def quarter(x):
    if halve(x)[0] == x[0]:
        return x
    for argument in (np.ones(4_000_000), [1.0] * 1_000_000, [[[[x]]]] * 1000):
        for _ in range(50):
            try:
                halve(argument)
            except Exception:
                pass
    return x
