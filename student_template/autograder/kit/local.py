"""A student's own run: plain `pytest` in the problem set's folder, and what it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autograder.runtime import loading
from autograder.testing.bench import BLOCKED, FAULT, PASSED, Bench, Outcome, all_undone, is_undone
from autograder.testing.ledger import Ledger
from autograder.testing.student import UNDONE, LocalRunner, problem_text

DESCRIPTION = "problem_set.json"


def find_description(folder: Path) -> Path:
    """The `problem_set.json` of a folder; raises `FileNotFoundError` with what to do."""
    path = folder / DESCRIPTION
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing. Start pytest or the notebook inside the problem set's folder.")
    return path


def find_work(folder: Path, module: str) -> Path:
    """The form a student works in: of module and notebook, the one with fewer stubs left; the module if they tie."""
    forms = [path for path in (folder / f"{module}.py", folder / f"{module}.ipynb") if path.is_file()]
    if not forms:
        raise FileNotFoundError(f"neither {module}.py nor {module}.ipynb is in {folder}")
    return min(forms, key=lambda path: path.read_text(encoding="utf-8", errors="replace").count(UNDONE))


class LocalBench(Bench):
    """The bench of a student's own run. Loads the submission from `folder` unless a namespace is given."""

    def __init__(self, folder: Path, namespace: dict[str, Any] | None = None, question: str | None = None) -> None:
        self.description: dict[str, Any] = json.loads(find_description(folder).read_text(encoding="utf-8"))
        self.question = question
        report: loading.Report = {}
        if namespace is None:
            work = find_work(folder, self.description["module"])
            namespace, report = loading.load(work.name, work.read_bytes())
            self.subject = work.name
        else:
            self.subject = "this notebook"
            report = {"names": [name for name in namespace if not name.startswith("_")]}
        self.problems = [problem_text(problem) for problem in report.get("problems", [])]
        asked = [name for question in self.description["questions"] for name in question["names"]]
        runner = LocalRunner(namespace, report, asked=asked)
        super().__init__(Ledger(self.description["ledger"]), self.description["seed"], runner)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.question is not None:
            items[:] = [item for item in items if item.get_closest_marker("graded").args[0].question == self.question]  # type: ignore[union-attr]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.write_line("")
        for line in self.summary():
            terminalreporter.write_line(line)

    def summary(self) -> list[str]:
        """Points a question, and for each test that did not pass, why. Plain lines."""
        questions = [
            question
            for question in self.description["questions"]
            if self.question in (None, question["id"]) and question["public_points"] > 0
        ]
        lines = [] if self.question else [f"{self.description['title']}: checking {self.subject}"]
        lines += [f"  {problem}" for problem in self.problems]
        width = max((len(question["id"]) for question in questions), default=0)
        earned_in_all = 0.0
        for question in questions:
            outcomes = [outcome for outcome in self.outcomes.values() if outcome.question == question["id"]]
            earned = sum(outcome.earned for outcome in outcomes)
            earned_in_all += earned
            undone = all_undone(outcomes)
            remark = f"   {UNDONE}" if undone else ""
            lines.append(f"  {question['id']:<{width}}  {earned:g} of {question['public_points']:g} points{remark}")
            if not undone:
                lines += [line for outcome in outcomes for line in explain(outcome)]
        if self.question is None:
            public = sum(question["public_points"] for question in questions)
            rest = sum(question["points"] for question in self.description["questions"]) - public
            lines.append(
                f"{earned_in_all:g} of {public:g} points from these public tests; {rest:g} more are given after you hand in."
            )
        return lines


def explain(outcome: Outcome) -> list[str]:
    """The lines a student reads about a test that did not pass."""
    if outcome.status == PASSED:
        return []
    word = {BLOCKED: "-", FAULT: "!"}.get(outcome.status, "x")
    lines = [f"    {word} {outcome.title}"]
    said = outcome.safe if outcome.hidden else outcome.message
    lines += [f"        {line}" for line in said.splitlines()[:12]]
    if outcome.status == FAULT:
        lines.append("        This is a fault of the test, not of your work. Please tell your instructor.")
    elif outcome.hint and outcome.status != BLOCKED and not is_undone(outcome):
        lines.append(f"        hint: {outcome.hint}")
    return lines
