"""Holds a warm interpreter inside the worker's sandbox and forks a locked-down guest of it for each submission.

Started by the host as `python -I -S zygote.py CONTROL_FD SETTINGS_JSON`. The host sends, over a SOCK_SEQPACKET control
socket, one JSON object a guest with two descriptors: the guest's end of the frame socket, and the pipe for its output. The
answer is the guest's pid with a pidfd; later, when it has ended, its pid with its wait status and the most memory it held
at once, in bytes, the warm interpreter's included. No student code ever runs in this process, and a guest never serves a
second submission.
"""

from __future__ import annotations

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
from typing import Any, NoReturn

_HERE = Path(__file__).resolve()
sys.path[:] = [
    str(_HERE.parents[2]),
    *json.loads(sys.argv[2])["path"],
    *(path for path in sys.path if path not in ("", str(_HERE.parent))),
]

from autograder.guest import confine, figures, seccomp, serve  # noqa: E402

GUEST_SOCKET = 3


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
    figures.warm_up()
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


def _loop(control: socket.socket, settings: dict[str, Any], program: bytes) -> None:
    guests: dict[int, int] = {}
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == control.fileno():
                data, handed, _, _ = socket.recv_fds(control, 65536, 2)
                if not data:
                    return
                try:
                    pid = _fork_guest(control, settings, program, json.loads(data), handed)
                except confine.ConfinementError as error:
                    control.send(json.dumps({"failed": str(error)}).encode())
                    continue
                pidfd = os.pidfd_open(pid)
                guests[pidfd] = pid
                poll.register(pidfd, select.POLLIN)
                socket.send_fds(control, [json.dumps({"pid": pid}).encode()], [pidfd])
                for handle in handed:
                    os.close(handle)
            else:
                poll.unregister(descriptor)
                pid = guests.pop(descriptor)
                _, status, used = os.wait4(pid, 0)
                os.close(descriptor)
                ended = {"ended": pid, "status": os.waitstatus_to_exitcode(status), "memory": used.ru_maxrss * 1024}
                control.send(json.dumps(ended).encode())


def _fork_guest(
    control: socket.socket, settings: dict[str, Any], program: bytes, limits: dict[str, Any], handed: list[int]
) -> int:
    pid = confine.fork_into_namespaces() if settings["namespaces"] else os.fork()
    if pid == 0:
        _be_guest(control, settings, program, limits, handed)
    return pid


def _be_guest(
    control: socket.socket, settings: dict[str, Any], program: bytes, limits: dict[str, Any], handed: list[int]
) -> NoReturn:
    # A process group of its own, or a signal to the group would reach the zygote.
    os.setsid()
    # Numbers above the ones wanted, so that no dup2 overwrites a descriptor that is still needed.
    stream, output = (os.dup(os.dup(os.dup(handle))) for handle in handed)
    nothing = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2), (stream, GUEST_SOCKET)):
        os.dup2(source, target)
    os.closerange(GUEST_SOCKET + 1, 65536)
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
        if settings["namespaces"]:
            confine.mount_private(limits["scratch_bytes"], limits["scratch_files"])
        else:
            os.chdir(os.environ["HOME"])
            confine.hide_files(settings["readable"])
        confine.die_with_parent()
        confine.drop_privileges()
        confine.filter_system_calls(program)
        connection.send(("confined",))
    except BaseException as error:
        connection.send(("unconfined", f"{type(error).__name__}: {error}"))
        os._exit(1)
    warnings.resetwarnings()
    sys.argv[:] = ["submission"]
    try:
        serve.serve(connection)
    except BaseException:
        os._exit(1)
    raise AssertionError("serve never returns")


if __name__ == "__main__":
    main()
