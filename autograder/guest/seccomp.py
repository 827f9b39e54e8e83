"""The system calls a guest may make: an allowlist, compiled to the filter the kernel runs.

What is not listed fails with EPERM, so that ordinary code gets an ordinary error. A call from another architecture, or
through the x32 table, ends the process: no honest program makes one.

Each call on the list was asked two questions: what can two guests share through it, and what of it outlives a guest? So
there is no futex that two processes can share, no counter that all processes of the machine draw from (inode numbers of
pipes and sockets, descriptors in flight, free memory, free disk), and no clock, scheduler or limit of another process.
"""

from __future__ import annotations

import enum
import platform
import struct
from typing import NamedTuple

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name:number on x86_64:number on aarch64, "-" where the architecture has no such call
_TABLE = """
    read:0:63 write:1:64 readv:19:65 writev:20:66 pread64:17:67 pwrite64:18:68 close:3:57 close_range:436:436
    fstat:5:80 newfstatat:262:79 stat:4:- lstat:6:- statx:332:291 lseek:8:62 mprotect:10:226 munmap:11:215
    mremap:25:216 brk:12:214 rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139
    rt_sigtimedwait:128:137 rt_sigpending:127:136 sigaltstack:131:132 access:21:- faccessat:269:48 faccessat2:439:439
    select:23:- pselect6:270:72 poll:7:- ppoll:271:73 dup:32:23 dup2:33:- dup3:292:24 getpid:39:172 gettid:186:178
    getppid:110:173 getpgrp:111:- getuid:102:174 geteuid:107:175 getgid:104:176
    getegid:108:177 getresuid:118:148 getresgid:120:150 getgroups:115:158
    shutdown:48:210 getsockname:51:204 getpeername:52:205 rseq:334:293 sched_yield:24:124
    sched_get_priority_max:146:125 sched_get_priority_min:147:126 nanosleep:35:101
    gettimeofday:96:169 time:201:- getrandom:318:278 uname:63:160 getrlimit:97:163 getrusage:98:165
    times:100:153 open:2:- openat:257:56 creat:85:- mkdir:83:- mkdirat:258:34 rmdir:84:- unlink:87:-
    unlinkat:263:35 rename:82:- renameat:264:38 renameat2:316:276 link:86:- linkat:265:37 symlink:88:-
    symlinkat:266:36 readlink:89:- readlinkat:267:78 ftruncate:77:46 truncate:76:45 fallocate:285:47
    fchmod:91:52 fchmodat:268:53 chmod:90:- utimensat:280:88 getdents64:217:61 getcwd:79:17
    chdir:80:49 fchdir:81:50 umask:95:166 exit:60:93 exit_group:231:94
    setitimer:38:103 getitimer:36:102 alarm:37:- pause:34:- restart_syscall:219:128 arch_prctl:158:-
    mmap:9:222 madvise:28:233 futex:202:98 clone:56:220 clone3:435:435 prctl:157:167 fcntl:72:25 ioctl:16:29
    sendto:44:206 recvfrom:45:207 getsockopt:55:209 kill:62:129 tgkill:234:131 fsync:74:82 fdatasync:75:83
    prlimit64:302:261 getpgid:121:155 getsid:124:156 sched_getaffinity:204:123 sched_getparam:143:121
    sched_getscheduler:145:120 clock_gettime:228:113 clock_getres:229:114 clock_nanosleep:230:115
"""


class Grant(enum.Flag):
    """What only some guests may do."""

    NOTHING = 0
    THREADS = enum.auto()  # where a limit bounds the number of this guest's alone
    SIGNALS = enum.auto()  # where they reach nobody but the guest itself
    FILES = enum.auto()  # change and move in a file system of its own


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
}
# Calls that would change a file. Without a place of its own to write to, a guest gets the error of a read-only file system,
# which tells nothing of what is there.
_CHANGES = {
    *("creat", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat"),
    *("symlink", "symlinkat", "truncate", "chmod", "fchmod", "fchmodat", "utimensat"),
}
# `paths` knows only the working directory that such a guest begins with.
_MOVES = {"chdir", "fchdir"}

CLONE_THREAD = 0x00010000
CLONE_NAMESPACES = 0x7E020080  # new user, mount, pid, network, IPC, UTS, cgroup or time namespace
PR_SET_NAME, PR_GET_NAME = 15, 16
MAP_HUGETLB = 0x40000
# duplicate, get and set descriptor flags, get and set status flags, duplicate close-on-exec
_FCNTL = (0, 1, 2, 3, 4, 1030)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: what Python asks of a file
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# normal, random, sequential, will need, do not need, free, huge pages yes and no, dump no and yes, guard pages on and off;
# not: merging equal pages with those of other processes, and paging out
_MADVISE = (0, 1, 2, 3, 4, 8, 14, 15, 16, 17, 102, 103)
# wait, wake, wait and wake by bits, all of them on private futexes; a flag says which clock a timeout is on
_FUTEX, _FUTEX_SHARED_WAITS, _FUTEX_CLOCK = (0x80, 0x81, 0x89, 0x8A), (0, 9), 0x100
SOL_SOCKET = 1
_SOCKET_OPTIONS = (3, 4, 38, 39)  # type, error, protocol, domain
_MESSAGE_FLAGS = 0x4140  # do not block, wait for all, no signal; above all no out-of-band data
_CLOCKS = 12  # higher numbers are clocks of processes and devices

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x54, 0x06
_ALLOW, _KILL, _ASK = 0x7FFF0000, 0x80000000, 0x7FC00000
_DONE, _EPERM, _EAGAIN, _ENOMEM, _EROFS, _ENOSYS = 0x00050000, 0x00050001, 0x0005000B, 0x0005000C, 0x0005001E, 0x00050026
_NUMBER, _ARCH = 0, 4
_X32 = 0x40000000
_WORD = 0xFFFFFFFF

Instruction = tuple[int, int, int, int]


def numbers(machine: str | None = None) -> dict[str, int]:
    """The allowlisted calls and their numbers on `machine` (`platform.machine()`); `KeyError` for one not supported."""
    column = {"x86_64": 1, "aarch64": 2}[machine or platform.machine()]
    entries = (entry.split(":") for entry in _TABLE.split())
    return {entry[0]: int(entry[column]) for entry in entries if entry[column] != "-"}


def _argument(index: int, *, high: bool = False) -> Instruction:
    return (_LOAD, 0, 0, 16 + 8 * index + (4 if high else 0))


def _answer(verdict: int) -> Instruction:
    return (_RETURN, 0, 0, verdict)


def _unless_one_of(index: int, values: tuple[int, ...], otherwise: int = _EPERM, *, ignoring: int = 0) -> list[Instruction]:
    """Allow the call if an argument, without the bits in `ignoring`, is one of these values."""
    tests = [_argument(index), (_AND, 0, 0, _WORD ^ ignoring)]
    for value in values:
        tests += [(_EQUAL, 0, 1, value), _answer(_ALLOW)]
    return [*tests, _answer(otherwise)]


def _refuse_unless_null(index: int) -> list[Instruction]:
    """Refuse a call whose pointer is not null; what follows is reached otherwise."""
    return [
        _argument(index),
        (_EQUAL, 0, 2, 0),
        _argument(index, high=True),
        (_EQUAL, 1, 0, 0),
        _answer(_EPERM),
    ]


def _rules(grants: Grant) -> dict[str, list[Instruction]]:
    """The calls that are not simply allowed, each with the instructions that end in its verdict."""
    allow, refuse = [_answer(_ALLOW)], [_answer(_EPERM)]
    # Flags: `_ANY_BIT` tests for those that are not allowed.
    messages = [_argument(3), (_ANY_BIT, 0, 1, _WORD ^ _MESSAGE_FLAGS), *refuse]
    rules = {
        # Threads, never processes: a fork multiplies the memory limit.
        "clone": [_argument(0), (_ANY_BIT, 2, 0, CLONE_NAMESPACES), (_ANY_BIT, 0, 1, CLONE_THREAD), *allow, *refuse]
        if Grant.THREADS in grants
        else refuse,
        # Its flags lie in memory, out of the filter's sight; glibc falls back to clone on ENOSYS.
        "clone3": [_answer(_ENOSYS)],
        # A futex without the private flag on a page of a library is one for all processes that have loaded it. The C library
        # waits on one only in pthread_join, for the kernel wakes it by the address at the end of a thread; told to try
        # again, it looks at the address until the thread is gone. So nobody ever waits on a shared futex, and whatever the
        # kernel itself wakes at the end of a thread (its clear-child-tid address, its robust list) reaches nobody.
        "futex": [
            *_unless_one_of(1, _FUTEX, ignoring=_FUTEX_CLOCK)[:-1],
            *(step for wait in _FUTEX_SHARED_WAITS for step in ((_EQUAL, 0, 1, wait), _answer(_EAGAIN))),
            *refuse,
        ],
        # Huge pages come from a pool that all processes share.
        "mmap": [_argument(3), (_ANY_BIT, 0, 1, MAP_HUGETLB), _answer(_ENOMEM), *allow],
        "madvise": _unless_one_of(2, _MADVISE),
        "prctl": _unless_one_of(0, (PR_SET_NAME, PR_GET_NAME)),
        "fcntl": _unless_one_of(1, _FCNTL),
        "ioctl": _unless_one_of(1, _IOCTL),
        # On the line to the host, the only socket there is. Descriptors cannot be sent: those need sendmsg.
        "sendto": [*_refuse_unless_null(4), *messages, *allow],
        "recvfrom": [*messages, *allow],
        "getsockopt": [_argument(1), (_EQUAL, 1, 0, SOL_SOCKET), *refuse, *_unless_one_of(2, _SOCKET_OPTIONS)],
        "kill": allow if Grant.SIGNALS in grants else refuse,
        "tgkill": allow if Grant.SIGNALS in grants else refuse,
        # Nothing that a guest writes is kept; asked for a library, the host's disk would be made to wait.
        "fsync": [_answer(_DONE)],
        "fdatasync": [_answer(_DONE)],
        # Reading its own limits only.
        "prlimit64": [*_refuse_unless_null(2), *_unless_one_of(0, (0,))],
        # Of itself only.
        **{name: _unless_one_of(0, (0,)) for name in ("getpgid", "getsid")},
        **{name: _unless_one_of(0, (0,)) for name in ("sched_getaffinity", "sched_getparam", "sched_getscheduler")},
        **{
            name: [_argument(0), (_AT_LEAST, 0, 1, _CLOCKS), *refuse, *allow]
            for name in ("clock_gettime", "clock_getres", "clock_nanosleep")
        },
    }
    if Grant.FILES not in grants:
        rules |= {name: [_answer(_EROFS)] for name in _CHANGES} | dict.fromkeys(_MOVES, refuse)
    return rules


def program(grants: Grant, machine: str | None = None) -> bytes:
    """The allowlist as the kernel takes it: an array of `struct sock_filter`."""
    machine = machine or platform.machine()
    table, rules = numbers(machine), _rules(grants)
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, AUDIT_ARCH[machine]),
        _answer(_KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        _answer(_KILL),
    ]
    for name in sorted(table, key=rules.__contains__):
        rule = rules.get(name, [_answer(_ALLOW)])
        code += [(_EQUAL, 0, len(rule), table[name]), *rule]
    return _packed([*code, _answer(_EPERM)])


def path_questions(machine: str | None = None) -> bytes:
    """A filter that lets each call with a path wait for the answer of whoever holds its listener, and allows all others.

    It is for a guest that sees the host's files, and stands beside the allowlist: the stricter verdict of the two counts.
    """
    table = numbers(machine)
    code: list[Instruction] = [(_LOAD, 0, 0, _NUMBER)]
    for name in PATH_CALLS.keys() & table.keys():
        code += [(_EQUAL, 0, 1, table[name]), _answer(_ASK)]
    return _packed([*code, _answer(_ALLOW)])


def _packed(code: list[Instruction]) -> bytes:
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)
