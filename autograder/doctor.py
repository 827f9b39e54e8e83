"""`course doctor`: which sandbox works on this machine, what it enforces here, and how to get what is missing."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from autograder.backends import BACKENDS, SandboxError
from autograder.sandbox.guest import open_zygote
from autograder.sandbox.libraries import interpreter

COMMON = "always: allowlist of system calls, no capabilities, memory, processor time, files and output bounded"


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
    for name, backend in BACKENDS.items():
        try:
            open_zygote(name).close()
        except SandboxError as error:
            reason = str(error).splitlines()[-1]
            findings.append(Finding(name, False, (f"does not work here: {reason}", f"to get it: {backend.advice}")))
        else:
            note = () if chosen else ("used when you do not choose",)
            chosen = chosen or name
            findings.append(Finding(name, True, (*note, *backend.claims, COMMON, *backend.notes())))
    return findings
