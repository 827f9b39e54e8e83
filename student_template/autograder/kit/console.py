"""A console that cannot show every sign, such as one of Windows."""

from __future__ import annotations

import io
import sys


def tolerate_missing_signs() -> None:
    """Show a question mark for a sign that the console does not have, instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
