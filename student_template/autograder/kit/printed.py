"""What a student's functions print and use while they are tested."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import Any

from autograder.kit.headroom import Headroom
from autograder.runtime import wire
from autograder.testing.callbacks import Callback
from autograder.testing.errors import StudentError
from autograder.testing.student import Answer, LocalRunner

MAX_LINES, MAX_WIDTH = 12, 200


class PrintingRunner(LocalRunner):
    """A runner that keeps what calls print and measures them. A call is made twice; what both print alike is kept once."""

    def __init__(self, *arguments: Any, headroom: Headroom, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._headroom = headroom
        self._printed: list[str] = []

    def call(self, name: str, case: wire.Deferred, handles: Sequence[Callback], *, repeat: bool) -> Answer | StudentError:
        output = io.StringIO()
        try:
            with contextlib.redirect_stdout(output), self._headroom.call(name, 2 if repeat else 1):
                return super().call(name, case, handles, repeat=repeat)
        finally:
            text = output.getvalue()
            half = len(text) // 2
            self._printed.append(text[:half] if text[:half] == text[half:] else text)

    def take_printed(self) -> str:
        """What was printed since this was last asked."""
        text = "".join(self._printed)
        self._printed.clear()
        return text


def shown(text: str) -> list[str]:
    """The last lines of what was printed, each cut at the width of a screen."""
    lines = text.rstrip().splitlines()
    left_out = [f"({len(lines) - MAX_LINES} more lines before)"] if len(lines) > MAX_LINES else []
    return [f"| {line[:MAX_WIDTH]}" for line in [*left_out, *lines[-MAX_LINES:]]]
