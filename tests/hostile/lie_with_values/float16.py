# Half precision, whose large eps would buy a loose tolerance; authoring.md says float32 or float64.
import numpy as np


def double(values):
    return (2 * values).astype(np.float16)
