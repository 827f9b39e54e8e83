# Ends the process with status 0 from inside a call; other questions must still be judged on their own.
# expect: 4 points
# reason: ended the whole process \(exit status 0\)
import os

import numpy as np


def double(values):
    os._exit(0)


def softmax(scores):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()
