"""One submission while it is graded: its tests, in a guest of its own, and what was found out about it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from _pytest.runner import runtestprotocol

from autograder.course import ProblemSet
from autograder.rehearsal import Rehearsed
from autograder.runtime.figures import FigureView
from autograder.sandbox.runner import GuestRunner
from autograder.scoring import Findings
from autograder.slips import SlipFinder
from autograder.suite import mark_of
from autograder.testing.bench import Outcome, Status, Trial, is_hidden
from autograder.testing.forms import prediction_outcome
from autograder.testing.student import Call, StudentError
from autograder.variants import Variant


class Grading(Trial):
    """The trial of one submission. It is made anew for each, and all that is known of the submission goes with it."""

    def __init__(self, runner: GuestRunner, problem_set: ProblemSet, rehearsed: Rehearsed, slip_finder: SlipFinder) -> None:
        super().__init__(runner)
        self._guest = runner
        self._problem_set = problem_set
        self._rehearsed = rehearsed
        self._slip_finder = slip_finder
        self._answers: dict[str, str] = {}
        self._calls: dict[str, list[Call]] = {}
        self._candidates: dict[str, list[Variant]] = {}
        self._figures: dict[str, FigureView] = {}
        self._shown = ""  # what the submission had printed before the first hidden input reached it
        self._staff_output = ""

    def run(self, items: Sequence[pytest.Item], *, first_failure: bool) -> None:
        """Load the submission and run the tests; with `first_failure`, up to the first that fails."""
        self._guest.load()
        self._read_answers()
        self._read_predictions()
        self._shown = self._guest.output
        self._run_tests(items, first_failure=first_failure)
        self._staff_output = self._guest.output[len(self._shown) :]

    def findings(self) -> Findings:
        """What was found out. Once the guest is gone, the most memory that it held is known too."""
        slips = {
            test: self._slip_finder.likeliest(candidates, self._calls[self.outcomes[test].question])
            for test, candidates in self._candidates.items()
        }
        return Findings(
            outcomes=list(self.outcomes.values()),
            slips=slips,
            answers=self._answers,
            figures=self._figures,
            problems=self._guest.report["problems"],
            output=self._shown,
            staff_output=self._staff_output,
            peak_memory=self._guest.peak_memory,
        )

    def end(self, outcome: Outcome) -> None:
        """The calls that were made ahead count as the test's own time."""
        spent = self._guest.spent_ahead
        ahead = sum(spent.get(ask.digest, 0.0) for ask in self._rehearsed.asks[outcome.test])
        super().end(replace(outcome, seconds=round(outcome.seconds + ahead, 6)))

    def _run_tests(self, items: Sequence[pytest.Item], *, first_failure: bool) -> None:
        for hidden, group in itertools.groupby(items, is_hidden):
            together = list(group)
            self._guest.ask_ahead(ask for item in together for ask in self._rehearsed.asks[item.name])
            for item in together:
                self._guest.begin(item.name, self._problem_set.call_seconds(mark_of(item).question))
                runtestprotocol(item, nextitem=None, log=False)
                outcome = self.outcomes[item.name]
                self._explain(outcome)
                # After a fault nothing will be scored, and the sandbox may be gone.
                if outcome.status is Status.FAULT or (first_failure and outcome.status is Status.FAILED):
                    return
                if not hidden:
                    self._shown = self._guest.output

    def _explain(self, outcome: Outcome) -> None:
        """Note what explains the outcome of the test that ended."""
        calls = self.student.calls if self.student is not None else []
        self._calls.setdefault(outcome.question, []).extend(calls)
        if not outcome.hidden:
            for view in (call.value for call in calls if isinstance(call.value, FigureView)):
                self._figures.setdefault(outcome.question, view)
        if outcome.status is Status.FAILED:
            candidates = self._slip_finder.candidates(outcome.question, calls)
            if candidates:
                self._candidates[outcome.test] = candidates

    def _read_answers(self) -> None:
        """Read the texts that a person will grade."""
        for question in self._problem_set.assignment.questions:
            if question.kind == "written":
                try:
                    value = self._guest.read(question.names[0])
                except StudentError:
                    value = None
                self._answers[question.id] = value if isinstance(value, str) else ""

    def _read_predictions(self) -> None:
        """Note what was predicted, which earns points whatever it is."""
        for question in self._problem_set.assignment.questions:
            if question.kind == "prediction":
                [name] = question.names
                options = question.choices(name)
                super().end(prediction_outcome(question.id, name, options, question.points, self._guest))
