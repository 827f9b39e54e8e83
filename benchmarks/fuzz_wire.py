"""Throws damaged frames at the wire format's decoder, and well-formed nonsense at the host that reads a guest's messages.

    python benchmarks/fuzz_wire.py [--frames 200000] [--sessions 2000] [--seed 0]

Frames: valid ones are damaged by bit flips, splices, truncations, length edits and tag swaps; random bytes, hand-made bombs,
and texts, lists, dictionaries and numbers of extreme sizes join them. For every frame: only a value or a `WireError`, within
a bounded time, and with a peak allocation bounded by the frame's size.

Sessions: a guest that is a script sends messages whose kinds are right and whose contents are not, of any size up to the
largest frame, while the host loads, calls, reads and asks ahead. Whatever comes: the host has an answer, or an error that is
the submission's; no name, text or number of it makes the grader call itself at fault.

Prints what happened and the worst time and allocation; the exit status is 1 after a violation.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import functools
import os
import random
import resource
import socket
import struct
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.guest.confine import GuestLimits
from autograder.limits import Limits
from autograder.runtime import loading, wire
from autograder.sandbox.runner import Ask, GuestRunner
from autograder.sandbox.zygote import End, Spawned, Zygote
from autograder.testing.callbacks import bulk
from autograder.testing.errors import Mismatch, StudentError
from autograder.testing.student import Student, call_digest

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


def extreme(rng: random.Random) -> int:
    """A size: mostly small, sometimes at one of the format's bounds, seldom enormous."""
    chance = rng.random()
    if chance < 0.98:
        return rng.choice((0, 1, 2, rng.randrange(100)))
    if chance < 0.998:
        bounds = (255, wire.MAX_KEYS, wire.MAX_ARRAYS, 500, 2 * loading.MAX_TEXT, wire.FrameReader.SMALL)
        return rng.choice(bounds) + rng.choice((-1, 0, 1))
    return rng.choice((wire.MAX_VALUES, wire.MAX_HEADER - 200, wire.MAX_HEADER // 2))


def extreme_text(rng: random.Random) -> str:
    """A text of an extreme size, sometimes of characters that some reader obeys or cannot encode."""
    character = rng.choice(("x", "\0", "\x1b[2J", "é", "\ud800", "\U0001f600", "</script>", "=cmd|x!A1"))
    return character * (extreme(rng) // len(character.encode("utf-8", "surrogatepass")))


def extreme_value(rng: random.Random, depth: int = 0) -> Any:
    """A value that the encoder may refuse for its size."""
    choice = rng.randrange(6 if depth < 2 else 3)
    if choice == 0:
        largest = 2 ** (8 * wire.MAX_INT_BYTES - 9)
        return rng.choice((b"y", -1, 2**63, -largest, float("nan"), 1e308, True, None, Fraction(1, 3)))
    if choice == 1:
        return extreme_text(rng)
    if choice == 2:
        shape = rng.choice(((0, 2**40), (extreme(rng),), (1,) * wire.MAX_DIMENSIONS, (0,) * 3))
        return np.broadcast_to(rng.choice((np.float64(1), np.int8(1), np.complex64(1), np.bool_(True))), shape)
    item, count = extreme_value(rng, depth + 1), extreme(rng)
    count = min(count, 2 if bulk(item) > 1000 else wire.MAX_VALUES + 1)
    if choice == 3:
        return {str(number): item for number in range(count)}
    return [item] * count if choice == 4 else (item,) * count


def giant(rng: random.Random, frame: bytearray, _other: bytes) -> bytearray:
    """A well-formed message with contents of extreme sizes."""
    try:
        return bytearray(b"".join(wire.frame(message(rng))))
    except wire.WireError:
        return frame


def message(rng: random.Random) -> tuple[Any, ...]:
    """A message of a kind that the host knows, with contents that it does not."""
    value = functools.partial(extreme_value, rng)
    text = extreme_text(rng)
    report = {"type": text, "bases": value(), "message": value(), "where": [text] * rng.randrange(3), "unit": text}
    good = {"type": "ValueError", "bases": ["ValueError"], "message": text, "where": [], "unit": "cell 1"}
    names = rng.choice((["double", "note"], ["double", "note", text], [text] * 499, value()))
    problems = rng.choice(([], [good] * rng.randrange(60), [report], value()))
    return rng.choice(
        (
            lambda: ("unit", rng.choice((text, "cell 7", "cell 8", "", value()))),
            lambda: ("loaded", {"problems": problems, "names": names}),
            lambda: ("answers", [([value()] * rng.randrange(4), rng.choice(([], [text], [text] * 600, value())))]),
            lambda: ("answers", rng.choice(([good], [report], [None], [], [good] * 3, value()))),
            lambda: ("callback", rng.choice((0, 0, 1, -1, 2**70, text)), rng.choice(((np.ones(3),), (value(),))), {}),
            lambda: ("callback", 0, (np.ones(3),), rng.choice(({}, {text: value()}, value()))),
            lambda: (text, value()),
            value,
        )
    )()


def bomb(rng: random.Random, _frame: bytearray, _other: bytes) -> bytearray:
    """Small items packed as densely as the format allows, and containers in containers."""
    one = rng.choice(
        (b"N", b"v", b"a\1\0", b"a\1\1" + bytes(8), b"l\1\0\0\0", b"t\1\0\0\0", b"d\1\0\0\0", b"l" + bytes(4),
         b"d" + bytes(4), b"o" + bytes(4), b"b" + bytes(4), b"g\1\5", b"s\1\0\0\0x", b"rI\1\0\0\0\1I\1\0\0\0\3")
    )  # fmt: skip
    count = rng.choice((1, 30, 30, 300, 2000)) if rng.random() < 0.998 else 2 * wire.MAX_ARRAYS
    body = rng.choice((b"", b"l" + struct.pack("<I", count))) + one * count
    return bytearray(wire.PREFIX.pack(wire.MAGIC, len(body), count)) + body + bytes(count)


DAMAGES: list[Damage] = [
    bit_flips,
    splice,
    truncation,
    length_edit,
    tag_swap,
    repetition,
    random_bytes,
    tag_soup,
    bomb,
    giant,
]


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


class ScriptedZygote(Zygote):
    """Stands where a sandbox stands, and forks guests that send what a random generator makes up."""

    def __init__(self, seed: int) -> None:
        self.backend = "script"
        self._rng = random.Random(seed)

    def spawn(self, limits: GuestLimits) -> Spawned:
        ours, theirs = socket.socketpair()
        output, their_output = os.pipe()
        os.close(their_output)
        frames = [b"".join(wire.frame(("confined",)))]
        while self._rng.random() < 0.9:
            frames.append(bytes(giant(self._rng, bytearray(), b"")))
        # What a guest must say for its session to go on.
        if self._rng.random() < 0.5:
            frames.insert(1, b"".join(wire.frame(("loaded", {"problems": [], "names": ["double", "note"]}))))
        threading.Thread(target=self._speak, args=(theirs, frames), daemon=True).start()
        ours.setblocking(False)
        os.set_blocking(output, False)
        return Spawned(0, os.eventfd(1), ours, output)  # readable, as a pidfd is at the end of its process

    def _speak(self, line: socket.socket, frames: list[bytes]) -> None:
        with line, contextlib.suppress(OSError):
            for frame in frames:
                line.sendall(frame)
            line.shutdown(socket.SHUT_WR)
            while line.recv(2**20):
                pass

    def kill(self, guest: Spawned) -> End:
        return End(0, 0)


def session(seed: int) -> tuple[collections.Counter[str], float]:
    """One submission of a scripted guest: how each question to it ended, and the seconds it took."""
    ends: collections.Counter[str] = collections.Counter()
    begun = time.monotonic()
    case = wire.Deferred.of(((np.ones(3),), {}))
    asks = [Ask("double", case, call_digest("double", case), 1.0)] * 5
    with GuestRunner(ScriptedZygote(seed), "tiny.py", b"x = 1", Limits(submission_seconds=60), {"double"}) as runner:
        student = Student(runner)
        steps: list[Callable[[], Any]] = [
            runner.load,
            lambda: runner.ask_ahead(asks),
            lambda: student.double(np.ones(3)),
            lambda: student.once.double(lambda x: x, np.ones(3)),
            lambda: student.value("note"),
            lambda: student.double(student.double(np.ones(2))),
        ]
        for step in steps:
            try:
                step()
                ends["answers"] += 1
            except (StudentError, Mismatch):
                ends["errors of the submission"] += 1
            except Exception as error:
                ends[f"violation: {type(error).__name__}: {str(error)[:100]} (seed {seed})"] += 1
        if any(len(problem["message"]) > 3 * loading.MAX_TEXT for problem in runner.report["problems"]):
            ends[f"violation: an unbounded text in the report (seed {seed})"] += 1
    return ends, time.monotonic() - begun


def sessions(count: int, seed: int) -> int:
    """Run and print them; returns the number of violations."""
    ends: collections.Counter[str] = collections.Counter()
    longest = 0.0
    for number in range(count):
        found, seconds = session(seed * 1_000_003 + number)
        ends += found
        longest = max(longest, seconds)
    print(f"\n{count} sessions with a scripted guest, the longest {longest:.2f} s")
    for end, times in ends.most_common():
        print(f"{times:>8} {end}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"largest memory of this process, frames included: {peak:.0f} MB")
    return sum(times for end, times in ends.items() if end.startswith("violation"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--frames", type=int, default=200_000)
    parser.add_argument("--sessions", type=int, default=2000)
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
    bad += sessions(options.sessions, options.seed)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
