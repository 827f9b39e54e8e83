"""sandlock: guests that Landlock and the filter of system calls confine, without any namespace, so also in containers.

Guests can write nowhere: without a mount of their own there is no place whose size could be bounded.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from autograder.backends.backend import ENVIRONMENT, Backend, Forked, Launch, SandboxError
from autograder.guest import confine, paths, scratch, seccomp
from autograder.guest.confine import GuestLimits

DEVICES = ("null", "zero", "urandom", "random")


class Sandlock(Backend):
    """The zygote as an ordinary process. It judges each path that a guest names."""

    name = "sandlock"
    claims = (
        "files: Landlock lets it read libraries, Python and NumPy only, and write nowhere; other names are refused alike",
        "network: no sockets at all, by the filter of system calls",
        "processes: no forking and no threads; Landlock and the filter forbid signals to others",
    )
    advice = "it needs Linux 6.12 or newer with Landlock switched on; see `cat /sys/kernel/security/lsm`."

    @classmethod
    def launch(cls) -> Launch:
        """The zygote as an ordinary process with a folder of links as its search path."""
        from autograder.sandbox import libraries

        try:
            import sandlock
        except ImportError:
            raise SandboxError("sandlock is not installed; `pip install sandlock` brings it (Linux only)") from None
        have, need = sandlock.landlock_abi_version(), sandlock.min_landlock_abi()
        if have < need:
            raise SandboxError(f"this kernel has Landlock version {have}, sandlock needs {need} (Linux 6.12 or newer)")
        # A folder of links, so that the guest's search path shows only what it may read.
        stage = tempfile.TemporaryDirectory(prefix="autograder-")
        root = Path(stage.name)
        packages = [*libraries.offered_paths(), Path(sandlock.__file__).parent]
        for name in ("site", "guest/autograder", "empty", "matplotlib"):
            (root / name).mkdir(parents=True)
        for package in packages:
            (root / "site" / package.name).symlink_to(package)
        engine = root / "guest/autograder"
        shutil.copy(libraries.PACKAGE / "__init__.py", engine / "__init__.py")
        for room in libraries.ROOMS:
            shutil.copytree(libraries.PACKAGE / room, engine / room, ignore=shutil.ignore_patterns("__pycache__"))
        base = Path(sys.base_prefix).resolve()
        devices = [Path(f"/dev/{name}") for name in DEVICES]
        readable = [*map(Path, libraries.SYSTEM), base / "lib", libraries.interpreter(), *devices, *packages]
        readable += [root / "site", root / "guest", root / "empty"]
        return Launch(
            [str(libraries.interpreter())],
            str(engine / "guest/zygote.py"),
            [str(root / "site")],
            {**ENVIRONMENT, "HOME": str(root / "empty"), "MPLCONFIGDIR": str(root / "matplotlib")},
            # By every name they have: a path is looked at step by step.
            readable=sorted({str(name) for path in readable if path.exists() for name in (path, path.resolve())}),
            stage=stage,
        )

    @classmethod
    def notes(cls) -> tuple[str, ...]:
        from autograder.sandbox import libraries

        notes = []
        private = [str(parent) for parent in libraries.interpreter().parents if not parent.stat().st_mode & 0o001]
        if private:
            notes.append(f"note: guests keep the grader's user id, without its rights, as Python lies in {private[-1]}")
        if not os.statvfs(sys.base_prefix).f_flag & os.ST_NOATIME:
            notes.append("note: the disk keeps times of last access, by which two guests could talk; mount it with noatime")
        return tuple(notes)

    def enter(self) -> None:
        scratch.install()

    def prepare(self) -> None:
        import sandlock  # noqa: F401  loaded once here, not in each guest

        self._questions = seccomp.path_questions()
        self._filter = seccomp.program(seccomp.Grant.NOTHING)

    def fork(self, be_guest: Callable[[list[int]], NoReturn]) -> Forked:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            be_guest([theirs.fileno()])
        with ours:
            theirs.close()
            return Forked(pid, paths.watch(pid, ours, self.readable, os.environ["HOME"]))

    def confine(self, limits: GuestLimits, descriptors: list[int]) -> None:
        confine.limit_resources(limits, threads=False)
        confine.die_with_parent()
        os.chdir(os.environ["HOME"])
        confine.hide_files(self.readable)
        line = socket.socket(fileno=descriptors[0])
        paths.wait_for_watch(line)
        confine.drop_privileges()
        # Two filters, for the allowlist forbids to hand over the first one's listener.
        paths.hand_over(line, confine.filter_system_calls(self._questions, listen=True))
        confine.filter_system_calls(self._filter)
        scratch.begin(limits.scratch_bytes, limits.scratch_files)
