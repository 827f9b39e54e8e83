# Waits on and wakes futexes on a page of a library that all guests have loaded, and has the kernel wake them at a thread's end.
# machine: x86_64
import ctypes
import errno
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
page = ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~0xFFF
word = ctypes.cast(page, ctypes.POINTER(ctypes.c_uint32))[0]
soon = (ctypes.c_long * 2)(0, 20_000_000)
until = (ctypes.c_long * 2)(int(time.time()), 0)
until[0] += 1
PRIVATE, CLOCK = 0x80, 0x100


def call(name, number, *arguments):
    arguments = [ctypes.c_void_p(value) if isinstance(value, int) else value for value in arguments]
    result = libc.syscall(ctypes.c_long(number), *arguments)
    said = errno.errorcode[ctypes.get_errno()] if result < 0 else "ok"
    # A wait that ended by its timeout would have seen a wake.
    print(f"probe {name}:", "ok" if said == "ETIMEDOUT" else said)


call("wait", 202, page, 0, word, soon)
call("wait with a clock", 202, page, 0 | CLOCK, word, soon)
call("wait for bits", 202, page, 9, word, until, None, 0xFFFFFFFF)
call("wait for bits with a clock", 202, page, 9 | CLOCK, word, until, None, 0xFFFFFFFF)
call("wake", 202, page, 1, 100)
call("wake bits", 202, page, 10, 100, None, None, 0xFFFFFFFF)
call("requeue", 202, page, 3, 100, 100, page)
call("requeue if", 202, page, 4, 100, 100, page, word)
call("wake and change", 202, page, 5, 100, 100, page, 0)
call("wait, then requeue", 202, page, 11, word, until, page)
for number in (2, 6, 7, 8, 12, 13):
    call(f"operation {number}", 202, page, number, word, soon, page, 0)
for operation in range(3, 14):
    if operation not in (9, 10):
        call(f"private {operation}", 202, page, operation | PRIVATE, 0, 0, page, 0)
waiter = (ctypes.c_uint64 * 3)(word, page, 2)  # 32 bits, not private
call("wait for many", 449, waiter, 1, 0, until, 0)
call("new wake", 454, page, 0xFFFFFFFF, 100, 2)
call("new wait", 455, page, word, 0xFFFFFFFF, 2, until, 0)
call("new requeue", 456, waiter, 0, 100, 100)
call("clear at the end", 218, page)
robust = (ctypes.c_uint64 * 3)(ctypes.addressof(ctypes.c_uint64(0)), 0, page)
call("robust list", 273, robust, 24)
call("robust list of another", 274, int("@HOSTPID@"), robust, soon)
