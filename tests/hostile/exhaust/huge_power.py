# An integer power that never ends and holds the interpreter.
# reason: did not return in time
def double(values):
    return 9 ** (9 ** 9) % 7
