# Follows the kernel's argument and environment strings on the process's own stack, above everything Python shows.
import ctypes
import re
import sys

libc = ctypes.CDLL(None)
table = ctypes.POINTER(ctypes.c_void_p).in_dll(libc, "environ")
if table[0]:
    # The strings lie one behind the other, arguments before environment.
    start = table[0] & ~0xFFF
    data = ctypes.string_at(start, 4096)
    print(re.findall(rb"bait_[0-9a-f]{16}", data), data[:200])
print(sys.flags, sys.path)
