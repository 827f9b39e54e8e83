"""Gradescope's "Export submissions": `submission_metadata.yml` and a folder `submission_300001` an attempt."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from autograder.intake.entries import Entry, Parts, Refused, shown
from autograder.intake.handed import Form, Handed, Sorted
from autograder.intake.moments import UNKNOWN, When, read_moment
from autograder.schema import STUDENT_ID

METADATA = "submission_metadata.yml"
_FOLDER = re.compile(r"submission_([0-9]+)", re.ASCII)


@dataclass(frozen=True)
class _Attempt:
    """One attempt in the metadata. `earlier` marks all but the last, whose files an export may leave out."""

    folder: str
    record: dict[str, Any]
    remark: str
    earlier: bool
    when: When

    @property
    def order(self) -> tuple[bool, datetime.datetime, int]:
        """By time; of attempts at the same time the later number counts, for Gradescope numbers them as they arrive."""
        moment = self.when.moment
        number = _FOLDER.fullmatch(self.folder)
        early = datetime.datetime.min.replace(tzinfo=datetime.UTC)
        return moment is not None, moment or early, int(number[1][:18]) if number else 0


def _count(entries: Sequence[Entry]) -> int:
    if not any(entry.parts == (METADATA,) for entry in entries):
        return 0
    # The metadata alone, or beside files that it does not know, is an export all the same: what is in it is listed.
    return max(1, len({entry.parts[0] for entry in entries if len(entry.parts) > 1 and _FOLDER.fullmatch(entry.parts[0])}))


def _sort(entries: Sequence[Entry]) -> Sorted:
    result = Sorted()
    folders: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.parts != (METADATA,):
            folders.setdefault(entry.parts[0], []).append(entry)
    try:
        attempts = _attempts(next(entry for entry in entries if entry.parts == (METADATA,)))
    except Refused as error:
        return Sorted(strays=[(entry, f"{METADATA}: {error}; export the submissions again") for entry in entries])
    for attempt in sorted(attempts, key=lambda attempt: attempt.order):
        content = folders.pop(attempt.folder, [])
        if not content and attempt.earlier:
            continue  # an export holds the files of the last attempt; of the others it may hold only the times
        for keys in _submitters(attempt.record):
            plain = [key for key in keys if STUDENT_ID.fullmatch(key)]
            handed = Handed(shown(attempt.folder), keys, "gradescope", plain[0] if plain else None)
            handed.history = handed.any_name = True
            handed.files = [(entry.parts[1:] or entry.parts, entry) for entry in content if not entry.folder]
            handed.when, handed.remark = functools.partial(_when, attempt), attempt.remark
            result.handed.append(handed)
    for content in folders.values():
        result.strays += [(entry, f"{METADATA} says of no student that this is theirs") for entry in content]
    return result


def _when(attempt: _Attempt, parts: Parts, zone: datetime.tzinfo) -> When:
    return attempt.when


def _attempts(entry: Entry) -> list[_Attempt]:
    """The attempts in the metadata. Raises `Refused`."""
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
        history = [item for item in _list(record.get(":history")) if isinstance(item, dict)]
        count = len(history) + 1
        for number, item in enumerate(history, start=1):
            whole = {**item, ":submitters": _list(item.get(":submitters")) or record.get(":submitters")}
            remark = f"attempt {number} of {count}"
            attempts.append(_Attempt(f"submission_{item.get(':id')}", whole, remark, True, _created(item)))
        remark = f"the last of {count} attempts" if history else ""
        attempts.append(_Attempt(name, record, remark, False, _created(record)))
    return attempts


def _created(record: dict[str, Any]) -> When:
    said = record.get(":created_at")
    if said in (None, ""):
        return UNKNOWN
    if not isinstance(said, str):
        return When(problem=f"its time in {METADATA} is no text", remedy="correct it there")
    moment = read_moment(said)
    problem = f"its time in {METADATA}, `{shown(said[:60])}`, cannot be read"
    return When(moment) if moment else When(problem=problem, remedy="correct it there")


def _submitters(record: dict[str, Any]) -> list[list[str]]:
    """The ids of each student of a submission; group work has several students."""
    people = [person for person in _list(record.get(":submitters")) if isinstance(person, dict)]
    ids = [[person.get(key) for key in (":sid", ":email")] for person in people]
    return [[key.strip() for key in keys if isinstance(key, str) and key.strip()] for keys in ids] or [[]]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


FORM = Form("gradescope", "a Gradescope export", _count, _sort, re.compile(r"assignment_[0-9]+_export"))
