# A million warnings, each with a long text, and an exception of a hundred megabytes.
import warnings


def double(values):
    for number in range(20_000):
        warnings.warn(f"{number}" + "w" * 1000)
    return values


def softmax(scores):
    raise ValueError("m" * 10**8)
