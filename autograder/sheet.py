"""A table of short cells with notes, laid out for whoever reads it: a wide terminal, a narrow one, or a program.

wide      a line a row; notes at its end if they fit, else below it
narrow    a heading a row, its cells by name, its notes; nothing is cut
piped     tab-separated: a header, a line a row, notes in the last column
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

GAP = 2
INDENT = 2


@dataclass(frozen=True)
class Column:
    """A column: its name, a mark that stands for it where there is no room, and what its cells are out of, such as `/3`."""

    name: str
    mark: str = ""
    unit: str = ""
    right: bool = False

    @property
    def head(self) -> tuple[str, str]:
        """The two lines above a column of a wide table."""
        return self.mark or self.name, self.unit


@dataclass(frozen=True)
class Row:
    """A row: a cell a column, and notes of any length."""

    cells: Sequence[Text]
    notes: Sequence[Text] = ()


@dataclass(frozen=True)
class Sheet:
    """A table with a title above it.

    `notes_name` is the name of the notes, `legend` says what the marks of columns stand for, and `below` is what is said
    after the rows.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes_name: str
    legend: Text = field(default_factory=Text)
    below: Sequence[Text] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not console.is_terminal:
            yield Segment("".join(f"{line}\n" for line in self._piped()))
            return
        widths = [
            max(cell.cell_len for cell in (*map(Text, column.head), *(row.cells[place] for row in self.rows)))
            for place, column in enumerate(self.columns)
        ]
        room = options.max_width
        yield Text(self.title, "bold")
        fits = sum(widths) + GAP * (len(widths) - 1) <= room
        lines = self._wide(widths, console, room) if fits else self._narrow(console, room)
        for line in lines:
            line.rstrip()
            yield line
        for text in [self.legend, *self.below] if fits else self.below:
            yield from text.wrap(console, room) if text.plain else ()

    def _wide(self, widths: Sequence[int], console: Console, room: int) -> Iterator[Text]:
        for place in (0, 1):
            heads = [Text(column.head[place], "dim" if place else "bold") for column in self.columns]
            if any(heads):
                yield self._line(heads, widths)
        for row in self.rows:
            line = self._line(row.cells, widths)
            if len(row.notes) == 1 and line.cell_len + GAP + row.notes[0].cell_len <= room:
                yield Text.assemble(line, " " * GAP, row.notes[0])
            else:
                yield line
                yield from self._below_row(row, console, room)

    def _line(self, cells: Sequence[Text], widths: Sequence[int]) -> Text:
        line = Text()
        for column, cell, width in zip(self.columns, cells, widths, strict=True):
            blank = " " * (width - cell.cell_len)
            line = Text.assemble(line, " " * GAP if line.plain else "", *((blank, cell) if column.right else (cell, blank)))
        return line

    def _narrow(self, console: Console, room: int) -> Iterator[Text]:
        for row in self.rows:
            yield Text.assemble((row.cells[0].plain, "bold"))
            cells = [
                Text.assemble(f"{column.name} ", cell, column.unit)
                for column, cell in zip(self.columns[1:], row.cells[1:], strict=True)
                if cell.plain
            ]
            for line in _packed(cells, room - INDENT):
                yield from _indented(line, console, room)
            yield from self._below_row(row, console, room)

    def _below_row(self, row: Row, console: Console, room: int) -> Iterator[Text]:
        for note in row.notes:
            yield from _indented(note, console, room)

    def _piped(self) -> Iterator[str]:
        names = [f"{column.name} {column.unit}".strip() for column in self.columns]
        yield "\t".join([*names, self.notes_name])
        for row in self.rows:
            cells = [cell.plain for cell in row.cells]
            yield "\t".join(_one_line(text) for text in [*cells, "; ".join(note.plain for note in row.notes)])
        for text in self.below:
            yield _one_line(text.plain)


def _packed(cells: Sequence[Text], room: int) -> Iterator[Text]:
    """Cells in lines of at most `room`, each whole where that is possible."""
    line = Text()
    for cell in cells:
        if line.plain and line.cell_len + GAP + cell.cell_len > room:
            yield line
            line = Text()
        line = Text.assemble(line, " " * GAP if line.plain else "", cell)
    yield line


def _indented(text: Text, console: Console, room: int) -> Iterator[Text]:
    for line in text.wrap(console, max(1, room - INDENT)):
        line.rstrip()
        yield Text.assemble(" " * INDENT, line)


def _one_line(text: str) -> str:
    return " ".join(text.split("\n")).replace("\t", " ")
