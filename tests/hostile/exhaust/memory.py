# Takes all memory, in one piece and in many.
# reason: MemoryError|memory
import numpy as np

kept = []


def double(values):
    return np.ones(2**32)


def softmax(scores):
    while True:
        kept.append(bytearray(2**22))


def apply(layer, x):
    return "x" * 2**40
