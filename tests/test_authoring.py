"""From the sources of a problem set to what students receive: nothing of the solution, and all of the task."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.authoring.handout import handout_parts
from autograder.authoring.stubs import BEGIN, END, STUB, solution_blocks, stub
from autograder.authoring.template import problem_set_files, stale, template_files, write
from autograder.course import Course, CourseError, ProblemSet, load_course

ROOT = Path(__file__).resolve().parents[1]
SLUGS = [listing.slug for listing in load_course(ROOT).settings.problem_sets]
HERE = Path("solution.py")


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(ROOT)


@pytest.fixture(scope="module", params=SLUGS)
def problem_set(course: Course, request: pytest.FixtureRequest) -> ProblemSet:
    return course.problem_set(request.param)


@pytest.fixture(scope="module")
def files(course: Course, problem_set: ProblemSet) -> dict[str, bytes]:
    return problem_set_files(course, problem_set)


@pytest.fixture
def copied(course_copy: Path) -> ProblemSet:
    """The first problem set in a course whose files may be changed."""
    return load_course(course_copy).problem_set("ps1")


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


# --- stubs


def test_a_solution_inside_a_function_becomes_an_error_and_at_top_level_nothing() -> None:
    block = (
        "def f(x):\n    '''Says what.'''\n    # BEGIN SOLUTION\n    return x\n    # END SOLUTION\n\n\n"
        "answer = None\n# BEGIN SOLUTION\nanswer = 'b'\n# END SOLUTION\n"
    )
    assert stub(block, HERE) == (
        "def f(x):\n    '''Says what.'''\n    raise NotImplementedError(\"not done yet\")\n\n\nanswer = None\n"
    )


def test_the_error_stands_where_the_solution_stood() -> None:
    marked = "            # BEGIN SOLUTION\n            x = 1\n            # END SOLUTION\n"
    block = f"class A:\n    def f(self):\n        if True:\n{marked}"
    assert f"            {STUB}\n" in stub(block, HERE)


def test_several_solutions_in_one_block_all_go() -> None:
    block = "".join(f"def f{n}():\n    # BEGIN SOLUTION\n    return {n}111\n    # END SOLUTION\n\n\n" for n in range(3))
    assert "111" not in stub(block, HERE)
    assert stub(block, HERE).count(STUB) == 3


def test_an_empty_solution_leaves_the_error() -> None:
    assert STUB in stub("def f():\n    # BEGIN SOLUTION\n    # END SOLUTION\n", HERE)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("x = 1\n# BEGIN SOLUTION\nx = 2\n", "line 2 of the block: # BEGIN SOLUTION is never closed"),
        ("x = 1\n# END SOLUTION\n", "line 2 of the block: # END SOLUTION without # BEGIN SOLUTION"),
        (
            "# BEGIN SOLUTION\nx = 1\n# BEGIN SOLUTION\nx = 2\n# END SOLUTION\n# END SOLUTION\n",
            "line 3 of the block: # BEGIN SOLUTION inside a solution that began at 1",
        ),
        ("# BEGIN SOLUTION\nx = 1\n# END SOLUTION\n# END SOLUTION\n", "line 4 of the block: # END SOLUTION without"),
        (
            "x = 1  # BEGIN SOLUTION\n# END SOLUTION\n",
            "line 1 of the block: a solution marker must stand",
        ),
        (
            "# BEGIN SOLUTION\nx = 1  # END SOLUTION\n",
            "line 2 of the block: a solution marker must stand",
        ),
        ("## BEGIN SOLUTION\nx = 1\n# END SOLUTION\n", "must stand on a line of its own"),
        ("# BEGIN SOLUTION: easy\nx = 1\n# END SOLUTION\n", "must stand on a line of its own"),
        ("def f():\n# BEGIN SOLUTION\n    return 1\n# END SOLUTION\n", "without its solution the block does not parse"),
        ("x = [\n# BEGIN SOLUTION\n1]\n# END SOLUTION\n", "without its solution the block does not parse"),
    ],
)
def test_markers_that_do_not_fit_are_told_with_their_line(block: str, message: str) -> None:
    with pytest.raises(CourseError) as caught:
        stub(block, HERE)
    assert str(caught.value).startswith("solution.py: ")
    assert message in str(caught.value)


def test_a_marker_spelled_almost_right_is_told(copied: ProblemSet) -> None:
    # One that is taken for an ordinary comment releases the solution.
    change(copied.solution, "    # BEGIN SOLUTION\n", "    # Begin solution\n")
    with pytest.raises(CourseError):
        problem_set_files(load_course(copied.solution.parents[1]), copied)


def test_a_solution_in_the_set_up_cell_is_not_released(copied: ProblemSet) -> None:
    marked = "# BEGIN SOLUTION\nSECRET = 42\n# END SOLUTION\n\n\n# === question: mix ==="
    change(copied.solution, "# === question: mix ===", marked)
    try:
        released = problem_set_files(load_course(copied.solution.parents[1]), copied)
    except CourseError:
        return
    assert b"SECRET" not in b"".join(released.values())


def test_a_tab_is_told_with_its_line(copied: ProblemSet) -> None:
    copied.solution.write_text("import numpy\n\nif True:\n\tx = 1\n", encoding="utf-8")
    with pytest.raises(CourseError, match=r"\.py:4: there is a tab"):
        solution_blocks(copied)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# === question: softmax ===", "# === question: soft_max ===", "the blocks are mix, soft_max,"),
        ("# === question: softmax ===\n", "", "the blocks are mix, guess_sharpness,"),
        ("# === question: softmax ===", "# === question: mix ===", "the block of question 'mix' opens twice"),
        ("# === question: softmax ===", "#=== question: softmax ===", "must be exactly `# === question: name ===`"),
        ("# === question: softmax ===", "# === question: softmax", "must be exactly"),
        ("# === question: softmax ===", "    # === question: softmax ===", "must be exactly"),
        ("# === question: softmax ===", "# === question: two words ===", "must be exactly"),
    ],
)
def test_blocks_that_do_not_fit_the_questions_are_told(copied: ProblemSet, old: str, new: str, message: str) -> None:
    change(copied.solution, old, new)
    with pytest.raises(CourseError) as caught:
        solution_blocks(copied)
    assert str(copied.solution) in str(caught.value)
    assert message in str(caught.value)


def test_blocks_in_another_order_are_told(copied: ProblemSet) -> None:
    change(copied.solution, "# === question: mix ===", "# === question: ??? ===")
    change(copied.solution, "# === question: softmax ===", "# === question: mix ===")
    change(copied.solution, "# === question: ??? ===", "# === question: softmax ===")
    with pytest.raises(CourseError, match=r"the blocks are softmax, mix, .* but assignment\.yml has mix, softmax,"):
        solution_blocks(copied)


def test_the_lines_before_the_first_question_are_the_set_up(problem_set: ProblemSet) -> None:
    blocks = solution_blocks(problem_set)
    assert list(blocks.questions) == [question.id for question in problem_set.assignment.questions]
    assert "import numpy" in blocks.set_up
    assert "=== question" not in blocks.set_up + "".join(blocks.questions.values())


# --- the handout


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<!-- question: softmax -->\n", "", "no slot for softmax"),
        ("<!-- question: softmax -->", "<!-- question: soft_max -->", "no slot for softmax"),
        ("<!-- question: softmax -->", " <!-- question: softmax -->", "no slot for softmax"),
        ("<!-- question: softmax -->", "<!--question: softmax-->", "no slot for softmax"),
        (
            "<!-- question: softmax -->",
            "<!-- question: softmax -->\n\n<!-- question: other -->",
            "a question: other",
        ),
        ("<!-- question: softmax -->", "<!-- question: softmax -->\n\n<!-- question: softmax -->", "or one appears twice"),
        ("<!-- question: softmax -->", "<!-- question: softmax -->\n\n<!-- question: mix -->", "or one appears twice"),
    ],
)
def test_slots_that_do_not_fit_the_questions_are_told(copied: ProblemSet, old: str, new: str, message: str) -> None:
    change(copied.folder / "handout.md", old, new)
    with pytest.raises(CourseError) as caught:
        handout_parts(copied)
    assert str(caught.value).startswith(f"{copied.folder / 'handout.md'}: ")
    assert message in str(caught.value)


def test_slots_in_another_order_are_told(copied: ProblemSet) -> None:
    path = copied.folder / "handout.md"
    change(path, "<!-- question: mix -->", "<!-- question: ??? -->")
    change(path, "<!-- question: softmax -->", "<!-- question: mix -->")
    change(path, "<!-- question: ??? -->", "<!-- question: softmax -->")
    with pytest.raises(CourseError, match=r"not in the order of assignment\.yml"):
        handout_parts(copied)


def test_a_handout_with_windows_line_ends_is_cut_all_the_same(copied: ProblemSet) -> None:
    before = handout_parts(copied)
    path = copied.folder / "handout.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert handout_parts(copied) == before


def test_every_question_follows_its_prose(problem_set: ProblemSet) -> None:
    parts = handout_parts(problem_set)
    assert [part.question for part in parts] == [*(question.id for question in problem_set.assignment.questions), ""]
    text = (problem_set.folder / "handout.md").read_text(encoding="utf-8")
    assert parts[0].prose.startswith(text.lstrip()[:20])


def test_ledger_remarks_are_taken_out_and_the_numbers_stay(problem_set: ProblemSet, files: dict[str, bytes]) -> None:
    source = (problem_set.folder / "handout.md").read_text(encoding="utf-8")
    remarks = re.findall(r"(\S+?) ?<!-- ledger: [^>]*-->", source)
    assert remarks
    assert b"ledger:" not in files[f"{problem_set.slug}/README.md"]
    assert b"<!--" not in files[f"{problem_set.slug}/README.md"]
    prose = "".join(part.prose for part in handout_parts(problem_set))
    assert all(number in prose for number in remarks)
    assert "ledger:" not in prose


# --- the release


def solution_regions(problem_set: ProblemSet) -> Iterator[tuple[int, str]]:
    """The lines of a solution that students must never see, with their numbers."""
    inside = False
    for number, line in enumerate(problem_set.solution.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip() in (BEGIN, END):
            inside = line.strip() == BEGIN
        elif inside:
            yield number, line


def released_lines(files: dict[str, bytes]) -> set[str]:
    """Every line of every text file that students get; of a notebook, the lines of its cells."""
    lines: set[str] = set()
    for name, content in files.items():
        text = content.decode()
        lines |= {line.strip() for line in text.splitlines()}
        if name.endswith(".ipynb"):
            lines |= {line.strip() for cell in json.loads(text)["cells"] for line in "".join(cell["source"]).splitlines()}
    return lines


def test_no_line_of_a_solution_is_in_any_released_file(problem_set: ProblemSet, files: dict[str, bytes]) -> None:
    released = released_lines({name: content for name, content in files.items() if not name.endswith(".svg")})
    # What stands outside the solutions is no secret, even if a solution says it too.
    secret_lines = {number for number, _ in solution_regions(problem_set)}
    text = problem_set.solution.read_text(encoding="utf-8")
    public = {line.strip() for number, line in enumerate(text.splitlines(), start=1) if number not in secret_lines}
    public |= {line.strip() for line in (problem_set.folder / "test_public.py").read_text(encoding="utf-8").splitlines()}
    secrets = [line.strip() for _, line in solution_regions(problem_set)]
    # Brackets, `else:` and the like give nothing away.
    leaked = [line for line in secrets if len(line) > 12 and line in released and line not in public]
    assert len(secrets) > 50
    assert leaked == []


def test_no_marker_and_no_choice_is_released(problem_set: ProblemSet, files: dict[str, bytes]) -> None:
    texts = {name: content.decode() for name, content in files.items() if not name.endswith(".svg")}
    for text in texts.values():
        assert "BEGIN SOLUTION" not in text
        assert "END SOLUTION" not in text
        assert "=== question" not in text
    module = ast.parse(texts[f"{problem_set.slug}/{problem_set.assignment.module}.py"])
    given = {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for question in problem_set.assignment.questions:
        if question.kind != "code":
            for name in question.names:
                assert isinstance(given[name], ast.Constant)
                assert given[name].value is None


def test_neither_hidden_tests_nor_mutants_are_released(
    course: Course, problem_set: ProblemSet, files: dict[str, bytes]
) -> None:
    everything = b"\n".join(files.values())
    for name in ("test_hidden.py", "mutants.py", "alternatives.py"):
        source = (problem_set.folder / name).read_text(encoding="utf-8")
        functions = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
        public = (problem_set.folder / "test_public.py").read_text(encoding="utf-8")
        solution = problem_set.solution.read_text(encoding="utf-8")
        for function in functions:
            if f"def {function}(" not in public + solution:
                assert f"def {function}(".encode() not in everything
    assert not any("hidden" in name or "mutants" in name for name in [*files, *template_files(course)])


def functions_of(source: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}


def test_stubs_keep_signature_and_docstring(problem_set: ProblemSet, files: dict[str, bytes]) -> None:
    assignment = problem_set.assignment
    solved = functions_of(problem_set.solution.read_text(encoding="utf-8"))
    released = functions_of(files[f"{problem_set.slug}/{assignment.module}.py"].decode())
    asked = [name for question in assignment.questions for name in question.names if name in solved]
    assert len(asked) > 5
    for name in asked:
        assert ast.unparse(released[name].args) == ast.unparse(solved[name].args)
        assert ast.dump(released[name].returns or ast.Pass()) == ast.dump(solved[name].returns or ast.Pass())
        # Long lines are broken anew.
        assert (ast.get_docstring(released[name]) or "").split() == (ast.get_docstring(solved[name]) or "").split()
        assert ast.get_docstring(released[name])
        assert ast.unparse(released[name].body[-1]) == "raise NotImplementedError('not done yet')"


def test_module_and_notebook_give_the_same_stubs(problem_set: ProblemSet, files: dict[str, bytes]) -> None:
    assignment = problem_set.assignment
    cells = json.loads(files[f"{problem_set.slug}/{assignment.module}.ipynb"])["cells"]
    notebook = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    module = files[f"{problem_set.slug}/{assignment.module}.py"].decode()
    assert {name: ast.dump(node) for name, node in functions_of(notebook).items()} == {
        name: ast.dump(node) for name, node in functions_of(module).items()
    }


def test_the_notebook_is_valid_and_opens_with_python_3(problem_set: ProblemSet, files: dict[str, bytes]) -> None:
    notebook: Any = nbformat.reads(files[f"{problem_set.slug}/{problem_set.assignment.module}.ipynb"].decode(), as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec == {"display_name": "Python 3", "language": "python", "name": "python3"}
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert not any(cell.get("outputs") for cell in notebook.cells)


def test_the_notebook_has_each_question_with_its_check_behind_it(problem_set: ProblemSet, files: dict[str, bytes]) -> None:
    cells = json.loads(files[f"{problem_set.slug}/{problem_set.assignment.module}.ipynb"])["cells"]
    ids = [cell["id"] for cell in cells]
    described = json.loads(files[f"{problem_set.slug}/problem_set.json"])
    for question in described["questions"]:
        answer = ids.index(f"answer-{question['id'].replace('_', '-')}")
        assert "".join(cells[answer + 1]["source"]) == f'check("{question["id"]}")'


def test_the_module_runs_without_an_answer(problem_set: ProblemSet, files: dict[str, bytes]) -> None:
    source = files[f"{problem_set.slug}/{problem_set.assignment.module}.py"].decode()
    namespace: dict[str, Any] = {"__name__": "released"}
    exec(compile(source, "released", "exec"), namespace)
    for question in problem_set.assignment.questions:
        assert set(question.names) <= namespace.keys()


def test_the_description_holds_only_ledger_rows_that_public_tests_cite(
    problem_set: ProblemSet, files: dict[str, bytes]
) -> None:
    public = (problem_set.folder / "test_public.py").read_text(encoding="utf-8")
    rows = json.loads(files[f"{problem_set.slug}/problem_set.json"])["ledger"]
    assert all(f'"{row}"' in public for row in rows)


def test_releasing_twice_gives_the_same_bytes(course: Course, problem_set: ProblemSet, files: dict[str, bytes]) -> None:
    assert problem_set_files(course, problem_set) == files
    assert template_files(course) == template_files(course)


def test_writing_twice_changes_nothing(files: dict[str, bytes], tmp_path: Path) -> None:
    assert sorted(write(files, tmp_path)) == sorted(files)
    assert stale(files, tmp_path) == []
    assert write(files, tmp_path) == []
    some = min(files)
    (tmp_path / some).write_bytes(b"changed")
    assert stale(files, tmp_path) == [some]
    assert write(files, tmp_path) == [some]


def test_the_template_holds_the_kit_and_not_the_grader(course: Course) -> None:
    names = set(template_files(course))
    assert {"README.md", "conftest.py", "pytest.ini", "requirements.txt", "autograder/testing/student.py"} <= names
    assert not any("sandbox" in name or "worker" in name or "variants" in name for name in names)
    for name, content in template_files(course).items():
        if name.endswith(".py"):
            ast.parse(content)


def test_a_public_test_that_cites_a_row_that_is_not_there_is_told(copied: ProblemSet) -> None:
    path = copied.folder / "test_public.py"
    path.write_text(path.read_text(encoding="utf-8") + '\n# ledger.value("Z9-99", "x")\n', encoding="utf-8")
    with pytest.raises(CourseError, match=r"test_public\.py: the ledger has no row Z9-99"):
        problem_set_files(load_course(copied.folder.parents[1]), copied)


def test_public_tests_that_cannot_be_imported_are_told(copied: ProblemSet) -> None:
    (copied.folder / "test_public.py").write_text("import no_such_module\n", encoding="utf-8")
    with pytest.raises(CourseError, match=r"test_public\.py cannot be imported: ModuleNotFoundError"):
        problem_set_files(load_course(copied.folder.parents[1]), copied)
