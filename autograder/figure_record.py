"""A figure in a record: a `FigureView` as JSON can hold it, and back."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np

from autograder.runtime.figures import FigureView
from autograder.text import visible

MAX_BYTES = 100_000
# Enough for any drawing, and the same whatever order a threaded BLAS adds in.
DIGITS = 7

_ARRAYS = {"cells", "centers_x", "centers_y", "x", "y"}
_NUMBERS = {"vmin", "vmax"}
_TICKS = {"xticks", "yticks"}
_LIMITS = {"xlim", "ylim"}


def to_json(view: FigureView) -> dict[str, Any] | None:
    """The figure as JSON can hold it; `None` if it takes more than `MAX_BYTES`."""
    plain: dict[str, Any] = _plain(view)
    return plain if len(json.dumps(plain)) <= MAX_BYTES else None


def from_json(plain: Any) -> FigureView:
    """The figure that `to_json` was given, its numbers rounded; `ValueError` or `TypeError` for anything else."""
    return FigureView.from_plain(_restored("", plain))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        # JSON has no name for infinity and its like.
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return visible(value)
    return {name: _plain(item) for name, item in vars(value).items()} if dataclasses.is_dataclass(value) else value


def _restored(name: str, plain: Any) -> Any:
    if name in _ARRAYS:
        return np.asarray(plain, dtype=np.float64)
    if name in _NUMBERS:
        return float(plain)
    if name in _LIMITS:
        return tuple(map(float, plain))
    if name in _TICKS:
        return [(float(at), label) for at, label in plain]
    if isinstance(plain, list):
        return [_restored("", item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    # An image in a record of an earlier version does not say whether it was blurred.
    plain = {"blurred": False, **plain} if "darkest" in plain else plain
    return {key: _restored(key, item) for key, item in plain.items()}
