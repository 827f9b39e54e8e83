"""A class handed in through every platform's form, from intake to export: do all totals agree to the cent?

For each form: grade, grade the written answers by hand in nbgrader's gradebook, mend a test and regrade, apply, revert and
apply again, bring the gradebook up to date, write feedback, report and exports. Then each student's points must be the same
in `course export`'s CSV, in Canvas's and Moodle's gradebook, in Gradescope's results, in nbgrader's database and on the
feedback page. Everything happens through the `course` command, in a copy of the course.

    python benchmarks/whole_class.py [--students 300] [--forms "Canvas;Moodle"] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from nbgrader.api import Gradebook  # noqa: E402

from autograder import variants  # noqa: E402
from autograder.course import ProblemSet, load_course  # noqa: E402
from autograder.intake import Submission  # noqa: E402
from autograder.suite import import_file  # noqa: E402
from tests.support.platform_forms import (  # noqa: E402
    MAKERS,
    canvas_id,
    make_canvas_gradebook,
    make_moodle_worksheet,
    make_roster,
    moodle_id,
)

COURSE = Path(sys.executable).parent / "course"
SLUG = "ps1"
# The test that is "mended": from now on it passes whatever a submission does.
MENDED = "test_public.py"
CENT = 0.005
# Examples that use up their time or memory; one of each is enough for a class.
SLOW = {"s008", "s009", "s011"}


def make_class(problem_set: ProblemSet, students: int) -> list[Submission]:
    """So many students with examples and mutants in turn; every seventh hands in twice, every fifth late."""
    examples = [
        (path.name, path.read_bytes())
        for path in sorted((ROOT / "examples/submissions" / SLUG).glob("*.*"))
        if path.suffix != ".md"
    ]
    quick = [(name, source) for name, source in examples if Path(name).stem not in SLOW]
    written = b'\n\ncausation = "Delete the word and compare. The weight alone says what was read, not what it did."\n'
    mutants = []
    for variant in variants.declared_in(import_file(problem_set.folder / "mutants.py")):
        name = variant.replaces or problem_set.question(variant.question).names[0]
        mutants.append((f"{variant.name}.py", variants.as_submission(variant, name, problem_set.solution) + written))
    due = load_course(ROOT).listing(SLUG).due
    submissions = []
    for number, (name, source) in enumerate(islice(cycle([*quick, *mutants]), students), start=1):
        student, filename = f"s{number:03d}", f"{SLUG}{Path(name).suffix}"
        moment = (
            due + datetime.timedelta(hours=6 * number)
            if number % 5 == 0 and number < 60
            else due - datetime.timedelta(hours=number)
        )
        # In the same form: a folder that keeps both would be listed for a person, not graded.
        if number % 7 == 0 and filename.endswith(".py"):
            submissions.append(Submission(student, f"{SLUG}.py", b"# a first try\n", moment - datetime.timedelta(days=2)))
        submissions.append(Submission(student, filename, source, moment))
    return submissions


def course(folder: Path, *arguments: str | Path) -> str:
    """Run a command of the course; 0 and 1 are both good, for a class has files that need a person."""
    command = [str(COURSE), *map(str, arguments)]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}\n{answer.stdout}{answer.stderr}")
    return answer.stdout


def grade_by_hand(database: Path, students: Sequence[str]) -> int:
    """What formgrader does: points for every written answer that waits; returns how many."""
    given = 0
    with Gradebook(f"sqlite:///{database}", "attention-from-the-inside") as book:
        for number, student in enumerate(students):
            row = book.find_grade("answer-causation", SLUG, SLUG, student)
            if row.needs_manual_grade:
                row.manual_score, row.needs_manual_grade = 0.25 * (number % 21), False
                given += 1
        book.db.commit()
    return given


def mend_a_test(folder: Path) -> None:
    """Rewrite one hidden test so that everyone passes it."""
    path = next((folder / "assignments").glob(f"{SLUG}_*")) / "test_hidden.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        re.sub(r'(def test_\w+\([^)]*\)[^:]*:\n    """.*?"""\n)', r"\g<1>    return\n", text, count=1, flags=re.S),
        encoding="utf-8",
    )


def totals(folder: Path, results: Path, students: Sequence[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Each student's points, by the place they stand in."""
    made = results / SLUG / "made"
    course(folder, "export", SLUG, "csv", "--results", results, "--to", made / "grades.csv")
    with (made / "grades.csv").open(newline="") as file:
        yield "CSV", {row["student"]: float(row["points"]) for row in csv.DictReader(file)}
    canvas = make_canvas_gradebook(made, students, possible="50.00")
    course(
        folder,
        "export",
        SLUG,
        "canvas",
        "--into",
        canvas,
        "--column",
        "Problem set 1",
        "--results",
        results,
        "--to",
        made / "canvas-filled.csv",
    )
    by_canvas = {canvas_id(student): student for student in students}
    with (made / "canvas-filled.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    column = next(name for name in rows[0] if name.startswith("Problem set 1"))
    yield "Canvas", {by_canvas[row["ID"]]: float(row[column]) for row in rows if row["ID"] in by_canvas}
    moodle = make_moodle_worksheet(made, students, possible="50.00")
    course(folder, "export", SLUG, "moodle", "--into", moodle, "--results", results, "--to", made / "moodle-filled.csv")
    by_moodle = {moodle_id(student): student for student in students}
    with (made / "moodle-filled.csv").open(newline="", encoding="utf-8-sig") as file:
        yield (
            "Moodle",
            {by_moodle[re.sub(r"\D", "", row["Identifier"])]: float(row["Grade"]) for row in csv.DictReader(file)},
        )
    course(folder, "export", SLUG, "gradescope", "--results", results, "--to", made / "gradescope")
    yield (
        "Gradescope",
        {
            path.stem if path.stem != "results" else path.parent.name: float(json.loads(path.read_text())["score"])
            for path in (made / "gradescope").rglob("*.json")
        },
    )
    with Gradebook(f"sqlite:///{results / 'gradebook.db'}", "attention-from-the-inside") as book:
        yield (
            "nbgrader",
            {entry.student.id: entry.score - entry.late_submission_penalty for entry in book.assignment_submissions(SLUG)},
        )
    course(folder, "feedback", SLUG, "--results", results)
    pages = {}
    for student in students:
        page = (results / SLUG / "feedback" / student / f"{SLUG}.html").read_text(encoding="utf-8")
        pages[student] = float(re.search(r'class="total">\s*([\d.]+) of', page)[1])  # type: ignore[index]
    yield "feedback", pages


def run(form: str, submissions: Sequence[Submission], work: Path) -> tuple[bool, list[str]]:
    """One form, from intake to export; returns whether all totals agree, and the cells of its row."""
    folder = work / form
    for name in ("course.yml", "assignments", "solutions", "student_template"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, _made(folder) / name)
    students = sorted({submission.student for submission in submissions})
    make_roster(folder, students)
    place = MAKERS[form](_made(work / "forms" / form), submissions)
    results = folder / "results"
    seconds = [time.monotonic()]

    def lap() -> float:
        seconds.append(time.monotonic())
        return seconds[-1] - seconds[-2]

    document = json.loads(course(folder, "grade", SLUG, place, "--json", "--results", results))
    graded = {record["provenance"]["student"] for record in document["results"]}
    cells = [form, str(len(graded)), f"{lap():.0f}"]
    course(folder, "gradebook", SLUG, "--results", results)
    by_hand = grade_by_hand(results / "gradebook.db", students)
    cells += [str(by_hand), f"{lap():.0f}"]
    mend_a_test(folder)
    changes = json.loads(course(folder, "regrade", SLUG, "--json", "--results", results))
    for step in (["--apply"], ["--revert", str(changes["run"])], ["--apply"]):
        course(folder, "regrade", SLUG, *step, "--results", results)
    cells += [str(len(changes["changes"])), f"{lap():.0f}"]
    course(folder, "gradebook", SLUG, "--results", results)
    by_export = dict(totals(folder, results, students))
    course(folder, "report", SLUG, "--results", results)
    cells.append(f"{lap():.0f}")
    first = by_export["CSV"]
    wrong = [
        f"{place}: {student}: {points.get(student)} instead of {first[student]}"
        for place, points in by_export.items()
        for student in students
        if abs(points.get(student, -1.0) - first[student]) > CENT
    ]
    for line in wrong[:10]:
        print(line, file=sys.stderr)
    good = not wrong and graded == set(students) and by_hand > 0 and bool(changes["changes"])
    return good, [*cells, f"{sum(first.values()):.2f}", "agree" if good else "DIFFER"]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--forms", default=";".join(MAKERS), help="separated by semicolons; all if not given")
    parser.add_argument("--keep", type=Path, help="work in this folder, and leave it there")
    options = parser.parse_args()
    submissions = make_class(load_course(ROOT).problem_set(SLUG), options.students)
    header = ["form", "students", "s", "by hand", "s", "changed", "s", "out s", "sum of points", "totals"]
    print("  ".join(f"{cell:>13}" for cell in header))
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        for form in options.forms.split(";"):
            fine, cells = run(form, submissions, options.keep or Path(temporary))
            good &= fine
            print("  ".join(f"{cell:>13}" for cell in cells), flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
