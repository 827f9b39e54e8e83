"""The plain value that an instance of a subclass holds: of a named tuple the tuple, of a matrix the array.

Nothing that a subclass overrides is called, so this is what the instance holds, not what it claims to hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_COPIES: dict[type[Any], Callable[[Any], Any]] = {
    tuple: lambda value: (*tuple.__iter__(value),),
    list: lambda value: [*list.__iter__(value)],
    str: lambda value: str.__getitem__(value, slice(None)),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    int: int.__pos__,
    float: float.__pos__,
    complex: complex.__pos__,
}
_KEYS = {str, int, float, bool, type(None)}


def held_by(value: Any) -> Any:
    """The plain value in an instance of a subclass, or None: for other types, and for a masked array that hides entries."""
    kind = type(value)
    if issubclass(kind, np.ndarray):
        return None if kind is np.ndarray or _is_masked(value) else np.ndarray.view(value, np.ndarray)
    if issubclass(kind, dict):
        items = list(dict.items(value))
        # A key of another type has methods of its own, which a new dictionary would call.
        return dict(items) if all(type(key) in _KEYS for key, _ in items) else None
    for base, copy in _COPIES.items():
        if issubclass(kind, base):
            return copy(value)
    return None


def _is_masked(array: np.ndarray) -> bool:
    if not issubclass(type(array), np.ma.MaskedArray):
        return False
    mask = object.__getattribute__(array, "__dict__").get("_mask", False)
    return bool(np.ndarray.any(mask)) if issubclass(type(mask), np.ndarray) else bool(mask)
