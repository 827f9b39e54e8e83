"""A student's way on a bare machine: from the unzipped template to full marks, each command as the template's README has it.

    python benchmarks/laptop.py [--here] [--problem-sets ps1 ps2]

Makes an environment of its own with `requirements.txt` of the template, which needs a package index; `--here` takes the
Python that runs this instead. The reference is pasted in as a student would paste it, into the module and into the
notebook. A command that does not do what the README says ends the run with status 1. Times are wall-clock times; those with
a bound are medians, and CPU time stands beside them, because a busy machine is slow.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from autograder.authoring.stubs import BEGIN, END, solution_blocks
from autograder.course import Course, load_course

ROOT = Path(__file__).resolve().parents[1]
COLD_SECONDS, WARM_SECONDS, WATCH_SECONDS = 1.5, 0.3, 0.5
ROUNDS = 5
# A process that has checked once checks again, as `--watch` does.
WARM = """
import contextlib, io, time
from autograder.kit.command import main
times = []
for _ in range({rounds} + 1):
    begun = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        status = main(["ps1", "softmax"])
    times.append(time.perf_counter() - begun)
assert status == 0
print(*times[1:])
"""


@dataclass(frozen=True)
class Run:
    """How a command went."""

    output: str
    status: int
    seconds: float
    cpu_seconds: float


class Student:
    """Somebody with a folder and a Python."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder = folder
        self.python = python
        self.failed = False

    def run(self, *command: str, inside: str = ".", status: int = 0, says: str = "", quiet: bool = False) -> Run:
        """Run a command that begins with `python`; prints a line about it, and notes if it does not do what it should."""
        path = os.pathsep.join([str(self.python.parent), os.environ.get("PATH", "")])
        environment = {**os.environ, "PATH": path, "PYTHONPATH": "", "MPLBACKEND": "agg"}
        begun, cpu = time.perf_counter(), _children()
        done = subprocess.run(
            [str(self.python), *command[1:]],
            cwd=self.folder / inside, env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
        run = Run(done.stdout + done.stderr, done.returncode, time.perf_counter() - begun, _children() - cpu)
        if not quiet:
            print(
                f"{run.seconds:8.2f} s {run.cpu_seconds:8.2f} s CPU   {' '.join(command)}"
                + (f"   (in {inside})" * (inside != "."))
            )
        if run.status != status or says not in run.output:
            self.failed = True
            print(f"    NOT AS IT SHOULD BE: status {run.status}, expected {status} and {says!r}\n{run.output[-3000:]}")
        return run

    def bound(self, what: str, seconds: float, allowed: float) -> None:
        """Compare a time with its bound."""
        print(f"{seconds:8.2f} s, at most {allowed:g} s   {what}: {'met' if seconds <= allowed else 'MISSED'}")


def main() -> int:
    """The run. Returns 1 if a command did not do what it should."""
    parser = argparse.ArgumentParser(description="A student's way on a bare machine.")
    parser.add_argument("--here", action="store_true", help="no environment of its own; this Python has what it takes")
    parser.add_argument("--problem-sets", nargs="*", metavar="SLUG", help="which to solve; without it, all in the template")
    given = parser.parse_args()
    course = load_course(ROOT)
    slugs = given.problem_sets or [
        path.parent.name for path in sorted((ROOT / "student_template").glob("*/problem_set.json"))
    ]
    with tempfile.TemporaryDirectory() as scratch:
        archive = Path(shutil.make_archive(str(Path(scratch) / "course"), "zip", ROOT / "student_template"))
        folder = Path(scratch) / "my course"
        with zipfile.ZipFile(archive) as content:
            content.extractall(folder)
        student = Student(folder, Path(sys.executable) if given.here else _environment(folder))
        if not given.here:
            student.run("python", "-m", "pip", "install", "--quiet", "-r", "requirements.txt")
        _before(student)
        for slug in slugs:
            _solve(student, course, slug)
        _hand_in(student, archive)
        _workflow(student)
        _times(student)
    return int(student.failed)


def _environment(folder: Path) -> Path:
    begun = time.perf_counter()
    venv.create(folder / ".venv", with_pip=True)
    print(f"{time.perf_counter() - begun:8.2f} s                  python -m venv .venv")
    return folder / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _before(student: Student) -> None:
    """What a student sees who has done nothing yet."""
    student.run("python", "check.py", "ps1", status=1, says="Next: `mix`.")
    student.run("python", "check.py", "ps1", "softmax", "--hint", "1", says="Hint 1 of 3")
    student.run("python", "-m", "autograder.kit.submit", "ps1", status=2, says="nothing to hand in")


def _solve(student: Student, course: Course, slug: str) -> None:
    """Paste the reference in, and check it in every way."""
    problem_set = course.problem_set(slug)
    work, untouched = student.folder / slug / f"{slug}.py", (student.folder / slug / f"{slug}.py").read_bytes()
    work.write_bytes(problem_set.solution.read_bytes())
    student.run("python", "check.py", slug, says="Next: hand it in.")
    student.run("python", "-m", "pytest", inside=slug, says="Next: hand it in.")
    student.run("python", "check.py", slug, "--draw", says="drawn into")
    if slug == "ps1":
        student.run("python", "-m", "pytest", status=1, says="Next: hand it in.")
    notebook = work.with_suffix(".ipynb")
    before = notebook.read_bytes()
    content = json.loads(before)
    blocks = {f"answer-{name}".replace("_", "-"): text for name, text in solution_blocks(problem_set).questions.items()}
    for cell in content["cells"]:
        if block := blocks.get(cell["id"]):
            kept = [line for line in block.splitlines() if line.strip() not in (BEGIN, END)]
            cell["source"] = "\n".join(kept)
        elif cell["id"] == "set-up" and problem_set.assignment.carried:
            cell["source"] = solution_blocks(problem_set).set_up
    work.write_bytes(untouched)
    notebook.write_text(json.dumps(content), encoding="utf-8")
    student.run("python", "-m", "jupyter", "execute", f"{slug}.ipynb", "--inplace", inside=slug)
    ran = json.loads(notebook.read_text(encoding="utf-8"))
    said = "".join("".join(output.get("text", [])) for cell in ran["cells"] for output in cell.get("outputs", []))
    if "Next: hand it in." not in said or "gives the same from top to bottom in a fresh process" not in said:
        student.failed = True
        print(f"    NOT AS IT SHOULD BE: the notebook's last cell says\n{said[-1500:]}")
    notebook.write_bytes(before)
    work.write_bytes(problem_set.solution.read_bytes())


def _hand_in(student: Student, archive: Path) -> None:
    inbox = student.folder.parent / "inbox"
    inbox.mkdir()
    student.run("python", "-m", "autograder.kit.submit", "ps1", says="Ready to upload")
    student.run("python", "-m", "autograder.kit.submit", "ps1", "--to", str(inbox), says="Delivered")
    student.run("python", "-m", "autograder.kit.update", str(archive), "--check")


def _workflow(student: Student) -> None:
    """The commands that GitHub runs, as they are written, and the points that they give."""
    text = (student.folder / ".github" / "workflows" / "check-ps1.yml").read_text(encoding="utf-8")
    entries = [
        step["with"] for step in yaml.safe_load(text)["jobs"]["check"]["steps"] if "max-score" in step.get("with", {})
    ]
    points = sum(entry["max-score"] for entry in entries if student.run(*entry["command"].split(), quiet=True).status == 0)
    print(f"the workflow reports {points}/{sum(entry['max-score'] for entry in entries)} points of {len(entries)} questions")


def _times(student: Student) -> None:
    cold = [student.run("python", "check.py", "ps1", "softmax", quiet=True) for _ in range(ROUNDS)]
    cpu = statistics.median(run.cpu_seconds for run in cold)
    student.bound("check of one question, cold", statistics.median(run.seconds for run in cold), COLD_SECONDS)
    print(f"{cpu:8.2f} s CPU of it")
    warm = student.run("python", "-c", WARM.format(rounds=ROUNDS), quiet=True).output.split()
    student.bound("check of one question, warm", statistics.median(map(float, warm)), WARM_SECONDS)
    student.bound("check on saving, with --watch", _watched(student), WATCH_SECONDS)


def _watched(student: Student) -> float:
    """Seconds from saving until the check is printed."""
    work = student.folder / "ps1" / "ps1.py"
    with subprocess.Popen(
        [str(student.python), "check.py", "ps1", "softmax", "--watch"],
        cwd=student.folder, stdout=subprocess.PIPE, text=True, encoding="utf-8",
    ) as watching:  # fmt: skip
        times = []
        for number in range(ROUNDS + 1):
            begun = time.perf_counter()
            if number:
                work.write_text(work.read_text(encoding="utf-8") + "\n", encoding="utf-8")
            _read_until(watching, "Next: ")
            times.append(time.perf_counter() - begun)
        watching.terminate()
    return statistics.median(times[1:])


def _read_until(process: subprocess.Popen[str], start: str) -> None:
    assert process.stdout is not None
    while not (line := process.stdout.readline()).startswith(start):
        if not line:
            raise RuntimeError("the command ended by itself")


def _children() -> float:
    """CPU seconds of all processes that have ended; 0 where the system does not say."""
    times: Sequence[float] = os.times()
    return times[2] + times[3]


if __name__ == "__main__":
    sys.exit(main())
