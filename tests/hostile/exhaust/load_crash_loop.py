# Crashes at every attempt to load it, also when only definitions are run.
# reason: crashed
import ctypes


class Crash:
    ctypes.string_at(8)
