# Raises its own limits and those of the grader.
import ctypes
import errno
import resource


def probe(name, attempt):
    try:
        attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: ok")


for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
    soft, hard = resource.getrlimit(kind)
    probe(f"set {kind}", lambda: resource.setrlimit(kind, (hard, hard)))
    probe(f"raise {kind}", lambda: resource.setrlimit(kind, (-1, -1)))
    probe(f"host {kind}", lambda: resource.prlimit(int("@HOSTPID@"), kind, (1, 1)))
    probe(f"self {kind}", lambda: resource.prlimit(0, kind, (-1, -1)))
libc = ctypes.CDLL(None, use_errno=True)
# A pointer above 4 GiB whose low half is zero, for a filter that compares half an argument.
libc.mmap.restype = ctypes.c_void_p
area = libc.mmap(ctypes.c_void_p(1 << 33), 4096, 3, 0x100022, -1, 0)
if area == 1 << 33:
    ctypes.memset(area, 0xFF, 16)
    result = libc.prlimit(0, 7, ctypes.c_void_p(area), None)
    print("probe high pointer:", "ok" if result == 0 else errno.errorcode[ctypes.get_errno()])
