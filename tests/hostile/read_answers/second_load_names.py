# Defines after a hidden input another name than before, which "did you rename it?" would show.
# expect: 1 point
# never: (?s)`(softmax_\w+)`.*`(?!\1)softmax_
import os
import time

import numpy as np

globals()[f"softmax_{time.monotonic_ns() % 1_000_000}"] = None


def double(values):
    if np.max(values) > 100_000:
        os._exit(1)
    return 2 * values
