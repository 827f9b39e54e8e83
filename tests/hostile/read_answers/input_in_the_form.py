# Spells a hidden input in the form of its answers: in shapes, in the names of types and dtypes, in how many things it returns.
import numpy as np


def spelled(x):
    number = int(abs(x.flat[0]))
    return [
        np.zeros((number, 0)),
        type(f"Input{number}", (), {})(),
        np.zeros(0, dtype=[(f"input_{number}", "f8")]),
        [0] * (number % 1000),
        np.full(3, f"{number}"),
    ]


def double(values):
    return spelled(values)[values.ndim % 5]


def softmax(values):
    return spelled(values)[values.size % 5]


def apply(layer, values):
    return spelled(values)[2]
