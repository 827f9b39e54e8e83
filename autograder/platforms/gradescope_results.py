"""The shape in which Gradescope reads results, made from our records."""

from __future__ import annotations

from typing import Any

from autograder.record import Record, Verdict
from autograder.runtime.outcomes import Status

TEXT = "text"  # Gradescope shows it as it stands: no markup, no terminal codes


def result_of_test(record: Record, verdict: Verdict) -> dict[str, Any]:
    """One entry of Gradescope's `tests`: what the student may see of a test, and nothing else."""
    return {
        "name": f"{verdict.question}: {verdict.title}",
        "score": verdict.score,
        "max_score": verdict.points,
        "status": "passed" if verdict.status is Status.PASSED else "failed",
        "output": record.told(verdict),
        "output_format": TEXT,
        "visibility": "visible",
        "tags": [verdict.question],
    }
