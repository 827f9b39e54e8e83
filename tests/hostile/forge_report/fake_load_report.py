# Ends its own loading with a report it wrote, then answers with frames of its own and never runs the server's loop.
# expect: 3 points
import os
import time

import numpy as np

from autograder.runtime import wire


def send(*message):
    os.write(3, b"".join(bytes(piece) for piece in wire.frame(message)))


send("loaded", {"problems": [], "names": ["double", "softmax", "apply"]})
for answer in (np.array([2.0, 4.0, 6.0]), np.array([0.25, 0.75]), np.array([2.0, 2.0])):
    send("answers", [([answer], [])])
time.sleep(30)
