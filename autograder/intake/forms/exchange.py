"""The folder `inbound` of nbgrader's exchange: `s001+ps1+2026-09-20 12:00:00.000000 UTC+random/ps1.ipynb`, and so on.

Others may claim to be somebody, so the owner of the folder must be who its name says, as `nbgrader collect` asks. Where all
users of a hub are one to the system, and that one grades, nobody can tell.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import hashlib
import os
import pwd
import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from autograder.intake.entries import Entry, Parts
from autograder.intake.handed import Form, Handed, Sorted
from autograder.intake.moments import When, read_moment
from autograder.schema import STUDENT_ID

_NAME = re.compile(
    r"(?P<user>[^+/]+)\+(?P<assignment>[^+/]+)\+(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [^+/]{5,40})(?:\+[A-Za-z0-9_=-]+)?",
    re.ASCII,
)
SECRET = "submission_secret.txt"  # nbgrader writes it last


def _count(entries: Sequence[Entry]) -> int:
    names = {entry.parts[0] for entry in entries}
    submissions = {name for name in names if _NAME.fullmatch(name)}
    return len(submissions) if len(submissions) * 2 > len(names) else 0


def _sort(entries: Sequence[Entry]) -> Sorted:
    result = Sorted()
    submissions: dict[str, Handed] = {}
    for entry in entries:
        match = _NAME.fullmatch(entry.parts[0])
        if match is None or (len(entry.parts) == 1 and not entry.folder):
            result.strays.append((entry, "not a submission of nbgrader's exchange"))
            continue
        name = match[0]
        if name not in submissions:
            if objection := _objection(entry, match["user"]):
                result.strays.append((entry, objection))
                continue
            user = match["user"]
            handed = Handed(name, [user], "inbox", alone=user if STUDENT_ID.fullmatch(user) else None, history=True)
            handed.when = functools.partial(_time, match["time"])
            handed.is_whole = functools.partial(_is_whole, handed)
            handed.feedback = functools.partial(_feedback, handed)
            handed.assignment, handed.folder = match["assignment"], _folder(entry)
            submissions[name] = handed
            result.handed.append(handed)
        if not entry.folder:
            submissions[name].files.append((entry.parts[1:], entry))
    return result


def _folder(entry: Entry) -> Path | None:
    """The submission's folder, if it lies on disk."""
    inner = len(entry.parts) - 1
    return entry.path.parents[inner - 1] if entry.path and inner else entry.path


def _objection(entry: Entry, user: str) -> str:
    """Why a submission is not that of the user it names, empty if it may be."""
    if (folder := _folder(entry)) is None:
        return ""
    owner = folder.lstat().st_uid
    login = str(owner)
    with contextlib.suppress(KeyError):
        login = pwd.getpwuid(owner).pw_name
    return "" if owner == os.getuid() or login == user else f"claims to be of {user}, and belongs to {login}"


def _time(text: str, parts: Parts, zone: datetime.tzinfo) -> When:
    moment = read_moment(text, zone)
    if moment is None:
        return When(
            problem="the time in the folder's name cannot be read", remedy="rename it, as in 2026-09-20 12:00:00 UTC"
        )
    return When(moment, "time of the folder's name, which its author's own process writes")


def _is_whole(handed: Handed) -> bool:
    return any(parts == (SECRET,) for parts, _ in handed.files)


def _feedback(handed: Handed, parts: Parts) -> str:
    """The name under which nbgrader looks for feedback on a notebook: what only its author can work out."""
    secret = next((entry.kept() for other, entry in handed.files if other == (SECRET,)), None)
    if not secret:
        return ""
    return hashlib.md5(secret + PurePath(parts[-1]).stem.encode(), usedforsecurity=False).hexdigest() + ".html"


FORM = Form("exchange", "the folder `inbound` of nbgrader's exchange", _count, _sort)
