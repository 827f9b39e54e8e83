# Terminal escape codes in output, errors, names, answers and warnings: clear the screen, change colours, set the title.
ESCAPE = "\x1b[2J\x1b[31mAll tests passed\x1b]0;owned\x07\x1b[?1049h\x9b31m"
print(ESCAPE)
note = ESCAPE


def double(values):
    raise ValueError(ESCAPE)


def softmax(scores):
    return ESCAPE


def apply(layer, x):
    raise type("Error" + ESCAPE, (Exception,), {})(ESCAPE)


raise RuntimeError(ESCAPE)
