"""Values that tests share because they take long to compute, and the arguments that tests are called with."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

# Makes the generator that a test or a computed value of that name draws from.
Generators = Callable[[str], np.random.Generator]
RNG = "rng"


class Computed:
    """A value that is computed when it is first asked for, and kept as long as the module that declares it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._values: list[Any] = []

    @property
    def parameters(self) -> list[str]:
        """What it is computed from: `reference`, `ledger`, `rng`, other computed values."""
        return list(inspect.signature(self._function).parameters)

    def value(self, given: Mapping[str, Any], generators: Generators) -> Any:
        """A copy of the value: no test can change what the next one gets."""
        if not self._values:
            self._values.append(self._function(**arguments(self._function, given, generators)))
        return copy.deepcopy(self._values[0])


def computed_once(function: Callable[..., Any]) -> Any:
    """Let tests have the answer of `function` as a parameter of its name; it is computed once for all submissions.

    `function` may have the parameters `reference`, `ledger`, `rng` (a generator of its own) and other computed values. It
    never sees a submission: what it computes cannot depend on one, and its time and memory count for no test.
    """
    computed = Computed(function)
    if "student" in computed.parameters:
        raise TypeError(f"{function.__name__} is computed once for all submissions, so it cannot have one")

    @pytest.fixture(name=function.__name__)
    def fixture(request: pytest.FixtureRequest, generators: Generators) -> Any:
        given = {name: request.getfixturevalue(name) for name in computed.parameters if name != RNG}
        return computed.value(given, generators)

    fixture.computed = computed  # type: ignore[attr-defined]
    return fixture


def arguments(function: Callable[..., Any], given: Mapping[str, Any], generators: Generators) -> dict[str, Any]:
    """What to call a test with where there is no pytest: `given` by name, and what its module computes once."""
    values = {}
    for name in inspect.signature(function).parameters:
        if name == RNG:
            values[name] = generators(function.__name__)
        elif name in given:
            values[name] = given[name]
        else:
            values[name] = function.__globals__[name].computed.value(given, generators)
    return values
