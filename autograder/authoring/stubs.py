"""The reference solution, cut into the questions' blocks, and the stubs that students receive instead."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.columns import fitted
from autograder.authoring.frame import prompt_comment
from autograder.course import CourseError, ProblemSet
from autograder.kit.carry import PLACE

BEGIN, END = "# BEGIN SOLUTION", "# END SOLUTION"
STUB = 'raise NotImplementedError("not done yet")'
# What students carry over from an earlier problem set is no answer to this one, so its stub is no "not done yet".
CARRIED_STUB = 'raise RuntimeError("carry your own function over first: check.py {slug} --carry")'
_MARK = re.compile(r"(begin|end)\s+solution", re.IGNORECASE)
_OPENS = re.compile(r"^# === question: (\w+) ===$")


@dataclass(frozen=True)
class Blocks:
    """A solution in parts: the lines before the first question, and each question's own.

    `given` is the set-up as students receive it: with stubs for what they carry over from an earlier problem set.
    """

    set_up: str
    questions: dict[str, str]
    given: str


def solution_blocks(problem_set: ProblemSet) -> Blocks:
    """Cut a solution at its question markers, with lines that a notebook shows whole.

    Above a prediction's variable comes what it asks.

    Raises `CourseError` for markers that do not fit `assignment.yml`.
    """
    path = problem_set.solution
    text = path.read_text(encoding="utf-8")
    if "\t" in text:
        place = text[: text.index("\t")].count("\n") + 1
        raise CourseError(f"{path}:{place}: there is a tab; indent with spaces")
    parts: dict[str, list[str]] = {"": []}
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        match = _OPENS.match(line)
        if match:
            current = match[1]
            if current in parts:
                raise CourseError(f"{path}:{number}: the block of question {current!r} opens twice")
            parts[current] = []
        elif "=== question" in line:
            raise CourseError(f"{path}:{number}: a question marker must be exactly `# === question: name ===`")
        else:
            parts[current].append(line)
    wanted = [question.id for question in problem_set.assignment.questions]
    blocks = [name for name in parts if name]
    if blocks != wanted:
        raise CourseError(
            f"{path}: the blocks are {', '.join(blocks) or 'none'}, but assignment.yml has {', '.join(wanted)}"
        )
    set_up = fitted("\n".join(parts.pop("")).strip() + "\n")
    carried = problem_set.assignment.carried
    if _MARK.search(set_up) and not carried:
        raise CourseError(
            f"{path}: a solution marker stands before the first question; only what is `carried` has its solution there"
        )
    if bool(carried) != (set_up.count(PLACE) == 1):
        raise CourseError(f"{path}: the set-up needs a line `{PLACE}` before what is `carried`, and only then")
    given = stub(set_up, path, CARRIED_STUB.format(slug=problem_set.slug)) if carried else set_up
    questions = {name: fitted("\n".join(lines).strip() + "\n") for name, lines in parts.items()}
    for question in problem_set.assignment.questions:
        if question.prediction:
            questions[question.id] = prompt_comment(question) + questions[question.id]
    return Blocks(set_up, questions, given)


def as_module(blocks: Blocks) -> str:
    """The module that blocks came from, or one like it: a solution, or with stubs for blocks what students receive."""
    return "\n\n".join([blocks.set_up, *(f"# === question: {name} ===\n{text}" for name, text in blocks.questions.items())])


def solution_lines(block: str) -> set[int]:
    """The numbers, from 0, of the lines between a block's solution markers."""
    inside, lines = False, set()
    for number, line in enumerate(block.splitlines()):
        if line.strip() in (BEGIN, END):
            inside = line.strip() == BEGIN
        elif inside:
            lines.add(number)
    return lines


def stub(block: str, where: Path, raises: str = STUB) -> str:
    """A block with its solution taken out: inside functions the line `raises` stands for it, at top level nothing."""
    lines: list[str] = []
    opened = 0
    for number, line in enumerate(block.splitlines(), start=1):
        mark = line.strip()
        if mark == BEGIN:
            if opened:
                raise CourseError(f"{where}: line {number} of the block: {BEGIN} inside a solution that began at {opened}")
            opened = number
            if line != mark:
                lines.append(line.replace(BEGIN, raises))
        elif mark == END:
            if not opened:
                raise CourseError(f"{where}: line {number} of the block: {END} without {BEGIN}")
            opened = 0
        elif _MARK.search(line):
            raise CourseError(
                f"{where}: line {number} of the block: a solution marker must stand on a line of its own, "
                f"as exactly `{BEGIN}` or `{END}`"
            )
        elif not opened:
            lines.append(line)
    if opened:
        raise CourseError(f"{where}: line {opened} of the block: {BEGIN} is never closed")
    text = re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip() + "\n"
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise CourseError(f"{where}: without its solution the block does not parse: {error}") from None
    return text
