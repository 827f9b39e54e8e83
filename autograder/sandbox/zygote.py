"""A worker's warm sandbox, and the guests it forks."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import time
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from autograder.backends import Backend, Launch, SandboxError
from autograder.guest.confine import GuestLimits
from autograder.sandbox.libraries import PRELOAD

START_SECONDS = 60.0
SPAWN_SECONDS = 10.0


@dataclass(frozen=True)
class Spawned:
    """A guest that runs: descriptors the caller owns, and the pid by which the zygote reports its end."""

    pid: int
    pidfd: int
    stream: socket.socket
    output: int

    def release(self) -> None:
        """Close the descriptors."""
        self.stream.close()
        os.close(self.output)
        os.close(self.pidfd)


class End(NamedTuple):
    """How a guest ended: its exit status (negative: the signal), and the most memory it held at once, in bytes."""

    status: int
    peak_memory: int


class Zygote:
    """One warm sandbox, which starts at once and is waited for with `ready`. Forks guests one after the other; `close` ends
    it and all of them.
    """

    def __init__(self, backend: type[Backend], launch: Launch) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.backend = backend.name
        self._stage = launch.stage
        settings = {
            "backend": backend.name,
            "path": launch.path,
            "preload": PRELOAD,
            "readable": launch.readable,
            "stage": launch.stage.name if launch.stage else "",
        }
        self._ended: dict[int, End] = {}
        # In memory: a full disk must not take away the words that would say so.
        self._complaints = os.fdopen(os.memfd_create("complaints"), "w+b")
        command = [*launch.command, "-I", "-S", launch.script, str(theirs.fileno()), json.dumps(settings)]
        with theirs:
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._complaints,
                stderr=self._complaints,
                env=launch.environment,
                cwd="/",
            )

    def ready(self) -> None:
        """Wait until it has started; raises `SandboxError` if it cannot."""
        if not self._receive(START_SECONDS)[0].get("ready"):
            raise self._failure("did not start")

    def spawn(self, limits: GuestLimits) -> Spawned:
        """Fork a guest. Raises `SandboxError` when the sandbox cannot."""
        stream, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        output, their_output = os.pipe()
        try:
            with theirs:
                request = json.dumps(asdict(limits)).encode()
                socket.send_fds(self._control, [request], [theirs.fileno(), their_output])
        except OSError as error:
            stream.close()
            os.close(output)
            raise self._failure(f"is gone ({error})") from None
        finally:
            os.close(their_output)
        while True:
            answer, handed = self._receive(SPAWN_SECONDS)
            if "failed" in answer:
                raise self._failure(f"cannot fork a guest: {answer['failed']}")
            if "pid" in answer:
                stream.setblocking(False)
                os.set_blocking(output, False)
                return Spawned(answer["pid"], handed[0], stream, output)
            self._note_end(answer)

    def kill(self, guest: Spawned) -> End:
        """Kill a guest if it still lives, and wait for its end."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(guest.pidfd, signal.SIGKILL)
        while guest.pid not in self._ended:
            self._note_end(self._receive(SPAWN_SECONDS)[0])
        return self._ended.pop(guest.pid)

    def _note_end(self, answer: dict[str, Any]) -> None:
        self._ended[answer["ended"]] = End(answer["status"], answer["memory"])

    def _receive(self, seconds: float) -> tuple[dict[str, Any], list[int]]:
        deadline = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        if not poll.poll(max(0, deadline - time.monotonic()) * 1000):
            raise self._failure(f"did not answer within {seconds:g} s")
        data, handed, _, _ = socket.recv_fds(self._control, 65536, 1)
        if not data:
            raise self._failure("ended by itself")
        return json.loads(data), handed

    def _failure(self, what: str) -> SandboxError:
        text = ""
        if not self._complaints.closed:
            self._complaints.seek(0)
            text = self._complaints.read()[-2000:].decode("utf-8", "replace").strip()
        self.close()
        return SandboxError(f"the sandbox {what}" + (f": {text}" if text else ""))

    def close(self) -> None:
        """End the zygote and every guest of it."""
        self._control.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._complaints.close()
        if self._stage is not None:
            self._stage.cleanup()
