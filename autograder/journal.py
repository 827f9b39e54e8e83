"""The journal: what students handed in, how it was graded, and which grading counts. Nothing in it is ever overwritten.

Of one problem set, under `results/ps1/`:

    _objects/ab/ab12…       bytes as they were handed in, under their SHA-256
    s001/001.attempt.json   the first attempt of a student: which bytes, when, from where
    s001/001.json           its first grading, a `record.Record` as JSON
    s001/001.r2.json        its second grading, by other tests
    _runs/0001.json         a regrade: which gradings belong to it
    _decisions/0001.json    that a regrade was applied or reverted
    _renames/0001.json      that a student's id changed

A student's folder is called as the student is today; what older files say of it is brought to today's id on reading.

Every file is written whole or not at all, and never again; all that writes one is in this module, longer than others, so
that this can be checked in one place. Student ids begin with a letter or digit, so no student is called
`_runs`.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar
from weakref import WeakValueDictionary

from autograder import record as record_module
from autograder.files import UNFINISHED, make_folder, sync, write_new
from autograder.intake import Submission
from autograder.record import Record, RecordError

_RECORD = re.compile(r"(\d{3,})(?:\.r(\d+))?\.json")
_ATTEMPT = re.compile(r"(\d{3,})\.attempt\.json")
_NUMBERED = re.compile(r"(\d{4,})\.json")
Entry = TypeVar("Entry")


class JournalError(Exception):
    """A file of the journal is damaged; the message says which, and what to do."""


@dataclass(frozen=True)
class Attempt:
    """One attempt of a student. `submitted` is what the platform says, `None` if it says nothing; `origin` is for people."""

    student: str
    number: int
    filename: str
    sha256: str
    content: str
    submitted: datetime.datetime | None
    received: datetime.datetime
    origin: str

    @property
    def moment(self) -> datetime.datetime:
        """When it was handed in, as far as is known."""
        return self.submitted or self.received


@dataclass(frozen=True)
class Stored:
    """A record with its place in the journal: the attempt's number, and which grading of it this is."""

    attempt: int
    run: int
    path: Path
    record: Record


@dataclass(frozen=True)
class Run:
    """A regrade. `records` says which grading each attempt got: by student and attempt, the record's file name."""

    number: int
    suite: str
    engine: str
    started: datetime.datetime
    why: str
    records: dict[str, dict[int, str]]


@dataclass(frozen=True)
class Decision:
    """That a regrade was taken over, or taken back."""

    number: int
    action: Literal["apply", "revert"]
    run: int
    decided: datetime.datetime


@dataclass(frozen=True)
class _Rename:
    """That a student's id changed, after so many regrades."""

    old: str
    new: str
    runs: int


class Journal:
    """The journal of one problem set under `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[tuple[Path, int], Any] = {}
        self._held: WeakValueDictionary[Path, Stored] = WeakValueDictionary()

    @contextlib.contextmanager
    def locked(self, on_wait: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Keep every other writer out. Clears away what a killed writer had not finished.

        If another is at work, `on_wait` is called, and this waits for its end.
        """
        make_folder(self.root)
        with (self.root / "_lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                on_wait()
                fcntl.flock(file, fcntl.LOCK_EX)
            for unfinished in self.root.rglob(f"{UNFINISHED}*"):
                unfinished.unlink(missing_ok=True)
            yield

    # --- attempts

    def students(self) -> list[str]:
        """The students with an attempt, sorted."""
        return sorted({path.parent.name for path in self.root.glob("[!_.]*/*.attempt.json")})

    def attempts(self, student: str) -> list[Attempt]:
        """The attempts of a student, in the order of their numbers."""
        result = []
        for path in (self.root / student).glob("*.attempt.json"):
            if match := _ATTEMPT.fullmatch(path.name):
                with _reading(path) as entry:
                    submitted = entry["submitted"]
                    result.append(
                        Attempt(
                            student=student,
                            number=int(match[1]),
                            filename=entry["filename"],
                            sha256=entry["sha256"],
                            content=entry["content"],
                            submitted=datetime.datetime.fromisoformat(submitted) if submitted else None,
                            received=datetime.datetime.fromisoformat(entry["received"]),
                            origin=entry["origin"],
                        )
                    )
        return sorted(result, key=lambda attempt: attempt.number)

    def add(self, submission: Submission) -> Attempt:
        """Keep a submission and return its attempt: the one it was kept as before, if it was.

        Bytes with a time are the attempt with those bytes and that time. Bytes without one are the newest attempt, if that
        has these bytes; going back to older bytes is a new attempt. Where the first sight counts, bytes are the attempt with
        those bytes from the same origin.
        """
        content = self.keep(submission.source)
        # With a plain offset: in the hour that clocks repeat, a time of a named zone equals no other, not even itself.
        submitted = submission.submitted and datetime.datetime.fromisoformat(submission.submitted.isoformat())
        while True:
            known = self.attempts(submission.student)
            alike = [attempt for attempt in known if attempt.sha256 == submission.sha256]
            if submission.first_sight:
                same = [attempt for attempt in alike if attempt.origin == submission.origin]
            elif submitted:
                same = [attempt for attempt in alike if attempt.submitted == submitted]
            else:
                same = [attempt for attempt in alike if attempt is known[-1]]
            if same:
                return same[0]
            received = now()
            attempt = Attempt(
                student=submission.student,
                number=max((attempt.number for attempt in known), default=0) + 1,
                filename=submission.filename,
                sha256=submission.sha256,
                content=content,
                submitted=received if submission.first_sight else submitted,
                received=received,
                origin=submission.origin,
            )
            entry = {
                "filename": attempt.filename,
                "sha256": attempt.sha256,
                "content": attempt.content,
                "submitted": attempt.submitted.isoformat() if attempt.submitted else None,
                "received": attempt.received.isoformat(),
                "origin": attempt.origin,
            }
            # If not, another process took the number meanwhile.
            if write_new(self.root / attempt.student / f"{attempt.number:03d}.attempt.json", _dump(entry)):
                return attempt

    def keep(self, content: bytes) -> str:
        """Keep bytes under their SHA-256, which is returned."""
        digest = hashlib.sha256(content).hexdigest()
        path = self._object(digest)
        if not path.exists():
            write_new(path, content)
        return digest

    def source(self, attempt: Attempt) -> bytes:
        """The bytes of an attempt as they were handed in. Raises `JournalError` if they are not what they were."""
        path = self._object(attempt.content)
        content = path.read_bytes() if path.exists() else b""
        if hashlib.sha256(content).hexdigest() != attempt.content:
            raise JournalError(f"{path} is damaged or gone; restore it from a backup: attempt {attempt.number} of "
                               f"{attempt.student} cannot be graded again without it")  # fmt: skip
        return content

    def _object(self, digest: str) -> Path:
        return self.root / "_objects" / digest[:2] / digest

    # --- gradings

    def records(self, student: str) -> list[Stored]:
        """All gradings of a student, oldest attempt first.

        A file never changes, so one whose grading somebody holds is not read again.
        """
        gradings = []
        for path in (self.root / student).glob("*.json"):
            if match := _RECORD.fullmatch(path.name):
                stored = self._held.get(path)
                if stored is None:
                    stored = Stored(int(match[1]), int(match[2] or 1), path, _read_record(path, student))
                    self._held[path] = stored
                gradings.append(stored)
        return sorted(gradings, key=lambda grading: (grading.attempt, grading.run))

    def append(self, attempt: Attempt, record: Record) -> Stored:
        """Write a grading of an attempt under the next free number and return it as stored."""
        folder = self.root / attempt.student
        while True:
            known = self.records(attempt.student)
            run = max((stored.run for stored in known if stored.attempt == attempt.number), default=0) + 1
            path = folder / (f"{attempt.number:03d}.json" if run == 1 else f"{attempt.number:03d}.r{run}.json")
            if write_new(path, record_module.to_json(record)):
                return Stored(attempt.number, run, path, record)

    def find(self, attempt: Attempt, *, suite: str, engine: str) -> Stored | None:
        """The newest sound grading of an attempt by these tests and this engine; a grader's fault is never an answer."""
        for stored in reversed(self.records(attempt.student)):
            made_by = stored.record.provenance.suite, stored.record.provenance.engine
            if stored.attempt == attempt.number and stored.record.is_sound and made_by == (suite, engine):
                return stored
        return None

    def in_force(self, student: str, regrades: Sequence[Run] | None = None) -> dict[int, Stored]:
        """By attempt, the grading that counts: the first sound one, or what a regrade put in its place.

        `regrades` are those to take into account, all that are applied if not given.
        """
        counting: dict[int, Stored] = {}
        sound = [stored for stored in self.records(student) if stored.record.is_sound]
        for stored in sound:
            counting.setdefault(stored.attempt, stored)
        by_name = {stored.path.name: stored for stored in sound}
        for run in self.applied() if regrades is None else regrades:
            for number, name in run.records.get(student, {}).items():
                if name in by_name:
                    counting[number] = by_name[name]
        return counting

    # --- regrades

    def runs(self) -> list[Run]:
        """All regrades, oldest first."""
        renames = self._renames()

        def run(number: int, entry: dict[str, Any]) -> Run:
            records = {
                _today(renames, student, number): {int(at): name for at, name in own.items()}
                for student, own in entry["records"].items()
            }
            started = datetime.datetime.fromisoformat(entry["started"])
            return Run(number, entry["suite"], entry["engine"], started, entry["why"], records)

        return self._all("_runs", run, after=len(renames))

    def add_run(self, suite: str, engine: str, why: str, records: Mapping[str, Mapping[int, str]]) -> Run:
        """Write down a regrade, which does not count yet."""
        started = now()
        entry = {"suite": suite, "engine": engine, "started": started.isoformat(), "why": why, "records": records}
        number = self._add_numbered("_runs", entry)
        return Run(number, suite, engine, started, why, {student: dict(own) for student, own in records.items()})

    def decisions(self) -> list[Decision]:
        """What was decided about regrades, oldest first."""

        def decision(number: int, entry: dict[str, Any]) -> Decision:
            decided = datetime.datetime.fromisoformat(entry["decided"])
            return Decision(number, entry["action"], entry["run"], decided)

        return self._all("_decisions", decision)

    def decide(self, action: Literal["apply", "revert"], run: int) -> None:
        """Take a regrade over, or take it back."""
        self._add_numbered("_decisions", {"action": action, "run": run, "decided": now().isoformat()})

    def applied(self) -> list[Run]:
        """The regrades in force, in the order in which they were applied."""
        order: list[int] = []
        for decision in self.decisions():
            order = [number for number in order if number != decision.run]
            if decision.action == "apply":
                order.append(decision.run)
        runs = {run.number: run for run in self.runs()}
        return [runs[number] for number in order if number in runs]

    # --- ids that change

    def rename(self, old: str, new: str) -> None:
        """Let a student have another id. Raises `JournalError` if attempts are kept under it already."""
        if (self.root / new).exists():
            raise JournalError(f"{self.root / new} has attempts of its own, so {old} cannot become {new}")
        self._add_numbered("_renames", {"old": old, "new": new, "runs": len(self.runs())})
        (self.root / old).rename(self.root / new)
        sync(self.root)

    def today(self, student: str, run: int = 0) -> str:
        """The id today of who was called `student`, when the regrade of that number was made if it is given."""
        return _today(self._renames(), student, run)

    def _renames(self) -> list[_Rename]:
        return self._all("_renames", lambda number, entry: _Rename(entry["old"], entry["new"], entry["runs"]))

    def _numbered(self, kind: str) -> list[tuple[int, Path]]:
        folder = self.root / kind
        names = os.listdir(folder) if folder.is_dir() else []
        return sorted((int(match[1]), folder / name) for name in names if (match := _NUMBERED.fullmatch(name)))

    def _all(self, kind: str, made_of: Callable[[int, dict[str, Any]], Entry], *, after: int = 0) -> list[Entry]:
        """The numbered files of a kind, each as what `made_of` makes of it after so many renames.

        A file never changes, so it is read once: every student's grade asks for them.
        """
        for number, path in (numbered := self._numbered(kind)):
            if (path, after) not in self._read:
                with _reading(path) as entry:
                    self._read[path, after] = made_of(number, entry)
        return [self._read[path, after] for _, path in numbered]

    def _add_numbered(self, kind: str, entry: Mapping[str, Any]) -> int:
        while True:
            number = max((number for number, _ in self._numbered(kind)), default=0) + 1
            if write_new(self.root / kind / f"{number:04d}.json", _dump(entry)):
                return number


def _today(renames: Sequence[_Rename], student: str, run: int) -> str:
    for rename in renames:
        if rename.old == student and run <= rename.runs:
            student = rename.new
    return student


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[dict[str, Any]]:
    """What a file holds. Not to find it there, within this context, is a `JournalError`."""
    try:
        yield json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, error) from None


def _read_record(path: Path, student: str) -> Record:
    try:
        record = record_module.read(path)
    except RecordError as error:
        raise _damaged(path, error) from None
    if record.provenance.student == student:
        return record
    return replace(record, provenance=replace(record.provenance, student=student))


def _damaged(path: Path, reason: Exception) -> JournalError:
    return JournalError(f"{path} is damaged ({reason}); restore it from a backup, or move it away")


def _dump(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, indent=1, ensure_ascii=True).encode() + b"\n"
