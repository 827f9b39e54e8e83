"""Find the submissions in a folder. Nothing in it is run or parsed; what is not understood is listed, never dropped."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

STUDENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
FORMS = (".py", ".ipynb")
MAX_BYTES = 20 * 2**20
IGNORED = {"README.md"}


@dataclass(frozen=True)
class Submission:
    """One student's file. `filename` tells its form; `source` is its bytes as they were handed in."""

    student: str
    filename: str
    source: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(f"{self.filename}\n".encode() + self.source).hexdigest()


@dataclass(frozen=True)
class Unreadable:
    """Something in the folder that is no submission, and why; a person should look at it."""

    name: str
    reason: str


def find_submissions(place: Path, module: str) -> tuple[list[Submission], list[Unreadable]]:
    """The submissions in `place`, sorted by student, and all that is not one.

    `place` is a file, or a folder with one file (`s001.py`, `s001.ipynb`) or one folder (`s001/ps1.py`) a student.
    Raises `FileNotFoundError` if it does not exist.
    """
    if not place.exists():
        raise FileNotFoundError(f"{place} does not exist")
    entries = [place] if place.is_file() else sorted(place.iterdir())
    found: dict[str, Submission] = {}
    problems: list[Unreadable] = []
    for entry in entries:
        if entry.name.startswith(".") or entry.name in IGNORED or entry.name == "__pycache__":
            continue
        try:
            result = _read_entry(entry, module)
        except OSError as error:
            result = Unreadable(repr(entry.name)[1:-1], f"cannot be read: {error.strerror}")
        if isinstance(result, Unreadable):
            problems.append(result)
        elif result.student in found:
            problems.append(Unreadable(entry.name, f"a second submission of {result.student}; keep one of them"))
        else:
            found[result.student] = result
    return [found[student] for student in sorted(found)], problems


def _read_entry(entry: Path, module: str) -> Submission | Unreadable:
    # The name goes into paths and onto terminals, so only plain ids pass; repr shows what a terminal should not obey.
    student = entry.stem if entry.suffix in FORMS else entry.name
    shown = repr(entry.name)[1:-1]
    if entry.is_symlink():
        return Unreadable(shown, "a link; links are not followed")
    if not STUDENT_ID.fullmatch(student):
        return Unreadable(shown, "the name is no student id (letters, digits, - and _)")
    file = entry
    if entry.is_dir():
        files = [entry / f"{module}{form}" for form in FORMS if (entry / f"{module}{form}").is_file()]
        if len(files) != 1:
            what = f"neither {module}.py nor" if not files else f"both {module}.py and"
            return Unreadable(shown, f"{what} {module}.ipynb is in the folder; one is needed")
        file = files[0]
        if file.is_symlink():
            return Unreadable(shown, "a link; links are not followed")
    elif entry.suffix not in FORMS or not entry.is_file():
        return Unreadable(shown, "neither a .py nor an .ipynb file nor a folder")
    if file.stat().st_size > MAX_BYTES:
        return Unreadable(shown, f"larger than {MAX_BYTES // 2**20} MB")
    return Submission(student, f"{module}{file.suffix}", file.read_bytes())
