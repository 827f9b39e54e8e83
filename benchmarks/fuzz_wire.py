"""Throws damaged frames at the wire format's decoder and checks that nothing but `WireError` comes of it.

    python benchmarks/fuzz_wire.py [--frames 200000] [--seed 0]

Valid frames are damaged by bit flips, splices, truncations, length edits and tag swaps; random bytes and hand-made bombs
join them. For every frame: only a value or a `WireError`, within a bounded time, and with a peak allocation bounded by the
frame's size. Prints what happened and the worst time and allocation; the exit status is 1 after a violation.
"""

from __future__ import annotations

import argparse
import collections
import random
import struct
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.runtime import wire

SECONDS = 0.5  # a frame here has a few thousand bytes; a decoder that loops or recurses takes far longer
SECONDS_PER_MB = 30.0
# A small Python object is ten to twenty times its bytes on the wire; some kilobytes are needed whatever the size; an array
# takes four hundred bytes, however few it was sent in, and a frame holds no more than `wire.MAX_ARRAYS` of them.
ALLOCATION = 24
ALLOWANCE = 64 * 1024
ARRAY = 512
TAGS = b"fiIsaNTFtldgcbrvonhe"

Damage = Callable[[random.Random, bytearray, bytes], bytearray]


def seeds() -> list[bytes]:
    """Valid frames that between them hold every kind of value."""
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots()
    figure.colorbar(axes.imshow([[0.0, 0.5], [0.25, 1.0]]), label="weight")
    axes.plot([0, 1], [1, 0], label="line")
    values: list[Any] = [
        ("answers", [([np.arange(12.0).reshape(3, 4)], []), ([1.0, 2.0], ["RuntimeWarning: overflow"]), None]),
        ("value", (np.array([[True, False]]), np.float32(3), np.array(2.5), np.zeros((0, 3))), ["RuntimeWarning: overflow"]),
        ("value", {"a": [1, -1, 2**70, Fraction(3, 7)], None: (1, None, b"k"), 3: {}, "täxt": 2 + 3j}, []),
        ("value", [[[[[(), [], {}, None, True, False, "x" * 200, b"y" * 200]]]]], []),
        ("value", [np.array([1], dtype) for dtype in wire.DTYPES] + [wire.Foreign("set")], []),
        ("value", figure, []),
        ("error", {"type": "ValueError", "bases": ["ValueError"], "message": "no", "where": ["line 3"], "unit": ""}),
        ("callback", 0, (np.ones(3), 1), {"axis": -1}),
        ("loaded", {"problems": [], "names": ["softmax", "mix"]}),
        ("value", list(range(60)), []),
    ]
    return [b"".join(wire.frame(value)) for value in values]


def bit_flips(rng: random.Random, frame: bytearray, _other: bytes) -> bytearray:
    for _ in range(rng.choice((1, 1, 2, 8, 32))):
        frame[rng.randrange(len(frame))] ^= 1 << rng.randrange(8)
    return frame


def splice(rng: random.Random, frame: bytearray, other: bytes) -> bytearray:
    start, stop = sorted(rng.randrange(len(other) + 1) for _ in range(2))
    at = rng.randrange(len(frame) + 1)
    return frame[:at] + other[start:stop] + frame[at + rng.choice((0, stop - start)) :]


def truncation(rng: random.Random, frame: bytearray, _other: bytes) -> bytearray:
    return frame[: rng.randrange(len(frame))]


def length_edit(rng: random.Random, frame: bytearray, _other: bytes) -> bytearray:
    width, form = rng.choice(((4, "<I"), (8, "<Q")))
    number = rng.choice((0, 1, 2**31, 2 ** (8 * width) - 1, rng.randrange(64), rng.randrange(2 ** (8 * width))))
    at = rng.randrange(max(1, len(frame) - width))
    frame[at : at + width] = struct.pack(form, number)
    return frame


def tag_swap(rng: random.Random, frame: bytearray, _other: bytes) -> bytearray:
    places = [at for at in range(wire.PREFIX.size, len(frame)) if frame[at] in TAGS]
    for _ in range(rng.choice((1, 1, 2, 5))):
        if places:
            frame[rng.choice(places)] = rng.choice(TAGS)
    return frame


def repetition(rng: random.Random, frame: bytearray, _other: bytes) -> bytearray:
    """A stretch many times over: what deep nesting and long runs of small objects are made of."""
    start = rng.randrange(wire.PREFIX.size, len(frame))
    return frame[:start] + frame[start : start + rng.randint(1, 12)] * rng.choice((20, 20, 200, 1000)) + frame[start:]


def random_bytes(rng: random.Random, _frame: bytearray, _other: bytes) -> bytearray:
    return bytearray(wire.PREFIX.pack(wire.MAGIC, 0, 0) + rng.randbytes(rng.choice((1, 8, 64, 512))))


def tag_soup(rng: random.Random, _frame: bytearray, _other: bytes) -> bytearray:
    body = bytearray(rng.choices(TAGS + b"\0\0\0\1\2", k=rng.choice((8, 64, 512))))
    return bytearray(wire.PREFIX.pack(wire.MAGIC, 0, 0)) + body


def bomb(rng: random.Random, _frame: bytearray, _other: bytes) -> bytearray:
    """Small items packed as densely as the format allows, and containers in containers."""
    one = rng.choice(
        (b"N", b"v", b"a\1\0", b"a\1\1" + bytes(8), b"l\1\0\0\0", b"t\1\0\0\0", b"d\1\0\0\0", b"l" + bytes(4),
         b"d" + bytes(4), b"o" + bytes(4), b"b" + bytes(4), b"g\1\5", b"s\1\0\0\0x", b"rI\1\0\0\0\1I\1\0\0\0\3")
    )  # fmt: skip
    count = rng.choice((1, 30, 30, 300, 2000)) if rng.random() < 0.998 else 2 * wire.MAX_ARRAYS
    body = rng.choice((b"", b"l" + struct.pack("<I", count))) + one * count
    return bytearray(wire.PREFIX.pack(wire.MAGIC, len(body), count)) + body + bytes(count)


DAMAGES: list[Damage] = [bit_flips, splice, truncation, length_edit, tag_swap, repetition, random_bytes, tag_soup, bomb]


def with_fitting_prefix(rng: random.Random, frame: bytearray) -> bytearray:
    """Most frames get a prefix that fits their length again, so that damage gets past it and into the decoder."""
    size = wire.PREFIX.size
    if len(frame) >= size and rng.random() < 0.9:
        payload = min(wire.PREFIX.unpack(frame[:size])[2], len(frame) - size)
        if rng.random() < 0.2:
            payload = rng.randint(0, len(frame) - size)
        frame[:size] = wire.PREFIX.pack(wire.MAGIC, len(frame) - size - payload, payload)
    return frame


def read(frame: bytes) -> Any:
    """Decode as the reader of a stream does: the prefix first, then as many bytes as it claims."""
    size = wire.PREFIX.size
    if len(frame) < size:
        raise wire.WireError("the stream ended")
    header, payload = wire.parse_prefix(frame[:size])
    if header + payload > len(frame) - size:
        raise wire.WireError("the stream ended")
    return wire.decode(frame[size : size + header], frame[size + header : size + header + payload])


@dataclass
class Tally:
    """What one kind of damage led to."""

    values: int = 0
    refused: int = 0
    worst_seconds: float = 0.0
    worst_bytes: int = 0
    worst_ratio: float = 0.0
    violations: collections.Counter[str] = field(default_factory=collections.Counter)


def try_frame(frame: bytes, tally: Tally) -> None:
    """Decode one frame and note how it ended, how long it took and how much it allocated."""
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    start = time.process_time()
    try:
        value = read(frame)
        tally.values += 1
        del value
    except wire.WireError:
        tally.refused += 1
    except BaseException as error:
        tally.violations[type(error).__name__] += 1
    seconds = time.process_time() - start
    peak = tracemalloc.get_traced_memory()[1] - before
    tally.worst_seconds = max(tally.worst_seconds, seconds)
    tally.worst_bytes = max(tally.worst_bytes, peak)
    # Every array's header has this byte, so the count is never too low.
    arrays = min(wire.MAX_ARRAYS, frame.count(b"a"))
    tally.worst_ratio = max(tally.worst_ratio, (peak - ALLOWANCE - ARRAY * arrays) / max(1, len(frame)))
    if seconds > SECONDS + SECONDS_PER_MB * len(frame) / 2**20:
        tally.violations["too slow"] += 1
    if peak > ALLOWANCE + ARRAY * arrays + ALLOCATION * len(frame):
        tally.violations["too much memory"] += 1


def fuzz(frames: int, seed: int) -> dict[str, Tally]:
    """Damage and decode `frames` frames, each kind of damage in turn. The same seed gives the same frames."""
    rng = random.Random(seed)
    valid = seeds()
    tallies = {damage.__name__: Tally() for damage in DAMAGES}
    for frame in valid:
        read(frame)
    tracemalloc.start()
    try:
        for number in range(frames):
            damage = DAMAGES[number % len(DAMAGES)]
            frame = damage(rng, bytearray(rng.choice(valid)), rng.choice(valid))
            try_frame(bytes(with_fitting_prefix(rng, frame)), tallies[damage.__name__])
    finally:
        tracemalloc.stop()
    return tallies


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--frames", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.perf_counter()
    tallies = fuzz(options.frames, options.seed)
    heads = f"{'damage':<14} {'frames':>8} {'values':>8} {'refused':>8} {'worst ms':>9} {'worst KiB':>10} {'x frame':>8}"
    print(f"{heads}  violations")
    for name, tally in tallies.items():
        # Exceptions end a frame without a value or a refusal; the other violations come on top of one.
        ended = sum(count for kind, count in tally.violations.items() if not kind.startswith("too "))
        row = f"{name:<14} {tally.values + tally.refused + ended:>8} {tally.values:>8} {tally.refused:>8}"
        row += f" {1000 * tally.worst_seconds:>9.2f} {tally.worst_bytes / 1024:>10.1f} {tally.worst_ratio:>8.1f}"
        print(row, " " + (", ".join(f"{kind}: {count}" for kind, count in sorted(tally.violations.items())) or "-"))
    bad = sum(sum(tally.violations.values()) for tally in tallies.values())
    took = time.perf_counter() - start
    print(f"{options.frames} frames with seed {options.seed} in {took:.0f} s: {bad or 'no'} violations")
    print("(processor time, with allocation traced; x frame: the peak over what is allowed anyway, in frame sizes)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
