# Sends answers before it was asked: values, a load report, and results that no protocol has.
# reason: no answer
import os

import numpy as np

from autograder.runtime import wire


def send(*message):
    os.write(3, b"".join(bytes(piece) for piece in wire.frame(message)))


send("loaded", {"problems": [], "names": ["double", "softmax", "apply", "note"]})
send("answers", [(["a note"], [])])
send("answers", [([np.zeros(3)], [])])
send("passed", 100)
