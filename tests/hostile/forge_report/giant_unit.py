# Says that it loads a part whose name fills a frame, and ends there: the name would go back to the next guest.
# reason: no answer|{time}
import os

from autograder.runtime import wire

for piece in wire.frame(("unit", "x" * (8 * 2**20 - 19))):
    view = memoryview(piece).cast("B")
    while view:
        view = view[os.write(3, view):]
os._exit(0)
