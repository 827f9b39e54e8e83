"""Output to a console that cannot show every character, such as one of Windows."""

from __future__ import annotations

import io
import sys


def tolerate_missing_characters() -> None:
    """Show a question mark for a character that the console lacks, instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
