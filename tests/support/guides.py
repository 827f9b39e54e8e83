"""What tests read of README and the guides."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def first_column(page: str, heading: str) -> list[str]:
    """The first column of the first table below a heading of a guide."""
    text = (ROOT / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")[2]
    rows = re.findall(r"^\|(.+?)\|.*\|$", text.partition("\n## ")[0], re.MULTILINE)
    return [row.strip().strip("`") for row in rows[2:]]
