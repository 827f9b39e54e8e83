"""Grades as Gradescope's `results.json`, one a student."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from autograder.assignment import Question
from autograder.exporting import Export, Wanted, Written
from autograder.grades import Grade
from autograder.platforms.gradescope_results import TEXT, result_of_test


def gradescope_results(grade: Grade, questions: Sequence[Question]) -> dict[str, Any]:
    """One student's results.json, with what the student may see and nothing else."""
    record = grade.stored.record
    tests = [result_of_test(record, verdict) for verdict in record.verdicts]
    for question in questions:
        if question.kind == "written":
            tests.append(
                {
                    "name": f"{question.id}: {question.title}",
                    "max_score": question.points,
                    "output": grade.comments.get(question.id, "" if question.id in grade.manual else "Not graded yet."),
                    "visibility": "visible",
                    "tags": [question.id],
                    **({"score": grade.manual[question.id]} if question.id in grade.manual else {}),
                }
            )
    return {
        "score": grade.points,
        "output": "\n".join([*grade.notes, *([record.output] if record.output else [])]),
        "output_format": TEXT,
        "test_output_format": TEXT,
        "test_name_format": TEXT,
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def _write(wanted: Wanted) -> Written:
    results = {grade.student: gradescope_results(grade, wanted.questions) for grade in wanted.grades}
    files = {f"{student}.json": json.dumps(result, indent=1).encode() + b"\n" for student, result in results.items()}
    return Written(files, len(files))


EXPORT = Export("gradescope", _write, file_per_student=True)
