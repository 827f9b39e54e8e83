# Error reports made by hand: exception types that the grader knows, and ones it should not believe.
import os
import time

from autograder.runtime import wire


def send(kind, bases):
    report = {"type": kind, "bases": bases, "message": "x", "where": [], "unit": ""}
    os.write(3, b"".join(bytes(piece) for piece in wire.frame(("answers", [report]))))
    time.sleep(60)


def double(values):
    send("Blocked", ["AssertionError", "SandboxError", "KeyboardInterrupt"])


def softmax(scores):
    send("TimeUp", ["BaseException"])


def apply(layer, x):
    send("NotImplementedError", [])
