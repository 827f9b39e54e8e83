# An integer power that never ends and holds the interpreter.
# reason: {time}
def double(values):
    return 9 ** (9 ** 9) % 7
