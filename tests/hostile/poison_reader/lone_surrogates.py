# Lone surrogates and NULs, which no encoder of JSON or of a file likes.
TEXT = "\ud800\udfff\x00\udcff"
note = TEXT
globals()[TEXT] = 1


def double(values):
    raise ValueError(TEXT)


def softmax(scores):
    return TEXT


def apply(layer, x):
    return {TEXT: TEXT}


raise RuntimeError(TEXT)
