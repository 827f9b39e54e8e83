# A value whose class attribute, asked for while the answer is encoded, never returns.
# reason: {time}
class Value:
    @property
    def __class__(self):
        while True:
            pass


def double(values):
    return Value()
