"""A grading worker: one pytest session that collects a problem set's tests once and runs them for submission after
submission, each in a guest of its own.

Started by `run` as `python -m autograder.worker ROOT SLUG FD CONDITIONS`, where CONDITIONS are `run.Conditions` as JSON.
Over the connection FD it says that it is ready, or what failed, then takes pairs of messages, a `run.Task` as a JSON object
and the submission's bytes, and answers each with a record as JSON.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import itertools
import json
import os
import platform
import sys
import time
import traceback
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from _pytest.runner import runtestprotocol

import autograder
from autograder import scoring, variants
from autograder.course import Course, CourseError, ProblemSet, load_course
from autograder.guest import confine
from autograder.intake import Submission
from autograder.rehearsal import Rehearsed, rehearse
from autograder.runtime.figures import FigureView
from autograder.runtime.loading import Report
from autograder.sandbox.backends import SandboxError
from autograder.sandbox.guest import Opening, open_zygote
from autograder.sandbox.runner import GuestRunner
from autograder.sandbox.zygote import Zygote
from autograder.slips import SlipFinder
from autograder.testing.bench import FAILED, FAULT, Bench, Outcome, is_hidden, missing_requirements
from autograder.testing.forms import prediction_outcome
from autograder.testing.marks import Graded, graded_mark
from autograder.testing.student import Call, StudentError


class GradingBench(Bench):
    """The bench of a grading run: hidden tests, the reference, and submissions from a connection."""

    def __init__(self, course: Course, problem_set: ProblemSet, connection: Connection, opening: Opening) -> None:
        super().__init__(course.ledger, problem_set.assignment.seed)
        self.opening = opening
        self.problem_set = problem_set
        self.connection = connection
        self.solution = import_file(problem_set.solution)
        self.asked = {name for question in problem_set.assignment.questions for name in question.names}
        self.suite = problem_set.suite_hash()
        mutants_path = problem_set.folder / "mutants.py"
        mutants = variants.declared_in(import_file(mutants_path)) if mutants_path.exists() else []
        first_names = {question.id: question.names[0] for question in problem_set.assignment.questions}
        self.slips = SlipFinder(mutants, self.solution, first_names)
        self.calls: dict[str, list[Call]] = {}
        self.candidates: dict[str, list[variants.Variant]] = {}
        self.figures: dict[str, FigureView] = {}
        self.zygote: Zygote | None = None
        self.rehearsed = Rehearsed()

    @pytest.fixture
    def reference(self) -> ModuleType:
        """The reference solution."""
        return self.solution

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        problems = authoring_problems(self.problem_set, items)
        if problems:
            raise pytest.UsageError("\n".join(problems))
        # All public tests first: what a submission prints before it has seen a hidden input may be shown to its author.
        order = [question.id for question in self.problem_set.assignment.questions]
        items.sort(key=lambda item: (is_hidden(item), order.index(_mark(item).question)))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted(f"{session.testsfailed} errors during collection")
        self.rehearsed = rehearse(self, session.items, self.solution, self.asked, self.call_seconds)
        # What is loaded by now stays, and need not be looked at when a submission is cleared away.
        gc.collect()
        gc.freeze()
        try:
            self.zygote = self.opening.wait()
        except SandboxError as error:
            # Without a sandbox there is nothing to grade with, whatever the submission.
            self.connection.send_bytes(json.dumps({"failed": str(error)}).encode())
            return True
        self.connection.send_bytes(json.dumps({"ready": len(session.items), "unsound": self.rehearsed.unsound}).encode())
        while True:
            try:
                task = json.loads(self.connection.recv_bytes())
                source = self.connection.recv_bytes()
            except EOFError:
                break
            submission = Submission(task["student"], task["filename"], source)
            by_name = {item.name: item for item in session.items}
            items = session.items if task["tests"] is None else [by_name[name] for name in task["tests"] if name in by_name]
            record = self.grade(submission, items, first_failure=task["first_failure"])
            self.connection.send_bytes(json.dumps(record).encode("utf-8", "backslashreplace"))
        if self.zygote:
            self.zygote.close()
        return True

    def grade(self, submission: Submission, items: list[pytest.Item], *, first_failure: bool = False) -> dict[str, Any]:
        """Grade one submission, with `first_failure` only up to it; the record says so if the grader was at fault."""
        started, begun = time.time(), time.perf_counter()
        self.outcomes.clear()
        self.calls.clear()
        self.candidates.clear()
        self.figures.clear()
        # Exceptions of the last submission hold its answers, up to megabytes, in cycles.
        gc.collect()
        answers: dict[str, str] = {}
        predictions: list[Outcome] = []
        slips: dict[str, variants.Variant] = {}
        fault = shown = staff_only = backend = ""
        peak_memory = 0
        report: Report = {"problems": [], "names": []}
        try:
            if self.zygote is None:
                self.zygote = open_zygote(self.opening.backend)
            backend = self.zygote.backend
            with GuestRunner(
                self.zygote, submission.filename, submission.source, self.problem_set.limits, self.asked
            ) as runner:
                self.runner = runner
                runner.load()
                answers = self.written_answers(runner)
                predictions = self.predictions(runner)
                shown = self.run_tests(runner, items, first_failure=first_failure)
                report = runner.report
                staff_only = runner.output[len(shown) :]
            peak_memory = runner.peak_memory
            slips = self.likely_slips()
        except SandboxError as error:
            fault = str(error)
        except Exception:
            fault = traceback.format_exc(limit=-4)
        broken = fault or any(outcome.status == FAULT for outcome in self.outcomes.values())
        if broken and self.zygote is not None:
            self.zygote.close()
            self.zygote = None
        return scoring.record(
            self.problem_set,
            [*predictions, *(self.outcomes[item.name] for item in items if item.name in self.outcomes)],
            slips=slips,
            answers=answers,
            figures=self.figures,
            report=report,
            output=shown,
            staff_output=staff_only,
            fault=fault,
            peak_memory=peak_memory,
            provenance={
                "student": submission.student,
                "problem_set": self.problem_set.slug,
                "version": self.problem_set.assignment.version,
                "filename": submission.filename,
                "submission": submission.sha256,
                "suite": self.suite,
                "engine": autograder.__version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "backend": backend,
                "seed": self.seed,
            },
            started=started,
            seconds=time.perf_counter() - begun,
        )

    def call_seconds(self, item: pytest.Item) -> float:
        """CPU time that a call of a test may take."""
        return self.problem_set.call_seconds(_mark(item).question)

    def run_tests(self, runner: GuestRunner, items: list[pytest.Item], *, first_failure: bool) -> str:
        """Run the tests, and return what the submission had printed before the first hidden input reached it."""
        shown = runner.output
        for hidden, group in itertools.groupby(items, is_hidden):
            together = list(group)
            runner.ask_ahead(ask for item in together for ask in self.rehearsed.asks[item.name])
            for item in together:
                runner.call_seconds = self.call_seconds(item)
                self.run_test(item)
                outcome = self.outcomes[item.name]
                ahead = sum(runner.spent_ahead.get(ask.question, 0.0) for ask in self.rehearsed.asks[item.name])
                self.outcomes[item.name] = replace(outcome, seconds=round(outcome.seconds + ahead, 6))
                # After a fault nothing will be scored, and the sandbox may be gone.
                if outcome.status == FAULT or (first_failure and outcome.status == FAILED):
                    return shown
                if not hidden:
                    shown = runner.output
        return shown

    def run_test(self, item: pytest.Item) -> None:
        """Run one test and note what explains it if it fails."""
        runtestprotocol(item, nextitem=None, log=False)
        outcome = self.outcomes[item.name]
        calls: list[Call] = self.current.calls if self.current is not None else []
        self.calls.setdefault(outcome.question, []).extend(calls)
        if not outcome.hidden:
            for view in (call.value for call in calls if isinstance(call.value, FigureView)):
                self.figures.setdefault(outcome.question, view)
        if outcome.status == FAILED:
            candidates = self.slips.candidates(outcome.question, calls)
            if candidates:
                self.candidates[item.name] = candidates

    def likely_slips(self) -> dict[str, variants.Variant]:
        """The likely slip behind each failed test that has one, by the test's name."""
        return {
            test: self.slips.likeliest(found, self.calls[self.outcomes[test].question])
            for test, found in self.candidates.items()
        }

    def written_answers(self, runner: GuestRunner) -> dict[str, str]:
        """The texts that a person will grade, by question."""
        answers = {}
        for question in self.problem_set.assignment.questions:
            if question.kind == "written":
                try:
                    value = runner.read(question.names[0])
                except StudentError:
                    value = None
                answers[question.id] = value[:20_000] if isinstance(value, str) else ""
        return answers

    def predictions(self, runner: GuestRunner) -> list[Outcome]:
        """What the submission predicted, which earns points whatever it says."""
        return [
            prediction_outcome(question.id, question.names[0], question.choices(question.names[0]), question.points, runner)
            for question in self.problem_set.assignment.questions
            if question.kind == "prediction"
        ]


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
            problems.append(f"{item.nodeid} grades {mark.question!r}, which is no question of assignment.yml")
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


def _mark(item: pytest.Item) -> Graded:
    mark = graded_mark(item)
    assert mark is not None, f"{item.nodeid} has no @graded mark"
    return mark


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


def main() -> int:
    root, slug, descriptor, conditions = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
    # Between submissions its closed connection ends a worker; this ends it in the midst of one.
    confine.die_with_parent()
    # First, for it takes a second.
    opening = Opening(conditions["backend"] or None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    # The course's own files import each other as `solutions.…`, wherever the grader was started.
    sys.path.insert(0, str(root))
    course = load_course(root)
    problem_set = course.problem_set(slug).at_share(conditions["share"])
    bench = GradingBench(course, problem_set, Connection(descriptor), opening)
    return int(pytest.main(pytest_options(problem_set), plugins=[bench]))


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
        *(str(problem_set.folder / name) for name in ("test_public.py", "test_hidden.py")),
    ]


if __name__ == "__main__":
    sys.exit(main())
