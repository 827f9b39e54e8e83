"""The two forms of a problem set that students work in, module and notebook, and the lesson as a README."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from autograder.assignment import Question
from autograder.authoring.frame import banners, folded, has_souvenir, overview, payoffs, prompt_text
from autograder.authoring.handout import Part, handout_parts
from autograder.course import ProblemSet

if TYPE_CHECKING:
    from nbformat import NotebookNode

SET_UP_CHECK = (
    'import sys\n\nsys.path.insert(0, "..")  # where the folder `autograder` lies\nfrom autograder.kit import check, draw'
)
# Where the introduction ends: at a rule, at another top-level heading, or at section 1.
_BODY = re.compile(r"^(?:---$|# |## 1\b)", re.MULTILINE)


SOUVENIR_CELL = "from autograder.kit import souvenir\n\nsouvenir()"


def lesson(problem_set: ProblemSet) -> list[Part]:
    """The handout in parts, with the time it takes below its title."""
    first, *rest = handout_parts(problem_set)
    line = overview(problem_set.assignment)
    if line:
        title, _, text = first.prose.partition("\n")
        first = Part(f"{title}\n\n{line}\n\n{text.strip()}", first.question)
    return [first, *rest]


def readme(problem_set: ProblemSet) -> str:
    """The lesson, with what surrounds each question at its place."""
    titles, drawn = banners(problem_set), payoffs(problem_set)
    text = []
    for part in lesson(problem_set):
        if part.prose:
            text.append(part.prose)
        if part.question:
            question = problem_set.question(part.question)
            names = ", ".join(f"`{name}`" for name in question.names)
            text.append(f"> **{titles[question.id]}.** Your turn: {names}.")
            if question.prediction:
                text.append(prompt_text(question))
            if question.id in drawn:
                text.append(f"See what your code does: `python check.py {problem_set.slug} --draw {question.id}`")
            if hints := folded(problem_set, question):
                text.append(hints)
    if has_souvenir(problem_set):
        text.append(f"A page to keep, drawn by your own functions: `python check.py {problem_set.slug} --souvenir`")
    return "\n\n".join(text) + "\n"


def module(problem_set: ProblemSet, set_up: str, stubs: dict[str, str]) -> str:
    """The module that students fill in."""
    titles = banners(problem_set)
    text = set_up
    for name, code in stubs.items():
        text += f"\n\n# --- {titles[name]}\n\n{code}"
    return text


def notebook(problem_set: ProblemSet, set_up: str, stubs: dict[str, str]) -> str:
    """The notebook that students fill in."""
    # Imported here, for it takes seconds, and graders need the other two.
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    titles = banners(problem_set)
    cells = []
    for number, part in enumerate(lesson(problem_set)):
        prose = part.prose
        if number == 0:
            introduction, prose = _introduction(prose)
            cells.append(new_markdown_cell(introduction, id="introduction"))
            cells.append(new_code_cell(without_docstring(set_up), id="set-up"))
            cells.append(new_code_cell(SET_UP_CHECK, id="set-up-check"))
        if prose:
            cells.append(new_markdown_cell(prose, id=f"prose-{number}"))
        if part.question:
            question = problem_set.question(part.question)
            code = f"# {titles[question.id]}\n\n{stubs[question.id].strip()}"
            cells.append(new_code_cell(code, id=_cell_id("answer", question)))
            cells += _surroundings(problem_set, question)
    if has_souvenir(problem_set):
        cells.append(new_code_cell(SOUVENIR_CELL, id="souvenir"))
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    made = new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(made)
    text: str = nbformat.writes(made)
    return text + "\n"


def _introduction(prose: str) -> tuple[str, str]:
    """The lesson's first stretch of prose, cut before its first section; the set-up cells come between."""
    title, _, text = prose.partition("\n")
    body = _BODY.search(text)
    cut = body.start() if body else len(text)
    return f"{title}\n{text[:cut]}".strip(), text[cut:].strip()


def code_lines(problem_set: ProblemSet) -> list[str]:
    """The lines of the notebook's code that are not in the module."""
    headings = [f"# {title}" for title in banners(problem_set).values()]
    calls = [f'{call}("{question.id}")' for question in problem_set.assignment.questions for call in ("check", "draw")]
    return [*headings, *calls, *SET_UP_CHECK.splitlines(), *SOUVENIR_CELL.splitlines()]


def _surroundings(problem_set: ProblemSet, question: Question) -> list[NotebookNode]:
    """The cells behind an answer: its check, its hints, and the drawing of what it does."""
    from nbformat.v4 import new_code_cell, new_markdown_cell

    cells = [new_code_cell(f'check("{question.id}")', id=_cell_id("check", question))]
    if hints := folded(problem_set, question):
        cells.append(new_markdown_cell(hints, id=_cell_id("hints", question)))
    if question.id in payoffs(problem_set):
        cells.append(new_code_cell(f'draw("{question.id}")', id=_cell_id("draw", question)))
    return cells


def without_docstring(set_up: str) -> str:
    """The set-up cell of a notebook, whose first prose cell says what the module's docstring says."""
    tree = ast.parse(set_up)
    first = tree.body[0] if tree.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return "\n".join(set_up.splitlines()[first.end_lineno :]).strip()
    return set_up.strip()


def _cell_id(kind: str, question: Question) -> str:
    return f"{kind}-{question.id}".replace("_", "-")
