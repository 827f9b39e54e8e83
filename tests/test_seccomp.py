"""The system call filter, run on paper: a small interpreter for the programs that the kernel would run."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.guest import seccomp

ALLOW, ASK, KILL = 0x7FFF0000, 0x7FC00000, 0x80000000
DONE, EPERM, EAGAIN, ENOMEM, EROFS, ENOSYS = (0x00050000 + number for number in (0, 1, 11, 12, 30, 38))
ALL, NOTHING = seccomp.Grant.THREADS | seccomp.Grant.SIGNALS | seccomp.Grant.FILES, seccomp.Grant.NOTHING
MACHINES = ["x86_64", "aarch64"]
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Numbers from the kernel's own tables, of calls that a guest must never make.
FORBIDDEN = {
    "x86_64": {
        "socket": 41, "connect": 42, "accept": 43, "bind": 49, "listen": 50, "fork": 57, "vfork": 58, "execve": 59,
        "ptrace": 101, "syslog": 103, "setuid": 105, "setgid": 106, "setsid": 112, "capset": 126, "personality": 135,
        "pivot_root": 155, "chroot": 161, "mount": 165, "umount2": 166, "sethostname": 170, "init_module": 175,
        "keyctl": 250, "unshare": 272, "perf_event_open": 298, "setns": 308, "process_vm_readv": 310,
        "process_vm_writev": 311, "kcmp": 312, "memfd_create": 319, "kexec_load": 246, "bpf": 321, "execveat": 322,
        "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426, "pidfd_open": 434, "pidfd_getfd": 438,
        "mount_setattr": 442, "setrlimit": 160, "shmget": 29, "msgget": 68, "mknod": 133, "chown": 92, "accept4": 288,
        "set_robust_list": 273, "get_robust_list": 274, "futex_waitv": 449, "futex_wake": 454, "futex_wait": 455,
        "futex_requeue": 456, "membarrier": 324, "flock": 73, "utime": 132, "utimes": 235, "futimesat": 261, "sysinfo": 99,
        "statfs": 137, "fstatfs": 138, "pipe": 22, "pipe2": 293, "socketpair": 53, "sendmsg": 46, "recvmsg": 47,
        "setsockopt": 54, "eventfd2": 290, "epoll_create1": 291, "inotify_init1": 294, "mincore": 27, "fadvise64": 221,
        "getcpu": 309, "getpriority": 140, "sched_setaffinity": 203, "timer_create": 222, "timerfd_create": 283,
        "process_madvise": 440, "memfd_secret": 447, "rt_sigqueueinfo": 129, "tkill": 200, "mlock": 149,
        "set_tid_address": 218, "seccomp": 317,
    },
    "aarch64": {
        "socket": 198, "connect": 203, "accept": 202, "bind": 200, "listen": 201, "execve": 221, "ptrace": 117,
        "syslog": 116, "setuid": 146, "setgid": 144, "setsid": 157, "capset": 91, "personality": 92, "pivot_root": 41,
        "chroot": 51, "mount": 40, "umount2": 39, "sethostname": 161, "init_module": 105, "keyctl": 219, "unshare": 97,
        "perf_event_open": 241, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
        "memfd_create": 279, "kexec_load": 104, "bpf": 280, "execveat": 281, "userfaultfd": 282, "io_uring_setup": 425,
        "io_uring_enter": 426, "pidfd_open": 434, "pidfd_getfd": 438, "mount_setattr": 442, "setrlimit": 164,
        "shmget": 194, "msgget": 186, "mknodat": 33, "fchown": 55, "accept4": 242,
        "set_robust_list": 99, "get_robust_list": 100, "futex_waitv": 449, "futex_wake": 454, "futex_wait": 455,
        "futex_requeue": 456, "membarrier": 283, "flock": 32, "sysinfo": 179, "statfs": 43, "fstatfs": 44, "pipe2": 59,
        "socketpair": 199, "sendmsg": 211, "recvmsg": 212, "setsockopt": 208, "eventfd2": 19, "epoll_create1": 20,
        "inotify_init1": 26, "mincore": 232, "fadvise64": 223, "getcpu": 168, "getpriority": 141, "sched_setaffinity": 122,
        "timer_create": 107, "timerfd_create": 85, "process_madvise": 440, "memfd_secret": 447, "rt_sigqueueinfo": 138,
        "tkill": 130, "mlock": 228, "set_tid_address": 96, "seccomp": 277,
    },
}  # fmt: skip
# And of calls without which Python does not run.
NEEDED = {
    "x86_64": {"read": 0, "write": 1, "close": 3, "fstat": 5, "mmap": 9, "munmap": 11, "brk": 12, "futex": 202,
               "openat": 257, "exit_group": 231, "clock_gettime": 228, "getrandom": 318, "writev": 20, "recvfrom": 45,
               "setitimer": 38, "rt_sigaction": 13, "rt_sigreturn": 15, "newfstatat": 262, "lseek": 8},
    "aarch64": {"read": 63, "write": 64, "close": 57, "fstat": 80, "mmap": 222, "munmap": 215, "brk": 214, "futex": 98,
                "openat": 56, "exit_group": 94, "clock_gettime": 113, "getrandom": 278, "writev": 66, "recvfrom": 207,
                "setitimer": 103, "rt_sigaction": 134, "rt_sigreturn": 139, "newfstatat": 79, "lseek": 62},
}  # fmt: skip

CLONE = {"x86_64": 56, "aarch64": 220}
THREAD_FLAGS = 0x3D0F00  # what glibc's pthread_create passes
NAMESPACES = {
    "time": 0x80, "mount": 0x20000, "cgroup": 0x02000000, "UTS": 0x04000000, "IPC": 0x08000000, "user": 0x10000000,
    "pid": 0x20000000, "network": 0x40000000,
}  # fmt: skip


def run(program: bytes, number: int, arch: int, arguments: tuple[int, ...] = ()) -> int:
    """What the filter answers to a call: classic BPF over `struct seccomp_data`, as the kernel interprets it."""
    arguments = (*arguments, *[0] * (6 - len(arguments)))
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, arch, 0x7F0000001234, *(value & 2**64 - 1 for value in arguments))
    instructions = list(struct.iter_unpack("<HBBI", program))
    at = accumulator = 0
    while True:
        code, if_true, if_false, value = instructions[at]
        at += 1
        if code == 0x20:  # load a word
            assert value % 4 == 0
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x54:  # bitwise and
            accumulator &= value
        elif code == 0x06:  # return
            return int(value)
        elif code == 0x15:  # jump if equal
            at += if_true if accumulator == value else if_false
        elif code == 0x35:  # jump if greater or equal
            at += if_true if accumulator >= value else if_false
        elif code == 0x45:  # jump if any bit is set
            at += if_true if accumulator & value else if_false
        else:
            raise AssertionError(f"an instruction the kernel's check would refuse or this test does not know: {code:#x}")


class Filter:
    """The filter of one machine, asked by the names of calls."""

    def __init__(self, machine: str, grants: seccomp.Grant = ALL) -> None:
        self.machine = machine
        self.program = seccomp.program(grants, machine)
        self.numbers = seccomp.numbers(machine)

    def __call__(self, call: str | int, *arguments: int) -> int:
        number = call if isinstance(call, int) else self.numbers[call]
        return run(self.program, number, ARCH[self.machine], arguments)


@pytest.fixture(params=MACHINES)
def ask(request: pytest.FixtureRequest) -> Filter:
    return Filter(request.param)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_the_kernels(machine: str) -> None:
    numbers = seccomp.numbers(machine)
    assert {name: numbers[name] for name in NEEDED[machine]} == NEEDED[machine]
    assert numbers["clone"] == CLONE[machine]
    assert len(set(numbers.values())) == len(numbers)


def test_a_machine_without_a_table_is_refused() -> None:
    with pytest.raises(KeyError):
        seccomp.program(ALL, "riscv64")


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_on_the_list_pass(machine: str) -> None:
    ask = Filter(machine)
    judged_by_arguments = {
        *("clone", "clone3", "prctl", "prlimit64", "fcntl", "ioctl", "futex", "mmap", "madvise", "sendto", "recvfrom"),
        *(
            "getsockopt",
            "getpgid",
            "getsid",
            "sched_getaffinity",
            "sched_getparam",
            "sched_getscheduler",
            "fsync",
            "fdatasync",
        ),
        *("clock_gettime", "clock_getres", "clock_nanosleep"),
    }
    answers = {name: ask(name, *[2**64 - 1] * 6) for name in ask.numbers if name not in judged_by_arguments}
    assert set(answers.values()) == {ALLOW}
    assert NEEDED[machine].keys() - judged_by_arguments <= answers.keys()


@pytest.mark.parametrize("machine", MACHINES)
def test_every_number_that_is_not_on_the_list_is_refused(machine: str) -> None:
    ask = Filter(machine)
    listed = set(ask.numbers.values())
    answers = {ask(number) for number in range(1100) if number not in listed}
    assert answers == {EPERM}


@pytest.mark.parametrize(("machine", "name"), [(machine, name) for machine in MACHINES for name in FORBIDDEN[machine]])
def test_a_dangerous_call_is_refused(machine: str, name: str) -> None:
    ask = Filter(machine)
    assert name not in ask.numbers
    assert ask(FORBIDDEN[machine][name]) == EPERM


def test_threads_may_start_where_that_is_granted(ask: Filter) -> None:
    assert ask("clone", THREAD_FLAGS) == ALLOW
    assert Filter(ask.machine, NOTHING)("clone", THREAD_FLAGS) == EPERM


def test_a_futex_is_private(ask: Filter) -> None:
    private, clock = 0x80, 0x100
    allowed = {operation for operation in range(2048) if ask("futex", 0, operation) == ALLOW}
    assert allowed == {private | number | flag for number in (0, 1, 9, 10) for flag in (0, clock)}  # wait, wake; by bits
    # What pthread_join asks for: it looks at the address again until the thread is gone.
    told_to_look_again = {operation for operation in range(2048) if ask("futex", 0, operation) == EAGAIN}
    assert told_to_look_again == {0, 9, clock, 9 | clock}
    assert ask("futex", 0, 1) == ask("futex", 0, private | 6) == EPERM  # to wake; to lock by priority


@pytest.mark.parametrize("call", ["clock_gettime", "clock_getres", "clock_nanosleep"])
def test_clocks_are_those_of_the_machine_and_its_own(ask: Filter, call: str) -> None:
    assert {ask(call, number) for number in range(12)} == {ALLOW}
    for pid in (0, 1, 2**20):  # the clock of a process, of a thread, and of an open device
        assert {ask(call, (~pid << 3) | kind) for kind in (2, 6, 3)} == {EPERM}


@pytest.mark.parametrize(
    "call", ["getpgid", "getsid", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "prlimit64"]
)
def test_a_guest_asks_about_itself_only(ask: Filter, call: str) -> None:
    assert ask(call, 0) == ALLOW
    assert {ask(call, pid) for pid in (1, 2, 4242, 2**32 - 1)} == {EPERM}


def test_huge_pages_and_merged_pages_are_refused(ask: Filter) -> None:
    assert ask("mmap", 0, 4096, 3, 0x22) == ALLOW
    assert ask("mmap", 0, 4096, 3, 0x22 | 0x40000) == ENOMEM
    assert ask("madvise", 0, 4096, 4) == ALLOW
    for advice in (9, 12, 20, 21, 100, 101):  # remove, merge, cold, page out, poison, soft offline
        assert ask("madvise", 0, 4096, advice) == EPERM


def test_flushing_a_file_does_nothing(ask: Filter) -> None:
    assert ask("fsync", 3) == ask("fdatasync", 3) == DONE


@pytest.mark.parametrize("call", ["sendto", "recvfrom"])
def test_the_line_takes_plain_bytes_only(ask: Filter, call: str) -> None:
    assert ask(call, 3, 1, 1, 0) == ask(call, 3, 1, 1, 0x4140) == ALLOW
    for flag in (0x1, 0x2, 0x2000, 0x10000, 0x20000000):  # out of band, peek, error queue, more of them
        assert ask(call, 3, 1, 1, flag) == EPERM
    if call == "sendto":
        assert {ask(call, 3, 1, 1, 0, address) for address in (1, 1 << 32, 2**64 - 1)} == {EPERM}


def test_the_line_tells_nothing_of_its_other_end(ask: Filter) -> None:
    allowed = {option for option in range(100) if ask("getsockopt", 3, 1, option) == ALLOW}
    assert allowed == {3, 4, 38, 39}  # not the peer's credentials (17) nor a descriptor of it (77)
    assert {ask("getsockopt", 3, level, 3) for level in (0, 6, 17, 41)} == {EPERM}


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_new_namespace_is_refused_even_for_a_thread(ask: Filter, namespace: str) -> None:
    assert ask("clone", THREAD_FLAGS | NAMESPACES[namespace]) == EPERM
    assert ask("clone", NAMESPACES[namespace]) == EPERM


@pytest.mark.parametrize("flags", [0, 17, 0x01200011, 0x4111, THREAD_FLAGS & ~0x10000, 0x10000 << 32])
def test_a_new_process_is_refused(ask: Filter, flags: int) -> None:
    assert ask("clone", flags) == EPERM


def test_clone3_looks_as_if_the_kernel_did_not_have_it(ask: Filter) -> None:
    # Anything but ENOSYS, and glibc would not fall back to clone.
    assert ask("clone3", 0x7FFF0000, 88) == ENOSYS


def test_limits_may_be_read_but_not_set(ask: Filter) -> None:
    assert ask("prlimit64", 0, 7, 0, 0x7FFF12345678) == ALLOW
    for pointer in (1, 0x7FFF12345678, 0x7FFF00000000, 0x00000000FFFFFFFF, 2**64 - 1):
        assert ask("prlimit64", 0, 7, pointer, 0) == EPERM


def test_no_socket_can_be_made(ask: Filter) -> None:
    for family in range(48):
        for kind in range(6):
            assert ask(FORBIDDEN[ask.machine]["socket"], family, kind, 0) == EPERM
            assert ask(FORBIDDEN[ask.machine]["socketpair"], family, kind, 0) == EPERM


def test_prctl_names_threads_and_nothing_else(ask: Filter) -> None:
    allowed = {option for option in range(100) if ask("prctl", option) == ALLOW}
    assert allowed == {15, 16}
    assert ask("prctl", 0x59616D61) == EPERM


def test_fcntl_knows_no_owner_and_no_lease(ask: Filter) -> None:
    allowed = {command for command in range(1100) if ask("fcntl", 3, command) == ALLOW}
    assert allowed == {0, 1, 2, 3, 4, 1030}


def test_ioctl_cannot_write_into_a_terminal(ask: Filter) -> None:
    allowed = {request for request in range(0x5400, 0x5500) if ask("ioctl", 0, request) == ALLOW}
    assert allowed == {0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451}
    assert ask("ioctl", 0, 0x5412) == EPERM  # TIOCSTI
    assert ask("ioctl", 0, 0x541C) == EPERM  # TIOCLINUX


@pytest.mark.parametrize("machine", MACHINES)
def test_signals_go_out_where_that_is_granted(machine: str) -> None:
    for grants, answer in ((ALL, ALLOW), (NOTHING, EPERM)):
        ask = Filter(machine, grants)
        assert ask("kill", 1, 9) == answer
        assert ask("tgkill", 1, 1, 9) == answer


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("arch", [0, 0x40000003, 0x40000028, 0xC000003E, 0xC00000B7, 0xFFFFFFFF])
def test_a_call_of_another_architecture_ends_the_process(machine: str, arch: int) -> None:
    program = seccomp.program(ALL, machine)
    expected = ALLOW if arch == ARCH[machine] else KILL
    assert run(program, NEEDED[machine]["read"], arch) == expected


@pytest.mark.parametrize("number", [0, 1, 56, 59, 512, 520, 547])
def test_a_call_through_the_x32_table_ends_the_process(ask: Filter, number: int) -> None:
    assert ask(0x40000000 | number) == KILL


def test_a_negative_number_ends_the_process(ask: Filter) -> None:
    assert ask(-1) == KILL


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("make", [partial(seccomp.program, ALL), partial(seccomp.program, NOTHING), seccomp.path_questions])
def test_the_program_is_one_the_kernel_takes(machine: str, make: Callable[[str], bytes]) -> None:
    program = make(machine)
    instructions = list(struct.iter_unpack("<HBBI", program))
    assert len(instructions) <= 4096
    for at, (code, if_true, if_false, value) in enumerate(instructions):
        if code & 0x07 == 0x05:  # jumps go forward, and not past the end
            assert at + 1 + max(if_true, if_false) < len(instructions)
        if code == 0x20:
            assert value % 4 == 0
            assert value < 64
    assert instructions[-1][0] == 0x06


@given(
    st.sampled_from(MACHINES),
    st.sampled_from([ALL, NOTHING]),
    st.integers(0, 2**32 - 1) | st.integers(0, 600),
    st.tuples(*[st.integers(0, 2**64 - 1) | st.integers(0, 64)] * 6),
)
def test_whatever_is_called_the_answer_is_one_of_these(
    machine: str, grants: seccomp.Grant, number: int, arguments: tuple[int, ...]
) -> None:
    ask = Filter(machine, grants)
    answer = ask(number, *arguments)
    assert answer in {ALLOW, DONE, EPERM, EAGAIN, ENOMEM, ENOSYS, KILL} | (set() if grants == ALL else {EROFS})
    if answer not in (EPERM, KILL):
        assert number in ask.numbers.values()


# Where the kernel's manual says that a call has its path, counted from 0.
TAKES_PATH = {
    **dict.fromkeys(("open", "stat", "lstat", "access", "readlink"), 0),
    **dict.fromkeys(("openat", "newfstatat", "statx", "faccessat", "faccessat2", "readlinkat"), 1),
}
CHANGES = (
    "creat mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat truncate "
    "chmod fchmod fchmodat utimensat"
)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_guest_that_sees_the_hosts_files_asks_before_it_names_a_path(machine: str) -> None:
    assert {name: call.path for name, call in seccomp.PATH_CALLS.items()} == TAKES_PATH
    numbers, program = seccomp.numbers(machine), seccomp.path_questions(machine)
    asked = {name for name, number in numbers.items() if run(program, number, ARCH[machine]) == ASK}
    assert asked == TAKES_PATH.keys() & numbers.keys()
    assert {run(program, number, ARCH[machine]) for number in range(600)} == {ASK, ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
def test_without_a_file_system_of_its_own_a_guest_changes_and_moves_nothing(machine: str) -> None:
    granted, refused = Filter(machine), Filter(machine, NOTHING)
    for call in set(CHANGES.split()) & refused.numbers.keys():
        assert (granted(call), refused(call)) == (ALLOW, EROFS)
    for call in ("chdir", "fchdir"):
        assert (granted(call), refused(call)) == (ALLOW, EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_that_needs_no_grant_is_judged_alike(machine: str) -> None:
    granted, refused = Filter(machine), Filter(machine, NOTHING)
    judged = {*CHANGES.split(), "chdir", "fchdir", "clone", "kill", "tgkill"}
    for call in refused.numbers.keys() - judged:
        assert granted(call, 3, 1, 2) == refused(call, 3, 1, 2), call
