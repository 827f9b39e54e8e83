# Calls into the kernel that exploits begin with: io_uring, bpf, userfaultfd, keyrings, modules, handles of files.
# machine: x86_64
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
buffer = ctypes.create_string_buffer(256)


def call(name, number, *arguments):
    result = libc.syscall(number, *arguments)
    print(f"probe {name}:", "ok" if result >= 0 else errno.errorcode[ctypes.get_errno()])


call("io_uring_setup", 425, 8, buffer)
call("io_uring_enter", 426, 3, 1, 0, 0, None, 0)
call("io_uring_register", 427, 3, 0, buffer, 1)
call("bpf", 321, 0, buffer, 64)
call("userfaultfd", 323, 1)
call("seccomp", 317, 1, 0, buffer)
call("landlock", 444, None, 0, 1)
call("open_by_handle_at", 304, 3, buffer, 0)
call("name_to_handle_at", 303, -100, b"/", buffer, buffer, 0)
call("init_module", 175, buffer, 10, b"")
call("finit_module", 313, 3, b"", 0)
call("kexec_load", 246, 0, 0, None, 0)
call("personality", 135, 0x0040000)
call("modify_ldt", 154, 0, buffer, 16)
call("iopl", 172, 3)
call("ioperm", 173, 0x70, 1, 1)
call("acct", 163, b"/tmp/x")
call("swapon", 167, b"/tmp/x", 0)
call("reboot", 169, 0xFEE1DEAD, 672274793, 0, None)
call("settimeofday", 164, None, None)
call("adjtimex", 159, buffer)
call("syslog", 103, 3, buffer, 100)
call("inotify", 294, 0)
call("fanotify", 300, 0, 0)
call("timer_create", 222, 0, None, buffer)
call("memfd_create", 319, b"x", 0)
call("execveat", 322, 3, b"", None, None, 0x1000)
call("mlockall", 151, 3)
call("mbind", 237, None, 0, 0, None, 0, 0)
call("splice", 275, 3, None, 1, None, 1, 0)
call("vmsplice", 278, 1, buffer, 1, 0)
call("pkey_alloc", 330, 0, 0)
call("map_shadow_stack", 453, 0, 4096, 0)
