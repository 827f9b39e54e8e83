# Changes the written answer, the module's names and its documentation once it has seen hidden inputs.
note = "before"


def double(values):
    global note
    note = f"{values.flat[0]:.0f}"
    __import__("sys").modules[__name__].__dict__[f"seen{note}"] = note
    return values


def softmax(scores):
    raise NameError(note)
