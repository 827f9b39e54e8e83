"""The journal: one immutable record an attempt and grading run, written whole or not at all.

A record is Gradescope's results.json with its provenance in `extra_data`. It lies at
`results/<problem set>/<student>/<attempt>.json`; a later grading of the same attempt with another suite is
`<attempt>.r2.json`, and so on. Records are never overwritten.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]
_NAME = re.compile(r"(\d{3,})(?:\.r(\d+))?\.json")


@dataclass(frozen=True)
class Stored:
    """A record with its place in the journal: the attempt's number, and which grading of it this is."""

    attempt: int
    run: int
    path: Path
    record: Record

    @property
    def provenance(self) -> dict[str, Any]:
        provenance: dict[str, Any] = self.record["extra_data"]["provenance"]
        return provenance


class Journal:
    """The records of one problem set under `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def records(self, student: str) -> list[Stored]:
        """All records of a student, oldest attempt first."""
        stored = []
        for path in (self.root / student).glob("*.json"):
            match = _NAME.fullmatch(path.name)
            if match:
                record = json.loads(path.read_text(encoding="utf-8"))
                stored.append(Stored(int(match[1]), int(match[2] or 1), path, record))
        return sorted(stored, key=lambda one: (one.attempt, one.run))

    def find(self, student: str, key: dict[str, Any]) -> Stored | None:
        """The newest sound record whose provenance has all of `key`; a grader's fault is never an answer."""
        for stored in reversed(self.records(student)):
            provenance = stored.provenance
            if not provenance["fault"] and all(provenance.get(name) == value for name, value in key.items()):
                return stored
        return None

    def append(self, student: str, record: Record) -> Stored:
        """Write a record under the next free number of its submission and return it as stored."""
        folder = self.root / student
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            known = self.records(student)
            digest = record["extra_data"]["provenance"]["submission"]
            attempt = next((one.attempt for one in known if one.provenance["submission"] == digest), 0)
            attempt = attempt or max((one.attempt for one in known), default=0) + 1
            run = max((one.run for one in known if one.attempt == attempt), default=0) + 1
            name = f"{attempt:03d}.json" if run == 1 else f"{attempt:03d}.r{run}.json"
            try:
                _write_new(folder / name, record)
                return Stored(attempt, run, folder / name, record)
            except FileExistsError:
                continue  # another grading run took the number meanwhile


def _umask() -> int:
    """The process's file mode mask: a record is as readable as any file its grader writes."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _write_new(path: Path, record: Record) -> None:
    """Write a file that must not exist yet; after a crash it is there whole, or not at all."""
    data = json.dumps(record, indent=1, ensure_ascii=True).encode() + b"\n"
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, 0o666 & ~_umask())
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # Unlike a rename, a link fails when the name is taken.
        os.link(temporary, path)
    finally:
        os.unlink(temporary)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
