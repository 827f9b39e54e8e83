"""Holds a warm interpreter inside the worker's sandbox and forks a locked-down guest of it for each submission.

Started by the host as `python -I -S zygote.py CONTROL_FD SETTINGS_JSON`. The host sends, over a SOCK_SEQPACKET control
socket, one JSON object a guest with two descriptors: the guest's end of the frame socket, and the pipe for its output. The
answer is the guest's pid with a pidfd; later, when it has ended, its pid with its wait status and the most memory it held
at once, in bytes, the warm interpreter's included. For guests without a root of their own it also judges the paths they name
(`paths`). No student code ever runs in this process, and a guest never serves a second submission.
"""

from __future__ import annotations

import fcntl
import functools
import gc
import importlib
import json
import os
import select
import site
import socket
import sys
import warnings
from pathlib import Path
from typing import Any, NoReturn

_HERE = Path(__file__).resolve()
sys.path[:] = [
    str(_HERE.parents[2]),
    *json.loads(sys.argv[2])["path"],
    *(path for path in sys.path if path not in ("", str(_HERE.parent))),
]

from autograder.backends import BACKENDS, Backend  # noqa: E402
from autograder.backends.backend import Forked  # noqa: E402
from autograder.guest import confine, paths  # noqa: E402

GUEST_SOCKET = 3


def main() -> None:
    settings: dict[str, Any] = json.loads(sys.argv[2])
    control = socket.socket(fileno=int(sys.argv[1]))
    backend = BACKENDS[settings["backend"]](settings["readable"])
    backend.enter()
    # NumPy and others keep functions that the backend may just have replaced, so all else is imported after that.
    from autograder.guest import machine
    from autograder.runtime import figures, surroundings

    # -S skipped these; notebooks may call them, and a missing name would be a surprise.
    site.setquit()
    site.sethelper()
    for name in settings["preload"]:
        importlib.import_module(name)
    from autograder.guest import serve  # noqa: F401  every guest needs it
    from autograder.runtime import notebook

    machine.prepare()
    surroundings.silence()
    surroundings.hide_figures()
    surroundings.keep_freed_memory()
    figures.warm_up()
    notebook.warm_up()
    backend.prepare()
    # Threads do not survive a fork, and new namespaces need a single one.
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise SystemExit(f"the zygote has {threads} threads, but must have one")
    gc.collect()
    gc.freeze()
    control.send(json.dumps({"ready": True}).encode())
    try:
        _loop(control, backend)
    finally:
        # The worker does this as well, unless it was killed.
        if settings["stage"]:
            import shutil

            shutil.rmtree(settings["stage"], ignore_errors=True)


def _loop(control: socket.socket, backend: Backend) -> None:
    guests: dict[int, Forked] = {}
    watches: dict[int, paths.PathWatch] = {}
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        for descriptor, event in poll.poll():
            if descriptor == control.fileno():
                data, handed, _, _ = socket.recv_fds(control, 65536, 2)
                if not data:
                    return
                try:
                    limits = confine.GuestLimits(**json.loads(data))
                    guest = backend.fork(functools.partial(_be_guest, control, backend, limits, handed))
                except (confine.ConfinementError, OSError) as error:
                    control.send(json.dumps({"failed": str(error)}).encode())
                    continue
                pidfd = os.pidfd_open(guest.pid)
                guests[pidfd] = guest
                poll.register(pidfd, select.POLLIN)
                if guest.watch is not None:
                    watches[guest.watch.listener] = guest.watch
                    poll.register(guest.watch.listener, select.POLLIN)
                socket.send_fds(control, [json.dumps({"pid": guest.pid}).encode()], [pidfd])
                for handle in handed:
                    os.close(handle)
            elif descriptor in watches:
                if event & select.POLLIN:
                    watches[descriptor].answer()
                else:
                    poll.unregister(descriptor)
                    watches.pop(descriptor).close()
            else:
                poll.unregister(descriptor)
                guest = guests.pop(descriptor)
                _, status, used = os.wait4(guest.pid, 0)
                os.close(descriptor)
                ended = {"ended": guest.pid, "status": os.waitstatus_to_exitcode(status), "memory": used.ru_maxrss * 1024}
                control.send(json.dumps(ended).encode())


def _be_guest(
    control: socket.socket, backend: Backend, limits: confine.GuestLimits, handed: list[int], needed: list[int]
) -> NoReturn:
    from autograder.guest import machine, serve

    # A process group of its own, or a signal to the group would reach the zygote.
    os.setsid()
    # Numbers above the ones wanted, so that no dup2 overwrites a descriptor that is still needed.
    stream, output, *more = (fcntl.fcntl(handle, fcntl.F_DUPFD, 64) for handle in [*handed, *needed])
    nothing = os.open("/dev/null", os.O_RDONLY)
    kept = [nothing, output, output, stream, *more]
    for target, source in enumerate(kept):
        os.dup2(source, target)
    os.closerange(len(kept), 65536)
    control.detach()
    connection = serve.Connection(socket.socket(fileno=GUEST_SOCKET))
    try:
        backend.confine(limits, list(range(GUEST_SOCKET + 1, len(kept))))
        connection.send(("confined",))
    except BaseException as error:
        connection.send(("unconfined", f"{type(error).__name__}: {error}"))
        os._exit(1)
    warnings.resetwarnings()
    machine.open_output()
    sys.argv[:] = ["submission"]
    try:
        serve.serve(connection)
    except BaseException:
        os._exit(1)
    raise AssertionError("serve never returns")


if __name__ == "__main__":
    main()
