"""`student.f(x)`: the rules every call obeys, on a laptop as in a grading run."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

from autograder.runtime import loading
from autograder.runtime.figures import AxesView, FigureView, LineView
from autograder.runtime.wire import Foreign
from autograder.testing import Refusal, callback
from autograder.testing.errors import AlreadyStopped, Mismatch, NotDone, Stopped, StudentError, Undefined
from autograder.testing.student import LocalRunner, Student, alike, through_wire

SOURCE = """
import warnings
import numpy as np

calls = []
empty = None
answer = "b"
table = np.ones(3)

class OwnError(ValueError): pass
class Strange(Exception): pass
class Unspeakable(Exception):
    def __str__(self): raise RuntimeError("not this way")

def plus_one(x, by=1): return x + by
def not_yet(x): raise NotImplementedError("not done yet")
def nothing(x): pass
def raises(kind, text="no good"): raise kind_of(kind)(text)
def kind_of(name): return globals().get(name) or getattr(__builtins__, name, None) or __builtins__[name]
def assign(x):
    y = 2 * x
    x[0] = 5
    return y
def add_in_place(x):
    x += 1
    return x
def sort_in_place(x):
    x.sort()
    return x
def reshape_in_place(x):
    x.shape = (-1,)
    return x
def append(items):
    items.append(4)
    return items
def pop(table):
    table.pop("a")
    return 1
def hide_in_place(x):
    try:
        x[0] = 5
    except ValueError:
        return "caught"
def counting(x):
    calls.append(x)
    return len(calls)
def noisy(x):
    calls.append(x)
    return x + 1e-3 * len(calls)
def rounding(x):
    calls.append(x)
    return x * (1 + 1e-15 * len(calls))
def warns(text):
    warnings.warn(text)
    return np.float64(1) / np.float64(0)
def warns_often():
    for number in range(100): warnings.warn(f"number {number}")
def apply(function, x): return function(x)
inverted = []
def inverse(x):
    inverted.append(x)
    if x < 0: warnings.warn("negative")
    return 1 / x
def apply_all(function, *arguments):
    return function(*arguments)


def apply_all(function, *arguments): return function(*arguments)
def call_with_keyword(function): return function(1.0, scale=3)
def write_into_result(function):
    result = function()
    result[0] = 5
    return result
def is_plus_one(function): return function is plus_one
def forever():
    while True: pass
def stubborn():
    while True:
        try:
            while True: pass
        except Exception: pass
def leave(): raise SystemExit(3)
def same_array(x): return x
def foreign(): return {1, 2}
def deep():
    value = []
    for _ in range(100): value = [value]
    return value
def picture():
    import matplotlib.figure
    figure = matplotlib.figure.Figure()
    figure.subplots().imshow([[0, 1]], cmap="Greys")
    return figure
def outer():
    return inner()
def inner():
    return {}["key"]
"""


def runner_of(source: str = SOURCE, *, asked: tuple[str, ...] = (), seconds: float = 30.0) -> LocalRunner:
    namespace, report = loading.load("answers.py", source.encode())
    return LocalRunner(namespace, report, asked=asked, seconds=seconds)


def student_of(source: str = SOURCE, *, asked: tuple[str, ...] = (), seconds: float = 30.0) -> Student:
    return Student(runner_of(source, asked=asked, seconds=seconds))


@pytest.fixture
def runner() -> LocalRunner:
    return runner_of()


@pytest.fixture
def student(runner: LocalRunner) -> Student:
    return Student(runner)


# --- what comes back


def test_a_call_gives_what_the_function_returns(student: Student) -> None:
    assert student.plus_one(np.arange(3.0), by=2).tolist() == [2, 3, 4]


def test_a_result_is_a_copy_that_cannot_be_changed(student: Student) -> None:
    x = np.arange(3.0)
    result = student.same_array(x)
    assert not np.shares_memory(result, x)
    assert not result.flags.writeable


def test_a_variable_is_read_as_data(student: Student) -> None:
    assert student.value("answer") == "b"
    assert not student.value("table").flags.writeable


def test_a_variable_that_is_none_is_not_done_yet(student: Student) -> None:
    with pytest.raises(NotDone, match="not done yet: `empty`"):
        student.value("empty")


def test_a_function_without_return_gives_none(student: Student) -> None:
    assert student.nothing(1) is None


def test_a_figure_arrives_as_a_view(student: Student) -> None:
    view = student.picture()
    assert isinstance(view, FigureView)
    assert view.axes[0].images[0].darkest == "high"


def test_what_is_no_data_arrives_as_the_name_of_its_type(student: Student) -> None:
    assert student.foreign() == Foreign("set")


def test_an_answer_too_deep_to_send_is_the_students_error(student: Student) -> None:
    with pytest.raises(StudentError, match="nested more than"):
        student.deep()


# --- many calls


def test_each_calls_in_turn_up_to_the_first_that_raises(student: Student, runner: LocalRunner) -> None:
    answers = student.inverse.each([(2,), (0,), (1,)])
    assert next(answers) == 0.5
    with pytest.raises(ZeroDivisionError):
        next(answers)
    assert list(answers) == []
    assert runner.namespace["inverted"] == [2, 2, 0]


def test_once_makes_each_call_only_once(student: Student) -> None:
    assert list(student.once.counting.each([(1,), (1,)])) == [1, 2]


# --- the rules


def test_a_second_call_that_differs_is_a_mismatch(student: Student) -> None:
    with pytest.raises(Mismatch, match="`counting` gave a different answer when called again with the same arguments"):
        student.counting(1)
    with pytest.raises(Mismatch, match="`noisy` gave a different answer"):
        student.noisy(np.ones(2))


def test_every_call_is_made_twice(student: Student, runner: LocalRunner) -> None:
    student.rounding(np.ones(2))
    assert runner.namespace["calls"] == pytest.approx([1, 1])


def test_a_question_that_was_answered_is_not_asked_again(student: Student, runner: LocalRunner) -> None:
    first = student.rounding(np.ones(2))
    others = Student(runner)  # as the next test gets one
    assert others.rounding(np.ones(2)).tolist() == first.tolist()
    assert len(runner.namespace["calls"]) == 2
    assert [call.name for call in others.calls] == ["rounding"]
    others.rounding(np.full(2, 2.0))
    assert len(runner.namespace["calls"]) == 4


def test_an_error_is_an_answer_too(student: Student, runner: LocalRunner) -> None:
    texts = []
    for _ in range(2):
        with pytest.raises(ZeroDivisionError) as raised:
            Student(runner).inverse(0)
        texts.append(str(raised.value))
    assert texts[0] == texts[1]
    assert runner.namespace["inverted"] == [0]


def test_a_function_that_did_not_return_is_not_called_again() -> None:
    student = student_of(seconds=0.1)
    with pytest.raises(Stopped, match=r"did not finish within 0\.1 s"):
        student.forever()
    with pytest.raises(AlreadyStopped, match="not run again: stopped: `forever` did not return in time"):
        student.forever(1)
    assert student.plus_one(1) == 2


def test_an_answer_that_differs_is_a_mismatch_in_every_test(student: Student, runner: LocalRunner) -> None:
    for _ in range(2):
        with pytest.raises(Mismatch):
            Student(runner).counting(1)


def test_questions_with_a_function_of_the_test_are_always_asked(student: Student) -> None:
    asked: list[int] = []
    for _ in range(2):
        student.apply(asked.append, 1)
    assert asked == [1] * 4


def test_a_difference_of_rounding_is_none(student: Student) -> None:
    assert student.rounding(np.ones(2)) == pytest.approx(1)


def test_once_calls_only_once(student: Student) -> None:
    assert student.once.counting(1) == 1
    assert student.once.counting(1) == 2
    # The student it came from still calls twice.
    with pytest.raises(Mismatch):
        student.counting(1)


def test_once_notes_calls_and_warnings_with_the_same_student(student: Student) -> None:
    student.once.warns("careful")
    assert len(student.warnings) == 2
    assert [call.name for call in student.calls] == ["warns"]


@pytest.mark.parametrize(
    ("name", "line"),
    [("assign", "x[0] = 5"), ("add_in_place", "x += 1"), ("sort_in_place", "x.sort()")],
)
def test_a_change_of_an_array_in_place_is_refused_at_its_line(student: Student, name: str, line: str) -> None:
    argument = np.array([3.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="in place; work on a copy") as caught:
        getattr(student, name)(argument)
    number = SOURCE[: SOURCE.index(f"    {line}\n", SOURCE.index(f"def {name}("))].count("\n") + 1
    assert f"line {number}, in {name}: {line}" in str(caught.value)
    assert argument.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("name", "argument"),
    [("append", [1, 2]), ("pop", {"a": 1}), ("reshape_in_place", np.ones((2, 2)))],
    ids=["list", "dictionary", "shape"],
)
def test_a_change_of_anything_else_in_place_is_refused_too(student: Student, name: str, argument: Any) -> None:
    before = copy.deepcopy(argument)
    with pytest.raises(ValueError, match="changes its argument in place; work on a copy"):
        getattr(student, name)(argument)
    assert np.array_equal(argument, before)


def test_a_caught_attempt_to_change_an_argument_changes_nothing(student: Student) -> None:
    argument = np.array([1.0, 2.0])
    assert student.hide_in_place(argument) == "caught"
    assert argument.tolist() == [1, 2]


def test_warnings_of_the_last_call_are_listed(student: Student) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # none of them gets out
        student.warns("careful")
        first, second = student.warnings
        assert first == "UserWarning: careful"
        assert second.startswith("RuntimeWarning: divide by zero")
        student.plus_one(1)
        assert student.warnings == []


def test_no_more_than_a_few_warnings_are_kept(student: Student) -> None:
    student.warns_often()
    assert len(student.warnings) == loading.MAX_WARNINGS
    assert student.warnings[0] == "UserWarning: number 0"


# --- functions as arguments


def test_a_function_of_the_test_can_be_passed_and_is_called(student: Student) -> None:
    assert student.apply(lambda x: x * 10, 4) == 40


def test_a_function_of_the_test_gets_keywords_only_where_the_test_says_so(student: Student) -> None:
    assert student.call_with_keyword(callback(lambda x, scale: x * scale, arguments=1, keywords=("scale",))) == 3.0
    for layer in (lambda x, scale: x * scale, lambda x, scale=2.0: x * scale, np.negative):
        with pytest.raises(RuntimeError, match="the function that was handed in takes "):
            student.call_with_keyword(layer)


def test_a_default_of_a_function_of_the_test_cannot_be_overridden(student: Student) -> None:
    def scaled(x: float, factor: float = 10) -> float:
        return x * factor

    assert student.apply(scaled, 4) == 40
    with pytest.raises(RuntimeError, match="takes 1 argument by position, and none by name"):
        student.apply_all(scaled, 4, 5)
    assert student.apply_all(callback(scaled, arguments=(1, 2)), 4, 5) == 20
    assert student.apply_all(np.add, 4, 5) == 9


def test_a_function_that_says_nothing_of_its_arguments_is_a_fault_of_the_test(student: Student) -> None:
    with pytest.raises(TypeError, match=r"use callback\(function, arguments=...\)"):
        student.apply(max, [1, 2])
    assert student.apply(callback(max, arguments=1), [1, 2]) == 2


def test_what_a_function_of_the_test_raises_stays_with_the_test(student: Student) -> None:
    def answer_of_the_hidden_test(x: object) -> None:
        raise KeyError("the answer is 42")

    with pytest.raises(StudentError) as caught:
        student.apply(answer_of_the_hidden_test, 1)
    said = str(caught.value) + str(caught.value.report)
    assert "raised an exception for these arguments" in said
    for word in ("KeyError", "42", "answer_of"):
        assert word not in said

    def refuses(x: object) -> None:
        raise Refusal("two rows are needed")

    with pytest.raises(ValueError, match="`apply` raised ValueError: two rows are needed"):
        student.apply(refuses, 1)


def test_arguments_and_answers_of_a_function_of_the_test_are_bounded(student: Student) -> None:
    called = []
    with pytest.raises(RuntimeError, match="at most 1 MiB of arguments"):
        student.apply(called.append, np.zeros(2**17 + 1))
    assert not called
    with pytest.raises(RuntimeError, match="more than 8 MiB"):
        student.apply(lambda x: np.zeros((x, 2**17)), 9)


def test_what_a_function_of_the_test_returns_is_read_only(student: Student) -> None:
    own = np.zeros(2)
    with pytest.raises(ValueError, match="read-only"):
        student.write_into_result(lambda: own)
    assert own.tolist() == [0, 0]


def test_a_function_of_the_test_gets_copies(student: Student) -> None:
    got: list[np.ndarray] = []

    def keep(x: np.ndarray) -> int:
        got.append(x)
        return 1

    x = np.ones(2)
    student.apply(keep, x)
    assert not np.shares_memory(got[0], x)


def test_a_function_of_the_submission_passed_by_name_arrives_as_itself(student: Student) -> None:
    assert student.is_plus_one(student.plus_one) is True
    assert student.is_plus_one(lambda x: x + 1) is False
    assert student.apply(student.plus_one, 1) == 2


def test_an_undefined_function_passed_by_name_is_undefined(student: Student) -> None:
    with pytest.raises(Undefined, match="`softmax` is not defined"):
        student.apply(student.softmax, 1)


# --- errors

BUILTIN = [
    ValueError, TypeError, IndexError, KeyError, ZeroDivisionError, OverflowError, FloatingPointError, ArithmeticError,
    LookupError, AttributeError, NameError, RecursionError, MemoryError, RuntimeError, AssertionError,
]  # fmt: skip


@pytest.mark.parametrize("kind", BUILTIN, ids=lambda kind: kind.__name__)
def test_a_builtin_exception_arrives_as_the_same_builtin(student: Student, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        student.raises(kind.__name__)
    assert isinstance(caught.value, StudentError)
    assert f"`raises` raised {kind.__name__}: " in str(caught.value)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("OwnError", ValueError),
        ("UnboundLocalError", NameError),
        ("UnicodeError", ValueError),
        ("NotADirectoryError", StudentError),
    ],
)
def test_a_subclass_arrives_as_the_nearest_builtin(student: Student, name: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=f"raised {name}") as caught:
        student.raises(name)
    assert isinstance(caught.value, StudentError)


def test_an_exception_of_no_builtin_kind_arrives_as_a_student_error(student: Student) -> None:
    with pytest.raises(StudentError, match="`raises` raised Strange: no good") as caught:
        student.raises("Strange")
    assert not isinstance(caught.value, tuple(BUILTIN))


def test_an_exception_that_cannot_be_printed_is_reported_still(student: Student) -> None:
    with pytest.raises(StudentError, match="its message could not be read"):
        student.raises("Unspeakable")


def test_a_key_error_reads_like_any_other(student: Student) -> None:
    with pytest.raises(KeyError) as caught:
        student.outer()
    assert str(caught.value).startswith("`outer` raised KeyError: 'key'\n  line ")


def test_an_error_names_the_lines_that_led_to_it(student: Student) -> None:
    with pytest.raises(StudentError) as caught:
        student.outer()
    lines = SOURCE.split("\n")
    first, second = lines.index("    return inner()") + 1, lines.index('    return {}["key"]') + 1
    assert caught.value.report["where"] == [
        f"line {first}, in outer: return inner()",
        f'line {second}, in inner: return {{}}["key"]',
    ]


def test_what_may_be_read_of_a_hidden_test_holds_nothing_the_submission_said(student: Student) -> None:
    with pytest.raises(StudentError) as caught:
        student.raises("OwnError", "the hidden input was 42")
    assert "42" in str(caught.value)
    assert caught.value.safe == "`raises` raised ValueError"


def test_wrong_arguments_are_a_type_error(student: Student) -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        student.plus_one()


def test_a_stub_is_not_done_yet(student: Student) -> None:
    with pytest.raises(NotDone, match=r"^not done yet: `not_yet`$"):
        student.not_yet(1)


def test_a_name_that_is_missing_is_undefined(student: Student) -> None:
    with pytest.raises(Undefined, match=r"^`softmax` is not defined$"):
        student.softmax(1)
    with pytest.raises(Undefined, match=r"^`conclusion` is not defined$"):
        student.value("conclusion")


def test_a_renamed_function_is_suggested() -> None:
    student = student_of("def soft_max(x): pass\ndef mix(x): pass\n", asked=("softmax", "mix"))
    with pytest.raises(Undefined, match="`softmax` is not defined; did you rename it\\? There is `soft_max`"):
        student.softmax(1)


def test_a_name_that_another_question_asks_for_is_not_suggested() -> None:
    student = student_of("def masked_softmax(x): pass\n", asked=("softmax", "masked_softmax"))
    with pytest.raises(Undefined) as caught:
        student.softmax(1)
    assert "rename" not in str(caught.value)


def test_the_error_that_stopped_the_module_is_not_said_again_of_each_missing_name() -> None:
    student = student_of("x = 1\nfrom no_such_module import softmax\ndef mix(x): pass\n")
    with pytest.raises(Undefined) as caught:
        student.softmax(1)
    assert str(caught.value) == "`softmax` is not defined"


@pytest.mark.parametrize("name", ["forever", "stubborn"])
def test_a_call_that_does_not_end_is_stopped(name: str) -> None:
    student = student_of(seconds=0.05)
    with pytest.raises(Stopped, match=rf"^stopped: `{name}` did not finish within 0.05 s$") as caught:
        getattr(student, name)()
    assert caught.value.safe == f"stopped: `{name}` did not return in time"


def test_memory_that_a_single_call_held_is_an_error_where_a_guest_has_less() -> None:
    def zeros(megabytes: float) -> float:
        return float(np.zeros(int(megabytes * 2**17)).sum())

    student = Student(LocalRunner({"zeros": zeros}, {}, memory_mb=8))
    assert student.once.zeros(7) == 0
    with pytest.raises(MemoryError, match=r"`zeros` raised MemoryError: it held 9 MB at once; the grader allows 8 MB"):
        student.once.zeros(9)
    assert student.zeros(9) == 0  # only what is asked once is large by design, and measuring costs time


def test_a_call_that_goes_on_taking_memory_is_stopped() -> None:
    def hoard() -> None:
        held = []
        while True:
            held.append(np.ones(2**17))

    student = Student(LocalRunner({"hoard": hoard, "one": lambda: 1}, {}, memory_mb=8))
    with pytest.raises(MemoryError, match="MB at once; the grader allows 8 MB"):
        student.once.hoard()
    assert student.once.one() == 1


def test_an_exit_is_an_error_of_the_call(student: Student) -> None:
    with pytest.raises(StudentError, match="`leave` raised SystemExit: 3"):
        student.leave()


def test_calls_are_noted_with_their_results_and_errors(student: Student) -> None:
    student.plus_one(1, by=2)
    with pytest.raises(ValueError, match="no good"):
        student.raises("OwnError")
    student.value("answer")
    noted = [(call.name, call.args, call.kwargs, call.value, call.error) for call in student.calls]
    assert noted == [
        ("plus_one", (1,), {"by": 2}, 3, ""),
        ("raises", ("OwnError",), {}, None, "OwnError"),
        ("answer", (), {}, "b", ""),
    ]


@pytest.mark.parametrize(("size", "kept"), [(2**20 - 4096, True), (2**20 + 4096, False)])
def test_an_answer_is_remembered_up_to_a_size_and_larger_ones_are_asked_again(size: int, kept: bool) -> None:
    asked = []

    def large(size: int) -> bytes:
        asked.append(size)
        return bytes(size)

    student = Student(LocalRunner({"large": large}, {}))
    assert student.large(size) == student.large(size) == bytes(size)
    assert len(asked) == (2 if kept else 4)
    assert [call.error for call in student.calls] == ["" if kept else "TooLarge"] * 2
    assert [call.value == bytes(size) for call in student.calls] == [kept] * 2


@pytest.mark.parametrize(("size", "kept"), [(2**20 - 4096, True), (2**20 + 4096, False)])
def test_a_question_is_remembered_up_to_a_size(size: int, kept: bool) -> None:
    asked = []
    student = Student(LocalRunner({"length": lambda data: asked.append(0) or len(data)}, {}))
    assert student.length(np.zeros(size, np.uint8)) == student.length(np.zeros(size, np.uint8)) == size
    assert len(asked) == (2 if kept else 4)


def test_private_names_are_no_functions_of_the_student(student: Student) -> None:
    with pytest.raises(AttributeError):
        _ = student._secret


# --- when two answers are alike


def drawn(points: list[float]) -> FigureView:
    """A figure with one line."""
    line = LineView(np.arange(len(points)), np.array(points), "", "-", "")
    return FigureView("a", [AxesView(lines=[line])])


def answers() -> list[tuple[Any, Any, bool]]:
    a = np.array([1.0, 2.0])
    nan = float("nan")
    return [
        (1, 1, True),
        (1, 2, False),
        (1, 1.0, False),
        (1, True, False),
        (1.0, 1.0 + 1e-15, True),
        (1.0, 1.0 + 1e-9, False),
        (nan, nan, True),
        (nan, 1.0, False),
        (float("inf"), float("inf"), True),
        (float("inf"), -float("inf"), False),
        (None, None, True),
        (None, 0, False),
        ("a", "a", True),
        ("a", "b", False),
        (a, a.copy(), True),
        (a, a + 1e-14, True),
        (a, a + 1e-8, False),
        (a, a.astype(np.float32), False),
        (a, a[:, None], False),
        (a, a[::-1], False),
        (np.array([nan, 1]), np.array([nan, 1]), True),
        (np.array([nan, 1]), np.array([1, nan]), False),
        (np.array([1e300, 1.0]), np.array([1e300, 2.0]), True),  # far below the rounding of the largest
        (np.array([1, 2]), np.array([1, 3]), False),
        (np.array([True]), np.array([False]), False),
        (np.zeros((0, 2)), np.zeros((0, 2)), True),
        (np.zeros((0, 2)), np.zeros((0, 3)), False),
        (np.array([1 + 1j]), np.array([1 + 1.5j]), False),
        ([1, [a]], [1, [a]], True),
        ([1, 2], [1, 2, 3], False),
        ([1], (1,), False),
        ((a, 1), (a, 2), False),
        ({"a": 1.0}, {"a": 1.0 + 1e-15}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {"a": 2}, False),
        (Foreign("set"), Foreign("set"), True),
        (Foreign("set"), Foreign("list"), False),
        (FigureView("a"), FigureView("a"), True),
        (FigureView("a"), FigureView("b"), False),
        (drawn([1.0, 2.0]), drawn([1.0, 2.0 + 1e-15]), True),
        (drawn([1.0, 2.0]), drawn([1.0, 2.0 + 1e-8]), False),
        (drawn([1.0, nan]), drawn([1.0, nan]), True),
        (drawn([1.0, nan]), drawn([1.0, 2.0]), False),
        (drawn([1.0]), drawn([1.0, 2.0]), False),
        (np.array([nan, 1.0]), np.array([nan, 1.0 + 1e-14]), True),
        (np.array([nan, 1.0]), np.array([nan, 1.0 + 1e-8]), False),
        (np.array([np.inf, 1.0]), np.array([np.inf, 1.0 + 1e-14]), True),
        (np.array([np.inf, 1.0]), np.array([1e300, 1.0]), False),
        (np.array([nan, nan]), np.array([nan, 0.0]), False),
        (np.float64(nan), np.float64(nan), True),
        (complex(nan, 1), complex(nan, 2), True),  # a complex number with a NaN in it is NaN, as NumPy has it
    ]


@pytest.mark.parametrize(("one", "other", "expected"), answers())
def test_answers_are_alike_up_to_rounding_and_no_further(one: Any, other: Any, expected: bool) -> None:
    assert alike(one, other) is expected
    assert alike(other, one) is expected


def test_answers_in_half_precision_can_differ() -> None:
    assert not alike(np.float16([1, 2]), np.float16([2, 1]))


def test_a_complex_nan_is_like_itself() -> None:
    assert alike(complex("nan"), complex("nan"))


def test_through_wire_gives_what_the_other_side_would_see() -> None:
    assert through_wire([1, {2}, "x"]) == [1, Foreign("set"), "x"]
