"""How an answer is put into words, in little time and space whatever it is."""

from __future__ import annotations

import reprlib
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.runtime.wire import Foreign

MAX_SHOWN = 300  # characters of an answer in a message
DIGITS = range(6, 18)  # a number is shown with the fewest of these that tell it apart

# What to return in place of types that do not cross.
_INSTEAD = {
    "numpy.ma.MaskedArray": "`.filled(0)`",
    "ndarray of object": "an array of numbers, as `np.array(rows, dtype=float)` makes it,",
    "set": "a sorted list",
    "frozenset": "a sorted list",
    "range": "a list",
    "map": "a list",
    "zip": "a list",
    "filter": "a list",
    "generator": "a list",
    "dict_keys": "a list",
    "dict_values": "a list",
    "dict_items": "a list",
    "collections.deque": "a list",
    "decimal.Decimal": "a float",
    "torch.Tensor": "`.detach().numpy()`",
    "pandas.core.frame.DataFrame": "`.to_numpy()`",
    "pandas.core.series.Series": "`.to_numpy()`",
}


def described(value: Any) -> str:
    """What a value is, in a few words: "a list", "an array of shape (2, 3) and type float64"."""
    if isinstance(value, Foreign):
        instead = _INSTEAD.get(value.type_name)
        return f"an object of type {value.type_name[:100]}" + (f"; return {instead} instead" if instead else "")
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and type {value.dtype}"
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, str):
        return f"str {value[:80]!r}"
    if isinstance(value, bool | int | float | complex | np.generic | Fraction):
        return f"{type(value).__name__} {str(value)[:80]!r}"
    return f"a {type(value).__name__}"


class _Short(reprlib.Repr):
    """The beginning of a value's repr, made without the rest of it."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother, self.maxlong = 4, 100, 100, 60
        self.maxlist = self.maxtuple = self.maxdict = 12

    def repr_instance(self, x: Any, level: int) -> str:
        if isinstance(x, np.ndarray):
            return f"array({self.repr1(x.tolist(), level)})" if x.size <= 32 else f"<{described(x)}>"
        if isinstance(x, bytes):
            return repr(x[:100])
        if x is None or isinstance(x, bool | float | complex | np.generic | Fraction):
            return str(x)[:100]
        return f"<{described(x)}>"


def shown(value: Any) -> str:
    """An answer as a message shows it: its repr in at most `MAX_SHOWN` characters, in little time whatever its size."""
    # The type decides which method of `reprlib` is used, so arrays are led to the one for all other types.
    text = _Short().repr_instance(value, 4) if isinstance(value, np.ndarray) else _Short().repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def apart(one: np.generic, other: np.generic) -> tuple[str, str]:
    """Two different numbers with as many digits as it takes to see that they differ."""
    # Of a number in another precision, all digits count: 0.775 as float32 is not 0.775.
    numbers = [number.item() for number in (one, other)]
    if all(isinstance(number, float) for number in numbers):
        for digits in DIGITS:
            wanted, actual = (_with_digits(number, digits) for number in numbers)
            if wanted != actual:
                return wanted, actual
    return str(numbers[0]), str(numbers[1])


def _with_digits(number: float, digits: int) -> str:
    rounded = f"{number:.{digits}g}"
    return str(number) if float(rounded) == number else rounded
