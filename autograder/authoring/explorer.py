"""The explorer: one HTML page of interactive views, made from `assignments/explorer/`. It loads nothing from anywhere.

A course without that folder has no explorer.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from autograder.course import Course, CourseError, ProblemSet, read_yaml
from autograder.schema import Strict

FOLDER = "explorer"
PAGE = "explorer.html"  # at the top of the template
SCRIPTS = ("compute.js", "draw.js", "views.js")


class Library(Strict):
    """A library of others, whose files lie in the repository. Hashes are SHA-256."""

    name: str
    version: str
    licence: str
    licence_file: str
    files: dict[str, str]
    original: dict[str, str]


class View(Strict):
    """A view: `below` names the questions, by problem set, under which its link stands."""

    title: str
    below: dict[str, str]


class Explorer(Strict):
    """What `explorer.yml` declares."""

    libraries: list[Library]
    views: dict[str, View]


def explorer_page(course: Course) -> bytes | None:
    """The page; `None` if the course has none. Raises `CourseError` if a library's file is not the one that was declared."""
    folder = course.root / "assignments" / FOLDER
    if not folder.is_dir():
        return None
    declared = _declared(folder)
    licences = "\n\n".join(_read(folder / library.licence_file) for library in declared.libraries)
    vendored = [path for library in declared.libraries for path in _verified(folder, library)]
    styles = [*(path for path in vendored if path.suffix == ".css"), folder / "style.css"]
    scripts = [*(path for path in vendored if path.suffix == ".js"), *(folder / name for name in SCRIPTS)]
    data = f"const melodyMaps = {_read(folder / 'melody.json').strip()};\n"
    style, script = "".join(map(_read, styles)), data + "".join(map(_read, scripts))
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"
    )
    page = _read(folder / "page.html")
    for name, text in {"policy": policy, "style": style, "script": script, "licence": html.escape(licences)}.items():
        page = page.replace(f"{{{{{name}}}}}", text)
    return page.encode()


def explorer_links(problem_set: ProblemSet) -> dict[str, str]:
    """A sentence in Markdown, by question, that links to the view which belongs to it."""
    folder = problem_set.folder.parent / FOLDER
    views = _declared(folder).views if folder.is_dir() else {}
    return {
        view.below[problem_set.slug]: f"Explore: [{view.title}](../{PAGE}#{name}), a page that opens in your browser."
        for name, view in views.items()
        if problem_set.slug in view.below
    }


def _declared(folder: Path) -> Explorer:
    path = folder / "explorer.yml"
    try:
        return Explorer.model_validate(read_yaml(path))
    except ValidationError as error:
        raise CourseError(f"{path}: {error}") from None


def _verified(folder: Path, library: Library) -> Iterator[Path]:
    for name, digest in library.files.items():
        path = folder / name
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise CourseError(f"{path} is not the file of {library.name} {library.version} that explorer.yml declares")
        yield path


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The name by which a content security policy knows what stands between two tags."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
