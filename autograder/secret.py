"""The course's secret, and the keys made from it: what the inputs of hidden tests are drawn from.

The secret never leaves the machines that grade. A platform's build carries a key made from it for that platform alone,
because there student code can read whatever the tests can. Records carry a fingerprint, from which nothing follows.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import stat
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

FILE = ".course-secret"
VARIABLE = "COURSE_SECRET"
_HEX = re.compile(r"[0-9a-f]{32,}")


class SecretError(Exception):
    """The secret cannot be read or made; the message says what to do."""


@dataclass(frozen=True)
class Key:
    """At least 128 bits that nobody can guess. Its repr does not show them."""

    value: bytes = field(repr=False)

    def derived(self, purpose: str) -> Key:
        """Another key, from which this one cannot be found: HMAC-SHA256 of `purpose`."""
        return Key(hmac.new(self.value, purpose.encode(), hashlib.sha256).digest())

    @property
    def fingerprint(self) -> str:
        """Tells two keys apart, and nothing of either."""
        return self.derived("fingerprint").value[:6].hex()


def course_key(root: Path) -> Key:
    """The secret of the course in `root`: from the variable `COURSE_SECRET`, or else from the file `.course-secret`.

    A file that is not there is made, with 256 random bits, for its owner's eyes only. Raises `SecretError`.
    """
    path = root / FILE
    given = os.environ.get(VARIABLE, "")
    where = f"the variable {VARIABLE}" if given else str(path)
    try:
        text = given or (path.read_text(encoding="ascii") if path.exists() else _made(path))
    except (OSError, ValueError) as error:
        raise SecretError(
            f"{path}: the secret that hidden tests draw from cannot be read or made: {error}. "
            f"Correct the file, or set the variable {VARIABLE}"
        ) from None
    if not _HEX.fullmatch(text.strip()):
        raise SecretError(
            f"{where} must hold at least 32 hexadecimal digits (0-9, a-f), as `openssl rand -hex 32` prints them"
        )
    return Key(bytes.fromhex(text.strip()[: len(text.strip()) // 2 * 2]))


def exposure(root: Path) -> str:
    """Who may read the file of the secret beside its owner, and what to do, as a sentence; empty if nobody may."""
    path = root / FILE
    if os.environ.get(VARIABLE) or not path.exists():
        return ""
    mode = stat.S_IMODE(path.stat().st_mode)
    if not mode & (stat.S_IRWXG | stat.S_IRWXO):
        return ""
    return (
        f"{path}: others may read or change the secret that hidden tests draw from (mode {mode:04o}). "
        f"Take their rights with `chmod 600 {FILE}`; if they may have read it, delete the file for a new secret"
    )


def _made(path: Path) -> str:
    """Write a new secret, whole or not at all; where another process was quicker, that one's."""
    # mkstemp makes files that only their owner can read.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=FILE)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(32)}\n")
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        os.unlink(name)
    return path.read_text(encoding="ascii")
