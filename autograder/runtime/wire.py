"""The wire format between host and guest: plain values as bytes, and nothing that can run.

A *frame* is a prefix, a header and a payload:

    4 bytes   b"ATN1"
    4 bytes   length of the header, unsigned little-endian
    8 bytes   length of the payload, unsigned little-endian
    header    one encoded value: a tag byte and its content, containers nested to a bounded depth
    payload   the raw bytes of the header's arrays, in the order in which they occur

A *message* is the frame of a tuple whose first item is a string, its kind. From host to guest:

    ("load", filename, source, seconds, units in part)  answered by any number of ("unit", name), then ("loaded", report)
    ("call", asks, seconds)                             answered by ("answers", results), until each ask has a result
    ("read", name)                                      answered by ("answers", [result])
    ("value", value) or ("error", report)               answers a callback

and from guest to host, while a call runs, ("callback", handle, args, kwargs). A report is a dict of plain values. An ask is
the tuple of a function's name, the `Deferred` pair of its args and kwargs, the seconds it may take, and whether to call it
twice. Its result is the pair of values (one, or two that differ) and warnings, or the report of what it raised, or None if
it was not made: none is begun after the `seconds` of the message, or after one that did not return.

An instance of a subclass of these types crosses as the plain value it holds. A masked array does so only if nothing in it is
masked.

The host decodes bytes that a hostile guest wrote, so decoding never allocates more than a small multiple of the bytes it
was given, never recurses deeper than `MAX_DEPTH`, and raises `WireError` for everything it does not understand.
Arrays are views of the payload and read-only: a function that changes its argument in place fails at that very line.

The module is longer than others because encoder and decoder are read side by side.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.runtime import figures
from autograder.runtime.plain import held_by

PREFIX = struct.Struct("<4sIQ")
MAGIC = b"ATN1"
MAX_HEADER = 8 * 2**20
MAX_PAYLOAD = 256 * 2**20
MAX_DEPTH = 24
MAX_DIMENSIONS = 16
MAX_INT_BYTES = 1024  # fewer digits than Python refuses to print
MAX_ARRAYS = 20_000  # an array costs a hundred bytes of memory, however few it was sent in

MAX_VALUES = 200_000  # in one message, outside its arrays: bounds the time that decoding takes
MAX_KEYS = 4096  # in one message; keys that are not strings can be made to collide

_NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
DTYPES = [np.dtype(name) for name in _NAMES.split()]
_CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
_EMPTY = {dtype: np.frombuffer(bytes(16), dtype)[:0] for dtype in DTYPES}  # read-only

_COUNT = struct.Struct("<I")
_INT = struct.Struct("<q")
_FLOAT = struct.Struct("<d")
_COMPLEX = struct.Struct("<dd")
_FLOAT_ITEM = struct.Struct("<Bd")
_INT_ITEM = struct.Struct("<Bq")
_ARRAY_ITEM = struct.Struct("<BBB")
_SIZE = struct.Struct("<Q")
_SHAPES = [struct.Struct(f"<{dimensions}Q") for dimensions in range(MAX_DIMENSIONS + 1)]

# The tag byte each value starts with.
_TAG_NONE, _TAG_TRUE, _TAG_FALSE, _TAG_INT, _TAG_LARGE_INT, _TAG_FLOAT, _TAG_COMPLEX, _TAG_FRACTION = b"NTFiIfcr"
_TAG_TEXT, _TAG_BYTES, _TAG_LIST, _TAG_TUPLE, _TAG_DICT, _TAG_ARRAY, _TAG_SCALAR = b"sbltdag"
_TAG_FIGURE, _TAG_FOREIGN, _TAG_NAMED, _TAG_HANDLE, _TAG_DEFERRED = b"vonhe"
_CONTAINERS: dict[type[Any], int] = {list: _TAG_LIST, tuple: _TAG_TUPLE, dict: _TAG_DICT}


class WireError(Exception):
    """Bytes that are no frame, or a value that no frame can hold."""


@dataclass(frozen=True)
class Foreign:
    """Stands for a value that is not plain data; all that crosses is the name of its type."""

    type_name: str


@dataclass(frozen=True)
class Named:
    """A function of the submission, passed by name so that the guest uses its own object."""

    name: str


@dataclass(frozen=True)
class Encoded:
    """A value that is encoded already: its header, and the raw bytes of its arrays, which nothing can change any more."""

    header: bytes
    payload: bytes

    @classmethod
    def of(cls, value: Any) -> Encoded:
        """Encode `value`; raises like `encode`."""
        header, buffers = encode(value)
        return cls(bytes(header), b"".join(buffers))

    def decode(self) -> Any:
        """The value as it arrives on the other side."""
        return decode(self.header, self.payload)


@dataclass(frozen=True)
class Deferred:
    """A value whose bytes the guest decodes when it needs them, and as often: the arguments of a call."""

    header: bytes
    buffers: tuple[memoryview, ...]

    @classmethod
    def of(cls, value: Any, handles: list[Callable[..., Any]] | None = None) -> Deferred:
        """Encode `value`; raises like `encode`."""
        header, buffers = encode(value, handles)
        return cls(bytes(header), tuple(buffers))

    @property
    def size(self) -> int:
        """Bytes of its arrays."""
        return sum(map(len, self.buffers))


Buffers = list[memoryview]
HandleCallable = Callable[[int], Any]
LookUp = Callable[[str], Any]


# --- encoding


class _Encoder:
    # Slots, here and below: a tenth of the time of a call.
    __slots__ = ("arrays", "buffers", "handles", "header", "keys", "size", "values")

    def __init__(self, handles: list[Callable[..., Any]] | None) -> None:
        self.header = bytearray()
        self.buffers: Buffers = []
        self.size = 0
        self.arrays = self.values = self.keys = 0
        self.handles = handles

    def text(self, tag: int, text: str) -> None:
        # A lone surrogate cannot be UTF-8; the reader sees where it stood.
        self.raw(tag, text.encode("utf-8", "backslashreplace"))

    def raw(self, tag: int, content: bytes) -> None:
        self.header.append(tag)
        self.header += _COUNT.pack(len(content))
        self.header += content

    def integer(self, value: int) -> None:
        content = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        if len(content) > MAX_INT_BYTES:
            raise WireError(f"an integer of {len(content)} bytes is too large to send")
        self.raw(_TAG_LARGE_INT, content)

    def array(self, array: np.ndarray) -> None:
        self.size += array.size * array.itemsize
        self.arrays += 1
        if self.arrays > MAX_ARRAYS:
            raise WireError(f"more than {MAX_ARRAYS} arrays are too many to send; stack them into one")
        if self.size > MAX_PAYLOAD or array.ndim > MAX_DIMENSIONS:
            raise WireError(f"an array of shape {array.shape} and type {array.dtype} is too large to send")
        self.header += _ARRAY_ITEM.pack(_TAG_ARRAY, _CODES[array.dtype], array.ndim)
        self.header += _SHAPES[array.ndim].pack(*array.shape)
        if array.size:
            self.buffers.append(np.ascontiguousarray(array).data.cast("B"))

    def container(self, value: Any, kind: type[Any], depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise WireError(f"a {kind.__name__} nested more than {MAX_DEPTH} deep is not sent")
        if kind is dict:
            self.keys += len(value)
        if self.keys > MAX_KEYS:
            raise WireError(f"more than {MAX_KEYS} dictionary keys are not sent")
        self.values += len(value)
        if self.values > MAX_VALUES:
            raise WireError(f"more than {MAX_VALUES} values outside arrays are too many to send; use arrays")
        self.header.append(_CONTAINERS[kind])
        self.header += _COUNT.pack(len(value))
        if kind is dict:
            for key, item in value.items():
                _check_key(key)
                self.encode(key, depth + 1)
                self.encode(item, depth + 1)
        else:
            for item in value:
                self.encode(item, depth + 1)

    def encode(self, value: Any, depth: int = 0) -> None:
        kind = type(value)
        if kind is float:
            self.header += _FLOAT_ITEM.pack(_TAG_FLOAT, value)
        elif kind is np.ndarray and value.dtype in _CODES:
            self.array(value)
        elif kind is str:
            self.text(_TAG_TEXT, value)
        elif kind is int:
            if -(2**63) <= value < 2**63:
                self.header += _INT_ITEM.pack(_TAG_INT, value)
            else:
                self.integer(value)
        elif kind in _CONTAINERS:
            self.container(value, kind, depth)
        elif value is None:
            self.header.append(_TAG_NONE)
        elif kind is bool:
            self.header.append(_TAG_TRUE if value else _TAG_FALSE)
        elif isinstance(value, np.generic) and value.dtype in _CODES and kind is value.dtype.type:
            self.header += bytes([_TAG_SCALAR, _CODES[value.dtype]]) + value.tobytes()
        elif kind is complex:
            self.header.append(_TAG_COMPLEX)
            self.header += _COMPLEX.pack(value.real, value.imag)
        elif kind is bytes:
            self.raw(_TAG_BYTES, value)
        elif kind is Fraction:
            self.header.append(_TAG_FRACTION)
            self.integer(value.numerator)
            self.integer(value.denominator)
        elif kind is Encoded:
            self.header += value.header
            if value.payload:
                self.buffers.append(memoryview(value.payload))
        elif kind is Deferred:
            self.size += value.size
            if self.size > MAX_PAYLOAD:
                raise WireError(f"arguments with arrays of {self.size} bytes are too large to send")
            self.header.append(_TAG_DEFERRED)
            self.header += _COUNT.pack(len(value.header)) + _SIZE.pack(value.size) + value.header
            self.buffers += value.buffers
        elif figures.is_figure(value):
            self.header.append(_TAG_FIGURE)
            self.encode(figures.describe(value), depth + 1)
        elif isinstance(value, Named):
            self.text(_TAG_NAMED, value.name)
        elif kind is Foreign:
            self.text(_TAG_FOREIGN, value.type_name)
        elif self.handles is not None and callable(value):
            self.handles.append(value)
            self.header.append(_TAG_HANDLE)
            self.header += _COUNT.pack(len(self.handles) - 1)
        elif (held := held_by(value)) is not None:
            self.encode(held, depth)
        else:
            self.text(_TAG_FOREIGN, type_name(value)[:200])


def type_name(value: Any) -> str:
    """The type of `value` as its author would name it: `set`, `numpy.ma.MaskedArray`, `ndarray of object`."""
    kind = type(value)
    if kind is np.ndarray:
        order = "" if value.dtype.isnative else "big-endian "
        return f"ndarray of {order}{value.dtype.name}"
    if issubclass(kind, np.ma.MaskedArray):
        return "numpy.ma.MaskedArray"
    module = getattr(kind, "__module__", "")
    return str(kind.__name__) if module in ("builtins", "__main__") else f"{module}.{kind.__name__}"


def encode(value: Any, handles: list[Callable[..., Any]] | None = None) -> tuple[bytearray, Buffers]:
    """Encode `value` as a header and the buffers of its arrays.

    With `handles`, a callable is appended to that list and crosses as its index; without, it crosses as `Foreign`.
    Raises `WireError` when the value is too large, too deep or its own methods fail.
    """
    encoder = _Encoder(handles)
    encoder.encode(value)
    if len(encoder.header) > MAX_HEADER:
        raise WireError(f"a value of {len(encoder.header)} bytes outside its arrays is too large to send; use arrays")
    return encoder.header, encoder.buffers


def frame(value: Any) -> Buffers:
    """Encode `value` as a whole frame: the pieces to write one after the other."""
    header, buffers = encode(value)
    prefix = PREFIX.pack(MAGIC, len(header), sum(len(piece) for piece in buffers))
    return [memoryview(prefix + header), *buffers]


# --- decoding


class _Decoder:
    """Reads one header from front to back. Where its bytes end too early, `IndexError` or `struct.error` is raised."""

    __slots__ = ("arrays", "at", "end", "handle_callable", "header", "keys", "look_up", "payload", "used", "values")

    def __init__(
        self,
        header: bytes,
        payload: memoryview,
        handle_callable: HandleCallable | None,
        look_up: LookUp | None,
    ) -> None:
        self.header = header
        self.end = len(header)
        self.payload = payload.toreadonly()
        self.at = 0
        self.used = 0
        self.arrays = self.values = self.keys = 0
        self.handle_callable = handle_callable
        self.look_up = look_up

    def byte(self) -> int:
        self.at += 1
        return self.header[self.at - 1]

    def take(self, count: int) -> bytes:
        at = self.at
        self.at = stop = at + count
        if stop > self.end:
            raise IndexError
        return self.header[at:stop]

    def unpack(self, form: struct.Struct) -> tuple[Any, ...]:
        at = self.at
        self.at = at + form.size
        return form.unpack_from(self.header, at)

    def count(self) -> int:
        value: int = self.unpack(_COUNT)[0]
        # Every item takes at least one byte, so a longer claim is a lie; refused before anything is allocated.
        if value > self.end - self.at:
            raise WireError(f"a claim of {value} items in {self.end - self.at} bytes")
        return value

    def text(self) -> str:
        return self.take(self.count()).decode("utf-8", "replace")

    def integer(self) -> int:
        if self.byte() != _TAG_LARGE_INT:
            raise WireError("an integer was expected")
        size = self.count()
        if size > MAX_INT_BYTES:
            raise WireError(f"an integer of {size} bytes")
        return int.from_bytes(self.take(size), "little", signed=True)

    def dtype(self) -> np.dtype[Any]:
        code = self.byte()
        if code >= len(DTYPES):
            raise WireError(f"no array has the type {code}")
        return DTYPES[code]

    def array(self) -> np.ndarray:
        self.arrays += 1
        if self.arrays > MAX_ARRAYS:
            raise WireError(f"more than {MAX_ARRAYS} arrays")
        dtype = self.dtype()
        dimensions = self.byte()
        if dimensions > MAX_DIMENSIONS:
            raise WireError(f"an array of {dimensions} dimensions")
        shape = self.unpack(_SHAPES[dimensions])
        start, count = self.used, math.prod(shape)
        self.used = stop = start + count * dtype.itemsize
        if stop > len(self.payload):
            raise WireError(f"an array of {stop - start} bytes in a payload of {len(self.payload)}")
        try:
            flat = np.frombuffer(self.payload, dtype, count, start) if count else _EMPTY[dtype]
            _check_truth_values(flat)
            return flat.reshape(shape)
        except (ValueError, OverflowError) as problem:
            raise WireError(f"an array of shape {shape}: {problem}") from None

    def decode(self, depth: int = 0) -> Any:
        tag = self.header[self.at]
        self.at += 1
        if tag == _TAG_FLOAT:
            return self.unpack(_FLOAT)[0]
        if tag == _TAG_INT:
            return self.unpack(_INT)[0]
        if tag == _TAG_TEXT:
            return self.text()
        if tag == _TAG_ARRAY:
            return self.array()
        if tag in (_TAG_TUPLE, _TAG_LIST, _TAG_DICT):
            if depth >= MAX_DEPTH:
                raise WireError(f"containers nested more than {MAX_DEPTH} deep")
            count = self.count()
            self.values += count
            if self.values > MAX_VALUES:
                raise WireError(f"more than {MAX_VALUES} values outside arrays")
            if tag == _TAG_DICT:
                return self.dictionary(count, depth)
            items = [self.decode(depth + 1) for _ in range(count)]
            return tuple(items) if tag == _TAG_TUPLE else items
        if tag == _TAG_NONE:
            return None
        if tag in (_TAG_TRUE, _TAG_FALSE):
            return tag == _TAG_TRUE
        if tag == _TAG_SCALAR:
            dtype = self.dtype()
            single = np.frombuffer(self.take(dtype.itemsize), dtype)
            _check_truth_values(single)
            return single[0]
        if tag == _TAG_COMPLEX:
            return complex(*self.unpack(_COMPLEX))
        if tag == _TAG_BYTES:
            return self.take(self.count())
        if tag == _TAG_LARGE_INT:
            self.at -= 1
            return self.integer()
        if tag == _TAG_FRACTION:
            numerator, denominator = self.integer(), self.integer()
            if denominator <= 0:
                raise WireError(f"a fraction with denominator {denominator}")
            return Fraction(numerator, denominator)
        if tag == _TAG_FIGURE and depth < MAX_DEPTH:
            try:
                return figures.FigureView.from_plain(self.decode(depth + 1))
            except (TypeError, ValueError, KeyError) as problem:
                raise WireError(f"no description of a figure: {problem}") from None
        if tag == _TAG_FOREIGN:
            return Foreign(self.text())
        if tag == _TAG_NAMED and self.look_up is not None:
            return self.look_up(self.text())
        if tag == _TAG_DEFERRED and self.look_up is not None:
            return self.deferred()
        if tag == _TAG_HANDLE and self.handle_callable is not None:
            return self.handle_callable(self.unpack(_COUNT)[0])
        raise WireError(f"no value starts with the byte {tag}")

    def deferred(self) -> Deferred:
        length, size = self.count(), self.unpack(_SIZE)[0]
        header, start = self.take(length), self.used
        self.used = stop = start + size
        if stop > len(self.payload):
            raise WireError(f"arguments with arrays of {size} bytes in a payload of {len(self.payload)}")
        return Deferred(header, (self.payload[start:stop],))

    def dictionary(self, count: int, depth: int) -> dict[Any, Any]:
        self.keys += count
        if self.keys > MAX_KEYS:
            raise WireError(f"more than {MAX_KEYS} dictionary keys")
        items: dict[Any, Any] = {}
        for _ in range(count):
            key = self.decode(depth + 1)
            _check_key(key)
            items[key] = self.decode(depth + 1)
        return items


def _check_key(key: Any) -> None:
    if type(key) not in (str, int, float, bool, type(None)):
        raise WireError(f"a dictionary key of type {type_name(key)} is not sent")


def _check_truth_values(array: np.ndarray) -> None:
    """NumPy takes a bool's byte on trust; one that is neither 0 nor 1 would be true and yet not equal to True."""
    if array.dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
        raise WireError("a truth value that is neither 0 nor 1")


def decode(
    header: bytes | bytearray | memoryview,
    payload: memoryview | bytes | bytearray = b"",
    *,
    handle_callable: HandleCallable | None = None,
    look_up: LookUp | None = None,
) -> Any:
    """Decode one value; arrays are read-only views of `payload`. Raises `WireError` and nothing else.

    `handle_callable(index)` makes the callable that stands for a handle and `look_up(name)` finds a function of the
    submission; without them such values, and deferred ones, are refused, as the host must.
    """
    decoder = _Decoder(bytes(header), memoryview(payload), handle_callable, look_up)
    try:
        value = decoder.decode()
    except (IndexError, struct.error):
        raise WireError("the header ends too early") from None
    if decoder.at != len(decoder.header) or decoder.used != len(decoder.payload):
        raise WireError("bytes are left over after the value")
    return value


def parse_prefix(prefix: bytes | bytearray | memoryview) -> tuple[int, int]:
    """Header and payload length that a prefix claims; raises `WireError` for a claim over the limits."""
    if len(prefix) != PREFIX.size:
        raise WireError("the bytes are no prefix of a frame")
    magic, header, payload = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise WireError("the bytes do not start like a frame")
    if header > MAX_HEADER or payload > MAX_PAYLOAD:
        raise WireError(f"a frame of {header} + {payload} bytes is over the limit")
    return header, payload


class FrameReader:
    """Cuts a stream into frames, most of them with a single read.

    `fill(view)` puts at least one byte into the view and returns how many; it may raise. Frames of more than `limit` bytes
    raise `WireError` before anything is read of them.
    """

    SMALL = 64 * 1024

    def __init__(self, fill: Callable[[memoryview], int], limit: int = MAX_HEADER + MAX_PAYLOAD) -> None:
        self._fill = fill
        self._limit = limit
        self._view = np.empty(self.SMALL, np.uint8).data
        self._filled = 0

    def read(self) -> tuple[bytes, memoryview]:
        """The next frame's header and payload."""
        while self._filled < PREFIX.size:
            self._filled += self._fill(self._view[self._filled :])
        header, payload = parse_prefix(self._view[: PREFIX.size])
        size, stop = header + payload, PREFIX.size + header + payload
        if size > self._limit:
            raise WireError(f"a frame of {size} bytes is over the limit of {self._limit}")
        if stop > self.SMALL:
            frame = self._read_large(size)
        else:
            while self._filled < stop:
                self._filled += self._fill(self._view[self._filled :])
            frame = memoryview(bytes(self._view[PREFIX.size : stop]))
            self._keep_from(stop)
        return bytes(frame[:header]), frame[header:]

    def _read_large(self, size: int) -> memoryview:
        # Memory that is not touched until written to, so a claim of gigabytes costs nothing before the bytes arrive.
        frame = np.empty(size, np.uint8).data
        have = min(self._filled - PREFIX.size, size)
        frame[:have] = self._view[PREFIX.size : PREFIX.size + have]
        self._keep_from(PREFIX.size + have)
        while have < size:
            have += self._fill(frame[have:])
        return frame

    def _keep_from(self, start: int) -> None:
        rest = bytes(self._view[start : self._filled])
        self._view[: len(rest)] = rest
        self._filled = len(rest)


def message_kind(message: Any) -> str:
    """The kind of a decoded message; raises `WireError` for a value that is no message."""
    if not isinstance(message, tuple) or not message or not isinstance(message[0], str):
        raise WireError("a value that is no message")
    return message[0]


if sys.byteorder != "little":
    raise ImportError("the wire format needs a little-endian machine")
