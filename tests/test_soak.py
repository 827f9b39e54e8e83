"""A sample of the endurance run: mixed submissions, and a reference graded again; benchmarks/soak.py does thousands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).resolve().parents[1] / "benchmarks/soak.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "count"), [(("--submissions", "80"), 80), (("--references", "ps1", "--times", "3"), 3)]
)
def test_every_verdict_is_as_expected(arguments: tuple[str, ...], count: int) -> None:
    command = [sys.executable, str(SOAK), *arguments, "--backends", "bubblewrap"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    # Whether something grows, only a long run can tell.
    assert f"verdicts as expected: {count} of {count}" in answer.stdout, answer.stdout + answer.stderr
