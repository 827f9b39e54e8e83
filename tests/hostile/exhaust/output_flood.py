# Prints without end, on both streams, from a call.
# reason: printed more than|{time}
import os


def double(values):
    while True:
        os.write(1, b"y\n" * 30_000)
        os.write(2, b"n\n" * 30_000)
