# A C call that holds the interpreter's lock and sleeps: no Python code runs any more.
# reason: {time}
import ctypes


def double(values):
    ctypes.PyDLL(None).usleep(60_000_000)
