# Puts a key into the user's and the session's keyring, where it would outlive the process.
# machine: x86_64
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
for ring in (-1, -2, -3, -4, -5):
    result = libc.syscall(248, b"user", b"autograder_left", b"note", 4, ring)
    print(f"probe add_key {ring}:", "ok" if result >= 0 else errno.errorcode[ctypes.get_errno()])
print("probe request_key:", "ok" if libc.syscall(249, b"user", b"autograder_left", None, -4) >= 0 else errno.errorcode[ctypes.get_errno()])
print("probe keyctl:", "ok" if libc.syscall(250, 0, -3, 1) >= 0 else errno.errorcode[ctypes.get_errno()])
