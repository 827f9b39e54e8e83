"""From outcomes to a record: points, what the student may read of each test, and what a person should look at."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from autograder import figure_record
from autograder.course import ProblemSet
from autograder.journal import Record
from autograder.runtime.figures import FigureView
from autograder.runtime.loading import IGNORED, Report
from autograder.testing.bench import FAILED, FAULT, PASSED, Outcome, all_undone, is_undone
from autograder.testing.student import problem_text
from autograder.variants import Variant


def record(
    problem_set: ProblemSet,
    outcomes: Sequence[Outcome],
    *,
    slips: Mapping[str, Variant],
    answers: Mapping[str, str],
    figures: Mapping[str, FigureView],
    report: Report,
    output: str,
    staff_output: str,
    fault: str,
    peak_memory: int,
    provenance: Mapping[str, Any],
    started: float,
    seconds: float,
) -> Record:
    """The journal's record of one grading. `fault` is empty unless the grader itself failed: then its score means nothing.

    `output` is what the submission printed before it had seen a hidden test's inputs, `staff_output` what came after;
    `figures` it drew for public tests, by question. `peak_memory` is the most that it held at once, in bytes, the
    interpreter's included; 0 if nobody knows.
    """
    faulty = [outcome for outcome in outcomes if outcome.status == FAULT]
    if faulty and not fault:
        fault = "\n".join(f"{outcome.test}: {outcome.message}" for outcome in faulty)
    questions = [_question(problem_set, question.id, outcomes, answers) for question in problem_set.assignment.questions]
    return {
        "score": sum(question["score"] for question in questions),
        "execution_time": round(seconds, 3),
        "output": output,
        "tests": [_test(outcome, slips.get(outcome.test)) for outcome in outcomes],
        "extra_data": {
            "questions": questions,
            "figures": {question: figure_record.to_json(view) for question, view in figures.items()},
            "staff_output": staff_output,
            "problems": [problem_text(problem) for problem in report["problems"]],
            "look": _look(outcomes, report, fault),
            "peak_memory": peak_memory,
            "provenance": {
                **provenance,
                "fault": fault,
                "started": datetime.datetime.fromtimestamp(started, datetime.UTC).isoformat(timespec="seconds"),
            },
        },
    }


def _question(problem_set: ProblemSet, name: str, outcomes: Sequence[Outcome], answers: Mapping[str, str]) -> dict[str, Any]:
    question = problem_set.question(name)
    own = [outcome for outcome in outcomes if outcome.question == name]
    entry: dict[str, Any] = {
        "id": name,
        "title": question.title,
        "kind": question.kind,
        "score": sum(outcome.earned for outcome in own),
        "max_score": question.points,
        "undone": all_undone(own),
    }
    if question.kind == "written":
        entry["answer"] = answers.get(name, "")
        entry["undone"] = not entry["answer"].strip()
    return entry


def _test(outcome: Outcome, slip: Variant | None) -> dict[str, Any]:
    """One entry of Gradescope's `tests`. Its `output` is the student's to read; `extra_data` is for staff only."""
    lines: list[str] = []
    if outcome.status == FAULT:
        lines.append("This test could not be run: a fault of the grader, not of your work.")
    elif outcome.status != PASSED:
        said = outcome.safe if outcome.hidden else outcome.message
        if said:
            lines.append(said)
        if slip is not None:
            lines.append(f"Likely slip: {slip.hint}")
        if outcome.hint and not is_undone(outcome):
            lines.append(f"Hint: {outcome.hint}")
    return {
        "name": f"{outcome.question}: {outcome.title}",
        "score": outcome.earned,
        "max_score": outcome.points,
        "status": "passed" if outcome.status == PASSED else "failed",
        "output": "\n".join(lines),
        "visibility": "visible",
        "tags": [outcome.question],
        "extra_data": {
            "test": outcome.test,
            "question": outcome.question,
            "hidden": outcome.hidden,
            "outcome": outcome.status,
            "message": outcome.message,
            "slip": slip.name if slip else "",
            "seconds": outcome.seconds,
            "uses": list(outcome.uses),
        },
    }


def _look(outcomes: Sequence[Outcome], report: Report, fault: str) -> list[str]:
    """What a TA should look at, most serious first; short sentences."""
    look = [f"grader fault: {fault.strip().splitlines()[-1]}"] if fault else []
    errors = [problem for problem in report["problems"] if problem["type"] != IGNORED]
    look += [problem_text(problem).partition("\n")[0] for problem in errors[:2]]
    firsts = [outcome.message.partition("\n")[0] for outcome in outcomes if outcome.status == FAILED]
    look += [first for first in firsts if first.startswith("stopped")]
    renamed = [first for first in firsts if "did you rename it" in first]
    absent = [first.split("`")[1] for first in firsts if first.endswith("` is not defined")]
    look += renamed[:2]
    if absent:
        look.append(f"not defined: {', '.join(dict.fromkeys(absent))}")
    return list(dict.fromkeys(look))
