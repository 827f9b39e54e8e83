"""The notebook in which a person reads and grades one submission, with nbgrader's formgrader.

It is never run. All that a student wrote stands in code cells and text outputs: formgrader renders Markdown, HTML and
formulas, and a student's would act in the reader's browser. It names no hidden test's inputs, so that feedback pages that
nbgrader makes of it may be given to students.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from autograder.authoring.frame import banners, count
from autograder.course import Course, ProblemSet
from autograder.grades import Grade
from autograder.journal import Journal
from autograder.pieces import cells_of, pieces_of
from autograder.platforms.targets.nbgrader import answer_cell, course_id, grade_cell, marks
from autograder.record import Record, Verdict
from autograder.runtime.outcomes import Status
from autograder.text import visible

MAX_TEXT = 200_000
WIDTH = 100
GONE = "# This answer does not stand under its heading or in its cell. See the whole file, at the end."
_NO_ANSWERS: Mapping[str, str] = MappingProxyType({})
_WORDS = {Status.PASSED: "passed", Status.FAILED: "failed", Status.BLOCKED: "not run", Status.FAULT: "fault of the grader"}

CONFIG = '''"""nbgrader's settings, for formgrader in this folder."""

import os
from pathlib import Path

c = get_config()
c.CourseDirectory.course_id = {course_id!r}
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
if "COURSE_GRADEBOOK" in os.environ:
    c.CourseDirectory.db_url = os.environ["COURSE_GRADEBOOK"]
'''


@dataclass(frozen=True)
class Page:
    """A notebook that is to be written, and the written questions whose answer is not the one the old notebook shows."""

    student: str
    path: Path
    content: bytes
    changed: list[str]

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(self.content)


def stale_pages(
    folder: Path, problem_set: ProblemSet, journal: Journal, grades: Sequence[Grade], *, model_answers: Mapping[str, str]
) -> list[Page]:
    """The notebooks that are missing in nbgrader's course folder, or are not what the grades say.

    `model_answers` are those to written questions, by question; empty while a student might still use them.
    """
    pages = []
    for grade in grades:
        path = folder / "autograded" / grade.student / problem_set.slug / f"{problem_set.assignment.module}.ipynb"
        source, record = journal.source(grade.attempt), grade.stored.record
        content = grading_notebook(problem_set, grade.attempt.filename, source, record, model_answers)
        old = path.read_bytes() if path.exists() else b""
        if content != old:
            before, now = _written_answers(old), _written_answers(content)
            cells = {answer_cell(question): question.id for question in problem_set.assignment.questions}
            changed = [cells[name] for name in now if name in before and now[name] != before[name]]
            pages.append(Page(grade.student, path, content, changed))
    return pages


def write_config(folder: Path, course: Course) -> None:
    """nbgrader's settings for the folder, unless it has some."""
    path = folder / "nbgrader_config.py"
    if not path.exists():
        path.write_text(CONFIG.format(course_id=course_id(course)), encoding="utf-8")


def grading_notebook(
    problem_set: ProblemSet, filename: str, source: bytes, record: Record, model_answers: Mapping[str, str] = _NO_ANSWERS
) -> bytes:
    """The notebook for a submission and its record. The same input gives the same bytes."""
    titles = banners(problem_set)
    code = cells_of(filename, source)
    pieces: dict[str, list[str]] = {}
    for piece in pieces_of(problem_set, code):
        pieces.setdefault(piece.question, []).extend(piece.lines)
    cells = [_heading("title", f"# {problem_set.assignment.title}")]
    for question in problem_set.assignment.questions:
        name = answer_cell(question)
        cells.append(_heading(f"title-{name}", f"## {titles[question.id]}"))
        scored = record.question(question.id)
        if question.rubric:
            items = "\n".join(f"- {count(item.points, 'point')}: {item.text}" for item in question.rubric)
            cells.append(_heading(f"rubric-{name}", f"Points for:\n\n{items}"))
        if answer := model_answers.get(question.id):
            quoted = "\n".join(f"> {line}".rstrip() for line in answer.splitlines())
            cells.append(_heading(f"model-{name}", f"A good answer:\n\n{quoted}"))
        if question.kind == "written":
            own = marks(name, points=question.points, solution=True)
            if scored and scored.place:
                cells.append(_heading(f"place-{name}", f"This text was found in {scored.place}."))
            # Formgrader colours all code as Python, but for this.
            text = _wrapped(scored.answer if scored else "")
            cells.append(_code(name, text, {"nbgrader": own, "magics_language": "text"}))
        else:
            own = marks(name, points=None, solution=True)
            cells.append(
                _code(name, "\n".join(pieces[question.id]).strip() if question.id in pieces else GONE, {"nbgrader": own})
            )
            said = f"{scored.score if scored else 0:g} of {question.points:g} points\n"
            said += "".join(_said(record, verdict) for verdict in record.verdicts_of(question.id))
            own = marks(grade_cell(question), points=question.points, solution=False)
            cells.append(_code(grade_cell(question), "# what the tests said", {"nbgrader": own}, said))
    cells.append(_heading("file", "## The whole file"))
    cells.append(_code("file-text", "\n\n\n".join(text for _, text in code), {}))
    language = {"name": "python", "pygments_lexer": "ipython3"}
    notebook = {"cells": cells, "metadata": {"language_info": language}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, sort_keys=True).encode() + b"\n"


def _written_answers(notebook: bytes) -> dict[str, str]:
    """The texts that a person grades, by the cell's name; none if it is no whole notebook."""
    try:
        return {
            cell["id"]: cell["source"]
            for cell in json.loads(notebook)["cells"]
            if (given := cell["metadata"].get("nbgrader", {})).get("solution") and given.get("grade")
        }
    except (ValueError, KeyError):
        return {}


def _heading(name: str, text: str) -> dict[str, Any]:
    """A cell with words of the course's own."""
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


# nbformat's own makers check every cell, which takes minutes for a course.
def _code(name: str, text: str, metadata: dict[str, Any], output: str = "") -> dict[str, Any]:
    """A cell with words of anybody's, and a text output."""
    outputs = [{"output_type": "stream", "name": "stdout", "text": _shown(output)}] if output else []
    return {"cell_type": "code", "id": name, "metadata": metadata, "source": _shown(text), "outputs": outputs,
            "execution_count": None}  # fmt: skip


def _wrapped(text: str) -> str:
    """Sentences, broken into lines, because formgrader does not."""
    return "\n".join(line for line in text.strip().splitlines() for line in textwrap.wrap(line, WIDTH) or [""])


def _said(record: Record, verdict: Verdict) -> str:
    """What a student may read of a test."""
    points = f"{verdict.score:g} of {verdict.points:g}"
    lines = [f"{_WORDS[verdict.status]}  {verdict.title} ({points})", *_wrapped(record.told(verdict)).splitlines()]
    return "\n" + "\n    ".join(lines) + "\n"


def _shown(text: str) -> str:
    """A text without characters that cannot be seen, and not longer than a person reads."""
    cut = "" if len(text) <= MAX_TEXT else "\n[cut here: the text is longer]"
    return visible(text[:MAX_TEXT]) + cut
