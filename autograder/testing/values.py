"""What a test accepts from a submission, said once: each helper checks one kind of value and names what differs.

Every helper raises `Mismatch` with a sentence for the student; `name` is the expression as the student would write it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from autograder.runtime.figures import FigureView
from autograder.runtime.wire import Foreign
from autograder.testing.student import Mismatch

_KINDS = {
    "float": ("f", "float32 or float64"),
    "bool": ("b", "bool"),
    "int": ("iu", "integers"),
    "number": ("iuf", "numbers"),
}


def described(value: Any) -> str:
    """What a value is, in a few words: "a list", "an array of shape (2, 3) and type float64"."""
    if isinstance(value, Foreign):
        return f"an object of type {value.type_name[:100]}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and type {value.dtype}"
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, bool | int | float | complex | str | np.generic | Fraction):
        return f"{type(value).__name__} {str(value)[:80]!r}"
    return f"a {type(value).__name__}"


def require(condition: Any, message: str) -> None:
    """Fail with `message` unless `condition` is true."""
    if not condition:
        raise Mismatch(message)


def array(
    value: Any,
    *,
    name: str,
    shape: tuple[int | None, ...] | None = None,
    finite: bool = True,
    kind: str = "float",
    lists: bool = False,
) -> np.ndarray:
    """A numeric array of a shape (`None`: any size) and kind ("float", "bool", "int", "number"), its numbers finite."""
    codes, words = _KINDS[kind]
    if lists and isinstance(value, list | tuple):
        try:
            value = np.array(value)
        except ValueError:
            raise Mismatch(f"`{name}` is a nested list whose rows differ in length") from None
    if not isinstance(value, np.ndarray):
        raise Mismatch(f"`{name}` should be a numpy array of {words}, but is {described(value)}")
    good = value.dtype.kind in codes and not (value.dtype.kind == "f" and value.dtype.itemsize < 4)
    require(good, f"`{name}` should hold {words}, but is {described(value)}")
    if shape is not None:
        fits = value.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, value.shape, strict=True))
        wanted = "(" + ", ".join("any" if size is None else str(size) for size in shape) + ("," * (len(shape) == 1)) + ")"
        require(fits, f"`{name}` should have shape {wanted}, but has shape {value.shape}")
    if finite and value.dtype.kind == "f" and not np.isfinite(value).all():
        where = tuple(int(index) for index in np.argwhere(~np.isfinite(value))[0])
        raise Mismatch(f"`{name}` should hold finite numbers, but has {value[where]} at {_place(where)}")
    return value


def scalar(value: Any, *, name: str, finite: bool = True) -> float:
    """One real number: a Python or NumPy int or float, or an array without dimensions."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating | Fraction):
        hint = f"; take the single element out of the array of shape {value.shape}" if isinstance(value, np.ndarray) else ""
        raise Mismatch(f"`{name}` should be one number, but is {described(value)}{hint}")
    try:
        number = float(value)
    except OverflowError:
        raise Mismatch(f"`{name}` should be a moderate number, but is too large for a float") from None
    require(not finite or np.isfinite(number), f"`{name}` should be finite, but is {number}")
    return number


def boolean(value: Any, *, name: str) -> bool:
    """True or False: a Python or NumPy bool, or a bool array without dimensions."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    require(isinstance(value, bool | np.bool_), f"`{name}` should be True or False, but is {described(value)}")
    return bool(value)


def integer(value: Any, *, name: str) -> int:
    """A whole number: a Python or NumPy integer, or an integer array without dimensions."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    good = isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)
    require(good, f"`{name}` should be a whole number, but is {described(value)}")
    return int(value)


def fraction(value: Any, *, name: str) -> Fraction:
    """An exact number: a `Fraction` or an integer."""
    good = isinstance(value, int | Fraction) and not isinstance(value, bool)
    require(good, f"`{name}` should be an exact fractions.Fraction, but is {described(value)}")
    return Fraction(value)


def text(value: Any, *, name: str) -> str:
    """A string."""
    require(isinstance(value, str), f"`{name}` should be a string, but is {described(value)}")
    return cast(str, value)


def parts(value: Any, count: int, *, name: str) -> tuple[Any, ...]:
    """A tuple or list of exactly `count` results."""
    require(isinstance(value, tuple | list), f"`{name}` should return {count} things, but is {described(value)}")
    require(len(value) == count, f"`{name}` should return {count} things, but returns {len(value)}")
    return tuple(value)


def figure(value: Any, *, name: str) -> FigureView:
    """A matplotlib figure, described as data."""
    if isinstance(value, Foreign) and "Axes" in value.type_name:
        raise Mismatch(f"`{name}` should return the Figure, but returns its Axes; return `ax.figure`")
    require(isinstance(value, FigureView), f"`{name}` should return a matplotlib Figure, but is {described(value)}")
    return cast(FigureView, value)


def rounding(scale: ArrayLike, operations: float = 8, dtype: DTypeLike = np.float64) -> float:
    """An absolute tolerance for rounding: `operations` × eps of `dtype` × the largest absolute value in `scale`."""
    return float(operations * np.finfo(np.dtype(dtype)).eps * np.max(np.abs(scale), initial=0.0))


def close(actual: ArrayLike, expected: ArrayLike, *, atol: float, name: str) -> None:
    """Every |actual − expected| is at most `atol`; shapes must be equal, and NaN is close to nothing."""
    have, want = _numbers(actual, name), np.asarray(expected)
    require(have.shape == want.shape, f"`{name}` should have shape {want.shape}, but has shape {have.shape}")
    with np.errstate(invalid="ignore"):
        # Equal infinities count as close; their difference would be NaN.
        good = (have == want) | (np.abs(have - want) <= atol)
    _first_difference(have, want, good, name)


def same(actual: Any, expected: Any, *, name: str) -> None:
    """Exactly equal numbers, arrays or plain values."""
    if isinstance(expected, np.ndarray):
        have = _numbers(actual, name)
        require(have.shape == expected.shape, f"`{name}` should have shape {expected.shape}, but has shape {have.shape}")
        _first_difference(have, expected, have == expected, name)
    else:
        alike = not isinstance(actual, np.ndarray) and actual == expected
        require(alike, f"`{name}` should be exactly {expected!r}, but is {repr(actual)[:200]}")


def _numbers(value: Any, name: str) -> np.ndarray:
    """An answer as an array, whatever a submission gave; `Mismatch` if there are no numbers in it."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        raise Mismatch(f"`{name}` should be a table of numbers, but is {described(value)}") from None
    require(array.dtype.kind in "biufc", f"`{name}` should hold numbers, but is {described(value)}")
    return array


def _first_difference(have: np.ndarray, want: np.ndarray, good: np.ndarray, name: str) -> None:
    if good.all():
        return
    where = tuple(int(index) for index in np.argwhere(~good)[0])
    more = f"; {int((~good).sum())} of {good.size} numbers differ" if good.size > 1 else ""
    raise Mismatch(f"`{name}` should be {want[where]!s} at {_place(where)}, but is {have[where]!s}{more}")


def _place(where: tuple[int, ...]) -> str:
    return f"index {list(where)}" if where else "its only place"
