"""The wire format: what crosses, what does not, and that no bytes can hurt the side that decodes them."""

from __future__ import annotations

import collections
import contextlib
import enum
import math
import random
import struct
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.runtime import figures, wire

MB = 2**20


def encoded(value: Any) -> tuple[bytes, bytes]:
    header, buffers = wire.encode(value)
    return bytes(header), b"".join(buffers)


def round_trip(value: Any) -> Any:
    return wire.decode(*encoded(value))


def framed(value: Any) -> bytes:
    return b"".join(wire.frame(value))


def unframe(data: bytes) -> Any:
    """A whole frame decoded as the reader of a stream does: prefix, then as many bytes as it claims."""
    if len(data) < wire.PREFIX.size:
        raise wire.WireError("the stream ended")
    header, payload = wire.parse_prefix(data[: wire.PREFIX.size])
    rest = data[wire.PREFIX.size :]
    if len(rest) < header + payload:
        raise wire.WireError("the stream ended")
    return wire.decode(rest[:header], rest[header : header + payload])


def identical(one: Any, other: Any) -> bool:
    """Equal in type and in every bit: NaN is NaN, and minus zero is not zero."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, np.generic):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, float):
        return struct.pack("d", one) == struct.pack("d", other)
    if isinstance(one, complex):
        return identical(one.real, other.real) and identical(one.imag, other.imag)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(identical, one, other))
    if isinstance(one, dict):
        pairs = zip(one.items(), other.items(), strict=True)
        return len(one) == len(other) and all(identical(mine, yours) for mine, yours in pairs)
    return bool(one == other)


# --- what crosses

ARRAYS = st.sampled_from(wire.DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**5000), 2**5000),
    st.floats(),
    st.complex_numbers(),
    TEXTS,
    st.binary(),
    st.fractions(),
    ARRAYS,
    st.sampled_from(wire.DTYPES).flatmap(lambda dtype: hnp.arrays(dtype, ()).map(lambda array: array[()])),
)
KEYS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    LEAVES,
    lambda values: (
        st.lists(values, max_size=4) | st.lists(values, max_size=4).map(tuple) | st.dictionaries(KEYS, values, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_every_plain_value_arrives_as_it_left(value: Any) -> None:
    assert identical(round_trip(value), value)


@given(VALUES)
def test_a_frame_tells_its_own_length(value: Any) -> None:
    data = framed(value)
    header, payload = wire.parse_prefix(data[: wire.PREFIX.size])
    assert len(data) == wire.PREFIX.size + header + payload
    assert identical(unframe(data), value)


@pytest.mark.parametrize("dtype", wire.DTYPES, ids=str)
def test_every_type_of_number_crosses_as_array_and_as_scalar(dtype: np.dtype[Any]) -> None:
    array = np.array([[0, 1, 1], [1, 0, 1]], dtype)
    assert identical(round_trip(array), array)
    assert identical(round_trip(array[0, 1]), array[0, 1])


BASE = np.arange(24, dtype=np.float64).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "array",
    [
        np.array(2.5),
        np.zeros(0),
        np.zeros((3, 0, 2), np.int8),
        BASE.transpose(2, 0, 1),
        BASE[:, ::2],
        BASE[::-1, :, ::-1],
        BASE[1:, 1:, 1:],
        np.asfortranarray(BASE[0]),
        np.broadcast_to(np.float64(7), (3, 4)),
        np.broadcast_to(np.arange(3)[:, None], (3, 2)),
        np.arange(20, dtype=np.complex64)[::-3],
        np.ones((1,) * wire.MAX_DIMENSIONS),
    ],
    ids=[
        "0-d",
        "empty",
        "empty-3d",
        "transposed",
        "strided",
        "reversed",
        "offset",
        "fortran",
        "broadcast",
        "broadcast-2d",
        "complex",
        "many-axes",
    ],
)
def test_an_array_of_any_layout_arrives_with_its_numbers_in_place(array: np.ndarray) -> None:
    arrived = round_trip(array)
    assert arrived.shape == array.shape
    assert arrived.dtype == array.dtype
    assert np.array_equal(arrived, array)


def test_arrays_that_end_at_odd_bytes_do_not_disturb_the_next() -> None:
    value = [np.array([True]), np.array([1.5, 2.5]), np.array([1, 2, 3], np.int8), np.array([7], np.int64)]
    assert identical(round_trip(value), value)


def test_signs_of_zero_infinities_and_nan_survive() -> None:
    value = [0.0, -0.0, math.inf, -math.inf, math.nan, np.array([-0.0, math.nan, -math.inf])]
    assert identical(round_trip(value), value)


@pytest.mark.parametrize("power", [7, 8, 15, 31, 62, 63, 64, 1000, 8 * 1023, 8 * 1024 - 2])
def test_integers_survive_at_the_edges_of_their_sizes(power: int) -> None:
    values = [sign * 2**power + step for sign in (-1, 1) for step in (-1, 0, 1)]
    assert round_trip(values) == values


def test_an_integer_over_the_limit_is_not_sent() -> None:
    with pytest.raises(wire.WireError, match="too large to send"):
        wire.encode(2 ** (8 * 1024))


def test_a_lone_surrogate_arrives_as_its_escape() -> None:
    assert round_trip("a\ud800b") == "a\\ud800b"
    assert round_trip({"\udc80": 1}) == {"\\udc80": 1}


@given(st.text())
def test_any_text_crosses_and_text_without_surrogates_is_unchanged(text: str) -> None:
    assert round_trip(text) == text.encode("utf-8", "backslashreplace").decode()


def test_a_figure_arrives_as_a_view() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().imshow([[0.0, 1.0]])
    view = round_trip({"picture": figure})["picture"]
    assert isinstance(view, figures.FigureView)
    assert np.array_equal(view.axes[0].images[0].cells, [[0, 1]])


@pytest.mark.parametrize("key", [np.int64(1), Fraction(1, 2), 1j, len, frozenset(), wire.Foreign("x")], ids=repr)
def test_what_can_be_sent_can_be_received_whatever_the_keys(key: Any) -> None:
    # An honest answer that only the receiver refuses looks to the host like an attack, and ends the guest.
    try:
        sent = encoded({key: 1})
    except wire.WireError:
        return
    assert isinstance(wire.decode(*sent), dict)


# --- what arrives read-only


@given(ARRAYS)
def test_arrays_arrive_read_only_and_stay_so(array: np.ndarray) -> None:
    arrived = round_trip(array)
    if arrived.size:
        assert not arrived.flags.writeable
        with pytest.raises(ValueError, match="WRITEABLE"):
            arrived.setflags(write=True)
        with pytest.raises(ValueError, match="read-only"):
            arrived[...] = 0
        assert arrived.base is not None
        assert not getattr(arrived.base, "flags", arrived.flags).writeable


def test_empty_arrays_arrive_read_only_as_well() -> None:
    assert not round_trip(np.zeros((0, 3))).flags.writeable


def test_arrays_share_the_payload_they_came_in() -> None:
    header, payload = encoded(np.arange(1000.0))
    arrived = wire.decode(header, payload)
    assert np.shares_memory(arrived, np.frombuffer(payload, np.uint8))


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_writable_payload_gives_read_only_arrays_too(kind: Callable[[bytes], Any]) -> None:
    header, payload = encoded(np.arange(3.0))
    data = kind(bytearray(payload)) if kind is memoryview else kind(payload)
    assert not wire.decode(header, data).flags.writeable


# --- what does not cross


class Colour(enum.IntEnum):
    RED = 1


class MyFloat(float):
    pass


class MyDict(dict[Any, Any]):
    pass


class Impostor(np.ndarray):
    """Says of itself that it is a plain array."""

    @property
    def __class__(self) -> Any:
        return np.ndarray


Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "value",
    [
        np.ma.masked_array([1.0, 2.0], [False, True]),
        np.array([1, "two", None], object),
        np.array([[1], [2, 3]], object),
        np.array(["a", "bc"]),
        np.array([b"a"]),
        np.array(["2026-01-01"], "datetime64[D]"),
        np.zeros(2, [("x", float)]),
        np.zeros(2, np.longdouble),
        np.datetime64("2026-01-01"),
        {1, 2},
        frozenset(),
        range(3),
        iter([1]),
        (number for number in [1]),
        bytearray(b"x"),
        memoryview(b"x"),
        object(),
        int,
        len,
        lambda: 1,
        np.random.default_rng(0),
        ...,
        NotImplemented,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_plain_data_arrives_as_the_name_of_its_type(value: Any) -> None:
    arrived = round_trip([value])[0]
    assert type(arrived) is wire.Foreign
    assert type(value).__name__.split(".")[-1] in arrived.type_name


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({1}, "set"),
        (np.array(["a"]), "ndarray of str32"),
        (np.array([None]), "ndarray of object"),
        (np.ma.masked_array([1.0, 2.0], [False, True]), "numpy.ma.MaskedArray"),
        (np.ma.masked, "numpy.ma.MaskedArray"),
        (np.matrix(["a"]), "ndarray of str32"),
    ],
    ids=["set", "strings", "objects", "masked", "the masked constant", "a matrix of strings"],
)
def test_a_foreign_type_is_named_as_its_author_would(value: Any, name: str) -> None:
    assert round_trip(value).type_name == name


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Point(1, 2.5), (1, 2.5)),
        (Point(np.eye(2), [Point(1, 2)]), (np.eye(2), [(1, 2)])),
        (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.defaultdict(list, x=[1]), {"x": [1]}),
        (Colour.RED, 1),
        (MyFloat(1), 1.0),
        (MyDict(a=1), {"a": 1}),
        (np.zeros(3).view(Impostor), np.zeros(3)),
        (np.str_("b"), "b"),
        (np.matrix([[1.0, 2.0]]), np.array([[1.0, 2.0]])),
        (np.eye(3)[::2].view(np.matrix), np.eye(3)[::2]),
        (np.ma.masked_array([1.0, 2.0]), np.array([1.0, 2.0])),
        (np.ma.masked_array([1, 2], [False, False]), np.array([1, 2])),
        ({"pair": Point(None, True)}, {"pair": (None, True)}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_instance_of_a_subclass_arrives_as_the_plain_value_it_holds(value: Any, plain: Any) -> None:
    arrived = round_trip(value)
    assert identical(arrived, plain)


def lying(base: type[Any]) -> type[Any]:
    """A subclass of `base` that overrides everything, and notes whatever is called."""

    def lie(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the encoder called what a subclass overrides")

    kept = ("__new__", "__init__", "__class__", "__getattribute__", "__init_subclass__", "__subclasshook__", "__del__",
            "__array_finalize__", "__hash__", "__setattr__", "__array_priority__")  # fmt: skip
    methods: dict[str, Any] = {name: lie for name in dir(base) if name not in kept and callable(getattr(base, name))}
    properties = {name: property(lie) for name in ("shape", "dtype", "size", "data", "flags", "real", "mask", "T")}
    return type("Liar", (base,), {**methods, **(properties if base is np.ndarray else {}), "__getattr__": lie})


@pytest.mark.parametrize(
    ("base", "arguments"),
    [(tuple, ([1, 2],)), (list, ([1, 2],)), (dict, ({"a": 1},)), (str, ("text",)), (bytes, (b"text",)), (int, (7,)),
     (float, (-0.0,)), (complex, (1j,))],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_nothing_that_a_subclass_overrides_is_called(base: type[Any], arguments: tuple[Any, ...]) -> None:
    assert repr(round_trip(lying(base)(*arguments))) == repr(base(*arguments))


def test_nothing_that_an_array_overrides_is_called() -> None:
    array = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(round_trip(array.view(lying(np.ndarray))), array)


def test_a_foreign_value_crosses_again_as_itself() -> None:
    assert round_trip(wire.Foreign("pandas.DataFrame")) == wire.Foreign("pandas.DataFrame")


def test_a_very_long_type_name_is_cut() -> None:
    assert len(round_trip(type("X" * 10_000, (), {})()).type_name) <= 200


def test_the_host_refuses_handles_and_names() -> None:
    handles: list[Callable[..., Any]] = []
    header, _ = wire.encode(print, handles)
    assert handles == [print]
    with pytest.raises(wire.WireError, match="no value starts with"):
        wire.decode(header)
    header, _ = wire.encode(wire.Named("softmax"))
    with pytest.raises(wire.WireError, match="no value starts with"):
        wire.decode(header)


def test_the_guest_resolves_handles_and_names() -> None:
    handles: list[Callable[..., Any]] = []
    header, _ = wire.encode([print, wire.Named("softmax"), len], handles)
    found = wire.decode(header, handle_callable=lambda index: ("handle", index), look_up=lambda name: ("name", name))
    assert found == [("handle", 0), ("name", "softmax"), ("handle", 1)]
    assert handles == [print, len]


def test_a_deferred_value_arrives_as_its_bytes_and_is_decoded_there() -> None:
    handles: list[Callable[..., Any]] = []
    cases = [wire.Deferred.of(((np.arange(n), len), {"axis": n}), handles) for n in range(3)]
    assert handles == [len] * 3
    header, buffers = wire.encode(("call", "f", cases, np.ones(2)))
    kind, name, arrived, rest = wire.decode(header, b"".join(buffers), look_up=str)
    assert (kind, name, rest.tolist()) == ("call", "f", [1, 1])
    for n, case in enumerate(arrived):
        assert case.header == cases[n].header
        for _ in range(2):
            args, kwargs = wire.decode(case.header, case.buffers[0], handle_callable=lambda index: index, look_up=str)
            assert (args[0].tolist(), args[1], kwargs) == (list(range(n)), n, {"axis": n})


def test_the_host_refuses_a_deferred_value() -> None:
    header, _ = wire.encode(wire.Deferred.of(1.0))
    with pytest.raises(wire.WireError, match="no value starts with"):
        wire.decode(header)


@pytest.mark.parametrize(("length", "size"), [(2**32 - 1, 0), (10, 0), (9, 2**63), (9, 9)])
def test_a_deferred_value_that_claims_too_much_is_refused(length: int, size: int) -> None:
    header = b"e" + struct.pack("<IQ", length, size) + b"f" + bytes(8)
    with pytest.raises(wire.WireError):
        wire.decode(header, bytes(8), look_up=str)


def test_arguments_that_are_too_large_together_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_PAYLOAD", 100)
    case = wire.Deferred.of(np.ones(8))
    wire.encode([case])
    with pytest.raises(wire.WireError, match="arguments with arrays of 128 bytes are too large"):
        wire.encode([case, case])


def test_nesting_is_sent_up_to_the_limit_and_no_further() -> None:
    value: Any = 1
    for _ in range(wire.MAX_DEPTH):
        value = [value]
    assert round_trip(value) == value
    with pytest.raises(wire.WireError, match="nested"):
        wire.encode([value])


def test_a_list_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(wire.WireError, match="nested"):
        wire.encode(value)


@pytest.mark.parametrize(
    "value",
    [
        np.broadcast_to(np.float64(1), (10**6, 10**6)),
        [np.broadcast_to(np.int8(1), 200 * MB)] * 2,
        "x" * (wire.MAX_HEADER + 1),
        dict.fromkeys(range(wire.MAX_KEYS + 1), 0),
        np.ones((1,) * (wire.MAX_DIMENSIONS + 1)),
    ],
    ids=["array", "arrays-together", "text", "keys", "axes"],
)
def test_what_is_too_large_is_refused_by_the_sender(value: Any) -> None:
    with pytest.raises(wire.WireError, match=r"too large to send|are not sent"):
        wire.encode(value)


# --- hostile bytes


def u32(number: int) -> bytes:
    return struct.pack("<I", number)


def array_header(dtype: str, *shape: int) -> bytes:
    code = wire.DTYPES.index(np.dtype(dtype))
    return struct.pack(f"<cBB{len(shape)}Q", b"a", code, len(shape), *shape)


def integer(number: int) -> bytes:
    raw = number.to_bytes(number.bit_length() // 8 + 1, "little", signed=True)
    return b"I" + u32(len(raw)) + raw


def view_of(**parts: bytes) -> bytes:
    """The bytes of a figure's description, given its parts' bytes."""
    return b"vd" + u32(len(parts)) + b"".join(b"s" + u32(len(name)) + name.encode() + raw for name, raw in parts.items())


EMPTY_LIST, EMPTY_TEXT = b"l" + u32(0), b"s" + u32(0)

HOSTILE = {
    "nothing": b"",
    "unknown tag": b"?",
    "list of four billion": b"l" + u32(2**32 - 1),
    "tuple of four billion": b"t" + u32(2**32 - 1) + b"N" * 50,
    "text of four billion": b"s" + u32(2**32 - 1) + b"x",
    "bytes of four billion": b"b" + u32(2**32 - 1),
    "type name of four billion": b"o" + u32(2**32 - 1),
    "keys of four billion": b"d" + u32(2**32 - 1),
    "integer of a gigabyte": b"I" + u32(2**30),
    "integer over the limit, present": b"I" + u32(1025) + bytes(1025),
    "too many keys, present": b"d" + u32(wire.MAX_KEYS + 1) + b"NN" * (wire.MAX_KEYS + 1),
    "array of a terabyte": array_header("float64", 2**37),
    "array with a size of 2**64": array_header("int8", 2**32, 2**32),
    "array with sizes that overflow to nothing": array_header("int8", *[2**16] * 4),
    "array with a negative size": array_header("int8", 2**64 - 1),
    "empty array with a huge side": array_header("float64", 0, 2**62),
    "empty array with a negative side": array_header("int8", 0, 2**63),
    "array whose shape is a NaN": b"a\x0b\x01" + struct.pack("<d", math.nan),
    "array whose shape is cut": array_header("int8", 1, 2, 3)[:-1],
    "array of 17 axes": array_header("int8", *[0] * 17),
    "array of 255 axes": array_header("int8", *[0] * 255),
    "array of no known type": b"a\xff\x00",
    "array without its payload": array_header("float64", 1),
    "scalar of no known type": b"g\x0e" + bytes(8),
    "scalar cut short": b"g\x0b" + bytes(7),
    "float cut short": b"f" + bytes(7),
    "complex cut short": b"c" + bytes(15),
    "fraction over zero": b"r" + integer(1) + integer(0),
    "fraction over a negative number": b"r" + integer(1) + integer(-2),
    "fraction of floats": b"r" + b"f" + bytes(8) + b"f" + bytes(8),
    "fraction without denominator": b"r" + integer(1),
    "key that is a list": b"d" + u32(1) + EMPTY_LIST + b"N",
    "key that is an array": b"d" + u32(1) + array_header("float64", 0) + b"N",
    "key that is a tuple with a list": b"d" + u32(1) + b"t" + u32(1) + EMPTY_LIST + b"N",
    "key without a value": b"d" + u32(1) + b"N",
    "lists nested beyond the limit": (b"l" + u32(1)) * (wire.MAX_DEPTH + 1) + b"N",
    "lists nested 100000 deep": (b"l" + u32(1)) * 100_000 + b"N",
    "tuples nested 100000 deep": (b"t" + u32(1)) * 100_000 + b"N",
    "keys nested 100000 deep": (b"d" + u32(1)) * 100_000 + b"N",
    "figures nested 100000 deep": b"v" * 100_000 + b"N",
    "figure that is a number": b"v" + integer(1),
    "figure without its parts": b"vd" + u32(0),
    "figure in a figure": b"v" + view_of(title=EMPTY_TEXT, axes=EMPTY_LIST, colorbars=EMPTY_LIST),
    "figure with numbers for axes": view_of(
        title=EMPTY_TEXT, axes=b"t" + u32(2) + (b"f" + bytes(8)) * 2, colorbars=EMPTY_LIST
    ),
    "figure with a number for a title": view_of(title=b"N", axes=EMPTY_LIST, colorbars=EMPTY_LIST),
    "handle": b"h" + u32(0),
    "name": b"n" + u32(2) + b"os",
    "bytes left over": b"NN",
    "pickle": b"\x80\x04\x95",
}


@pytest.mark.parametrize("header", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_bytes_are_refused_without_allocating_what_they_claim(header: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(wire.WireError):
            wire.decode(header)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200_000 + 20 * len(header)


def test_a_description_of_a_figure_by_hand_is_accepted() -> None:
    # The hostile ones above differ from this one by what they are named for.
    assert wire.decode(view_of(title=EMPTY_TEXT, axes=EMPTY_LIST, colorbars=EMPTY_LIST)) == figures.FigureView()


@pytest.mark.parametrize("left", ["header", "payload"])
def test_bytes_left_over_are_refused(left: str) -> None:
    header, payload = encoded(np.arange(3.0))
    with pytest.raises(wire.WireError, match="left over"):
        wire.decode(header + b"N" * (left == "header"), payload + b"N" * (left == "payload"))


def test_two_arrays_cannot_share_a_payload() -> None:
    header = b"l" + u32(2) + array_header("float64", 1) * 2
    with pytest.raises(wire.WireError, match="in a payload of 8"):
        wire.decode(header, bytes(8))


def test_a_fraction_that_is_not_in_lowest_terms_is_brought_there() -> None:
    assert wire.decode(b"r" + integer(6) + integer(4)) == Fraction(3, 2)


def test_bad_utf8_arrives_as_replacement_signs() -> None:
    assert wire.decode(b"s" + u32(2) + b"\xffA") == "\ufffdA"


def test_a_truth_value_is_true_or_false_in_every_bit() -> None:
    # A byte of 2 in a bool array is a third truth value to code that looks at the bytes.
    try:
        arrived = wire.decode(array_header("bool", 2), b"\x02\x01")
    except wire.WireError:
        return
    assert set(arrived.tobytes()) <= {0, 1}


DENSE = {
    "0-d arrays": (array_header("int8"), b"\0"),
    "empty arrays": (array_header("int8", 0), b""),
    "one-element arrays": (array_header("int8", 1), b"\0"),
    "scalars": (b"g\x01\x05", b""),
    "type names": (b"o" + u32(0), b""),
    "lists": (EMPTY_LIST, b""),
    "dictionaries": (b"d" + u32(0), b""),
    "nothings": (b"N", b""),
    "floats": (b"f" + bytes(8), b""),
    "fractions": (b"r" + integer(1) + integer(3), b""),
    "figures": (view_of(title=EMPTY_TEXT, axes=EMPTY_LIST, colorbars=EMPTY_LIST), b""),
}


@pytest.mark.parametrize("dense", DENSE.values(), ids=DENSE.keys())
def test_many_small_objects_cost_a_small_multiple_of_their_bytes(dense: tuple[bytes, bytes]) -> None:
    # Large enough that what a single object costs does not show.
    item, payload = dense
    count = 300_000 // len(item)
    header, data = b"l" + u32(count) + item * count, payload * count
    tracemalloc.start()
    try:
        with contextlib.suppress(wire.WireError):
            value = wire.decode(header, data)  # kept, so that the peak holds all of it
            del value
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * (len(header) + len(data))


@pytest.mark.parametrize(
    "prefix",
    [
        struct.pack("<4sIQ", b"ATN2", 1, 0),
        struct.pack("<4sIQ", b"\0\0\0\0", 0, 0),
        struct.pack("<4sIQ", wire.MAGIC, wire.MAX_HEADER + 1, 0),
        struct.pack("<4sIQ", wire.MAGIC, 1, wire.MAX_PAYLOAD + 1),
        struct.pack("<4sIQ", wire.MAGIC, 2**32 - 1, 2**64 - 1),
    ],
)
def test_a_prefix_that_lies_is_refused(prefix: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.parse_prefix(prefix)


def reader(data: bytes, cuts: random.Random, **options: int) -> wire.FrameReader:
    """A reader of a stream that brings `data` in pieces of any size, and then ends."""
    rest = memoryview(data)

    def fill(view: memoryview) -> int:
        nonlocal rest
        if not rest:
            raise EOFError
        count = min(len(view), len(rest), cuts.choice([1, 7, 4096, 64 * 1024, MB]))
        view[:count], rest = rest[:count], rest[count:]
        return count

    return wire.FrameReader(fill, **options)


# On both sides of what the reader keeps at hand, and far above it.
SIZES = st.one_of(st.integers(0, 300), st.integers(-40, 40).map(lambda more: 64 * 1024 + more), st.just(300_000))


@given(st.lists(SIZES, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_frames_of_any_size_arrive_in_turn_however_the_stream_is_cut(sizes: list[int], cuts: random.Random) -> None:
    values = [("value", np.arange(size) % 251, f"frame {number}") for number, size in enumerate(sizes)]
    frames = reader(b"".join(framed(value) for value in values), cuts)
    for value in values:
        assert identical(wire.decode(*frames.read()), value)
    with pytest.raises(EOFError):
        frames.read()


@pytest.mark.parametrize("size", [10, 100_000])
def test_a_frame_as_large_as_the_limit_is_read_and_a_larger_one_is_not(size: int) -> None:
    data = framed(bytes(size))
    limit = len(data) - wire.PREFIX.size
    assert wire.decode(*reader(data, random.Random(0), limit=limit).read()) == bytes(size)
    with pytest.raises(wire.WireError, match=f"a frame of {limit} bytes is over the limit of {limit - 1}"):
        reader(data, random.Random(0), limit=limit - 1).read()


def test_a_frame_over_the_limit_is_refused_before_any_of_it_is_read() -> None:
    prefix = framed(bytes(100_000))[: wire.PREFIX.size]
    with pytest.raises(wire.WireError, match="over the limit"):
        reader(prefix, random.Random(0), limit=1000).read()


@pytest.mark.parametrize("value", [None, [], (), (1, 2), ["value", 1], "value", {"value": 1}, (b"value",)])
def test_a_value_that_is_no_message_is_refused(value: Any) -> None:
    with pytest.raises(wire.WireError, match="no message"):
        wire.message_kind(value)


def test_the_kind_of_a_message_is_its_first_item() -> None:
    assert wire.message_kind(("value", 1, [])) == "value"


SAMPLE = (
    "value",
    {
        "weights": np.arange(6.0).reshape(2, 3),
        "mask": np.array([[True, False]]),
        "key": [Fraction(-3, 7), 2**100, -5, 1.5, 2 + 3j, b"raw", "täxt"],
        "scalars": (np.float32(2), np.bool_(True), np.int8(-1)),
        "other": wire.Foreign("set"),
        "nested": [[[[(), {}, None, True]]]],
    },
    ["RuntimeWarning: divide by zero"],
)


def outcome(data: bytes) -> str:
    """What decoding a frame comes to; anything but a value or a `WireError` is raised."""
    try:
        unframe(data)
    except wire.WireError:
        return "refused"
    return "value"


def test_every_truncated_frame_is_refused() -> None:
    data = framed(SAMPLE)
    assert outcome(data) == "value"
    assert {outcome(data[:length]) for length in range(len(data))} == {"refused"}


def test_every_truncated_header_is_refused() -> None:
    header, payload = encoded(SAMPLE)
    for length in range(len(header)):
        with pytest.raises(wire.WireError):
            wire.decode(header[:length], payload)


def test_every_flipped_bit_gives_a_value_or_a_wire_error() -> None:
    data = framed(SAMPLE)
    outcomes: collections.Counter[str] = collections.Counter()
    for place in range(8 * len(data)):
        mutated = bytearray(data)
        mutated[place // 8] ^= 1 << place % 8
        outcomes[outcome(bytes(mutated))] += 1
    # Flips in numbers and texts give other values; flips in tags, counts and lengths must be noticed.
    assert outcomes["refused"] > 1000
    assert outcomes["value"] > 1000


def test_frames_with_many_changed_bytes_give_a_value_or_a_wire_error() -> None:
    data = framed(SAMPLE)
    rng = random.Random(20260901)
    outcomes: collections.Counter[str] = collections.Counter()
    for _ in range(3000):
        mutated = bytearray(data)
        for _ in range(rng.randint(1, 6)):
            mutated[rng.randrange(wire.PREFIX.size, len(data))] = rng.choice(b"fiIsaNTFtldgcbrvonh\x00\x01\xff")
        outcomes[outcome(bytes(mutated))] += 1
    assert outcomes["refused"] > 1000


@given(st.binary(max_size=200), st.binary(max_size=40))
def test_random_bytes_give_a_value_or_a_wire_error(header: bytes, payload: bytes) -> None:
    with contextlib.suppress(wire.WireError):
        wire.decode(header, payload)
