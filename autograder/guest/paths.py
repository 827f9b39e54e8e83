"""Hides the host's files from a guest that has no root of its own: the kernel asks here before each call that names a path.

Landlock refuses to open what a guest may not read, but lets it ask for names, sizes and dates. So in such a guest the filter
of system calls hands every call with a path to the zygote (seccomp's user notification), which reads the path from the
guest's memory and refuses it unless each step leads to something readable. Reading it is no race: the guest has one thread,
which waits, and shares no memory with anyone.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import struct

from autograder.guest import seccomp
from autograder.guest.confine import ConfinementError

_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV and _SEND
# struct seccomp_notif (id, pid, flags, call's number, architecture, instruction, six arguments) and seccomp_notif_resp
_NOTIFICATION = struct.Struct("<QIIiIQ6Q")
_RESPONSE = struct.Struct("<QqiI")
_GO_ON = 1  # SECCOMP_USER_NOTIF_FLAG_CONTINUE
_AT_FDCWD, _AT_SYMLINK_NOFOLLOW = 0xFFFFFF9C, 0x100
_PAGE = 4096
_MAX_PATH, _MAX_LINKS = 4096, 40  # the kernel's own bounds
_CALLS = {number: seccomp.PATH_CALLS[name] for name, number in seccomp.numbers().items() if name in seccomp.PATH_CALLS}


class PathWatch:
    """Answers for one guest. Made in the zygote by `watch`, used whenever `listener` is readable."""

    def __init__(self, memory: int, listener: int, readable: list[str], home: str) -> None:
        self._memory = memory
        self.listener = listener
        self._readable = readable
        self._home = home

    def answer(self) -> None:
        """Answer the call that waits, if it still does."""
        notification = bytearray(_NOTIFICATION.size)
        # A guest that is gone, or was interrupted by its own timer, waits no more.
        with contextlib.suppress(FileNotFoundError):
            fcntl.ioctl(self.listener, _RECEIVE, notification)
            call, _, _, number, _, _, *arguments = _NOTIFICATION.unpack(notification)
            good = self._may(_CALLS[number], arguments)
            fcntl.ioctl(self.listener, _SEND, _RESPONSE.pack(call, 0, 0 if good else -errno.ENOENT, _GO_ON if good else 0))

    def close(self) -> None:
        """Release the descriptors; calls that wait then fail."""
        os.close(self.listener)
        os.close(self._memory)

    def _may(self, call: seccomp.PathCall, arguments: list[int]) -> bool:
        address = arguments[call.path]
        path = self._text_at(address) if address else b""
        if not path:
            return path is not None  # about an open file, or for the kernel to refuse
        directory = arguments[call.directory] & 0xFFFFFFFF if call.directory is not None else _AT_FDCWD
        if not path.startswith(b"/") and directory != _AT_FDCWD:
            return False  # which folder that is, nobody knows for sure
        follow = call.follows and not (call.flags is not None and arguments[call.flags] & _AT_SYMLINK_NOFOLLOW)
        return self._leads_to_readable(os.path.join(self._home, os.fsdecode(path)), follow)

    def _text_at(self, address: int) -> bytes | None:
        """The bytes up to the next zero; None if they cannot be read, or are too many for a path."""
        text = b""
        while len(text) < _MAX_PATH:
            at = address + len(text)
            try:
                piece = os.pread(self._memory, _PAGE - at % _PAGE, at)
            except (OSError, OverflowError):
                return None
            before, zero, _ = piece.partition(b"\0")
            text += before
            if zero or not piece:
                return text if zero else None
        return None

    def _leads_to_readable(self, path: str, follow: bool) -> bool:
        """Walk the path as the kernel does; every step must be readable or on the way to something readable."""
        here, steps, links = "/", path.split("/")[::-1], 0
        while steps:
            step = steps.pop()
            if step in ("", "."):
                continue
            if step == "..":
                here = os.path.dirname(here)
                continue
            there = os.path.join(here, step)
            if not self._is_readable(there) and not any(root.startswith(f"{there}/") for root in self._readable):
                return False
            target = ""
            # With a slash behind it a last link is followed too: then what is left is an empty step.
            if follow or steps:
                with contextlib.suppress(OSError):
                    target = os.readlink(there)
            if target:
                links += 1
                if links > _MAX_LINKS:
                    return True  # the kernel gives up here
                steps += target.split("/")[::-1]
                here = "/" if target.startswith("/") else here
            else:
                here = there
        return self._is_readable(here)

    def _is_readable(self, path: str) -> bool:
        return any(path == root or path.startswith(f"{root}/") for root in self._readable)


def watch(pid: int, line: socket.socket, readable: list[str], home: str) -> PathWatch | None:
    """Begin to watch the guest `pid`, which waits at the other end of `line`; None if it ended before it was locked down.

    `readable` are the files and folders it may ask about, by every absolute name they have; `home` is its working directory,
    which it cannot change.
    """
    try:
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    except OSError as error:
        raise ConfinementError(f"look at a guest's memory: {error}; does kernel.yama.ptrace_scope forbid it?") from None
    handed: list[int] = []
    with contextlib.suppress(OSError):
        line.send(b"\0")
        _, handed, _, _ = socket.recv_fds(line, 1, 1)
    if handed:
        return PathWatch(memory, handed[0], readable, home)
    os.close(memory)
    return None


def wait_for_watch(line: socket.socket) -> None:
    """In the guest, while its memory can still be opened: wait until the zygote has done so."""
    if not line.recv(1):
        raise ConfinementError("the zygote does not watch its paths")


def hand_over(line: socket.socket, listener: int) -> None:
    """In the guest: give the filter's listener to the zygote, and keep nothing of it."""
    socket.send_fds(line, [b"\0"], [listener])
    os.close(listener)
    line.close()
