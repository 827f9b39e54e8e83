"""Where the feedback on a delivery appears: under a name that its author can work out, and nobody else."""

from __future__ import annotations

import hashlib
from pathlib import Path


def feedback_folder(inbox: Path) -> Path:
    """The folder beside an inbox in which a course that grades work as it arrives puts its pages."""
    return inbox.with_name(f"{inbox.name}-feedback")


def feedback_name(delivery: str, sha256: str) -> str:
    """The page's name: of the delivery's own name, which others cannot list, and the hash of what was handed in."""
    return hashlib.sha256(f"{delivery}\n{sha256}".encode()).hexdigest() + ".html"
