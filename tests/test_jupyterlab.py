"""The notebooks as students meet them: opened, answered, run and saved in JupyterLab, in a real browser."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell

pytest.importorskip("nbgrader", reason="needs the extra `grader`")  # JupyterLab comes with it

from autograder.authoring.template import write
from autograder.course import ProblemSet, load_course
from autograder.platforms.targets.nbgrader import release_files as nbgrader_files
from autograder.testing.bench import HIDDEN
from tests.support.browsing import TOKEN, jupyter_server, tab_of
from tests.support.nbgrader_tools import nbgrader_api, succeed

ROOT = Path(__file__).resolve().parents[1]

MIX = '''def mix(weights, values):
    """Blend values."""
    if (weights < 0).any() or abs(weights.sum() - 1) > 1e-6:
        raise ValueError("these are no shares of a budget of one")
    return weights @ values'''
# The course is installed where the tests run, so nobody would miss a kit that a student does not have.
WHICH_KIT = "import pathlib, autograder\nprint(pathlib.Path(autograder.__file__).resolve().parent)"


class Page:
    """A notebook in a tab of JupyterLab; its cells go by the names they have in the file."""

    def __init__(self, tab: Any, file: Path) -> None:
        self.tab = tab
        self.file = file
        self.before = nbformat.read(file, as_version=4)
        self.places = {cell.id: place for place, cell in enumerate(self.before.cells)}

    def cell(self, name: str) -> Any:
        return self.tab.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{self.places[name]}"]')

    def type(self, name: str, text: str) -> None:
        """Put a text in place of what a cell holds, with mouse and keyboard."""
        self.cell(name).locator(".cm-content").click()
        # With the cursor elsewhere, the next keys would select all cells.
        self.cell(name).locator(".cm-editor.cm-focused").wait_for()
        self.tab.keyboard.press("ControlOrMeta+a")
        self.tab.keyboard.insert_text(text)

    def run(self, *names: str) -> None:
        """Run cells one after the other, as the menu does."""
        for name in names:
            self.tab.evaluate(
                """async place => {
                    jupyterapp.shell.currentWidget.content.activeCellIndex = place;
                    await jupyterapp.commands.execute("notebook:run-cell");
                }""",
                self.places[name],
            )
            self.cell(name).locator(".jp-InputPrompt").filter(has_text=re.compile(r"\[\d+\]")).wait_for()

    def output(self, name: str) -> str:
        """Run a cell; what is then shown first below it."""
        self.run(name)
        shown = self.cell(name).locator(".jp-OutputArea-output").first
        shown.filter(has_text=re.compile(r"\S")).wait_for()
        return str(shown.text_content()).rstrip()

    def wait_for_kernel(self) -> None:
        """Wait until there is a kernel that has nothing to do. The page's own sign says so before there is one."""
        self.tab.wait_for_function(
            """() => {
                const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
                return kernel?.connectionStatus == "connected" && kernel.status == "idle";
            }"""
        )

    def text(self) -> str:
        """All that the notebook shows, from the first line to the last."""
        self.tab.set_viewport_size({"width": 1280, "height": 3_000})
        texts = []
        for cell in self.save().cells:
            shown = self.cell(cell.id).element_handle()
            if cell.cell_type == "code":
                # An editor draws no more lines than are in view, and the page may grow above it meanwhile.
                drawn = "cell => { cell.scrollIntoView(); return cell.querySelectorAll('.cm-line').length; }"
                lines = cell.source.count("\n") + 1
                self.tab.wait_for_function(f"cell => ({drawn})(cell) == {lines}", arg=shown)
            texts.append(str(shown.text_content()))
        return "\n".join(texts)

    def save(self) -> nbformat.NotebookNode:
        """Save as a student does; what the file then holds."""
        with self.tab.expect_response(lambda answer: answer.request.method == "PUT" and "/contents/" in answer.url) as saved:
            self.tab.keyboard.press("ControlOrMeta+s")
        assert saved.value.ok, saved.value.text()
        notebook = nbformat.read(self.file, as_version=4)
        nbformat.validate(notebook)
        return notebook


@contextmanager
def opened(browser: Any, file: Path, home: Path) -> Iterator[Page]:
    """A notebook in JupyterLab, started in `home`, with all its cells and figures and a kernel that waits."""
    notebook = nbformat.read(file, as_version=4)
    place = next(place for place, cell in enumerate(notebook.cells) if cell.id == "set-up-check")
    notebook.cells.insert(place + 1, new_code_cell(WHICH_KIT, id="which-kit"))
    nbformat.write(notebook, file)
    figures = sum(cell.source.count("](figures/") for cell in notebook.cells)
    assert figures > 3
    with jupyter_server(home) as base, tab_of(browser) as tab:
        page = Page(tab, file)
        tab.goto(f"{base}/lab/tree/{file.relative_to(home).as_posix()}?token={TOKEN}")
        page.cell(notebook.cells[-1].id).wait_for(state="attached")
        drawn = "[...document.querySelectorAll('.jp-RenderedMarkdown img')].filter(image => image.naturalWidth)"
        tab.wait_for_function(f"{drawn}.length == {figures}")
        page.wait_for_kernel()
        yield page


def answer_one_question(page: Page, kit: Path) -> None:
    """Answer `mix` in the page and leave `softmax`: their checks say so, by the kit of the student's own folder.

    What is saved is what was there, but for the answer, and no cell ended with an error.
    """
    public = public_points(page.file.parent)
    page.run("set-up", "set-up-check")
    assert page.output("which-kit") == str(kit.resolve())
    page.type("answer-mix", MIX)
    page.run("answer-mix", "answer-softmax")
    assert page.output("check-mix").splitlines()[0] == f"  mix  {public['mix']} of {public['mix']} points"
    assert page.output("check-softmax").splitlines()[0] == f"  softmax  0 of {public['softmax']} points   not done yet"
    saved = page.save()
    page.before.cells[page.places["answer-mix"]].source = MIX
    assert essence(saved) == essence(page.before)
    assert "error" not in {output.output_type for cell in saved.cells for output in cell.get("outputs", [])}
    assert page.tab.locator(".jp-Dialog, .jp-Notebook mjx-merror").count() == 0


def essence(notebook: nbformat.NotebookNode) -> list[tuple[str, str, str, Any]]:
    """What a grader reads of a notebook."""
    return [(cell.id, cell.cell_type, cell.source, cell.metadata.get("nbgrader")) for cell in notebook.cells]


def public_points(folder: Path) -> dict[str, str]:
    """The points that each question's public tests give, as they are printed."""
    questions = json.loads((folder / "problem_set.json").read_text(encoding="utf-8"))["questions"]
    return {question["id"]: f"{question['public_points']:g}" for question in questions}


def secrets(folder: Path, problem_set: ProblemSet) -> set[str]:
    """The names of the hidden tests, and the lines that nbgrader is to cut out of a source notebook."""
    notebook = nbformat.read(folder / "source" / "ps1" / "ps1.ipynb", as_version=4)
    region = re.compile(r"### BEGIN (?:HIDDEN TESTS|SOLUTION)\n(.*?)### END", re.DOTALL)
    source = "\n".join(cell.source for cell in notebook.cells)
    known = region.sub("", source) + (ROOT / "student_template" / "ps1" / "test_public.py").read_text(encoding="utf-8")
    lines = {line.strip() for text in region.findall(source) for line in text.splitlines()}
    names = re.findall(r"def (test_\w+)", (problem_set.folder / HIDDEN).read_text(encoding="utf-8"))
    return {*names, *(line for line in lines if len(line) > 25 and line not in known)}


@pytest.mark.slow
def test_a_student_answers_and_checks_in_the_template(browser: Any, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(ROOT / "student_template", home)
    with opened(browser, home / "ps1" / "ps1.ipynb", home) as page:
        answer_one_question(page, home / "autograder")


@pytest.mark.slow
def test_a_student_answers_and_checks_in_nbgraders_release(browser: Any, tmp_path: Path) -> None:
    course = load_course(ROOT)
    problem_set = course.problem_set("ps1")
    folder, home = tmp_path / "course", tmp_path / "home"
    write(nbgrader_files(course, problem_set), folder)
    succeed(nbgrader_api(folder).generate_assignment("ps1"))
    shutil.copytree(folder / "release", home)
    secret = secrets(folder, problem_set)
    assert len(secret) > 100
    with opened(browser, home / "ps1" / "ps1.ipynb", home) as page:
        answer_one_question(page, home / "ps1" / "autograder")
        # The cells that give the points; on a student's machine they hold the public tests alone.
        public = public_points(home / "ps1")
        assert page.output("test-mix") == f"{public['mix']} of {public['mix']} points"
        said = page.output("test-softmax")
        assert said.startswith(f"0 of {public['softmax']} points\n")
        assert "not done yet: `softmax`" in said
        shown = page.text()
        assert "def test_mix_" in shown
        assert not [line for line in secret if line in shown]
        # What the page holds and does not show is saved with the rest.
        saved = page.file.read_text(encoding="utf-8")
        assert not [line for line in secret if json.dumps(line)[1:-1] in saved]
