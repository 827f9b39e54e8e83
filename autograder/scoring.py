"""From what was found out about a submission to its record: points, and what a person should look at."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from autograder import __version__, figure_record
from autograder.assignment import Question
from autograder.course import ProblemSet
from autograder.essays import Essay
from autograder.intake import Submission
from autograder.record import Look, Provenance, QuestionScore, Reason, Record, Slip, Verdict, message_room
from autograder.runtime.figures import FigureView
from autograder.runtime.loading import IGNORED, Report
from autograder.runtime.outcomes import Cause, Outcome, Status, all_undone
from autograder.testing.errors import problem_text
from autograder.text import bounded, one_line
from autograder.variants import Variant


@dataclass(frozen=True)
class Findings:
    """What was found out about a submission.

    `slips` are by test; `essays`, the answers to written questions, `predictions` and `figures` are by question.
    `problems` are errors while it was loaded. `output` is what it printed before it had seen a hidden test's inputs,
    `staff_output` what came after. `peak_memory` is the most that it held at once, in bytes, the interpreter's included; 0
    if it is not known.
    """

    outcomes: Sequence[Outcome] = ()
    slips: Mapping[str, Variant] = field(default_factory=dict)
    essays: Mapping[str, Essay] = field(default_factory=dict)
    predictions: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, FigureView] = field(default_factory=dict)
    problems: Sequence[Report] = ()
    output: str = ""
    staff_output: str = ""
    peak_memory: int = 0


def provenance(
    problem_set: ProblemSet, submission: Submission, *, suite: str, started: datetime.datetime, backend: str = ""
) -> Provenance:
    """What is graded, by which tests (`suite` is their hash), with what."""
    return Provenance(
        student=submission.student,
        problem_set=problem_set.slug,
        version=problem_set.assignment.version,
        filename=submission.filename,
        submission=submission.sha256,
        suite=suite,
        engine=__version__,
        started=started.astimezone(datetime.UTC).isoformat(timespec="seconds"),
        python=platform.python_version(),
        numpy=np.__version__,
        backend=backend,
        hidden_key=problem_set.key.fingerprint,
    )


def record(
    problem_set: ProblemSet, provenance: Provenance, findings: Findings, *, fault: str = "", seconds: float = 0.0
) -> Record:
    """The record of a grading. `fault` is empty unless the grader itself failed, and is then what it failed at."""
    outcomes = findings.outcomes
    if not fault:
        faulty = [outcome for outcome in outcomes if outcome.status is Status.FAULT]
        fault = "\n".join(f"{outcome.test}: {outcome.message}" for outcome in faulty)
    errors = [problem_text(problem) for problem in findings.problems if problem["type"] != IGNORED]
    room = message_room(len(outcomes))
    return Record(
        provenance=provenance,
        questions=tuple(_question_score(question, findings) for question in problem_set.assignment.questions),
        verdicts=tuple(_verdict(outcome, findings.slips.get(outcome.test), room) for outcome in outcomes),
        fault=fault,
        look=tuple(_look(findings, errors, fault)),
        problems=tuple(problem_text(problem) for problem in findings.problems),
        output=findings.output,
        staff_output=findings.staff_output,
        figures={question: figure_record.to_json(view) for question, view in findings.figures.items()},
        seconds=round(seconds, 3),
        peak_memory=findings.peak_memory,
    )


def _question_score(question: Question, findings: Findings) -> QuestionScore:
    own = [outcome for outcome in findings.outcomes if outcome.question == question.id]
    essay = findings.essays.get(question.id, Essay())
    slips = [findings.slips[outcome.test] for outcome in own if outcome.test in findings.slips]
    return QuestionScore(
        id=question.id,
        title=question.title,
        kind=question.kind,
        score=sum(outcome.earned for outcome in own),
        points=question.points,
        undone=not essay.text.strip() if question.kind == "written" else _is_undone(own),
        answer=findings.predictions.get(question.id, essay.text),
        place=essay.place,
        slips=tuple(Slip(name, hint) for name, hint in {slip.name: slip.hint for slip in slips}.items()),
    )


def _is_undone(outcomes: Sequence[Outcome]) -> bool:
    """Whether a question has not been begun. What earns by follow-through has, though it met another question's stub."""
    return all_undone(outcomes) and not any(outcome.credit for outcome in outcomes)


def _verdict(outcome: Outcome, slip: Variant | None, room: int) -> Verdict:
    told = outcome.status in (Status.FAILED, Status.BLOCKED) and not outcome.is_undone
    return Verdict(
        test=outcome.test,
        question=outcome.question,
        title=outcome.title,
        hidden=outcome.hidden,
        status=outcome.status,
        points=outcome.points,
        message=bounded(outcome.message, room),
        safe=bounded(outcome.safe, room),
        # A slip is more specific, and the test's own hint may contradict it.
        hint=outcome.hint if told and not slip else "",
        slip=slip.name if slip else "",
        seconds=outcome.seconds,
        uses=outcome.uses,
        fix_first=outcome.fix_first,
        follow_through=outcome.follow_through,
        credit=outcome.credit,
    )


def _look(findings: Findings, errors: Sequence[str], fault: str) -> list[Look]:
    """Why a person should look, the most serious first; each reason once."""
    looks = [Look(Reason.FAULT, fault.strip().splitlines()[-1])] if fault else []
    looks += [
        Look(Reason.MISPLACED, f"{question}: the text was found in {essay.place}")
        for question, essay in findings.essays.items()
        if essay.place
    ]
    looks += [Look(Reason.PROBLEM, error.partition("\n")[0]) for error in errors[:2]]
    failed = [outcome for outcome in findings.outcomes if outcome.status is Status.FAILED]
    stopped = [outcome for outcome in failed if outcome.cause is Cause.STOPPED]
    missing = {outcome.missing: outcome for outcome in failed if outcome.cause is Cause.UNDEFINED}
    renamed = [outcome for outcome in missing.values() if outcome.similar]
    looks += [Look(Reason.STOPPED, one_line(outcome.message, 500)) for outcome in stopped]
    looks += [Look(Reason.RENAMED, one_line(outcome.message, 500)) for outcome in renamed[:2]]
    # Of a file that could not be run at all, the error says it: that nothing is defined follows.
    if not errors or any(outcome.cause is not Cause.UNDEFINED for outcome in failed) or len(failed) < len(findings.outcomes):
        looks += [Look(Reason.UNDEFINED, name) for name, outcome in missing.items() if not outcome.similar]
    return list(dict.fromkeys(looks))
