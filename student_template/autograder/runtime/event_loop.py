"""An event loop for a process that may have no sockets, as no guest may."""

from __future__ import annotations

import asyncio
import time
from typing import Any

_POLL_SECONDS = 0.05


class _Selector:
    """Has no descriptors to watch, so it only waits."""

    def select(self, timeout: float | None) -> list[Any]:
        # Without a timeout only another thread can schedule something, so look again soon.
        time.sleep(_POLL_SECONDS if timeout is None else min(timeout, _POLL_SECONDS))
        return []


class SocketlessLoop(asyncio.BaseEventLoop):
    """An event loop that needs no sockets."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _Selector()

    def _process_events(self, event_list: list[Any]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass
