"""What students receive fits into a notebook's cell, and means what the author wrote."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autograder.assignment import Question
from autograder.authoring.columns import COLUMNS, fitted
from autograder.authoring.rendering import prompt_and_code

ROOT = Path(__file__).resolve().parents[1]


def meaning(code: str) -> str:
    """The syntax tree, with the spaces of docstrings left out."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            node.value.value = " ".join(node.value.value.split())
    return ast.dump(tree)


@pytest.mark.parametrize("path", sorted((ROOT / "solutions").glob("ps*.py")), ids=lambda path: path.stem[:3])
def test_long_lines_are_broken_and_nothing_else_changes(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    result = fitted(code)
    assert meaning(result) == meaning(code)
    assert fitted(result) == result
    words = [[word for word in text.split() if word != "#"] for text in (code, result)]
    assert sorted("".join(words[0]).replace(",", "")) == sorted("".join(words[1]).replace(",", ""))


def test_entries_lists_and_options_stay_apart() -> None:
    code = f'''def f(
    x: np.ndarray, y: np.ndarray, third_argument: np.ndarray, fourth_argument: dict[str, int] | None = None
) -> int:
    """Add.

    x: {"long " * 17}end.
    y: short.
    Returns {"something " * 9}end.
    - item
    """


# What? {"word " * 17}
#   "a" {"first " * 8}   "b" {"second " * 6}
#   "c" third
answer = None  # {"why " * 20}end
'''
    lines = fitted(code).splitlines()
    assert max(map(len, lines)) <= COLUMNS
    starts = [line.split()[0] for line in lines if line.strip()]
    entries = [word for word in starts if word in ("x:", "y:", "third_argument:", "Returns", "-")]
    assert entries == ["x:", "y:", "third_argument:", "x:", "y:", "Returns", "-"]
    assert [line[:7] for line in lines if line.startswith('#   "')] == ['#   "a"', '#   "b"', '#   "c"']
    assert "answer = None" in lines


def words(columns: int) -> str:
    """A comment of short words that fills so many columns."""
    return ("# " + "one two " * 30)[: columns - 1] + "x"


def test_what_fits_stays_and_what_is_longer_by_one_is_broken() -> None:
    assert COLUMNS == 88
    fits, too_long = (words(columns) + "\n" for columns in (88, 89))
    assert fitted(fits) == fits
    assert fitted(too_long).count("\n") == 2


@pytest.mark.parametrize(("before", "one_sentence"), [(94, True), (93, False)])
def test_a_line_goes_on_where_the_next_word_did_not_fit(before: int, one_sentence: bool) -> None:
    # `FULL` is 100: a space and a word of six end at 101, so the author had to begin a line.
    lines = fitted(f"{words(before)}\n# sixsix more\n").splitlines()
    assert any("x sixsix" in line for line in lines) is one_sentence


def test_the_end_of_a_docstring_may_close_it() -> None:
    code = f'def f():\n    """{"word " * 18}end\n    lastlyword of it """\n'
    assert "end lastlyword" in " ".join(fitted(code).split())
    assert len(fitted(code).splitlines()) == 3


def test_code_before_a_function_stays() -> None:
    code = f'print("a")  # {"why " * 22}so\ndef f(): return 1\n'
    assert fitted(code) == code


def test_what_variables_are_asked_for_becomes_markdown() -> None:
    fields = {"title": "Reading", "points": 1, "tier": "core"}
    choice = Question(id="reading", names=["first", "second"], kind="choice", options=["a", "b"], **fields)
    stub = (
        '# One letter each.\n\n# What\n# holds?\n#   "a" "it" and more    "b" nothing\nfirst = None\n'
        "second = None  # the other one\n"
    )
    asked, code = prompt_and_code(stub, choice)
    assert asked == (
        'One letter each.\n\n**`first`**: What holds?\n\n- `"a"` "it" and more\n- `"b"` nothing\n\n'
        "**`second`**: the other one"
    )
    assert code == "first = None\nsecond = None"
    essay = Question(id="essay", names=["essay"], kind="written", rubric=[{"points": 1, "text": "it"}], **fields)
    asked, code = prompt_and_code("# Say why.\nessay = None\n", essay)
    assert asked.splitlines() == ["**`essay`**: Say why.", "", 'Write between triple quotes: `essay = """Your text."""`']
