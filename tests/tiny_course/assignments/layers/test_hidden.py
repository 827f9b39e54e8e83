"""What the problem set `tiny` has no use for and the real ones have: verdicts about layers of the test, layers with defaults
of their own, a layer that costs the square of its argument's length, functions handed in by name, calls with earlier answers
as arguments, and variables that hold nested lists.
"""

import numpy as np

from autograder.testing import array, boolean, close, graded, parts, require, rounding

# Replaced in each run of the attacks, as in `tiny`.
BAIT = "@BAIT@"
MARK = 1234567.0  # @MARK@


@graded("keeps_order", points=2, hint="Compare the two answers token by token.")
def test_order_of_layers(student, rng):
    """A layer that looks at all tokens alike keeps the order; one that knows places does not."""
    x, matrix, places = rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), np.arange(4.0)[:, None]
    x[0, 0] = MARK / 1e6

    def everyone_alike(tokens, weights=matrix):
        """Compares each token with each other one: n tokens cost n squared."""
        return (tokens @ weights @ tokens.T) @ tokens / len(tokens)

    def knows_its_place(tokens, weights=matrix, places=places):
        return tokens @ weights + places

    for layer, expected in ((everyone_alike, True), (knows_its_place, False), (everyone_alike, True)):
        verdict = boolean(student.keeps_order(layer, x), name="keeps_order(layer, x)")
        require(verdict == expected, f"keeps_order should be {expected} here")


@graded("momentum", points=2, hint="What goes out of one step comes into the next.")
def test_three_steps(student, rng):
    """Three steps, each from where the one before it ended."""
    theta, m = found = MARK / 1e6 + rng.normal(size=3), np.zeros(3)
    for slope in rng.normal(size=(3, 3)):
        found = parts(student.momentum_step(found[0], slope, found[1]), 2, name="momentum_step(theta, slope, m)")
        m = 0.9 * m + 0.1 * slope
        theta = theta - 0.01 * m
        for answer, expected, name in zip(found, (theta, m), ("theta", "m"), strict=True):
            close(array(answer, shape=(3,), name=name), expected, atol=rounding(50 * MARK / 1e6), name=name)


@graded("stack", points=2, hint="Give the answer back to the layer, as often as asked.")
def test_stack_of_own_layer(student, rng):
    """`halve`, handed in by name, and a layer of the test."""
    x = rng.normal(size=4)
    for layer, expected in ((student.halve, x / 8), (lambda v: v + MARK, x + 3 * MARK)):
        answer = array(student.stack(layer, x, 3), shape=(4,), name="stack(layer, x, 3)")
        close(answer, expected, atol=rounding(50 * MARK), name="stack(layer, x, 3)")


@graded("quarter", points=1, hint="Half of the half.")
def test_quarter_of_a_secret(student):
    """A quarter of any number."""
    x = np.array([MARK, 8.0])
    close(array(student.quarter(x), shape=(2,), name="quarter(x)"), x / 4, atol=0.0, name="quarter(x)")


@graded("corners", points=1, hint="The area must not be zero.")
def test_corners_span_an_area(student):
    """The triangle has an area."""
    points = array(student.value("corners"), shape=(3, 2), kind="number", lists=True, name="corners")
    sides = points[1:] - points[0]
    require(abs(np.linalg.det(sides)) > 1e-12, f"the corners lie on a line: {points.tolist()}")
