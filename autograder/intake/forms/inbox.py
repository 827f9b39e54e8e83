"""An inbox that `python -m autograder.kit.submit ps1 --to INBOX` delivers to: `ps1-20260920T120000123456Z-1a2b3c4d/ps1.py`.

The system says who handed something in: the owner of the file, whom nobody else can make. The time that counts is that at
which the course first sees a delivery, because its owner can set every date of its own.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pwd
import re
from collections.abc import Sequence
from pathlib import Path

from autograder.intake.entries import Entry, Parts
from autograder.intake.handed import Form, Handed, Sorted
from autograder.kit.delivery import feedback_name
from autograder.schema import STUDENT_ID

_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}-[0-9]{8}T[0-9]{12}Z-[0-9a-f]{8}", re.ASCII)


def _count(entries: Sequence[Entry]) -> int:
    names = {entry.parts[0] for entry in entries}
    deliveries = {name for name in names if _NAME.fullmatch(name)}
    return len(deliveries) if len(deliveries) * 2 > len(names) else 0


def _sort(entries: Sequence[Entry]) -> Sorted:
    result = Sorted()
    deliveries: dict[str, Handed] = {}
    for entry in entries:
        if not _NAME.fullmatch(entry.parts[0]) or len(entry.parts) < 2:
            result.strays.append((entry, "not a delivery of `autograder.kit.submit`"))
            continue
        owner, objection = _owner(entry.path)
        if objection:
            result.strays.append((entry, objection))
            continue
        if entry.parts[0] not in deliveries:
            login = _login(owner)
            alone = login if STUDENT_ID.fullmatch(login) else f"user-{owner}"
            deliveries[entry.parts[0]] = handed = Handed(
                entry.parts[0], [login, str(owner)], "inbox", alone=alone, history=True, first_sight=True
            )
            handed.feedback = functools.partial(_feedback, handed)
            result.handed.append(handed)
        deliveries[entry.parts[0]].files.append((entry.parts[1:], entry))
    return result


def _feedback(handed: Handed, parts: Parts) -> str:
    """The name that `autograder.kit.submit` told the student."""
    content = next((entry.kept() for other, entry in handed.files if other == parts), None)
    return feedback_name(handed.name, hashlib.sha256(content).hexdigest()) if content is not None else ""


def _owner(path: Path | None) -> tuple[int, str]:
    """The user who owns a delivered file, or why that does not say who handed it in."""
    if path is None:
        return 0, "an archive does not say who delivered it; grade the inbox itself"
    try:
        file, folder = path.lstat(), path.parent.lstat()
    except OSError as error:
        return 0, f"cannot be read: {error.strerror}"
    if file.st_uid == os.getuid():
        return 0, "belongs to you and not to a student, as after copying; grade the inbox itself"
    if file.st_nlink > 1 or folder.st_uid != file.st_uid:
        return 0, "its folder or another link to it is not its owner's, so somebody else may have put it here"
    return file.st_uid, ""


def _login(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


FORM = Form("inbox", "an inbox of `autograder.kit.submit`", _count, _sort)
