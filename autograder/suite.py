"""A problem set's own files as Python: its tests in pytest, checked against `assignment.yml`, and its modules."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

import pytest

from autograder.course import CourseError, ProblemSet
from autograder.testing.bench import missing_requirements
from autograder.testing.marks import Graded, graded_mark
from autograder.text import one_line


def import_file(path: Path) -> ModuleType:
    """Import one of the course's own files under its dotted name, so that it can import its neighbours."""
    name = (
        ".".join([*path.parts[-2:-1], path.stem])
        if path.parent.name == "solutions"
        else f"_course_{path.parent.name}_{path.stem}"
    )
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(path):
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CourseError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def broken_file(error: BaseException, root: Path) -> str:
    """One line on why a file of the course cannot be imported: which, where in it, and what is wrong."""
    cause = error.__cause__ or error  # pytest wraps some errors
    if isinstance(cause, SyntaxError) and cause.filename:
        return f"{cause.filename}:{cause.lineno}: {type(cause).__name__}: {cause.msg}"
    own = [frame for frame in traceback.extract_tb(cause.__traceback__) if Path(frame.filename).is_relative_to(root)]
    place = f"{own[-1].filename}:{own[-1].lineno}: " if own else ""
    return f"{place}{type(cause).__name__}: {one_line(str(cause), 500)}"


def pytest_options(problem_set: ProblemSet) -> list[str]:
    """What pytest is started with: the two test files, and none of the machinery that grading does not need."""
    off = ("cacheprovider", "warnings", "logging", "doctest", "unittest")
    return [
        "-q",
        "-s",
        "--import-mode=importlib",
        "--noconftest",
        f"--rootdir={problem_set.folder}",
        f"-c{os.devnull}",
        *(f"-pno:{name}" for name in off),
        *map(str, problem_set.test_files),
    ]


def mark_of(item: pytest.Item) -> Graded:
    """The mark of a test that `authoring_problems` found nothing wrong with."""
    mark = graded_mark(item)
    assert mark is not None, f"{item.nodeid} has no @graded mark"
    return mark


def authoring_problems(problem_set: ProblemSet, items: list[pytest.Item]) -> list[str]:
    """What is wrong between tests and `assignment.yml`, each a sentence; empty when they agree."""
    problems = []
    questions = {question.id: question for question in problem_set.assignment.questions}
    earned = dict.fromkeys(questions, 0.0)
    seen: set[str] = set()
    for item in items:
        mark = graded_mark(item)
        if item.name in seen:
            problems.append(f"{item.nodeid}: another test has this name too; outcomes are told apart by name")
        seen.add(item.name)
        if mark is None:
            problems.append(f"{item.nodeid} has no @graded mark")
        elif mark.question not in questions:
            problems.append(f"{item.nodeid} grades {mark.question!r}, which is not a question of assignment.yml")
        else:
            earned[mark.question] += mark.points
    for name, question in questions.items():
        if question.kind in ("written", "prediction"):
            if earned[name]:
                who = "a person" if question.kind == "written" else "its form"
                problems.append(f"{name} is graded by {who}, but tests give it {earned[name]:g} points")
        elif abs(earned[name] - question.points) > 1e-9:
            problems.append(
                f"{problem_set.folder / 'assignment.yml'}: {name}: points: is {question.points:g}, "
                f"but its tests add up to {earned[name]:g}"
            )
    return problems + missing_requirements(items)
