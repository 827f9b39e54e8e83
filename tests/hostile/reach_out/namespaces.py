# Makes, joins and leaves namespaces; changes the root; mounts and unmounts.
# machine: x86_64
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def call(name, number, *arguments):
    result = libc.syscall(number, *arguments)
    print(f"probe {name}:", "ok" if result >= 0 else errno.errorcode[ctypes.get_errno()])


for name, flag in (("user", 0x10000000), ("mount", 0x20000), ("pid", 0x20000000), ("net", 0x40000000), ("files", 0x400), ("fs", 0x200)):
    call(f"unshare {name}", 272, flag)
    call(f"clone {name}", 56, flag | 17, None, None, None, None)
    call(f"thread {name}", 56, flag | 0x10D00, None, None, None, None) if flag > 0x1000 else None
    call(f"setns {name}", 308, 3, flag)
call("mount", 165, b"none", b"/tmp", b"tmpfs", 0, None)
call("bind", 165, b"/", b"/tmp", None, 4096, None)
call("umount", 166, b"/tmp", 2)
call("umount proc", 166, b"/proc", 2)
call("chroot", 161, b"/tmp")
call("pivot_root", 155, b"/tmp", b"/tmp")
call("open_tree", 428, -100, b"/", 1)
call("fsopen", 430, b"tmpfs", 0)
call("move_mount", 429, -100, b"/", -100, b"/tmp", 0)
call("mount_setattr", 442, -100, b"/", 0, None, 0)
call("sethostname", 170, b"hostile", 7)
