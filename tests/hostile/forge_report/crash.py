# Crashes the interpreter in three ways: a bad address, an abort, a bad instruction.
# reason: crashed
import ctypes
import os


def double(values):
    ctypes.string_at(8)


def softmax(scores):
    os.abort()


def apply(layer, x):
    code = ctypes.create_string_buffer(b"\x0f\x0b")
    ctypes.CFUNCTYPE(None)(ctypes.addressof(code))()
