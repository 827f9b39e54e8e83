# Text and bytes that look like numbers.
def double(values):
    return "[2. 4. 6.]"


def softmax(scores):
    return b"\x00" * 16


def apply(layer, x):
    return ["2.0", "2.0"]
