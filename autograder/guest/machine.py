"""Makes a guest look like an ordinary machine to honest code that asks who and where it is.

Nothing here protects anything: a submission can undo it all.
"""

from __future__ import annotations

import asyncio
import contextlib
import locale as locales
import os
import pwd
import sys
from typing import Any

from autograder.runtime.event_loop import SocketlessLoop

USER = "student"


class _EventLoops(asyncio.DefaultEventLoopPolicy):
    """The usual event loop wakes itself through a pair of sockets, which no guest may have."""

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        return SocketlessLoop()


def prepare() -> None:
    """In the zygote: give this user a name, accept the locales that other machines have, and let `asyncio.run` work."""
    os.environ.update(USER=USER, LOGNAME=USER)
    os.getlogin = lambda: USER
    find_user, set_locale = pwd.getpwuid, locales.setlocale

    def getpwuid(uid: int) -> pwd.struct_passwd:
        if uid == os.getuid():
            return pwd.struct_passwd((USER, "x", uid, os.getgid(), USER, os.environ.get("HOME", "/"), "/bin/sh"))
        return find_user(uid)

    def setlocale(category: int, locale: Any = None) -> str:
        try:
            return set_locale(category, locale)
        except locales.Error:
            set_locale(category, "C.UTF-8")
            return str(locale)

    pwd.getpwuid, locales.setlocale = getpwuid, setlocale
    asyncio.set_event_loop_policy(_EventLoops())


def open_output() -> None:
    """In the guest, whose output is a pipe: replace the streams that the zygote opened on a file."""
    # Whole blocks, because the host needs the output only with the next answer.
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


def write_source(filename: str, source: bytes) -> None:
    """Let a submission find its own file where `__file__` says."""
    # It may be larger than the scratch folder.
    with contextlib.suppress(OSError), open(filename, "wb") as file:
        file.write(source)
