"""Waits for files to change. Asking for their dates a few times per second works on every system and every disk."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

SECONDS = 0.1


def changes(paths: Sequence[Path]) -> Iterator[None]:
    """Yield at once, and then whenever one of the files has changed. Ends when nobody asks for more."""
    seen = None
    while True:
        now = [_stamp(path) for path in paths]
        # An editor may take a file away for a moment while it saves.
        if now != seen and any(now):
            seen = now
            yield
        else:
            time.sleep(SECONDS)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
