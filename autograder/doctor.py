"""`course doctor`: which sandbox works on this machine, what it enforces here, how to get what is missing, and whether the
course's secret is kept.
"""

from __future__ import annotations

import os
import platform
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from autograder.backends import BACKENDS, SandboxError
from autograder.sandbox.guest import open_zygote
from autograder.sandbox.libraries import interpreter
from autograder.secret import FILE, VARIABLE, SecretError, course_key, exposure

COMMON = "always: allowlist of system calls, no capabilities, memory, CPU time, files and output bounded"


@dataclass(frozen=True)
class Finding:
    """One thing the doctor looked at, and what it is in a word. `good` is `None` for plain information."""

    name: str
    good: bool | None
    lines: tuple[str, ...]
    word: str = ""


def sandboxes() -> list[Finding]:
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
            findings.append(
                Finding(name, False, (f"does not work here: {reason}", f"to get it: {backend.advice}"), "missing")
            )
        else:
            note = () if chosen else ("used when you do not choose",)
            chosen = chosen or name
            findings.append(Finding(name, True, (*note, *backend.claims, COMMON, *backend.notes()), "works"))
    return findings


def secret(root: Path) -> Finding:
    """Whether the secret of the course in `root` can be used, and is kept from others and out of the repository."""
    path = root / FILE
    given = bool(os.environ.get(VARIABLE))
    if not given and not path.exists():
        return Finding("secret", None, (f"none yet; the first command that needs it makes {path}",))
    try:
        bits = 8 * len(course_key(root).value)
    except SecretError as error:
        return Finding("secret", False, (str(error),), "unusable")
    if given:
        return Finding("secret", True, (f"{bits} bits, from the variable {VARIABLE}",), "kept")
    told = f"{bits} bits in {path}, mode {stat.S_IMODE(path.stat().st_mode):04o}"
    problems = [problem for problem in (exposure(root), _in_reach_of_git(root)) if problem]
    return Finding("secret", not problems, (told, *problems), "exposed" if problems else "kept")


def _in_reach_of_git(root: Path) -> str:
    """Whether git would take the secret into the course's repository, as a sentence; empty if not."""
    try:
        command = ["git", "-C", str(root), "check-ignore", "--quiet", FILE]
        ignored = subprocess.run(command, capture_output=True, check=False).returncode
    except OSError:
        return ""
    return f"git does not ignore it: add `/{FILE}*` to .gitignore, and never commit it" if ignored == 1 else ""
