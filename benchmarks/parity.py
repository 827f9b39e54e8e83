"""Are the points of each question the same here, with otter and with nbgrader? One table.

    python benchmarks/parity.py [--problem-set ps1] [--sample 20] [--keep FILE] [--jobs 2] [--graders otter nbgrader]

Reference, untouched templates, alternatives, mutants and examples of every problem set are graded by this engine, by otter
and by nbgrader, from the files that `course release --platform` gives. A difference is listed, and makes the exit code 1.
With --keep, points are kept in a file, and a second run takes them from there.

otter and nbgrader run code without a sandbox, so the examples that misbehave on purpose are left out. To make hundreds of
gradings bearable, otter's own `grade_notebook` runs the cell of a module in a forked IPython, not in a new Jupyter kernel,
which would import otter anew for six seconds. Notebooks get their kernel, and nbgrader is used as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import math
import multiprocessing
import os
import random
import sys
import tempfile
import time
import zipfile
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

# Before numpy is imported: what runs beside others has one thread.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MPLBACKEND="Agg", PYDEVD_DISABLE_FILE_VALIDATION="1")
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder import __version__, variants  # noqa: E402
from autograder.course import Course, ProblemSet, load_course  # noqa: E402
from autograder.intake import Submission, find_submissions  # noqa: E402
from autograder.messages import Task  # noqa: E402
from autograder.platforms.targets.nbgrader import release_files as nbgrader_files  # noqa: E402
from autograder.platforms.targets.otter import release_files as otter_files  # noqa: E402
from autograder.record import Record  # noqa: E402
from autograder.run import cores, graded  # noqa: E402
from autograder.runtime.outcomes import Status  # noqa: E402
from autograder.suite import import_file  # noqa: E402
from autograder.suite_hash import suite_hash  # noqa: E402

Points = dict[str, float]  # by question
KINDS = ("reference", "template", "alternative", "mutant", "example")
# They fill the memory, end the process, or write a results file.
MISBEHAVES = {"s009", "s010", "s011"}
SECONDS = 300.0  # after which a grader is taken to hang, for each submission
BATCH = 8  # submissions that share one nbgrader course folder


@dataclass(frozen=True)
class Entry:
    """One submission of the comparison."""

    problem_set: str
    kind: str
    name: str
    filename: str
    source: bytes

    def key(self, grader: str, suite: str) -> str:
        """What its points depend on."""
        text = f"{grader} {suite} {__version__} {self.filename}\n".encode()
        return hashlib.sha256(text + self.source).hexdigest()


def entries_of(course: Course, problem_set: ProblemSet) -> list[Entry]:
    """All submissions of a problem set that can be compared."""
    assignment, slug = problem_set.assignment, problem_set.slug
    module, notebook = f"{assignment.module}.py", f"{assignment.module}.ipynb"
    template = course.root / "student_template" / slug
    rows = [
        Entry(slug, "reference", "reference", module, problem_set.solution.read_bytes()),
        Entry(slug, "template", "template-module", module, (template / module).read_bytes()),
        Entry(slug, "template", "template-notebook", notebook, (template / notebook).read_bytes()),
    ]
    firsts = {question.id: question.names[0] for question in assignment.questions}
    for kind in ("alternative", "mutant"):
        for variant in variants.declared_in(import_file(problem_set.folder / f"{kind}s.py")):
            source = variants.as_submission(variant, variant.replaces or firsts[variant.question], problem_set.solution)
            rows.append(Entry(slug, kind, f"{variant.question}-{variant.name}", module, source))
    examples = course.root / "examples/submissions" / slug
    if examples.is_dir():
        for submission in find_submissions(examples, assignment.module)[0]:
            if submission.student not in MISBEHAVES:
                rows.append(Entry(slug, "example", submission.student, submission.filename, submission.source))
    return rows


def sampled(entries: list[Entry], count: int) -> list[Entry]:
    """`count` entries: the reference, the templates, then others drawn with a fixed seed."""
    first = [entry for entry in entries if entry.kind in ("reference", "template")][:count]
    rest = [entry for entry in entries if entry.kind not in ("reference", "template")]
    return first + random.Random(0).sample(rest, max(0, min(len(rest), count - len(first))))


# --- the graders: each yields an entry's points as they come; none if the grader gave no result


def grade_here(
    course: Course, problem_set: ProblemSet, entries: Sequence[Entry], jobs: int
) -> Iterator[tuple[Entry, Points]]:
    tasks = {entry: Task(Submission("s001", entry.filename, entry.source)) for entry in entries}
    for entry, record in graded(course.root, problem_set, tasks, jobs=jobs):
        questions = [question for question in record.questions if question.kind != "written"]
        yield entry, {question.id: _without_follow_through(record, question.id) for question in questions if record.is_sound}


def _without_follow_through(record: Record, question: str) -> float:
    """The points of a question's passed tests alone, for the others give no follow-through marks."""
    return sum(verdict.points for verdict in record.verdicts_of(question) if verdict.status is Status.PASSED)


def grade_by_otter(
    course: Course, problem_set: ProblemSet, entries: Sequence[Entry], jobs: int
) -> Iterator[tuple[Entry, Points]]:
    # Once, so that every fork has them.
    import matplotlib.pyplot  # noqa: F401
    import otter.api  # noqa: F401

    zipped = zipfile.ZipFile(io.BytesIO(otter_files(course, problem_set)["autograder.zip"]))

    def work(entry: Entry) -> list[Points]:
        with tempfile.TemporaryDirectory(prefix="parity-") as name:
            os.chdir(name)
            # As otter's own runner lays them out.
            for path in zipped.namelist():
                if path.startswith(("files/", "tests/")):
                    place = Path(path.removeprefix("files/"))
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(zipped.read(path))
            Path(entry.filename).write_bytes(entry.source)
            return [_otter_points(entry.filename)]

    for [entry], points in forked(work, [[entry] for entry in entries], jobs):
        yield entry, points[0] if points else {}


def _otter_points(filename: str) -> Points:
    import nbconvert.preprocessors
    import otter.logging
    from IPython.core.interactiveshell import InteractiveShell
    from otter.execute import grade_notebook

    class InThisProcess:
        """Runs a notebook's cells in this process; stands in for nbconvert's, which starts a kernel."""

        def __init__(self, config: object) -> None:
            self.shell = InteractiveShell.instance()

        def preprocess(self, notebook: Any) -> tuple[Any, dict[str, Any]]:
            for cell in notebook.cells:
                if cell.cell_type == "code":
                    self.shell.run_cell(cell.source)
            return notebook, {}

    if filename.endswith(".py"):
        nbconvert.preprocessors.ExecutePreprocessor = InThisProcess
        # The kernel sends its log to a listener in otter's process. Here both are one, and it would log for ever.
        otter.logging.send_logs = lambda *_: None
    results = grade_notebook(
        filename,
        tests_glob=sorted(str(path) for path in Path("tests").glob("*.py")),
        cwd=os.getcwd(),
        test_dir="./tests",
        script=filename.endswith(".py"),
        force_python3_kernel=False,
    )
    return {name: float(test_file.score) for name, test_file in results.results.items()}


def grade_by_nbgrader(
    course: Course, problem_set: ProblemSet, entries: Sequence[Entry], jobs: int
) -> Iterator[tuple[Entry, Points]]:
    from tests.support.nbgrader_tools import grade_with_nbgrader

    files = nbgrader_files(course, problem_set)

    def work(*batch: Entry) -> list[Points]:
        with tempfile.TemporaryDirectory(prefix="parity-") as name:
            folder = Path(name)
            for path, content in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
            handed = {f"s{number:03d}": (entry.filename, entry.source) for number, entry in enumerate(batch)}
            points = grade_with_nbgrader(folder, problem_set.slug, handed)
            return [points[student] for student in handed]

    batches = [list(entries[start : start + BATCH]) for start in range(0, len(entries), BATCH)]
    for batch, points in forked(work, batches, jobs):
        yield from zip(batch, points or [{}] * len(batch), strict=True)


def forked(
    work: Callable[..., list[Points]], tasks: list[list[Entry]], jobs: int
) -> Iterator[tuple[list[Entry], list[Points]]]:
    """Each task in a process of its own, `jobs` at a time; nothing for one that died or hung."""
    context = multiprocessing.get_context("fork")
    waiting, running = deque(tasks), {}

    def child(task: list[Entry], answer: Connection) -> None:
        quiet = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(quiet, descriptor)
        answer.send_bytes(json.dumps(work(*task)).encode())

    while waiting or running:
        while waiting and len(running) < jobs:
            mine, theirs = context.Pipe(duplex=False)
            process = context.Process(target=child, args=(waiting[0], theirs))
            process.start()
            theirs.close()
            running[mine] = (waiting[0], process, time.monotonic() + SECONDS * len(waiting.popleft()))
        next_end = min(deadline for _, _, deadline in running.values())
        ready = wait(list(running), max(0.0, next_end - time.monotonic()))
        for mine in list(running):
            task, process, deadline = running[mine]
            if mine in ready or time.monotonic() > deadline:
                try:
                    points = json.loads(mine.recv_bytes()) if mine in ready else []
                except EOFError:
                    points = []
                process.kill()
                process.join()
                del running[mine]
                yield task, points


GRADERS = {"here": grade_here, "otter": grade_by_otter, "nbgrader": grade_by_nbgrader}


class Kept:
    """Points by key, in a file of JSON lines if one is given."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path and path.exists() else []
        self.points: dict[str, Points] = dict(json.loads(line) for line in lines)

    def add(self, key: str, points: Points) -> None:
        self.points[key] = points
        if self.path:
            with self.path.open("a") as file:
                file.write(json.dumps([key, points]) + "\n")


def compare(course: Course, problem_set: ProblemSet, options: argparse.Namespace, kept: Kept) -> list[str]:
    """Grade what is not kept, print the rows of a problem set, and return the differences."""
    entries = entries_of(course, problem_set)
    if options.sample:
        entries = sampled(entries, options.sample)
    suite = suite_hash(problem_set)
    graders = ["here", *options.graders]
    for grader in graders:
        missing = [entry for entry in entries if entry.key(grader, suite) not in kept.points]
        if missing:
            begun = time.monotonic()
            for number, (entry, points) in enumerate(GRADERS[grader](course, problem_set, missing, options.jobs), start=1):
                kept.add(entry.key(grader, suite), points)
                print(f"\r{problem_set.slug} {grader}: {number} of {len(missing)}", end="", file=sys.stderr)
            print(f" in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    tested = [question.id for question in problem_set.assignment.questions if question.kind != "written"]
    same: dict[tuple[str, str], int] = defaultdict(int)
    differences = []
    for entry in entries:
        points = {grader: kept.points[entry.key(grader, suite)] for grader in graders}
        for grader in options.graders:
            other = [
                f"{question} {points['here'].get(question)} here, {points[grader].get(question)} there"
                for question in tested
                if not math.isclose(points["here"].get(question, -1), points[grader].get(question, -2), abs_tol=1e-9)
            ]
            same[entry.kind, grader] += not other
            if other:
                differences.append(f"- {entry.problem_set} {entry.kind} {entry.name}, {grader}: {'; '.join(other)}")
    for kind in KINDS:
        count = sum(entry.kind == kind for entry in entries)
        if count:
            cells = " | ".join(f"{same[kind, grader]} of {count}" for grader in options.graders)
            print(f"| {problem_set.slug} | {kind} | {count} | {cells} |")
    return differences


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem-set", action="append", help="such as ps1; all if not given")
    parser.add_argument("--sample", type=int, default=0, help="so many submissions of each problem set; all if not given")
    parser.add_argument("--keep", type=Path, help="a file that keeps points between runs")
    parser.add_argument("--jobs", type=int, default=cores())
    parser.add_argument("--graders", nargs="+", choices=["otter", "nbgrader"], default=["otter", "nbgrader"])
    options = parser.parse_args()
    course = load_course(ROOT)
    sys.path.insert(0, str(course.root))
    kept = Kept(options.keep)
    print(f"| problem set | submissions | count | {' | '.join(f'same as {grader}' for grader in options.graders)} |")
    print(f"|---|---|---:|{'---:|' * len(options.graders)}")
    slugs = options.problem_set or [listing.slug for listing in course.settings.problem_sets]
    differences = [line for slug in slugs for line in compare(course, course.problem_set(slug), options, kept)]
    print(
        f"\n{len(differences)} differences; left out, because they misbehave: {', '.join(sorted(MISBEHAVES))}",
        *differences,
        sep="\n",
    )
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
