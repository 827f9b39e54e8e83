"""The guest's side of the protocol in `wire`: load one submission, then answer calls until the host hangs up."""

from __future__ import annotations

import builtins
import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.guest import machine
from autograder.runtime import loading, wire
from autograder.runtime.time_limit import TimeUp, time_limit

# Answers to many calls go out in chunks: each wakes the host, but what is not sent is lost if a later call crashes.
CHUNK_BYTES = 16 * 1024
CHUNK_SECONDS = 0.02


class Connection:
    """Blocking frames over a stream socket."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._frames = wire.FrameReader(self._fill)
        self._namespace: dict[str, Any] = {}

    def send(self, message: tuple[Any, ...]) -> None:
        pieces = wire.frame(message)
        while pieces:
            # Not `sendmsg`, which the guest may not use: it could send descriptors, too.
            sent = os.writev(self._stream.fileno(), pieces[:64])
            while pieces and sent >= len(pieces[0]):
                sent -= len(pieces.pop(0))
            if sent:
                pieces[0] = pieces[0][sent:]

    def receive(self) -> tuple[Any, ...]:
        """The next message; ends the process when the host is gone."""
        return self.decode(*self._frames.read())

    def decode(self, header: bytes, payload: memoryview) -> tuple[Any, ...]:
        """Decode a message or a case; handles become callables, and names the submission's own functions."""
        value: tuple[Any, ...] = wire.decode(
            header, payload, handle_callable=self._handle_callable, look_up=self._namespace.get
        )
        return value

    def _fill(self, view: memoryview) -> int:
        count = self._stream.recv_into(view)
        if count == 0:
            os._exit(0)
        return count

    def bind(self, names: list[str]) -> None:
        """Put functions of the host in place of the submission's own. What they return is the submission's to change."""

        def bound(name: str) -> Callable[..., Any]:
            call_back = self._handle_callable(name)
            return lambda *args, **kwargs: _writable(call_back(*args, **kwargs))

        self._namespace.update({name: bound(name) for name in names})

    def _handle_callable(self, index: int | str) -> Callable[..., Any]:
        def call_back(*args: Any, **kwargs: Any) -> Any:
            self.send(("callback", index, args, kwargs))
            kind, value = self.receive()
            if kind == "error":
                error = getattr(builtins, value["type"], RuntimeError)
                raise error(value["message"])
            return value

        return call_back

    def look_up_in(self, namespace: dict[str, Any]) -> None:
        """Where functions that arrive by name are found."""
        self._namespace = namespace


def serve(connection: Connection) -> None:
    """Answer the host's messages for ever; leaves only by ending the process."""
    namespace: dict[str, Any] = {}
    time_limit.for_good()
    while True:
        kind, *rest = connection.receive()
        if kind == "load":
            namespace, report = _load(connection, *rest)
            connection.look_up_in(namespace)
            _answer(connection, ("loaded", report))
        elif kind == "bind":
            connection.bind(*rest)
            _answer(connection, ("bound",))
        elif kind == "call":
            _call(connection, namespace, *rest)
        else:
            _answer(connection, ("answers", [([namespace.get(rest[0])], [])]))


def _writable(value: Any) -> Any:
    """A value that arrived, with arrays that may be changed, as those of a function in Python may."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list | tuple):
        return type(value)(map(_writable, value))
    return {key: _writable(item) for key, item in value.items()} if isinstance(value, dict) else value


def _answer(connection: Connection, answer: tuple[Any, ...]) -> None:
    _flush()
    try:
        connection.send(answer)
    except Exception as error:
        # Too large, too deep, or its own methods failed while it was read; nothing of it was sent yet.
        connection.send(("answers", [loading.describe_error(error)]))


def _flush() -> None:
    """Print what the submission printed before the answer goes out, so that the host knows when it was printed."""
    with contextlib.suppress(Exception):
        sys.stdout.flush()


def _load(
    connection: Connection, filename: str, source: np.ndarray, seconds: float, definitions_only: list[str]
) -> tuple[dict[str, Any], loading.Report]:
    def on_unit(unit: str) -> None:
        connection.send(("unit", unit))

    text = source.tobytes()
    machine.write_source(filename, text)
    return loading.load(filename, text, seconds=seconds, definitions_only=definitions_only, on_unit=on_unit)


Result = tuple[list[wire.Encoded], list[str]] | loading.Report | None


def _call(connection: Connection, namespace: dict[str, Any], asks: list[tuple[Any, ...]], seconds: float) -> None:
    """Make calls in turn; none is begun after `seconds`, or after one that did not return."""
    chunk: list[Result] = []
    size, sent = 0, time.monotonic()
    until = sent + seconds
    for ask in asks:
        result = _make(connection, namespace, *ask) if time.monotonic() < until else None
        if isinstance(result, dict) and result["type"] == TimeUp.__name__:
            until = 0.0
        more = _size(result)
        if chunk and size + more > CHUNK_BYTES:
            _answer(connection, ("answers", chunk))
            chunk, size = [], 0
        chunk.append(result)
        size += more
        if ask is asks[-1] or time.monotonic() - sent > CHUNK_SECONDS:
            _answer(connection, ("answers", chunk))
            chunk, size, sent = [], 0, time.monotonic()


def _size(result: Result) -> int:
    """About the bytes that a result takes in a message."""
    if isinstance(result, tuple):
        return sum(len(value.header) + len(value.payload) for value in result[0])
    return len(wire.encode(result)[0])


def _make(
    connection: Connection, namespace: dict[str, Any], name: str, case: wire.Deferred, seconds: float, repeat: bool
) -> Result:
    def receive() -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        args, kwargs = connection.decode(case.header, case.buffers[0])
        return namespace[name], args, kwargs

    try:
        return loading.invoke(receive, case.header, seconds, repeat=repeat)
    except BaseException as error:
        return loading.describe_error(error)
