# Containers nested two hundred thousand deep, claims of four billion items, arrays of a hundred dimensions.
# reason: no answer|{time}
import os
import struct
import time


def send(header):
    data = struct.pack("<4sIQ", b"ATN1", len(header), 0) + header
    while data:
        data = data[os.write(3, data):]
    time.sleep(60)


def double(values):
    send((b"l" + struct.pack("<I", 1)) * 200_000 + b"N")


def softmax(scores):
    send(b"t" + struct.pack("<I", 2**32 - 1))


def apply(layer, x):
    send(b"a" + bytes([11, 100]) + bytes(800))
