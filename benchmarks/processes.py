"""What the kernel says of this process, of those below it, and of a command. Linux only, as the sandbox is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Used:
    """What a command used, and what it printed. Memory is the largest resident set of one of its processes."""

    seconds: float
    cpu_seconds: float
    megabytes: float
    printed: str


# A small process in between: the kernel also counts what a process held before it became the command, as much as its parent.
_BETWEEN = """
import os, resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
own = resource.getrusage(resource.RUSAGE_CHILDREN)
os.write(int(sys.argv[1]), f"{code} {own.ru_utime + own.ru_stime} {own.ru_maxrss}".encode())
"""


def used(arguments: Sequence[str | Path], folder: Path, good: Collection[int] = (0,)) -> Used:
    """Run a command. It must end with one of the `good` exit codes."""
    begun = time.perf_counter()
    reading, writing = os.pipe()
    with open(reading, encoding="ascii") as told:
        process = subprocess.run(
            [sys.executable, "-c", _BETWEEN, str(writing), *map(str, arguments)],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            pass_fds=[writing],
            check=True,
        )
        os.close(writing)
        code, cpu_seconds, kilobytes = told.read().split()
    if int(code) not in good:
        raise SystemExit(f"{arguments}: exit code {code}\n{process.stdout}")
    return Used(time.perf_counter() - begun, float(cpu_seconds), float(kilobytes) / 1024, process.stdout)


def descendants(pid: int) -> list[int]:
    """The processes below `pid`, children before their own. They must be waiting: none may start or end meanwhile."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    children = [int(child) for task in tasks for child in (task / "children").read_text(encoding="ascii").split()]
    return [*children, *(descendant for child in children for descendant in descendants(child))]


def processor_seconds() -> float:
    """Processor time of this process and of all below it, ended ones included (these in steps of 10 ms)."""
    ticks = 0
    for pid in descendants(os.getpid()):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        # User and system time, its own and that of the children it has waited for.
        ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def memory_kb(pid: int) -> int:
    """Memory that only this process holds; pages that it shares with a forked one do not count."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean:", "Private_Dirty:")))


def open_files(pid: int) -> int:
    """How many descriptors a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def threads(pid: int) -> int:
    """How many threads a process has."""
    return len(list(Path(f"/proc/{pid}/task").iterdir()))
