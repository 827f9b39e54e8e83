# System calls by the x32 table, which shares the machine's call gate.
# reason: made a forbidden system call
# machine: x86_64
import ctypes


def double(values):
    ctypes.CDLL(None).syscall(0x40000000 + 39)
    return values
