"""The template as a student runs it, with the reference's answers filled in: on more BLAS threads, on old and new NumPy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.authoring.check import Check
from autograder.authoring.frame import payoffs
from autograder.authoring.template import problem_set_files, template_files, write
from autograder.course import Course, ProblemSet
from autograder.testing.errors import UNDONE

BLAS_THREADS = 4
SECONDS = 300
# The lowest NumPy that the project supports on the Pythons that have it; others use the oldest they can install.
LOWEST_NUMPY = "numpy<2"
_EARNED = re.compile(r"^([\d.]+) of ([\d.]+) points from this run", re.MULTILINE)


def own_run_checks(course: Course, problem_set: ProblemSet) -> list[Check]:
    """Run `pytest` in a fresh template in which the reference is the student's work; all public points must come out."""
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder)
        write({**template_files(course), **problem_set_files(course, problem_set)}, template)
        untouched = _draw(template, problem_set)
        work = template / problem_set.slug / f"{problem_set.assignment.module}.py"
        work.write_bytes(problem_set.solution.read_bytes())
        packages, numpy = _lowest_numpy()
        # Each run takes seconds, so the second differs in two respects.
        checks = [
            Check("the student's own run", list(_problems(work, 1)), "1 BLAS thread"),
            Check(
                "the student's own run, elsewhere",
                list(_problems(work, BLAS_THREADS, packages)),
                f"{BLAS_THREADS} BLAS threads, {numpy}",
            ),
        ]
        drawn = _draw(template, problem_set)
        return [*checks, _drawings_check(payoffs(problem_set), untouched, drawn)]


def _problems(work: Path, threads: int, packages: Path | None = None) -> Iterator[str]:
    counts = {f"{library}_NUM_THREADS": str(threads) for library in ("OPENBLAS", "OMP", "MKL")}
    path = {"PYTHONPATH": str(packages)} if packages else {}
    # Plugins that happen to be installed here are not on a student's machine, and take longer to import than the tests run.
    bare = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "MPLBACKEND": "Agg"}
    answer = subprocess.run(
        [sys.executable, "-m", "pytest"],
        cwd=work.parent,
        env={**os.environ, **counts, **path, **bare},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    earned = _EARNED.search(answer.stdout)
    if earned is None:
        yield f"pytest did not come to an end: {(answer.stderr or answer.stdout).strip()[-500:]}"
    elif earned[1] != earned[2]:
        yield from (line.strip() for line in answer.stdout.splitlines() if line.strip())


def _draw(template: Path, problem_set: ProblemSet) -> dict[str, str]:
    """What `check.py --draw` says of each question that has a drawing."""
    names = payoffs(problem_set)
    if not names:
        return {}
    command = [sys.executable, "check.py", problem_set.slug, "--draw"]
    answer = subprocess.run(command, cwd=template, capture_output=True, text=True, timeout=SECONDS, check=False)
    said = dict(re.findall(r"^(\w+): (.*)$", answer.stdout, re.MULTILINE))
    return said or dict.fromkeys(names, (answer.stderr or answer.stdout).strip()[-500:])


def _drawings_check(names: Sequence[str], untouched: Mapping[str, str], drawn: Mapping[str, str]) -> Check:
    """With the reference every question is drawn, and of stubs each drawing says that they are not done yet."""
    problems = []
    for name in names:
        with_reference, with_stubs = drawn.get(name, "nothing"), untouched.get(name, "nothing")
        if not with_reference.startswith("drawn into"):
            problems.append(f"{name}: with the reference's answers it says: {with_reference}")
        if not with_stubs.startswith(UNDONE):
            problems.append(f"{name}: with the untouched template it says: {with_stubs}")
    return Check("drawings show the reference's work and wait for stubs", problems, f"{len(names)} drawings")


def _lowest_numpy() -> tuple[Path | None, str]:
    """Where the oldest NumPy is, installed once, and a name for it; no place if it cannot be installed here."""
    packages = Path(sys.prefix) / "lowest-numpy"
    if not (packages / "numpy").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        install = [*pip, "--target", str(packages), "--only-binary", ":all:", LOWEST_NUMPY]
        answer = subprocess.run(install, capture_output=True, text=True, timeout=SECONDS, check=False)
        if answer.returncode:
            return None, f"this NumPy, as {LOWEST_NUMPY} cannot be installed here"
    version = next(packages.glob("numpy-*.dist-info")).name.split("-")[1].removesuffix(".dist")
    return packages, f"NumPy {version}"
