import numpy as np

from autograder.testing import array, close, graded, rounding


@graded("double", points=1, hint="Multiply by two.")
def test_double_visible(student):
    """One, two, three become two, four, six."""
    answer = array(student.double(np.array([1.0, 2.0, 3.0])), shape=(3,), name="double([1, 2, 3])")
    close(answer, [2.0, 4.0, 6.0], atol=rounding(6.0), name="double([1, 2, 3])")


@graded("softmax", points=1, hint="Exponentials over their sum.")
def test_softmax_visible(student):
    """Scores 0 and log 3 weigh a quarter and three quarters."""
    answer = array(student.softmax(np.log([1.0, 3.0])), shape=(2,), name="softmax([0, log 3])")
    close(answer, [0.25, 0.75], atol=rounding(1.0), name="softmax([0, log 3])")


@graded("apply", points=1, hint="layer(layer(x)).")
def test_apply_visible(student):
    """A layer that adds one, applied twice, adds two."""
    answer = array(student.apply(lambda x: x + 1.0, np.zeros(2)), shape=(2,), name="apply(add_one, [0, 0])")
    close(answer, [2.0, 2.0], atol=rounding(2.0), name="apply(add_one, [0, 0])")
