# Asks whether it may signal the grader, its parent and others: by pid, by thread, by descriptor.
# machine: x86_64
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def call(name, number, *arguments):
    result = libc.syscall(number, *arguments)
    print(f"probe {name}:", "ok" if result >= 0 else errno.errorcode[ctypes.get_errno()])


# Signal 0 only asks.
host = int("@HOSTPID@")
call("kill", 62, host, 0)
call("tgkill", 234, host, host, 0)
call("tkill", 200, host, 0)
call("queue", 129, host, 0, None)
call("pidfd_open", 434, host, 0)
call("own pidfd", 434, os.getpid(), 0)
call("pidfd_send_signal", 424, 3, 0, None, 0)
call("pidfd_getfd", 438, 3, 0, 0)
call("process_madvise", 440, 3, None, 0, 0, 0)
call("setpriority", 141, 0, host, 19)
call("affinity", 203, host, 8, ctypes.byref(ctypes.c_uint64(1)))
call("ioprio", 251, 1, host, 0)
