"""Learn from the reference solution which calls the tests make, so that a guest can be asked all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from autograder.runtime import wire
from autograder.sandbox.runner import Ask
from autograder.testing.student import Answer, LocalRunner, StudentError, question_of

# The reference is the course's own and ends by itself; this only keeps a broken one from holding up a worker for ever.
SECONDS = 60.0
MAX_AHEAD = 2**16  # bytes of a call's arguments: with more of them, a message of its own hardly matters


class Rehearsal(LocalRunner):
    """Runs the tests on the reference, and notes the calls of each.

    Where a test makes arguments of earlier answers, a submission that answers otherwise is asked something else than was
    noted; that call is then made in its turn.
    """

    def __init__(self, reference: ModuleType, asked: set[str]) -> None:
        super().__init__(vars(reference), {"names": list(vars(reference))}, asked=asked, seconds=SECONDS)
        self.asks: dict[str, list[Ask]] = {}
        self.cut_short: set[str] = set()  # tests whose end the rehearsal does not know
        self._test = ""
        self._seconds = 0.0

    def begin(self, test: str, seconds: float) -> None:
        """The next calls are those of `test`, which may take `seconds` each."""
        self._test = test
        self.asks[test] = []
        self._seconds = seconds

    def call(
        self, name: str, case: wire.Deferred, handles: Sequence[Callable[..., Any]], *, repeat: bool
    ) -> Answer | StudentError:
        if not repeat:
            # A call that takes long is not asked ahead, and the rest of its test is not worth the wait.
            self.cut_short.add(self._test)
            raise StudentError(f"`{name}` takes long")
        if not handles and case.size <= MAX_AHEAD:
            # A copy, for a test may change its arrays later.
            frozen = wire.Deferred(case.header, (memoryview(b"".join(case.buffers)),))
            self.asks[self._test].append(Ask(name, frozen, question_of(name, frozen), self._seconds))
        return super().call(name, case, handles, repeat=False)
