"""Files and folders that a person named after students: `s001.py`, `s001/ps1.py`, nbgrader's `submitted/`, and clones."""

from __future__ import annotations

import datetime
import functools
import os
from collections.abc import Sequence
from pathlib import Path

from autograder.intake.clones import TimeUnknown, commit_time
from autograder.intake.entries import Entry, Parts, shown
from autograder.intake.handed import Handed, Sorted, answer_pattern
from autograder.intake.moments import MAX_TEXT, UNKNOWN, When, read_moment
from autograder.intake.submission import FORMS
from autograder.schema import ID_RULE, STUDENT_ID


def is_ones_own(entries: Sequence[Entry], module: str, *, is_repository: bool = False) -> bool:
    """Whether these are what one student handed in: `ps1.py` or `ps1/ps1.py`, and nothing that may be named after a student.

    In a repository its owner chose the other names.
    """
    answer = answer_pattern(module)

    def is_answer(parts: Parts) -> bool:
        inner = parts[1:] if parts[:1] == (module,) and len(parts) == 2 else parts
        return len(inner) == 1 and answer.fullmatch(inner[0]) is not None

    def is_students(entry: Entry) -> bool:
        alone = len(entry.parts) == 1 and not entry.folder
        return Path(entry.parts[0]).suffix in FORMS if alone else is_answer(entry.parts[1:])

    answers = [entry for entry in entries if is_answer(entry.parts)]
    others = [entry for entry in entries if entry not in answers]
    return bool(answers) and (is_repository or not any(map(is_students, others)))


def sort_by_student(entries: Sequence[Entry], module: str, hint: str) -> Sorted:
    """A file or a folder a student, named by the student's id."""
    result = Sorted()
    folders: dict[str, Handed] = {}
    for entry in entries:
        name = entry.parts[0]
        alone = len(entry.parts) == 1 and not entry.folder
        form = Path(name).suffix
        student = name.removesuffix(form) if alone and form in FORMS else name
        if reason := _objection(entry, student, form, module, alone=alone):
            result.strays.append((entry, reason))
        elif alone:
            handed = Handed(shown(name), [student], alone=student, own_ids=[student])
            handed.files = [((f"{module}{form}",), entry)]
            result.handed.append(handed)
        else:
            if name not in folders:
                folders[name] = Handed(shown(name), [student], alone=student, own_ids=[student], hint=hint)
                result.handed.append(folders[name])
            inner = entry.parts[1:]
            if entry.path and folders[name].folder is None:
                folders[name].folder = entry.path.parents[len(inner) - 1] if inner else entry.path
            if not entry.folder:
                folders[name].files.append((inner, entry))
    for handed in folders.values():
        _look_closer(handed, module)
    return result


def _objection(entry: Entry, student: str, form: str, module: str, *, alone: bool) -> str:
    """Why a file or folder is nobody's, empty if it may be somebody's."""
    if alone and entry.refusal:
        return entry.refusal
    if (alone and answer_pattern(module).fullmatch(entry.parts[0])) or (student == module and len(entry.parts) > 1):
        return "named after the problem set, so nobody can tell whose it is; put it into a folder named after its student"
    if not STUDENT_ID.fullmatch(student):
        return f"the name is not a student id; {ID_RULE}"
    if alone and form not in FORMS:
        return "neither a .py nor an .ipynb file nor a folder"
    return ""


def _look_closer(handed: Handed, module: str) -> None:
    """Find out whether a folder is a clone, which may be named after an account; clones and nbgrader's tree tell times."""
    repository = handed.folder / ".git" if handed.folder else None
    if handed.folder and repository and (repository.is_symlink() or repository.exists()):
        handed.platform = "github"
        handed.keys = list(dict.fromkeys([*handed.keys, handed.keys[0].removeprefix(f"{module}-")]))
        handed.when = functools.partial(_commit_time, handed.folder)
        lock = repository / "index.lock"  # which git holds while it changes files
        handed.is_whole = lambda: not os.path.lexists(lock)
    else:
        handed.when = functools.partial(_timestamp, handed)


def _commit_time(folder: Path, parts: Parts, zone: datetime.tzinfo) -> When:
    remark = "time of the last commit, which its author sets"
    try:
        return When(commit_time(folder, "/".join(parts)), remark)
    except TimeUnknown as error:
        return When(problem=error.problem, remedy=error.remedy)


def _timestamp(handed: Handed, parts: Parts, zone: datetime.tzinfo) -> When:
    entry = next((entry for other, entry in handed.files if other == (parts[0], "timestamp.txt")), None)
    if entry is None or len(parts) != 2:  # nbgrader's tree; anywhere else the file would be one that was handed in
        return UNKNOWN
    text = (entry.kept() or b"")[: MAX_TEXT + 1].decode("utf-8", "replace").strip()
    moment = read_moment(text, zone)
    if moment is None:
        problem = f"the time in timestamp.txt, `{shown(text)}`, cannot be read"
        return When(problem=problem, remedy="write it there in the form 2026-09-20 12:00:00 UTC")
    return When(moment, "time of timestamp.txt, which its author's computer writes")
