"""The guest's side of the protocol in `wire`: load one submission, then answer calls until the host hangs up."""

from __future__ import annotations

import builtins
import contextlib
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.guest import loading, wire


class Connection:
    """Blocking frames over a stream socket."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._frames = wire.FrameReader(self._fill)
        self._namespace: dict[str, Any] = {}

    def send(self, message: tuple[Any, ...]) -> None:
        pieces = wire.frame(message)
        while pieces:
            sent = self._stream.sendmsg(pieces[:64])
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

    def _handle_callable(self, index: int) -> Callable[..., Any]:
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
    loading.time_limit.for_good()
    while True:
        message = connection.receive()
        if message[0] == "load":
            namespace, answer = _load(connection, *message[1:])
            connection.look_up_in(namespace)
        elif message[0] == "call":
            answer = _call(connection, namespace, message)
        else:
            answer = ("answers", [([namespace.get(message[1])], [])], None)
        _flush()
        try:
            connection.send(answer)
        except Exception as error:
            # Too large, too deep, or its own methods failed while it was read; nothing of it was sent yet.
            connection.send(("answers", [], loading.describe_error(error)))


def _flush() -> None:
    """Print what the submission printed before the answer goes out, so that the host knows when it was printed."""
    with contextlib.suppress(Exception):
        sys.stdout.flush()


def _load(
    connection: Connection, filename: str, source: np.ndarray, seconds: float, definitions_only: list[str]
) -> tuple[dict[str, Any], tuple[Any, ...]]:
    def on_unit(unit: str) -> None:
        connection.send(("unit", unit))

    namespace, report = loading.load(
        filename, source.tobytes(), seconds=seconds, definitions_only=definitions_only, on_unit=on_unit, keep_input=False
    )
    return namespace, ("loaded", report)


def _call(connection: Connection, namespace: dict[str, Any], message: tuple[Any, ...]) -> tuple[Any, ...]:
    _, name, cases, seconds, repeat = message
    results: list[tuple[list[wire.Encoded], list[str]]] = []

    def receive() -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        case = cases[len(results)]
        args, kwargs = connection.decode(case.header, case.buffers[0])
        return namespace[name], args, kwargs

    try:
        for _ in cases:
            results.append(loading.invoke(receive, seconds, repeat=repeat))
    except BaseException as error:
        return "answers", results, loading.describe_error(error)
    return "answers", results, None
