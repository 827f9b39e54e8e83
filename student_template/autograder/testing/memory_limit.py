"""A limit on the memory that a student's function holds, where no kernel keeps one: on a laptop, or inside another grader.

numpy reports its arrays to tracemalloc on every system. A resource limit would end a whole notebook.
"""

from __future__ import annotations

import contextlib
import threading
import tracemalloc
from collections.abc import Iterator

from autograder.runtime.time_limit import interrupt

LOOK_SECONDS = 0.02


@contextlib.contextmanager
def memory_limit(megabytes: float | None) -> Iterator[None]:
    """Raise `MemoryError` in what runs meanwhile soon after it holds more; afterwards at the latest. None is no limit.

    Between two looks a function may allocate at most what one operation of numpy does, so a machine is not filled up.
    """
    if megabytes is None or tracemalloc.is_tracing():
        yield
        return
    over, ended = threading.Event(), threading.Event()
    runs_here = threading.get_ident()

    def watch() -> None:
        while not ended.wait(LOOK_SECONDS):
            if _peak_megabytes() > megabytes:
                over.set()
                interrupt(runs_here, MemoryError)
                return

    watcher = threading.Thread(target=watch, daemon=True)
    tracemalloc.start()
    watcher.start()
    try:
        yield
    except MemoryError:
        if not over.is_set():
            raise
    finally:
        ended.set()
        watcher.join()
        interrupt(runs_here, None)  # what has not arrived by now must not arrive in other code
        held = _peak_megabytes()
        tracemalloc.stop()
    if held > megabytes:
        raise MemoryError(f"it held {held:,.0f} MB at once; the grader allows {megabytes:,g} MB")


def _peak_megabytes() -> float:
    return tracemalloc.get_traced_memory()[1] / 2**20
