"""Functions that a test hands to a submission, and what the submission may do with them.

The test's own code then runs on what a submission chose, and its words go back. So a function takes the arguments that it
needs and no others, in their order and bounded in size; of an error the submission learns only that there was one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

MAX_ARGUMENTS = 2**20  # bytes
MAX_RESULT = 8 * 2**20  # bytes

FAILED = "the function that was handed in raised an exception for these arguments"
TOO_LARGE = f"the function that was handed in takes at most {MAX_ARGUMENTS // 2**20} MiB of arguments"
RESULT_TOO_LARGE = f"the function that was handed in would return more than {MAX_RESULT // 2**20} MiB"


class Refusal(ValueError):
    """What a test's own function raises to tell the submission something: it arrives as a ValueError with this text."""


@dataclass(frozen=True)
class Callback:
    """A function of the test as the submission may call it: `least` to `most` arguments by position, and `keywords`."""

    function: Callable[..., Any]
    least: int
    most: int
    keywords: frozenset[str] = frozenset()

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Callback:
        """With the arguments that the function needs, and none that has a default: the test chose those."""
        if isinstance(function, Callback):
            return function
        count = function.nin if isinstance(function, np.ufunc) else _needed(function)
        return cls(function, count, count)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns. Raises `Refusal` or `RuntimeError`, and nothing that tells more."""
        if not self.least <= len(args) <= self.most or not kwargs.keys() <= self.keywords:
            raise RuntimeError(f"the function that was handed in takes {self._takes()}")
        if bulk([*args, *kwargs.values()]) > MAX_ARGUMENTS:
            raise RuntimeError(TOO_LARGE)
        try:
            answer = self.function(*args, **kwargs)
            size = bulk(answer)
        except Refusal:
            raise
        except Exception:
            raise RuntimeError(FAILED) from None
        if size > MAX_RESULT:
            raise RuntimeError(RESULT_TOO_LARGE)
        return answer

    def _takes(self) -> str:
        counts = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
        noun = "argument" if counts == "1" else "arguments"
        return f"{counts} {noun} by position, and {', '.join(sorted(self.keywords)) or 'none'} by name"


def callback(
    function: Callable[..., Any], *, arguments: int | tuple[int, int] | None = None, keywords: tuple[str, ...] = ()
) -> Callback:
    """Let a submission call `function` with other `arguments` (their number, or the least and the most) or by `keywords`.

    Needed only where a test wants more than the rule for every function that is handed in: exactly the arguments without
    a default, by position.
    """
    least, most = (arguments, arguments) if isinstance(arguments, int) else arguments or (_needed(function),) * 2
    return Callback(function, least, most, frozenset(keywords))


def _needed(function: Callable[..., Any]) -> int:
    """How many arguments without a default a function takes by position."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        raise TypeError(
            f"nothing says how many arguments {function!r} takes; use callback(function, arguments=...)"
        ) from None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional and parameter.default is inspect.Parameter.empty for parameter in parameters)


def bulk(value: Any) -> int:
    """About how many bytes of memory a plain value takes."""
    if isinstance(value, np.ndarray):
        return value.nbytes + 100
    if isinstance(value, str | bytes):
        return len(value) + 50
    if isinstance(value, list | tuple):
        return 50 + sum(map(bulk, value))
    if isinstance(value, dict):
        return 50 + sum(bulk(key) + bulk(item) for key, item in value.items())
    return bulk(vars(value)) if hasattr(value, "__dataclass_fields__") else 30
