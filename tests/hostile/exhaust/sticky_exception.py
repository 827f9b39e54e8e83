# An exception whose text, type name and traceback take for ever to read.
# reason: raised|{time}
class Slow(Exception):
    def __str__(self):
        while True:
            pass


def double(values):
    raise Slow
