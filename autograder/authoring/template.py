"""Writes what students receive: the problem set as a module and as a notebook, its public tests, and the kit."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from autograder.authoring.citations import rows_read
from autograder.authoring.explorer import PAGE, explorer_page
from autograder.authoring.frame import payoffs
from autograder.authoring.public_tests import known_slips, public_tests
from autograder.authoring.rendering import module, notebook, readme
from autograder.authoring.repository import repository_files, workflow_file
from autograder.authoring.schedule import schedule_file
from autograder.authoring.stubs import solution_blocks, stub
from autograder.course import Course, CourseError, ProblemSet, read_yaml
from autograder.kit.release_files import base_name, dump_base
from autograder.kit.schedule import SCHEDULE
from autograder.sandbox import libraries

PACKAGE = Path(__file__).resolve().parents[1]
# The rooms of the engine that also run on a student's laptop.
KIT = ("runtime", "testing", "kit")

README = """# {title}

Your work for this course. Each problem set is a folder; its `README.md` is the lesson, and you fill in the gaps.

## Set up, once

    python -m venv .venv
    . .venv/bin/activate          # on Windows: .venv\\Scripts\\activate
    pip install -r requirements.txt

Python 3.11 or newer is needed.

## Work

Every problem set comes in two forms. Use the one you like, and leave the other alone:

- a **module**: open `ps1/ps1.py` in an editor, and run `pytest` inside the folder `ps1`, or above it for all problem sets.
  In VS Code, open the folder that holds `ps1`: the test view lists every public test;
- a **notebook**: start `jupyter lab` and open `ps1/ps1.ipynb`; `check("softmax")` tests one question.

To see what attention does before you write it, open `explorer.html` in a browser: six views to play with. The lessons
link to them.

Three hints are folded below each question, from a direction to almost the answer. Some questions end with a drawing of what
your own functions do.

| | module, in the folder that holds `ps1` | notebook |
|---|---|---|
| test all questions | `python check.py ps1` | `check()` |
| test one question | `python check.py ps1 softmax` | `check("softmax")` |
| test again on saving | `python check.py ps1 --watch` | |
| first hint | `python check.py ps1 softmax --hint 1` | `check("softmax", hint=1)` |
| drawing | `python check.py ps1 --draw softmax` | `draw("softmax")` |

Both say the same: how many points the public tests give you, for each test that fails, what differs and what your function
printed, and what to do next. A question you have not begun says "not done yet". The check of all questions ends with the
date by which to hand in.

Both also warn of what works on your machine and not for the grader: packages and files that it lacks, syntax that is too
new, time or memory near its limits, two forms begun. `check()` runs your saved notebook once more from top to bottom in a
fresh process, because a running notebook remembers cells that you have changed or deleted.

After you hand in, hidden tests run as well. They check the same promises with other numbers: what the docstring says, for
every input it allows. Of a hidden test you will read what it is about and a hint, but not its numbers.

## Get a new version

Sometimes a problem set is corrected after you have begun. Download the new zip; there is no need to unpack it. In this
folder, the one that holds `ps1` and `autograder`, run

    python -m autograder.kit.update path/to/new.zip --check
    python -m autograder.kit.update path/to/new.zip

The first line only says what would be done. The second does it:

- What you have changed or added stays, letter by letter: answers, functions, comments, cells.
- What you have not changed becomes the new version: stubs, the lesson, the public tests. New questions are inserted.
- Where both you and the new version changed something, yours stays, and the update shows what changed. Read these lines.
- A file of ours that you had changed is kept beside the new one as `<name>.mine`.

The update compares with the template you began with, of which `autograder/base` keeps a copy.

What the changed files were before is in a folder such as `backup-1.0.0`. Close the notebook in Jupyter first, and open
it again afterwards.

## Hand in

Hand in one file: `ps1.py` or `ps1.ipynb`, under this name. Everything your answers need must be in it.

    python -m autograder.kit.submit ps1

says what is in the file and what is missing, and where to upload it. If your course has an inbox, such as a folder on a
shared drive, `--to FOLDER` delivers the file there: whole or not at all, replacing nothing. The owner of the file is who
handed it in, and the time that counts is when the course first sees it. On a server with nbgrader, `--exchange` submits the
notebook there. Either way a receipt is kept in `ps1/receipts`. It
proves which bytes you handed in.

Your own run and the grader's do the same, if you keep three rules:

- The grader has Python {python} with its standard library, numpy, matplotlib and IPython, and nothing else: no other
  package, no data file, no file beside yours, no folder of your machine. `pytest` and `check` warn of what it lacks.
- Shell commands (`!pip install ...`) and magics that reach outside the notebook do nothing there. All other cells run as
  in Jupyter. A line of a module that fails costs only itself, and so does a missing package or file in a cell.
- Your functions get their arguments read-only, are called twice, and must give the same answer both times.

If this folder is a repository on GitHub, such as one of GitHub Classroom, each push that changes a problem set tests it
there and reports the points, question by question.

The folder `autograder` checks your work. The same code runs when you hand in, so nothing is gained by changing it.
"""

CONFTEST = '''"""Lets `pytest`, started here or in a problem set's folder, find your answers and count your points."""

import pytest

from autograder.kit.local import LocalBench


def pytest_configure(config: pytest.Config) -> None:
    bench = LocalBench()
    bench.pytest_configure(config)
    config.pluginmanager.register(bench)
'''

CHECK = '''"""`python check.py ps1` runs the public tests of your work; `--help` lists what else there is."""

import sys

from autograder.kit.command import main

if __name__ == "__main__":
    sys.exit(main())
'''

PYTEST_INI = """[pytest]
addopts = --tb=no -q -rN --no-header -p no:cacheprovider --import-mode=importlib
pythonpath = .
# Other folders hold copies of tests: the backups of updates, environments.
norecursedirs = .* backup-* autograder venv env build dist node_modules
"""


def template_files(course: Course) -> dict[str, bytes]:
    """The files of `student_template/` that all problem sets share, by path."""
    files = {
        "README.md": README.format(title=course.settings.title, python=course.settings.python).encode(),
        "conftest.py": CONFTEST.encode(),
        "check.py": CHECK.encode(),
        "pytest.ini": PYTEST_INI.encode(),
        **repository_files(course),
        f"autograder/{SCHEDULE}": schedule_file(course),
    }
    if page := explorer_page(course):
        files[PAGE] = page
    for path in (PACKAGE / "__init__.py", *(path for room in KIT for path in sorted((PACKAGE / room).glob("*.py")))):
        files[f"autograder/{path.relative_to(PACKAGE).as_posix()}"] = path.read_bytes()
    return files


def problem_set_files(course: Course, problem_set: ProblemSet) -> dict[str, bytes]:
    """The files of one problem set in `student_template/`, by path. The same source gives the same bytes."""
    assignment = problem_set.assignment
    blocks = solution_blocks(problem_set)
    stubs = {name: stub(block, problem_set.solution) for name, block in blocks.questions.items()}
    points = public_points(problem_set)
    public = (problem_set.folder / "test_public.py").read_text(encoding="utf-8")
    files = {
        "README.md": readme(problem_set),
        f"{assignment.module}.py": module(problem_set, blocks.given, stubs),
        f"{assignment.module}.ipynb": notebook(problem_set, blocks.given, stubs),
        "test_public.py": public,
        "problem_set.json": _description(course, problem_set, public, points),
    }
    if payoffs(problem_set):
        files["payoffs.py"] = (problem_set.folder / "payoffs.py").read_text(encoding="utf-8")
    result = {f"{problem_set.slug}/{name}": text.encode() for name, text in files.items()}
    for figure in sorted((problem_set.folder / "figures").glob("*.svg")):
        result[f"{problem_set.slug}/figures/{figure.name}"] = figure.read_bytes()
    result |= workflow_file(course, problem_set, points)
    result[base_name(problem_set.slug)] = dump_base(result, problem_set.slug)
    return result


def write(files: dict[str, bytes], folder: Path) -> list[str]:
    """Write the files that differ from what `folder` holds; returns their names."""
    changed = stale(files, folder)
    for name in changed:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[name])
    return changed


def stale(files: dict[str, bytes], folder: Path) -> list[str]:
    """The names of files that are missing in `folder` or differ from what the sources give."""
    return [
        name for name, content in files.items() if not (folder / name).is_file() or (folder / name).read_bytes() != content
    ]


def _description(course: Course, problem_set: ProblemSet, public: str, points: dict[str, float]) -> str:
    """`problem_set.json`: what the student's own run needs to know. Of the ledger, only rows that public tests cite."""
    assignment = problem_set.assignment
    slips = known_slips(course, problem_set)
    tests: dict[str, list[str]] = {}
    for test, graded in public_tests(problem_set):
        tests.setdefault(graded.question, []).append(test.__name__)
    description: dict[str, Any] = {
        "slug": assignment.slug,
        "title": assignment.title,
        "version": assignment.version,
        "module": assignment.module,
        "seed": assignment.seed,
        "python": course.settings.python,
        "packages": libraries.OFFERED,
        "modules": libraries.offered_modules(course.settings.python),
        "memory_mb": problem_set.limits.memory_mb,
        "limits": {"load_seconds": problem_set.limits.load_seconds},
        "questions": [
            {
                "id": question.id,
                "title": question.title,
                "kind": question.kind,
                "names": question.names,
                "points": question.points,
                "public_points": points.get(question.id, 0),
                "tests": tests.get(question.id, []),
                "call_seconds": problem_set.call_seconds(question.id),
                "uses": question.uses,
                "hints": question.hints or [],
                "options": {name: question.choices(name) for name in question.names if question.choices(name)},
                "payoff": question.prediction.payoff if question.prediction else "",
                "slips": slips.get(question.id, []),
            }
            for question in assignment.questions
        ],
        "ledger": cited_rows(problem_set, "test_public.py", public),
    }
    if assignment.carried:
        description["carried"] = [carried.model_dump() for carried in assignment.carried]
    return json.dumps(description, indent=1, ensure_ascii=False) + "\n"


def cited_rows(problem_set: ProblemSet, filename: str, tests: str) -> dict[str, Any]:
    """The ledger's rows that `tests`, text of the test file `filename`, cites."""
    rows = _ledger_rows(problem_set.ledger_path, problem_set.ledger_path.stat().st_mtime_ns)
    cited = sorted(rows_read(tests))
    missing = [row for row in cited if row not in rows]
    if missing:
        raise CourseError(f"{problem_set.folder / filename}: the ledger has no row {', '.join(missing)}")
    return {row: rows[row] for row in cited}


@functools.lru_cache(maxsize=1)
def _ledger_rows(path: Path, _changed: int) -> dict[str, Any]:
    """The ledger's rows; kept, because a suite of every question asks for them, and YAML is slow to read."""
    rows: dict[str, Any] = read_yaml(path)["rows"]
    return rows


def public_points(problem_set: ProblemSet) -> dict[str, float]:
    """Points of the public tests and of predictions, by question."""
    points: dict[str, float] = {}
    for _, graded in public_tests(problem_set):
        points[graded.question] = points.get(graded.question, 0) + graded.points
    predictions = (question for question in problem_set.assignment.questions if question.kind == "prediction")
    return points | {question.id: question.points for question in predictions}
