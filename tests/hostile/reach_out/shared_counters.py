# Looks at and uses up what the kernel counts for all processes together: inode numbers, memory, disk, signals, huge pages.
# machine: x86_64
import ctypes
import errno
import os
import signal

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
room = ctypes.create_string_buffer(4096)
AT = ctypes.c_void_p


def probe(name, number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(value) if isinstance(value, int) else value for value in arguments))
    print(f"probe {name}:", "ok" if result >= 0 else errno.errorcode[ctypes.get_errno()])


probe("inode of a pipe", 22, room)
probe("inode of a pipe, with flags", 293, room, 0)
probe("inode of a pair", 53, 1, 1, 0, room)
probe("event", 290, 0, 0)
probe("poll set", 291, 0)
probe("free memory", 99, room)
probe("free disk", 137, b"/usr", room)
probe("free disk by descriptor", 138, os.open("/usr/lib", os.O_RDONLY), room)
probe("huge page", 9, 0, 2**21, 3, 0x40022, -1, 0)
area = libc.syscall(ctypes.c_long(9), None, ctypes.c_long(8192), ctypes.c_long(3), ctypes.c_long(0x22), ctypes.c_long(-1), ctypes.c_long(0))
for name, advice in (("merge equal pages", 12), ("page out", 21), ("cold", 20), ("remove", 9)):
    probe(name, 28, area, 8192, advice)
probe("barrier on all cores", 324, 1, 0, 0)
probe("pages in the cache", 27, area, 4096, room)
probe("drop from the cache", 221, 0, 0, 0, 4)
probe("keys", 250, 0, -3, 0)
probe("watches", 294, 0)
# Signals that wait are counted for the user. This needs no other process: it keeps its own.
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
waiting = 0
while waiting < 1000 and libc.syscall(ctypes.c_long(234), ctypes.c_long(os.getpid()), ctypes.c_long(libc.gettid()), ctypes.c_long(40)) == 0:
    waiting += 1
print("probe waiting signals:", "ok" if waiting else errno.errorcode[ctypes.get_errno()])
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
