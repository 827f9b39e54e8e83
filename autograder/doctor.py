"""`course doctor`: which sandbox works on this machine, what it enforces here, and how to get what is missing."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.backends import BACKENDS, SandboxError, find_bwrap, interpreter
from autograder.sandbox.guest import open_zygote

ENFORCED = {
    "bubblewrap": (
        "files: a root of its own with libraries, Python and NumPy only; a small /tmp that is gone afterwards",
        "network: none, in a network namespace of its own",
        "processes: namespaces of its own for users, processes and IPC; no forking; ends with one kill",
    ),
    "sandlock": (
        "files: Landlock lets it read libraries, Python and NumPy only, and write nowhere; other names are refused alike",
        "network: no sockets at all, by the filter of system calls",
        "processes: no forking and no threads; Landlock and the filter forbid signals to others",
    ),
}
COMMON = "always: allowlist of system calls, no capabilities, memory, processor time, files and output bounded"
ADVICE = {
    "bubblewrap": (
        "it needs unprivileged user namespaces. On Ubuntu: `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`; "
        "elsewhere check `/proc/sys/user/max_user_namespaces`. Inside a container they are often forbidden: use sandlock."
    ),
    "sandlock": "it needs Linux 6.12 or newer with Landlock switched on; see `cat /sys/kernel/security/lsm`.",
}


@dataclass(frozen=True)
class Finding:
    """One thing the doctor looked at. `good` is `None` for plain information."""

    name: str
    good: bool | None
    lines: tuple[str, ...]


def examine() -> list[Finding]:
    """Try every backend for real and say what was found. The first one that works is the one grading uses."""
    findings = [
        Finding("system", None, (f"{platform.system()} {platform.release()}, {platform.machine()}",)),
        Finding("python", None, (f"{platform.python_version()} at {interpreter()}",)),
    ]
    chosen = ""
    for name in BACKENDS:
        try:
            open_zygote(name).close()
        except SandboxError as error:
            reason = str(error).splitlines()[-1]
            findings.append(Finding(name, False, (f"does not work here: {reason}", f"to get it: {ADVICE[name]}")))
        else:
            note = () if chosen else ("used when you do not choose",)
            chosen = chosen or name
            findings.append(Finding(name, True, (*note, *ENFORCED[name], COMMON, *_notes(name))))
    return findings


def _notes(name: str) -> tuple[str, ...]:
    if name == "bubblewrap":
        bwrap = find_bwrap()
        return (f"program: {bwrap}",) if bwrap else ()
    private = [str(parent) for parent in interpreter().parents if not Path(parent).stat().st_mode & 0o001]
    return (
        (f"note: guests keep the grader's user id, without its rights, as Python lies in {private[-1]}",) if private else ()
    )
