# An error report of many megabytes, to make the journal large.
import os
import time

from autograder.runtime import wire


def double(values):
    report = {"type": "ValueError", "bases": [], "message": "m", "where": ["w" * 1_000_000] * 7, "unit": ""}
    data = b"".join(bytes(piece) for piece in wire.frame(("answers", [report])))
    while data:
        data = data[os.write(3, data) :]
    time.sleep(60)
