"""What the worst that a submission can leave behind costs the commands that read it.

    python benchmarks/worst_record.py

One student of problem set 1 has the largest record that a submission can make, and a notebook of the largest size whose
content takes most room when it is read; in other results an ordinary record and file are in their place. Each command runs
as a process of its own on all of them. Printed are CPU time and peak memory. The exit status is 1 if one takes over a second
longer than the ordinary one, more than 200 MB for the worst record, or 200 MB and ten times its size for the worst file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from autograder.course import load_course
from autograder.intake import Submission
from autograder.intake.entries import MAX_BYTES
from autograder.journal import Journal
from autograder.record import Record
from autograder.runtime import loading
from tests.support import records

ROOT = Path(__file__).resolve().parents[1]
SECONDS, MEGABYTES = 1.0, 200
COMMANDS = {
    "feedback": ("feedback", "ps1"),
    "report": ("report", "ps1"),
    "show": ("show", "s001"),
    "the table": ("grade", "ps1", "FILE"),
    "the table as JSON": ("grade", "ps1", "FILE", "--json"),
}
MEASURE = """
import json, os, resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdin=-3, stdout=-3, stderr=-3).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([status, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""
PROBLEM_SET = load_course(ROOT).problem_set("ps1")


def notebook(fill: bytes, count: int = MAX_BYTES) -> bytes:
    """A notebook of the largest size: `fill`, `count` times or as often as it fits, and then a text of wide characters."""
    head, middle, tail = (
        b'{"nbformat": 4, "metadata": {}, "more": [',
        b'0], "cells": [{"cell_type": "code", "source": "',
        b'"}]}',
    )
    wide = "\N{GRINNING FACE}".encode()  # after one of these every character takes four bytes of memory
    room = MAX_BYTES - len(head) - len(middle) - len(wide) - len(tail)
    filling = fill * min(count, room // len(fill))
    return head + filling + middle + wide + b"x" * (room - len(filling)) + tail


def cost(command: tuple[str, ...], file: Path, results: Path) -> tuple[float, float]:
    """CPU seconds and megabytes of a command that is run as a process of its own."""
    words = [str(file) if word == "FILE" else word for word in command]
    program = str(Path(sys.executable).parent / "course")
    # In between is a small process, for a new one counts the memory of the one that it comes from.
    done = subprocess.run(
        [sys.executable, "-S", "-c", MEASURE, program, *words, "--results", str(results)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    status, seconds, kilobytes = json.loads(done.stdout)
    if status not in (0, 1):
        raise SystemExit(f"course {' '.join(words)} ended with status {status}")
    return seconds, kilobytes / 1024


def prepared(folder: Path, filename: str, source: bytes, record: Record) -> tuple[Path, Path]:
    """A submission's file, and results in which it has that record."""
    file = folder / "submissions" / f"s001{Path(filename).suffix}"
    file.parent.mkdir(parents=True)
    file.write_bytes(source)
    journal = Journal(folder / "results" / "ps1")
    attempt = journal.add(Submission("s001", filename, source))
    journal.append(
        attempt, replace(record, provenance=replace(record.provenance, student="s001", submission=attempt.sha256))
    )
    return file, folder / "results"


def main() -> int:
    """Measure all commands on all cases."""
    honest = PROBLEM_SET.solution.read_bytes()
    ordinary = records.record([records.score(question) for question in PROBLEM_SET.assignment.questions])
    worst = records.worst(PROBLEM_SET)
    cases = {
        "ordinary": prepared(Path(FOLDER) / "ordinary", "ps1.py", honest, ordinary),
        "worst record": prepared(Path(FOLDER) / "record", "ps1.py", honest, worst),
        "module of one token": prepared(Path(FOLDER) / "module", "ps1.py", (b"x+" * MAX_BYTES)[:MAX_BYTES], worst),
        "notebook of lists": prepared(Path(FOLDER) / "lists", "ps1.ipynb", notebook(b"[],"), worst),
        "notebook of numbers": prepared(Path(FOLDER) / "numbers", "ps1.ipynb", notebook(b"1.5,"), worst),
        "notebook at its bounds": prepared(
            Path(FOLDER) / "bounds", "ps1.ipynb", notebook(b"[1.5,1.5,1.5,1.5,1.5],1.5,", loading.MAX_CONTAINERS - 10), worst
        ),
    }
    bad = 0
    print(f"{'command':<20} {'case':<22} {'CPU s':>7} {'MB':>6}")
    for name, command in COMMANDS.items():
        least = None
        for case, (file, results) in cases.items():
            seconds, megabytes = min(cost(command, file, results) for _ in range(2))  # a busy machine makes it seem more
            least = least or (seconds, megabytes)
            most = MEGABYTES + (0 if "record" in case else 10 * MAX_BYTES / 2**20)
            too_much = seconds > least[0] + SECONDS or megabytes > most
            bad += too_much
            print(f"{name:<20} {case:<22} {seconds:>7.2f} {megabytes:>6.0f}{'  too much' if too_much else ''}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="worst-") as FOLDER:
        sys.exit(main())
