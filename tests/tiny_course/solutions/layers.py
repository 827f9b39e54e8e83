"""The reference solution of the problem set `layers`."""

import numpy as np


# === question: keeps_order ===
def keeps_order(layer, x):
    """Whether layer(x reversed) is layer(x), reversed."""
    # BEGIN SOLUTION
    return bool(np.allclose(layer(x[::-1]), layer(x)[::-1], rtol=0, atol=1e-9))
    # END SOLUTION


# === question: momentum ===
def momentum_step(theta, slope, m):
    """The next (theta, m): m moves a tenth of the way to the slope, theta a hundredth of m downhill."""
    # BEGIN SOLUTION
    m = 0.9 * m + 0.1 * slope
    return theta - 0.01 * m, m
    # END SOLUTION


# === question: stack ===
def halve(x):
    """Half of `x`."""
    # BEGIN SOLUTION
    return x / 2
    # END SOLUTION


def stack(layer, x, times):
    """`layer` applied to `x` so many times."""
    # BEGIN SOLUTION
    for _ in range(times):
        x = layer(x)
    return x
    # END SOLUTION


# === question: quarter ===
def quarter(x):
    """A quarter of `x`, by way of `halve`."""
    # BEGIN SOLUTION
    return halve(halve(x))
    # END SOLUTION


# === question: corners ===
corners = None
# BEGIN SOLUTION
corners = [[0, 0], [1, 0], [0, 1]]
# END SOLUTION
