"""The ways to write grades for other programs. Each is a module here that defines `EXPORT`; it is found by being here."""

from __future__ import annotations

import importlib
import pkgutil

from autograder.exporting import Export

_MODULES = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
EXPORTS: dict[str, Export] = {module.EXPORT.name: module.EXPORT for module in _MODULES}
