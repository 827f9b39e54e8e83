"""The whole course once, as one student who does everything right: from the template to the final grade.

For each problem set: put the reference's answers into the template, carry functions over from earlier problem sets, check at
home, hand in, grade, give full points for written answers in nbgrader's gradebook, and write the feedback. Then
`course totals` must say 100. Everything happens through the commands that students and staff type.

    python benchmarks/one_student.py [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from nbgrader.api import Gradebook  # noqa: E402

from autograder.course import ProblemSet, load_course  # noqa: E402
from autograder.kit.carry import PLACE  # noqa: E402
from autograder.platforms.targets.nbgrader import answer_cell  # noqa: E402

COURSE = Path(sys.executable).parent / "course"
STUDENT = "s001"


def run(folder: Path, *command: str | Path) -> str:
    """Run a command; what it prints. Ends everything if it fails. Exit code 1 means that a person is needed, as here."""
    answer = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(map(str, command))}\n{answer.stdout}{answer.stderr}")
    return answer.stdout


def answered(problem_set: ProblemSet, template: str) -> str:
    """The reference's answers; what is carried over stays a stub, as it is in the template."""
    solution = problem_set.solution.read_text(encoding="utf-8")
    if PLACE not in solution:
        return solution
    before, carried = solution.split(PLACE)
    stubs = template.split(PLACE)[1].split("# --- Question 1")[0]
    return before + PLACE + stubs + "# === question: " + carried.split("# === question: ", 1)[1]


@contextmanager
def stage(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Add the wall-clock time of what runs meanwhile."""
    begun = time.perf_counter()
    yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - begun


def grade_by_hand(database: Path, problem_set: ProblemSet) -> None:
    """What formgrader does: full points for every written answer."""
    slug, module = problem_set.slug, problem_set.assignment.module
    with Gradebook(f"sqlite:///{database}", "attention-from-the-inside") as book:
        for question in problem_set.assignment.questions:
            if question.kind == "written":
                row = book.find_grade(answer_cell(question), module, slug, STUDENT)
                row.manual_score, row.needs_manual_grade = question.points, False
        book.db.commit()


def take(problem_set: ProblemSet, home: Path, results: Path) -> tuple[str, dict[str, float]]:
    """One problem set from the template to its grade: what the check at home says last, and seconds by stage."""
    slug, seconds = problem_set.slug, dict[str, float]()
    work = home / slug / f"{problem_set.assignment.module}.py"
    work.write_text(answered(problem_set, work.read_text(encoding="utf-8")), encoding="utf-8")
    with stage(seconds, "at home"):
        if problem_set.assignment.carried:
            run(home, sys.executable, "check.py", slug, "--carry")
        checked = run(home, sys.executable, "check.py", slug)
    earned = re.findall(r"([\d.]+) of ([\d.]+) points", checked)
    handed = results.parent / "inbox" / slug
    handed.mkdir(parents=True)
    shutil.copy(work, handed / f"{STUDENT}.py")
    with stage(seconds, "grade"):
        run(ROOT, COURSE, "grade", slug, handed, "--results", results)
    with stage(seconds, "by hand"):
        run(ROOT, COURSE, "gradebook", slug, "--results", results)
        grade_by_hand(results / "gradebook.db", problem_set)
    with stage(seconds, "feedback"):
        run(ROOT, COURSE, "feedback", slug, "--results", results)
    return " of ".join(earned[-1]) if earned else "?", seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="work in this folder, which must not exist, and leave it there")
    options = parser.parse_args()
    course = load_course(ROOT)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary) / "one"
        shutil.copytree(ROOT / "student_template", folder / "home")
        results = folder / "results"
        for listing in course.settings.problem_sets:
            problem_set = course.problem_set(listing.slug)
            public, seconds = take(problem_set, folder / "home", results)
            record = json.loads((results / listing.slug / STUDENT / "001.json").read_text(encoding="utf-8"))
            tested = sum(question["score"] for question in record["questions"])
            times = ", ".join(f"{name} {time:.1f} s" for name, time in seconds.items())
            print(f"{listing.slug}: public {public}, tests give {tested:g}; {times}", flush=True)
        table = run(ROOT, COURSE, "totals", "--results", results)
    print(table, end="")
    return 0 if re.search(rf"^{STUDENT}\t.*\t100\t$", table, re.M) else 1


if __name__ == "__main__":
    sys.exit(main())
