"""The attacks of tests/hostile that make sense there, against otter-grader and nbgrader, on the same three questions.

Each grader gets its own form of the tiny course: the same points, the same inputs, tests written as its manual shows them.
Each submission is one notebook, graded in a process of its own with a time-out. An attack succeeds when it earns more than
its honest parts do, when it reads what was planted beside the tests, or when the grader never returns. It counts for us in
the same way. Those graders run the attack with all rights of this process: use a machine that can be thrown away.

Run: python benchmarks/hostile_elsewhere.py            (needs the extra `grader`; about ten minutes on two busy cores)
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder.course import load_course  # noqa: E402
from autograder.graders.local import LocalGrader  # noqa: E402
from autograder.intake import Submission  # noqa: E402
from autograder.journal import Journal  # noqa: E402
from autograder.messages import Conditions  # noqa: E402
from autograder.run import grade  # noqa: E402
from tests.support import hostile_table  # noqa: E402

# By kind; what only makes sense against our wire format, or would write outside its folder elsewhere, is left out.
CHOSEN = {
    "read_answers": ["known_paths", "import_hidden_as_submission", "numpy_reads_files", "walk_disk", "environment"],
    "change_judge": [
        "numpy_patched", "builtins_patched", "equality_metaclass", "rewrite_tests", "second_load",
    ],
    "lie_with_values": [
        "always_equal", "ndarray_subclass", "float_subclass", "nan", "infinities", "object_dtype", "broadcasts", "empty",
        "second_answer", "mutated_input", "aliased_input", "masked",
    ],
    "forge_report": ["exit_zero", "exit_in_call", "sys_exit", "print_score", "write_results"],
    "exhaust": ["loop_ignores_signals", "sleep"],
    "cheat": ["hard_coded", "import_solution", "copy_neighbour"],
}  # fmt: skip
SECONDS = 75.0

# One test a line of points: question, name, hidden, points, body. `double`, `softmax` and `apply` are the student's.
TESTS = [
    ("double", "visible", False, 1, "np.testing.assert_allclose(double(np.array([1.0, 2.0, 3.0])), [2.0, 4.0, 6.0])"),
    ("double", "hidden", True, 2, "x = np.ones((2, 3)) + 0.1\nnp.testing.assert_allclose(double(x), 2 * x)"),
    ("softmax", "visible", False, 1, "np.testing.assert_allclose(softmax(np.log([1.0, 3.0])), [0.25, 0.75])"),
    (
        "softmax", "hidden", True, 3,
        "x = np.random.default_rng(2).normal(size=7) + 700.0\nwant = np.exp(x - x.max())\n"
        "assert np.allclose(softmax(x), want / want.sum())",
    ),
    ("apply", "visible", False, 1, "np.testing.assert_allclose(apply(lambda x: x + 1.0, np.zeros(2)), [2.0, 2.0])"),
    (
        "apply", "hidden", True, 2,
        "m = np.random.default_rng(3).normal(size=(3, 3))\nx = np.ones(3)\n"
        "assert np.allclose(apply(lambda v: m @ v, x), m @ (m @ x))",
    ),
]  # fmt: skip
FULL = 10

# Notes what an attack prints, since not every grader keeps it.
LISTEN = """import builtins as _builtins
_print = _builtins.print
def print(*values, **options):
    with open({path!r}, "a") as _file:
        _print(*values, file=_file)
"""


def notebook(cells: list[dict[str, object]]) -> str:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


def code(name: str, source: str, metadata: dict[str, object] | None = None) -> dict[str, object]:
    more: dict[str, object] = {"outputs": [], "execution_count": None}
    return {"cell_type": "code", "id": name, "metadata": metadata or {}, "source": source, **more}


OTTER = """
import json, sys
from otter.api import grade_submission
results = grade_submission("tiny.ipynb", "autograder.zip", quiet=True)
json.dump({"score": float(results.total)}, open("score.json", "w"))
"""

NBGRADER = """
import json, sys
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
config = Config()
config.CourseDirectory.root = "."
config.ExecutePreprocessor.timeout = 20
api = NbGraderAPI(CourseDirectory(config=config), config=config)
said = api.generate_assignment("tiny")
if not said["success"]:
    raise SystemExit(said["log"])
import pathlib, shutil
release = json.loads(pathlib.Path("release/tiny/tiny.ipynb").read_text())
attack = pathlib.Path("attack.py").read_text()
for cell in release["cells"]:
    if cell["metadata"].get("nbgrader", {}).get("solution"):
        cell["source"] = attack
place = pathlib.Path("submitted/s001/tiny")
place.mkdir(parents=True)
(place / "tiny.ipynb").write_text(json.dumps(release))
said = api.autograde("tiny", "s001")
with api.gradebook as book:
    score = book.find_submission("tiny", "s001").score if said["success"] else 0.0
json.dump({"score": float(score), "success": said["success"]}, open("score.json", "w"))
"""


def prepare_otter(folder: Path) -> None:
    """The autograder.zip, made once by otter's own command."""
    (folder / "tests").mkdir(parents=True)
    for question in ("double", "softmax", "apply"):
        lines = [
            "from otter.test_files import test_case",
            "import numpy as np",
            "OK_FORMAT = False",
            f"name = {question!r}",
            "points = None",
        ]
        for own, name, hidden, points, body in TESTS:
            if own == question:
                indented = "\n".join("    " + line for line in body.splitlines())
                lines.append(f"@test_case(points={points}, hidden={hidden})\ndef test_{name}({question}):\n{indented}")
        (folder / "tests" / f"{question}.py").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "otter", "generate", "-t", "tests", "-o", "autograder.zip", "--no-environment"]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if made.returncode or not (folder / "autograder.zip").exists():
        raise SystemExit(f"otter generate failed: {made.stdout}{made.stderr}")


def run_otter(folder: Path, source: str, shared: Path) -> tuple[float, str]:
    shutil.copy(shared / "autograder.zip", folder / "autograder.zip")
    (folder / "tiny.ipynb").write_text(notebook([code("attack", source)]))
    return _run(folder, OTTER)


def run_nbgrader(folder: Path, source: str, shared: Path) -> tuple[float, str]:
    def cell(name: str, text: str, *, points: float = 0, solution: bool = False) -> dict[str, object]:
        marks: dict[str, object] = {"schema_version": 3, "grade_id": name, "grade": not solution, "solution": solution,
                                    "locked": not solution, "task": False}  # fmt: skip
        return code(name, text, {"nbgrader": marks if solution else {**marks, "points": points}})

    cells = [cell("answer", "import numpy as np\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION", solution=True)]
    for question, name, hidden, points, body in TESTS:
        text = f"### BEGIN HIDDEN TESTS\n{body}\n### END HIDDEN TESTS" if hidden else body
        cells.append(cell(f"{question}-{name}", f"import numpy as np\n{text}", points=points))
    (folder / "source/tiny").mkdir(parents=True)
    (folder / "source/tiny/tiny.ipynb").write_text(notebook(cells))
    (folder / "attack.py").write_text("import numpy as np\n" + source)
    return _run(folder, NBGRADER)


def _run(folder: Path, program: str) -> tuple[float, str]:
    """The score, and how it ended."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with open(folder / "log", "w") as log:
        streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        command = [sys.executable, "-c", program]
        environment = {**os.environ, "PATH": path}
        process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **streams)
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return 0.0, "never returned"
    try:
        return float(json.loads((folder / "score.json").read_text())["score"]), ""
    except FileNotFoundError:
        return 0.0, "no score"


def course_copy(folder: Path, token: str) -> Path:
    """The tiny course with a planted secret, where an attack that knows the path finds it."""
    root = folder / "course"
    shutil.copytree(ROOT / "tests/tiny_course", root, ignore=shutil.ignore_patterns("__pycache__", "conftest.py"))
    for path in (root / "solutions/tiny.py", root / "assignments/tiny/test_hidden.py"):
        path.write_text(path.read_text().replace("@BAIT@", token))
    (root / "submissions").mkdir()
    (root / "submissions/neighbour.py").write_text((root / "solutions/tiny.py").read_text())
    return root


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--backend", default=None)
    options = parser.parse_args()
    attacks = [attack for attack in hostile_table.attacks() if attack.path.stem in CHOSEN.get(attack.kind, [])]
    token = f"bait_{secrets.token_hex(8)}"
    os.environ["AUTOGRADER_BAIT"] = token
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        base = Path(name)
        shared = base / "otter-shared"
        prepare_otter(shared)

        def filled(attack: hostile_table.Attack, root: Path) -> str:
            text = attack.path.read_text()
            # What it would leave in the machine's /tmp stays in the folder of this run.
            text = text.replace("/tmp/autograder_left", str(base / "left"))
            return text.replace("@COURSE@", str(root)).replace("@JOURNAL@", str(root / "results"))

        def elsewhere(task: tuple[str, hostile_table.Attack | None]) -> tuple[float, str, bool]:
            grader, attack = task
            folder = base / f"{grader}-{attack.name if attack else 'honest'}"
            folder.mkdir()
            root = course_copy(folder, token)
            prints = folder / "prints"
            source = filled(attack, root) if attack else (root / "solutions/tiny.py").read_text()
            source = LISTEN.format(path=str(prints)) + source
            score, end = (run_otter if grader == "otter" else run_nbgrader)(folder, source, shared)
            said = prints.read_text(errors="replace") if prints.exists() else ""
            return score, end, token in said or bool(re.search(r"probe .*: ok", said))

        tasks = [(grader, attack) for grader in ("otter", "nbgrader") for attack in (None, *attacks)]
        with ThreadPoolExecutor(options.jobs) as pool:
            results = dict(
                zip(
                    ((grader, attack.name if attack else "") for grader, attack in tasks),
                    pool.map(elsewhere, tasks),
                    strict=True,
                )
            )
        for grader in ("otter", "nbgrader"):
            if results[grader, ""][0] != FULL:
                log = (base / f"{grader}-honest/log").read_text()[-3000:]
                raise SystemExit(f"the honest submission gets {results[grader, '']} from {grader}, not {FULL}: {log}")
        root = course_copy(base, token)
        problem_set = load_course(root).problem_set("tiny")
        submissions = [Submission(attack.name, "tiny.py", filled(attack, root).encode()) for attack in attacks]
        journal = Journal(base / "results")
        attempts = [journal.add(submission) for submission in submissions]
        conditions = Conditions(backend=options.backend or "")
        stored = grade(
            root,
            problem_set,
            attempts,
            journal,
            lambda attempt: None,
            grader=LocalGrader(options.jobs),
            conditions=conditions,
        )
        for record in stored:
            printed = record.record.output + record.record.staff_output
            won = token in json.dumps(record.record) or bool(re.search(r"probe .*: ok", printed))
            fault = "" if record.record.is_sound else "fault"
            results["here", record.record.provenance.student] = (record.record.score, fault, won)

    def won(grader: str, attack: hostile_table.Attack) -> bool:
        score, end, read = results[grader, attack.name]
        return score > attack.points or read or end in ("never returned", "fault")

    print("| kind | tried | here | otter | nbgrader |\n|---|---:|---:|---:|---:|")
    for kind in CHOSEN:
        own = [attack for attack in attacks if attack.kind == kind]
        counts = [sum(won(grader, attack) for attack in own) for grader in ("here", "otter", "nbgrader")]
        print(f"| {hostile_table.KINDS[kind][0]} | {len(own)} | " + " | ".join(map(str, counts)) + " |")
    counts = [sum(won(grader, attack) for attack in attacks) for grader in ("here", "otter", "nbgrader")]
    print(f"| all | {len(attacks)} | " + " | ".join(map(str, counts)) + " |\n")
    for attack in attacks:
        ends = [
            f"{grader} {results[grader, attack.name]}" for grader in ("here", "otter", "nbgrader") if won(grader, attack)
        ]
        print(f"{attack.kind}/{attack.path.stem}: " + ("; ".join(ends) or "nowhere"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
