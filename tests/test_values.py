"""What tests are written with: what each accepts, and the sentence it says of everything else."""

from __future__ import annotations

import math
import re
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import testing
from autograder.runtime.figures import FigureView
from autograder.runtime.wire import MAX_INT_BYTES, Foreign
from autograder.testing import Mismatch
from autograder.testing import values as testing_values
from autograder.testing.values import OTHER_SHAPE, OTHER_TYPE

HUGE = 2 ** (8 * MAX_INT_BYTES - 1) - 1  # the largest integer that can arrive
FOREIGN = Foreign("jax.Array")
F = np.float64


def said(check: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """What the student reads when `check` refuses."""
    with pytest.raises(Mismatch) as caught:
        check(*args, **kwargs)
    return str(caught.value)


def equal(one: Any, other: Any) -> bool:
    if isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    return type(one) is type(other) and bool(one == other)


# --- array


@pytest.mark.parametrize(
    ("value", "options"),
    [
        (np.zeros(3), {}),
        (np.zeros(3), {"shape": (3,)}),
        (np.zeros((2, 3), np.float32), {"shape": (2, 3)}),
        (np.zeros((2, 3)), {"shape": (None, 3)}),
        (np.zeros((0, 3)), {"shape": (None, 3)}),
        (np.array(1.0), {"shape": ()}),
        (np.array([np.nan, np.inf]), {"finite": False}),
        (np.array([True]), {"kind": "bool"}),
        (np.array([1]), {"kind": "int"}),
        (np.array([1], np.uint8), {"kind": "int"}),
        (np.array([1]), {"kind": "number"}),
        (np.array([1.5]), {"kind": "number"}),
    ],
)
def test_array_gives_back_an_array_that_fits(value: np.ndarray, options: dict[str, Any]) -> None:
    assert testing.array(value, name="f(x)", **options) is value


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], "float", np.array([[1.0, 2.0], [3.0, 4.0]])),
        (([1, 2], [3, 4]), "int", np.array([[1, 2], [3, 4]])),
        ([np.array([1.0]), np.array([2.0])], "float", np.array([[1.0], [2.0]])),
        ([True, False], "bool", np.array([True, False])),
    ],
)
def test_array_takes_nested_lists_where_the_question_does(value: Any, kind: str, expected: np.ndarray) -> None:
    assert equal(testing.array(value, name="f(x)", kind=kind, lists=True), expected)


@pytest.mark.parametrize(
    ("value", "options", "sentence"),
    [
        (None, {}, "`f(x)` should be a numpy array of float32 or float64, but is None (is a `return` missing?)"),
        ([1.0], {}, "`f(x)` should be a numpy array of float32 or float64, but is a list"),
        (2.5, {}, "`f(x)` should be a numpy array of float32 or float64, but is float '2.5'"),
        (F(2.5), {}, "`f(x)` should be a numpy array of float32 or float64, but is float64 '2.5'"),
        (FOREIGN, {}, "`f(x)` should be a numpy array of float32 or float64, but is an object of type jax.Array"),
        (
            np.zeros(2, int),
            {},
            "`f(x)` should hold float32 or float64, but is an array of shape (2,) and type int64",
        ),
        (
            np.zeros(2),
            {"kind": "bool"},
            "`f(x)` should hold bool, but is an array of shape (2,) and type float64",
        ),
        (np.array([True]), {"kind": "int"}, "`f(x)` should hold integers, but is an array of shape (1,) and type bool"),
        (
            np.array([1j]),
            {"kind": "number"},
            "`f(x)` should hold numbers, but is an array of shape (1,) and type complex128",
        ),
        (np.zeros((2, 3)), {"shape": (3, 2)}, "`f(x)` should have shape (3, 2), but has shape (2, 3)"),
        (np.zeros((2, 3)), {"shape": (6,)}, "`f(x)` should have shape (6,), but has shape (2, 3)"),
        (np.zeros((2, 3)), {"shape": (None, 4)}, "`f(x)` should have shape (any, 4), but has shape (2, 3)"),
        (np.zeros(1), {"shape": ()}, "`f(x)` should have shape (), but has shape (1,)"),
        (np.array([[0, np.nan]]), {}, "`f(x)` should hold finite numbers, but has nan at index [0, 1]"),
        (np.array(-np.inf), {}, "`f(x)` should hold finite numbers, but has -inf at its only place"),
        ([[1.0], [2.0, 3.0]], {"lists": True}, "`f(x)` is a nested list whose rows differ in length"),
        (["a"], {"lists": True}, "`f(x)` should be a table of numbers, but holds str 'a'"),
        ([FOREIGN], {"lists": True}, "`f(x)` should be a table of numbers, but holds an object of type jax.Array"),
    ],
)
def test_array_names_what_does_not_fit(value: Any, options: dict[str, Any], sentence: str) -> None:
    assert said(testing.array, value, name="f(x)", **options) == sentence


def test_array_refuses_half_precision_as_it_says() -> None:
    assert "float16" in said(testing.array, np.zeros(2, np.float16), name="f(x)")


@given(st.lists(st.floats() | st.integers() | st.booleans() | st.text(max_size=2) | st.none() | st.lists(st.integers())))
def test_array_of_any_list_gives_an_array_or_a_sentence(value: list[Any]) -> None:
    # Anything else than a Mismatch would count as the test's fault, not as the student's answer.
    try:
        testing.array(value, name="f(x)", lists=True)
    except Mismatch:
        return
    assert np.asarray(value).dtype == np.float64


# --- numbers, texts, truth values


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2, 2.0),
        (2.5, 2.5),
        (np.int8(-3), -3.0),
        (np.float32(0.5), 0.5),
        (F(2.5), 2.5),
        (np.array(2.5), 2.5),
        (np.array(3), 3.0),
        (Fraction(1, 4), 0.25),
    ],
)
def test_scalar_gives_a_float(value: Any, expected: float) -> None:
    number = testing.scalar(value, name="f(x)")
    assert type(number) is float
    assert number == expected


def test_scalar_lets_infinity_and_nan_pass_where_the_question_does() -> None:
    assert testing.scalar(math.inf, name="f(x)", finite=False) == math.inf
    assert math.isnan(testing.scalar(np.array(np.nan), name="f(x)", finite=False))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "`f(x)` should be one number, but is None (is a `return` missing?)"),
        (True, "`f(x)` should be one number, but is bool 'True'"),
        (np.True_, "`f(x)` should be one number, but is bool 'True'"),
        (np.array(True), "`f(x)` should be one number, but is bool 'True'"),
        ("2.5", "`f(x)` should be one number, but is str '2.5'"),
        (1j, "`f(x)` should be one number, but is complex '1j'"),
        ([2.5], "`f(x)` should be one number, but is a list"),
        (
            np.array([2.5]),
            "`f(x)` should be one number, but is an array of shape (1,) and type float64; "
            "take the single element out of the array of shape (1,)",
        ),
        (FOREIGN, "`f(x)` should be one number, but is an object of type jax.Array"),
        (math.nan, "`f(x)` should be finite, but is nan"),
        (np.array(-np.inf), "`f(x)` should be finite, but is -inf"),
        (10**400, "`f(x)` should be a moderate number, but is too large for a float"),
        (Fraction(10**400), "`f(x)` should be a moderate number, but is too large for a float"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_scalar_names_what_is_no_number(value: Any, sentence: str) -> None:
    assert said(testing.scalar, value, name="f(x)") == sentence


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_, np.array(True)])
def test_boolean_gives_a_bool(value: Any) -> None:
    truth = testing.boolean(value, name="f(x)")
    assert type(truth) is bool
    assert truth == value


@pytest.mark.parametrize("value", [0, np.int8(3), np.int64(-7), 10**30])
def test_integer_gives_an_int(value: Any) -> None:
    number = testing.integer(value, name="f(x)")
    assert type(number) is int
    assert number == value


@pytest.mark.parametrize("value", [Fraction(1, 3), 5, -(10**30)])
def test_fraction_gives_a_fraction(value: Any) -> None:
    number = testing.fraction(value, name="f(x)")
    assert type(number) is Fraction
    assert number == value


def test_text_gives_the_string() -> None:
    assert testing.text("because", name="reading") == "because"


@pytest.mark.parametrize(
    ("helper", "value", "sentence"),
    [
        (testing.boolean, 1, "`f(x)` should be True or False, but is int '1'"),
        (testing.boolean, None, "`f(x)` should be True or False, but is None (is a `return` missing?)"),
        (testing.boolean, "True", "`f(x)` should be True or False, but is str 'True'"),
        (testing.boolean, np.array([True]), "`f(x)` should be True or False, but is an array of shape (1,) and type bool"),
        (testing.boolean, FOREIGN, "`f(x)` should be True or False, but is an object of type jax.Array"),
        (testing.integer, 2.0, "`f(x)` should be a whole number, but is float '2.0'"),
        (testing.integer, True, "`f(x)` should be a whole number, but is bool 'True'"),
        (testing.integer, np.False_, "`f(x)` should be a whole number, but is bool 'False'"),
        (testing.integer, Fraction(2), "`f(x)` should be a whole number, but is Fraction '2'"),
        (testing.fraction, 0.5, "`f(x)` should be an exact fractions.Fraction, but is float '0.5'"),
        (testing.fraction, True, "`f(x)` should be an exact fractions.Fraction, but is bool 'True'"),
        (testing.fraction, "1/2", "`f(x)` should be an exact fractions.Fraction, but is str '1/2'"),
        (testing.text, b"a", "`f(x)` should be a string, but is a bytes"),
        (testing.text, ["a"], "`f(x)` should be a string, but is a list"),
        (testing.text, FOREIGN, "`f(x)` should be a string, but is an object of type jax.Array"),
        (testing.figure, None, "`f(x)` should return a matplotlib Figure, but is None (is a `return` missing?)"),
        (
            testing.figure,
            np.zeros(2),
            "`f(x)` should return a matplotlib Figure, but is an array of shape (2,) and type float64",
        ),
        (
            testing.figure,
            Foreign("matplotlib.axes._axes.Axes"),
            "`f(x)` should return the Figure, but returns its Axes; return `ax.figure`",
        ),
    ],
)
def test_each_helper_names_what_it_got_instead(helper: Callable[..., Any], value: Any, sentence: str) -> None:
    assert said(helper, value, name="f(x)") == sentence


def test_figure_gives_the_view() -> None:
    view = FigureView(title="weights")
    assert testing.figure(view, name="heatmap(w)") is view


def test_a_long_answer_is_cut_in_the_sentence() -> None:
    assert len(said(testing.scalar, "x" * 10_000, name="f(x)")) < 200


# --- parts


@pytest.mark.parametrize("value", [(1, 2), [1, 2]])
def test_parts_gives_a_tuple(value: Any) -> None:
    assert testing.parts(value, 2, name="attention(q, k, v)") == (1, 2)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ((1, 2, 3), "`f(x)` should return 2 things, but returns 3"),
        ((), "`f(x)` should return 2 things, but returns 0"),
        (np.zeros(2), "`f(x)` should return 2 things, but is an array of shape (2,) and type float64"),
        (None, "`f(x)` should return 2 things, but is None (is a `return` missing?)"),
        ({"a": 1, "b": 2}, "`f(x)` should return 2 things, but is a dict"),
        ("ab", "`f(x)` should return 2 things, but is str 'ab'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_parts_names_another_number_of_things(value: Any, sentence: str) -> None:
    assert said(testing.parts, value, 2, name="f(x)") == sentence


# --- require, same, close, rounding


def test_require_passes_what_is_true_and_says_its_message_otherwise() -> None:
    testing.require(np.bool_(True), "never said")
    assert said(testing.require, np.bool_(False), "the rows should sum to one") == "the rows should sum to one"


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (1, 1),
        (1.0, 1),
        ("a", "a"),
        (Fraction(1, 2), Fraction(1, 2)),
        ((1, [2]), (1, [2])),
        (np.array([1, 2]), np.array([1, 2])),
        ([1, 2], np.array([1, 2])),
        (np.array([1.0]), np.array([1])),
        (np.array(3.0), np.array(3.0)),
        (np.zeros((0, 2)), np.zeros((0, 2))),
        (np.array([True]), np.array([True])),
    ],
    ids=str,
)
def test_same_passes_what_is_equal(actual: Any, expected: Any) -> None:
    testing.same(actual, expected, name="f(x)")


@pytest.mark.parametrize(
    ("actual", "expected", "sentence"),
    [
        (1, 2, "`f(x)` should be exactly 2, but is 1"),
        ("a", "b", "`f(x)` should be exactly 'b', but is 'a'"),
        (0.1 + 0.2, 0.3, "`f(x)` should be exactly 0.3, but is 0.30000000000000004"),
        (np.zeros(2), np.zeros(3), "`f(x)` should have shape (3,), but has shape (2,)"),
        (
            np.array([1, 5, 6]),
            np.array([1, 2, 3]),
            "`f(x)` should be 2 at index [1], but is 5; 2 of 3 numbers differ",
        ),
        (np.array(1.0), np.array(2.0), "`f(x)` should be 2.0 at its only place, but is 1.0"),
        (
            np.array([np.nan, 0]),
            np.array([np.nan, 0]),
            "`f(x)` should be nan at index [0], but is nan; 1 of 2 numbers differ",
        ),
        (FOREIGN, np.zeros(2), "`f(x)` should hold numbers, but is an object of type jax.Array"),
    ],
    ids=["number", "text", "float", "shape", "array", "0-d", "nan", "foreign"],
)
def test_same_names_the_first_difference(actual: Any, expected: Any, sentence: str) -> None:
    assert said(testing.same, actual, expected, name="f(x)") == sentence


@pytest.mark.parametrize(
    ("actual", "expected", "atol"),
    [
        (1.0, 1.0, 0),
        (1.25, 1.0, 0.25),
        (np.array([1.0, 2.0]), np.array([1.1, 1.9]), 0.11),
        ([1.0, 2.0], np.array([1.0, 2.0]), 0),
        (np.array([np.inf, -np.inf]), np.array([np.inf, -np.inf]), 0.1),
        (np.float32(0.5), 0.5, 0),
        (np.zeros((0, 3)), np.zeros((0, 3)), 0),
        (1 + 1j, 1 + 1.1j, 0.11),
    ],
    ids=str,
)
def test_close_passes_what_lies_within_the_tolerance(actual: Any, expected: Any, atol: float) -> None:
    testing.close(actual, expected, atol=atol, name="f(x)")


@pytest.mark.parametrize(
    ("actual", "expected", "sentence"),
    [
        (1.5, 1.0, "`f(x)` should be 1.0 at its only place, but is 1.5"),
        (
            np.array([[0.0, 1.0]]),
            np.array([[0.0, 2.0]]),
            "`f(x)` should be 2.0 at index [0, 1], but is 1.0; 1 of 2 numbers differ",
        ),
        (np.zeros(3), 0.0, "`f(x)` should have shape (), but has shape (3,)"),
        (np.zeros((1, 3)), np.zeros(3), "`f(x)` should have shape (3,), but has shape (1, 3)"),
        (np.nan, 0.0, "`f(x)` should be 0.0 at its only place, but is nan"),
        (np.nan, np.nan, "`f(x)` should be nan at its only place, but is nan"),
        (np.inf, -np.inf, "`f(x)` should be -inf at its only place, but is inf"),
        (np.inf, 0.0, "`f(x)` should be 0.0 at its only place, but is inf"),
    ],
)
def test_close_names_the_first_number_that_is_not(actual: Any, expected: Any, sentence: str) -> None:
    assert said(testing.close, actual, expected, atol=0.25, name="f(x)") == sentence


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_close_is_the_absolute_difference(actual: float, expected: float, atol: float) -> None:
    if abs(actual - expected) <= atol:
        testing.close(actual, expected, atol=atol, name="f(x)")
    else:
        said(testing.close, actual, expected, atol=atol, name="f(x)")


def test_rounding_is_operations_times_eps_times_the_largest_number() -> None:
    assert testing.rounding(1.0) == 8 * 2.0**-52
    assert testing.rounding([-4.0, 2.0], 3) == 3 * 2.0**-52 * 4
    assert testing.rounding(np.ones((2, 2)), 10, np.float32) == 10 * 2.0**-23
    assert testing.rounding([]) == 0


# --- whatever a student returns, a helper's refusal is a Mismatch, never another error: that would be the test's fault

RETURNED: dict[str, Any] = {
    "a huge integer": HUGE,
    "a huge fraction": Fraction(HUGE, 3),
    "a list with a huge integer": [HUGE],
    "a ragged list": [[1], [2, 3]],
    "an array": np.array([1.0, 2.0]),
    "an array of bools": np.array([True, False]),
    "a text": "abc",
    "None": None,
    "a foreign object": FOREIGN,
    "a dictionary": {"a": 1},
    "a figure": FigureView(),
    "a complex NaN": complex(math.nan, 0),
}
CHECKS: dict[str, Callable[[Any], Any]] = {
    "array": lambda value: testing.array(value, name="f(x)", kind="int"),
    "array of lists": lambda value: testing.array(value, name="f(x)", kind="int", shape=(3,), lists=True),
    "scalar": lambda value: testing.scalar(value, name="f(x)"),
    "boolean": lambda value: testing.boolean(value, name="f(x)"),
    "integer": lambda value: testing.require(testing.integer(value, name="f(x)") == 3, "no"),
    "fraction": lambda value: testing.require(testing.fraction(value, name="f(x)") == 3, "no"),
    "text": lambda value: testing.require(testing.text(value, name="f(x)") == "b", "no"),
    "parts": lambda value: testing.parts(value, 5, name="f(x)"),
    "figure": lambda value: testing.require(testing.figure(value, name="f(x)").axes, "no"),
    "same as a number": lambda value: testing.same(value, 3, name="f(x)"),
    "same as a tuple": lambda value: testing.same(value, (1, 2), name="f(x)"),
    "same as an array": lambda value: testing.same(value, np.array([3.0, 4.0]), name="f(x)"),
    "close to a number": lambda value: testing.close(value, 3.0, atol=0.1, name="f(x)"),
    "close to an array": lambda value: testing.close(value, np.array([3.0, 4.0]), atol=0.1, name="f(x)"),
}


@pytest.mark.parametrize("check", list(CHECKS))
@pytest.mark.parametrize("value", list(RETURNED))
def test_a_wrong_answer_is_never_a_fault_of_the_test(check: str, value: str) -> None:
    assert said(CHECKS[check], RETURNED[value])


@pytest.mark.parametrize("check", list(CHECKS))
def test_what_may_be_read_of_a_wrong_form_is_one_of_two_sentences(check: str) -> None:
    safe = set()
    for value in RETURNED.values():
        with pytest.raises(Mismatch) as caught:
            CHECKS[check](value)
        safe.add(caught.value.safe)
    assert safe <= {"", OTHER_TYPE, OTHER_SHAPE}
    assert safe - {""}, "some form is wrong"


@pytest.mark.parametrize(
    ("actual", "expected", "sentence"),
    [
        (0.7748126421, 0.7748126555, "should be 0.7748127 at its only place, but is 0.7748126"),
        (np.float32(0.775), 0.775, "should be 0.775 at its only place, but is 0.77499998"),
        (0.1 + 0.2, 0.3, "should be 0.3 at its only place, but is 0.30000000000000004"),
        (0.5, 1 / 3, "should be 0.333333 at its only place, but is 0.5"),
    ],
)
def test_numbers_that_differ_are_shown_with_the_digits_that_differ(actual: Any, expected: float, sentence: str) -> None:
    assert sentence in said(testing.close, actual, expected, atol=0.0, name="f(x)")


@given(st.floats(-1e9, 1e9), st.integers(0, 40))
def test_two_numbers_never_look_the_same(expected: float, steps: int) -> None:
    actual = expected
    for _ in range(steps + 1):
        actual = math.nextafter(actual, math.inf)
    sentence = said(testing.close, actual, expected, atol=0.0, name="f(x)")
    words = re.search(r"should be (\S+) at its only place, but is (\S+)", sentence)
    assert words is not None
    assert words[1] != words[2]


# Whatever an answer is, a check of it takes little time and memory, and a message about it few characters.
GIANTS = {
    "a long text among many numbers": ["A" * 5_000_000] + [0] * 150_000,
    "more numbers than a table may have": [0.0] * 150_000,
    "twenty thousand arrays": [np.zeros(3)] * 20_000,
    "lists in lists": [[[1.0] * 50] * 50] * 60,
    "a number too large for a float": [2**5000, 0.5],
    "an array among lists": [np.zeros(2), [1.0, 2.0, 3.0]],
    "text": "\x00" * 5_000_000,
    "many keys": {str(number): [number] * 40 for number in range(4000)},
    "an array of many axes without a number": np.full((1,) * 15 + (200_000,), np.nan),
}


@pytest.mark.parametrize("value", GIANTS.values(), ids=list(GIANTS))
def test_a_giant_answer_costs_little(value: Any) -> None:
    checks: list[Callable[[], Any]] = [
        lambda: testing.array(value, name="f(x)", kind="number", lists=True),
        lambda: testing.close(value, np.zeros(4), atol=0.1, name="f(x)"),
        lambda: testing.same(value, [1, 2, 3], name="f(x)"),
        lambda: testing.same(value, np.zeros(4), name="f(x)"),
        lambda: testing.require(False, testing.shown(value)),
    ]
    tracemalloc.start()
    try:
        for check in checks:
            text = ""
            try:
                check()
            except Mismatch as error:
                text = str(error)
            assert len(text) < 1000
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("type_name", "remedy"),
    [
        ("numpy.ma.MaskedArray", "return `.filled(0)` instead"),
        ("generator", "return a list instead"),
        ("torch.Tensor", "return `.detach().numpy()` instead"),
    ],
)
def test_a_type_that_is_refused_comes_with_what_to_return(type_name: str, remedy: str) -> None:
    with pytest.raises(Mismatch) as caught:
        testing.array(Foreign(type_name), name="f(x)")
    assert str(caught.value).endswith(f"is an object of type {type_name}; {remedy}")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (0.5, "0.5"),
        ("a'b", '"a\'b"'),
        ([1, (2.0, None)], "[1, (2.0, None)]"),
        (np.array([1.0, 2.0]), "array([1.0, 2.0])"),
        ([np.array([True])], "[array([True])]"),
        (FOREIGN, "<an object of type jax.Array>"),
        (np.zeros((9, 9)), "<an array of shape (9, 9) and type float64>"),
    ],
)
def test_a_message_shows_small_answers_whole(value: Any, text: str) -> None:
    assert testing.shown(value) == text


def test_a_list_is_never_equal_to_an_array_within_it() -> None:
    assert (
        said(testing.same, [np.array([1, 2])], [[1, 2]], name="f(x)")
        == "`f(x)` should be exactly [[1, 2]], but is [array([1, 2])]"
    )


def test_an_audit_notes_tolerances_and_lets_nothing_fail() -> None:
    with testing_values.audited(lenient=True) as audit:
        testing.close([1.0], [2.0], atol=0.25, name="f(x)")
        testing.same([1.0], [2.0], name="f(x)")
        testing.require(False, "no")
    assert [tolerance for _, tolerance in audit.tolerances] == [0.25]
    with testing_values.audited(lenient=False), pytest.raises(testing.Mismatch):
        testing.close([1.0], [2.0], atol=0.25, name="f(x)")


# --- refuses


def test_a_call_must_raise_a_value_error_and_no_other() -> None:
    def rejects(x: object) -> object:
        raise ValueError("no mask")

    def breaks(x: object) -> object:
        raise TypeError("not callable")

    testing.refuses(rejects, 1, name="f(1)", why="1 is no mask")
    assert said(testing.refuses, abs, -1, name="f(-1)", why="it is no mask") == (
        "f(-1) must raise ValueError, because it is no mask; it returned 1"
    )
    with pytest.raises(TypeError, match="not callable"):
        testing.refuses(breaks, 1, name="f(1)", why="1 is no mask")
