"""What a test may use of the grading worker itself: CPU time and memory.

A test runs on what a submission answers, so a submission decides how much work it makes: a huge answer, or huge arguments
for a function of the test. The reference passed the same test in the same worker, so what goes beyond this is the
submission's doing.
"""

from __future__ import annotations

import contextlib
import resource
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

from autograder.testing.bench import OverAllowance

TEST_SECONDS = 10.0  # CPU time of the worker, not waiting for the submission
OWN_MEMORY_BYTES = 512 * 2**20  # that a test may take, beside four times the largest answer
# Signals are looked at between operations of NumPy, and some code swallows exceptions: so it is asked again.
AGAIN_SECONDS = 0.25
PAGE = resource.getpagesize()


def memory_of_a_test(message_bytes: int) -> int:
    """How many bytes a test may take, where an answer has at most `message_bytes`."""
    return OWN_MEMORY_BYTES + 4 * message_bytes


@contextlib.contextmanager
def allowance(memory_bytes: int, seconds: float = TEST_SECONDS) -> Iterator[None]:
    """Bound what runs meanwhile: it raises `OverAllowance` or `MemoryError` where it takes more."""
    with cpu_seconds(seconds), memory(memory_bytes):
        yield


@contextlib.contextmanager
def cpu_seconds(seconds: float = TEST_SECONDS) -> Iterator[None]:
    """Raise `OverAllowance` in what runs meanwhile, once it has computed for `seconds`. For the main thread only."""

    def stop(*_: object) -> None:
        raise OverAllowance(f"more than {seconds:g} s of the grader's own time")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def memory(more: int) -> Iterator[None]:
    """Let this process take at most `more` bytes than it holds now; beyond that, allocations raise `MemoryError`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = data_bytes() + more
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def data_bytes() -> int:
    """The private, writable memory of this process, which is what `RLIMIT_DATA` bounds."""
    return int(Path("/proc/self/statm").read_text().split()[5]) * PAGE
