"""How much an answer says about how it was computed, and a digest by which two answers to the same call can be compared.

A mistake is named only if a submission gives the same wrong answers, and only if these would hardly come about otherwise:
two booleans match anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np

from autograder.runtime import wire
from autograder.testing.student import Call, call_digest

# Wrong answers that hold fewer bits than these together come about too easily: six booleans, or three small integers.
ENOUGH_BITS = 6.0
FEW, MANY = 4, 16  # bits of an exception, and of a number with many digits
# Numbers are rounded to this share of the largest among them, but never finer than this; float32 ten thousand times its eps.
# What another machine or NumPy computes differs by far less, single precision included, so its digests are the same.
SHARE, FINEST = 1e-4, 1e-9
DIGEST = 16  # characters


def are_specific(wrong: Iterable[Call]) -> bool:
    """Whether wrong answers, each call counted once, hold enough to tell one mistake from others."""
    by_key = {call_key(call): call for call in wrong}
    return sum(bits(call) for call in by_key.values()) >= ENOUGH_BITS


def bits(call: Call) -> float:
    """Roughly how many bits an answer holds: one for a boolean, few for a small integer, many for a number with digits."""
    return FEW if call.error else _bits(call.value)


def _bits(value: Any) -> float:
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in "biufc":
            return 0.0
        # What numbers there are, and their order: an array of zeros says no more than one zero.
        numbers, counts = np.unique(np.asarray(value), return_counts=True)
        order = float(np.sum(counts * np.log2(counts.sum() / counts)))
        return order + sum(map(_number_bits, numbers[:FEW].tolist()))
    if isinstance(value, str | bytes):
        return min(MANY, 4.0 * len(value))
    if isinstance(value, dict):
        return sum(map(_bits, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_bits, value))
    if hasattr(value, "__dataclass_fields__"):
        return sum(map(_bits, vars(value).values()))
    return _number_bits(value) if isinstance(value, bool | int | float | complex | Fraction) else 0.0


def _number_bits(number: bool | int | float | complex | Fraction) -> float:
    if isinstance(number, bool):
        return 1.0
    if isinstance(number, complex):
        return _number_bits(number.real) + _number_bits(number.imag)
    if isinstance(number, float) and not math.isfinite(number):
        return 1.0
    if isinstance(number, Fraction) and number.denominator > 1:
        return math.log2(abs(number.numerator) + 1) + math.log2(number.denominator)
    if number != int(number):
        return MANY
    return min(MANY, 1.0 + math.log2(abs(int(number)) + 1))


def call_key(call: Call) -> str:
    """The same for the same function with the same arguments."""
    return call_digest(call.name, wire.Deferred.of((call.args, call.kwargs), [])).hex()[:DIGEST]


def takes_functions(call: Call) -> bool:
    """Whether functions are among the arguments: then the key does not say which."""
    handles: list[Any] = []
    wire.Deferred.of((call.args, call.kwargs), handles)
    return bool(handles)


def answer_digest(call: Call) -> str:
    """A digest of an answer, rounded; of an exception, of its type. It depends on the call, so none can be looked up."""
    text = f"raised {call.error}" if call.error else _rounded(call.value)
    return sha256(f"{call_key(call)} {text}".encode()).hexdigest()[:DIGEST]


def _rounded(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        numbers = np.asarray(value)
        if numbers.dtype.kind in "fc":
            finite = np.abs(numbers[np.isfinite(numbers)])
            scale = float(finite.max(initial=0.0)) or 1.0
            share = max(SHARE, 1e4 * float(np.finfo(numbers.dtype).eps))
            step = max(10.0 ** math.floor(math.log10(scale)) * share, FINEST)
            # 0.0 is added so that -0.0 becomes 0.0.
            numbers = np.round(numbers / step) + 0.0
        return f"{np.asarray(value).dtype} {numbers.shape} {numbers.tolist()}"
    if isinstance(value, float | complex):
        return f"{type(value).__name__} {_rounded(np.asarray(value))}"
    if isinstance(value, dict):
        return repr({key: _rounded(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return f"{type(value).__name__} {[_rounded(item) for item in value]}"
    return repr(value)
