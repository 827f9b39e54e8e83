"""Are the engine's tests tested? Changes one operator, number or keyword of a module at a time, and runs the module's tests.

    python benchmarks/engine_mutants.py                          # `make mutants`: a seeded sample of every module
    python benchmarks/engine_mutants.py wire journal --most 60   # more mutants of some modules

A mutant that no test fails has survived: a test is missing, or the mutant does what the module does. The latter are listed
in `EQUIVALENT`, each with its reason, and do not count. Prints a table and the survivors; the exit status is 1 if any
module's share of killed mutants is below 95 %. The sample takes about 15 minutes on two quiet cores.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from rich.progress import Progress

from autograder.authoring.mutation import Change, changes

ROOT = Path(__file__).resolve().parents[1]
SEED, WANTED = 20260901, 0.95
# What a mutant may take, as a multiple of the tests' own time: an endless loop is a killed mutant, a busy machine is not.
PATIENCE, LEAST_SECONDS = 8, 60

# The modules that decide something, and the tests that are theirs. Tests marked slow are left out.
MODULES = {
    "authoring/columns": "test_columns",
    "course": "test_course",
    "essays": "test_essays",
    "feedback/statistics": "test_report",
    "grades": "test_grades",
    "guest/paths": "test_paths",
    "intake/archives": "test_intake",
    "intake/entries": "test_intake",
    "intake/forms/canvas": "test_intake",
    "intake/forms/gradescope": "test_intake",
    "intake/forms/moodle": "test_intake",
    "intake/moments": "test_intake test_intake_names",
    "intake/names": "test_intake_names",
    "intake/roster": "test_intake",
    "journal": "test_journal",
    "kit/carry": "test_carry",
    "kit/merge": "test_update",
    "kit/merge_notebook": "test_update",
    "kit/release_files": "test_update",
    "kit/update": "test_update",
    "limits": "test_course test_docs",
    "record": "test_record",
    "runtime/figures": "test_figures",
    "runtime/loading": "test_loading",
    "runtime/wire": "test_wire",
    "standing": "test_standing",
    "testing/showing": "test_values",
    "testing/student": "test_student",
    "testing/values": "test_values",
    "totals": "test_totals",
}

# Lines whose surviving mutants do what the module does, and why.
EQUIVALENT = {
    ("authoring/columns", "yield from zip(starts, ends, strict=True)"): "as many stretches end as begin",
    ("authoring/columns", "if _indent(line) > _indent(before) and not _ENTRY.match(_body(before)):"): (
        "a smaller indent was looked at before, and an equal one changes nothing"
    ),
    ("standing", "yield f\"to read: {count} written {'answer' if count == 1 else 'answers'} to {question}\""): "none is 0",
    ("intake/moments", "@dataclass(frozen=True)"): "nobody changes it",
    ("runtime/wire", "self.encode(key, depth + 1)"): "keys are scalars, whose depth nobody looks at",
    ("runtime/wire", "return self.unpack(_FLOAT)[0]"): "the last of one number is the first",
}


@dataclass
class Tally:
    """What became of a module's mutants."""

    killed: int = 0
    equivalent: int = 0
    survivors: list[Change] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The killed share, of those that do something else than the module."""
        counted = self.killed + len(self.survivors)
        return self.killed / counted if counted else 1.0


def sample(module: str, most: int) -> list[Change]:
    """Some mutants of a module, the same in every run."""
    text = (ROOT / "autograder" / f"{module}.py").read_text(encoding="utf-8")
    found = changes(text, random.Random(f"{SEED} {module}"))
    return [change for change, _ in zip(found, range(most), strict=False)]


def copy_of_the_tree(folder: Path) -> Path:
    """A copy of the repository to plant mutants in."""
    ignored = shutil.ignore_patterns(".git", ".venv", "results", "dist", ".*_cache", "__pycache__", ".hypothesis")
    return Path(shutil.copytree(ROOT, folder, ignore=ignored))


def passing(tree: Path, tests: str, seconds: float) -> int:
    """How many tests pass in a copy of the tree; 0 if one fails, or if they take longer than some wall-clock seconds.

    A number, because a sandbox that a mutant keeps from starting has its tests skipped.
    """
    files = [f"tests/{name}.py" for name in tests.split()]
    options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no", "-r", "N"]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    # A file, because processes that the tests leave behind would keep a pipe open.
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *files],
            cwd=tree,
            env=environment,
            stdout=said,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return 0
        finally:
            # The tests start processes of their own, which a mutant may keep from ending.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said.seek(0)
        passed = re.search(r"^(\d+) passed", said.read(), re.MULTILINE)
        return int(passed[1]) if passed and process.returncode == 0 else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help=f"parts of names; all if none is given: {', '.join(MODULES)}")
    parser.add_argument("--most", type=int, default=10, help="mutants of each module")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    chosen = [name for name in MODULES if not options.modules or any(part in name for part in options.modules)]
    tallies = {name: Tally() for name in chosen}
    with tempfile.TemporaryDirectory() as folder, Progress() as bar, ThreadPoolExecutor(options.jobs) as pool:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.jobs):
            trees.put(copy_of_the_tree(Path(folder) / str(number)))
        needed: dict[str, float] = {}
        usual: dict[str, int] = {}

        def try_mutant(task: tuple[str, Change]) -> tuple[str, Change, bool]:
            name, change = task
            tree = trees.get()
            path = tree / "autograder" / f"{name}.py"
            original = path.read_bytes()
            try:
                path.write_text(change.source, encoding="utf-8")
                tests = MODULES[name]
                passed = passing(tree, tests, max(LEAST_SECONDS, PATIENCE * needed[tests]))
                return name, change, passed == usual[tests]
            finally:
                path.write_bytes(original)
                trees.put(tree)

        tasks = [(name, change) for name in chosen for change in sample(name, options.most)]
        steps = bar.add_task("mutants", total=len(tasks))
        for tests in dict.fromkeys(MODULES[name] for name in chosen):
            tree, started = trees.get(), time.monotonic()
            usual[tests] = passing(tree, tests, 1200)
            if not usual[tests]:
                sys.exit(f"{tests} fails without any mutant; nothing can be said")
            needed[tests] = time.monotonic() - started
            trees.put(tree)
        for name, change, survived in pool.map(try_mutant, tasks):
            bar.advance(steps)
            tally = tallies[name]
            if not survived:
                tally.killed += 1
            elif (name, change.before) in EQUIVALENT:
                tally.equivalent += 1
            else:
                tally.survivors.append(change)
    print(f"{'module':<24} mutants  killed  equivalent   share")
    for name, tally in tallies.items():
        count = tally.killed + tally.equivalent + len(tally.survivors)
        print(f"{name:<24} {count:>7} {tally.killed:>7} {tally.equivalent:>11} {tally.share:>7.0%}")
    for name, tally in tallies.items():
        for change in tally.survivors:
            print(f"\nsurvived in autograder/{name}.py, line {change.line + 1}\n  - {change.before}\n  + {change.after}")
    return int(any(tally.share < WANTED for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
