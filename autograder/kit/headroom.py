"""How near a student's work comes to the grader's limits on time and memory, measured while their own run goes on."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

try:
    import resource
except ImportError:  # Windows, where memory is not measured
    resource = None  # type: ignore[assignment]

SHARE = 0.5  # of a limit: a hidden test's numbers may take longer, and the grader's machine may be slower


class Headroom:
    """Notes what loading and calls use. `description` holds the limits; folders of earlier releases have none."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        self._limits: dict[str, float] = description.get("limits", {})
        self._memory_mb: float = description.get("memory_mb", float("inf"))
        self._seconds = {
            name: question.get("call_seconds", float("inf"))
            for question in description["questions"]
            for name in question["names"]
        }
        self._slowest: dict[str, float] = {}
        self._loading = 0.0
        self._before_mb = _peak_mb()

    def loaded(self, seconds: float) -> None:
        """The work took so long to load."""
        self._loading = seconds

    @contextlib.contextmanager
    def call(self, name: str, times: int) -> Iterator[None]:
        """Measure what calls the function of that name so many times."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            # Linear algebra on several cores takes more CPU time than wall-clock time, and a busy machine the reverse.
            seconds = min(time.perf_counter() - wall, time.process_time() - cpu) / times
            self._slowest[name] = max(seconds, self._slowest.get(name, 0.0))

    def warnings(self) -> list[str]:
        """Sentences on what came near a limit, or over it."""
        sentences = [_near("loading your file", self._loading, self._limits.get("load_seconds", float("inf")), "s")]
        sentences += [
            _near(f"a call of `{name}`", seconds, self._seconds.get(name, float("inf")), "s")
            for name, seconds in self._slowest.items()
        ]
        sentences.append(_near("your work", _peak_mb() - self._before_mb, self._memory_mb, "MB"))
        return [sentence for sentence in sentences if sentence]


def _near(what: str, used: float, allowed: float, unit: str) -> str:
    if used <= SHARE * allowed:
        return ""
    verb = "took" if unit == "s" else "held"
    return f"{what} {verb} {used:.3g} {unit} on this machine, and the grader allows {allowed:,g} {unit}"


def _peak_mb() -> float:
    """The most memory that this process has held so far; 0 where that is not known."""
    # On Linux `getrusage` counts what the parent held when it started this process, such as an editor's test runner.
    with contextlib.suppress(OSError):
        held = re.search(r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
        if held:
            return int(held[1]) / 2**10
    if resource is None:
        return 0.0
    # In bytes on macOS, in kilobytes elsewhere.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
