"""One submission while it is graded: its tests, in a guest of its own, and what was found out about it."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from _pytest.runner import runtestprotocol

from autograder.allowance import TEST_SECONDS, allowance
from autograder.course import ProblemSet
from autograder.essays import Essay, EssayFinder
from autograder.intake import Submission
from autograder.rehearsal import Rehearsed
from autograder.runtime.figures import FigureView
from autograder.runtime.outcomes import Cause, Outcome, Status
from autograder.sandbox.runner import GuestRunner
from autograder.scoring import Findings
from autograder.slips import SlipFinder
from autograder.suite import mark_of
from autograder.testing.bench import OverAllowance, Trial, is_hidden
from autograder.testing.callbacks import bulk
from autograder.testing.errors import TOO_LARGE
from autograder.testing.forms import read_prediction
from autograder.testing.student import Call
from autograder.variants import Variant

BEYOND = "stopped: checking your answers took more time or memory of the grader than a test may use"
MAX_CALLS_BYTES = 2**26  # of all calls of a submission that are kept to look for slips; right answers take 10 MB at most


class Grading(Trial):
    """The trial of one submission. It is made anew for each, and all that is known of the submission goes with it."""

    def __init__(
        self,
        submission: Submission,
        runner: GuestRunner,
        problem_set: ProblemSet,
        rehearsed: Rehearsed,
        slip_finder: SlipFinder,
        essay_finder: EssayFinder,
        memory_bytes: int,
    ) -> None:
        super().__init__(runner)
        self._memory_bytes = memory_bytes
        self._submission = submission
        self._guest = runner
        self._problem_set = problem_set
        self._rehearsed = rehearsed
        self._slip_finder = slip_finder
        self._essay_finder = essay_finder
        self._essays: dict[str, Essay] = {}
        self._predictions: dict[str, str] = {}
        self._calls: dict[str, list[Call]] = {}
        self._calls_bytes = 0
        self._figures: dict[str, FigureView] = {}
        self._output = self._staff_output = ""
        self._breached: list[pytest.Item] = []
        self._first_failure = False

    def run(self, items: Sequence[pytest.Item], *, first_failure: bool) -> list[pytest.Item]:
        """Load the submission and run the tests; with `first_failure`, up to the first that fails.

        Returns the tests that went beyond their allowance: `decide` says of each whose fault it was.
        """
        self._first_failure = first_failure
        self._guest.load()
        self._essays = self._essay_finder.find(self._submission, self._guest, self._guest.report)
        self._read_predictions()
        self._run_tests(items, first_failure=first_failure)
        self._output, self._staff_output = self._guest.output, self._guest.staff_output
        return self._breached

    def decide(self, item: pytest.Item, reference_stays_within: bool) -> None:
        """A test went beyond its allowance: the submission failed it if the reference does not go beyond."""
        if reference_stays_within:
            outcome = self.outcomes[item.name]
            self.outcomes[item.name] = replace(
                outcome, status=Status.FAILED, message=BEYOND, safe=BEYOND, cause=Cause.STOPPED
            )

    def findings(self) -> Findings:
        """What was found out. Once the guest is gone, the most memory that it held is known too."""
        return Findings(
            outcomes=list(self.outcomes.values()),
            slips={} if self._first_failure else self._slips(),
            essays=self._essays,
            predictions=self._predictions,
            figures=self._figures,
            problems=self._guest.report["problems"],
            output=self._output,
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
            if hidden:
                # Nothing that the submission says from here on is shown to its author.
                self._guest.freeze()
            self._guest.ask_ahead(ask for item in together for ask in self._rehearsed.asks[item.name])
            for item in together:
                self._guest.begin(item.name, self._problem_set.call_seconds(mark_of(item).question))
                runtestprotocol(item, nextitem=None, log=False)
                outcome = self.outcomes[item.name]
                self._keep(outcome)
                if outcome.cause is Cause.BEYOND:
                    self._breached.append(item)
                # After a fault nothing will be scored, and the sandbox may be gone.
                elif outcome.status is Status.FAULT or (first_failure and outcome.status is Status.FAILED):
                    return

    def _keep(self, outcome: Outcome) -> None:
        """Keep what the test that ended asked and was answered."""
        calls = self.student.calls if self.student is not None else []
        for call in calls:
            # Arguments may hold what was answered before, up to megabytes in each call of a chain.
            size = bulk([call.value, *call.args, *call.kwargs.values()])
            fits = self._calls_bytes + size <= MAX_CALLS_BYTES
            self._calls_bytes += size if fits else 0
            own = self._calls.setdefault(outcome.question, [])
            own.append(call if fits else Call(call.name, (), {}, error=TOO_LARGE))
        if not outcome.hidden:
            for view in (call.value for call in calls if isinstance(call.value, FigureView)):
                self._figures.setdefault(outcome.question, view)

    def _slips(self) -> dict[str, Variant]:
        """The likely slip behind each failed test, where there is one, as far as it is found in the time of one test."""
        slips: dict[str, Variant] = {}
        failed = [outcome for outcome in self.outcomes.values() if outcome.status is Status.FAILED]
        # What follow-through restored fails by another question's mistake.
        restored = {outcome.question for outcome in failed if outcome.follow_through is Status.PASSED}
        begun = time.process_time()
        for question in dict.fromkeys(outcome.question for outcome in failed if outcome.question not in restored):
            left = begun + TEST_SECONDS - time.process_time()
            if left <= 0:
                break
            # Mutants get what the submission answered as their arguments.
            with contextlib.suppress(OverAllowance, MemoryError), allowance(self._memory_bytes, left):
                by_name = self._slip_finder.find(question, self._calls.get(question, []))
                for outcome in failed:
                    names = [name for name in by_name if name in outcome.uses]
                    if outcome.question == question and names:
                        slips[outcome.test] = by_name[names[0]]
        return slips

    def _read_predictions(self) -> None:
        """Note what was predicted, which earns points whatever it is."""
        for question in self._problem_set.assignment.questions:
            if question.kind == "prediction":
                [name] = question.names
                options = question.choices(name)
                outcome, predicted = read_prediction(question.id, name, options, question.points, self._guest)
                super().end(outcome)
                if predicted:
                    self._predictions[question.id] = predicted
