"""The system calls a guest may make: an allowlist, compiled to the filter the kernel runs.

What is not listed fails with EPERM, so that ordinary code gets an ordinary error. A call from another architecture, or
through the x32 table, ends the process: no honest program makes one.
"""

from __future__ import annotations

import platform
import struct
from typing import NamedTuple

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name:number on x86_64:number on aarch64, "-" where the architecture has no such call
_TABLE = """
    read:0:63 write:1:64 readv:19:65 writev:20:66 pread64:17:67 pwrite64:18:68 close:3:57 close_range:436:436
    fstat:5:80 newfstatat:262:79 stat:4:- lstat:6:- statx:332:291 lseek:8:62 mmap:9:222 mprotect:10:226 munmap:11:215
    mremap:25:216 madvise:28:233 brk:12:214 rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139
    rt_sigtimedwait:128:137 rt_sigpending:127:136 sigaltstack:131:132 access:21:- faccessat:269:48 faccessat2:439:439
    pipe:22:- pipe2:293:59 select:23:- pselect6:270:72 poll:7:- ppoll:271:73 epoll_create1:291:20 epoll_ctl:233:21
    epoll_wait:232:- epoll_pwait:281:22 eventfd2:290:19 dup:32:23 dup2:33:- dup3:292:24 getpid:39:172 gettid:186:178
    getppid:110:173 getpgrp:111:- getpgid:121:155 getsid:124:156 getuid:102:174 geteuid:107:175 getgid:104:176
    getegid:108:177 getresuid:118:148 getresgid:120:150 getgroups:115:158 sendto:44:206 recvfrom:45:207 sendmsg:46:211
    recvmsg:47:212 shutdown:48:210 getsockopt:55:209 setsockopt:54:208 getsockname:51:204 getpeername:52:205
    futex:202:98 set_robust_list:273:99 get_robust_list:274:100 rseq:334:293 set_tid_address:218:96 sched_yield:24:124
    sched_getaffinity:204:123 sched_getparam:143:121 sched_getscheduler:145:120 sched_get_priority_max:146:125
    sched_get_priority_min:147:126 nanosleep:35:101 clock_nanosleep:230:115 clock_gettime:228:113 clock_getres:229:114
    gettimeofday:96:169 time:201:- getrandom:318:278 uname:63:160 sysinfo:99:179 getrlimit:97:163 getrusage:98:165
    times:100:153 getcpu:309:168 open:2:- openat:257:56 creat:85:- mkdir:83:- mkdirat:258:34 rmdir:84:- unlink:87:-
    unlinkat:263:35 rename:82:- renameat:264:38 renameat2:316:276 link:86:- linkat:265:37 symlink:88:-
    symlinkat:266:36 readlink:89:- readlinkat:267:78 ftruncate:77:46 truncate:76:45 fallocate:285:47 fsync:74:82
    fdatasync:75:83 fchmod:91:52 fchmodat:268:53 chmod:90:- utimensat:280:88 getdents64:217:61 getcwd:79:17
    chdir:80:49 fchdir:81:50 umask:95:166 statfs:137:43 fstatfs:138:44 exit:60:93 exit_group:231:94
    setitimer:38:103 getitimer:36:102 alarm:37:- pause:34:- restart_syscall:219:128 membarrier:324:283
    arch_prctl:158:-
    clone:56:220 clone3:435:435 prctl:157:167 prlimit64:302:261 fcntl:72:25 ioctl:16:29 socketpair:53:199 kill:62:129
    tgkill:234:131 seccomp:317:277
"""

# Calls whose arguments are looked at; see `_rules`.
_SPECIAL = {"clone", "clone3", "prctl", "prlimit64", "fcntl", "ioctl", "socketpair", "kill", "tgkill", "seccomp"}


class PathCall(NamedTuple):
    """Where a call's arguments have its path, the folder it starts from, and its flags; whether it follows a last link."""

    path: int
    directory: int | None = None
    flags: int | None = None
    follows: bool = True


# For a guest that sees the host's files: calls that say something of a file by its path, judged one by one in `paths`.
PATH_CALLS = {
    "open": PathCall(0),
    "openat": PathCall(1, directory=0),
    "stat": PathCall(0),
    "lstat": PathCall(0, follows=False),
    "newfstatat": PathCall(1, directory=0, flags=3),
    "statx": PathCall(1, directory=0, flags=2),
    "access": PathCall(0),
    "faccessat": PathCall(1, directory=0),
    "faccessat2": PathCall(1, directory=0, flags=3),
    "readlink": PathCall(0, follows=False),
    "readlinkat": PathCall(1, directory=0, follows=False),
    "statfs": PathCall(0),
}
# And calls that would change one: it has no place to write to, and the error would tell what is there.
_CHANGES = {
    *("creat", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat"),
    *("symlink", "symlinkat", "truncate", "chmod", "fchmod", "fchmodat", "utimensat"),
}
# `paths` knows only the working directory that such a guest begins with.
_MOVES = {"chdir", "fchdir"}

CLONE_THREAD = 0x00010000
CLONE_NAMESPACES = 0x7E020080  # new user, mount, pid, network, IPC, UTS, cgroup or time namespace
AF_UNIX, SOCK_STREAM, SOCK_TYPE_MASK = 1, 1, 0xFF
PR_SET_NAME, PR_GET_NAME = 15, 16
# duplicate, get and set descriptor flags, get and set status flags, duplicate close-on-exec
_FCNTL = (0, 1, 2, 3, 4, 1030)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: what Python asks of a file
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x54, 0x06
_ALLOW, _KILL, _ASK = 0x7FFF0000, 0x80000000, 0x7FC00000
_EPERM, _ENOSYS, _EROFS = 0x00050001, 0x00050026, 0x0005001E
_NUMBER, _ARCH = 0, 4
_X32 = 0x40000000

Instruction = tuple[int, int, int, int]


def numbers(machine: str | None = None) -> dict[str, int]:
    """The allowlisted calls and their numbers on `machine` (`platform.machine()`); `KeyError` for one not supported."""
    column = {"x86_64": 1, "aarch64": 2}[machine or platform.machine()]
    entries = (entry.split(":") for entry in _TABLE.split())
    return {entry[0]: int(entry[column]) for entry in entries if entry[column] != "-"}


def _argument(index: int, *, high: bool = False) -> Instruction:
    return (_LOAD, 0, 0, 16 + 8 * index + (4 if high else 0))


def _allow_if_one_of(index: int, values: tuple[int, ...]) -> list[Instruction]:
    tests: list[Instruction] = [_argument(index)]
    for value in values:
        tests += [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
    return [*tests, (_RETURN, 0, 0, _EPERM)]


def _rules(namespaces: bool) -> dict[str, list[Instruction]]:
    refuse: list[Instruction] = [(_RETURN, 0, 0, _EPERM)]
    allow: list[Instruction] = [(_RETURN, 0, 0, _ALLOW)]
    return {
        # Threads, never processes: a fork multiplies the memory limit. And no threads where nothing can bound their number:
        # outside a user namespace, a limit on them would count all of the user's.
        "clone": [
            _argument(0),
            (_ANY_BIT, 2, 0, CLONE_NAMESPACES),
            (_ANY_BIT, 0, 1, CLONE_THREAD),
            *allow,
            *refuse,
        ]
        if namespaces
        else refuse,
        # Its flags lie in memory, out of the filter's sight; glibc falls back to clone on ENOSYS.
        "clone3": [(_RETURN, 0, 0, _ENOSYS)],
        "seccomp": refuse,
        "prctl": _allow_if_one_of(0, (PR_SET_NAME, PR_GET_NAME)),
        # Reading limits only: the pointer to new limits must be null.
        "prlimit64": [
            _argument(2),
            (_EQUAL, 0, 3, 0),
            _argument(2, high=True),
            (_EQUAL, 0, 1, 0),
            *allow,
            *refuse,
        ],
        "fcntl": _allow_if_one_of(1, _FCNTL),
        "ioctl": _allow_if_one_of(1, _IOCTL),
        # A stream pair has its one peer for ever; a datagram socket could be pointed at a socket of the host.
        "socketpair": [
            _argument(0),
            (_EQUAL, 0, 4, AF_UNIX),
            _argument(1),
            (_AND, 0, 0, SOCK_TYPE_MASK),
            (_EQUAL, 0, 1, SOCK_STREAM),
            *allow,
            *refuse,
        ],
        # In a pid namespace of its own the guest reaches nobody but itself.
        "kill": allow if namespaces else refuse,
        "tgkill": allow if namespaces else refuse,
    }


def _outside(name: str) -> int:
    """The verdict on a call of a guest without a root of its own."""
    if name in PATH_CALLS:
        return _ASK
    if name in _CHANGES:
        return _EROFS
    return _EPERM if name in _MOVES else _ALLOW


def program(*, namespaces: bool, machine: str | None = None) -> bytes:
    """The filter as the kernel takes it: an array of `struct sock_filter`.

    Without `namespaces` the guest sees the host's files and processes, so more is refused, and calls with a path wait for
    the answer of whoever holds the filter's listener.
    """
    machine = machine or platform.machine()
    table = numbers(machine)
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, AUDIT_ARCH[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
    ]
    for name, number in table.items():
        if name not in _SPECIAL:
            code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW if namespaces else _outside(name))]
    for name, rule in _rules(namespaces).items():
        code += [(_EQUAL, 0, len(rule), table[name]), *rule]
    code.append((_RETURN, 0, 0, _EPERM))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)
