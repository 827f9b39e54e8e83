"""The likely slip behind a failed test: the mutant that gives the same wrong answers as the student."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from autograder.runtime import wire
from autograder.testing.callbacks import bulk
from autograder.testing.student import TOO_LARGE, Call, LocalRunner, Student, StudentError, alike, call_digest
from autograder.variants import Variant

# Mutants are the course's own and end by themselves; this only keeps a broken one from holding up a worker for ever.
SECONDS = 60.0
# Answers that are kept. Arguments may hold what a submission answered, so they may be as many and large as it likes.
MAX_KNOWN = 5000
MAX_KNOWN_BYTES = 64 * 2**20
_NO_ANSWER = {"NotImplementedError", "Undefined", "Stopped", "AlreadyStopped", "TimeUp", TOO_LARGE}


class SlipFinder:
    """Compares failed calls with what the mutants of a problem set answer to the same arguments."""

    def __init__(self, mutants: Sequence[Variant], reference: ModuleType, first_names: dict[str, str]) -> None:
        self._mutants = [(variant, variant.replaces or first_names.get(variant.question, "")) for variant in mutants]
        self._reference = vars(reference)
        self._known: dict[tuple[str, bytes], Call] = {}
        self._known_bytes = 0

    def candidates(self, question: str, calls: Sequence[Call]) -> list[Variant]:
        """The mutants of `question` that equal the student on every call of a failed test, and are wrong on one of them."""
        if any(call.error in _NO_ANSWER or (not call.error and call.value is None) for call in calls):
            return []
        found = []
        for variant, name in self._mutants:
            own = [call for call in calls if call.name == name]
            if variant.question == question and own and self._explains(variant, name, own):
                found.append(variant)
        return found

    def likeliest(self, candidates: Sequence[Variant], calls: Sequence[Call]) -> Variant:
        """Of several candidates, the one that equals the student on most of `calls`, all that were made for the question."""
        if len(candidates) == 1:
            return candidates[0]
        names = dict(self._mutants)

        def agreement(variant: Variant) -> int:
            name = names[variant]
            wrong = self._with(variant, name)
            own = (call for call in calls if call.name == name)
            return sum(_equal(self._answer(variant.name, wrong, call), call) for call in own)

        return max(candidates, key=agreement)

    def _with(self, variant: Variant, name: str) -> dict[str, Any]:
        function: Any = variant.function if callable(self._reference.get(name)) else variant.function()
        return {**self._reference, name: function}

    def _explains(self, variant: Variant, name: str, calls: Sequence[Call]) -> bool:
        wrong = self._with(variant, name)
        if not all(_equal(self._answer(variant.name, wrong, call), call) for call in calls):
            return False
        return any(not _equal(self._answer("", self._reference, call), call) for call in calls)

    def _answer(self, variant: str, namespace: dict[str, Any], call: Call) -> Call:
        """What `call` gives in `namespace`. Tests are seeded, so the same calls come for student after student."""
        handles: list[Any] = []
        key = variant, call_digest(call.name, wire.Deferred.of((call.args, call.kwargs), handles))
        # A test's own function is known by no bytes, so such a call is made anew.
        if handles or key not in self._known:
            answer = _call(namespace, call)
            size = bulk(answer)
            if handles or len(self._known) >= MAX_KNOWN or self._known_bytes + size > MAX_KNOWN_BYTES:
                return answer
            self._known[key] = answer
            self._known_bytes += size
        return self._known[key]


def _call(namespace: dict[str, Any], call: Call) -> Call:
    runner = LocalRunner(namespace, {}, seconds=SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if callable(namespace.get(call.name)):
                value = Student(runner).ask(call.name, call.args, call.kwargs, repeat=False)
            else:
                value = runner.read(call.name)
    except StudentError as error:
        return Call(call.name, (), {}, error=error.type_name, said=error.report.get("message", ""))
    return Call(call.name, (), {}, value)


def _equal(one: Call, other: Call) -> bool:
    # Of two errors the messages count too: an exception that a student raises on purpose is not a mutant's accident.
    return (one.error, one.said) == (other.error, other.said) and alike(one.value, other.value)
