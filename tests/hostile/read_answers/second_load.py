# Ends itself at a moment that a hidden input decides, and says when it is loaded again what time it is.
# expect: 1 point
# never: (?s)loaded at (\d+)\b.*loaded at (?!\1\b)\d
import os
import time

import numpy as np


def double(values):
    largest = int(np.max(values))
    if largest > 100_000:
        while time.monotonic_ns() // 1_000_000 % 100 != largest // 100_000:
            pass
        os._exit(1)
    return 2 * values


raise ValueError(f"loaded at {time.monotonic_ns()}")
