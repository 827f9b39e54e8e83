"""What the intake gives: submissions, and what a person should look at."""

from __future__ import annotations

import datetime
import hashlib
from dataclasses import dataclass, field

FORMS = (".py", ".ipynb")


@dataclass(frozen=True)
class Submission:
    """One student's file. `filename` tells its form; `source` is its bytes as they were handed in.

    `submitted` is the time the platform gives, `None` if it gives none; `origin` says where the file came from, for people.
    With `first_sight`, the time is that at which the journal first sees these bytes from this origin. `feedback` is the file
    that the platform fetches feedback from, if it has one.
    """

    student: str
    filename: str
    source: bytes
    submitted: datetime.datetime | None = None
    origin: str = field(default="", compare=False)
    first_sight: bool = False
    feedback: str = field(default="", compare=False)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(f"{self.filename}\n".encode() + self.source).hexdigest()


@dataclass(frozen=True)
class Unreadable:
    """Something that was handed in and needs a person: the name as it was found, and why, with the remedy.

    `student` is whose it is by the course's own ids, empty where that is not known. `content` is its bytes where they could
    be read safely. `graded` marks what is a submission all the same, such as an empty file; `late` one that its
    platform marks late without saying when it was handed in.
    """

    name: str
    reason: str
    content: bytes | None = field(default=None, compare=False, repr=False)
    graded: bool = field(default=False, compare=False)
    student: str = field(default="", compare=False)
    late: bool = field(default=False, compare=False)
