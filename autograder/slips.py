"""The likely slip behind a question's wrong answers: the mutant that gives all the same answers as the student."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from autograder.runtime import wire
from autograder.testing.callbacks import bulk
from autograder.testing.errors import TOO_LARGE, StudentError
from autograder.testing.evidence import are_specific
from autograder.testing.student import Call, LocalRunner, Student, alike, call_digest
from autograder.variants import Variant

# Mutants are the course's own and end by themselves; this only keeps a broken one from holding up a worker for ever.
SECONDS = 60.0
# Answers that are kept. Arguments may hold what a submission answered, so they may be as many and large as it likes.
MAX_KNOWN = 5000
MAX_KNOWN_BYTES = 64 * 2**20
_NO_ANSWER = {"NotImplementedError", "Undefined", "Stopped", "AlreadyStopped", "TimeUp", TOO_LARGE}


class SlipFinder:
    """Compares a submission's answers with what the mutants of a problem set answer to the same calls."""

    def __init__(self, mutants: Sequence[Variant], reference: ModuleType, first_names: dict[str, str]) -> None:
        self._mutants = [(variant, variant.replaces or first_names.get(variant.question, "")) for variant in mutants]
        self._reference = vars(reference)
        self._known: dict[tuple[str, bytes], Call] = {}
        self._known_bytes = 0

    def find(self, question: str, calls: Sequence[Call]) -> dict[str, Variant]:
        """The slips behind `calls`, all that a question's tests made, by the name of the function that is wrong.

        A mutant is one if it gives every answer that the function gave, and the wrong ones are specific. What a variable
        holds is itself the mistake.
        """
        by_name: dict[str, Variant] = {}
        for name in dict.fromkeys(name for variant, name in self._mutants if variant.question == question):
            own = [call for call in calls if call.name == name]
            if any(call.error in _NO_ANSWER or (not call.error and call.value is None) for call in own):
                continue
            # Wrong answers tell most mutants apart, so they come first; few are then asked for what takes long.
            own.sort(key=lambda call: (call.once, self.is_right(call)))
            wrong = [call for call in own if not self.is_right(call)]
            if wrong and (not callable(self._reference.get(name)) or are_specific(wrong)):
                for mutant, replaced in self._mutants:
                    if (mutant.question, replaced) == (question, name) and self._explains(mutant, own):
                        by_name[name] = mutant
                        break
        return by_name

    def _explains(self, mutant: Variant, calls: Sequence[Call]) -> bool:
        return all(_equal(self.answer(call, mutant), call) for call in calls)

    def is_right(self, call: Call) -> bool:
        """Whether the reference gives the same answer."""
        return _equal(self.answer(call), call)

    def answer(self, call: Call, mutant: Variant | None = None) -> Call:
        """What a mutant, or the reference, answers; the arguments are not in it.

        Tests are seeded, so the same calls come for student after student.
        """
        handles: list[Any] = []
        digest = call_digest(call.name, wire.Deferred.of((call.args, call.kwargs), handles))
        key = mutant.name if mutant else "", digest
        # A test's own function is known by no bytes, so such a call is made anew.
        if handles or key not in self._known:
            answer = _call(self._with(mutant, call.name), call)
            size = bulk(answer)
            if handles or len(self._known) >= MAX_KNOWN or self._known_bytes + size > MAX_KNOWN_BYTES:
                return answer
            self._known[key] = answer
            self._known_bytes += size
        return self._known[key]

    def _with(self, mutant: Variant | None, name: str) -> dict[str, Any]:
        """The reference's names, of which `mutant` stands in for `name`."""
        if mutant is None:
            return self._reference
        function: Any = mutant.function if callable(self._reference.get(name)) else mutant.function()
        return {**self._reference, name: function}


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
