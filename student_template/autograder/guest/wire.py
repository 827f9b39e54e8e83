"""The wire format between host and guest: plain values as bytes, and nothing that can run.

A *frame* is a prefix, a header and a payload:

    4 bytes   b"ATN1"
    4 bytes   length of the header, unsigned little-endian
    8 bytes   length of the payload, unsigned little-endian
    header    one encoded value: a tag byte and its content, containers nested to a bounded depth
    payload   the raw bytes of the header's arrays, in the order in which they occur

A *message* is the frame of a tuple whose first item is a string, its kind. From host to guest:

    ("load", filename, source, seconds, skipped units)  answered by any number of ("unit", name), then ("loaded", report)
    ("call", name, args, kwargs, seconds)               answered by ("value", value) or ("error", report)
    ("read", name)                                      answered by ("value", value) or ("error", report)
    ("value", value) or ("error", report)               answers a callback

and from guest to host, while a call runs, ("callback", handle, args, kwargs). A report is a dict of plain values.

The host decodes bytes that a hostile guest wrote, so decoding never allocates more than a small multiple of the bytes it
was given, never recurses deeper than `MAX_DEPTH`, and raises `WireError` for everything it does not understand.
Arrays are views of the payload and read-only: a function that changes its argument in place fails at that very line.
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

from autograder.guest import figures

PREFIX = struct.Struct("<4sIQ")
MAGIC = b"ATN1"
MAX_HEADER = 8 * 2**20
MAX_PAYLOAD = 256 * 2**20
MAX_DEPTH = 24
MAX_DIMENSIONS = 16
MAX_INT_BYTES = 4096

MAX_KEYS = 4096  # keys that are not strings can be made to collide; this bounds the time that costs

_NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
DTYPES = [np.dtype(name) for name in _NAMES.split()]
_CODES = {dtype: code for code, dtype in enumerate(DTYPES)}

_COUNT = struct.Struct("<I")
_INT = struct.Struct("<q")
_FLOAT = struct.Struct("<d")
_COMPLEX = struct.Struct("<dd")
_FLOAT_ITEM = struct.Struct("<cd")
_INT_ITEM = struct.Struct("<cq")


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


Buffers = list[memoryview]
HandleCallable = Callable[[int], Any]
LookUp = Callable[[str], Any]


# --- encoding


class _Encoder:
    def __init__(self, handles: list[Callable[..., Any]] | None) -> None:
        self.header = bytearray()
        self.buffers: Buffers = []
        self.size = 0
        self.handles = handles

    def text(self, text: str) -> None:
        # A lone surrogate cannot be UTF-8; the reader sees where it stood.
        raw = text.encode("utf-8", "backslashreplace")
        self.header += _COUNT.pack(len(raw))
        self.header += raw

    def integer(self, value: int) -> None:
        raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        if len(raw) > MAX_INT_BYTES:
            raise WireError(f"an integer of {len(raw)} bytes is too large to send")
        self.header += b"I" + _COUNT.pack(len(raw)) + raw

    def array(self, array: np.ndarray) -> None:
        self.size += array.size * array.itemsize
        if self.size > MAX_PAYLOAD or array.ndim > MAX_DIMENSIONS:
            raise WireError(f"an array of shape {array.shape} and type {array.dtype} is too large to send")
        shape = array.shape
        self.header += struct.pack(f"<cBB{len(shape)}Q", b"a", _CODES[array.dtype], len(shape), *shape)
        if array.size:
            self.buffers.append(np.ascontiguousarray(array).data.cast("B"))

    def encode(self, value: Any, depth: int = 0) -> None:
        kind = type(value)
        if kind is float:
            self.header += _FLOAT_ITEM.pack(b"f", value)
        elif kind is int:
            if -(2**63) <= value < 2**63:
                self.header += _INT_ITEM.pack(b"i", value)
            else:
                self.integer(value)
        elif kind is str:
            self.header += b"s"
            self.text(value)
        elif value is None:
            self.header += b"N"
        elif kind is bool:
            self.header += b"T" if value else b"F"
        elif kind is np.ndarray and value.dtype in _CODES:
            self.array(value)
        elif kind in (tuple, list, dict):
            if depth >= MAX_DEPTH:
                raise WireError(f"a {kind.__name__} nested more than {MAX_DEPTH} deep is not sent")
            if kind is dict and len(value) > MAX_KEYS:
                raise WireError(f"a dictionary of more than {MAX_KEYS} keys is not sent")
            self.header += (b"t" if kind is tuple else b"l" if kind is list else b"d") + _COUNT.pack(len(value))
            for item in value:
                self.encode(item, depth + 1)
                if kind is dict:
                    self.encode(value[item], depth + 1)
        elif isinstance(value, np.generic) and value.dtype in _CODES and kind is value.dtype.type:
            self.header += b"g" + bytes([_CODES[value.dtype]]) + value.tobytes()
        elif kind is complex:
            self.header += b"c" + _COMPLEX.pack(value.real, value.imag)
        elif kind is bytes:
            self.header += b"b" + _COUNT.pack(len(value)) + value
        elif kind is Fraction:
            self.header += b"r"
            self.integer(value.numerator)
            self.integer(value.denominator)
        elif figures.is_figure(value):
            self.header += b"v"
            self.encode(figures.describe(value), depth + 1)
        elif isinstance(value, Named):
            self.header += b"n"
            self.text(value.name)
        elif kind is Foreign:
            self.header += b"o"
            self.text(value.type_name)
        elif self.handles is not None and callable(value):
            self.handles.append(value)
            self.header += b"h" + _COUNT.pack(len(self.handles) - 1)
        else:
            self.header += b"o"
            self.text(type_name(value)[:200])


def type_name(value: Any) -> str:
    """The type of `value` as its author would name it: `list`, `numpy.matrix`, `ndarray of object`."""
    kind = type(value)
    if kind is np.ndarray:
        return f"ndarray of {value.dtype.name}"
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


def frame(value: Any, handles: list[Callable[..., Any]] | None = None) -> Buffers:
    """Encode `value` as a whole frame: the pieces to write one after the other."""
    header, buffers = encode(value, handles)
    prefix = PREFIX.pack(MAGIC, len(header), sum(len(piece) for piece in buffers))
    return [memoryview(prefix + header), *buffers]


# --- decoding


class _Decoder:
    def __init__(self, header: bytes | bytearray | memoryview, payload: memoryview) -> None:
        self.header = memoryview(header)
        self.payload = payload.toreadonly()
        self.at = 0
        self.used = 0
        self.handle_callable: HandleCallable | None = None
        self.look_up: LookUp | None = None

    def take(self, count: int) -> memoryview:
        piece = self.header[self.at : self.at + count]
        if len(piece) != count:
            raise WireError("the header ends too early")
        self.at += count
        return piece

    def count(self) -> int:
        value: int = _COUNT.unpack(self.take(4))[0]
        # Every item takes at least one byte, so a longer claim is a lie; refused before anything is allocated.
        if value > len(self.header) - self.at:
            raise WireError(f"a claim of {value} items in {len(self.header) - self.at} bytes")
        return value

    def text(self) -> str:
        return str(self.take(self.count()), "utf-8", "replace")

    def integer(self) -> int:
        if bytes(self.take(1)) != b"I":
            raise WireError("an integer was expected")
        size = self.count()
        if size > MAX_INT_BYTES:
            raise WireError(f"an integer of {size} bytes")
        return int.from_bytes(self.take(size), "little", signed=True)

    def dtype(self) -> np.dtype[Any]:
        code = self.take(1)[0]
        if code >= len(DTYPES):
            raise WireError(f"no array has the type {code}")
        return DTYPES[code]

    def array(self) -> np.ndarray:
        dtype = self.dtype()
        dimensions = self.take(1)[0]
        if dimensions > MAX_DIMENSIONS:
            raise WireError(f"an array of {dimensions} dimensions")
        shape = struct.unpack(f"<{dimensions}Q", self.take(8 * dimensions))
        if max(shape, default=0) >= 2**63:
            raise WireError(f"an array of shape {shape}")
        size = math.prod(shape) * dtype.itemsize
        if size > len(self.payload) - self.used:
            raise WireError(f"an array of {size} bytes in a payload of {len(self.payload)}")
        piece = self.payload[self.used : self.used + size]
        self.used += size
        try:
            return np.frombuffer(piece, dtype).reshape(shape) if size else np.zeros(shape, dtype)
        except ValueError as problem:
            raise WireError(f"an array of shape {shape}: {problem}") from None

    def decode(self, depth: int = 0) -> Any:
        tag = bytes(self.take(1))
        if tag == b"f":
            return _FLOAT.unpack(self.take(8))[0]
        if tag == b"i":
            return _INT.unpack(self.take(8))[0]
        if tag == b"s":
            return self.text()
        if tag == b"a":
            return self.array()
        if tag == b"N":
            return None
        if tag in b"TF":
            return tag == b"T"
        if tag in b"tld":
            if depth >= MAX_DEPTH:
                raise WireError(f"containers nested more than {MAX_DEPTH} deep")
            count = self.count()
            if tag == b"d":
                return self.dictionary(count, depth)
            items = [self.decode(depth + 1) for _ in range(count)]
            return tuple(items) if tag == b"t" else items
        if tag == b"g":
            dtype = self.dtype()
            return np.frombuffer(bytes(self.take(dtype.itemsize)), dtype)[0]
        if tag == b"c":
            return complex(*_COMPLEX.unpack(self.take(16)))
        if tag == b"b":
            return bytes(self.take(self.count()))
        if tag == b"I":
            self.at -= 1
            return self.integer()
        if tag == b"r":
            numerator, denominator = self.integer(), self.integer()
            if denominator <= 0:
                raise WireError(f"a fraction with denominator {denominator}")
            return Fraction(numerator, denominator)
        if tag == b"v":
            try:
                return figures.FigureView.from_plain(self.decode(depth + 1))
            except (TypeError, ValueError, KeyError) as problem:
                raise WireError(f"no description of a figure: {problem}") from None
        if tag == b"o":
            return Foreign(self.text())
        if tag == b"n" and self.look_up is not None:
            return self.look_up(self.text())
        if tag == b"h" and self.handle_callable is not None:
            return self.handle_callable(_COUNT.unpack(self.take(4))[0])
        raise WireError(f"no value starts with the byte {tag!r}")

    def dictionary(self, count: int, depth: int) -> dict[Any, Any]:
        if count > MAX_KEYS:
            raise WireError(f"a dictionary of {count} keys")
        items: dict[Any, Any] = {}
        for _ in range(count):
            key = self.decode(depth + 1)
            if not isinstance(key, str | int | float | bool | tuple | bytes | None):
                raise WireError(f"a dictionary key of type {type(key).__name__}")
            try:
                items[key] = self.decode(depth + 1)
            except TypeError:
                raise WireError("a dictionary key that holds a list") from None
        return items


def decode(
    header: bytes | bytearray | memoryview,
    payload: memoryview | bytes | bytearray = b"",
    *,
    handle_callable: HandleCallable | None = None,
    look_up: LookUp | None = None,
) -> Any:
    """Decode one value; arrays are read-only views of `payload`. Raises `WireError` and nothing else.

    `handle_callable(index)` makes the callable that stands for a handle and `look_up(name)` finds a function of the
    submission; without them such values are refused, as the host must.
    """
    decoder = _Decoder(header, memoryview(payload))
    decoder.handle_callable = handle_callable
    decoder.look_up = look_up
    value = decoder.decode()
    if decoder.at != len(decoder.header) or decoder.used != len(decoder.payload):
        raise WireError("bytes are left over after the value")
    return value


def parse_prefix(prefix: bytes | bytearray | memoryview) -> tuple[int, int]:
    """Header and payload length that a prefix claims; raises `WireError` for a claim over the limits."""
    magic, header, payload = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise WireError("the bytes do not start like a frame")
    if header > MAX_HEADER or payload > MAX_PAYLOAD:
        raise WireError(f"a frame of {header} + {payload} bytes is over the limit")
    return header, payload


def message_kind(message: Any) -> str:
    """The kind of a decoded message; raises `WireError` for a value that is no message."""
    if not isinstance(message, tuple) or not message or not isinstance(message[0], str):
        raise WireError("a value that is no message")
    return message[0]


if sys.byteorder != "little":
    raise ImportError("the wire format needs a little-endian machine")
