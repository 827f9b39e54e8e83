"""Generated mutants: the reference solution with one operator, number or keyword changed, each in a question's solution.

The operators are cosmic-ray's. Left out are those that need settings, and swaps that a numeric program cannot even run
(bit operators for arithmetic ones) or cannot tell apart (`is` for `==`): such mutants say nothing about tests.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

from autograder.authoring.stubs import Blocks, as_module, solution_blocks, solution_lines
from autograder.course import CourseError, ProblemSet, read_yaml

_LEFT_OUT = re.compile(r"Shift|Bit|Invert|_Is|Is_|IsNot|Variable|Decorator|UAdd|Exception")
EQUIVALENTS = "equivalents.yml"


@dataclass(frozen=True)
class Change:
    """A text with one thing changed: the first line that differs, counted from 0, as it was and as it is; and all of it."""

    line: int
    before: str
    after: str
    source: str


@dataclass(frozen=True)
class Mutation:
    """One generated mutant of `question`: the line that changed, as it was and as it is, and the whole mutated module."""

    question: str
    before: str
    after: str
    source: str


@dataclass(frozen=True)
class Equivalent:
    """A generated mutant that does what the reference does, and why."""

    question: str
    before: str
    after: str
    reason: str


def mutations(problem_set: ProblemSet) -> list[Mutation]:
    """All mutants of the code questions."""
    blocks = solution_blocks(problem_set)
    questions = [question.id for question in problem_set.assignment.questions if question.kind == "code"]
    return [mutation for question in questions for mutation in _mutations(blocks, question)]


def drawn(problem_set: ProblemSet, candidates: Sequence[Mutation], most: int) -> list[Mutation]:
    """At most `most` mutants a question, drawn with the problem set's seed. In the order of `found`."""
    chosen = []
    for question in dict.fromkeys(mutation.question for mutation in candidates):
        own = [mutation for mutation in candidates if mutation.question == question]
        order = random.Random(f"{problem_set.assignment.seed} {question}")
        chosen += [own[place] for place in sorted(order.sample(range(len(own)), min(most, len(own))))]
    return chosen


def equivalents(problem_set: ProblemSet) -> list[Equivalent]:
    """What `equivalents.yml` says cannot be told from the reference; empty without the file."""
    path = problem_set.folder / EQUIVALENTS
    if not path.exists():
        return []
    declared = []
    for entry in read_yaml(path).get("equivalents") or []:
        try:
            declared.append(Equivalent(**{key: str(value).strip() for key, value in entry.items()}))
        except (TypeError, AttributeError):
            raise CourseError(f"{path}: {entry!r}: each entry has question, before, after and reason") from None
    return declared


def changes(text: str, order: random.Random | None = None) -> Iterator[Change]:
    """Every way to change one thing in a Python text; shuffled by `order`, if given, so that a sample is quickly drawn."""
    places = [(operator, occurrence) for operator, count in _positions(text) for occurrence in range(count)]
    if order is not None:
        order.shuffle(places)
    seen = set()
    for operator, occurrence in places:
        mutated = mutate_code(text, operator, occurrence)
        if mutated is None or mutated in seen or not _parses(mutated):
            continue
        seen.add(mutated)
        for line, (before, after) in enumerate(zip(text.splitlines(), mutated.splitlines(), strict=False)):
            if before != after:
                yield Change(line, before.strip(), after.strip(), mutated)
                break


def _mutations(blocks: Blocks, question: str) -> Iterator[Mutation]:
    text = blocks.questions[question]
    solution = solution_lines(text)
    for change in changes(text):
        if change.line in solution:
            source = as_module(replace(blocks, questions={**blocks.questions, question: change.source}))
            yield Mutation(question, change.before, change.after, source)


def _positions(text: str) -> list[tuple[Operator, int]]:
    """The operators that apply to a block, each with the number of places where it does."""
    nodes = list(ast_nodes(get_ast(text)))
    counted = []
    for name in sorted(operator_names()):
        if not _LEFT_OUT.search(name):
            operator = get_operator(name)()
            counted.append((operator, sum(len(list(operator.mutation_positions(node))) for node in nodes)))
    return [(operator, count) for operator, count in counted if count]


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
