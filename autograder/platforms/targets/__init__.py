"""The platforms that a problem set can be released to. Each is a module here that defines `release_files`, and is found by
being here.

`release_files(course, problem_set)` returns the files of the release by path, and raises `CourseError` with the reason if
there can be none. A module is imported only when it is asked for, because its platform may not be installed.
"""

from __future__ import annotations

import importlib
import pkgutil

from autograder.course import Course, ProblemSet

NAMES = tuple(info.name for info in pkgutil.iter_modules(__path__))


def release_files(platform: str, course: Course, problem_set: ProblemSet) -> dict[str, bytes]:
    """The files of a release for `platform`, one of `NAMES`, by path. The same sources give the same bytes."""
    files: dict[str, bytes] = importlib.import_module(f"{__name__}.{platform}").release_files(course, problem_set)
    return files
