# Undoes the rule that it ends with its parent, makes itself a reaper, and changes its process group and session.
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
for name, arguments in (
    ("keep after parent", (1, 0, 0, 0, 0)), ("be a reaper", (36, 1, 0, 0, 0)), ("be traceable", (4, 1, 0, 0, 0)),
    ("any tracer", (0x59616D61, -1, 0, 0, 0)), ("keep capabilities", (8, 1, 0, 0, 0)), ("ambient", (47, 2, 21, 0, 0)),
    ("speculation", (53, 0, 2, 0, 0)), ("dispatch", (59, 1, 0, 0, 0)),
):
    print(f"probe {name}:", "ok" if libc.prctl(*arguments) == 0 else errno.errorcode[ctypes.get_errno()])
for name, step in (("setsid", os.setsid), ("setpgid", lambda: os.setpgid(0, 0)), ("setuid", lambda: os.setuid(0))):
    try:
        step()
        print(f"probe {name}: ok")
    except OSError as error:
        print(f"probe {name}: {error.strerror}")
