"""Payoffs: drawings of what a student's own functions do, made by the problem set's `payoffs.py`."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.runtime import figures, loading
from autograder.testing.errors import UNDONE
from autograder.testing.forms import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAYOFFS = "payoffs.py"
SOUVENIR = "souvenir"  # its function that draws a page to keep
FORMATS = ("svg", "pdf")
COLUMNS = 88  # what the output of a cell shows in one line


class Work:
    """A student's work, as payoffs see it: `work.softmax(scores)`. A prediction that was not made is `None`."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._namespace:
            raise NotImplementedError(f"`{name}` is not defined")
        return self._namespace[name]


class NoPayoff(Exception):
    """There is nothing to draw; the message says why."""


def drawable(folder: Path) -> list[str]:
    """The questions that have a payoff, in the order of the lesson."""
    return [name for name, value in vars(payoffs_module(folder)).items() if _is_payoff(name, value) and name != SOUVENIR]


def write_souvenir(folder: Path, namespace: Mapping[str, Any]) -> tuple[Figure, list[Path]]:
    """Draw the page to keep, as SVG and PDF too. Raises `NoPayoff` if there is none, or the work is not far enough."""
    function = vars(payoffs_module(folder)).get(SOUVENIR)
    if function is None:
        raise NoPayoff("this problem set has no page to keep")
    figure = _drawing(function, "Do the public tests", namespace)
    paths = [folder / f"{SOUVENIR}.{ending}" for ending in FORMATS]
    for path in paths:
        figure.savefig(path)
    return figure, paths


def payoff(folder: Path, description: Mapping[str, Any], question: str, namespace: Mapping[str, Any]) -> tuple[Figure, str]:
    """The drawing of a question with its caption. Raises `NoPayoff` if there is none, or the work is not far enough."""
    module = payoffs_module(folder)
    function = vars(module).get(question)
    if not _is_payoff(question, function):
        raise NoPayoff(f"there is nothing to draw for {question!r}; there is for {', '.join(drawable(folder))}")
    assert function is not None
    predictions = [entry for entry in description["questions"] if entry["payoff"]]
    # In a notebook, a prediction below the drawing is not defined yet.
    unmade = {name: None for entry in predictions for name in entry["names"]}
    figure = _drawing(function, f"Does your check of {question}", {**unmade, **namespace})
    predicted = [line for entry in predictions if entry["payoff"] == question for line in _predicted(entry, namespace)]
    return figure, "\n".join([*predicted, *_caption(function)]).strip()


def _drawing(function: Any, first: str, namespace: Mapping[str, Any]) -> Figure:
    """What a function of `payoffs.py` draws; `first` is what should pass before."""
    try:
        # A notebook shows the figure that its cell returns; if that stayed open, it would show it twice.
        with figures.closing():
            figure: Figure = function(Work(namespace))
    except NotImplementedError as error:
        reason = str(error)
        raise NoPayoff(UNDONE if reason == UNDONE else f"{UNDONE}: {reason}") from None
    except Exception as error:
        told = loading.describe_error(error)
        where = "".join(f"\n  {line}" for line in told["where"])
        raise NoPayoff(f"the drawing stopped with {told['type']}: {told['message']}{where}\n{first} pass?") from None
    return figure


def _caption(function: Any) -> list[str]:
    """The lines of a drawing's docstring, filled anew."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(textwrap.fill(paragraph, COLUMNS) for paragraph in paragraphs).splitlines()


def _predicted(entry: Mapping[str, Any], namespace: Mapping[str, Any]) -> list[str]:
    [name] = entry["names"]
    value = namespace.get(name)
    if value is None:
        return [f"You made no prediction: `{name}` is not set."]
    return [f"You predicted {shown(value)} (`{name}`). Compare."]


def _is_payoff(name: str, value: Any) -> bool:
    return inspect.isfunction(value) and not name.startswith("_") and Path(value.__code__.co_filename).name == PAYOFFS


def payoffs_module(folder: Path) -> Any:
    """The problem set's `payoffs.py`; raises `NoPayoff` if there is none."""
    path = folder / PAYOFFS
    if not path.is_file():
        raise NoPayoff(f"{path} is missing")
    return _imported(path.resolve(), path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=4)
def _imported(path: Path, _changed: int) -> Any:
    """The module at `path`; kept, for drawings may share what takes them long."""
    spec = importlib.util.spec_from_file_location("payoffs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
