"""What one student handed in at one time, whatever the form; each module of `forms/` makes these of a platform's files."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.intake.entries import Entry, Parts
from autograder.intake.moments import UNKNOWN, When
from autograder.intake.submission import FORMS


@dataclass
class Handed:
    """What one student handed in at one time: files by their place in it, and who the platform says it was.

    `keys` are the platform's names and ids of the student; with `cleaned`, the platform has taken letters out of them.
    `own_ids` are names that a person gave after the course's own ids. `alone` is the student where there is no roster,
    `None` if only a roster can tell. `when` tells the time of a file, in a course's zone. `folder` is the folder on disk
    that was made for this submission, or student, alone. `assignment` is what the platform calls the problem set. `hint` is
    what else it may be, if there is no answer in it. `is_whole` says whether all of it has arrived, as far as the platform
    shows that; `feedback` gives the name of the file that the student fetches feedback on an answer from, empty if the
    platform has none.
    """

    name: str
    keys: list[str]
    platform: str = ""
    alone: str | None = None
    own_ids: list[str] = field(default_factory=list)
    cleaned: bool = False
    files: list[tuple[Parts, Entry]] = field(default_factory=list)
    when: Callable[[Parts, datetime.tzinfo], When] = lambda parts, zone: UNKNOWN
    remark: str = ""
    late: bool = False
    history: bool = False  # whether the platform gives several attempts of one student
    first_sight: bool = False  # whether the time that counts is that at which the course first sees it
    any_name: bool = False  # whether the only .py or .ipynb file is the answer, whatever its name
    folder: Path | None = None
    hint: str = ""
    assignment: str = ""
    is_whole: Callable[[], bool] = lambda: True
    feedback: Callable[[Parts], str] = lambda parts: ""

    @property
    def stamp(self) -> tuple[object, ...]:
        """Changes when one of its files does."""
        return tuple((parts, entry.stamp) for parts, entry in self.files)

    @property
    def path(self) -> Path | None:
        """The path of its folder, or of one of its files, if it lies on disk."""
        return self.folder or next((entry.path for _, entry in self.files), None)


@dataclass
class Sorted:
    """The entries of a place: what was handed in, and what is none of it, with the reason."""

    handed: list[Handed] = field(default_factory=list)
    strays: list[tuple[Entry, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Form:
    """The form in which a platform gives submissions: one module of `forms/`, which calls it `FORM`.

    `count` is how many submissions these entries hold by names that the platform itself wrote, 0 if they are not in this
    form; `sort` sorts them by who handed them in. `wrapper` is what the platform calls the folder that it puts around all.
    """

    name: str
    label: str
    count: Callable[[Sequence[Entry]], int]
    sort: Callable[[Sequence[Entry]], Sorted]
    wrapper: re.Pattern[str] | None = None


def answer_pattern(module: str) -> re.Pattern[str]:
    """What an answer may be called: `ps1.py`, also in upper case, and with the `-1` or `(1)` of a second file."""
    return re.compile(rf"{re.escape(module)}(?:-[0-9]{{1,3}}| ?\([0-9]{{1,3}}\))?(\.py|\.ipynb)", re.IGNORECASE)


def answers(handed: Handed, module: str) -> list[tuple[Parts, str, Entry]]:
    """The files that can be the answer to a problem set, with their form: `ps1.py`, or else `ps1/ps1.py`.

    Where the platform lets students hand in under any name, the only file of a form that can be graded is the answer too.
    """
    pattern = answer_pattern(module)
    candidates = [
        (parts, match[1].lower(), entry) for parts, entry in handed.files if (match := pattern.fullmatch(parts[-1]))
    ]
    candidates.sort(key=lambda item: (item[1] != ".py", item[0]))
    here = [item for item in candidates if len(item[0]) == 1]
    named = here or [item for item in candidates if len(item[0]) == 2 and item[0][0] == module]
    if named or not handed.any_name:
        return named
    return [(parts, form, entry) for parts, entry in handed.files if (form := Path(parts[-1]).suffix) in FORMS]
