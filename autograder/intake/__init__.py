"""The intake: from what a course platform gives to submissions, with nothing dropped in silence.

entries    the files in a folder or an archive, within bounds
forms      which platform's form they are in, and who handed in what
clones     when a file in a git repository was committed
roster     which student is which user of a platform
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Collection, Iterator
from pathlib import Path

from autograder.intake.clones import commit_time
from autograder.intake.entries import Entry, Refused, archive_entries, file_entry, folder_entries, shown
from autograder.intake.forms import Handed, answers, moment, sort_entries
from autograder.intake.roster import Roster, find_roster, read_roster
from autograder.intake.submission import STUDENT_ID, Submission, Unreadable

__all__ = ["STUDENT_ID", "Roster", "Submission", "Unreadable", "find_roster", "find_submissions", "read_roster"]


def find_submissions(
    place: Path, module: str, roster: Roster | None = None, names: Collection[str] = ()
) -> tuple[list[Submission], list[Unreadable]]:
    """The submissions in `place`, sorted by student and time, and all that needs a person.

    `place` is a file, a folder or a zip archive, in any of the forms of `docs/intake.md`. `names` are those that the problem
    set asks for: a file that holds none of them is graded, and listed. Raises `FileNotFoundError` if there is nothing.
    """
    if not place.is_dir() and not place.is_file() and not place.is_symlink():
        raise FileNotFoundError(f"{place} does not exist, or is neither a file nor a folder")
    intake = _Intake(place, module, roster, names)
    try:
        with _entries(place) as entries:
            found = sort_entries(entries, module, place.stem)
            for entry, reason in found.strays:
                intake.list_entry(entry, reason)
            for handed in found.handed:
                intake.take(handed)
    except Refused as error:
        intake.listed.append(Unreadable(shown(place.name), str(error)))
    return sorted(intake.submissions, key=lambda one: one.student), intake.listed


@contextlib.contextmanager
def _entries(place: Path) -> Iterator[list[Entry]]:
    if place.is_dir():
        yield [entry for entry in folder_entries(place) if entry.parts != ("README.md",)]
    elif place.suffix.lower() == ".zip":
        with archive_entries(place) as entries:
            yield entries
    else:
        yield [file_entry(place, (place.name,))]


class _Intake:
    """What was found so far."""

    def __init__(self, place: Path, module: str, roster: Roster | None, names: Collection[str]) -> None:
        self.place = place
        self.module = module
        self.roster = roster
        self.names = names
        self.submissions: list[Submission] = []
        self.listed: list[Unreadable] = []
        self.students: set[str] = set()

    def take(self, handed: Handed) -> None:
        """Make a submission of what a student handed in, or list it."""
        found = answers(handed, self.module)
        student = self._student(handed)
        if not found:
            self._list(handed, f"neither {self.module}.py nor {self.module}.ipynb is in it; one is needed")
        elif len(found) > 1:
            names = " and ".join(shown("/".join(parts)) for parts, _, _ in found)
            self._list(handed, f"{'both ' if len(found) == 2 else ''}{names} are in it; one is needed")
        elif student is None:
            known = "not in the roster" if self.roster else "a roster must tell whose it is"
            self._list(handed, f"{known}: {', '.join(map(shown, handed.keys)) or 'no id at all'}")
        elif not handed.history and student in self.students:
            self._list(handed, f"a second submission of {student}; keep one of them")
        else:
            self._take_file(handed, student, *found[0])

    def list_entry(self, entry: Entry, reason: str, *, graded: bool = False) -> None:
        """List one file for a person."""
        self.listed.append(Unreadable(entry.name, entry.refusal or reason, entry.kept(), graded))

    def _student(self, handed: Handed) -> str | None:
        if self.roster is None:
            return handed.alone
        if _repository(handed) is None:
            return self.roster.student(handed.platform, handed.keys)
        return self.roster.student("github", [*handed.keys, *(key.removeprefix(f"{self.module}-") for key in handed.keys)])

    def _take_file(self, handed: Handed, student: str, parts: tuple[str, ...], form: str, entry: Entry) -> None:
        try:
            source = entry.read()
        except Refused as error:
            self._list(handed, str(error))
            return
        submitted, remark = _time(handed, parts)
        remarks = [one for one in (handed.remark, remark, "marked late" if handed.late else "") if one]
        origin = f"{shown(self.place.name)}: {entry.name}" + (f" ({'; '.join(remarks)})" if remarks else "")
        self.students.add(student)
        self.submissions.append(Submission(student, f"{self.module}{form}", source, submitted, origin))
        if handed.late:
            self.list_entry(entry, "marked late, but no time is given; a penalty is yours to give", graded=True)
        if not source.strip():
            self.list_entry(entry, "empty", graded=True)
        elif self.names and not any(name.encode() in source for name in self.names):
            self.list_entry(entry, f"holds no name that {self.module} asks for; is it another problem set's?", graded=True)
        for _, other in handed.files:
            if other is not entry and not _stays(handed):
                self.list_entry(other, f"beside the answer of {student}; not graded")

    def _list(self, handed: Handed, reason: str) -> None:
        """List what a student handed in, file by file; a student's own folder on disk as the folder that it is."""
        if handed.files and not _stays(handed):
            for _, entry in handed.files:
                self.list_entry(entry, reason)
        else:
            self.listed.append(Unreadable(handed.name, reason))


def _stays(handed: Handed) -> bool:
    """Whether it is a folder that somebody made for one student; what else lies in it is nobody's concern."""
    return handed.folder is not None


def _repository(handed: Handed) -> Path | None:
    """The git repository that a student's folder is."""
    return handed.folder if handed.folder and (handed.folder / ".git").is_dir() else None


def _time(handed: Handed, parts: tuple[str, ...]) -> tuple[datetime.datetime | None, str]:
    """When a file was handed in, and how that is known if its author could have set it."""
    repository = _repository(handed)
    if repository is not None:
        return commit_time(repository, "/".join(parts)), "time of the last commit, which its author sets"
    if not handed.platform and len(parts) == 2:  # nbgrader's tree; anywhere else the file would be one that was handed in
        for other, entry in handed.files:
            if other == (parts[0], "timestamp.txt"):
                text = (entry.kept() or b"")[:100].decode("utf-8", "replace")
                return moment(text), "time of timestamp.txt, which its author's computer writes"
    return handed.submitted, ""
