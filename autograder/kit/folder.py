"""A problem set's folder on a student's laptop: what it says of itself, the two forms of the work, and which are begun."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from autograder.kit.release_files import DESCRIPTION, load_base
from autograder.runtime import loading
from autograder.testing.errors import UNDONE

FORMS = {"module": ".py", "notebook": ".ipynb"}


def find_folder(name: str) -> Path:
    """The folder of a problem set, named as seen from here or from the folder that holds `autograder`."""
    beside = Path(__file__).resolve().parents[2] / name
    return beside if not Path(name).is_dir() and beside.is_dir() else Path(name)


def find_description(folder: Path) -> Path:
    """The `problem_set.json` of a folder; raises `FileNotFoundError` with what to do."""
    path = folder / DESCRIPTION
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing. Start pytest or the notebook inside the problem set's folder.")
    return path


def read_description(folder: Path) -> dict[str, Any]:
    """What a problem set's folder says of it."""
    description: dict[str, Any] = json.loads(find_description(folder).read_text(encoding="utf-8"))
    return description


def known_question(description: dict[str, Any], name: str) -> dict[str, Any]:
    """The question of that name; raises `ValueError` with those there are."""
    questions = {question["id"]: question for question in description["questions"]}
    if name not in questions:
        raise ValueError(f"there is no question {name!r}; there are {', '.join(questions)}")
    found: dict[str, Any] = questions[name]
    return found


def hint_text(description: dict[str, Any], name: str, number: int) -> str:
    """One of a question's hints, from 1. Raises `ValueError` if there is none of that number."""
    hints = known_question(description, name)["hints"]
    if not 1 <= number <= len(hints):
        there = f"there are hints 1 to {len(hints)}" if hints else "it has none"
        raise ValueError(f"there is no hint {number} for {name}; {there}")
    return f"Hint {number} of {len(hints)}: {hints[number - 1]}"


def find_work(folder: Path, module: str) -> Path:
    """The form a student works in: of module and notebook, the one with fewer stubs left; the module if they tie."""
    forms = [path for path in (folder / f"{module}.py", folder / f"{module}.ipynb") if path.is_file()]
    if not forms:
        raise FileNotFoundError(f"neither {module}.py nor {module}.ipynb is in {folder}")
    return min(forms, key=lambda path: path.read_text(encoding="utf-8", errors="replace").count(UNDONE))


def begun_forms(folder: Path, description: dict[str, Any]) -> list[Path]:
    """The forms of the work that differ from the template that they were made from."""
    slug = description["slug"]
    base = load_base(folder.resolve().parent, slug)
    files = [folder / f"{description['module']}{ending}" for ending in FORMS.values()]
    return [
        path for path in files if path.is_file() and _text(path.read_bytes()) != _text(base.get(f"{slug}/{path.name}", b""))
    ]


def _text(content: bytes) -> bytes:
    """What a file holds, whatever ends its lines; of a notebook the cells alone, as opening it changes the rest."""
    try:
        cells = json.loads(content)["cells"]
        return json.dumps(["".join(cell["source"]) for cell in cells]).encode()
    except (ValueError, TypeError, KeyError, RecursionError):
        return content.replace(b"\r\n", b"\n")


def texts_of(work: Path) -> list[tuple[str, str]]:
    """The Python texts of a module or a notebook, each with the name of its cell; none if it cannot be read."""
    source = work.read_bytes()
    if work.suffix == ".py":
        return [("", source.decode("utf-8", "replace"))]
    try:
        return loading.code_cells(source)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []  # loading it says what is wrong


def check_command(folder: Path) -> str:
    """How a student calls `check.py` for this folder from where they are."""
    script = folder.resolve().parent / "check.py"
    try:
        shown = os.path.relpath(script)
    except ValueError:  # on another drive of Windows
        shown = str(script)
    return f'python "{shown}" {folder.resolve().name}' if " " in shown else f"python {shown} {folder.resolve().name}"
