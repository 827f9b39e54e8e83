"""Problem set 5: memory is graded by a limit that the kernel enforces, and the race of a student's own functions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.backends import BACKENDS
from autograder.course import load_course
from autograder.intake import Submission
from autograder.messages import Conditions, Task
from autograder.record import Verdict
from autograder.run import graded
from autograder.runtime.outcomes import Status

ROOT = Path(__file__).resolve().parents[1]
LONG_TEST = "test_a_table_that_does_not_fit"
# The first tells mutants apart, so that few are asked for the long call when the grader looks for a likely slip.
TESTS = ("test_blocks_equal_the_plain_layer", LONG_TEST)

SOFTMAX = """
import numpy as np

def softmax(scores):
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores
"""
PLAIN = """
def blocked_attention(queries, keys, values, block=256, causal=False):
    return softmax(queries @ keys.T / queries.shape[1] ** 0.5) @ values
"""
# Half the table's size, which fits, at a tenth of the digits.
SINGLE_PRECISION = """
def blocked_attention(queries, keys, values, block=256, causal=False):
    queries, keys, values = (x.astype(np.float32) for x in (queries, keys, values))
    return (softmax(queries @ (keys.T / np.float32(queries.shape[1] ** 0.5))) @ values).astype(np.float64)
"""
# Blocks of rows, all of which it keeps.
COPYING = """
def blocked_attention(queries, keys, values, block=256, causal=False):
    rows = [softmax(queries[i : i + block] @ keys.T / queries.shape[1] ** 0.5) for i in range(0, len(queries), block)]
    return np.concatenate(rows) @ values
"""
ROW_BLOCKS = """
def blocked_attention(queries, keys, values, block=256, causal=False):
    blocks = (queries[i : i + block] for i in range(0, len(queries), block))
    return np.concatenate([softmax(part @ keys.T / queries.shape[1] ** 0.5) @ values for part in blocks])
"""
TILES = """
def blocked_attention(queries, keys, values, block=256, causal=False):
    output = np.empty((len(queries), values.shape[1]))
    for i in range(0, len(queries), block):
        part = queries[i : i + block] / queries.shape[1] ** 0.5
        largest, total, mixed = np.full((len(part), 1), -np.inf), 0.0, 0.0
        for j in range(0, len(keys), block):
            scores = part @ keys[j : j + block].T
            top = np.maximum(largest, scores.max(axis=1, keepdims=True))
            powers, scale = np.exp(scores - top), np.exp(largest - top)
            total, mixed = scale * total + powers.sum(axis=1, keepdims=True), scale * mixed + powers @ values[j : j + block]
            largest = top
        output[i : i + block] = mixed / total
    return output
"""
ANSWERS = {
    "plain": PLAIN, "float32": SINGLE_PRECISION, "copying": COPYING, "row blocks": ROW_BLOCKS, "tiles": TILES,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_memory_limit_tells_who_holds_the_table(backend: str) -> None:
    problem_set = load_course(ROOT).problem_set("ps5")
    tasks = {name: Task(Submission(name, "ps5.py", (SOFTMAX + source).encode()), TESTS) for name, source in ANSWERS.items()}
    verdicts: dict[str, Verdict] = {}
    for name, record in graded(ROOT, problem_set, tasks, jobs=1, conditions=Conditions(backend=backend)):
        assert record.is_sound, record.fault
        [verdicts[name]] = [verdict for verdict in record.verdicts if verdict.test == LONG_TEST]
    passed = {name for name, verdict in verdicts.items() if verdict.status is Status.PASSED}
    assert passed == {"row blocks", "tiles"}
    assert "MemoryError" in verdicts["plain"].message
    assert "MemoryError" in verdicts["copying"].message
    assert "should be" in verdicts["float32"].message


RACE = """
import numpy as np

def _arguments(size):
    return (np.ones((size, size)),)

RACE = {"names": ("row_sums", "sums_of_copies"), "sizes": (100, 200), "arguments": _arguments}
"""
RUNNERS = """
def row_sums(x): return x.sum(axis=1)
def sums_of_copies(x): return (x + 0).sum(axis=1)
"""


def race(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autograder.kit.race", folder.name]
    return subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, timeout=120, check=False)


def test_a_race_says_who_needs_what(tmp_path: Path) -> None:
    folder = tmp_path / "ps8"
    folder.mkdir()
    (folder / "problem_set.json").write_text('{"module": "ps8"}')
    (folder / "ps8.py").write_text(RUNNERS)
    (folder / "payoffs.py").write_text("")
    none = race(folder)
    assert (none.returncode, none.stdout) == (2, "no race yet: ps8 declares no race\n")
    (folder / "payoffs.py").write_text(RACE)
    ended = race(folder)
    assert ended.returncode == 0, ended.stderr
    assert (folder / "race.png").stat().st_size > 10_000
    rows = re.findall(r"^ +(\d+) +[\d.]+ ms +([\d.]+) MB +[\d.]+ ms +([\d.]+) MB$", ended.stdout, re.M)
    # A copy of 200 x 200 numbers takes .32 MB.
    assert [(size, float(copy) - float(own)) for size, own, copy in rows] == [
        ("100", pytest.approx(0.1)), ("200", pytest.approx(0.3)),
    ]  # fmt: skip
    (folder / "ps8.py").write_text("def row_sums(x): raise NotImplementedError('not done yet')\n" + RUNNERS.splitlines()[-1])
    unfinished = race(folder)
    assert unfinished.returncode == 2
    assert "not done yet" in unfinished.stdout
