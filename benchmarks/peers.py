"""What grading one submission takes, here, with nbgrader, with otter and with plain pytest, all in one run.

    make bench                                       (needs the extra `grader`; some minutes)
    make bench-compare OLD=benchmarks/bench-old.json
    python benchmarks/peers.py [--rounds 3] [--save FILE] [--against FILE]

The submission is the reference of problem set 1, so every test runs. Each way to grade it is a process of its own; they
take turns, so the ratios hold on a busy machine too. A command is timed from its start to its end. An interface is
timed from submission to submission, after a first one that loads what stays loaded. The limit is what the same tests
take in a warm process without any isolation: no grader can be faster. Then as many processes as there are cores do the
same at once.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from processes import used

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MPLBACKEND="Agg", PYDEVD_DISABLE_FILE_VALIDATION="1")
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder.authoring.template import write  # noqa: E402
from autograder.course import load_course  # noqa: E402
from autograder.graders.local import cores  # noqa: E402
from autograder.intake import Submission  # noqa: E402
from autograder.kit.embedded import run_tests  # noqa: E402
from autograder.messages import Task  # noqa: E402
from autograder.platforms.suite import question_suite  # noqa: E402
from autograder.platforms.targets.nbgrader import release_files as nbgrader_files  # noqa: E402
from autograder.platforms.targets.otter import release_files as otter_files  # noqa: E402
from autograder.run import graded  # noqa: E402
from autograder.runtime import loading  # noqa: E402
from tests.support.nbgrader_tools import hand_in, nbgrader_api, succeed  # noqa: E402

BIN = Path(sys.executable).parent
SLUG = "ps1"
STUDENT = "s001"
OURS, OURS_COMMAND, PYTEST = "ours", "ours, command", "pytest, public tests only"
LIMIT = "the limit: warm tests, no isolation"


@dataclass(frozen=True)
class Row:
    """One way to grade: its median time, and what all cores do in an hour; `efficiency` is 1 if no core slows another."""

    seconds: float
    megabytes: float
    an_hour: float
    efficiency: float


# --- the ways; each works in a folder that `prepare` made


def prepare(folder: Path) -> None:
    """The submission, and the releases for nbgrader and otter."""
    course = load_course(ROOT)
    problem_set = course.problem_set(SLUG)
    source = problem_set.solution.read_bytes()
    (folder / f"{STUDENT}.py").write_bytes(source)
    write(nbgrader_files(course, problem_set), folder / "nbgrader")
    succeed(nbgrader_api(folder / "nbgrader").generate_assignment(SLUG))
    release = (folder / f"nbgrader/release/{SLUG}/{SLUG}.ipynb").read_text(encoding="utf-8")
    place = folder / f"nbgrader/submitted/{STUDENT}/{SLUG}"
    place.mkdir(parents=True)
    (place / f"{SLUG}.ipynb").write_text(hand_in(release, f"{SLUG}.py", source), encoding="utf-8")
    write(otter_files(course, problem_set), folder / "otter")
    # As a notebook: otter takes a module only where no other Python file lies beside it.
    cell = {"cell_type": "code", "id": "one", "metadata": {}, "outputs": [], "execution_count": None}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": [{**cell, "source": source.decode()}]}
    (folder / f"{STUDENT}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    home = folder / "home"
    shutil.copytree(ROOT / "student_template", home)
    (home / SLUG / f"{SLUG}.py").write_bytes(source)


def commands(folder: Path) -> dict[str, tuple[Path, list[str | Path]]]:
    """The folder and the command of each way that is a command."""
    results = folder / f"results-{time.monotonic_ns()}"
    return {
        OURS_COMMAND: (ROOT, [BIN / "course", "grade", SLUG, folder / f"{STUDENT}.py", "--results", results]),
        "nbgrader, command": (
            folder / "nbgrader",
            [BIN / "nbgrader", "autograde", SLUG, "--student", STUDENT, "--force"],
        ),
        "otter run": (
            folder / "otter",
            [BIN / "otter", "run", "--no-logo", "-a", "autograder.zip", folder / f"{STUDENT}.ipynb"],
        ),
        PYTEST: (folder / "home" / SLUG, [sys.executable, "-m", "pytest", "-q"]),
    }


def ours(folder: Path, repeats: int) -> Iterator[None]:
    submission = Submission(STUDENT, f"{SLUG}.py", (folder / f"{STUDENT}.py").read_bytes())
    for _, record in graded(
        ROOT, load_course(ROOT).problem_set(SLUG), dict.fromkeys(range(repeats), Task(submission)), jobs=1
    ):
        assert record.is_sound, record.fault
        yield


def nbgrader(folder: Path, repeats: int) -> Iterator[None]:
    api = nbgrader_api(folder / "nbgrader")
    for _ in range(repeats):
        succeed(api.autograde(SLUG, STUDENT, force=True))
        yield


def otter(folder: Path, repeats: int) -> Iterator[None]:
    from otter.api import grade_submission

    os.chdir(folder / "otter")
    for _ in range(repeats):
        grade_submission(str(folder / f"{STUDENT}.ipynb"), "autograder.zip", quiet=True)
        yield


def tests_alone(folder: Path, repeats: int) -> Iterator[None]:
    problem_set = load_course(ROOT).problem_set(SLUG)
    source = (folder / f"{STUDENT}.py").read_bytes()
    suites = [question_suite(problem_set, question.id, platform="nbgrader") for question in problem_set.assignment.questions]
    for _ in range(repeats):
        namespace, _ = loading.load(f"{SLUG}.py", source)
        for suite in suites:
            run_tests(namespace, suite)
        yield


INTERFACES: dict[str, tuple[Callable[[Path, int], Iterator[None]], int]] = {
    # With how many times as many submissions: what is quick is measured more often.
    OURS: (ours, 10),
    "nbgrader, API": (nbgrader, 1),
    "otter, API": (otter, 1),
    LIMIT: (tests_alone, 5),
}


def time_interface(name: str, folder: Path, repeats: int) -> None:
    """In a process of its own: print the seconds of each submission but the first."""
    grade, often = INTERFACES[name]
    moments = [time.perf_counter() for _ in grade(folder, repeats * often + 1)]
    print("\nseconds:", json.dumps([later - earlier for earlier, later in itertools.pairwise(moments)]))


WAYS = (OURS, OURS_COMMAND, "nbgrader, API", "nbgrader, command", "otter, API", "otter run", PYTEST, LIMIT)
REPEATS = 1  # submissions that are timed in one process of nbgrader's or otter's

# --- measuring


def measured(name: str, folder: Path) -> tuple[list[float], float]:
    """Seconds of each submission, and the megabytes of the largest process."""
    if name in INTERFACES:
        run = used([sys.executable, __file__, "--only", name, "--folder", folder], folder)
        return json.loads(run.printed.rpartition("seconds:")[2]), run.megabytes
    place, command = commands(folder)[name]
    run = used(command, place, good=(0, 1))
    return [run.seconds], run.megabytes


def measured_together(name: str, folder: Path) -> list[float]:
    """Seconds of each submission, when as many processes as there are cores grade at once."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch, ThreadPoolExecutor(cores()) as pool:
        copies = [Path(scratch) / str(number) for number in range(cores())]
        for copy in copies:
            shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("results-*"))
        return [second for seconds, _ in pool.map(lambda copy: measured(name, copy), copies) for second in seconds]


def measure(folder: Path, rounds: int) -> dict[str, Row]:
    """All ways, in turn in each round."""
    alone, together, megabytes = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list), Counter[str]()
    for number in range(rounds):
        for way in WAYS:
            seconds, held = measured(way, folder)
            alone[way] += seconds
            together[way] += measured_together(way, folder)
            megabytes[way] = max(megabytes[way], round(held))
            print(f"round {number + 1}: {way}: {statistics.median(seconds):.2f} s", file=sys.stderr)
    rows = {}
    for way in WAYS:
        one, each = statistics.median(alone[way]), statistics.median(together[way])
        rows[way] = Row(one, megabytes[way], 3600 * cores() / each, one / each)
    return rows


def table(rows: dict[str, Row], old: dict[str, Row]) -> str:
    """The rows as a Markdown table; with old ones, how the time changed."""
    ours_now = {True: rows[OURS_COMMAND].seconds, False: rows[OURS].seconds}
    lines = ["| grader | seconds a submission | times ours | peak MB | an hour, all cores | parallel efficiency |"]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    if old:
        lines = [f"{lines[0]} seconds before | change |", f"{lines[1]}---:|---:|"]
    for name, each in rows.items():
        ratio = each.seconds / ours_now[name.endswith("command") or name == "otter run"]
        line = f"| {name} | {each.seconds:.2f} | {ratio:.1f} | {each.megabytes:.0f} |"
        line += f" {each.an_hour:,.0f} | {each.efficiency:.2f} |"
        if old:
            before = old[name].seconds if name in old else each.seconds
            line += f" {before:.2f} | {100 * (each.seconds / before - 1):+.0f} % |"
        lines.append(line)
    many = rows[OURS].seconds
    api, command = rows["nbgrader, API"].seconds / many, rows["otter run"].seconds / many
    lines.append(
        f"\nOf ours, many in one go: nbgrader's API takes {api:.0f} times as long, `otter run` {command:.0f} times."
    )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--save", type=Path, help="write the figures to this JSON file")
    parser.add_argument("--against", type=Path, help="compare with the figures in this JSON file")
    parser.add_argument("--only", choices=INTERFACES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        time_interface(options.only, options.folder, REPEATS)
        return 0
    old = json.loads(options.against.read_text(encoding="utf-8")) if options.against else {"rows": {}}
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name) / "one"
        folder.mkdir()
        prepare(folder)
        rows = measure(folder, options.rounds)
    print(table(rows, {way: Row(**row) for way, row in old["rows"].items()}))
    if options.save:
        document = {"cores": cores(), "rows": {way: asdict(each) for way, each in rows.items()}}
        options.save.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
