"""Written answers outside their variable: what counts as one, and where it stands."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from autograder import essays
from autograder.course import load_course
from autograder.essays import Cell, Essay, EssayFinder
from autograder.intake import Submission
from autograder.testing.student import LocalRunner

ESSAY = "A weight is a coefficient in one average; it says nothing of causes."
TEMPLATE = frozenset(
    {"# Say why the weight alone does not show this.", "causation = None", "## The lesson", 'check("causation")'}
)
STUB = "# Say why the weight alone does not show this.\ncausation = None"


def cells(*texts: str) -> list[Cell]:
    """Cells by their texts; prose begins with a space."""
    return [Cell(number, not text.startswith(" "), text.strip()) for number, text in enumerate(texts, start=1)]


@pytest.mark.parametrize(
    ("value", "essay"),
    [
        ("text", Essay("text")),
        (("one,", "two"), Essay("one,\ntwo", "a tuple")),
        (["one"], Essay("one", "a list")),
        (None, Essay()),
        (7, Essay()),
        ([], Essay()),
        (["one", 2], Essay()),
    ],
)
def test_a_variable_holds_a_text_or_several(value: object, essay: Essay) -> None:
    assert essays.in_variable(value) == essay


def test_a_text_is_bounded() -> None:
    assert len(essays.in_variable("x" * 100_000).text) == essays.MAX_TEXT
    assert len(essays.outside("causation", [Cell(1, False, "x y " * 50_000)], {}, TEMPLATE).text) == essays.MAX_TEXT


@pytest.mark.parametrize(
    ("notebook", "place"),
    [
        (cells(STUB, f" {ESSAY}"), "cell 2"),
        (cells(" ## The lesson", STUB, 'check("causation")', f" ## The lesson\n{ESSAY}"), ""),
        (cells(" ## The lesson", f" {ESSAY}", STUB, 'check("causation")'), "cell 2"),
        (cells(f" ## The lesson\n\n{ESSAY}", STUB), "cell 1"),
        (cells(STUB, "x = 1", f" {ESSAY}", 'check("causation")'), "cell 3"),
        (cells("x = 1", f"{STUB}\n# {ESSAY}"), "cell 2"),
        # The banner of an earlier template, which the course's own lines do not hold any more.
        (cells(f"# Question 9: Does a large weight mean a cause? (research, 5 points)\n\n{STUB}"), ""),
        (cells(f"# --- Question 9: Does a large weight mean a cause? (5 points)\n\n{STUB}", f" {ESSAY}"), "cell 2"),
        (cells(f'{STUB}\n"""\n{ESSAY}\n"""'), "cell 1"),
        (cells(f'{STUB}\n"{ESSAY}"'), "cell 1"),
        (cells(f"# Say why the weight alone does not show this.\n# {ESSAY}\ncausation = None"), "cell 1"),
        (cells("x = 1", f" {ESSAY}"), "cell 2"),
        (cells("causation: str = ''", f" {ESSAY}"), "cell 2"),
    ],
)
def test_an_essay_beside_its_variable_is_found(notebook: list[Cell], place: str) -> None:
    outside = essays.outside("causation", notebook, {}, TEMPLATE)
    assert outside.place == place
    assert (ESSAY in outside.text) == bool(place)
    assert "lesson" not in outside.text
    assert "Say why" not in outside.text


def test_an_essay_typed_into_a_code_cell_is_found() -> None:
    notebook = [*cells(STUB), Cell(2, True, ESSAY, readable=False)]
    assert essays.outside("causation", notebook, {}, TEMPLATE) == Essay(ESSAY, "cell 2")


def test_comments_in_a_module_are_found_and_its_code_is_not() -> None:
    source = (
        f"# my helper does this and that\ndef f(): ...\n\n{STUB}\n# {ESSAY}\n\ndef g(): ...\n# and this is another remark\n"
    )
    outside = essays.outside("causation", essays.cells_of("ps1.py", source.encode()), {}, TEMPLATE)
    assert outside == Essay(f"# {ESSAY}", "comments beside the variable")


def test_a_text_of_several_lines_goes_on_until_it_is_closed() -> None:
    source = f'{STUB}\n"""""{ESSAY}\nIts last line stands alone.\n"""\n# and a comment\nx = 1\n# not this\n'
    outside = essays.outside("causation", essays.cells_of("ps1.py", source.encode()), {}, TEMPLATE)
    assert "stands alone" in outside.text
    assert "and a comment" in outside.text
    assert "not this" not in outside.text


@pytest.mark.parametrize(("prose", "place"), [(" Only four words here.", ""), (" There are five words here.", "cell 2")])
def test_five_words_are_an_essay(prose: str, place: str) -> None:
    assert essays.outside("causation", cells(STUB, prose), {}, TEMPLATE).place == place


@pytest.mark.parametrize("remark", ["", " To do.", " ## The lesson"])
def test_a_remark_is_no_essay(remark: str) -> None:
    assert essays.outside("causation", cells(STUB, remark or "x = 1"), {"note": "short"}, TEMPLATE) == Essay()


def test_an_essay_under_another_name_is_found() -> None:
    strings = {"causatoin": ESSAY, "title": "Weights of the words in the sentence"}
    assert essays.outside(
        "causation", cells(STUB), essays.strings_for("causation", strings, alone=False), TEMPLATE
    ) == Essay(ESSAY, "the variable `causatoin`")
    assert set(essays.strings_for("causation", strings, alone=True)) == set(strings)


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"{",
        b"[]",
        b'{"cells": 5}',
        b'{"cells": [{}]}',
        b'{"cells": [{"cell_type": "code", "source": 5}]}',
        b"[" * 10**5,
    ],
)
def test_what_is_no_notebook_has_no_cells(source: bytes) -> None:
    assert essays.cells_of("ps1.ipynb", source) == []


def test_cells_are_numbered_as_a_reader_counts_them() -> None:
    source = json.dumps({"cells": [{"cell_type": "raw", "source": ["a", "b"]}, {"cell_type": "code", "source": "c"}]})
    assert essays.cells_of("ps1.ipynb", source.encode(), ["cell 2"]) == [Cell(1, False, "ab"), Cell(2, True, "c", False)]


def test_variables_that_are_no_texts_are_not_kept() -> None:
    """Each may be as large as a message, and thirty of them are looked at where an essay is missing."""
    problem_set = load_course(Path(__file__).resolve().parents[1]).problem_set("ps1")
    largest = np.zeros(2**19)
    names = {f"variable_{number}": largest for number in range(30)}
    runner = LocalRunner(names, {"names": list(names)})
    tracemalloc.start()
    try:
        EssayFinder(problem_set).find(Submission("s001", "ps1.py", b""), runner, {"names": list(names), "problems": []})
        assert tracemalloc.get_traced_memory()[1] < 8 * largest.nbytes
    finally:
        tracemalloc.stop()
