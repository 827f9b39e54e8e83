"""What README and the guides say is so: their commands run, their links lead somewhere, and their tables are complete."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import variants
from autograder.course import load_course
from autograder.limits import Limits
from autograder.suite import import_file
from tests.support.guides import first_column

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
# Three examples are enough to try commands on: a right answer, one with mistakes, and one that needs a look.
EXAMPLES = ("s001.py", "s003", "s008.py")
RUNNABLE = re.compile(r"<!-- runnable -->\n+((?:    .*\n|\n(?=    ))+)")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[list[str]]:
    """The commands of a page's blocks that are marked as runnable, without their remarks."""
    matches = RUNNABLE.findall(page.read_text(encoding="utf-8"))
    return [[re.sub(r"\s+# .*", "", line).strip() for line in block.splitlines() if line.strip()] for block in matches]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in git, with three examples and this environment as its .venv."""
    root = tmp_path_factory.mktemp("docs") / "course"
    left_out = shutil.ignore_patterns(".*_cache", "__pycache__", ".git", ".venv", "results", "dist", ".hypothesis", "tests")
    shutil.copytree(ROOT, root, ignore=left_out)
    for path in (root / "examples/submissions/ps1").iterdir():
        if path.name not in EXAMPLES:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (root / ".venv").symlink_to(sys.prefix)
    for command in (
        ["git", "init", "-q"],
        ["git", "config", "user.email", "nobody@example.org"],
        ["git", "config", "user.name", "Nobody"],
        ["git", "add", "--all"],
        ["git", "commit", "-qm", "course"],
    ):
        subprocess.run(command, cwd=root, check=True)
    return root


@pytest.fixture(scope="module")
def ran(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, subprocess.CompletedProcess[str]]:
    """What came of each command that a page marks as runnable, run in the pages' order."""
    home = tmp_path_factory.mktemp("home")
    environment = {**os.environ, "HOME": str(home), "PATH": f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}"}
    ended: dict[str, subprocess.CompletedProcess[str]] = {}
    for block in [block for page in PAGES for block in blocks(page)]:
        # Each block begins in the repository, whatever folder the one before it went to.
        folder = checkout
        for line in block:
            if line.startswith("cd "):
                folder = folder / line.removeprefix("cd ")
                continue
            ended[line] = subprocess.run(
                ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
            )
    return ended


@pytest.mark.slow
def test_commands_that_are_marked_as_runnable_run(ran: dict[str, subprocess.CompletedProcess[str]]) -> None:
    assert len(ran) > 10
    for line, done in ran.items():
        # 1 is "ran, and something needs you".
        assert done.returncode in (0, 1), f"{line}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stdout + done.stderr, f"{line}\n{done.stdout}\n{done.stderr}"


@pytest.mark.slow
def test_a_new_problem_set_passes_the_gate_as_it_stands(ran: dict[str, subprocess.CompletedProcess[str]]) -> None:
    made = ran[".venv/bin/course new ps7_sparse_attention"]
    assert made.returncode == 0, made.stderr
    assert "edit  assignments/ps7_sparse_attention/handout.md" in made.stdout
    answer = ran[".venv/bin/course validate ps7"]
    assert answer.returncode == 0, answer.stdout + answer.stderr
    header, *rows = (line.split("\t") for line in answer.stdout.splitlines() if "\t" in line)
    assert header[:2] == ["check", "verdict"]
    # What surrounds the questions of a new problem set is for its author to write, which the gate recalls.
    assert {check for check, verdict, *_ in rows if verdict != "good"} <= {
        "the teaching frame is declared",
        "public tests catch frequent mistakes",
    }
    # The guide lists the checks of the gate, in their order.
    assert first_column("docs/authoring.md", "## The gate") == [name for name, *_ in rows]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), target


def test_the_readme_maps_every_module_of_the_engine() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "autograder").iterdir()):
        if path.suffix == ".py" or (path / "__init__.py").is_file():
            name = path.name if path.is_file() else f"{path.name}/"
            assert name.startswith("__") or f"`{name}`" in text, f"README.md does not say what autograder/{name} does"


@pytest.mark.parametrize("slug", ["ps1", "ps2", "ps3"])
def test_the_table_of_promises_holds_every_mutant_once(slug: str) -> None:
    problem_set = load_course(ROOT).problem_set(slug)
    code = {question.id for question in problem_set.assignment.questions if question.kind == "code"}
    declared = variants.declared_in(import_file(problem_set.folder / "mutants.py"))
    page = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    [section] = re.findall(rf"^## Problem set {slug[2:]}$(.*?)(?=^## )", page, re.MULTILINE | re.DOTALL)
    listed, question = [], ""
    for first, mutants in re.findall(r"^\| (\w*) ?\|.*\| (`.*`) \|$", section, re.MULTILINE):
        question = first or question
        listed += [(question, name) for name in re.findall(r"`(\w+)`", mutants)]
    assert sorted(listed) == sorted((mutant.question, mutant.name) for mutant in declared if mutant.question in code)


def test_the_guide_lists_every_limit_with_its_default() -> None:
    text = (ROOT / "docs/grading.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+)", text, re.MULTILINE)
    assert {name: float(value) for name, value in rows} == {
        name: float(value) for name, value in Limits().model_dump().items()
    }


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_files_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(
        r"`((?:autograder|tests|benchmarks|assignments|solutions|docs|student_template|examples)/[\w./]*)`", text
    )
    missing = [name for name in named if not (ROOT / name).exists()]
    assert not missing
