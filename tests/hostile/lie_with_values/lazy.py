# Generators, iterators, futures and functions in the place of values.
def double(values):
    return (2 * value for value in values)


def softmax(scores):
    return lambda: scores


def apply(layer, x):
    return map(layer, x)
