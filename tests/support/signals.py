"""What a program started by a test hears."""

from __future__ import annotations

import signal


def hear_ctrl_c() -> None:
    """As `preexec_fn`: a shell that starts the tests in the background has them ignore Ctrl-C, and children inherit it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
