"""What a submission finds while nobody sits there: no answers to `input()`, no debugger, no window for figures.

The same on a student's laptop and in the sandbox, so that neither waits for a person.
"""

from __future__ import annotations

import builtins
import functools
import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

_WINDOWLESS = {"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"}


@contextmanager
def unattended(path: str) -> Iterator[None]:
    """While a submission is loaded from `path`: answer questions with nothing, and hide the command line."""
    hide_figures()
    before = builtins.input, getpass.getpass, sys.breakpointhook, sys.argv
    silence()
    sys.argv = [path]
    try:
        yield
    finally:
        builtins.input, getpass.getpass, sys.breakpointhook, sys.argv = before


def silence() -> None:
    """Answer `input()` and the like with nothing from now on."""
    builtins.input = getpass.getpass = _no_answer
    sys.breakpointhook = _do_nothing


def _no_answer(*_: object, **__: object) -> str:
    return ""


def _do_nothing(*_: object, **__: object) -> None:
    pass


@functools.cache
def hide_figures() -> None:
    """Let matplotlib draw in memory only: no backend opens windows, and `show` closes the figures as a person would."""
    try:
        from matplotlib import pyplot
    except ImportError:
        return
    switch = pyplot.switch_backend

    def switch_backend(newbackend: object) -> None:
        switch(newbackend if isinstance(newbackend, str) and newbackend.lower() in _WINDOWLESS else "agg")

    def show(*_: object, block: bool | None = None, **__: object) -> None:
        if block is not False:
            pyplot.close("all")

    pyplot.switch_backend, pyplot.show = switch_backend, show


def close_figures() -> None:
    """Close all figures of pyplot, if it is there."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def keep_freed_memory() -> None:
    """Let the C library keep the memory of freed arrays for the next ones, where it would return it to the kernel.

    A loop that frees arrays of over 128 KB otherwise spends up to a third of its time on page faults. glibc keeps blocks up
    to the largest that it has freed, and 32 MB at most (mallopt(3), M_MMAP_THRESHOLD); elsewhere this does nothing.
    """
    np.empty(31 * 2**20, dtype=np.uint8)
