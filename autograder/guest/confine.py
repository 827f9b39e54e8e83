"""Locks a process down before it sees a student's code: namespaces, mounts, limits, capabilities, system calls.

Called in the guest, between the fork and the first byte of the submission. Every step either succeeds or raises
`ConfinementError`; there is no confinement in part.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from dataclasses import dataclass


class ConfinementError(Exception):
    """A step failed; the message names it. The guest ends without having run anything."""


@dataclass(frozen=True)
class GuestLimits:
    """What the kernel enforces on one guest. `memory_bytes` is what it may map on top of what the warm interpreter has."""

    memory_bytes: int
    cpu_seconds: int
    scratch_bytes: int
    scratch_files: int
    open_files: int
    threads: int


CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_RDONLY = 2, 4, 8, 1
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 1, 4, 38, 24
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_NEW_LISTENER = 8
_CLONE = {"x86_64": 56, "aarch64": 220}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CAPSET = {"x86_64": 126, "aarch64": 91}
RLIMIT_MSGQUEUE = 12
MOUNT_SETATTR, MOUNT_ATTR_RDONLY = 442, 1  # the number is the same on all machines
AT_FDCWD, AT_RECURSIVE = -100, 0x8000

# Keeps the interpreter's lock during a call: after a raw clone the child must still hold it.
_libc = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class _SockFprog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def _check(result: int, step: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise ConfinementError(f"{step}: {os.strerror(number)} (errno {number})")


def fork_into_namespaces() -> int:
    """Fork with new user, mount, pid, IPC and UTS namespaces in one step; returns like `os.fork`.

    One raw clone instead of unshare and two forks halves the cost. The caller must have a single thread.
    """
    number = _CLONE[os.uname().machine]
    # What os.fork does around its own system call.
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = int(_libc.syscall(number, NAMESPACES | signal.SIGCHLD, 0, 0, 0, 0))
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    error = ctypes.get_errno()
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise ConfinementError(f"new namespaces: {os.strerror(error)} (errno {error})")
    return pid


def allow_own_proc() -> None:
    """Let the process write its own /proc entries again, which changing the user id forbade; `map_own_user` needs it."""
    _check(_libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), "allow access to its own /proc")


def map_own_user(uid: int, gid: int) -> None:
    """Inside a new user namespace, keep the outer ids `uid` and `gid`, which own nothing of value."""
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            # Plain calls: in a fresh fork every line of Python that runs for the first time copies pages of memory.
            descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
            os.write(descriptor, text.encode())
            os.close(descriptor)
    except OSError as error:
        raise ConfinementError(f"map the user id: {error}") from None


def make_read_only() -> None:
    """Make all that is mounted read-only: devices can still be written to, but their dates and modes cannot be changed."""
    # struct mount_attr: flags to set, flags to clear, propagation, user namespace
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY, 0, 0, 0)
    result = _libc.syscall(MOUNT_SETATTR, AT_FDCWD, b"/", AT_RECURSIVE, attributes, ctypes.sizeof(attributes))
    _check(result, "make all mounts read-only")


def mount_private(limits: GuestLimits) -> None:
    """Give the guest an empty, bounded /tmp of its own, and hide /proc."""
    options = f"size={limits.scratch_bytes},nr_inodes={limits.scratch_files},mode=0700".encode()
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    _check(_libc.mount(b"none", b"/tmp", b"tmpfs", flags, options), "mount /tmp")
    _check(_libc.mount(b"none", b"/proc", b"tmpfs", flags | MS_RDONLY, b"size=4096,nr_inodes=2"), "hide /proc")
    os.chdir("/tmp")


def limit_resources(limits: GuestLimits, *, threads: bool) -> None:
    """Set the process's own limits, that of its threads only with `threads`: outside a user namespace it counts all of the
    user's.
    """
    values = {
        resource.RLIMIT_AS: _mapped() + limits.memory_bytes,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_FSIZE: limits.scratch_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        # Two that count all processes of the user, so that one guest would meet what another one took.
        resource.RLIMIT_SIGPENDING: 0,
        RLIMIT_MSGQUEUE: 0,
    }
    if threads:
        values[resource.RLIMIT_NPROC] = limits.threads
    for kind, limit in values.items():
        # One second between the soft limit of CPU time, which the host can tell apart, and the hard one.
        hard = limit + 1 if kind == resource.RLIMIT_CPU else limit
        resource.setrlimit(kind, (limit, hard))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def _mapped() -> int:
    descriptor = os.open("/proc/self/statm", os.O_RDONLY)
    pages = int(os.read(descriptor, 100).split()[0])
    os.close(descriptor)
    return pages * resource.getpagesize()


def drop_privileges() -> None:
    """Drop every capability for good and forbid gaining any."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    for capability in range(64):
        if _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # past the last one this kernel knows, or not ours to drop
    _check(_libc.syscall(_CAPSET[os.uname().machine], header, nothing), "drop capabilities")
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "set no_new_privs")
    _check(_libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "forbid core dumps and tracing")


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the one that forked it ends."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "end with the zygote")


def hide_files(readable: list[str]) -> None:
    """Let Landlock refuse every file but those below `readable`, all writing, and signals to other processes."""
    import sandlock

    try:
        sandlock.confine(sandlock.Sandbox(fs_readable=readable))
    except Exception as error:
        raise ConfinementError(f"Landlock: {error}") from None


def filter_system_calls(program: bytes, *, listen: bool = False) -> int:
    """Install a filter made by `seccomp.program`; there is no way back. With `listen`, returns its listener's descriptor."""
    filter_ = _SockFprog(len(program) // 8, program)
    number = _SECCOMP[os.uname().machine]
    flags = SECCOMP_FILTER_FLAG_NEW_LISTENER if listen else 0
    result = int(_libc.syscall(number, SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(filter_)))
    _check(min(result, 0), "filter system calls")
    return result
