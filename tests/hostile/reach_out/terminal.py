# Pushes characters into the grader's terminal and opens terminals of its own.
# machine: x86_64
import ctypes
import errno
import os


def probe(name, attempt):
    try:
        attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: ok")


libc = ctypes.CDLL(None, use_errno=True)
for number in (0, 1, 2, 3):
    for name, request in (("TIOCSTI", 0x5412), ("TIOCSTI high", (1 << 32) | 0x5412), ("TIOCLINUX", 0x541C), ("TIOCSCTTY", 0x540E), ("FIOASYNC", 0x5452)):
        result = libc.ioctl(number, ctypes.c_ulong(request), b"x")
        print(f"probe {name} {number}:", "ok" if result == 0 else errno.errorcode[ctypes.get_errno()])
probe("tty", lambda: open("/dev/tty", "w"))
probe("ptmx", lambda: open("/dev/ptmx"))
probe("console", lambda: open("/dev/console", "w"))
probe("ctermid", os.ctermid and (lambda: os.open(os.ctermid(), os.O_RDWR)))
