"""What an instructor of otter-grader needs: a master notebook, and what `otter assign` makes of it.

otter runs a submission in one process with its tests: read `docs/platforms.md` before points from it count.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from autograder.assignment import Question
from autograder.authoring.frame import banners, folded, payoffs
from autograder.authoring.rendering import lesson, prompt_and_code, without_docstring, without_prompt
from autograder.authoring.repository import REQUIREMENTS
from autograder.authoring.stubs import BEGIN, END, STUB, solution_blocks, stub
from autograder.authoring.template import problem_set_files, public_points, template_files
from autograder.course import Course, CourseError, ProblemSet
from autograder.kit.embedded import graded_tests
from autograder.platforms.archive import archive
from autograder.platforms.suite import question_suite

# Folders beside the notebook: suites of the public tests, which students get too, and of all tests, only in otter's zip.
SUITES, HIDDEN_SUITES = "suites", "hidden_suites"
# What drawings and figures need, of the template.
SUPPORT = ("figures/", "payoffs.py", "problem_set.json")
IGNORED = {"tags": ["otter_ignore"]}  # a cell that otter does not run when it grades


def release_files(course: Course, problem_set: ProblemSet) -> dict[str, bytes]:
    """The files of a release for otter, by path.

    `master/` is what `otter assign` reads, `student/` what students get, `autograder.zip` what otter and Gradescope grade
    with. otter grades the reference solution on the way: raises `CourseError` with what it said unless that earns all.
    """
    module = problem_set.assignment.module
    master = master_files(course, problem_set)
    files = {f"master/{name}": content for name, content in master.items()}
    with tempfile.TemporaryDirectory(prefix="otter-") as name:
        folder = Path(name)
        for path, content in master.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        command = [sys.executable, "-m", "otter", "assign", "--no-pdfs", f"{module}.ipynb", "made"]
        said = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if said.returncode:
            raise CourseError(f"otter assign failed on {problem_set.slug}:\n{(said.stdout + said.stderr)[-4000:]}")
        student = folder / "made/student"
        _require_stubs(problem_set, (student / f"{module}.ipynb").read_bytes())
        for copy in sorted(copy for copy in student.rglob("*") if copy.is_file()):
            content = copy.read_bytes()
            if copy.parent.name == "tests" and b"@test_case" not in content:
                continue  # of a question without public tests, `check_all` would say that all its tests passed
            files[f"student/{copy.relative_to(student)}"] = _settled(content) if copy.suffix == ".ipynb" else content
        [zipped] = (folder / "made/autograder").glob("*.zip")
        with zipfile.ZipFile(zipped) as made:
            # otter copies its files beside a submission, and takes a second module there for a second submission.
            kept = [path for path in made.namelist() if not path.endswith("/") and path != "files/payoffs.py"]
            files["autograder.zip"] = archive({path: made.read(path) for path in kept})
    # otter makes notebooks only, but takes modules.
    files[f"student/{module}.py"] = problem_set_files(course, problem_set)[f"{problem_set.slug}/{module}.py"]
    return files


def master_files(course: Course, problem_set: ProblemSet) -> dict[str, bytes]:
    """What `otter assign` reads, by path: the master notebook, and beside it the kit, the tests and the figures."""
    kit = {name: content for name, content in template_files(course).items() if name.startswith("autograder/")}
    files = {f"{problem_set.assignment.module}.ipynb": _notebook(problem_set), **kit}
    for question in _tested(problem_set):
        for folder, platform in ((SUITES, ""), (HIDDEN_SUITES, "otter")):
            suite = question_suite(problem_set, question.id, platform=platform)
            if graded_tests(suite) or suite["prediction"]:
                files[f"{folder}/{question.id}.json"] = json.dumps(suite, indent=1, ensure_ascii=False).encode() + b"\n"
    template = problem_set_files(course, problem_set)
    for name in (name for name in template if name.startswith(tuple(f"{problem_set.slug}/{part}" for part in SUPPORT))):
        files[name.removeprefix(f"{problem_set.slug}/")] = template[name]
    return files


def _notebook(problem_set: ProblemSet) -> bytes:
    """The master notebook: otter's raw cells mark stubs, solutions and tests."""
    blocks = solution_blocks(problem_set)
    titles, public = banners(problem_set), public_points(problem_set)
    cells = [_raw("# ASSIGNMENT CONFIG", **_settings(problem_set))]
    for number, part in enumerate(lesson(problem_set)):
        # otter grades a question where its check stands, and an answer may use what a later one defines. What is checked
        # again behind the last answer counts.
        again = {} if part.question else {"otter": {"tests": [question.id for question in _tested(problem_set)]}}
        cells.append(new_markdown_cell(part.prose, metadata=again))
        if number == 0:
            cells.append(new_code_cell(_otter_marks(without_docstring(blocks.set_up))))
        if part.question:
            question = problem_set.question(part.question)
            written = question.kind == "written"
            block = blocks.questions[question.id]
            asked, _ = prompt_and_code(stub(block, problem_set.solution), question)
            settings = {"manual": True, "points": question.points} if written else {"check_cell": question.id in public}
            cells += [
                _raw("# BEGIN QUESTION", name=question.id, **settings),
                new_markdown_cell(f"**{titles[question.id]}**\n\n{asked}".strip()),
                *_fenced("SOLUTION", [new_code_cell(_otter_marks(without_prompt(block, question)))]),
                *_fenced("TESTS", [] if written else _test_cells(problem_set, question.id)),
                _raw("# END QUESTION"),
            ]
            if hints := folded(problem_set, question):
                cells.append(new_markdown_cell(hints))
            if question.id in payoffs(problem_set):
                cells.append(new_code_cell(f'from autograder.kit import draw\n\ndraw("{question.id}")', metadata=IGNORED))
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return _settled(nbformat.writes(new_notebook(cells=cells, metadata=metadata)).encode())


def _tested(problem_set: ProblemSet) -> list[Question]:
    """The questions that tests give points for."""
    return [question for question in problem_set.assignment.questions if question.kind != "written"]


def _settings(problem_set: ProblemSet) -> dict[str, Any]:
    support = ["figures"] if any((problem_set.folder / "figures").glob("*.svg")) else []
    support += ["payoffs.py"] if payoffs(problem_set) else []
    return {
        "check_all_cell": True,
        "export_cell": {"pdf": False},
        "tests": {"files": True, "ok_format": False},
        "requirements": REQUIREMENTS.split(),
        "files": ["autograder", SUITES, "problem_set.json", *support],
        "autograder_files": [HIDDEN_SUITES],
        # On Gradescope, students see the points of a question once grades are published; of a hidden test only what
        # `require_passed` tells.
        "generate": {"show_hidden": True},
    }


def _test_cells(problem_set: ProblemSet, question: str) -> list[NotebookNode]:
    """A cell for each test, in otter's exception format. The test itself stands in the question's suite."""
    suite = question_suite(problem_set, question, platform="otter")
    tests = [(test, mark.title, mark.points, hidden) for test, (_, mark, hidden) in graded_tests(suite).items()]
    if suite["prediction"]:
        tests = [(f"prediction_{question}", "You committed to a prediction", suite["prediction"]["points"], False)]
    cells = []
    for test, title, points, hidden in tests:
        # otter pastes the message between double quotes as it stands.
        message = title.replace("\\", "\\\\").replace('"', '\\"')
        settings = {"points": points, "hidden": hidden, "failure_message": message}
        cells.append(
            new_code_cell(
                f'""" # BEGIN TEST CONFIG\n{_yaml(settings)}""" # END TEST CONFIG\n'
                f"def {test}(env):\n"
                f"    from autograder.kit.embedded import require_passed\n\n"
                f'    require_passed(env, "{HIDDEN_SUITES if hidden else SUITES}/{question}.json", "{test}")'
            )
        )
    return cells


def _fenced(kind: str, cells: list[NotebookNode]) -> list[NotebookNode]:
    return [_raw(f"# BEGIN {kind}"), *cells, _raw(f"# END {kind}")] if cells else []


def _raw(mark: str, **settings: Any) -> NotebookNode:
    return new_raw_cell(f"{mark}\n{_yaml(settings)}".strip() if settings else mark)


def _yaml(settings: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=1000)
    return text


def _otter_marks(block: str) -> str:
    """A block with otter's marks: it cuts the solution out, and inside a function puts the stub in its place."""
    lines = []
    for line in block.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if line.strip() == BEGIN:
            lines.append(f"{indent}{BEGIN} NO PROMPT")
        else:
            lines.append(line)
            if line.strip() == END and indent:
                lines += [f'{indent}""" # BEGIN PROMPT', indent + STUB, f'{indent}""" # END PROMPT']
    return "\n".join(lines)


def _require_stubs(problem_set: ProblemSet, notebook: bytes) -> None:
    """Raise `CourseError` unless the cells that `otter assign` made for students are the stubs and nothing more."""
    cells = nbformat.reads(notebook.decode(), as_version=4).cells
    answers = [cell.source for cell in cells if "otter_answer_cell" in cell.metadata.get("tags", [])]
    blocks = solution_blocks(problem_set).questions.values()
    stubs = [stub(block, problem_set.solution) for block in blocks]
    if [ast.dump(ast.parse(answer)) for answer in answers] != [ast.dump(ast.parse(wanted)) for wanted in stubs]:
        raise CourseError(f"what otter assign made of {problem_set.slug} for students is not its stubs; do not give it out")


def _settled(content: bytes) -> bytes:
    """A notebook with cell ids that count, not random ones: the same source gives the same bytes."""
    notebook = nbformat.reads(content.decode(), as_version=4)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)
    return f"{text}\n".encode()
