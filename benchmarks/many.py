"""What a large class costs the commands that read its journal: CPU time, memory, and whether both grow in proportion.

    python benchmarks/many.py [--attempts 500 2000] [--each 1] [--profile report]

The quick examples of ps1 are graded once. Then a class is made of them with the journal's own functions: every student gets
one of these records, and code with a part of its own. One regrade of the whole class is applied. Each command runs as a
process of its own. CPU time is user and system time; memory is the largest resident set of that process.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from processes import Used, used

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder.course import load_course  # noqa: E402
from autograder.intake import Submission, find_submissions  # noqa: E402
from autograder.journal import Journal  # noqa: E402
from autograder.messages import Task  # noqa: E402
from autograder.record import Record  # noqa: E402
from autograder.run import cores, graded  # noqa: E402

COURSE = Path(sys.executable).parent / "course"
SLUG = "ps1"
QUICK = ["s001", "s005", "s007", "s010", "s013", "s014", "s015", "s017"]


def sample() -> list[tuple[bytes, Record]]:
    """The quick examples, each with its record."""
    course = load_course(ROOT)
    sources = {name: (ROOT / f"examples/submissions/{SLUG}/{name}.py").read_bytes() for name in QUICK}
    tasks = {name: Task(Submission(name, f"{SLUG}.py", source)) for name, source in sources.items()}
    records = dict(graded(ROOT, course.problem_set(SLUG), tasks, jobs=cores()))
    return [(sources[name], records[name]) for name in QUICK]


def make_class(folder: Path, examples: Sequence[tuple[bytes, Record]], attempts: int, each: int = 1) -> tuple[Path, Path]:
    """An inbox of one file per student, and results in which every student has `each` graded attempts."""
    inbox, results = folder / "inbox", folder / "results"
    inbox.mkdir(parents=True)
    journal = Journal(results / SLUG)
    draw = random.Random(2026)
    regraded: dict[str, dict[int, str]] = {}
    for number in range(max(1, attempts // each)):
        student = f"s{number + 1:05d}"
        source, record = examples[number % len(examples)]
        for _ in range(each):
            own = source + _own_code(draw)
            (inbox / f"{student}.py").write_bytes(own)
            (submission,), _ = find_submissions(inbox / f"{student}.py", SLUG)
            attempt = journal.add(submission)
            provenance = replace(record.provenance, student=student, submission=submission.sha256)
            stored = journal.append(attempt, replace(record, provenance=provenance))
            regraded.setdefault(student, {})[stored.attempt] = stored.path.name
    run = journal.add_run(examples[0][1].provenance.suite, "1", "a whole class", regraded)
    journal.decide("apply", run.number)
    return inbox, results


def _own_code(draw: random.Random) -> bytes:
    """A function that no two students share."""
    lines = (f"    total = total * {draw.random()} + {draw.random()}\n" for _ in range(12))
    return f"\n\ndef helper(total):\n{''.join(lines)}    return total\n".encode()


def commands(inbox: Path, results: Path) -> dict[str, list[str]]:
    """What is measured, by name."""
    last = ["--results", str(results)]
    return {
        "grade, nothing new": ["grade", SLUG, str(inbox), *last],
        "report": ["report", SLUG, *last],
        "feedback": ["feedback", SLUG, *last],
        "show": ["show", "s00001", SLUG, *last],
    }


def profile(arguments: Sequence[str]) -> None:
    """Where the time of one command goes."""
    from autograder.cli import main as course_main

    sys.argv = ["course", *arguments]
    profiler = cProfile.Profile()
    try:
        profiler.runcall(course_main)
    except SystemExit:
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("cumulative").print_stats(45)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--each", type=int, default=1, help="attempts of each student")
    parser.add_argument("--profile", help="profile this command on the first class instead, such as report")
    options = parser.parse_args()
    examples = sample()
    costs: dict[str, list[Used]] = {}
    with tempfile.TemporaryDirectory(prefix="many-") as name:
        for attempts in options.attempts:
            places = make_class(Path(name) / str(attempts), examples, attempts, options.each)
            for what, arguments in commands(*places).items():
                if options.profile is None:
                    costs.setdefault(what, []).append(used([COURSE, *arguments], ROOT, good=(0, 1)))
                elif what.startswith(options.profile):
                    profile(arguments)
                    return 0
    print("| command | " + " | ".join(f"{attempts} attempts" for attempts in options.attempts) + " | s ratio | MB ratio |")
    print("|---|" + "---:|" * (len(options.attempts) + 2))
    for what, own in costs.items():
        cells = " | ".join(f"{one.cpu_seconds:.1f} s, {one.megabytes:.0f} MB" for one in own)
        seconds, megabytes = (getattr(own[-1], of) / getattr(own[0], of) for of in ("cpu_seconds", "megabytes"))
        print(f"| {what} | {cells} | {seconds:.1f} | {megabytes:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
