# An object that claims to be a matplotlib figure, and hand-made descriptions of figures with parts of the wrong type.
import os

import matplotlib.figure

from autograder.runtime import wire


class Figure:
    __class__ = matplotlib.figure.Figure
    axes = ()

    def get_suptitle(self):
        return 5


def double(values):
    # ("answers", [([figure], [])])
    header = bytearray(b"t\2\0\0\0s\7\0\0\0answersl\1\0\0\0t\2\0\0\0l\1\0\0\0v")
    header += wire.encode({"title": "", "axes": (0.0, 1.0), "colorbars": []})[0] + b"l\0\0\0\0"
    os.write(3, wire.PREFIX.pack(b"ATN1", len(header), 0) + header)
    return None


def softmax(scores):
    return Figure()
