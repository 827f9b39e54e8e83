"""When a slip is named: it explains every answer of a function, and the wrong ones are specific."""

from __future__ import annotations

import types
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.runtime.causes import blame, grouped
from autograder.slips import SlipFinder
from autograder.testing.evidence import answer_digest, are_specific, call_key
from autograder.testing.student import Call
from autograder.variants import Variant
from tests.test_values import RETURNED


def call(value: Any, *args: Any, name: str = "f", error: str = "") -> Call:
    return Call(name, args or (1.0,), {}, value, error)


def halved(x: Any) -> Any:
    return x / 2


def negative(x: Any) -> Any:
    return -x


def positive(x: Any) -> bool:
    return bool(x > 0)


def always(x: Any) -> bool:
    return True


@pytest.fixture
def finder() -> SlipFinder:
    reference = types.ModuleType("reference")
    vars(reference).update(f=lambda x: 2 * x, sign=positive, letter="c")
    mutants = [
        Variant("q", halved, hint="halved"),
        Variant("q", negative, hint="negative"),
        Variant("q", always, replaces="sign", hint="always"),
        Variant("choice", lambda: "b", replaces="letter", hint="b"),
    ]
    return SlipFinder(mutants, reference, {"q": "f"})


def hints(finder: SlipFinder, question: str, *calls: Call) -> dict[str, str]:
    return {name: variant.hint for name, variant in finder.find(question, calls).items()}


def test_a_mutant_is_named_if_it_gives_every_answer(finder: SlipFinder) -> None:
    wrong = [call(0.35, 0.7), call(1.15, 2.3)]
    assert hints(finder, "q", *wrong) == {"f": "halved"}
    assert hints(finder, "q", *wrong, call(9.4, 4.7)) == {}, "the reference's own answer is not the mutant's"
    assert hints(finder, "q", *wrong, call(0.0, 4.7)) == {}
    assert hints(finder, "q", *wrong, call(None, 4.7, error="Stopped")) == {}
    assert hints(finder, "q", call(1.4, 0.7)) == {}, "nothing is wrong"
    assert hints(finder, "other", *wrong) == {}


def test_a_call_that_takes_long_is_made_of_mutants_only_that_agree_on_all_others() -> None:
    asked = []

    def wrong(factor: float) -> Variant:
        def function(x: float) -> float:
            asked.append((factor, x))
            return factor * x

        function.__name__ = f"times_{factor}"
        return Variant("q", function, hint=function.__name__)

    reference = types.ModuleType("reference")
    vars(reference)["f"] = lambda x: 2.0 * x
    finder = SlipFinder([wrong(0.3), wrong(0.7)], reference, {"q": "f"})
    quick, long = [call(0.7 * x, x) for x in (1.3, 2.7)], Call("f", (1e6,), {}, 0.7e6, once=True)
    assert hints(finder, "q", long, *quick) == {"f": "times_0.7"}
    assert asked == [(0.3, 1.3), (0.7, 1.3), (0.7, 2.7), (0.7, 1e6)]


def test_two_booleans_match_anything(finder: SlipFinder) -> None:
    wrong = [call(True, -float(number), name="sign") for number in range(1, 9)]
    assert hints(finder, "q", *wrong[:2]) == {}
    assert hints(finder, "q", *wrong[:1] * 20) == {}, "the same call counts once"
    assert hints(finder, "q", *wrong) == {"sign": "always"}


def test_what_a_variable_holds_is_itself_the_mistake(finder: SlipFinder) -> None:
    assert hints(finder, "choice", Call("letter", (), {}, "b")) == {"letter": "b"}
    assert hints(finder, "choice", Call("letter", (), {}, "a")) == {}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([True, False], False),
        ([0, 1], False),
        ([np.zeros((9, 9))], False),
        ([np.nan, np.inf], False),
        ([Fraction(1, 2)], False),
        ([{"a": 1}], False),
        ([None], False),
        ([0.123], True),
        ([1000, 17], True),
        ([np.tri(7, dtype=bool)], True),
        ([np.arange(5)], True),
        ([(0.3, [0.7])], True),
        ([Fraction(355, 113)], True),
        ([1 + 0.5j], True),
    ],
)
def test_wrong_answers_are_specific_if_they_hold_enough(answers: list[Any], expected: bool) -> None:
    assert are_specific(call(answer, float(place)) for place, answer in enumerate(answers)) is expected


numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5).map(np.array)


@given(numbers)
def test_a_digest_overlooks_rounding_and_nothing_larger(values: np.ndarray) -> None:
    scale = max(np.abs(values).max(), 1e-3)
    assert answer_digest(call(values + 0.0)) == answer_digest(call(values))
    assert answer_digest(call(values + 1e-3 * scale)) != answer_digest(call(values))
    assert answer_digest(call(values.astype(np.float32))) != answer_digest(call(values))


def test_the_same_answer_to_another_call_has_another_digest() -> None:
    assert answer_digest(call(0.5, 1.0)) != answer_digest(call(0.5, 2.0))
    assert call_key(call(0.5, 1.0)) == call_key(call(0.7, 1.0)) != call_key(call(0.5, 2.0))
    thirds = np.array([1 / 3, 2 / 3])
    assert answer_digest(call(thirds)) == answer_digest(call(thirds * (1 + 4e-16)))
    # What should be zero is noise, which is another one on every machine.
    assert answer_digest(call(np.array([1e-17, 3e-18]))) == answer_digest(call(np.zeros(2)))
    single = thirds.astype(np.float32)
    assert answer_digest(call(single)) == answer_digest(call(single * np.float32(1 + 2e-7)))


@pytest.mark.parametrize("value", list(RETURNED))
def test_whatever_was_returned_can_be_weighed(finder: SlipFinder, value: str) -> None:
    """A submission must not be able to make the grader fail by an odd answer."""
    odd = call(RETURNED[value])
    assert are_specific([odd]) in (True, False)
    assert answer_digest(odd) == answer_digest(odd)
    assert finder.find("q", [odd] * 2) == {}


def test_tests_that_say_the_same_stand_at_the_place_of_the_first() -> None:
    assert grouped(["a1", "b", "a2", "", ""], lambda text: text[:1]) == [["a1", "a2"], ["b"], [""], [""]]


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ([], ""),
        (["f"], "`f` fails: fix it first."),
        (["f", "g"], "`f` and `g` fail: fix them first."),
        (["f", "g", "h"], "`f`, `g` and `h` fail: fix them first."),
    ],
)
def test_what_to_fix_first_is_a_sentence(names: list[str], sentence: str) -> None:
    assert blame(names) == sentence
