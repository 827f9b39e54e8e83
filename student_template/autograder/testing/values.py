"""What a test accepts from a submission, said once: each helper checks one kind of value and names what differs.

Every helper raises `Mismatch` with a sentence for the student; `name` is the expression as the student would write it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from autograder.runtime.figures import FigureView
from autograder.runtime.wire import Foreign
from autograder.testing.errors import Mismatch
from autograder.testing.showing import apart, described, shown

# Numbers in nested lists that are made into an array. An array of text would take as many bytes for each item as for the
# longest, so lists hold numbers only, and are counted before NumPy sees them.
MAX_ITEMS = 100_000

# All that a student reads of a hidden test that got something of the wrong form. The form found is a submission's choice,
# so it may carry an input away; it is in the message for staff.
OTHER_TYPE = "Your answer has another type than the question asks for. The docstring says which it should have."
OTHER_SHAPE = "Your answer has another shape than the question asks for. The docstring says which it should have."

_NUMBERS = (bool, int, float, complex, np.generic, Fraction)
_KINDS = {
    "float": ("f", "float32 or float64"),
    "bool": ("b", "bool"),
    "int": ("iu", "integers"),
    "number": ("iuf", "numbers"),
}


@dataclass
class Audit:
    """What the checks of a test were made of: the line of each call of `close`, and its tolerance.

    With `lenient`, no check fails, so that a test runs on whatever it is answered.
    """

    lenient: bool
    tolerances: list[tuple[int, float]] = field(default_factory=list)


_audit: ContextVar[Audit | None] = ContextVar("audit", default=None)


@contextlib.contextmanager
def audited(*, lenient: bool) -> Iterator[Audit]:
    """Note the tolerances of all checks made meanwhile: a tolerance must not depend on what is answered."""
    audit = Audit(lenient)
    token = _audit.set(audit)
    try:
        yield audit
    finally:
        _audit.reset(token)


def require(condition: Any, message: str) -> None:
    """Fail with `message` unless `condition` is true."""
    _check(condition, message)


def _check(condition: Any, message: str, safe: str = "") -> None:
    """Fail with `message` unless `condition` is true; `safe` is what a student reads where the test is hidden."""
    if not condition and not _lenient():
        raise Mismatch(message, safe)


def _check_shape(have: np.ndarray, want: np.ndarray, name: str) -> None:
    _check(have.shape == want.shape, f"`{name}` should have shape {want.shape}, but has shape {have.shape}", OTHER_SHAPE)


def refuses(function: Callable[..., Any], *arguments: Any, name: str, why: str, **keywords: Any) -> None:
    """Require that `function(*arguments, **keywords)`, which a message calls `name`, raises ValueError."""
    try:
        answer = function(*arguments, **keywords)
    except ValueError:
        return
    require(False, f"{name} must raise ValueError, because {why}; it returned {shown(answer)}")


def _lenient() -> bool:
    audit = _audit.get()
    return audit is not None and audit.lenient


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
        value = _table(value, name)
    if not isinstance(value, np.ndarray):
        raise Mismatch(f"`{name}` should be a numpy array of {words}, but is {described(value)}", OTHER_TYPE)
    good = value.dtype.kind in codes and not (value.dtype.kind == "f" and value.dtype.itemsize < 4)
    _check(good, f"`{name}` should hold {words}, but is {described(value)}", OTHER_TYPE)
    if shape is not None:
        fits = value.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, value.shape, strict=True))
        wanted = "(" + ", ".join("any" if size is None else str(size) for size in shape) + ("," * (len(shape) == 1)) + ")"
        _check(fits, f"`{name}` should have shape {wanted}, but has shape {value.shape}", OTHER_SHAPE)
    if finite and value.dtype.kind == "f" and not np.isfinite(value).all():
        where = _first(~np.isfinite(value))
        raise Mismatch(f"`{name}` should hold finite numbers, but has {value[where]} at {_place(where)}")
    return value


def scalar(value: Any, *, name: str, finite: bool = True) -> float:
    """One real number: a Python or NumPy int or float, or an array without dimensions."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating | Fraction):
        hint = f"; take the single element out of the array of shape {value.shape}" if isinstance(value, np.ndarray) else ""
        raise Mismatch(f"`{name}` should be one number, but is {described(value)}{hint}", OTHER_TYPE)
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
    _check(isinstance(value, bool | np.bool_), f"`{name}` should be True or False, but is {described(value)}", OTHER_TYPE)
    return bool(value)


def integer(value: Any, *, name: str) -> int:
    """A whole number: a Python or NumPy integer, or an integer array without dimensions."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    good = isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)
    _check(good, f"`{name}` should be a whole number, but is {described(value)}", OTHER_TYPE)
    return int(value)


def fraction(value: Any, *, name: str) -> Fraction:
    """An exact number: a `Fraction` or an integer."""
    good = isinstance(value, int | Fraction) and not isinstance(value, bool)
    _check(good, f"`{name}` should be an exact fractions.Fraction, but is {described(value)}", OTHER_TYPE)
    return Fraction(value)


def text(value: Any, *, name: str) -> str:
    """A string."""
    _check(isinstance(value, str), f"`{name}` should be a string, but is {described(value)}", OTHER_TYPE)
    return cast(str, value)


def parts(value: Any, count: int, *, name: str) -> tuple[Any, ...]:
    """A tuple or list of exactly `count` results."""
    _check(isinstance(value, tuple | list), f"`{name}` should return {count} things, but is {described(value)}", OTHER_TYPE)
    _check(len(value) == count, f"`{name}` should return {count} things, but returns {len(value)}", OTHER_TYPE)
    return tuple(value)


def figure(value: Any, *, name: str) -> FigureView:
    """A matplotlib figure, described as data."""
    if isinstance(value, Foreign) and "Axes" in value.type_name:
        raise Mismatch(f"`{name}` should return the Figure, but returns its Axes; return `ax.figure`", OTHER_TYPE)
    message = f"`{name}` should return a matplotlib Figure, but is {described(value)}"
    _check(isinstance(value, FigureView), message, OTHER_TYPE)
    return cast(FigureView, value)


def rounding(scale: ArrayLike, operations: float = 8, dtype: DTypeLike = np.float64) -> float:
    """An absolute tolerance for rounding: `operations` × eps of `dtype` × the largest absolute value in `scale`."""
    return float(operations * np.finfo(np.dtype(dtype)).eps * np.max(np.abs(scale), initial=0.0))


def close(actual: ArrayLike, expected: ArrayLike, *, atol: float, name: str) -> None:
    """Every |actual − expected| is at most `atol`; shapes must be equal, and NaN is close to nothing.

    `atol` comes from the test's inputs and expected values. A tolerance made of an answer is one that the submission
    chooses; `course validate` refuses it.
    """
    audit = _audit.get()
    if audit is not None:
        audit.tolerances.append((sys._getframe(1).f_lineno, float(atol)))
    have, want = _numbers(actual, name), np.asarray(expected)
    _check_shape(have, want, name)
    with np.errstate(invalid="ignore"):
        # Equal infinities count as close; their difference would be NaN.
        good = (have == want) | (np.abs(have - want) <= atol)
    _first_difference(have, want, good, name)


def same(actual: Any, expected: Any, *, name: str) -> None:
    """Exactly equal numbers, arrays or plain values."""
    if isinstance(expected, np.ndarray):
        have = _numbers(actual, name)
        _check_shape(have, expected, name)
        _first_difference(have, expected, have == expected, name)
    else:
        fits = isinstance(actual, _NUMBERS) if isinstance(expected, _NUMBERS) else type(actual) is type(expected)
        message = f"`{name}` should be exactly {shown(expected)}, but is {shown(actual)}"
        _check(_equal(actual, expected), message, "" if fits else OTHER_TYPE)


def _equal(actual: Any, expected: Any) -> bool:
    """Whether a plain value is equal to the expected one; an array is never equal to a value that is none."""
    if isinstance(actual, np.ndarray):
        return False
    if isinstance(actual, list | tuple):
        kind = type(expected)
        pairs = zip(actual, expected, strict=True) if kind is type(actual) and len(actual) == len(expected) else None
        return pairs is not None and all(_equal(one, other) for one, other in pairs)
    if isinstance(actual, dict):
        same_keys = isinstance(expected, dict) and actual.keys() == expected.keys()
        return same_keys and all(_equal(item, expected[key]) for key, item in actual.items())
    return not isinstance(expected, list | tuple | dict) and bool(actual == expected)


def _table(value: list[Any] | tuple[Any, ...], name: str) -> np.ndarray:
    """Nested lists of numbers as an array. They are counted first: what NumPy would make of them is not bounded."""
    waiting: list[Any] = [value]
    count = 0
    while waiting:
        item = waiting.pop()
        if isinstance(item, list | tuple):
            count += len(item)
            waiting += item
        elif isinstance(item, np.ndarray):
            count += item.size
        elif not isinstance(item, bool | int | float | complex | np.generic):
            raise Mismatch(f"`{name}` should be a table of numbers, but holds {described(item)}", OTHER_TYPE)
        if count > MAX_ITEMS:
            raise Mismatch(f"`{name}` is a list of more than {MAX_ITEMS} items; return an array")
    try:
        return np.array(value)
    except ValueError:
        raise Mismatch(f"`{name}` is a nested list whose rows differ in length", OTHER_SHAPE) from None
    except (TypeError, OverflowError):
        raise Mismatch(f"`{name}` should be a table of numbers, but holds one that is too large for it") from None


def _numbers(value: Any, name: str) -> np.ndarray:
    """An answer as an array, whatever a submission gave; `Mismatch` if there are no numbers in it."""
    if isinstance(value, list | tuple):
        value = _table(value, name)
    if not isinstance(value, np.ndarray | np.generic | bool | int | float | complex):
        raise Mismatch(f"`{name}` should hold numbers, but is {described(value)}", OTHER_TYPE)
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise Mismatch(f"`{name}` should hold numbers, but is {described(value)}", OTHER_TYPE)
    return array


def _first_difference(have: np.ndarray, want: np.ndarray, good: np.ndarray, name: str) -> None:
    if good.all() or _lenient():
        return
    where = _first(~good)
    more = f"; {int((~good).sum())} of {good.size} numbers differ" if good.size > 1 else ""
    wanted, actual = apart(want[where], have[where])
    raise Mismatch(f"`{name}` should be {wanted} at {_place(where)}, but is {actual}{more}")


def _first(marked: np.ndarray) -> tuple[int, ...]:
    """The index of the first element that is true."""
    return tuple(int(index) for index in np.unravel_index(int(np.argmax(marked)), marked.shape))


def _place(where: tuple[int, ...]) -> str:
    return f"index {list(where)}" if where else "its only place"
