# Frame headers that claim gigabytes, then silence.
# reason: over the limit|the limit is|no answer|{time}
import os
import struct
import time


def double(values):
    os.write(3, struct.pack("<4sIQ", b"ATN1", 2**32 - 1, 2**64 - 1))
    time.sleep(60)


def softmax(scores):
    os.write(3, struct.pack("<4sIQ", b"ATN1", 100, 200 * 2**20))
    time.sleep(60)
