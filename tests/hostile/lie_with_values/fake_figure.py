# An object that claims to be a matplotlib figure, and hand-made descriptions of figures with parts of the wrong type.
import os
import struct

import matplotlib.figure

from autograder.guest import wire


class Figure:
    __class__ = matplotlib.figure.Figure
    axes = ()

    def get_suptitle(self):
        return 5


def double(values):
    header = bytearray(b"t" + struct.pack("<I", 3))
    for value in ("value", {"title": "", "axes": (0.0, 1.0), "colorbars": []}, []):
        header += (b"v" if isinstance(value, dict) else b"") + wire.encode(value)[0]
    os.write(3, wire.PREFIX.pack(b"ATN1", len(header), 0) + header)
    return None


def softmax(scores):
    return Figure()
