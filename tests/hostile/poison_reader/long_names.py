# Names, messages and answers of enormous length.
note = "n" * 10**6
globals().update({f"x{number}" + "y" * 10**4: number for number in range(1000)})


def double(values):
    raise type("E" * 10**6, (ValueError,), {})("m" * 10**6)


def softmax(scores):
    return "s" * 10**6


def apply(layer, x):
    return type("T" * 10**6, (), {"__module__": "m" * 10**6})()
