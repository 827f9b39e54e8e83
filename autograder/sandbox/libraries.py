"""The software of this machine that guests may read: libraries, interpreter, packages, and the engine's own part in them."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

from packaging.requirements import Requirement

from autograder.backends import SandboxError

PACKAGE = Path(__file__).resolve().parents[1]
ROOMS = ("runtime", "guest", "backends")  # the parts of the engine that a guest may read
SYSTEM = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
OFFERED = ("numpy", "matplotlib", "ipython")  # what student code may import beside the standard library
PRELOAD = ("numpy", "matplotlib.pyplot", "fractions", "json")


def interpreter() -> Path:
    """The real interpreter behind the virtual environment."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def offered_paths() -> list[Path]:
    """Files and folders of the packages that student code may import, with all that they need."""
    found: set[Path] = set()
    queue, seen = list(OFFERED), set()
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            raise SandboxError(f"the package {name} is not installed; run `make grade` to set everything up") from None
        for top in {file.parts[0] for file in distribution.files or []}:
            if top not in ("..", "__pycache__") and not top.endswith((".dist-info", ".pth")):
                found.add(Path(str(distribution.locate_file(top))))
        for text in distribution.requires or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                queue.append(requirement.name)
    return sorted(found)
