"""One question's tests as plain data, for graders that are not ours; `kit.embedded` runs them there."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from autograder.authoring.template import cited_rows
from autograder.course import ProblemSet
from autograder.testing.bench import HIDDEN

PUBLIC = "test_public.py"


def question_suite(problem_set: ProblemSet, question: str, *, platform: str = "") -> dict[str, Any]:
    """A question's public tests, for a `platform` its hidden ones as well, and all they need: a `kit.embedded.Suite`.

    Without a platform nothing in it is secret. The reference solution is in it only where a hidden test asks for it. Hidden
    tests draw from a key of the platform's own: student code can read it there, and it tells nothing of any other.
    """
    tests: dict[str, str] = {}
    ledger: dict[str, Any] = {}
    public = (problem_set.folder / PUBLIC).read_text(encoding="utf-8")
    for name in (PUBLIC, HIDDEN) if platform else (PUBLIC,):
        tests[name] = question_tests((problem_set.folder / name).read_text(encoding="utf-8"), question, public)
        ledger |= cited_rows(problem_set, name, tests[name])
    asked = problem_set.question(question)
    [name, *_] = asked.names
    prediction = {"name": name, "options": asked.choices(name), "points": asked.points}
    needs_reference = any(map(_asks_for_reference, tests.values()))
    return {
        "question": question,
        "seed": problem_set.assignment.seed,
        "key": problem_set.key.derived(platform).value.hex() if platform else "",
        "asked": [name for other in problem_set.assignment.questions for name in other.names],
        "call_seconds": problem_set.call_seconds(question),
        "memory_mb": problem_set.limits.memory_mb,
        "ledger": ledger,
        "prediction": prediction if asked.kind == "prediction" else {},
        "tests": tests,
        "reference": problem_set.solution.read_text(encoding="utf-8") if needs_reference else "",
    }


def question_tests(source: str, question: str, public: str = "") -> str:
    """A test file with one question's tests, and of all else only what they use; comments are left out.

    What it imports from the problem set's public test file, whose text is `public`, becomes its own.
    """
    helpers = [node for node in ast.parse(public).body if not _question(node)]
    nodes = [statement for node in ast.parse(source).body for statement in (helpers if _is_from_public(node) else [node])]
    kept = {index for index, node in enumerate(nodes) if _question(node) == question or _is_import(node)}
    while True:
        used = {name for index in kept for node in ast.walk(nodes[index]) for name in _asks_for(node)}
        more = {index for index, node in enumerate(nodes) if not _question(node) and used & _defines(node)}
        if more <= kept:
            return ast.unparse(ast.Module([nodes[index] for index in sorted(kept)], [])) + "\n"
        kept |= more


def _question(node: ast.stmt) -> str:
    """The question that a statement's `@graded(...)` names; empty if it is no graded test."""
    if isinstance(node, ast.FunctionDef):
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "graded":
                return str(ast.literal_eval(decorator.args[0]))
    return ""


def _asks_for(node: ast.AST) -> set[str]:
    """What a node needs by name: a variable, or what a test has as a parameter because it is computed once."""
    return {node.id} if isinstance(node, ast.Name) else {node.arg} if isinstance(node, ast.arg) else set()


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_from_public(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").endswith(f".{Path(PUBLIC).stem}")


def _defines(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}


def _asks_for_reference(text: str) -> bool:
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
    return any(argument.arg == "reference" for function in functions for argument in function.args.args)
