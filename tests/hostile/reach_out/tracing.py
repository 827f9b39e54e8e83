# Traces and reads other processes' memory, and lets others trace it.
# machine: x86_64
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
host = int("@HOSTPID@")


def call(name, number, *arguments):
    result = libc.syscall(number, *arguments)
    print(f"probe {name}:", "ok" if result >= 0 else errno.errorcode[ctypes.get_errno()])


buffer = ctypes.create_string_buffer(64)
vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 64)
for name, pid in (("host", host), ("parent", os.getppid()), ("self", os.getpid())):
    call(f"attach {name}", 101, 16, pid, None, None)
    call(f"seize {name}", 101, 0x4206, pid, None, None)
    call(f"read {name}", 310, pid, vector, 1, vector, 1, 0)
    call(f"write {name}", 311, pid, vector, 1, vector, 1, 0)
    call(f"compare {name}", 312, pid, pid, 0, 0, 0)
call("trace me", 101, 0, 0, None, None)
call("perf", 298, buffer, host, -1, -1, 0)
call("robust", 274, host, vector, vector) if host not in (0, os.getpid()) else None
