"""nbgrader, driven from Python: release a course folder, hand in submissions of any form, read the points."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader


def nbgrader_api(folder: Path) -> NbGraderAPI:
    """nbgrader in a course folder, with the folder's own settings."""
    put_alembic_on_path()
    config: Config = PyFileConfigLoader("nbgrader_config.py", str(folder)).load_config()
    config.CourseDirectory.root = str(folder)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def put_alembic_on_path() -> None:
    """See that nbgrader finds `alembic`, which it starts by its bare name."""
    folder = str(Path(sys.executable).parent)
    if folder not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([folder, os.environ["PATH"]])


def succeed(answer: dict[str, Any]) -> str:
    """The log of an nbgrader command that must have succeeded."""
    assert answer["success"], f"{answer['error']}\n{answer['log']}"
    return str(answer["log"] or "")


def hand_in(release: str, filename: str, source: bytes) -> str:
    """The released notebook with a submission's code in place of its answers.

    A module becomes the first answer; the code cells of a notebook stand before it. Other answers are emptied.
    """
    notebook = nbformat.reads(release, as_version=4)
    if filename.endswith(".ipynb"):
        code = [cell.source for cell in nbformat.reads(source.decode(), as_version=4).cells if cell.cell_type == "code"]
    else:
        code = [source.decode()]
    first = True
    cells = []
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            if first:
                cells += [new_code_cell(text, id=f"own-{place}") for place, text in enumerate(code[:-1])]
            cell.source = code[-1] if first and code else ""
            first = False
        cells.append(cell)
    notebook.cells = cells
    return str(nbformat.writes(notebook))


def grade_with_nbgrader(
    folder: Path, problem_set: str, submissions: dict[str, tuple[str, bytes]]
) -> dict[str, dict[str, float]]:
    """Grade submissions (file name and bytes, by student) in a built course folder; points by student and question.

    A question that a person grades is left out. A submission that nbgrader fails at has no points.
    """
    api = nbgrader_api(folder)
    succeed(api.generate_assignment(problem_set))
    notebook = next((folder / "release" / problem_set).glob("*.ipynb"))
    release = notebook.read_text(encoding="utf-8")
    points: dict[str, dict[str, float]] = {}
    for student, (filename, source) in submissions.items():
        place = folder / "submitted" / student / problem_set
        place.mkdir(parents=True)
        (place / notebook.name).write_text(hand_in(release, filename, source), encoding="utf-8")
        points[student] = {}
        if api.autograde(problem_set, student)["success"]:
            with api.gradebook as gradebook:
                grades = gradebook.find_submission_notebook(notebook.stem, problem_set, student).grades
                points[student] = {
                    grade.name.removeprefix("test-").replace("-", "_"): grade.auto_score
                    for grade in grades
                    if grade.name.startswith("test-")
                }
    return points
