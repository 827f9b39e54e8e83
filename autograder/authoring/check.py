"""One line of the gate's table."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Check:
    """One check's name, its problems, and what it found where it passed. Warnings forbid no release."""

    name: str
    problems: list[str]
    detail: str = ""
    warnings: list[str] = field(default_factory=list)
