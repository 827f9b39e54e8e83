"""The software of this machine that guests may read: libraries, interpreter, packages, and the engine's own part in them."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import sys
from collections.abc import Iterable, Mapping
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
    paths: set[Path] = set()
    for name, distribution in _with_requirements(OFFERED, {}).items():
        if distribution is None:
            raise SandboxError(f"the package {name} is not installed; run `make grade` to set everything up")
        paths.update(_contents(distribution))
    return sorted(paths)


def offered_modules(python: str) -> list[str]:
    """The names that student code may import beside the standard library where the grader has Python `python` ("3.11").

    The list does not depend on the Python or the system that runs this, so that everybody releases the same files.
    """
    environment = {
        **{"python_version": python, "python_full_version": f"{python}.0", "implementation_name": "cpython"},
        **{"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"},
    }
    modules: set[str] = set()
    for name, distribution in _with_requirements(OFFERED, environment).items():
        if distribution is None:  # only the grader's Python needs it
            modules.add(name.replace("-", "_"))
        else:
            modules.update(filter(None, map(_module_name, _contents(distribution))))
    return sorted(modules, key=str.lower)


def _with_requirements(
    names: Iterable[str], environment: Mapping[str, str]
) -> dict[str, importlib.metadata.Distribution | None]:
    """Packages and all that they require in an environment like this one, but for the markers given; `None` if missing."""
    queue, distributions = list(names), dict[str, importlib.metadata.Distribution | None]()
    while queue:
        name = queue.pop()
        if name in distributions:
            continue
        try:
            distributions[name] = distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            distributions[name] = None
            continue
        for requirement in map(Requirement, distribution.requires or []):
            if requirement.marker is None or requirement.marker.evaluate({"extra": "", **environment}):
                queue.append(requirement.name)
    return distributions


def _contents(distribution: importlib.metadata.Distribution) -> set[Path]:
    tops = {file.parts[0] for file in distribution.files or []}
    kept = (top for top in tops if top not in ("..", "__pycache__") and not top.endswith((".dist-info", ".pth")))
    return {Path(str(distribution.locate_file(top))) for top in kept}


def _module_name(path: Path) -> str:
    """The name under which this is imported, empty if it is no module but, say, a folder of shared libraries."""
    name = path.name
    for suffix in importlib.machinery.all_suffixes():
        name = name.removesuffix(suffix)
    return name if name.isidentifier() else ""
