"""Our engine, otter and nbgrader give the same points: a sample here, all of it by benchmarks/parity.py."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "benchmarks/parity.py"


def parity(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--problem-set", "ps1", "--sample", "1", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


@pytest.mark.slow
def test_the_points_of_each_question_are_the_same_and_a_difference_is_found(tmp_path: Path) -> None:
    keep = tmp_path / "points.jsonl"
    ended = parity("--keep", keep)
    assert ended.returncode == 0, ended.stderr
    rows = re.findall(r"^\| ps1 \| (\w+) \| (\d+) \| (\d+) of (\d+) \| (\d+) of (\d+) \|$", ended.stdout, re.M)
    count = sum(int(count) for _, count, *_ in rows)
    assert count >= 1
    assert all(len({count, *same}) == 1 for _, count, *same in rows)

    # One kept point is changed: the table must say so, and nothing is graded anew.
    lines = [json.loads(line) for line in keep.read_text().splitlines()]
    assert len(lines) == 3 * count
    changed, question = next((points, name) for _, points in lines for name, earned in points.items() if earned)
    changed[question] -= 1
    keep.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ended = parity("--keep", keep)
    assert ended.returncode == 1
    assert re.search(rf"^- ps1 .*: {question} ", ended.stdout, re.M)
