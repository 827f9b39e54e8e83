"""Holds a warm interpreter inside the worker's sandbox and forks a locked-down guest of it for each submission.

Started by the host as `python -I -S zygote.py CONTROL_FD SETTINGS_JSON`. The host sends, over a SOCK_SEQPACKET control
socket, one JSON object a guest with two descriptors: the guest's end of the frame socket, and the pipe for its output. The
answer is the guest's pid with a pidfd; later, when it has ended, its pid with its wait status and the most memory it held
at once, in bytes, the warm interpreter's included. For guests without a root of their own it also judges the paths they name
(`paths`). No student code ever runs in this process, and a guest never serves a second submission.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import select
import shutil
import site
import socket
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

_HERE = Path(__file__).resolve()
sys.path[:] = [
    str(_HERE.parents[2]),
    *json.loads(sys.argv[2])["path"],
    *(path for path in sys.path if path not in ("", str(_HERE.parent))),
]

from autograder.guest import confine, machine, paths, seccomp, serve  # noqa: E402
from autograder.runtime import figures, surroundings  # noqa: E402

GUEST_SOCKET = 3
WATCH_SOCKET = 4


def main() -> None:
    settings: dict[str, Any] = json.loads(sys.argv[2])
    control = socket.socket(fileno=int(sys.argv[1]))
    if os.getuid() == 0 and settings["namespaces"]:
        os.setgroups([])
        os.setgid(settings["uid"])
        os.setuid(settings["uid"])
        confine.allow_own_proc()
    # -S skipped these; notebooks may call them, and a missing name would be a surprise.
    site.setquit()
    site.sethelper()
    for name in settings["preload"]:
        importlib.import_module(name)
    from autograder.runtime import notebook

    machine.prepare()
    surroundings.silence()
    surroundings.hide_figures()
    figures.warm_up()
    notebook.warm_up()
    if not settings["namespaces"]:
        importlib.import_module("sandlock")
    # Threads do not survive a fork, and new namespaces need a single one.
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise SystemExit(f"the zygote has {threads} threads, but must have one")
    program = seccomp.program(namespaces=settings["namespaces"])
    # Ids as seen here; inside a guest's new user namespace they are unknown until mapped.
    settings["ids"] = (os.getuid(), os.getgid())
    gc.collect()
    gc.freeze()
    control.send(json.dumps({"ready": True}).encode())
    try:
        _loop(control, settings, program)
    finally:
        # The worker does this as well, unless it was killed.
        if settings["stage"]:
            shutil.rmtree(settings["stage"], ignore_errors=True)


class Guest(NamedTuple):
    """A guest that runs, and what answers for its paths if it has no root of its own."""

    pid: int
    watch: paths.PathWatch | None


def _loop(control: socket.socket, settings: dict[str, Any], program: bytes) -> None:
    guests: dict[int, Guest] = {}
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
                    guest = _fork_guest(control, settings, program, json.loads(data), handed)
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


def _fork_guest(
    control: socket.socket, settings: dict[str, Any], program: bytes, limits: dict[str, Any], handed: list[int]
) -> Guest:
    if settings["namespaces"]:
        pid = confine.fork_into_namespaces()
        if pid == 0:
            _be_guest(control, settings, program, limits, handed)
        return Guest(pid, None)
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        _be_guest(control, settings, program, limits, [*handed, theirs.fileno()])
    with ours:
        theirs.close()
        return Guest(pid, paths.watch(pid, ours, settings["readable"], os.environ["HOME"]))


def _be_guest(
    control: socket.socket, settings: dict[str, Any], program: bytes, limits: dict[str, Any], handed: list[int]
) -> NoReturn:
    # A process group of its own, or a signal to the group would reach the zygote.
    os.setsid()
    # Numbers above the ones wanted, so that no dup2 overwrites a descriptor that is still needed.
    stream, output, *line = (fcntl.fcntl(handle, fcntl.F_DUPFD, 64) for handle in handed)
    nothing = os.open("/dev/null", os.O_RDONLY)
    kept = [nothing, output, output, stream, *line]
    for target, source in enumerate(kept):
        os.dup2(source, target)
    os.closerange(len(kept), 65536)
    control.detach()
    connection = serve.Connection(socket.socket(fileno=GUEST_SOCKET))
    try:
        if settings["namespaces"]:
            confine.map_own_user(*settings["ids"])
        confine.limit_resources(
            memory=limits["memory_bytes"],
            cpu_seconds=limits["cpu_seconds"],
            file_bytes=limits["scratch_bytes"],
            open_files=limits["open_files"],
            threads=limits["threads"] if settings["namespaces"] else None,
        )
        confine.die_with_parent()
        if settings["namespaces"]:
            confine.mount_private(limits["scratch_bytes"], limits["scratch_files"])
            confine.drop_privileges()
            confine.filter_system_calls(program)
        else:
            os.chdir(os.environ["HOME"])
            confine.hide_files(settings["readable"])
            watched = socket.socket(fileno=WATCH_SOCKET)
            paths.wait_for_watch(watched)
            confine.drop_privileges()
            paths.hand_over(watched, confine.filter_system_calls(program, listen=True))
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
