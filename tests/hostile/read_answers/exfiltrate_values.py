# Answers with hidden inputs: as values, as names of types, as strings, as keys.
def double(values):
    return f"{values.flat[0]:.0f}"


def softmax(scores):
    return type(f"Seen{max(scores):.0f}_{max(scores) * 1e6:.0f}", (), {})()


def apply(layer, x):
    return {f"{x[0]:.0f}": x}
