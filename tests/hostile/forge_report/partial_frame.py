# Begins a frame and never ends it.
# reason: no answer|{time}
import os
import time


def double(values):
    os.write(3, b"ATN1\x10\x00\x00\x00")
    time.sleep(60)
