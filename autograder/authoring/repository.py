"""What makes the template a repository that students fork: GitHub Classroom's workflow, settings of git and of VS Code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml
from packaging.requirements import Requirement

from autograder.course import Course, ProblemSet

# What students install. Those that the grader has too are pinned to its versions.
PINNED = ("numpy", "matplotlib", "ipython", "pytest")
REQUIREMENTS = """numpy>=1.26
matplotlib>=3.8
ipython>=9.0
pytest>=8.0
jupyterlab>=4.0
"""
LOCK = "requirements/base.txt"

GITIGNORE = """.venv/
__pycache__/
.ipynb_checkpoints/
.pytest_cache/
.DS_Store
backup-*/
drawings/
"""

VSCODE = {
    "python.testing.pytestEnabled": True,
    "python.testing.unittestEnabled": False,
    "python.testing.pytestArgs": ["."],
    "python.analysis.extraPaths": ["."],
}

HEADER = "# Tests what you push and reports the points of public tests to GitHub Classroom: one entry per question.\n"
MINUTES = 10


def repository_files(course: Course) -> dict[str, bytes]:
    """The files that all problem sets share, by path."""
    return {
        ".gitignore": GITIGNORE.encode(),
        ".vscode/settings.json": (json.dumps(VSCODE, indent=2) + "\n").encode(),
        "requirements.txt": requirements(course).encode(),
    }


def workflow_file(course: Course, problem_set: ProblemSet, public: Mapping[str, float]) -> dict[str, bytes]:
    """A problem set's workflow, by path: a step per question that has `public` points, and the report of them all."""
    slug = problem_set.slug
    path = f".github/workflows/check-{slug}.yml"
    steps: list[dict[str, Any]] = [
        {"uses": "actions/checkout@v4"},
        {"uses": "actions/setup-python@v5", "with": {"python-version": course.settings.python, "cache": "pip"}},
        {"name": "Install what the grader has", "run": "python -m pip install -r requirements.txt"},
    ]
    runners = [question.id for question in problem_set.assignment.questions if public.get(question.id)]
    for runner in runners:
        step = {
            "test-name": problem_set.question(runner).title,
            "command": f"python check.py {slug} {runner}",
            "timeout": MINUTES,
            "max-score": int(public[runner]),  # the action reads whole numbers
        }
        steps.append({"id": runner, "uses": "classroom-resources/autograding-command-grader@v1", "with": step})
    steps.append(
        {
            "uses": "classroom-resources/autograding-grading-reporter@v1",
            "env": {f"{runner.upper()}_RESULTS": f"${{{{ steps.{runner}.outputs.result }}}}" for runner in runners},
            "with": {"runners": ",".join(runners)},
        }
    )
    job = {"runs-on": "ubuntu-latest", "if": "github.actor != 'github-classroom[bot]'", "steps": steps}
    workflow = {
        "name": f"Check {slug}",
        "on": {"push": {"paths": [f"{slug}/**"]}, "repository_dispatch": None, "workflow_dispatch": None},
        "permissions": {"checks": "write", "actions": "read", "contents": "read"},
        "jobs": {"check": job},
    }
    return {path: (HEADER + yaml.safe_dump(workflow, sort_keys=False, width=120, allow_unicode=True)).encode()}


def requirements(course: Course) -> str:
    """What students install, with the grader's own versions where the course keeps a lock file."""
    path = course.root / LOCK
    if not path.is_file():
        return REQUIREMENTS
    here = {"python_full_version": f"{course.settings.python}.0", "python_version": course.settings.python}
    locked: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if "==" in line and not line[:1].isspace():
            entry = Requirement(line.rstrip("\\ "))
            if entry.name in PINNED and (entry.marker is None or entry.marker.evaluate(here)):
                locked[entry.name] = f"{entry.name}{entry.specifier}"
    lines = [locked.get(Requirement(line).name, line) for line in REQUIREMENTS.splitlines()]
    return "\n".join(["# With a version: what the grader has.", *lines]) + "\n"
