"""What a verdict depends on, as one hash: a grading made under another hash is out of date.

Only what decides verdicts is in it. A rubric, a hint, a title, a comment in a test, a model answer, or a row of the ledger
that no test reads may change without putting any grading out of date.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Set
from pathlib import Path
from typing import Any

from autograder.assignment import Question
from autograder.course import ProblemSet, read_yaml

_OF_A_ROW = ("values", "tolerance", "bands")


def suite_hash(problem_set: ProblemSet) -> str:
    """SHA-256 over all that a verdict depends on, the submission and the engine apart."""
    assignment = problem_set.assignment
    written = {name for question in assignment.questions if question.kind == "written" for name in question.names}
    parts: list[Any] = [
        repr(problem_set.limits),
        problem_set.key.fingerprint,
        problem_set.follow_through,
        assignment.module,
        assignment.seed,
        [carried.model_dump() for carried in assignment.carried],
        [_question(question) for question in assignment.questions],
        [_code(path) for path in (*problem_set.test_files, problem_set.folder / "mutants.py")],
        _code(problem_set.solution, without=written),
        _ledger(problem_set),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _question(question: Question) -> list[Any]:
    """Of a written question, a person decides the points."""
    return [
        question.id,
        question.kind,
        question.names,
        question.uses,
        repr(question.limits),
        [question.choices(name) for name in question.names],
        None if question.kind == "written" else question.points,
    ]


def _code(path: Path, without: Set[str] = frozenset()) -> str:
    """A Python file without its comments and layout, and without what is assigned to the names `without`."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    tree.body = [node for node in tree.body if not (isinstance(node, ast.Assign) and _names(node) <= without)]
    return ast.dump(tree)


def _names(node: ast.Assign) -> set[str]:
    return {target.id if isinstance(target, ast.Name) else "" for target in node.targets}


def _ledger(problem_set: ProblemSet) -> dict[str, Any]:
    """What the tests may read of the rows that they name."""
    tests = "".join(path.read_text(encoding="utf-8") for path in problem_set.test_files)
    rows = read_yaml(problem_set.ledger_path)["rows"]
    return {row: {part: entry.get(part) for part in _OF_A_ROW} for row, entry in rows.items() if row in tests}
