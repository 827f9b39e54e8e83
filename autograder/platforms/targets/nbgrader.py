"""A problem set as a course folder of nbgrader, for `nbgrader generate_assignment` and all that follows it.

The notebook is the template's. Its answer cells become solution cells, and cells that a person grades where the answer is
written. The last cells are one locked test cell a question, because an answer may use a later one: a test cell holds the
question's public tests and, in a hidden region, its hidden ones with what they need; `kit.cell_points` runs both.
"""

from __future__ import annotations

import re
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.assignment import Question
from autograder.authoring.explorer import PAGE
from autograder.authoring.stubs import BEGIN, END, solution_blocks
from autograder.authoring.template import problem_set_files, template_files
from autograder.course import Course, CourseError, ProblemSet
from autograder.kit.carry import PLACE
from autograder.platforms.suite import question_suite
from autograder.testing.bench import HIDDEN

# What students get beside the notebook, out of a problem set's folder in the template.
SUPPORT = ("figures/", "payoffs.py", "problem_set.json", "test_public.py")

TESTS = """## Tests

These cells give the points. Run them after all others; leave them as they are. More tests run after you hand in."""

CONFIG = '''"""nbgrader's settings for this course; they fit the notebooks in source/, so keep them when you add your own."""

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import ClearHiddenTests, GetGrades
from traitlets import List


class ClearHiddenTestsOnPages(ClearHiddenTests):
    """For feedback pages: nbconvert sets this on all that takes part, and warns where it is missing."""

    display_data_priority = List().tag(config=True)


c = get_config()
c.CourseDirectory.course_id = {course_id!r}
# The stub of an answer stands above its solution, so the solution goes without a trace.
c.ClearSolutions.code_stub = {{"python": ""}}
# A test cell waits for every function that does not return; nbgrader's 30 s would end the cell, and all its points.
c.ExecutePreprocessor.timeout = {seconds}
# nbgrader's own feedback pages print the hidden tests.
c.GenerateFeedback.preprocessors = [GetGrades, ClearHiddenTestsOnPages, CSSHTMLHeaderPreprocessor]
'''


def release_files(course: Course, problem_set: ProblemSet) -> dict[str, bytes]:
    """The course folder's files for one problem set, by path. The same source gives the same bytes."""
    slug, module = problem_set.slug, problem_set.assignment.module
    template = problem_set_files(course, problem_set)
    kit = {name: content for name, content in template_files(course).items() if name.startswith(("autograder/", PAGE))}
    seconds = int(problem_set.limits.submission_seconds) + 60
    return {
        "nbgrader_config.py": CONFIG.format(course_id=course_id(course), seconds=seconds).encode(),
        f"source/{slug}/{module}.ipynb": _notebook(problem_set, template[f"{slug}/{module}.ipynb"]),
        **{f"source/{slug}/{name}": content for name, content in kit.items()},
        **{
            f"source/{name}": content
            for name, content in template.items()
            if name.removeprefix(f"{slug}/").startswith(SUPPORT)
        },
    }


def course_id(course: Course) -> str:
    """The course's name for nbgrader's exchange and database."""
    return re.sub(r"[^a-z0-9]+", "-", course.settings.title.lower()).strip("-")


def answer_cell(question: Question) -> str:
    """The nbgrader name of the cell with a student's answer."""
    return f"answer-{question.id}".replace("_", "-")


def grade_cell(question: Question) -> str:
    """The nbgrader name of the cell that has the question's points."""
    return answer_cell(question) if question.kind == "written" else f"test-{question.id}".replace("_", "-")


def marks(name: str, *, points: float | None, solution: bool) -> dict[str, Any]:
    """nbgrader's metadata of a cell: an answer, a test with points, or (both) an answer that a person grades."""
    entry = {"schema_version": 3, "grade_id": name, "grade": points is not None, "solution": solution,
             "locked": not solution, "task": False}  # fmt: skip
    return entry if points is None else {**entry, "points": points}


def _notebook(problem_set: ProblemSet, template: bytes) -> bytes:
    """The template's notebook with nbgrader's marks, the solutions and all tests."""
    notebook = nbformat.reads(template.decode(), as_version=4)
    questions = {answer_cell(question): question for question in problem_set.assignment.questions}
    parts = solution_blocks(problem_set)
    blocks = parts.questions
    for cell in notebook.cells:
        cell.source = cell.source.replace(f"](../{PAGE}", f"]({PAGE}")
        if cell.id == "set-up-check":
            # The kit lies beside the notebook, and so does the explorer.
            cell.source = "from autograder.kit import check, draw"
        elif cell.id == "set-up" and problem_set.assignment.carried:
            # Below the stubs, the functions that students carry over.
            _, mark, carried = parts.set_up.partition(PLACE)
            cell.source += f"\n\n### BEGIN SOLUTION\n{_unmarked(mark + carried).strip()}\n### END SOLUTION"
            cell.metadata["nbgrader"] = marks(cell.id, points=None, solution=True)
        elif cell.id in questions:
            question = questions[cell.id]
            # nbgrader puts the same line in place of every solution region. A region inside a function needs one that
            # raises, a region at top level one that does not; below the stub, none is needed.
            cell.source += f"\n\n### BEGIN SOLUTION\n{_unmarked(blocks[question.id]).strip()}\n### END SOLUTION"
            points = question.points if question.kind == "written" else None
            cell.metadata["nbgrader"] = marks(cell.id, points=points, solution=True)
    notebook.cells.append(new_markdown_cell(TESTS, id="tests"))
    for question in problem_set.assignment.questions:
        if question.kind != "written":
            cell = new_code_cell(_tests(problem_set, question), id=grade_cell(question))
            cell.metadata["nbgrader"] = marks(cell.id, points=question.points, solution=False)
            notebook.cells.append(cell)
    nbformat.validate(notebook)
    return f"{nbformat.writes(notebook)}\n".encode()


def _tests(problem_set: ProblemSet, question: Question) -> str:
    """The test cell's text. What only the hidden tests need is in the hidden region as well."""
    public = question_suite(problem_set, question.id)
    hidden = question_suite(problem_set, question.id, platform="nbgrader")
    more = {key: value for key, value in hidden.items() if key != "tests" and value != public[key]}
    text = "\n".join(
        [
            "from autograder.kit import cell_points",
            "",
            f"_suite = {dict(public, tests={})!r}",
            *(f"_suite['tests'][{name!r}] = {_literal(source)}" for name, source in public["tests"].items()),
            "### BEGIN HIDDEN TESTS",
            f"_suite['tests'][{HIDDEN!r}] = {_literal(hidden['tests'][HIDDEN])}",
            *(f"_suite[{key!r}] = {_literal(value)}" for key, value in more.items()),
            "### END HIDDEN TESTS",
            "cell_points(_suite)",
        ]
    )
    if len(re.findall("(BEGIN|END) HIDDEN TESTS", text)) != 2:
        raise CourseError(f"{problem_set.folder}: the tests of {question.id} contain nbgrader's mark for hidden tests")
    return text


def _literal(value: Any) -> str:
    """A value as Python text; source code stays readable, and loses the marks that nbgrader would cut at."""
    if not isinstance(value, str):
        return repr(value)
    text = _unmarked(value)
    return repr(text) if "'''" in text or "\n" not in text else f"r'''\n{text}'''"


def _unmarked(source: str) -> str:
    return "".join(line for line in source.splitlines(keepends=True) if line.strip() not in (BEGIN, END))
