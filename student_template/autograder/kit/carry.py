"""`python check.py ps6 --carry`: copy functions that a student wrote for an earlier problem set into this one."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.kit.folder import find_work, read_description, texts_of
from autograder.testing.errors import UNDONE

# Opens the place for what is carried over, and what its stubs say.
PLACE = "# === carried over ==="
WAITING = "carry your own function over first"


@dataclass
class _Definitions:
    """What Python texts define at top level: the source of each name's last definition, and the names that it uses."""

    sources: dict[str, str] = field(default_factory=dict)
    uses: dict[str, set[str]] = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[str]) -> _Definitions:
        definitions = cls()
        for text in texts:
            try:
                body = ast.parse(text).body
            except (SyntaxError, ValueError):
                continue  # the problem set's own check says what is wrong with a cell
            lines = text.splitlines()
            for node in body:
                first = min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", []))]) - 1
                last = node.end_lineno or node.lineno
                for name in _names(node):
                    definitions.sources[name] = "\n".join(lines[first:last])
                    definitions.uses[name] = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
                    definitions.spans[name] = first, last
        return definitions

    def needed_by(self, name: str, known: set[str]) -> list[str]:
        """The names that a definition needs and that are not `known`: first those that others need."""
        needed: list[str] = []
        for other in sorted((self.uses[name] & self.sources.keys()) - known - {name}):
            needed += [more for more in [*self.needed_by(other, known | {name, *needed}), other] if more not in needed]
        return needed


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def carry(folder: Path, description: Mapping[str, Any]) -> list[str]:
    """Fill the stubs for what is carried over from the student's earlier work, with all that it calls.

    Only stubs are replaced. Returns what was done, in lines. Raises `ValueError` or `FileNotFoundError` with what to do if
    there is nothing to carry.
    """
    carried: list[dict[str, Any]] = description.get("carried", [])
    if not carried:
        raise ValueError("nothing is carried over to this problem set")
    work = find_work(folder, description["module"])
    text, told = _place(work), []
    for entry in carried:
        earlier = folder.parent / entry["problem_set"]
        theirs = find_work(earlier, read_description(earlier)["module"])
        own = _Definitions.of(source for _, source in texts_of(theirs))
        for name in entry["names"]:
            here = _Definitions.of([text])
            if WAITING not in here.sources.get(name, ""):
                told.append(f"{name}: is there already, unchanged")
            elif name not in own.sources:
                told.append(f"{name}: not found in {theirs}")
            elif UNDONE in own.sources[name]:
                told.append(f"{name}: {UNDONE} in {theirs}")
            else:
                # What waits for its own turn is not known yet, but will be.
                needed = own.needed_by(name, set(here.sources))
                parts = [own.sources[other] for other in [*needed, name]]
                first, last = here.spans[name]
                lines = text.splitlines()
                text = "\n".join([*lines[:first], "\n\n\n".join(parts), *lines[last:]]) + "\n"
                told.append(f"{name}: copied from {theirs}" + (f", with {', '.join(needed)}" if needed else ""))
    _write(work, text)
    return told


def _place(work: Path) -> str:
    """The Python text with the marked place: the module, or one cell of the notebook."""
    if work.suffix == ".py":
        return work.read_text(encoding="utf-8")
    return "".join(_cell(json.loads(work.read_text(encoding="utf-8")), work)["source"])


def _write(work: Path, text: str) -> None:
    if work.suffix == ".ipynb":
        notebook = json.loads(work.read_text(encoding="utf-8"))
        _cell(notebook, work)["source"] = text.rstrip("\n").splitlines(keepends=True)
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    work.write_text(text, encoding="utf-8")


def _cell(notebook: Mapping[str, Any], work: Path) -> dict[str, Any]:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and PLACE in "".join(cell["source"]):
            result: dict[str, Any] = cell
            return result
    raise ValueError(f"{work} has no line `{PLACE}`, where functions are carried to")
