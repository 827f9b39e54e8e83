"""The likely slip behind what the public tests find wrong, known by digests of the wrong answers that frequent slips give.

`problem_set.json` holds for each slip the digests of its wrong answers to the public tests' calls, and its hint. No wrong
answer follows from them, and no right one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from autograder.runtime.outcomes import Outcome, Status
from autograder.testing.evidence import answer_digest, are_specific, call_key, takes_functions
from autograder.testing.student import Call


def likely_slips(
    slips: Sequence[Mapping[str, Any]], calls: Mapping[str, Collection[Call]], outcomes: Collection[Outcome]
) -> dict[str, str]:
    """The hints of the slips behind a question's failed tests, by the name of the function that is wrong.

    `calls` has what each test asked. A slip counts if every answer that it would get wrong is wrong in the same way, each
    failed test that calls the function has such an answer, and together these are specific. If two count, none is named.
    """
    hints: dict[str, set[str]] = {}
    for slip in slips:
        own = {
            test: [call for call in made if call.name == slip["name"] and not takes_functions(call)]
            for test, made in calls.items()
        }
        wrong = [call for made in own.values() for call in made if call_key(call) in slip["wrong"]]
        failed = [own[outcome.test] for outcome in outcomes if outcome.status is Status.FAILED and own.get(outcome.test)]
        explained = all(any(call_key(call) in slip["wrong"] for call in made) for made in failed)
        alike = all(answer_digest(call) == slip["wrong"][call_key(call)] for call in wrong)
        if failed and explained and alike and are_specific(wrong):
            hints.setdefault(slip["name"], set()).add(slip["hint"])
    return {name: hint for name, (hint, *others) in hints.items() if not others}
