"""A student's notebook and a new template of it. Cells of the template become new; the student's own stay where they are."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.kit.merge import Block, Merge, Unreadable, cut, read_unit, words

Cell = dict[str, Any]
# What a cell of the template is for: ("intro", ""), ("prose", the question behind it), ("answer", question),
# ("check", question), ("set-up", "") or ("set-up-check", "").
Key = tuple[str, str]
_CHECK = re.compile(r"""\s*check\(\s*["'](\w+)["']\s*\)\s*""")
_SLOT = re.compile(r"^> \*\*Question \d+: .*$", re.MULTILINE)
_KIT = "autograder.kit import"


@dataclass
class _Entry:
    """A cell of the result, and what it is for; nothing for a cell of the student's own."""

    cell: Cell
    keys: frozenset[Key] = frozenset()
    from_template: bool = False


@dataclass
class NotebookMerge:
    """The cells that a student's notebook becomes.

    `questions` and `old_questions` name what the new and the student's version ask for, by question, in order; `old_prose`
    and `new_prose` are the lessons' parts (see `prose_parts`): a part that is in neither was edited, and is kept.
    """

    mine: Mapping[str, Any]
    template: Mapping[str, Any]
    questions: Mapping[str, Sequence[str]]
    old_questions: Mapping[str, Sequence[str]]
    old_prose: Sequence[str]
    new_prose: Sequence[str]
    other: Collection[str] | None
    merge: Merge = field(init=False)
    _new: dict[Key, Cell] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._code = [number for number, cell in enumerate(self.mine["cells"]) if cell["cell_type"] == "code"]
        self._new = {_template_key(cell, list(self.questions)): cell for cell in self.template["cells"]}
        blocks = [
            block
            for (kind, question), cell in self._new.items()
            if kind == "answer"
            for block in cut(source_of(cell), {question: self.questions[question]})
            if block.question
        ]
        units = [read_unit(source_of(self.mine["cells"][number]), notebook=True) for number in self._code]
        old_names = [name for names in self.old_questions.values() for name in names]
        self.merge = Merge(units, blocks, old_names, self.other)

    def notebook(self) -> dict[str, Any]:
        """The merged notebook: the student's, with other cells."""
        keys = self._keys()
        self._merge_set_up(keys)
        entries: list[_Entry] = []
        for number, cell in enumerate(self.mine["cells"]):
            entries += self._become(cell, number, keys[number])
        self._add_missing(entries)
        self._note_unreadable(entries)
        return {**self.mine, "cells": self._with_ids(entries)}

    def _keys(self) -> list[frozenset[Key]]:
        """What each of the student's cells is for: by what it holds first, by its id else."""
        keys: list[frozenset[Key]] = []
        set_up = self._blocks_of_set_up()
        wanted = {name for block in set_up for statement in block.statements for name in statement.names}
        ids = {cell.get("id") for cell in self.mine["cells"]}
        taken: set[Key] = set()
        for number, cell in enumerate(self.mine["cells"]):
            text, name = source_of(cell), str(cell.get("id", ""))
            found: set[Key] = set()
            if cell["cell_type"] == "markdown":
                part = next((at for at, prose in enumerate(self.old_prose) if prose == text.strip()), None)
                by_id = re.fullmatch(r"prose-(\d+)", name)
                if part is None and by_id:
                    part = int(by_id[1])
                if part is not None and part <= len(self.old_questions):
                    found.add(_prose_key(part, list(self.old_questions)))
                elif text.strip() in self.new_prose:
                    found.add(_prose_key(list(self.new_prose).index(text.strip()), list(self.questions)))
            elif cell["cell_type"] == "code":
                unit = self.merge.units[self._code.index(number)]
                names = {bound for statement in unit.statements for bound in statement.names} | unit.guessed
                found = {("answer", question) for question, asked in self.questions.items() if names & set(asked)}
                check = _CHECK.fullmatch(text)
                if check and check[1] in {*self.questions, *self.old_questions}:
                    found.add(("check", check[1]))
                elif name == "set-up-check" or _KIT in text:
                    found.add(("set-up-check", ""))
                elif name == "set-up" or ("set-up" not in ids and names & wanted):
                    found.add(("set-up", ""))
                elif not found:
                    found = {("answer", one) for one in self.questions if name == _cell_id("answer", one)}
            # The first cell is the one; what repeats it is the student's own. Only answers may be cut into several.
            keys.append(frozenset(key for key in found if key[0] == "answer" or key not in taken))
            taken |= found
        return keys

    def _blocks_of_set_up(self) -> list[Block]:
        cell = self._new.get(("set-up", ""))
        return [] if cell is None else cut(source_of(cell), {})

    def _merge_set_up(self, keys: Sequence[frozenset[Key]]) -> None:
        home = next((at for at, number in enumerate(self._code) if ("set-up", "") in keys[number]), None)
        if home is None:
            return
        unit = self.merge.units[home]
        if not unit.readable or "".join(unit.lines).lstrip().startswith("%%"):
            self.merge.report.look.append("the set-up cell is no plain Python, so it stays as it is")
            return
        for block in self._blocks_of_set_up():
            self.merge.set_up(block, home)

    def _become(self, cell: Cell, number: int, keys: frozenset[Key]) -> list[_Entry]:
        """What one of the student's cells becomes."""
        text = source_of(cell)
        kinds = {kind for kind, _ in keys}
        if not keys or kinds & {"answer", "set-up"}:
            if number in self._code:
                merged = self.merge.text(self._code.index(number))
                cell = cell if merged == text else {**cell, "source": merged.splitlines(keepends=True)}
            return [_Entry(cell, keys)]
        (key,) = keys
        new = self._new.get(key)
        pristine = kinds == {"check"} or text.strip() in (*self.old_prose, *self.new_prose)
        if new is None:
            return [] if pristine else [_Entry(cell)]
        if source_of(new) == text:
            return [_Entry({**cell, "id": new["id"]}, keys, True)]
        entries = [_Entry(dict(new), keys, True)]
        if not pristine:
            self.merge.report.look.append(
                f"you changed the cell that begins with {text.strip()[:40]!r}: it stands behind the new one"
            )
            entries.append(_Entry(cell))
        return entries

    def _add_missing(self, entries: list[_Entry]) -> None:
        """Put in the template's cells that the student lacks, each behind the one before it and the student's own there."""
        new_questions = {block.question for block in self.merge.absent}
        before: Key | None = None
        for key, cell in self._new.items():
            here = [at for at, entry in enumerate(entries) if key in entry.keys]
            if not here and key[0] == "answer" and key[1] not in new_questions:
                continue
            if not here:
                places = [at for at, entry in enumerate(entries) if before in entry.keys]
                place = places[-1] + 1 if places else 0
                while places and place < len(entries) and not entries[place].keys:
                    place += 1
                entries.insert(place, _Entry(dict(cell), frozenset({key}), True))
            before = key

    def _note_unreadable(self, entries: list[_Entry]) -> None:
        """Behind an answer that does not parse, put the new text of its question, as text, unless it is all known."""
        for question, names in self.questions.items():
            cell = self._new.get(("answer", question))
            broken = [unit for unit in self.merge.units if not unit.readable and unit.guessed & set(names)]
            known = {*(self.other or ()), *words("".join(unit.lines) for unit in self.merge.units)}
            if cell is None or not broken or words([source_of(cell)]) <= known:
                continue
            text = f"The new text of question `{question}`:\n\n```python\n{source_of(cell)}\n```"
            self.merge.report.look.append(
                f"your cell with question {question} does not parse, so it stays as it is; the new text stands behind it"
            )
            if any(source_of(entry.cell) == text for entry in entries):
                continue
            place = next(at for at, entry in enumerate(entries) if ("answer", question) in entry.keys)
            note = {"cell_type": "markdown", "id": _cell_id("new", question), "metadata": {}}
            entries.insert(place + 1, _Entry({**note, "source": text.splitlines(keepends=True)}))

    def _with_ids(self, entries: Sequence[_Entry]) -> list[Cell]:
        """The cells, each with an id of its own where the notebook's format has ids."""
        if self.mine.get("nbformat_minor", 0) < 5:
            return [{name: value for name, value in entry.cell.items() if name != "id"} for entry in entries]
        used = {entry.cell["id"] for entry in entries if entry.from_template}
        cells = []
        for entry in entries:
            cell = entry.cell
            if "id" in cell and not entry.from_template:
                number, name = 2, cell["id"]
                while name in used:
                    name = f"{str(cell['id'])[:50]}-{number}"
                    number += 1
                used.add(name)
                cell = cell if name == cell["id"] else {**cell, "id": name}
            cells.append(cell)
        return cells


def prose_parts(readme: str) -> list[str]:
    """The parts of a lesson between its questions; each is a cell of the notebook."""
    return [part.strip() for part in _SLOT.split(readme.replace("\r\n", "\n"))]


def source_of(cell: Mapping[str, Any]) -> str:
    """A cell's text."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def check_notebook(notebook: object) -> None:
    """Raises `Unreadable` for what is no notebook of format 4."""
    cells = notebook.get("cells") if isinstance(notebook, dict) and notebook.get("nbformat") == 4 else None
    if not isinstance(cells, list):
        raise Unreadable("it is not a notebook of nbformat 4; open it in Jupyter and save it")
    for number, cell in enumerate(cells, start=1):
        source = cell.get("source") if isinstance(cell, dict) and isinstance(cell.get("cell_type"), str) else None
        if not (isinstance(source, str) or (isinstance(source, list) and all(isinstance(line, str) for line in source))):
            raise Unreadable(f"cell {number} is damaged")


def _cell_id(kind: str, question: str) -> str:
    return f"{kind}-{question}".replace("_", "-")


def _prose_key(part: int, questions: Sequence[str]) -> Key:
    """What a part of the lesson is for. The first opens the notebook, in front of the set-up, whatever question follows."""
    return ("prose", [*questions, ""][part]) if part else ("intro", "")


def _template_key(cell: Cell, questions: Sequence[str]) -> Key:
    kind, _, rest = str(cell["id"]).partition("-")
    if kind == "prose":
        return _prose_key(int(rest), questions)
    for question in questions if kind in ("answer", "check") else ():
        if cell["id"] == _cell_id(kind, question):
            return kind, question
    return str(cell["id"]), ""
