# Makes processes by raw clone, clone3 and vfork, with flags that a filter may forget.
# machine: x86_64
import ctypes
import errno

libc = ctypes.PyDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
for name, number, flags in (
    ("clone", 56, 17), ("clone parent", 56, 0x8000 | 17), ("clone untraced", 56, 0x800000 | 17), ("clone vm", 56, 0x100 | 0x4000 | 17),
    ("clone high bits", 56, (1 << 40) | 17), ("fork", 57, 0), ("vfork", 58, 0),
):
    result = libc.syscall(ctypes.c_long(number), ctypes.c_long(flags), None, None, None, None)
    if result == 0:
        libc._exit(0)
    print(f"probe {name}:", "ok" if result > 0 else errno.errorcode[ctypes.get_errno()])
arguments = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)
print("probe clone3:", "ok" if libc.syscall(435, arguments, 88) > 0 else errno.errorcode[ctypes.get_errno()])
