"""A student's own run of one problem set: their work, how its public tests ended, and what is said of that."""

from __future__ import annotations

import textwrap
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.kit.folder import begun_forms, check_command, find_work, known_question, read_description, texts_of
from autograder.kit.headroom import Headroom
from autograder.kit.known_slips import likely_slips
from autograder.kit.next_step import State, is_open, next_step, state_of
from autograder.kit.portability import Grader, warnings_for
from autograder.kit.printed import PrintingRunner, shown
from autograder.kit.schedule import read_schedule
from autograder.runtime import loading
from autograder.runtime.causes import blame, broken_uses, grouped
from autograder.runtime.ledger import Ledger
from autograder.runtime.outcomes import Outcome, Status, all_undone
from autograder.testing.bench import Trial
from autograder.testing.errors import UNDONE, StudentError, problem_text
from autograder.testing.forms import form_problem, read_prediction
from autograder.testing.student import Call

WIDTH = 100  # characters of a line


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


class OwnRun:
    """The work in a problem set's folder, loaded: `work`, or else what is furthest, unless a namespace is given.

    `question` is the one that is asked about; without it, all.
    """

    def __init__(
        self,
        folder: Path,
        namespace: dict[str, Any] | None = None,
        question: str | None = None,
        *,
        work: Path | None = None,
    ) -> None:
        self.folder = folder
        self.description = read_description(folder)
        self.schedule = read_schedule(folder, self.description["slug"])
        self.question = question
        self.is_notebook = namespace is not None
        self.failures: list[str] = []  # why tests could not be run at all
        self.headroom = Headroom(self.description)
        report: loading.Report = {}
        if namespace is None:
            work = work or find_work(folder, self.description["module"])
            started = time.perf_counter()
            namespace, report = loading.load(str(work), work.read_bytes())
            self.headroom.loaded(time.perf_counter() - started)
            self.subject = work.name
            units = texts_of(work)
        else:
            self.subject = "this notebook"
            report = {"names": [name for name in namespace if not name.startswith("_")]}
            # What a notebook has run so far; the file may not be saved yet.
            units = [("", text) for text in namespace.get("In", []) if isinstance(text, str)]
        self.problems = [problem_text(problem) for problem in report.get("problems", [])]
        self._units = units
        self.owners = {name: question["id"] for question in self.description["questions"] for name in question["names"]}
        memory_mb = self.description.get("memory_mb")
        runner = PrintingRunner(namespace, report, asked=list(self.owners), memory_mb=memory_mb, headroom=self.headroom)
        self.trial = OwnTrial(runner)
        self.ledger = Ledger(self.description["ledger"])
        self.seed: int = self.description["seed"]

    @property
    def wanted(self) -> set[str]:
        """The questions whose tests are to run."""
        if self.question is None:
            return {question["id"] for question in self.description["questions"]}
        # What the question builds on is tested too: if that fails, it is to be fixed first. Carried functions have no tests.
        uses = known_question(self.description, self.question).get("uses", ())
        return {self.question, *(self.owners[name] for name in uses if name in self.owners)}

    @property
    def passed(self) -> bool:
        """Whether everything that was asked about has all the points that this run can give."""
        points = self.points()
        return not self.failures and all(
            points[question["id"]] >= question["public_points"] for question in self._questions()
        )

    def points(self) -> dict[str, float]:
        """The points that this run gives, by question."""
        return {
            question["id"]: sum(outcome.earned for outcome in self._outcomes(question)) for question in self._questions()
        }

    def _questions(self) -> list[dict[str, Any]]:
        return [question for question in self.description["questions"] if self.question in (None, question["id"])]

    def summary(self) -> list[str]:
        """Points per question, and why tests did not pass. Plain lines."""
        questions = self._questions()
        lines = [] if self.question else [f"{self.description['title']}: checking {self.subject}"]
        lines += [f"  {problem}" for problem in [*self.failures, *self.problems]]
        lines += [part for warning in self._warnings() for part in wrapped(f"  before you hand in: {warning}")]
        width = max((len(question["id"]) for question in questions), default=0)
        uses = {question["id"]: question.get("uses", ()) for question in self.description["questions"]}
        # What is not there yet may be asked for later in the lesson; a test that needs it says so itself.
        attempted = [outcome for outcome in self.trial.outcomes.values() if not (outcome.is_undone or outcome.missing)]
        broken = broken_uses(uses, self.owners, attempted)
        for question in questions:
            outcomes = self._outcomes(question)
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
        result = f"{sum(self.points().values()):g} of {public:g} points from this run"
        rest = f"{undecided:g} more {'depends' if undecided == 1 else 'depend'} on {judges}"
        said = [*([] if self.question else [result]), *([rest] if undecided else [])]
        lines += [f"{'; '.join(said)}."] if said else []
        return [*lines, *self._next()]

    def told(self, outcome: Outcome) -> str:
        """What a student reads of one test alone, where no other stands beside it."""
        return "\n".join(line.strip() for line in [*explain(outcome)[1:], *self._printed(outcome)])

    def _warnings(self) -> list[str]:
        """What would be otherwise, or could be, when the work is graded."""
        warnings = []
        if len(begun := begun_forms(self.folder, self.description)) > 1:
            names = " and ".join(path.name for path in begun)
            warnings.append(f"you have begun both {names}, and only one of them counts; this run checks {self.subject}. "
                            "When you hand in, say which: --form module, or --form notebook")  # fmt: skip
        if "modules" in self.description:  # not so in folders of earlier releases
            grader = Grader(*(self.description[key] for key in ("python", "packages", "modules")))
            warnings += warnings_for(self._units, self.folder, self.description["module"], grader)
        return [*warnings, *self.headroom.warnings()]

    def _next(self) -> list[str]:
        """What to do next, and by when."""
        states = {question["id"]: self._state(question) for question in self.description["questions"]}
        is_whole = self.question is None and not any(map(self._not_run, self.description["questions"]))
        check = "check" if self.is_notebook else check_command(self.folder)
        step = next_step(states, is_notebook=self.is_notebook, command=check, is_whole=is_whole)
        work = self.description["module"] + (".ipynb" if self.is_notebook else Path(self.subject).suffix)
        dates = self.schedule.sentences(work, datetime.now(UTC)) if self.schedule and self.question is None else ""
        return [part for line in (step, dates) for part in wrapped(line) if part]

    def _state(self, question: dict[str, Any]) -> State:
        outcomes = self._outcomes(question)
        if question["kind"] in ("choice", "written") or not outcomes:
            return State.OPEN if is_open(self.trial.runner.namespace, question["names"]) else State.PASSES
        return state_of(outcomes)

    def _outcomes(self, question: dict[str, Any]) -> list[Outcome]:
        """The outcomes of a question: of its public tests, or of committing to a prediction."""
        if question["kind"] == "prediction":
            [name] = question["names"]
            options = question["options"].get(name, ())
            outcome, _ = read_prediction(question["id"], name, options, question["points"], self.trial.runner)
            return [outcome]
        return [outcome for outcome in self.trial.outcomes.values() if outcome.question == question["id"]]

    def _not_run(self, question: dict[str, Any]) -> int:
        """How many public tests of a question did not run."""
        return len(set(question.get("tests", ())) - self.trial.outcomes.keys())

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
        if outcomes and (count := self._not_run(question)):
            told.append(f"{count} {'test' if count == 1 else 'tests'} not run")
        return "   ".join(told)

    @staticmethod
    def _has_nothing(outcomes: list[Outcome]) -> bool:
        """Whether there is nothing to test: stubs, or names that are not defined, for which nothing similar is."""
        absent = bool(outcomes) and all(outcome.missing and not outcome.similar for outcome in outcomes)
        return all_undone(outcomes) or absent

    def _reasons(self, outcomes: list[Outcome], known: list[dict[str, Any]]) -> list[str]:
        """Why tests did not pass: a likely slip, then each test; tests that say the same stand together."""
        calls = {outcome.test: self.trial.calls.get(outcome.test, []) for outcome in outcomes}
        slips = likely_slips(known, calls, outcomes)
        lines = [f"    likely slip: {hint}" for hint in slips.values()]
        for group in grouped((outcome for outcome in outcomes if outcome.status is not Status.PASSED), said_of):
            # A hint for every such test might contradict the slip.
            explained = any(slips.keys() & set(outcome.uses) for outcome in group)
            lines += [*explain(*group, hints=not explained), *self._printed(group[0])]
        return lines

    def _printed(self, outcome: Outcome) -> list[str]:
        """The lines about what the functions printed while a test ran."""
        printed = shown(self.trial.printed.get(outcome.test, ""))
        return [f"        {line}" for line in ("it printed:", *printed)] if printed else []

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
            return self.trial.runner.read(name)
        except StudentError:
            return None


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
