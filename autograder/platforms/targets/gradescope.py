"""A Gradescope autograder that runs this engine: a zip with the one problem set, the engine, and two scripts.

What happens inside Gradescope's container is in `gradescope_run`.
"""

from __future__ import annotations

import yaml

from autograder.course import Course, CourseError, ProblemSet
from autograder.platforms.archive import archive
from autograder.sandbox.libraries import PACKAGE
from autograder.secret import FILE

LOCK = "requirements/base.txt"

SETUP = """#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image.
set -euo pipefail
folder="${1:-/autograder}"

usable() {
    "$1" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2> /dev/null
}

python=""
for candidate in python3.13 python3.12 python3.11 python3; do
    if usable "$candidate"; then python="$candidate"; break; fi
done
if [ -z "$python" ]; then
    apt-get update
    apt-get install -y python3.12-venv || apt-get install -y python3.11-venv
    if usable python3.12; then python=python3.12; else python=python3.11; fi
fi

"$python" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --disable-pip-version-check --require-hashes -r "$folder/source/requirements.txt"
cd "$folder/source"
"$folder/venv/bin/python" -c 'from autograder.sandbox.guest import open_zygote; print("sandbox:", open_zygote().backend)' ||
    echo "No sandbox works while the image is built. If this is so for submissions too, none of them is graded."
"""

RUN = """#!/usr/bin/env bash
# Gradescope runs this for every submission, as root.
folder="${1:-/autograder}"
rm -f "$folder/results/results.json"
cd "$folder/source" && "$folder/venv/bin/python" -m autograder.platforms.gradescope_run "$folder"
if [ ! -s "$folder/results/results.json" ]; then
    echo '{"output": "The grader could not be started. This is no fault of yours: please tell your instructor."}' \\
        > "$folder/results/results.json"
fi
"""


def release_files(course: Course, problem_set: ProblemSet) -> dict[str, bytes]:
    """`autograder.zip`, to upload as the autograder of one assignment on Gradescope. The same sources give the same bytes.

    It holds hidden tests, the reference solution, and in place of the course's secret a key made from it: for staff only.
    """
    lock = course.root / LOCK
    if not lock.is_file():
        raise CourseError(f"{lock} is missing; `make lock` writes it. Gradescope installs from it what the grader needs.")
    sources = [problem_set.ledger_path, problem_set.solution]
    sources += [problem_set.folder / name for name in ("assignment.yml", "handout.md", "test_public.py", "test_hidden.py")]
    mutants = problem_set.folder / "mutants.py"
    sources += [mutants] if mutants.is_file() else []
    files = {path.relative_to(course.root).as_posix(): path.read_bytes() for path in sources}
    for path in PACKAGE.rglob("*.py"):
        files[f"{PACKAGE.name}/{path.relative_to(PACKAGE).as_posix()}"] = path.read_bytes()
    files |= {
        "course.yml": _settings(course, problem_set),
        FILE: f"{problem_set.key.derived('gradescope').value.hex()}\n".encode(),
        "requirements.txt": lock.read_bytes(),
        "setup.sh": SETUP.encode(),
        "run_autograder": RUN.encode(),
    }
    return {"autograder.zip": archive(files, executable=("setup.sh", "run_autograder"))}


def _settings(course: Course, problem_set: ProblemSet) -> bytes:
    """`course.yml` with this problem set alone. Extensions stay at home: they name students, and Gradescope has its own."""
    settings = course.settings.model_dump(mode="json", exclude={"extensions"})
    own = next(listing for listing in settings["problem_sets"] if listing["slug"] == problem_set.slug)
    settings["problem_sets"] = [{**own, "weight": 100}]
    return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True).encode()
