"""The documents' numbers, as tests read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Ledger:
    """Rows of `assignments/ledger.yml` by id; a name that does not exist is an error that lists the ones that do."""

    def __init__(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        self._rows = rows

    def _get(self, row: str, part: str, name: str | None) -> Any:
        if row not in self._rows:
            raise KeyError(f"the ledger has no row {row}; it has {', '.join(self._rows)}")
        entry = self._rows[row].get(part)
        if name is None:
            return entry
        if not isinstance(entry, Mapping) or name not in entry:
            names = ", ".join(map(str, entry)) if isinstance(entry, Mapping) else "none"
            raise KeyError(f"ledger row {row} has no {name!r} among its {part}; it has {names}")
        return entry[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def quantity(self, row: str) -> str:
        """What a row's numbers are."""
        return str(self._get(row, "quantity", None))

    def note(self, row: str) -> str:
        """What is to be known before a row is graded; empty if there is no note."""
        return str(self._get(row, "note", None) or "")

    def __contains__(self, row: object) -> bool:
        return row in self._rows

    def gradable(self, row: str) -> bool:
        """Whether a test may hold a student to the row."""
        return bool(self._get(row, "gradable", None))

    def value(self, row: str, name: str) -> Any:
        """A number (or list, or mapping) of a row."""
        return self._get(row, "values", name)

    def tolerance(self, row: str, name: str | None = None) -> float:
        """The absolute tolerance the row allows, for one of its values where they differ."""
        tolerance = self._get(row, "tolerance", name)
        if not isinstance(tolerance, int | float):
            raise KeyError(f"ledger row {row} has no single tolerance; name one of its values")
        return float(tolerance)

    def band(self, row: str, name: str) -> tuple[float, float]:
        """The interval [low, high] that the row allows for a measured value."""
        low, high = self._get(row, "bands", name)
        return float(low), float(high)
