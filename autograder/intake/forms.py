"""The forms in which platforms give submissions, each turned into the same thing: what one student handed in at one time.

The forms are recognised by their names, and those were looked up where they are made: Canvas's `content_zipper.rb`, Moodle's
`mod/assign`, Gradescope's export, nbgrader's exchange.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from autograder.intake.entries import Entry, Refused, shown
from autograder.intake.submission import FORMS, STUDENT_ID

METADATA = "submission_metadata.yml"

# name_LATE_user_file_original. Canvas strips numbers between underscores from the name, so the first pair is the ids; if a
# name got one past Canvas, what is left over is no file name that is asked for, and the file is listed.
_CANVAS = re.compile(
    r"(?:\w*?_)??(?P<late>late_)?(?P<user>[0-9]+|anon_[A-Za-z0-9]+)_(?:[0-9]+_(?P<file>.+)|(?P<typed>(?:text|link)\.html))",
    re.IGNORECASE,
)
# Moodle takes underscores out of the name. With "download in folders" the rest is a folder's content, else a file's name.
_MOODLE = re.compile(r"(?P<name>[^_]*)_(?P<user>[0-9]+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?")


@dataclass
class Handed:
    """What one student handed in at one time: files by their place in it, and who the platform says it was."""

    name: str
    keys: list[str]
    platform: str = ""
    alone: str | None = None  # the student's id where there is no roster; None if only a roster can tell
    files: list[tuple[tuple[str, ...], Entry]] = field(default_factory=list)
    submitted: datetime.datetime | None = None
    remark: str = ""
    late: bool = False
    history: bool = False  # whether the platform gives several attempts of one student
    folder: Path | None = None  # the folder on disk that a person made for this student alone


@dataclass
class Sorted:
    """The entries of a place: what was handed in, and what is none of it, with the reason."""

    handed: list[Handed] = field(default_factory=list)
    strays: list[tuple[Entry, str]] = field(default_factory=list)


def sort_entries(entries: Sequence[Entry], module: str, called: str) -> Sorted:
    """Recognise the form that entries are in, and sort them by who handed them in. `called` is the place's own name."""
    objected = [(entry, entry.objection) for entry in entries if entry.objection]
    sound = [entry for entry in entries if not entry.objection]
    form = _recognised(sound)
    inner = _without_wrapper(sound)
    if form is None and inner:
        form = _recognised(inner)
        if form or sound[0].parts[0] in ("submitted", called):
            sound = inner
    found = form(sound) if form else _plain(sound, module)
    return Sorted(found.handed, objected + found.strays)


def _without_wrapper(entries: Sequence[Entry]) -> list[Entry]:
    """The entries of the one folder that all of them are in; none if there is no such folder."""
    if len({entry.parts[0] for entry in entries}) != 1 or any(len(entry.parts) == 1 for entry in entries):
        return []
    return [replace(entry, parts=entry.parts[1:]) for entry in entries]


def _recognised(entries: Sequence[Entry]) -> Callable[[Sequence[Entry]], Sorted] | None:
    names = {entry.parts[0] for entry in entries}
    if any(entry.parts == (METADATA,) for entry in entries):
        return _gradescope
    for pattern, form in ((_MOODLE, _moodle), (_CANVAS, _canvas)):
        # A student may have chosen a name like that by chance, but not the others too.
        if sum(bool(pattern.fullmatch(name)) for name in names) * 2 > len(names):
            return form
    return None


def _plain(entries: Sequence[Entry], module: str) -> Sorted:
    """A file or a folder a student, named by the student's id; also nbgrader's `submitted/` and a folder of clones."""
    found = Sorted()
    folders: dict[str, Handed] = {}
    for entry in entries:
        name = entry.parts[0]
        file = entry.parts[1:]
        stem, dot, suffix = name.rpartition(".")
        form = f"{dot}{suffix}"
        alone = len(entry.parts) == 1 and not entry.folder
        student = stem if alone and form in FORMS else name
        if alone and entry.refusal:
            found.strays.append((entry, entry.refusal))
        elif not STUDENT_ID.fullmatch(student):
            found.strays.append((entry, "the name is no student id (letters, digits, - and _)"))
        elif alone and form not in FORMS:
            found.strays.append((entry, "neither a .py nor an .ipynb file nor a folder"))
        elif alone:
            found.handed.append(Handed(shown(name), [student], alone=student, files=[((f"{module}{form}",), entry)]))
        else:
            if name not in folders:
                folders[name] = Handed(shown(name), [student], alone=student)
                found.handed.append(folders[name])
            if entry.path:
                folders[name].folder = [entry.path, *entry.path.parents][len(file)]
            if not entry.folder:
                folders[name].files.append((file, entry))
    return found


def _canvas(entries: Sequence[Entry]) -> Sorted:
    found = Sorted()
    users: dict[str, Handed] = {}
    for entry in entries:
        match = _CANVAS.fullmatch(entry.parts[0])
        if match is None or len(entry.parts) > 1 or entry.folder:
            found.strays.append((entry, "not named as Canvas names files"))
            continue
        user = match["user"]
        if user not in users:
            users[user] = Handed(entry.name, [user], "canvas", alone=f"canvas-{user.replace('_', '-')}")
            found.handed.append(users[user])
        users[user].files.append(((match["file"] or match["typed"],), entry))
        users[user].late |= bool(match["late"])
    return found


def _moodle(entries: Sequence[Entry]) -> Sorted:
    found = Sorted()
    users: dict[str, Handed] = {}
    for entry in entries:
        match = _MOODLE.fullmatch(entry.parts[0])
        if match is None:
            found.strays.append((entry, "not named as Moodle names files"))
            continue
        user = match["user"]
        if user not in users:
            users[user] = Handed(entry.name, [user, match["name"].strip()], "moodle", alone=f"moodle-{user}")
            found.handed.append(users[user])
        if entry.folder:
            continue
        inner = entry.parts[1:]
        users[user].files.append((inner or (match["file"] or "",), entry))
    return found


# --- Gradescope


def _gradescope(entries: Sequence[Entry]) -> Sorted:
    found = Sorted()
    folders: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.parts != (METADATA,):
            folders.setdefault(entry.parts[0], []).append(entry)
    try:
        records = _metadata(next(entry for entry in entries if entry.parts == (METADATA,)))
    except Refused as error:
        return Sorted(strays=[(entry, f"{METADATA}: {error}") for entry in entries])
    for name, record, remark, earlier in records:
        submitted = moment(record.get(":created_at"))
        content = folders.pop(name, [])
        if not content and earlier:
            continue  # an export holds the files of the last attempt; of the others it may hold only the times
        for keys in _submitters(record):
            plain = [key for key in keys if STUDENT_ID.fullmatch(key)]
            handed = Handed(shown(name), keys, "gradescope", plain[0] if plain else None, history=True)
            handed.files = [(entry.parts[1:] or entry.parts, entry) for entry in content if not entry.folder]
            handed.submitted, handed.remark = submitted, remark
            found.handed.append(handed)
    for content in folders.values():
        found.strays += [(entry, f"{METADATA} says of no student that this is theirs") for entry in content]
    found.handed.sort(key=lambda one: (one.submitted is not None, one.submitted or datetime.datetime.min))
    return found


def _metadata(entry: Entry) -> list[tuple[str, dict[str, Any], str, bool]]:
    """Folder, record, a remark, and whether it is an earlier one, of each attempt in the metadata. Raises `Refused`."""
    try:
        # The base loader gives text, lists and mappings and knows no other type, whatever tag is written.
        content = yaml.load(entry.read(), getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (yaml.YAMLError, ValueError, RecursionError, MemoryError):
        raise Refused("not valid YAML") from None
    if not isinstance(content, dict):
        raise Refused("not a mapping from folders to submissions")
    attempts = []
    for name, record in content.items():
        if not isinstance(name, str) or not isinstance(record, dict):
            continue
        history = [one for one in _list(record.get(":history")) if isinstance(one, dict)]
        count = len(history) + 1
        remark = f"the last of {count} attempts" if history else ""
        attempts.append((name, record, remark, False))
        for number, one in enumerate(history, start=1):
            whole = {**one, ":submitters": _list(one.get(":submitters")) or record.get(":submitters")}
            attempts.append((f"submission_{one.get(':id')}", whole, f"attempt {number} of {count}", True))
    return attempts


def _submitters(record: dict[str, Any]) -> list[list[str]]:
    """The ids of each student of a submission; group work has several students."""
    people = [person for person in _list(record.get(":submitters")) if isinstance(person, dict)]
    ids = [[person.get(key) for key in (":sid", ":email")] for person in people]
    return [[key.strip() for key in keys if isinstance(key, str) and key.strip()] for keys in ids] or [[]]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# --- what all forms share


def answers(handed: Handed, module: str) -> list[tuple[tuple[str, ...], str, Entry]]:
    """The files that can be the answer to a problem set, with their form: `ps1.py`, or else `ps1/ps1.py`.

    Upper case, and the `-1` or `(1)` that Canvas and browsers add to a second file of the same name, do not matter.
    """
    pattern = re.compile(rf"{re.escape(module)}(?:-[0-9]{{1,3}}| ?\([0-9]{{1,3}}\))?(\.py|\.ipynb)", re.IGNORECASE)
    found = [(parts, match[1].lower(), entry) for parts, entry in handed.files if (match := pattern.fullmatch(parts[-1]))]
    found.sort(key=lambda one: (one[1] != ".py", one[0]))
    here = [one for one in found if len(one[0]) == 1]
    return here or [one for one in found if len(one[0]) == 2 and one[0][0] == module]


def moment(text: Any) -> datetime.datetime | None:
    """A time as platforms write it, `2026-09-20 12:00:00.000000 UTC`; without a zone it is UTC. `None` if it is none."""
    if not isinstance(text, str) or len(text) > 100:
        return None
    text = re.sub(r"\s*(?:Z|UTC)$", "+00:00", text.strip())
    text = re.sub(r"\s+([+-][0-9]{2}:?[0-9]{2})$", r"\1", text)
    try:
        time = datetime.datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=datetime.UTC)).astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return None
