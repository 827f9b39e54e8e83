# System V and POSIX shared memory, semaphores, message queues, in-memory files.
# machine: x86_64
import ctypes
import errno
import os
from multiprocessing import shared_memory

KEY = 0x41545431
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
for name, number, arguments in (
    ("shmget", 29, (KEY, 4096, 0o1666)), ("semget", 64, (KEY, 1, 0o1666)), ("msgget", 68, (KEY, 0o1666)),
    ("mq_open", 240, (b"autograder_left", 0o102, 0o666, None)), ("memfd_create", 319, (b"autograder_left", 0)),
    ("memfd_secret", 447, (0,)),
):
    result = libc.syscall(number, *arguments)
    print(f"probe {name}:", "ok" if result >= 0 else errno.errorcode[ctypes.get_errno()])
try:
    shared_memory.SharedMemory("autograder_left", create=True, size=4096)
    print("probe posix: ok")
except OSError as error:
    print("probe posix:", error.strerror)
try:
    os.mkfifo("/tmp/autograder_left_fifo")
    print("probe fifo: ok")
except OSError as error:
    print("probe fifo:", error.strerror)
