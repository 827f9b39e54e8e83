"""Makes a guest look like an ordinary machine to honest code that asks who and where it is.

Nothing here protects anything: a submission can undo it all.
"""

from __future__ import annotations

import contextlib
import locale as locales
import os
import pwd
import sys
from typing import Any

USER = "student"


def prepare() -> None:
    """In the zygote: give this user a name, and accept the locales that other machines have."""
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
