# Writes well-formed answers to standard output, standard error and every descriptor but its line to the grader.
import os

from autograder.runtime import wire

frame = b"".join(bytes(piece) for piece in wire.frame(("answers", [([None], [])])))
for number in (1, 2, *range(4, 64)):
    try:
        os.write(number, frame * 3)
    except OSError:
        pass
