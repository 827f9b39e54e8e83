"""One guest as the host sees it: messages with deadlines, its output, and the reason of its end."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.guest import wire
from autograder.sandbox.backends import BACKENDS, SandboxError
from autograder.sandbox.zygote import GuestLimits, Spawned, Zygote

OUTPUT_KEPT = 16 * 1024
CONFINE_SECONDS = 10.0
_REASONS = {
    signal.SIGXCPU: "used up its processor time",
    signal.SIGSEGV: "crashed (segmentation fault)",
    signal.SIGBUS: "crashed (bus error)",
    signal.SIGFPE: "crashed (arithmetic fault)",
    signal.SIGABRT: "crashed (abort)",
    signal.SIGSYS: "made a forbidden system call",
    signal.SIGKILL: "was killed, probably for its memory or processor time",
}


class GuestEnded(Exception):
    """The guest is gone, or was killed for what it did; the message says why, as the end of "your code ..."."""


class Guest:
    """A fresh, locked-down process for one submission. Whatever it sends is checked as data, never trusted.

    Raises `SandboxError` if the process cannot be made or locked down, which is before any of the submission has run.
    """

    def __init__(self, zygote: Zygote, limits: GuestLimits, *, message_bytes: int, output_bytes: int) -> None:
        self._zygote = zygote
        self._spawned: Spawned = zygote.spawn(limits)
        self._stream = self._spawned.stream
        self._message_bytes = message_bytes
        self._output_bytes = output_bytes
        self._output = bytearray()
        self._output_seen = 0
        self._open = True
        self._poll = select.poll()
        self._poll.register(self._spawned.output, select.POLLIN)
        try:
            hello = self._receive(time.monotonic() + CONFINE_SECONDS)
        except GuestEnded as end:
            self.close()
            raise SandboxError(f"a guest {end} before it was locked down: {self.output}") from None
        if hello != ("confined",):
            self.close()
            raise SandboxError(f"a guest could not be locked down: {hello[1:]}")

    @property
    def output(self) -> str:
        """The beginning of what the submission printed, as text that nobody trusts."""
        return self._output.decode("utf-8", "replace")

    def ask(
        self, message: tuple[Any, ...], deadline: float, handles: list[Callable[..., Any]] | None = None
    ) -> tuple[Any, ...]:
        """Send a message and return the next one from the guest; `deadline` is a `time.monotonic()` value.

        Raises `GuestEnded` for silence, death and nonsense, and leaves the guest dead. Raises `wire.WireError` when
        `message` itself cannot be sent, which is the caller's fault.
        """
        pieces = wire.frame(message, handles)
        try:
            self._send(pieces, deadline)
            return self._receive(deadline)
        except GuestEnded as end:
            self.close()
            raise end from None

    def next(self, deadline: float) -> tuple[Any, ...]:
        """The next message, without sending one first; otherwise like `ask`."""
        try:
            return self._receive(deadline)
        except GuestEnded as end:
            self.close()
            raise end from None

    def _send(self, pieces: wire.Buffers, deadline: float) -> None:
        while pieces:
            try:
                sent = self._stream.sendmsg(pieces[:64])
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)
                continue
            except OSError:
                raise self._ended_by_itself() from None
            while pieces and sent >= len(pieces[0]):
                sent -= len(pieces.pop(0))
            if sent:
                pieces[0] = pieces[0][sent:]

    def _receive(self, deadline: float) -> tuple[Any, ...]:
        if time.monotonic() >= deadline:
            # Looked at here too, for a guest that sends so fast that nobody ever waits for it.
            raise GuestEnded("did not return in time")
        try:
            header_size, payload_size = wire.parse_prefix(self._read(wire.PREFIX.size, deadline))
            if header_size + payload_size > self._message_bytes:
                raise GuestEnded(f"sent {header_size + payload_size} bytes at once; the limit is {self._message_bytes}")
            rest = self._read(header_size + payload_size, deadline)
            message = wire.decode(rest[:header_size], rest[header_size:])
            wire.message_kind(message)
        except wire.WireError as error:
            raise GuestEnded(f"sent data that is no answer ({error})") from None
        self._drain_output()
        return message  # type: ignore[no-any-return]

    def _read(self, size: int, deadline: float) -> memoryview:
        # Not touched until written to, so a claim of gigabytes costs nothing before the bytes arrive.
        whole = np.empty(size, np.uint8).data if size else memoryview(b"")
        rest = whole
        while len(rest):
            try:
                count = self._stream.recv_into(rest)
            except BlockingIOError:
                self._wait(select.POLLIN, deadline)
                continue
            except OSError:
                count = 0
            if count == 0:
                raise self._ended_by_itself()
            rest = rest[count:]
        return whole

    def _wait(self, event: int, deadline: float) -> None:
        """Wait until the stream is ready, reading the guest's output meanwhile, so that printing never blocks it."""
        self._poll.register(self._stream, event)
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise GuestEnded("did not return in time")
            ready = dict(self._poll.poll(remaining * 1000))
            if self._spawned.output in ready:
                self._drain_output()
            if self._stream.fileno() in ready:
                return

    def _drain_output(self) -> None:
        while True:
            try:
                data = os.read(self._spawned.output, 65536)
            except BlockingIOError:
                return
            if not data:
                self._poll.unregister(self._spawned.output)
                self._poll.register(self._spawned.output, 0)
                return
            self._output += data[: max(0, OUTPUT_KEPT - len(self._output))]
            self._output_seen += len(data)
            if self._output_seen > self._output_bytes:
                raise GuestEnded(f"printed more than {self._output_bytes} bytes")

    def _ended_by_itself(self) -> GuestEnded:
        self._drain_output()
        status = self._zygote.kill(self._spawned)
        self._release()
        if status >= 0:
            return GuestEnded(f"ended the whole process with exit status {status}")
        return GuestEnded(_REASONS.get(signal.Signals(-status), f"was ended by signal {-status}"))

    def close(self) -> None:
        """Kill the guest, wait until it is gone, and release what belonged to it."""
        if self._open:
            self._zygote.kill(self._spawned)
            self._release()

    def _release(self) -> None:
        self._open = False
        self._spawned.release()


def open_zygote(backend: str | None = None) -> Zygote:
    """Start a zygote with the backend named, or with the first that works here.

    Raises `SandboxError` with what each backend said when none does: nothing is ever graded without a sandbox.
    """
    reasons = []
    for name in [backend] if backend else list(BACKENDS):
        try:
            zygote = Zygote(BACKENDS[name]())
            Guest(zygote, GuestLimits(), message_bytes=2**16, output_bytes=2**16).close()
            return zygote
        except SandboxError as error:
            reasons.append(f"{name}: {error}")
    advice = "`course doctor` says what is missing and how to get it"
    raise SandboxError("no sandbox works here; " + advice + "\n" + "\n".join(reasons))
