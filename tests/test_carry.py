"""Functions of an earlier problem set are carried over, with what they call, and nothing that a student wrote is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.kit.carry import carry
from autograder.runtime import loading

STUBS = '''"""A problem set."""

import numpy as np


def softmax(x):
    return x


# === carried over ===
def norm(x):
    """Yours."""
    raise RuntimeError("carry your own function over first: python check.py b --carry")


def bend(x):
    """Yours."""
    raise RuntimeError("carry your own function over first: python check.py b --carry")


# --- Question 1

answer = norm(np.ones(2)) if False else 1
'''
EARLIER = """import math
import numpy as np

FACTOR = 2.0


def softmax(x):
    return -x


def helper(x):
    return FACTOR * softmax(x) * math.sqrt(4)


def norm(x):
    return helper(x) + 1


def bend(x):
    raise NotImplementedError("not done yet")
"""


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    for name, text in (("a", EARLIER), ("b", STUBS)):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text(text)
        (tmp_path / name / "problem_set.json").write_text(json.dumps({"module": name}))
    return tmp_path


DESCRIPTION = {"module": "b", "carried": [{"problem_set": "a", "names": ["norm", "bend", "lost"]}]}


def test_a_function_comes_with_what_it_calls_and_a_stub_is_named(folders: Path) -> None:
    told = carry(folders / "b", DESCRIPTION)
    assert [line.partition(":")[0] for line in told] == ["norm", "bend", "lost"]
    assert "with FACTOR, math, helper" in told[0]
    assert "not done yet" in told[1]
    namespace, report = loading.load("b.py", (folders / "b" / "b.py").read_bytes())
    assert report["problems"] == []
    # The set-up's own softmax stays: helper(3) = 2 * 3 * 2.
    assert namespace["norm"](3) == 13
    assert namespace["answer"] == 1


def test_a_function_that_is_there_stays(folders: Path) -> None:
    carry(folders / "b", DESCRIPTION)
    before = (folders / "b" / "b.py").read_text()
    (folders / "a" / "a.py").write_text(EARLIER.replace("+ 1", "+ 5"))
    assert "unchanged" in carry(folders / "b", DESCRIPTION)[0]
    assert (folders / "b" / "b.py").read_text() == before


def test_a_notebook_is_filled_in_its_own_cell(folders: Path) -> None:
    first, second = STUBS.split("# --- Question 1")
    cells = [{"cell_type": "code", "source": text.splitlines(keepends=True), "metadata": {}} for text in (first, second)]
    (folders / "b" / "b.ipynb").write_text(json.dumps({"cells": cells, "metadata": {"kept": "ü"}}))
    (folders / "b" / "b.py").unlink()
    carry(folders / "b", DESCRIPTION)
    notebook = json.loads((folders / "b" / "b.ipynb").read_text(encoding="utf-8"))
    assert "helper(x) + 1" in "".join(notebook["cells"][0]["source"])
    assert notebook["cells"][1] == cells[1]
    assert notebook["metadata"] == {"kept": "ü"}
    assert '"ü"' in (folders / "b" / "b.ipynb").read_text(encoding="utf-8")


def test_a_cell_that_is_no_python_hides_no_function(folders: Path) -> None:
    (folders / "a" / "a.py").unlink()
    cells = [{"cell_type": "code", "source": text, "metadata": {}} for text in ("def broken(:", EARLIER)]
    (folders / "a" / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    assert "with FACTOR, math, helper" in carry(folders / "b", DESCRIPTION)[0]


def test_without_anything_to_carry_the_reason_is_said(folders: Path) -> None:
    with pytest.raises(ValueError, match="nothing is carried"):
        carry(folders / "a", {"module": "a"})
