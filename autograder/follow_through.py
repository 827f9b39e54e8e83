"""Follow-through marks: one mistake, one loss.

A question declares the functions of other questions that it `uses`. Where one of its tests fails, and such a function failed
a test of its own, the test runs once more in a fresh guest, in which that function answers as the reference does. A test
that then passes shows that the question itself is right. What students carry over from an earlier problem set has no tests
here and was graded there, so the reference's takes its place whenever a test of a question that uses it fails.

The submission's guest holds nothing of the reference. It holds handles, bound after the submission was loaded, and the
reference answers from a guest of its own, under the submission's limits: a call that takes too much costs that guest.
Nothing that such a run prints or raises is shown to the student.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from autograder.course import ProblemSet
from autograder.intake import Submission
from autograder.runtime.causes import LOST, broken_uses
from autograder.runtime.outcomes import Cause, Outcome, Status
from autograder.sandbox.runner import GuestRunner
from autograder.sandbox.zygote import Zygote
from autograder.suite import mark_of
from autograder.testing.bench import Trial
from autograder.testing.callbacks import Refusal
from autograder.testing.errors import StudentError

REFUSED = "the function does not accept these arguments"
UNANSWERED = "the function did not answer"


def follow_through(
    trial: Trial,
    problem_set: ProblemSet,
    submission: Submission,
    items: Sequence[pytest.Item],
    zygote: Zygote,
    *,
    until: float,
    on_trial: Callable[[Trial], None],
) -> None:
    """Run again what may have failed for another question's mistake, and note in the outcomes of `trial` what came of it.

    `until` is when the submission's time is used up. `on_trial` puts another trial in place, for which tests then run.
    """
    questions = problem_set.assignment.questions
    uses = {question.id: question.uses for question in questions}
    owners = {name: question.id for question in questions for name in question.names}
    carried = problem_set.assignment.carried_names
    broken = broken_uses(uses, owners, trial.outcomes.values())
    for question in uses:
        failing = tuple(broken.get(question, ()))
        names = [*failing, *(name for name in uses[question] if name in carried)]
        # A fault ends the run, so that later tests have no outcome.
        own = [item for item in items if mark_of(item).question == question and item.name in trial.outcomes]
        lost = [item for item in own if trial.outcomes[item.name].status in LOST]
        if not names or not lost:
            continue
        for item in lost:
            trial.outcomes[item.name] = replace(trial.outcomes[item.name], fix_first=failing)
        again = _run_again(
            problem_set,
            submission,
            names,
            [item for item in lost if mark_of(item).follow_through],
            trial,
            zygote,
            until,
            on_trial,
        )
        for test, outcome in again.items():
            # What goes beyond a test's allowance does so by what the submission answered: on the reference nothing does.
            if outcome.status is Status.FAULT and outcome.cause is not Cause.BEYOND:
                trial.outcomes[test] = outcome
            elif failing or outcome.status is Status.PASSED:
                ended = Status.PASSED if outcome.status is Status.PASSED else Status.FAILED
                credit = problem_set.follow_through if outcome.status is Status.PASSED else 0.0
                # Nothing but this run says that what was carried over is wrong.
                first = failing or tuple(names)
                trial.outcomes[test] = replace(trial.outcomes[test], fix_first=first, follow_through=ended, credit=credit)


def _run_again(
    problem_set: ProblemSet,
    submission: Submission,
    names: Sequence[str],
    items: Sequence[pytest.Item],
    first: Trial,
    zygote: Zygote,
    until: float,
    on_trial: Callable[[Trial], None],
) -> dict[str, Outcome]:
    """How tests end where `names` are the reference's."""
    solution = problem_set.solution.read_bytes()
    ended: dict[str, Outcome] = {}
    with GuestRunner(zygote, "reference.py", solution, problem_set.limits, until=until) as reference:
        bound = {name: _ReferenceFunction(reference, name) for name in names}
        with GuestRunner(
            zygote, submission.filename, submission.source, problem_set.limits, bound=bound, until=until
        ) as runner:
            again = Trial(
                runner, {name: passed for name, passed in first.outcomes.items() if passed.status is Status.PASSED}
            )
            on_trial(again)
            for item in items:
                seconds = problem_set.call_seconds(mark_of(item).question)
                runner.begin(item.name, seconds)
                reference.begin(item.name, seconds)
                runtestprotocol(item, nextitem=None, log=False)
                ended[item.name] = again.outcomes[item.name]
                # The question's own function is a stub, so the other tests need not be tried.
                if ended[item.name].is_undone:
                    break
    return ended


class _ReferenceFunction:
    """One function of the reference, as a submission may call it; an error tells nothing of the reference."""

    def __init__(self, reference: GuestRunner, name: str) -> None:
        self._reference = reference
        self._name = name

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """What the reference answers. Raises `Refusal` where it raises ValueError, and `RuntimeError` for all else."""
        try:
            return self._reference.ask(self._name, args, kwargs, repeat=False).values[0]
        except StudentError as error:
            if isinstance(error, ValueError):
                raise Refusal(REFUSED) from None
            raise RuntimeError(UNANSWERED) from None
