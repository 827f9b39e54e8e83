"""What goes out: files with a manifest of their hashes, and what forbids a release."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.authoring.stubs import BEGIN, END, as_module, solution_blocks
from autograder.course import Course, ProblemSet

MANIFEST = "manifest.json"
RELEASED = "released.json"


def manifest(problem_set: ProblemSet, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Version and SHA-256 of every file."""
    hashes = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
    return {"problem_set": problem_set.slug, "version": problem_set.assignment.version, "files": hashes}


def dump(document: Mapping[str, Any]) -> bytes:
    """JSON for people and programs."""
    return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"


def uncommitted(root: Path) -> list[str]:
    """Why the tree is not what git holds, each a sentence; empty if it is. The roster never is in git."""
    every_file = ["--", ":/", ":(exclude)roster.csv"]
    command = ["git", "-C", str(root), "status", "--porcelain", "--untracked-files=all", *every_file]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        return [f"{root} is not a git repository, so nobody could tell later what was released"]
    return [f"not committed: {line[3:]}" for line in answer.stdout.splitlines()]


def differences(problem_set: ProblemSet, files: Mapping[str, bytes]) -> list[str]:
    """How the problem set's folder differs from the one that is out, each a sentence; empty if nothing is out yet."""
    out = released(problem_set)
    if out is None:
        return []
    now = manifest(problem_set, files)["files"]
    before: dict[str, str] = out["files"]
    word = {(True, True): "changed", (True, False): "gone", (False, True): "new"}
    return [
        f"{word[name in before, name in now]} since {out['version']}: {name}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name) and name.startswith(f"{problem_set.slug}/")
    ]


def release_record(problem_set: ProblemSet, files: Mapping[str, bytes]) -> dict[str, Any]:
    """What the course keeps of a release: its manifest, and all lines of text that students received, in it or earlier."""
    slug, module = problem_set.slug, problem_set.assignment.module
    texts = [files[name].decode() for name in (f"{slug}/README.md", f"{slug}/{module}.py")]
    texts += ["".join(cell["source"]) for cell in json.loads(files[f"{slug}/{module}.ipynb"])["cells"]]
    lines = {line.strip() for text in texts for line in text.splitlines()} | shipped_lines(problem_set)
    return {**manifest(problem_set, files), "lines": sorted(lines - {""})}


def shipped_lines(problem_set: ProblemSet) -> frozenset[str]:
    """The lines of text in all releases so far, without the spaces around them."""
    return frozenset((released(problem_set) or {}).get("lines", ()))


def released(problem_set: ProblemSet) -> dict[str, Any] | None:
    """The record of what is out; `None` if the problem set was never released."""
    path = problem_set.folder / RELEASED
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def version_problems(course: Course, problem_set: ProblemSet, files: Mapping[str, bytes]) -> list[str]:
    """What is wrong with the version, each a sentence: students must be able to tell two releases apart."""
    version = problem_set.assignment.version
    out = released(problem_set)
    problems = []
    if out is not None:
        changed = differences(problem_set, files)
        if _numbers(version) < _numbers(out["version"]):
            problems.append(f"version {version} is older than {out['version']}, which is out")
        elif version == out["version"] and changed:
            problems += [*changed, f"raise `version` in {problem_set.folder / 'assignment.yml'}: {version} is out"]
    changelog = course.root / "CHANGELOG.md"
    entry = f"{problem_set.slug} {version}"
    if not changelog.exists() or f"handout: {entry}:" not in changelog.read_text(encoding="utf-8"):
        problems.append(f"{changelog} has no entry `- handout: {entry}: …` that says what changes for students")
    return problems


def solution_files(problem_set: ProblemSet) -> dict[str, bytes]:
    """The reference solution as students may read it after the last due date: a module without markers."""
    text = as_module(solution_blocks(problem_set))
    lines = [line for line in text.splitlines() if line.strip() not in (BEGIN, END)]
    name = f"{problem_set.slug}/{problem_set.assignment.module}_solution.py"
    return {name: ("\n".join(lines).rstrip() + "\n").encode()}


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
