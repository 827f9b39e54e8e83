"""One guest as the host sees it: messages with deadlines, its output, and the reason of its end."""

from __future__ import annotations

import os
import select
import signal
import time
from typing import Any

from autograder.backends import BACKENDS, SandboxError
from autograder.limits import Limits
from autograder.runtime import wire
from autograder.sandbox.zygote import Spawned, Zygote

OUTPUT_KEPT = 16 * 1024
CONFINE_SECONDS = 10.0
_REASONS: dict[int, str] = {
    signal.SIGXCPU: "used up its CPU time",
    signal.SIGSEGV: "crashed (segmentation fault)",
    signal.SIGBUS: "crashed (bus error)",
    signal.SIGFPE: "crashed (arithmetic fault)",
    signal.SIGABRT: "crashed (abort)",
    signal.SIGSYS: "made a forbidden system call",
    signal.SIGKILL: "was killed, probably for its memory or CPU time",
}
NO_ANSWER = "sent data that is no answer"
# How long a guest that hung up has to end by itself, so that its exit status can be told.
LAST_WORDS_SECONDS = 0.2


class GuestEnded(Exception):
    """The guest is gone, or was killed for what it did; the message says why, as the end of "your code ...".

    `safe` leaves out every number that the guest could choose, for it has seen the inputs of hidden tests.
    """

    def __init__(self, safe: str, detail: str = "") -> None:
        super().__init__(f"{safe} ({detail})" if detail else safe)
        self.safe = safe


class Guest:
    """A fresh, locked-down process for one submission. Whatever it sends is checked as data, never trusted.

    Raises `SandboxError` if the process cannot be made or locked down, which is before any of the submission has run.
    """

    def __init__(self, zygote: Zygote, limits: Limits) -> None:
        self._zygote = zygote
        self._spawned: Spawned = zygote.spawn(limits.guest)
        self._stream = self._spawned.stream
        self._output_bytes = limits.output_bytes
        self._output = bytearray()
        self._output_seen = 0
        self._output_open = True
        self._open = True
        self.peak_memory = 0  # bytes, the warm interpreter's included; known when the guest is gone
        self._poll = select.poll()
        self._poll.register(self._spawned.output, select.POLLIN)
        self._poll.register(self._stream, select.POLLIN)
        self._deadline = 0.0
        self._frames = wire.FrameReader(self._fill, limits.message_bytes)
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

    def ask(self, message: tuple[Any, ...], deadline: float) -> tuple[Any, ...]:
        """Send a message and return the next one from the guest; `deadline` is a `time.monotonic()` value.

        Raises `GuestEnded` for silence, death and nonsense, and leaves the guest dead. Raises `wire.WireError` when
        `message` itself cannot be sent, which is the caller's fault.
        """
        pieces = wire.frame(message)
        try:
            self._send(pieces, deadline)
        except GuestEnded as end:
            self.close()
            raise end from None
        return self.next(deadline)

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
                self._wait_to_send(deadline)
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
        self._deadline = deadline
        try:
            message = wire.decode(*self._frames.read())
            wire.message_kind(message)
        except wire.WireError as error:
            raise GuestEnded(NO_ANSWER, str(error)) from None
        return message  # type: ignore[no-any-return]

    def _fill(self, view: memoryview) -> int:
        """Wait for bytes and read them, reading the guest's output meanwhile, so that printing never blocks it."""
        while True:
            remaining = self._deadline - time.monotonic()
            if remaining <= 0:
                raise GuestEnded("did not return in time")
            ready = [descriptor for descriptor, _ in self._poll.poll(remaining * 1000)]
            # Output first: what was printed before an answer was sent is there when the answer is.
            if self._spawned.output in ready:
                self._drain_output()
            if self._stream.fileno() in ready:
                try:
                    count = self._stream.recv_into(view)
                except OSError:
                    count = 0
                if count == 0:
                    raise self._ended_by_itself()
                return count

    def _wait_to_send(self, deadline: float) -> None:
        poll = select.poll()
        poll.register(self._stream, select.POLLOUT)
        while not poll.poll(50):
            if time.monotonic() >= deadline:
                raise GuestEnded("did not return in time")
            self._drain_output()

    def _drain_output(self) -> None:
        while self._output_open:
            try:
                data = os.read(self._spawned.output, 65536)
            except BlockingIOError:
                return
            if not data:
                self._output_open = False
                self._poll.unregister(self._spawned.output)
                return
            self._output += data[: max(0, OUTPUT_KEPT - len(self._output))]
            self._output_seen += len(data)
            if self._output_seen > self._output_bytes:
                raise GuestEnded(f"printed more than {self._output_bytes} bytes")

    def _ended_by_itself(self) -> GuestEnded:
        self._drain_output()
        leaving = select.poll()
        leaving.register(self._spawned.pidfd, select.POLLIN)
        left = bool(leaving.poll(LAST_WORDS_SECONDS * 1000))
        status = self._end()
        if not left:
            return GuestEnded("closed its connection to the grader")
        if status >= 0:
            return GuestEnded("ended the whole process", f"exit status {status}")
        return GuestEnded(_REASONS.get(-status, "was ended by a signal"), f"signal {-status}")

    def close(self) -> None:
        """Kill the guest, wait until it is gone, and release what belonged to it."""
        if self._open:
            self._end()

    def _end(self) -> int:
        """Kill what may still live, and return the exit status."""
        end = self._zygote.kill(self._spawned)
        self.peak_memory = end.peak_memory
        self._open = False
        self._spawned.release()
        return end.status


class Opening:
    """A sandbox that starts while the caller does something else: with the backend named, or the first that works here."""

    def __init__(self, backend: str | None = None) -> None:
        self.backend = backend
        self._names = [backend] if backend else list(BACKENDS)
        self._reasons: list[str] = []
        self._zygote = self._start_next()

    def wait(self) -> Zygote:
        """The sandbox, once it has run a guest.

        Raises `SandboxError` with what each backend said when none works: nothing is ever graded without a sandbox.
        """
        while self._zygote is not None:
            try:
                self._zygote.ready()
                Guest(self._zygote, Limits()).close()
                return self._zygote
            except (SandboxError, OSError) as error:
                self._zygote.close()
                self._reasons.append(f"{self._zygote.backend}: {error}")
            self._zygote = self._start_next()
        advice = "`course doctor` says what is missing and how to get it"
        raise SandboxError("no sandbox works here; " + advice + "\n" + "\n".join(self._reasons))

    def _start_next(self) -> Zygote | None:
        while self._names:
            name = self._names.pop(0)
            try:
                return Zygote(BACKENDS[name], BACKENDS[name].launch())
            except (SandboxError, OSError) as error:
                self._reasons.append(f"{name}: {error}")
        return None


def open_zygote(backend: str | None = None) -> Zygote:
    """Start a sandbox and wait for it; raises like `Opening.wait`."""
    return Opening(backend).wait()
