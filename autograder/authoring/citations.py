"""Where each row of the ledger is graded.

A row is cited in one place: by the test that reads it or, where no test does, by the question that says how it is graded
instead (`ledger` in assignment.yml).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.course import Course, ProblemSet

_READS = re.compile(r"""ledger\.\w+\(\s*["']([A-Z]\d+-\d+)["']""")


@dataclass(frozen=True)
class Citation:
    """One question that grades a row: by tests, or as `reason` says."""

    problem_set: str
    question: str
    tests: tuple[str, ...]
    reason: str = ""

    @property
    def how(self) -> str:
        """The tests, or the reason, for a cell of a table."""
        return ", ".join(f"`{test}`" for test in self.tests) or self.reason


def rows_read(tests: str) -> set[str]:
    """The ledger rows that the source of some tests reads."""
    return set(_READS.findall(tests))


def citations(course: Course) -> dict[str, list[Citation]]:
    """The questions that grade each row, in the order of the ledger; a row that nothing grades has an empty list."""
    by_row: dict[str, list[Citation]] = {row: [] for row in course.ledger}
    for listing in course.settings.problem_sets:
        for row, citation in cited_by(course.problem_set(listing.slug)):
            by_row[row].append(citation)
    return by_row


def cited_by(problem_set: ProblemSet) -> Iterator[tuple[str, Citation]]:
    """Each row that a problem set grades, with the question that grades it."""
    readers = list(_readers(problem_set))
    for question in problem_set.assignment.questions:
        own = [(test, rows) for test, asked, rows in readers if asked == question.id]
        for row in sorted({row for _, rows in own for row in rows}):
            tests = tuple(test for test, rows in own if row in rows)
            yield row, Citation(problem_set.slug, question.id, tests)
        for row, reason in question.ledger.items():
            yield row, Citation(problem_set.slug, question.id, (), reason)


def ungraded(course: Course) -> list[str]:
    """The rows that may be graded and are not."""
    return [row for row, graded_by in citations(course).items() if not graded_by and course.ledger.gradable(row)]


def _readers(problem_set: ProblemSet) -> Iterator[tuple[str, str, set[str]]]:
    """Every graded test with its question and the rows that it reads, itself or through a helper of its file."""
    for path in problem_set.test_files:
        text = path.read_text(encoding="utf-8")
        try:
            functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
        except SyntaxError:
            continue  # collecting the tests says where
        for name, node in functions.items():
            if question := next(_questions(node), ""):
                reached = _reached(name, functions)
                yield name, question, set().union(*(rows_read(ast.unparse(functions[other])) for other in reached))


def _questions(node: ast.FunctionDef) -> Iterator[str]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "graded":
            yield str(ast.literal_eval(decorator.args[0]))


def _reached(name: str, functions: dict[str, ast.FunctionDef]) -> set[str]:
    """A function and those of its file that it calls, directly or not."""
    reached, waiting = set(), {name}
    while waiting:
        current = waiting.pop()
        reached.add(current)
        called = {part.id for part in ast.walk(functions[current]) if isinstance(part, ast.Name)}
        waiting |= (called & functions.keys()) - reached
    return reached
