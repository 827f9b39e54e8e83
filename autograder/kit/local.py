"""A student's own run: plain `pytest` in the problem set's folder, and what it prints."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import textwrap
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from autograder.kit.known_slips import likely_slips
from autograder.kit.next_step import State, is_open, next_step, state_of
from autograder.kit.portability import Grader, warnings_for
from autograder.kit.printed import PrintingRunner, shown
from autograder.kit.schedule import read_schedule
from autograder.runtime import loading
from autograder.testing.bench import Bench, Outcome, Status, Trial, all_undone
from autograder.testing.causes import blame, broken_uses, grouped
from autograder.testing.errors import UNDONE, StudentError, problem_text
from autograder.testing.forms import form_problem, read_prediction
from autograder.testing.ledger import Ledger
from autograder.testing.marks import graded_mark
from autograder.testing.student import Call

DESCRIPTION = "problem_set.json"
_NO_PLUGINS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
WIDTH = 100  # characters of a line


def find_description(folder: Path) -> Path:
    """The `problem_set.json` of a folder; raises `FileNotFoundError` with what to do."""
    path = folder / DESCRIPTION
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing. Start pytest or the notebook inside the problem set's folder.")
    return path


def read_description(folder: Path) -> dict[str, Any]:
    """What a problem set's folder says of it."""
    description: dict[str, Any] = json.loads(find_description(folder).read_text(encoding="utf-8"))
    return description


def known_question(description: dict[str, Any], name: str) -> dict[str, Any]:
    """The question of that name; raises `ValueError` with those there are."""
    questions = {question["id"]: question for question in description["questions"]}
    if name not in questions:
        raise ValueError(f"there is no question {name!r}; there are {', '.join(questions)}")
    found: dict[str, Any] = questions[name]
    return found


def hint_text(description: dict[str, Any], name: str, number: int) -> str:
    """One of a question's hints, from 1. Raises `ValueError` if there is none of that number."""
    hints = known_question(description, name)["hints"]
    if not 1 <= number <= len(hints):
        there = f"there are hints 1 to {len(hints)}" if hints else "it has none"
        raise ValueError(f"there is no hint {number} for {name}; {there}")
    return f"Hint {number} of {len(hints)}: {hints[number - 1]}"


def find_work(folder: Path, module: str) -> Path:
    """The form a student works in: of module and notebook, the one with fewer stubs left; the module if they tie."""
    forms = [path for path in (folder / f"{module}.py", folder / f"{module}.ipynb") if path.is_file()]
    if not forms:
        raise FileNotFoundError(f"neither {module}.py nor {module}.ipynb is in {folder}")
    return min(forms, key=lambda path: path.read_text(encoding="utf-8", errors="replace").count(UNDONE))


def texts_of(work: Path) -> list[tuple[str, str]]:
    """The Python texts of a module or a notebook, each with the name of its cell; none if it cannot be read."""
    source = work.read_bytes()
    if work.suffix == ".py":
        return [("", source.decode("utf-8", "replace"))]
    try:
        return loading.code_cells(source)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []  # loading it says what is wrong


@dataclass
class OwnTrial(Trial):
    """The trial of a student's own run, with what each test asked, and what the calls printed."""

    runner: PrintingRunner
    calls: dict[str, list[Call]] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)

    def end(self, outcome: Outcome) -> None:
        super().end(outcome)
        self.printed[outcome.test] = self.runner.take_printed()
        if self.student is not None:
            self.calls[outcome.test] = self.student.calls


class LocalBench(Bench):
    """The bench of a student's own run. Loads `work`, or else what is furthest in `folder`, unless a namespace is given."""

    def __init__(
        self,
        folder: Path,
        namespace: dict[str, Any] | None = None,
        question: str | None = None,
        *,
        work: Path | None = None,
    ) -> None:
        self.description = read_description(folder)
        self.schedule = read_schedule(folder, self.description["slug"])
        self.question = question
        self.is_notebook = namespace is not None
        report: loading.Report = {}
        if namespace is None:
            work = work or find_work(folder, self.description["module"])
            namespace, report = loading.load(str(work), work.read_bytes())
            self.subject = work.name
            units = texts_of(work)
        else:
            self.subject = "this notebook"
            report = {"names": [name for name in namespace if not name.startswith("_")]}
            # What a notebook has run so far; the file may not be saved yet.
            units = [("", text) for text in namespace.get("In", []) if isinstance(text, str)]
        self.problems = [problem_text(problem) for problem in report.get("problems", [])]
        self.warnings: list[str] = []
        if "modules" in self.description:  # not so in folders of earlier releases
            grader = Grader(*(self.description[key] for key in ("python", "packages", "modules")))
            self.warnings = warnings_for(units, folder, self.description["module"], grader)
        self.owners = {name: question["id"] for question in self.description["questions"] for name in question["names"]}
        memory_mb = self.description.get("memory_mb")
        self.own = OwnTrial(PrintingRunner(namespace, report, asked=list(self.owners), memory_mb=memory_mb))
        super().__init__(Ledger(self.description["ledger"]), self.description["seed"], self.own)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.question is not None:
            # What the question builds on is tested too: if that fails, it is to be fixed first.
            uses = known_question(self.description, self.question).get("uses", ())
            wanted = {self.question, *(self.owners[name] for name in uses)}
            items[:] = [item for item in items if (mark := graded_mark(item)) and mark.question in wanted]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.write_line("")
        for line in self.summary():
            terminalreporter.write_line(line)

    def summary(self) -> list[str]:
        """Points a question, and for the tests that did not pass, why. Plain lines."""
        questions = [question for question in self.description["questions"] if self.question in (None, question["id"])]
        lines = [] if self.question else [f"{self.description['title']}: checking {self.subject}"]
        lines += [f"  {problem}" for problem in self.problems]
        lines += [f"  before you hand in: {warning}" for warning in self.warnings]
        width = max((len(question["id"]) for question in questions), default=0)
        uses = {question["id"]: question.get("uses", ()) for question in self.description["questions"]}
        # What is not there yet may be asked for later in the lesson; a test that needs it says so itself.
        attempted = [outcome for outcome in self.own.outcomes.values() if not (outcome.is_undone or outcome.missing)]
        broken = broken_uses(uses, self.owners, attempted)
        earned = 0.0
        for question in questions:
            outcomes = self._outcomes(question)
            earned += sum(outcome.earned for outcome in outcomes)
            lines.append(f"  {question['id']:<{width}}  {self._standing(question, outcomes)}")
            if not self._has_nothing(outcomes):
                first = broken.get(question["id"], [])
                # Where another function is wrong too, nobody knows whose mistake an answer shows.
                known = [] if first else question.get("slips", [])
                reasons = [*([f"    {blame(first)}"] if first else []), *self._reasons(outcomes, known)]
                lines += [part for reason in reasons for part in wrapped(reason)]
        public = sum(question["public_points"] for question in questions)
        undecided = sum(question["points"] for question in questions) - public
        kinds = {question["kind"] for question in questions}
        judges = " and ".join(["hidden tests"] * (kinds != {"written"}) + ["a reader"] * ("written" in kinds))
        result = f"{earned:g} of {public:g} points from this run"
        rest = f"{undecided:g} more {'depends' if undecided == 1 else 'depend'} on {judges}"
        said = [*([] if self.question else [result]), *([rest] if undecided else [])]
        lines += [f"{'; '.join(said)}."] if said else []
        return [*lines, *self._next()]

    def _next(self) -> list[str]:
        """What to do next, and by when."""
        states = {question["id"]: self._state(question) for question in self.description["questions"]}
        step = next_step(states, is_notebook=self.is_notebook, slug=self.description["slug"], only=self.question)
        work = self.description["module"] + (".ipynb" if self.is_notebook else Path(self.subject).suffix)
        dates = self.schedule.sentences(work, datetime.now(UTC)) if self.schedule and self.question is None else ""
        return [part for line in (step, dates) for part in wrapped(line) if part]

    def _state(self, question: dict[str, Any]) -> State:
        outcomes = self._outcomes(question)
        if question["kind"] in ("choice", "written") or not outcomes:
            return State.OPEN if is_open(self.own.runner.namespace, question["names"]) else State.PASSES
        return state_of(outcomes)

    def _outcomes(self, question: dict[str, Any]) -> list[Outcome]:
        """The outcomes of a question: of its public tests, or of committing to a prediction."""
        if question["kind"] == "prediction":
            [name] = question["names"]
            options = question["options"].get(name, ())
            outcome, _ = read_prediction(question["id"], name, options, question["points"], self.own.runner)
            return [outcome]
        return [outcome for outcome in self.own.outcomes.values() if outcome.question == question["id"]]

    def _standing(self, question: dict[str, Any], outcomes: list[Outcome]) -> str:
        """What stands beside a question's name: its points, and the form of an answer that is a variable."""
        earned = sum(outcome.earned for outcome in outcomes)
        told = [f"{earned:g} of {question['public_points']:g} points"] if outcomes else []
        if question["kind"] in ("choice", "written"):
            told.append(self._form(question))
        elif all_undone(outcomes):
            told.append(UNDONE)
        elif self._has_nothing(outcomes):
            missing = dict.fromkeys(outcome.missing for outcome in outcomes)
            told.append(f"not defined: {', '.join(f'`{name}`' for name in missing)}")
        elif not outcomes:
            told.append("not run" if question["public_points"] else "no public tests")
        return "   ".join(told)

    @staticmethod
    def _has_nothing(outcomes: list[Outcome]) -> bool:
        """Whether there is nothing to test: stubs, or names that are not defined, for which nothing similar is."""
        absent = bool(outcomes) and all(outcome.missing and not outcome.similar for outcome in outcomes)
        return all_undone(outcomes) or absent

    def _reasons(self, outcomes: list[Outcome], known: list[dict[str, Any]]) -> list[str]:
        """Why tests did not pass: a likely slip, then each test; tests that say the same stand together."""
        calls = {outcome.test: self.own.calls.get(outcome.test, []) for outcome in outcomes}
        slips = likely_slips(known, calls, outcomes)
        lines = [f"    likely slip: {hint}" for hint in slips.values()]
        for group in grouped((outcome for outcome in outcomes if outcome.status is not Status.PASSED), said_of):
            # A hint for every such test might contradict the slip.
            explained = any(slips.keys() & set(outcome.uses) for outcome in group)
            lines += explain(*group, hints=not explained)
            if printed := shown(self.own.printed.get(group[0].test, "")):
                lines += [f"        {line}" for line in ("it printed:", *printed)]
        return lines

    def _form(self, question: dict[str, Any]) -> str:
        """Whether the answers of a choice, or a text, are there and of the right form; never whether they are true."""
        answers = {name: self._read(name) for name in question["names"]}
        given = {name: value for name, value in answers.items() if value is not None}
        if question["kind"] == "written":
            [answer] = answers.values()
            if answer is None or answer == "":
                return "no answer yet"
            if not isinstance(answer, str):
                return "the answer must be a text"
            return f"an answer of {len(answer.split())} words, which a person will read"
        problems = [
            problem
            for name, value in given.items()
            if question["options"].get(name) and (problem := form_problem(name, value, question["options"][name]))
        ]
        return "; ".join([f"{len(given)} of {len(answers)} answered", *problems])

    def _read(self, name: str) -> Any:
        """A variable of the submission; `None` if it cannot be read."""
        try:
            return self.own.runner.read(name)
        except StudentError:
            return None


def run_public_tests(folder: Path, bench: LocalBench) -> int:
    """Run the public tests in `folder` quietly, for `bench` to count; returns pytest's exit status."""
    # Other packages' plugins take longer to load than the tests to run.
    autoload = os.environ.get(_NO_PLUGINS)
    os.environ[_NO_PLUGINS] = "1"
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return _run(folder, bench)
    finally:
        del os.environ[_NO_PLUGINS]
        if autoload is not None:
            os.environ[_NO_PLUGINS] = autoload


def _run(folder: Path, bench: LocalBench) -> int:
    tests = folder / "test_public.py"
    # pytest would take a module of this name that is there from another problem set or an older edition.
    sys.modules.pop(tests.stem, None)
    try:
        return int(
            pytest.main(
                [str(tests), "-q", "--no-header", "--tb=no", "-rN", "-p", "no:cacheprovider",
                 "--import-mode=importlib", "--capture=no", f"--rootdir={folder}", "-p", "no:conftest", "--noconftest"],
                plugins=[bench],
            )
        )  # fmt: skip
    finally:
        sys.modules.pop(tests.stem, None)


def wrapped(line: str) -> list[str]:
    """A line as lines that a notebook shows whole, as far indented as it is."""
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [line]


def said_of(outcome: Outcome) -> str:
    """What a student reads of how a test ended."""
    return outcome.safe if outcome.hidden else outcome.message


def explain(*outcomes: Outcome, hints: bool = True) -> list[str]:
    """The lines a student reads about tests that did not pass and say the same."""
    first = outcomes[0]
    if first.status is Status.PASSED:
        return []
    word = {Status.BLOCKED: "-", Status.FAULT: "!"}.get(first.status, "x")
    lines = [f"    {word} {outcome.title}" for outcome in outcomes]
    lines += [f"        {line}" for line in said_of(first).splitlines()[:12]]
    if first.status is Status.FAULT:
        lines.append("        This is a fault of the test, not of your work. Please tell your instructor.")
    elif hints and len(outcomes) == 1 and first.hint and first.status is not Status.BLOCKED and not first.is_undone:
        lines.append(f"        hint: {first.hint}")
    return lines
