"""Tables for a wide terminal, a narrow one, and a program: nothing is cut, and reasons are not squeezed into a column."""

from __future__ import annotations

import csv
import datetime
import io
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from autograder.course import load_course
from autograder.intake import Unreadable
from autograder.journal import Run, Stored
from autograder.record import Look, Reason
from autograder.sheet import Column, Row, Sheet
from autograder.table import changes_table, grades_table
from tests.support import records

PS1 = load_course(Path(__file__).resolve().parents[1]).problem_set("ps1")
LONG = "a-student-with-a-very-long-id-" + "0" * 34  # as long as an id may be
REASON = "AxisError: axis 2 is out of bounds for array of dimension 2 (line 19, in softmax: shifted = scores - scores.max())"
LISTED = Unreadable("Zoe\u0308_1500001_assignsubmission_file_/ps1.py", "not in the roster: 1500001", student="s009")


def lines(sheet: Sheet, width: int | None) -> list[str]:
    """What a terminal of that width shows; without a width, what a pipe gets."""
    text = io.StringIO()
    console = Console(file=text, width=width or 80, force_terminal=width is not None, color_system=None)
    console.print(sheet, soft_wrap=True)
    return text.getvalue().splitlines()


@pytest.fixture
def sheet() -> Sheet:
    questions = [records.score(question, question.points) for question in PS1.assignment.questions]
    looks = {"s001": (), "s002": (Look(Reason.PROBLEM, REASON),), LONG: (Look(Reason.STOPPED, "stopped"),)}
    stored = [
        Stored(1, 1, Path(), records.record(questions, provenance=records.provenance(student=student), look=look))
        for student, look in looks.items()
    ]
    return grades_table(PS1, stored, [LISTED])


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_terminal_shows_all_of_it_within_its_width(sheet: Sheet, width: int) -> None:
    shown = lines(sheet, width)
    # An id that is longer than the terminal goes on in the next line of it, which is not for us to break.
    assert all(cell_len(line) <= width for line in shown if LONG not in line)
    assert sum(LONG in line for line in shown) == 1
    whole = " ".join(" ".join(shown).split())
    assert REASON in whole
    assert "not graded: " in whole
    assert "(s009): not in the roster: 1500001" in whole
    for question in PS1.assignment.questions:
        assert question.id in whole


@pytest.mark.parametrize("width", [40, 80])
def test_reasons_stand_under_their_row(sheet: Sheet, width: int) -> None:
    shown = lines(sheet, width)
    row = next(place for place, line in enumerate(shown) if line.startswith("s002"))
    reason = next(place for place, line in enumerate(shown) if "AxisError" in line)
    assert reason > row
    assert shown[reason].startswith("  AxisError: axis 2 is out of")
    assert not any(line.startswith(("s001", LONG)) for line in shown[row:reason])


def test_a_short_reason_stands_beside_its_row() -> None:
    sheet = Sheet(
        "title", [Column("student"), Column("points", right=True)], [Row([Text("s001"), Text("3")], [Text("late")])], ""
    )
    assert lines(sheet, 40) == ["title", "student  points", "s001          3  late"]


@pytest.mark.parametrize("width", [40, None])
def test_a_regrade_that_fails_shows_the_reason_and_no_path(width: int | None) -> None:
    fault = 'Traceback (most recent call last):\n  File "/a/long/path/of/the/grader.py", line 1\nMemoryError: no room for it'
    faults = [Stored(1, 2, Path(), records.record(provenance=records.provenance(student=LONG), fault=fault))]
    run = Run(1, "v2", "1", datetime.datetime(2026, 9, 20, tzinfo=datetime.UTC), "", {})
    shown = " ".join(" ".join(lines(changes_table(PS1, run, [], faults), width)).split())
    assert LONG in shown
    assert "grader fault, points stay: MemoryError: no room for it" in shown
    assert "/a/long/path" not in shown


def test_a_pipe_gets_tab_separated_lines_with_all_columns(sheet: Sheet) -> None:
    shown = lines(sheet, None)
    header, *rows = csv.reader(shown[:4], delimiter="\t", quoting=csv.QUOTE_NONE)
    assert header[0] == "student"
    assert header[-1] == "needs a look"
    assert len(header) == len(PS1.assignment.questions) + 3
    assert [row[0] for row in rows] == ["s001", "s002", LONG]
    assert {len(row) for row in rows} == {len(header)}
    assert rows[1][-1] == REASON
    assert shown[4] == f"not graded: {LISTED.name} (s009): {LISTED.reason}"


def test_a_pipe_gets_one_line_a_row_whatever_is_in_it() -> None:
    sheet = Sheet("", [Column("a"), Column("b")], [Row([Text("1\t2"), Text("3\n4")], [Text("x\ty"), Text("z")])], "why")
    assert lines(sheet, None) == ["a\tb\twhy", "1 2\t3 4\tx y; z"]
