"""A new problem set, as `course new` writes it, and ways to plant faults in it."""

from __future__ import annotations

import datetime
from pathlib import Path

TODAY = datetime.date(2026, 11, 29)
NAME = "ps7_sparse_attention"


def path_of(root: Path, part: str) -> Path:
    return root / "solutions" / f"{NAME}.py" if part == "solution" else root / "assignments" / NAME / part


def change(root: Path, part: str, old: str, new: str) -> None:
    path = path_of(root, part)
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{old!r} is not in {path}"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def add(root: Path, part: str, text: str) -> None:
    path = path_of(root, part)
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
