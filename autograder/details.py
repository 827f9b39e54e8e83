"""Why a student lost points, for a terminal: the tests that did not pass, with all that staff may read of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from autograder.course import ProblemSet
from autograder.grades import Grade
from autograder.pieces import Piece
from autograder.record import Record, Verdict
from autograder.runtime.outcomes import Status
from autograder.text import points_text, visible

_COLOURS = {Status.FAILED: "red", Status.BLOCKED: "yellow", Status.FAULT: "red"}
OUTPUT_LINES = 40  # shown of what was printed


def details(problem_set: ProblemSet, grade: Grade, pieces: Sequence[Piece] = ()) -> Iterator[Text]:
    """Lines for each question that lost points, with the answer's code where `pieces` has it; then what was printed."""
    record = grade.stored.record
    if record.problems:
        yield Text("when the file was run:", "bold")
        yield from _indented("\n".join(record.problems), 2)
    for question in problem_set.assignment.questions:
        score = grade.by_question.get(question.id)
        failed = [verdict for verdict in record.verdicts_of(question.id) if verdict.status is not Status.PASSED]
        if score == question.points and not failed:
            continue
        possible = points_text(question.points)
        points = f"{possible} to be read" if score is None else f"{points_text(score)} of {possible}"
        yield Text(f"{question.id}: {points}", "bold")
        yield from _question(record, question.id, failed)
        if comment := grade.comments.get(question.id):
            yield from _indented(f"comment: {comment}", 2)
        for piece in pieces:
            if piece.question == question.id and not piece.is_blank:
                yield Text(f"  code, {f'cell {piece.cell}, ' if piece.cell else ''}from line {piece.first_line}:", "dim")
                for number, line in enumerate(piece.lines, start=piece.first_line):
                    yield Text(f"  {number:>4} {visible(line)}")
    for title, output in (("printed", record.output), ("printed while hidden tests ran", record.staff_output)):
        if output.strip():
            yield Text(f"{title}:", "bold")
            lines = output.strip().splitlines()
            yield from _indented("\n".join(lines[:OUTPUT_LINES]), 2)
            if len(lines) > OUTPUT_LINES:
                yield Text(f"  … {len(lines) - OUTPUT_LINES} more lines", "dim")


def _question(record: Record, question: str, failed: Sequence[Verdict]) -> Iterator[Text]:
    scored = record.question(question)
    if scored and scored.undone:
        yield Text("  not begun", "dim")
    elif scored and scored.answer:
        yield from _indented(scored.answer, 2)
    for slip in scored.slips if scored else ():
        yield from _indented(f"likely slip ({slip.mutant}): {slip.hint}", 2)
    for verdict in failed if scored and not scored.undone else ():
        kind = "hidden" if verdict.hidden else "public"
        mark = Text(f"  {verdict.status}", _COLOURS.get(verdict.status, ""))
        points = f"{points_text(verdict.score)} of {points_text(verdict.points)}"
        yield Text.assemble(mark, f"  {visible(verdict.title)} ({kind}, {verdict.test}, {points})")
        yield from _indented("\n".join(filter(None, (verdict.message, f"{verdict.blame} {verdict.followed}".strip()))), 6)


def _indented(text: str, width: int) -> Iterator[Text]:
    for line in visible(text).splitlines():
        yield Text(" " * width + line)
