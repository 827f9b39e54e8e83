# Fractions of huge integers, NaN keys, deep tuples: plain data that is costly or odd to compare or print.
from fractions import Fraction


def double(values):
    return Fraction(10**9000, 10**9000 + 1)


def softmax(scores):
    return {float("nan"): 1, (float("nan"),): 2, 1: 3, True: 4}


def apply(layer, x):
    value = ()
    for _ in range(20):
        value = (value,)
    return value
