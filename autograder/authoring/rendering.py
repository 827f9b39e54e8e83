"""The two forms of a problem set that students work in, module and notebook, and the lesson as a README."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from autograder.assignment import Question
from autograder.authoring.columns import COLUMNS, NEXT_OPTION
from autograder.authoring.explorer import explorer_links
from autograder.authoring.frame import banners, folded, has_souvenir, overview, payoffs, prompt_text
from autograder.authoring.handout import Part, handout_parts
from autograder.authoring.stubs import BEGIN, END, solution_lines
from autograder.course import ProblemSet

if TYPE_CHECKING:
    from nbformat import NotebookNode

SET_UP_CHECK = (
    'import sys\n\nsys.path.insert(0, "..")  # where the folder `autograder` lies\nfrom autograder.kit import check, draw'
)
# Where the introduction ends: at a rule, at another top-level heading, or at section 1.
_OPTION = re.compile(r'("\w") ')
_BODY = re.compile(r"^(?:---$|# |## 1\b)", re.MULTILINE)


CHECK_ALL_CELL = "check()  # where you stand, and what to do next"
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
    titles, drawn, links = banners(problem_set), payoffs(problem_set), explorer_links(problem_set)
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
            text += filter(None, [links.get(question.id), folded(problem_set, question)])
    if has_souvenir(problem_set):
        text.append(f"A page to keep, drawn by your own functions: `python check.py {problem_set.slug} --souvenir`")
    return "\n\n".join(text) + "\n"


def module(problem_set: ProblemSet, set_up: str, stubs: dict[str, str]) -> str:
    """The module that students fill in."""
    titles = banners(problem_set)
    text = set_up
    for name, code in stubs.items():
        text += f"\n\n{heading(f'--- {titles[name]}')}\n\n{code}"
    return text


def notebook(problem_set: ProblemSet, set_up: str, stubs: dict[str, str]) -> str:
    """The notebook that students fill in."""
    # Imported here, for it takes seconds, and graders need the other two.
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    titles, links = banners(problem_set), explorer_links(problem_set)
    cells = []
    for number, part in enumerate(lesson(problem_set)):
        prose = part.prose
        if number == 0:
            introduction, prose = _introduction(prose)
            cells.append(new_markdown_cell(introduction, id="introduction"))
            cells.append(new_code_cell(without_docstring(set_up), id="set-up"))
            cells.append(new_code_cell(SET_UP_CHECK, id="set-up-check"))
        asked, code = "", ""
        if part.question:
            question = problem_set.question(part.question)
            asked, code = prompt_and_code(stubs[question.id], question)
        if asked:
            prose = f"{prose}\n\n**{titles[part.question]}**\n\n{asked}".strip()
        if prose:
            cells.append(new_markdown_cell(prose, id=f"prose-{number}"))
        if part.question:
            cells.append(new_code_cell(f"{heading(titles[question.id])}\n\n{code}", id=_cell_id("answer", question)))
            cells += _surroundings(problem_set, question, links.get(question.id))
    if has_souvenir(problem_set):
        cells.append(new_code_cell(SOUVENIR_CELL, id="souvenir"))
    cells.append(new_code_cell(CHECK_ALL_CELL, id="check-all"))
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


def heading(title: str) -> str:
    """A question's heading as a comment, in two lines if it is long."""
    name, _, facts = title.rpartition(" (")
    return f"# {title}" if len(title) + 2 <= COLUMNS else f"# {name}\n# ({facts}"


def prompt_and_code(stub: str, question: Question) -> tuple[str, str]:
    """A stub of variables, and what its comments ask as Markdown; a stub of functions as it is, and no Markdown."""
    if question.kind == "code" or any(not isinstance(node, ast.Assign) for node in ast.parse(stub).body):
        return "", stub.strip()
    asked: list[str] = []
    code: list[str] = []
    comment: list[str] = []
    for line in stub.strip().splitlines():
        if line.startswith("#") or not line.strip():
            comment.append(line.removeprefix("#"))
        else:
            statement, _, remark = line.partition("  # ")
            code.append(statement)
            asked += _as_markdown([*comment, remark], statement.partition("=")[0].strip())
            comment = []
    if question.kind == "written" and asked:
        asked.append(f'Write between triple quotes: `{question.names[0]} = """Your text."""`')
    return "\n\n".join(asked), "\n".join(code)


def _as_markdown(comment: list[str], name: str) -> list[str]:
    """The paragraphs of a comment as Markdown: options are a list, and the text before them asks for the variable."""
    blocks: list[str] = []
    opens = True
    for line in comment:
        text = line.strip()
        if opens or _OPTION.match(text) or not text:
            blocks += [text] if text else []
        elif _OPTION.match(blocks[-1]) and not line.startswith("  "):
            blocks.append(text)  # the options end here
        else:
            blocks[-1] += f" {text}"
        opens = not text
    options = [option for block in blocks if _OPTION.match(block) for option in NEXT_OPTION.split(block)]
    before = [block for block in blocks if not _OPTION.match(block)]
    first = next((place for place, block in enumerate(blocks) if _OPTION.match(block)), len(blocks)) - 1
    if first >= 0:
        before[first] = f"**`{name}`**: {before[first]}"
    listed = "\n".join(_OPTION.sub(r"- `\1` ", option, count=1) for option in options)
    return [*before[: first + 1], *filter(None, [listed]), *before[first + 1 :]]


def without_prompt(block: str, question: Question) -> str:
    """A block of a solution without the comments that `prompt_and_code` makes Markdown of."""
    if question.kind == "code":
        return block
    inside = solution_lines(block)
    lines = enumerate(block.splitlines())
    kept = [line for number, line in lines
            if number in inside or line.strip() in (BEGIN, END) or not line.startswith("#")]  # fmt: skip
    return "\n".join(kept).strip() + "\n"


def notebook_lines(problem_set: ProblemSet, stubs: dict[str, str]) -> list[str]:
    """The lines of the notebook that are neither in the module nor in the lesson."""
    headings = [line for title in banners(problem_set).values()
                for line in (f"# {title}", f"**{title}**", *heading(title).splitlines())]  # fmt: skip
    asked = [prompt_and_code(stubs[question.id], question) for question in problem_set.assignment.questions]
    prompts = [line for texts in asked for text in texts for line in text.splitlines()]
    calls = [f'{call}("{question.id}")' for question in problem_set.assignment.questions for call in ("check", "draw")]
    return [*headings, *prompts, *calls, *SET_UP_CHECK.splitlines(), *SOUVENIR_CELL.splitlines(), CHECK_ALL_CELL]


def _surroundings(problem_set: ProblemSet, question: Question, link: str | None) -> list[NotebookNode]:
    """The cells after an answer: its check, a link to the explorer, its hints, and the drawing of what it does."""
    from nbformat.v4 import new_code_cell, new_markdown_cell

    cells = [new_code_cell(f'check("{question.id}")', id=_cell_id("check", question))]
    below = "\n\n".join(filter(None, [link, folded(problem_set, question)]))
    if below:
        cells.append(new_markdown_cell(below, id=_cell_id("hints", question)))
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
