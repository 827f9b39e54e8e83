"""Plain `pytest` in a student's folder, with several problem sets in it, and as an editor's test view calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.template import problem_set_files, template_files, write
from autograder.course import load_course
from autograder.kit.command import main

ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
SLIP = """

def scaled_scores(queries, keys):
    print("asked with", queries.shape)
    return queries @ np.swapaxes(keys, -1, -2) / queries.shape[-1]
"""
# As VS Code's own plugin does: it takes places at collection, and outcomes with their texts afterwards.
EDITOR = """
import json, os

def pytest_collection_finish(session):
    found = [(item.nodeid, str(item.path), item.location[1]) for item in session.items]
    open(os.environ["EDITOR_PIPE"], "a").write(json.dumps({"collected": found}) + "\\n")

def pytest_report_teststatus(report, config):
    if report.when == "call" or report.outcome != "passed":
        told = {"test": report.nodeid, "outcome": report.outcome, "text": report.longreprtext}
        open(os.environ["EDITOR_PIPE"], "a").write(json.dumps(told) + "\\n")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student's folder: ps1 with one slip, ps2 whole, and ps3 not begun."""
    folder = tmp_path_factory.mktemp("a student") / "my course"
    write(template_files(COURSE), folder)
    for slug in ("ps1", "ps2", "ps3"):
        problem_set = COURSE.problem_set(slug)
        write(problem_set_files(COURSE, problem_set), folder)
        if slug != "ps3":
            solution = problem_set.solution.read_text(encoding="utf-8")
            (folder / slug / f"{slug}.py").write_text(solution + SLIP * (slug == "ps1"), encoding="utf-8")
    # An update keeps what it changed, tests included.
    backup = folder / "backup-0.1" / "ps1"
    backup.mkdir(parents=True)
    (backup / "test_public.py").write_text("def test_old(): assert False\n")
    return folder


def run(folder: Path, *arguments: object) -> tuple[str, list[dict[str, Any]]]:
    """What `pytest` prints when it is started in a folder, and what the editor's plugin was told."""
    plugins = folder / "editor"
    plugins.mkdir(exist_ok=True)
    (plugins / "vscode_pytest.py").write_text(EDITOR)
    pipe = plugins / "pipe"
    pipe.write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "vscode_pytest", *map(str, arguments)],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "PYTHONPATH": str(plugins), "EDITOR_PIPE": str(pipe)},
    )  # fmt: skip
    return done.stdout + done.stderr, [json.loads(line) for line in pipe.read_text().splitlines()]


def test_all_problem_sets_at_once_say_what_check_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said, ((collected), *reports) = run(folder, f"--rootdir={folder}")
    monkeypatch.chdir(folder)
    for slug, status in (("ps1", 1), ("ps2", 0)):
        assert main([slug]) == status
        assert capsys.readouterr().out in said
    assert f"{COURSE.problem_set('ps3').assignment.title}: not begun (ps3)" in said
    places = {path for _, path, _ in collected["collected"]}
    assert places == {str(folder / slug / "test_public.py") for slug in ("ps1", "ps2", "ps3")}
    outcomes = {report["test"]: report["outcome"] for report in reports}
    assert len(outcomes) == len(collected["collected"])
    assert {outcome for test, outcome in outcomes.items() if test.startswith("ps2/")} == {"passed"}
    # What stands beside a test in the editor: the difference, the hint and what was printed.
    text = next(report["text"] for report in reports if report["test"].endswith("::test_scores_of_a_batch"))
    assert "but is" in text
    assert "hint: " in text
    assert "| asked with (" in text


def test_tests_that_did_not_run_are_said_not_to_have_run(folder: Path) -> None:
    inside = folder / "ps1"
    listed, ((collected),) = run(inside, "--collect-only", f"--rootdir={folder}")
    assert " points" not in listed, "nothing was run"
    test = next(name for name, _, _ in collected["collected"] if "softmax" in name)
    said, (_, report) = run(inside, folder / test)
    assert report["outcome"] == "passed"
    lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in said.splitlines() if line.startswith("  ")}
    count = sum("test_softmax" in name for name, _, _ in collected["collected"])
    assert lines["softmax"].endswith(f"   {count - 1} test{'s' * (count > 2)} not run")
    assert lines["mix"] == "not run"
    assert lines["reading"] == "4 of 4 answered"
    assert "python ../check.py ps1 tests all questions." in said
