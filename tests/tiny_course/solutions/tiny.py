"""The reference solution of the tiny course."""

import numpy as np

SECRET = "@BAIT@"


# === question: double ===
def double(values):
    """Twice `values`."""
    # BEGIN SOLUTION
    return 2 * np.asarray(values)
    # END SOLUTION


# === question: softmax ===
def softmax(scores):
    """Weights that sum to one, in proportion to exp(scores)."""
    # BEGIN SOLUTION
    powers = np.exp(scores - np.max(scores))
    return powers / powers.sum()
    # END SOLUTION


# === question: apply ===
def apply(layer, x):
    """layer(layer(x))."""
    # BEGIN SOLUTION
    return layer(layer(x))
    # END SOLUTION


# === question: note ===
note = None
# BEGIN SOLUTION
note = "Exponentials, then their share of the sum."
# END SOLUTION
