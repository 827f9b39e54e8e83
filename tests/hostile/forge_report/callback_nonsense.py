# Callbacks with wrong handles, wrong arguments, unknown keywords, and inside a loading run.
# reason: no answer
import os

from autograder.runtime import wire


def send(*message):
    os.write(3, b"".join(bytes(piece) for piece in wire.frame(message)))


def double(values):
    send("callback", 0, (), {})
    return values


def softmax(scores):
    send("callback", True, [], {})
    return scores


def apply(layer, x):
    for attempt in (lambda: layer(), lambda: layer(x, y=1), lambda: layer("text"), lambda: layer(None)):
        try:
            attempt()
        except Exception as error:
            print(type(error).__name__)
    send("callback", 10**6, (x,), {"self": 1})
    return x
