# An answer sent one byte at a time, each within any time-out for a single read.
# reason: no answer|{time}
import os
import time

from autograder.runtime import wire


def double(values):
    for byte in b"".join(bytes(piece) for piece in wire.frame(("answers", [([values], [])])))[:-1]:
        os.write(3, bytes([byte]))
        time.sleep(0.02)
    time.sleep(60)
