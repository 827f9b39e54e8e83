import numpy as np

from autograder.testing import array, boolean, close, graded, parts, require, rounding


@graded("keeps_order", points=1, hint="Reverse the argument, or the answer.")
def test_order_of_a_layer_that_doubles(student):
    """Doubling each token keeps the order."""
    verdict = boolean(student.keeps_order(lambda x: 2 * x, np.arange(6.0).reshape(3, 2)), name="keeps_order(double, x)")
    require(verdict, "keeps_order(double, x) should be True: each token is doubled where it stands")


@graded("momentum", points=1, hint="The average first, then the step.")
def test_one_step(student):
    """From zero, a slope of one gives an average of 0.1 and a step of 0.001."""
    found = parts(student.momentum_step(np.zeros(1), np.ones(1), np.zeros(1)), 2, name="momentum_step(0, 1, 0)")
    for answer, expected in zip(found, (-0.001, 0.1), strict=True):
        answer = array(answer, shape=(1,), name="momentum_step(0, 1, 0)")
        close(answer, [expected], atol=rounding(1.0), name="momentum_step(0, 1, 0)")


@graded("quarter", points=1, hint="Half of the half.")
def test_quarter_of_four(student):
    """A quarter of 4 is 1."""
    close(array(student.quarter(np.array([4.0])), shape=(1,), name="quarter([4])"), [1.0], atol=0.0, name="quarter([4])")


@graded("corners", points=1, hint="Three pairs of numbers.")
def test_corners_visible(student):
    """The corners are three points of the plane."""
    array(student.value("corners"), shape=(3, 2), kind="number", lists=True, name="corners")
