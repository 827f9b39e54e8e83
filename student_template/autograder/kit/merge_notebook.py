"""Three-way merge of notebooks, cell by cell; cells that define names are merged piece by piece, wherever they moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.kit.merge import Questions, Report, Text, merge, read_template, read_text

Cell = Mapping[str, Any]
Notebook = Mapping[str, Any]
Entry = tuple[Cell, set[str]]  # a cell of the result and its roles, none for a cell of the student's own


def merge_notebook(
    mine: Notebook, base: Notebook, new: Notebook, old_questions: Questions, questions: Questions, report: Report
) -> Notebook:
    """The student's notebook, brought from the base to the new template."""
    old_cells, new_cells = _roles(base), _roles(new)
    texts = {
        number: read_text(source_of(cell), notebook=True)
        for number, cell in enumerate(mine["cells"])
        if cell["cell_type"] == "code"
    }
    roles = _assign(mine["cells"], texts, old_cells, new_cells)
    notes: dict[int, list[Cell]] = {}
    for role, cell in new_cells.items():
        if role in old_cells and _defined(cell):
            old = read_template(source_of(old_cells[role]), old_questions)
            merge(list(texts.values()), old, read_template(source_of(cell), questions), report)
            broken = [number for number, text in texts.items() if text.guessed & _defined(cell)]
            if broken and source_of(old_cells[role]) != source_of(cell):
                notes.setdefault(broken[0], []).append(_note(cell))
                name = _begins(mine["cells"][broken[0]])
                report.look.append(f"{name} does not parse, so it stays as it is; the new text is in the cell below it")
    entries: list[Entry] = []
    for number, cell in enumerate(mine["cells"]):
        whole = next((role for role in roles[number] if not _defined(old_cells.get(role) or new_cells[role])), "")
        if whole:
            entries += _decide(cell, whole, old_cells.get(whole), new_cells.get(whole), report)
        elif number in texts:
            text = texts[number].merged()
            same = text == source_of(cell)
            entries.append((cell if same else {**cell, "source": text.splitlines(keepends=True)}, roles[number]))
        else:
            entries.append((cell, roles[number]))
        entries += [(note, set()) for note in notes.get(number, [])]
    _add_missing(entries, old_cells, new_cells, questions, report)
    return {**mine, "cells": _with_ids(entries, mine.get("nbformat_minor", 0) >= 5)}


def source_of(cell: Cell) -> str:
    """A cell's text."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def check_notebook(notebook: object) -> None:
    """Raises `ValueError` for what is not a notebook of format 4."""
    cells = notebook.get("cells") if isinstance(notebook, dict) and notebook.get("nbformat") == 4 else None
    if not isinstance(cells, list):
        raise ValueError("it is not a notebook of nbformat 4; open it in Jupyter and save it")
    for number, cell in enumerate(cells, start=1):
        source = cell.get("source") if isinstance(cell, dict) and isinstance(cell.get("cell_type"), str) else None
        if not (isinstance(source, str) or (isinstance(source, list) and all(isinstance(line, str) for line in source))):
            raise ValueError(f"cell {number} is damaged")


def _roles(template: Notebook) -> dict[str, Cell]:
    """A template's cells by role: the id, and for prose, whose ids are only numbers, the id of the cell it leads to."""
    roles: dict[str, Cell] = {}
    following = "the end"
    for cell in reversed(template["cells"]):
        is_prose = cell["id"].startswith("prose-")
        following = following if is_prose else cell["id"]
        roles[f"prose before {following}" if is_prose else following] = cell
    return dict(reversed(roles.items()))


def _defined(cell: Cell) -> frozenset[str]:
    """The names that a template's cell defines."""
    pieces = read_template(source_of(cell), {}) if cell["cell_type"] == "code" else []
    return frozenset(name for piece in pieces for name in piece.names)


def _assign(
    cells: Sequence[Cell], texts: Mapping[int, Text], old_cells: Mapping[str, Cell], new_cells: Mapping[str, Cell]
) -> list[set[str]]:
    """The roles of the student's cells: by their text, else by their id, else by the names they define."""
    result: list[set[str]] = [set() for _ in cells]
    taken: set[str] = set()

    def assign(number: int, role: str | None) -> None:
        if role is not None and role not in taken and not result[number]:
            result[number].add(role)
            taken.add(role)

    by_text = {_content(cell): role for template in (new_cells, old_cells) for role, cell in template.items()}
    for number, cell in enumerate(cells):
        assign(number, by_text.get(_content(cell)))
    by_id = {(cell["cell_type"], cell["id"]): role for role, cell in old_cells.items()}
    for number, cell in enumerate(cells):
        assign(number, by_id.get((cell["cell_type"], cell.get("id"))))
    for role, cell in new_cells.items():
        for number, text in texts.items():
            names = text.guessed.union(*(piece.names for piece in text.pieces))
            if role not in taken and names & _defined(cell):
                result[number].add(role)
    return result


def _decide(cell: Cell, role: str, old: Cell | None, new: Cell | None, report: Report) -> list[Entry]:
    """What becomes of a student's cell that the template has as a whole: prose, or a check."""
    untouched = any(version is not None and _content(version) == _content(cell) for version in (old, new))
    if untouched and new is None:
        return []
    if new is None:
        return [(cell, set())]
    if _content(new) == _content(cell):
        return [({**cell, "id": new["id"]}, {role})]
    if untouched:
        return [(new, {role})]
    if old is not None and _content(old) == _content(new):
        return [({**cell, "id": new["id"]}, {role})]
    report.look.append(f"{_begins(cell)} was changed by you and by the template: yours stands below the new one")
    return [(new, {role}), (cell, set())]


def _add_missing(
    entries: list[Entry],
    old_cells: Mapping[str, Cell],
    new_cells: Mapping[str, Cell],
    questions: Questions,
    report: Report,
) -> None:
    """Insert the template's new cells, each below the one before it and the student's own cells there.

    Of the cells that the student deleted, only prose and checks come back, and only if they changed.
    """
    place = 0
    for role, cell in new_cells.items():
        here = [number for number, (_, roles) in enumerate(entries) if role in roles]
        if here:
            place = here[-1] + 1
            continue
        old = old_cells.get(role)
        if old is not None and (_defined(cell) or _content(old) == _content(cell)):
            continue
        while 0 < place < len(entries) and not entries[place][1]:
            place += 1
        entries.insert(place, (cell, {role}))
        place += 1
        for piece in read_template(source_of(cell), questions) if _defined(cell) else []:
            report.add(report.new, piece)


def _with_ids(entries: Sequence[Entry], has_ids: bool) -> list[Cell]:
    """The cells, each with an id of its own where the notebook's format has ids."""
    if not has_ids:
        return [{name: value for name, value in cell.items() if name != "id"} for cell, _ in entries]
    used = {cell["id"] for cell, roles in entries if roles and "id" in cell}
    cells = []
    for cell, roles in entries:
        if "id" in cell and not roles:
            number, name = 2, cell["id"]
            while name in used:
                name = f"{str(cell['id'])[:50]}-{number}"
                number += 1
            used.add(name)
            cell = cell if name == cell["id"] else {**cell, "id": name}
        cells.append(cell)
    return cells


def _note(cell: Cell) -> Cell:
    text = f"The new text of the cell above:\n\n```python\n{source_of(cell)}\n```"
    return {"cell_type": "markdown", "id": f"new-{cell['id']}", "metadata": {}, "source": text.splitlines(keepends=True)}


def _content(cell: Cell) -> tuple[str, str]:
    return cell["cell_type"], source_of(cell).strip()


def _begins(cell: Cell) -> str:
    return f"the cell that begins with {source_of(cell).strip()[:40]!r}"
