# A thread that works on after the answer, changes later answers and prints.
# expect: 3 points
import sys
import threading
import time

import numpy as np


def work():
    while True:
        time.sleep(0.001)
        sys.stdout.write(".")


try:
    threading.Thread(target=work, daemon=False).start()
except RuntimeError:  # under sandlock there are none
    pass


def double(values):
    return 2 * np.asarray(values)
