"""The public tests as they run on a student's laptop: their marks, and what frequent slips answer to their calls."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder import variants
from autograder.course import Course, CourseError, ProblemSet
from autograder.runtime.figures import FigureView
from autograder.slips import SlipFinder
from autograder.suite import broken_file, import_file
from autograder.testing.bench import seeded
from autograder.testing.computed import arguments
from autograder.testing.evidence import answer_digest, are_specific, call_key, takes_functions
from autograder.testing.marks import Graded
from autograder.testing.student import Call, LocalRunner, Student


def public_tests(problem_set: ProblemSet) -> Iterator[tuple[Callable[..., None], Graded]]:
    """The functions of `test_public.py` that are tests, each with its mark."""
    for _, test in inspect.getmembers(_module(problem_set.folder / "test_public.py"), inspect.isfunction):
        for marker in getattr(test, "pytestmark", []):
            if marker.name == "graded":
                yield test, marker.args[0]


def known_slips(course: Course, problem_set: ProblemSet) -> dict[str, list[dict[str, Any]]]:
    """What `kit.known_slips` looks for, by question: the digests of a mutant's wrong answers to public calls, and its hint.

    Of code questions only, for whether a choice is right may not follow from what is released. A mutant is left out where
    its wrong answers are not specific: these could be found by trying. Raises `CourseError` if a file cannot be imported.
    """
    mutants = problem_set.folder / "mutants.py"
    if not mutants.is_file():
        return {}
    sources = (problem_set.solution, problem_set.folder / "test_public.py", mutants, problem_set.ledger_path)
    changed = tuple((path, path.stat().st_mtime_ns) for path in sources)
    if changed not in _KNOWN:
        # Kept, because mutants may compute for seconds.
        _KNOWN[changed] = _slips(course, problem_set, mutants)
    return _KNOWN[changed]


_KNOWN: dict[tuple[tuple[Path, int], ...], dict[str, list[dict[str, Any]]]] = {}


def _slips(course: Course, problem_set: ProblemSet, mutants: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        reference = import_file(problem_set.solution)
        declared = variants.declared_in(import_file(mutants))
    except Exception as error:
        raise CourseError(broken_file(error, course.root)) from None
    finder = SlipFinder(declared, reference, {})
    calls = _calls(course, problem_set, reference)
    slips: dict[str, list[dict[str, Any]]] = {}
    kinds = {question.id: question.kind for question in problem_set.assignment.questions}
    for mutant in declared:
        if kinds.get(mutant.question) == "code":
            name = mutant.replaces or problem_set.question(mutant.question).names[0]
            own = [call for call in calls.get(mutant.question, []) if call.name == name]
            answers = [_answered(call, finder.answer(call, mutant)) for call in own]
            # Calls are the reference's own, so they hold its answers.
            right = {call_key(call): answer_digest(call) for call in own}
            wrong = [answer for answer in answers if answer_digest(answer) != right[call_key(answer)]]
            if are_specific(wrong):
                digests = {call_key(answer): answer_digest(answer) for answer in wrong}
                slips.setdefault(mutant.question, []).append({"name": name, "hint": mutant.hint, "wrong": digests})
    return slips


def _answered(call: Call, answer: Call) -> Call:
    return replace(answer, args=call.args, kwargs=call.kwargs)


def _calls(course: Course, problem_set: ProblemSet, reference: ModuleType) -> dict[str, list[Call]]:
    """What the public tests ask of the reference, by question.

    Left out are calls that take long or take functions, and figures: their description depends on matplotlib's version.
    """
    calls: dict[str, list[Call]] = {}
    generators = functools.partial(seeded, problem_set.assignment.seed)
    for test, mark in public_tests(problem_set):
        student = Student(LocalRunner(vars(reference), {"names": list(vars(reference))}))
        with contextlib.suppress(Exception):  # what the reference fails, the gate says
            test(**arguments(test, {"student": student, "ledger": course.ledger}, generators))
        calls.setdefault(mark.question, []).extend(
            call
            for call in student.calls
            if not call.once and not takes_functions(call) and not isinstance(call.value, FigureView)
        )
    return calls


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"_public_{path.parent.name}", path)
    if spec is None or spec.loader is None:
        raise CourseError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise CourseError(f"{path} cannot be imported: {type(error).__name__}: {error}") from None
    return module
