"""What the gate says of tests that extreme answers upset."""

from __future__ import annotations

import types

import pytest

from autograder.authoring.extremes import extreme_problems
from autograder.runtime.ledger import Ledger
from autograder.testing.bench import Bench

TESTS = """
import math
import numpy as np
from autograder.testing import array, close, graded, require

@graded("same", points=1)
def test_sound(student):
    "Form and value."
    close(array(student.same(np.ones(3)), shape=(3,), name="same(x)"), np.ones(3), atol=1e-12, name="same(x)")

@graded("same", points=1)
def test_refusal(student):
    "Anything that raises passes; it gives no points without the next test."
    try:
        student.same("text")
    except Exception:
        return
    require(False, "must raise")

@graded("same", points=1)
def test_asks_for_a_float(student):
    "No float is as large as some integers."
    answer = student.same(2.0)
    require(isinstance(answer, (int, float)) and math.isfinite(answer) and answer == 2.0, "must be 2")

@graded("same", points=1)
def test_makes_an_array(student):
    "Of a list that nobody counted."
    require(np.array(student.same([1.0]), dtype=str).tolist() == ["1.0"], "must be 1")

@graded("same", points=1)
def test_makes_a_square(student):
    "As large as the answer wants."
    answer = student.same(np.ones(2))
    require(isinstance(answer, np.ndarray) and answer.ndim == 1, "must be an array")
    require((answer * np.ones((len(answer), len(answer)))).sum() == 4.0, "must be two ones")

@graded("same", points=2)
def test_believes_anything_finite(student):
    "No value is asked for."
    require(bool(np.all(np.isfinite(array(student.same(np.ones(3)), shape=(3,), name="same(x)")))), "must be finite")
"""


class Trying(Bench):
    """Tries the tests that it collects with extreme answers."""

    def __init__(self) -> None:
        super().__init__(Ledger({}), 0)
        self.problems: list[str] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        reference = types.ModuleType("reference")
        exec("def same(x): return x", vars(reference))
        self.problems = list(extreme_problems(self, session.items, [], vars(reference), 768 * 2**20))
        return True


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("tests") / "test_public.py"
    path.write_text(TESTS)
    bench = Trying()
    pytest.main(["-q", "-p", "no:cacheprovider", "--import-mode=importlib", "--noconftest", str(path)], plugins=[bench])
    return bench.problems


@pytest.mark.parametrize(
    ("test", "problem", "case"),
    [
        ("test_asks_for_a_float", "is at fault itself", "every answer is an integer beyond all floats"),
        ("test_makes_an_array", "takes more time or memory than a test may", "every answer is a long text among numbers"),
        ("test_makes_a_square", "takes more time or memory than a test may", "every answer is a long array"),
        ("test_believes_anything_finite", "gives 2 points", "right answers hold only the largest number"),
    ],
)
def test_a_test_that_an_extreme_answer_upsets_is_named(problems: list[str], test: str, problem: str, case: str) -> None:
    assert any(found.startswith(f"{test} {problem}, where {case}") for found in problems), problems


def test_nothing_is_said_of_tests_that_only_fail(problems: list[str]) -> None:
    assert not [found for found in problems if found.startswith(("test_sound", "test_refusal"))]
