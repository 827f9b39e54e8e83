"""The intake: from what a course platform gives to submissions, with nothing dropped in silence.

entries, archives   the files in a folder or an archive, within bounds
forms               which platform's form they are in, and who handed in what; students: no platform's
handed              what one student handed in, whatever the form
clones, moments     when that was
roster, names       which student is which user of a platform
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.intake.archives import archive_contents, archive_name
from autograder.intake.entries import Contents, Entry, Parts, Refused, file_entry, folder_contents, shown
from autograder.intake.forms import FORMS, STUDENTS, FormError, Place, sort_entries
from autograder.intake.handed import Handed, answer_pattern, answers
from autograder.intake.roster import Roster, find_roster, read_roster
from autograder.intake.submission import FORMS as FORMS_OF_ANSWERS
from autograder.intake.submission import Submission, Unreadable
from autograder.schema import STUDENT_ID

__all__ = ["FORM_NAMES", "STUDENT_ID", "FormError", "Roster", "Submission", "Unreadable", "find_roster", "find_submissions",
           "read_roster"]  # fmt: skip

FORM_NAMES = (*sorted(FORMS), STUDENTS)
LATE_REMEDY = "write how late into course.yml, under `late`, or give the times with --times"
SHOWN = 5  # files named in one reason


@dataclass(frozen=True)
class _Claim:
    """What was handed in, and whose it may be. `by_id`: a clone that is named after a student, not an account."""

    handed: Handed
    students: list[str]
    by_id: bool = False

    @property
    def student(self) -> str:
        """Whose it is, empty if that is not known."""
        return self.students[0] if len(self.students) == 1 else ""


def find_submissions(
    place: Path,
    module: str,
    roster: Roster | None = None,
    names: Collection[str] = (),
    *,
    form: str | None = None,
    zone: datetime.tzinfo = datetime.UTC,
    wanted: Callable[[Handed], bool] = lambda handed: True,
) -> tuple[list[Submission], list[Unreadable]]:
    """The submissions in `place`, sorted by student and time, and all that needs a person.

    `place` is a file, a folder or an archive, in any of the forms of `docs/intake.md`; `form` names one of `FORM_NAMES` if
    that should not be recognised. `names` are those that the problem set asks for: a file that holds none of them is graded,
    and listed. `zone` is the course's. What is not `wanted`, or of another assignment, is
    neither read nor listed. Raises `FileNotFoundError` if there is nothing, `FormError` if the form is another.
    """
    if not place.is_dir() and not place.is_file() and not place.is_symlink():
        raise FileNotFoundError(f"{place} does not exist, or is neither a file nor a folder")
    intake = _Intake(place, module, roster, names, zone)
    try:
        with _contents(place) as contents:
            name = place.resolve().name if place.is_dir() else archive_name(place) or ""
            others_shown = sort_entries(Place(name, contents, module, roster), form)
            for entry, reason in others_shown.strays:
                intake.list_entry(entry, reason)
            mine = [handed for handed in others_shown.handed if handed.assignment in ("", module) and wanted(handed)]
            # A clone that the roster knows by its account goes first: its owner may name an account after somebody else.
            for claim in sorted(map(intake.claim, mine), key=lambda claim: claim.by_id):
                intake.take(claim)
    except Refused as error:
        intake.listed.append(Unreadable(shown(place.name), str(error)))
    return sorted(intake.submissions, key=lambda submission: submission.student), intake.listed


@contextlib.contextmanager
def _contents(place: Path) -> Iterator[Contents]:
    if place.is_dir():
        yield folder_contents(place)
    elif archive_name(place) is not None:
        with archive_contents(place) as contents:
            yield contents
    else:
        yield Contents([file_entry(place, (place.name,))])


class _Intake:
    """What was found so far."""

    def __init__(
        self, place: Path, module: str, roster: Roster | None, names: Collection[str], zone: datetime.tzinfo
    ) -> None:
        self.place = place
        self.module = module
        self.roster = roster
        self.names = names
        self.zone = zone
        self.submissions: list[Submission] = []
        self.listed: list[Unreadable] = []
        self.students: set[str] = set()

    def claim(self, handed: Handed) -> _Claim:
        """Whose something is, as the roster says."""
        if self.roster is None:
            return _Claim(handed, [handed.alone] if handed.alone else [])
        students = self.roster.find(handed.platform, handed.keys, cleaned=handed.cleaned)
        own = [student for key in handed.own_ids if (student := self.roster.own(key))]
        return _Claim(handed, list(dict.fromkeys([*students, *own])), by_id=bool(own and not students))

    def take(self, claim: _Claim) -> None:
        """Make a submission of what a student handed in, or list it."""
        handed, student = claim.handed, claim.student
        files = answers(handed, self.module)
        if not files:
            self._list(claim, self._why_no_answer(claim))
        elif len(files) > 1:
            names = " and ".join(shown("/".join(parts)) for parts, _, _ in files)
            self._list(claim, f"{'both ' if len(files) == 2 else ''}{names} are in it; one is needed")
        elif not student:
            self._list(claim, self._why_nobodys(claim))
        elif not handed.history and student in self.students:
            self._list(claim, f"a second submission of {student}; keep one of them")
        else:
            self._take_file(claim, *files[0])

    def list_entry(self, entry: Entry, reason: str, student: str = "", *, graded: bool = False, late: bool = False) -> None:
        """List one file for a person."""
        self.listed.append(Unreadable(entry.name, entry.refusal or reason, entry.kept(), graded, student, late))

    def _take_file(self, claim: _Claim, parts: Parts, form: str, entry: Entry) -> None:
        handed, student = claim.handed, claim.student
        try:
            source = entry.read()
        except Refused as error:
            self._list(claim, str(error))
            return
        when = handed.when(parts, self.zone)
        wanted = f"{self.module}{form}"
        called = "" if answer_pattern(self.module).fullmatch(parts[-1]) else f"called {shown(parts[-1])}, not {wanted}"
        late = "marked late" if handed.late else ""
        noted = "; ".join(filter(None, [handed.remark, when.remark if when.moment else "", called, late]))
        # A delivery is known again by its own name, wherever the inbox lies.
        origin = entry.name if handed.first_sight else f"{shown(self.place.name)}: {entry.name}"
        self.students.add(student)
        whence = f"{origin} ({noted})" if noted else origin
        feedback = handed.feedback(parts)
        self.submissions.append(Submission(student, wanted, source, when.moment, whence, handed.first_sight, feedback))
        if handed.late:
            self.list_entry(entry, f"{late}, but no time is given; {LATE_REMEDY}", student, graded=True, late=True)
        if when.problem:
            reason = f"{when.problem}, so it counts as in time; {when.remedy} and grade again"
            self.list_entry(entry, reason, student, graded=True)
        if not source.strip():
            self.list_entry(entry, "empty", student, graded=True)
        elif self.names and not any(name.encode() in source for name in self.names):
            other = f"holds no name that {self.module} asks for; is it another problem set's?"
            self.list_entry(entry, other, student, graded=True)
        for _, file in handed.files:
            if file is not entry and not _stays(handed):
                self.list_entry(file, f"beside the answer of {student}; not graded", student)

    def _why_no_answer(self, claim: _Claim) -> str:
        """What was found instead, and what to do."""
        files = claim.handed.files
        wanted = f"neither {self.module}.py nor {self.module}.ipynb is in it"
        hint = f"; {claim.handed.hint}" if claim.handed.hint else ""
        pattern = answer_pattern(self.module)
        deep = [shown("/".join(parts)) for parts, _ in files if len(parts) > 1 and pattern.fullmatch(parts[-1])]
        if deep:
            return f"{wanted}, but {', '.join(deep[:SHOWN])} is; move it up to the top of the folder{hint}"
        others = [shown("/".join(parts)) for parts, _ in files]
        answers = [suffix for parts, _ in files if (suffix := Path(parts[-1]).suffix.lower()) in FORMS_OF_ANSWERS]
        if len(answers) == 1 and claim.student and not hint:
            hint = f"; if that is the answer, save it as {claim.student}{answers[0]} and grade that file"
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        listed = f", only {', '.join(others[:SHOWN])}{more}" if others else ""
        return f"{wanted}{listed}; one is needed{hint}"

    def _why_nobodys(self, claim: _Claim) -> str:
        """Why nobody can tell whose it is, and what to do."""
        keys = ", ".join(map(shown, claim.handed.keys)) or "no id at all"
        column = claim.handed.platform or "student"
        if self.roster is None:
            return f"only a roster can tell whose it is: {keys}; write it into roster.csv, column `{column}`"
        if claim.students:
            students = " or ".join(claim.students)
            return f"may be of {students}: {keys}; give each an id of their own in roster.csv, column `{column}`"
        return f"not in the roster: {keys}; add it to the column `{column}`"

    def _list(self, claim: _Claim, reason: str) -> None:
        """List what a student handed in, file by file; a student's own folder on disk as the folder that it is."""
        handed = claim.handed
        if handed.files and not _stays(handed):
            for _, entry in handed.files:
                self.list_entry(entry, reason, claim.student)
        else:
            self.listed.append(Unreadable(handed.name, reason, student=claim.student))


def _stays(handed: Handed) -> bool:
    """Whether it is a folder that somebody made for one student; what else lies in it is nobody's concern."""
    return handed.folder is not None
