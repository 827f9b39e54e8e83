import numpy as np

from autograder.variants import mutant


@mutant("double", hint="You may be squaring.")
def squares(values):
    return np.asarray(values) ** 2


@mutant("softmax", hint="You may have left out the sum.")
def no_sum(scores):
    return np.exp(scores - scores.max())


@mutant("apply", hint="You may be applying the layer once.")
def once(layer, x):
    return layer(x)
