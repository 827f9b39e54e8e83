"""A grading worker: one pytest session that collects a problem set's tests once and runs them for submission after
submission, each in a guest of its own.

Started by `run` as `python -m autograder.worker ROOT SLUG FD CONDITIONS`. Over the connection FD it takes and gives what
`messages` describes.
"""

from __future__ import annotations

import datetime
import gc
import os
import sys
import time
import traceback
from collections.abc import Generator
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from autograder import scoring, variants
from autograder.allowance import TEST_SECONDS, allowance, memory_of_a_test
from autograder.backends import SandboxError
from autograder.course import Course, ProblemSet, load_course
from autograder.essays import EssayFinder
from autograder.follow_through import follow_through
from autograder.grading import Grading
from autograder.guest import confine
from autograder.intake import Submission
from autograder.messages import CannotGrade, Graded, Ready, load_conditions, receive_task, send_reply
from autograder.record import Record
from autograder.rehearsal import Rehearsed, rehearse, rehearse_to_the_end
from autograder.sandbox.guest import Opening, open_zygote
from autograder.sandbox.runner import GuestRunner
from autograder.sandbox.zygote import Zygote
from autograder.slips import SlipFinder
from autograder.suite import authoring_problems, broken_file, import_file, mark_of, pytest_options
from autograder.suite_hash import suite_hash
from autograder.testing.bench import Bench, Trial, is_hidden, keyed


class GradingBench(Bench):
    """The bench of a grading run: hidden tests, the reference, and submissions from a connection."""

    def __init__(self, course: Course, problem_set: ProblemSet, connection: Connection, opening: Opening) -> None:
        super().__init__(course.ledger, problem_set.assignment.seed)
        self.root = course.root
        self.broken: list[str] = []
        self.opening = opening
        self.problem_set = problem_set
        self.connection = connection
        self.solution = import_file(problem_set.solution)
        self.asked = {name for question in problem_set.assignment.questions for name in question.names}
        self.suite = suite_hash(problem_set)
        self.key = problem_set.key
        self.memory_bytes = memory_of_a_test(problem_set.limits.message_bytes)
        mutants_path = problem_set.folder / "mutants.py"
        mutants = variants.declared_in(import_file(mutants_path)) if mutants_path.exists() else []
        first_names = {question.id: question.names[0] for question in problem_set.assignment.questions}
        self.slip_finder = SlipFinder(mutants, self.solution, first_names)
        self.essay_finder = EssayFinder(problem_set)
        self.zygote: Zygote | None = None
        self.rehearsed = Rehearsed()

    @pytest.fixture
    def reference(self) -> ModuleType:
        """The reference solution."""
        return self.solution

    def generator(self, name: str, hidden: bool) -> np.random.Generator:
        """Public tests draw as they do at home, hidden ones from the course's secret."""
        return keyed(self.key.value, name) if hidden else super().generator(name, hidden)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self) -> Generator[None, object, object]:
        """Bound what a test's own code may use of this process."""
        with allowance(self.memory_bytes):
            return (yield from super().pytest_pyfunc_call())

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.broken:
            return  # what is missing for it says nothing new
        problems = authoring_problems(self.problem_set, items)
        if problems:
            raise pytest.UsageError("\n".join(problems))
        # All public tests first: what a submission prints before it has seen a hidden input may be shown to its author.
        order = [question.id for question in self.problem_set.assignment.questions]
        items.sort(key=lambda item: (is_hidden(item), order.index(mark_of(item).question)))

    def pytest_exception_interact(self, call: pytest.CallInfo[object], report: object) -> None:
        if isinstance(report, pytest.CollectReport) and call.excinfo is not None:
            self.broken.append(broken_file(call.excinfo.value, self.root))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            send_reply(self.connection, CannotGrade("\n".join(self.broken)))
            return True
        self.rehearse(session.items)
        try:
            self.zygote = self.opening.wait()
        except SandboxError as error:
            # Without a sandbox there is nothing to grade with, whatever the submission.
            send_reply(self.connection, CannotGrade(str(error)))
            return True
        send_reply(self.connection, Ready(self.rehearsed.unsound, self.suite))
        by_name = {item.name: item for item in session.items}
        while task := receive_task(self.connection):
            items = session.items if task.tests is None else [by_name[name] for name in task.tests if name in by_name]
            record = self.grade(task.submission, items, first_failure=task.first_failure)
            send_reply(self.connection, Graded(record))
        if self.zygote:
            self.zygote.close()
        return True

    def rehearse(self, items: list[pytest.Item]) -> None:
        """Learn from the reference what the tests do."""
        self.rehearsed = rehearse(self, items, self.solution, self.asked, self.call_seconds)
        # What is loaded by now stays, and need not be looked at when a submission is cleared away.
        gc.collect()
        gc.freeze()

    def call_seconds(self, item: pytest.Item) -> float:
        """CPU time that a call of a test may take."""
        return self.problem_set.call_seconds(mark_of(item).question)

    def grade(self, submission: Submission, items: list[pytest.Item], *, first_failure: bool = False) -> Record:
        """Grade one submission, with `first_failure` only up to it; the record says so if the grader was at fault."""
        started, begun = datetime.datetime.now(datetime.UTC), time.perf_counter()
        # Exceptions of the last submission hold its answers, up to megabytes, in cycles.
        self.trial = None
        gc.collect()
        findings, fault, backend = scoring.Findings(), "", ""
        try:
            if self.zygote is None:
                self.zygote = open_zygote(self.opening.backend)
            backend = self.zygote.backend
            with GuestRunner(
                self.zygote, submission.filename, submission.source, self.problem_set.limits, self.asked
            ) as runner:
                self.trial = grading = Grading(
                    submission,
                    runner,
                    self.problem_set,
                    self.rehearsed,
                    self.slip_finder,
                    self.essay_finder,
                    self.memory_bytes,
                )
                breaches = grading.run(items, first_failure=first_failure)
            for item in breaches:
                grading.decide(item, self.reference_stays_within(item))
            if self.problem_set.follow_through and not first_failure:
                until = runner.deadline
                follow_through(
                    grading, self.problem_set, submission, items, self.zygote, until=until, on_trial=self.put_on_trial
                )
            findings = grading.findings()
        except SandboxError as error:
            fault = str(error)
        except Exception:
            fault = traceback.format_exc(limit=-4)
        provenance = scoring.provenance(self.problem_set, submission, suite=self.suite, started=started, backend=backend)
        record = scoring.record(self.problem_set, provenance, findings, fault=fault, seconds=time.perf_counter() - begun)
        if not record.is_sound and self.zygote is not None:
            self.zygote.close()
            self.zygote = None
        return record

    def put_on_trial(self, trial: Trial) -> None:
        """The tests that run next are those of `trial`."""
        self.trial = trial

    def reference_stays_within(self, item: pytest.Item) -> bool:
        """Whether the reference passes a test within its allowance: what goes beyond is then the submission's doing."""
        if item.name in self.rehearsed.cut_short:
            rehearse_to_the_end(self, item, self.solution, self.asked, self.rehearsed)
        return item.name not in self.rehearsed.failed and self.rehearsed.seconds[item.name] <= TEST_SECONDS / 2


def main() -> int:
    root, slug, descriptor, conditions = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), load_conditions(sys.argv[4])
    # Between submissions its closed connection ends a worker; this ends it in the midst of one.
    confine.die_with_parent()
    # First, for it takes a second.
    opening = Opening(conditions.backend or None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    # The course's own files import each other as `solutions.…`, wherever the grader was started.
    sys.path.insert(0, str(root))
    course = load_course(root)
    problem_set = course.problem_set(slug).at_share(conditions.share)
    connection = Connection(descriptor)
    try:
        bench = GradingBench(course, problem_set, connection, opening)
    except Exception as error:  # of the course's own modules, which are imported here
        send_reply(connection, CannotGrade(broken_file(error, root)))
        return 1
    return int(pytest.main(pytest_options(problem_set), plugins=[bench]))


if __name__ == "__main__":
    sys.exit(main())
