"""Wall time of one submission, here and with nbgrader and otter, on the same submissions to problem set 1.

    python benchmarks/peers.py [--rounds 1]          (needs the extra `grader`; some minutes)

All graders run in turn on the same machine, one process each, so that the ratios hold on a busy machine as well. The first
line of each grader is its command, started for one submission. The second is what is left of that when many are graded in
one go: here by a worker, by nbgrader's and otter's own Python interfaces there. Both of those run a new kernel each time.
Last comes what the tests alone take in a warm process, without any grader: nobody can be faster than that.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MPLBACKEND="Agg", PYDEVD_DISABLE_FILE_VALIDATION="1")
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder.authoring.template import write  # noqa: E402
from autograder.course import load_course  # noqa: E402
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
EXAMPLES = ("s001", "s014", "s015")  # whole answers: every test runs
MANY = 20  # how often our worker grades each, in one go

OTTER = """
import sys, time
from otter.api import grade_submission
for path in sys.argv[2:]:
    begun = time.perf_counter()
    grade_submission(path, sys.argv[1], quiet=True)
    print("took", time.perf_counter() - begun, file=sys.stderr)
"""


def command(folder: Path, *arguments: str | Path) -> float:
    """The time that a command takes; it must succeed."""
    environment = {**os.environ, "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]])}
    begun = time.perf_counter()
    ended = subprocess.run([*map(str, arguments)], cwd=folder, env=environment, capture_output=True, text=True)
    taken = time.perf_counter() - begun
    if ended.returncode:
        raise SystemExit(f"{arguments}: {ended.stdout}{ended.stderr}")
    return taken


def here(folder: Path, sources: dict[str, Path]) -> Iterator[tuple[str, float]]:
    course = load_course(ROOT)
    for name, path in sources.items():
        results = folder / f"results-{name}-{time.monotonic_ns()}"
        yield "course grade, one submission", command(ROOT, BIN / "course", "grade", "ps1", path, "--results", results)
    tasks = {
        (name, number): Task(Submission(name, "ps1.py", path.read_bytes()))
        for number in range(MANY)
        for name, path in sources.items()
    }
    moments = []
    for _, record in graded(course.root, course.problem_set("ps1"), tasks, jobs=1):
        assert record.is_sound, record.fault
        moments.append(time.perf_counter())
    # Between the first answer and the last there is grading only.
    yield from (("course grade, many", later - earlier) for earlier, later in itertools.pairwise(moments))


def nbgrader(folder: Path, sources: dict[str, Path]) -> Iterator[tuple[str, float]]:
    api = nbgrader_api(folder)
    release = (folder / "release/ps1/ps1.ipynb").read_text(encoding="utf-8")
    for name, path in sources.items():
        for student in (f"{name}a", f"{name}b"):
            place = folder / "submitted" / student / "ps1"
            place.mkdir(parents=True, exist_ok=True)
            (place / "ps1.ipynb").write_text(hand_in(release, "ps1.py", path.read_bytes()), encoding="utf-8")
        yield (
            "nbgrader autograde, one submission",
            command(folder, BIN / "nbgrader", "autograde", "ps1", "--student", f"{name}a", "--force"),
        )
        begun = time.perf_counter()
        succeed(api.autograde("ps1", f"{name}b", force=True))
        yield "nbgrader, its API", time.perf_counter() - begun


def otter(folder: Path, sources: dict[str, Path]) -> Iterator[tuple[str, float]]:
    for path in sources.values():
        yield "otter run, one submission", command(folder, BIN / "otter", "run", "--no-logo", "-a", "autograder.zip", path)
    ended = subprocess.run(
        [sys.executable, "-c", OTTER, "autograder.zip", *map(str, sources.values())],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    taken = [float(line.split()[1]) for line in ended.stderr.splitlines() if line.startswith("took ")]
    if len(taken) != len(sources):
        raise SystemExit(ended.stderr)
    yield from (("otter, its API", seconds) for seconds in taken)


def tests_alone(folder: Path, sources: dict[str, Path]) -> Iterator[tuple[str, float]]:
    problem_set = load_course(ROOT).problem_set("ps1")
    suites = [question_suite(problem_set, question.id, platform="nbgrader") for question in problem_set.assignment.questions]
    for number in range(3):
        for path in sources.values():
            begun = time.perf_counter()
            namespace, _ = loading.load("ps1.py", path.read_bytes())
            for suite in suites:
                run_tests(namespace, suite)
            # The first time, matplotlib and the tests' modules are loaded.
            if number:
                yield "the tests alone", time.perf_counter() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    course = load_course(ROOT)
    problem_set = course.problem_set("ps1")
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        base = Path(name)
        sources = {}
        for example in EXAMPLES:
            sources[example] = base / f"{example}.py"
            sources[example].write_bytes((ROOT / f"examples/submissions/ps1/{example}.py").read_bytes())
        write(nbgrader_files(course, problem_set), base / "nbgrader")
        succeed(nbgrader_api(base / "nbgrader").generate_assignment("ps1"))
        write(otter_files(course, problem_set), base / "otter")
        for _ in range(options.rounds):
            for grader, folder in (
                (here, base),
                (nbgrader, base / "nbgrader"),
                (otter, base / "otter"),
                (tests_alone, base),
            ):
                for what, seconds in grader(folder, sources):
                    times.setdefault(what, []).append(seconds)
                    print(f"{what}: {seconds:.2f} s", file=sys.stderr)
    best = {
        "one": statistics.median(times["course grade, one submission"]),
        "many": statistics.median(times["course grade, many"]),
    }
    print("| grader | seconds a submission | times ours |\n|---|---:|---:|")
    for what, seconds in times.items():
        median = statistics.median(seconds)
        ours = best["one" if what.endswith("one submission") else "many"]
        print(f"| {what} | {median:.2f} | {median / ours:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
