"""What a backend is: one class that starts the zygote, locks each guest down, and says what it enforces and needs.

The host makes one to start a zygote; the zygote makes one of the same name to fork its guests. So the modules of this
package load in both places, and what only the host has is imported where it is used.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, NoReturn

from autograder.guest.confine import GuestLimits
from autograder.guest.paths import PathWatch

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "Agg",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class SandboxError(Exception):
    """The sandbox itself failed: a fault of the grader or the machine, never of a submission."""


@dataclass(frozen=True)
class Launch:
    """How to start a zygote: the command up to its interpreter, its script, where packages lie, its environment.

    `readable` are the files and folders that a guest without a root of its own may read, by every absolute name they have;
    `stage` is a folder that lives as long as the zygote.
    """

    command: list[str]
    script: str
    path: list[str]
    environment: dict[str, str]
    readable: list[str] = field(default_factory=list)
    stage: tempfile.TemporaryDirectory[str] | None = None


class Forked(NamedTuple):
    """A guest that was forked, and what answers for the paths it names, if anything must."""

    pid: int
    watch: PathWatch | None = None


class Backend(ABC):
    """One way to lock guests up. `claims` and `advice` are what `course doctor` says of it."""

    name: ClassVar[str]
    claims: ClassVar[tuple[str, ...]]
    advice: ClassVar[str]  # how to get it where it does not work

    # --- on the host

    @classmethod
    @abstractmethod
    def launch(cls) -> Launch:
        """How to start its zygote; raises `SandboxError` if something is missing."""

    @classmethod
    def notes(cls) -> tuple[str, ...]:
        """What else is worth knowing of it on this machine."""
        return ()

    # --- in the zygote

    def __init__(self, readable: list[str]) -> None:
        """`readable` is the launch's."""
        self.readable = readable

    @abstractmethod
    def enter(self) -> None:
        """Called first, before the packages that guests share are loaded."""

    @abstractmethod
    def prepare(self) -> None:
        """Called once they are loaded, before the first fork."""

    @abstractmethod
    def fork(self, be_guest: Callable[[list[int]], NoReturn]) -> Forked:
        """Fork a guest, in which `be_guest` is called with the descriptors that `confine` needs."""

    # --- in the guest

    @abstractmethod
    def confine(self, limits: GuestLimits, descriptors: list[int]) -> None:
        """Lock the guest down for good; raises `ConfinementError` if any step fails."""
