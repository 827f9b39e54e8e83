"""An updated template reaches a student's folder: what is done stays as it is, all else becomes new."""

from __future__ import annotations

import ast
import copy
import hashlib
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.authoring.template import problem_set_files, template_files
from autograder.course import load_course
from autograder.kit import release_files, update
from autograder.kit.release_files import base_name, dump_base, read_release

ROOT = Path(__file__).resolve().parents[1]
STUB = 'raise NotImplementedError("not done yet")'


# --- small templates


@dataclass(frozen=True)
class Task:
    """A question of a small template: functions, and variables whose comment is their task."""

    id: str
    functions: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    says: str = "as ever"
    given: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return self.functions + self.variables

    def stub(self, name: str) -> str:
        if name in self.variables:
            return f'# What is {name}, {self.says}?\n#   "a" this    "b" that\n{name} = None\n'
        task = f'    """Do {name}, {self.says}.\n\n    x: any.\n    """\n'
        return f"def {name}(x: float, y: float = 1.0) -> float:\n{task}    {STUB}\n"

    def text(self) -> str:
        return "\n\n".join([*([self.given] if self.given else []), *(self.stub(name) for name in self.names)])


def answer(name: str) -> str:
    """A finished version of any small stub of that name."""
    if name.startswith("v"):
        return f'{name} = "b"  # sure'
    return f'def {name}(x: float, y: float = 1.0) -> float:\n    """Mine."""\n    # step one\n    z = x + y\n\n    return z'


BASE = (
    Task("one", ("f_one",)),
    Task("two_parts", ("f_two", "g_two"), given="LIMIT = 3\n"),
    Task("three", (), ("v_three", "v_third")),
    Task("four", ("f_four",), ("v_four",)),
)
SET_UP = '"""A small set."""\n\nimport math\nimport os\n\nSIZE = 8  # given\n'


def template(tasks: Sequence[Task] = BASE, version: str = "1.0.0", set_up: str = SET_UP) -> dict[str, bytes]:
    """The files of a small template, in the form that `course release` gives them."""
    heads = {task.id: f"Question {n}: The {task.id} (core, 2 points)" for n, task in enumerate(tasks, start=1)}
    module = set_up + "".join(f"\n\n# --- {heads[task.id]}\n\n{task.text()}" for task in tasks)
    prose = [f"## Part {task.id}\n\nText, {task.says}." for task in tasks] + ["The end."]
    cells = []
    for number, part in enumerate(prose):
        cells.append(markdown(f"prose-{number}", part))
        if number == 0:
            cells.append(code("set-up", set_up.split('"""\n\n')[-1].strip()))
            cells.append(code("set-up-check", 'import sys\n\nsys.path.insert(0, "..")\nfrom autograder.kit import check'))
        if number < len(tasks):
            task = tasks[number]
            cells.append(code(f"answer-{task.id}".replace("_", "-"), f"# {heads[task.id]}\n\n{task.text().strip()}"))
            cells.append(code(f"check-{task.id}".replace("_", "-"), f'check("{task.id}")'))
    readme = prose[0] + "".join(
        f"\n\n> **{heads[task.id]}.** Your turn.\n\n{text}" for task, text in zip(tasks, prose[1:], strict=True)
    )
    description = {
        "title": "Small",
        "version": version,
        "module": "ps9",
        "questions": [{"id": task.id, "names": task.names} for task in tasks],
    }
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    texts = {
        "ps9/ps9.py": module,
        "ps9/ps9.ipynb": json.dumps(notebook, indent=1) + "\n",
        "ps9/README.md": readme + "\n",
        "ps9/problem_set.json": json.dumps(description),
        "ps9/test_public.py": f"# tests of {version}\n",
        "ps9/figures/a.svg": f"<svg>{version}</svg>",
        "autograder/kit/__init__.py": f"# kit of {version}\n",
        "conftest.py": "# the same in all versions\n",
    }
    files = {name: text.encode() for name, text in texts.items()}
    return {**files, base_name("ps9"): dump_base(files, "ps9")}


def code(name: str, text: str) -> dict[str, Any]:
    lines = text.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "id": name, "metadata": {}, "outputs": [], "source": lines}


def markdown(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}


def put(files: dict[str, bytes], folder: Path) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def bring(folder: Path, release: dict[str, bytes]) -> update.Plan:
    plan = update.make_plan(folder, release)
    update.carry_out(plan, folder)
    return plan


def told(plan: update.Plan) -> str:
    return "\n".join(plan.told)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A student's folder with a beginning in it: a comment of their own in the module, and a cell in the notebook."""
    folder = put(template(), tmp_path / "mine")
    edit(folder / "ps9/ps9.py", '"""A small set."""', '"""A small set."""\n\n# mine')
    change_cells(folder, lambda cells: cells.append(code("own", "# mine")))
    return folder


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def cells_of(folder: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads((folder / "ps9/ps9.ipynb").read_text(encoding="utf-8"))["cells"]
    return cells


def change_cells(folder: Path, change: Callable[[list[dict[str, Any]]], None], **notebook: Any) -> None:
    path = folder / "ps9/ps9.ipynb"
    whole = json.loads(path.read_text(encoding="utf-8"))
    change(whole["cells"])
    path.write_text(json.dumps({**whole, **notebook}, indent=1) + "\n", encoding="utf-8")


def text_of(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


NEW_TASKS = (
    replace(BASE[0], says="better"),
    Task("extra", ("f_extra",), given="STEP = 2\n"),
    replace(BASE[1], says="better", functions=("f_two", "g_two", "h_two")),
    BASE[3],
    Task("last", (), ("v_last",)),
)
NEW = template(NEW_TASKS, "1.1.0", SET_UP.replace("import os\n", "import os\nimport re\n") + "WIDTH = 4\n")


# --- any work at all

OWN = (
    "def helper_{n}(x):\n    # own remark {n}\n    return x\n",
    "# own remark {n}\nown_{n} = [\n    1,\n\n    2,\n]\n",
    "import json as json_{n}  # own remark {n}\n",
    "own_{n} = 1; other_{n} = 2\n",
    "class Own{n}:\n    '''Own, with\n\n# --- Question 1: no heading (core, 2 points)\n    inside.'''\n",
    "# own remark {n}\n",
    "if SIZE:\n    own_{n} = '''\nx = None\n'''\n",
    "print('''\n\x0c # {n}''')\n",
)

changes = st.fixed_dictionaries(
    {
        "filled": st.sets(st.sampled_from([name for task in BASE for name in task.names])),
        "gone": st.sets(st.sampled_from([task.id for task in BASE]), max_size=2),
        "says": st.sets(st.sampled_from([task.id for task in BASE])),
        "new": st.lists(st.integers(0, 4), max_size=3),
        "own": st.lists(st.tuples(st.integers(0, 30), st.sampled_from(OWN)), max_size=6),
    }
)


def new_tasks(drawn: dict[str, Any]) -> list[Task]:
    tasks = [replace(task, says="better") if task.id in drawn["says"] else task for task in BASE]
    tasks = [task for task in tasks if task.id not in drawn["gone"]]
    for number, place in enumerate(drawn["new"]):
        tasks.insert(place, Task(f"new_{number}", (f"f_new_{number}",), (f"v_new_{number}",)))
    return tasks


def pieces(source: str) -> list[str]:
    """The statements at top level as their lines stand there."""
    lines = list(io.StringIO(source, newline=""))
    spans = [
        (min([n.lineno, *(d.lineno for d in getattr(n, "decorator_list", []))]), n.end_lineno)
        for n in ast.parse(source).body
    ]
    return ["".join(lines[start - 1 : end]).rstrip("\r\n") for start, end in spans]


def in_order(parts: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(part in rest for part in parts)


@settings(max_examples=25)
@given(drawn=changes, windows=st.booleans(), mark=st.booleans(), one_form=st.booleans(), ends=st.booleans())
def test_every_statement_that_is_no_untouched_stub_survives(
    drawn: dict[str, Any], windows: bool, mark: bool, one_form: bool, ends: bool
) -> None:
    source = template()["ps9/ps9.py"].decode()
    for task in BASE:
        for name in drawn["filled"] & set(task.names):
            stub = task.stub(name).splitlines(keepends=True)
            old = stub[-1] if name in task.variables else "".join(stub)
            source = source.replace(old, answer(name) + "\n")
    chunks = re.split(r"(?<=\n)\n(?=\n|# |def |LIMIT|SIZE|\w+ = )", source)
    for number, (place, own) in enumerate(drawn["own"]):
        chunks.insert(1 + place % len(chunks), own.format(n=number))
    source = "\n".join(chunks)
    if ends:
        source = source.rstrip("\n")
    if windows:
        source = source.replace("\n", "\r\n")
    with tempfile.TemporaryDirectory() as name:
        folder = put(template(), Path(name))
        (folder / "ps9/ps9.py").write_bytes(source.encode("utf-8-sig" if mark else "utf-8"))
        if one_form:
            (folder / "ps9/ps9.ipynb").unlink()
        tasks = new_tasks(drawn)
        bring(folder, template(tasks, "2.0.0"))
        after = (folder / "ps9/ps9.py").read_bytes()
        again = update.make_plan(folder, template(tasks, "2.0.0"))
    assert not again.writes
    assert after.startswith(b"\xef\xbb\xbf") == mark
    result = after.decode("utf-8-sig")
    assert (result.count("\r\n") == result.count("\n")) if windows else "\r" not in result
    asked = {name for task in tasks for name in task.names}
    stubs = {piece for task in BASE for name in task.names if name not in drawn["filled"] and name in asked
             for piece in pieces(task.stub(name).replace("\n", "\r\n" if windows else "\n"))}  # fmt: skip
    mine, now = pieces(source), pieces(result)
    assert in_order([piece for piece in mine if piece not in stubs], now)
    assert set(re.findall("# own remark .", source)) <= set(re.findall("# own remark .", result))
    defined = [name for piece in now for name in re.findall(r"^(?:def )?([fgv]\w+)[ (]", piece)]
    assert sorted(defined) == sorted(asked | {name for task in BASE for name in task.names})
    plain = result.replace("\r\n", "\n")
    for task in tasks:
        for name in task.names:
            assert (name in drawn["filled"]) or task.stub(name).strip() in plain
    order = [name for name in defined if name in asked]
    assert order == [name for task in tasks for name in task.names]
    heads = [line for line in plain.splitlines() if line.startswith("# --- Question") and "no heading" not in line]
    new_heads = [f"# --- Question {n}: The {task.id} (core, 2 points)" for n, task in enumerate(tasks, start=1)]
    assert in_order(new_heads, heads)


OWN_CELLS = (
    code("own", "helper = 1\nhelper"),
    markdown("own", "my note"),
    markdown("own", "The end"),
    code("own", "def broken(:\n"),
    code("own", "%%bash\nf_one = None"),
    code("own", "%matplotlib inline\nimport math"),
    {"cell_type": "raw", "id": "own", "metadata": {"mine": True}, "source": "raw"},
    code("own", 'check("typo")'),
    code("own", 'x = f_one(1)\ncheck("one")'),
    code("own", ""),
)


@settings(max_examples=25)
@given(drawn=changes, own=st.lists(st.tuples(st.integers(0, 18), st.sampled_from(OWN_CELLS)), max_size=8), ids=st.booleans())
def test_every_own_cell_survives_where_it_was(drawn: dict[str, Any], own: list[tuple[int, Any]], ids: bool) -> None:
    outputs = [{"output_type": "stream", "name": "stdout", "text": ["42\n"]}]

    def work(cells: list[dict[str, Any]]) -> None:
        for cell in cells:
            for task in BASE:
                for name in drawn["filled"] & set(task.names):
                    if task.stub(name).strip() in text_of(cell):
                        cell["source"] = (
                            text_of(cell).replace(task.stub(name).strip(), answer(name)).splitlines(keepends=True)
                        )
                        cell["outputs"] = outputs
        for number, (place, cell) in enumerate(own):
            cells.insert(1 + place, {**copy.deepcopy(cell), "id": f"own-{number}", "tag": number})
        for number, cell in enumerate(cells):
            cell["id"] = cell["id"] if ids else f"{number:08x}"

    with tempfile.TemporaryDirectory() as name:
        folder = put(template(), Path(name))
        change_cells(folder, work)
        before = cells_of(folder)
        tasks = new_tasks(drawn)
        bring(folder, template(tasks, "2.0.0"))
        after = cells_of(folder)
        assert not update.make_plan(folder, template(tasks, "2.0.0")).writes
    assert [cell for cell in after if "tag" in cell] == [cell for cell in before if "tag" in cell]
    assert len({cell["id"] for cell in after}) == len(after)
    texts = [text_of(cell) for cell in after]
    for name in drawn["filled"]:
        assert sum(answer(name) in text for text in texts) == 1
    assert sum(cell.get("outputs") == outputs for cell in after) == sum(cell.get("outputs") == outputs for cell in before)
    # The lesson and the checks are the new ones, once each and in order.
    fresh = json.loads(template(tasks)["ps9/ps9.ipynb"])["cells"]
    lesson = [text_of(cell) for cell in fresh if cell["id"].startswith(("prose", "check"))]
    assert [text for text, cell in zip(texts, after, strict=True) if text in lesson and "tag" not in cell] == lesson
    for task in tasks:
        for name in task.names:
            assert name in drawn["filled"] or sum(task.stub(name).strip() in text for text in texts) == 1
    # A cell of the student's own follows the same answer or check as before.
    kept = {text_of(cell) for cell in before if cell in after}
    for at, cell in enumerate(before):
        if "tag" in cell and text_of(before[at - 1]) in kept and "tag" not in before[at - 1]:
            assert text_of(after[after.index(cell) - 1]) == text_of(before[at - 1])


# --- the module


def test_an_answer_whose_task_reads_otherwise_now_stays_and_is_told(mine: Path) -> None:
    edit(mine / "ps9/ps9.py", f'"""\n    {STUB}', '"""\n    return x')
    plan = bring(mine, NEW)
    after = (mine / "ps9/ps9.py").read_text()
    assert '"""Do f_one, as ever.\n\n    x: any.\n    """\n    return x\n' in after
    assert "`f_one` stays as it is" in told(plan)
    assert '-    """Do f_one, as ever.' in told(plan)
    assert '+    """Do f_one, better.' in told(plan)
    assert "kept     one" in told(plan)
    assert plan.look


def test_an_answer_without_its_docstring_is_not_told_if_the_task_is_the_same(mine: Path) -> None:
    stub = BASE[0].stub("f_one")
    edit(mine / "ps9/ps9.py", stub, "f_one = lambda x, y=1.0: x\n")
    plan = bring(mine, template(version="1.0.1"))
    assert not plan.look
    assert "f_one = lambda x, y=1.0: x\n" in (mine / "ps9/ps9.py").read_text()


def test_what_a_new_template_adds_stands_at_its_place(mine: Path) -> None:
    plan = bring(mine, NEW)
    after = (mine / "ps9/ps9.py").read_text()
    order = """import re; SIZE = 8; WIDTH = 4; Question 1; def f_one; Question 2: The extra; STEP = 2; def f_extra;
        Question 3: The two_parts; LIMIT; def g_two; def h_two; Question 4: The four; Question 5: The last; v_last = None"""
    places = [after.index(text.strip()) for text in order.split(";")]
    assert places == sorted(places)
    assert "new      `import re`, `WIDTH`, extra, last\n" in told(plan)
    assert "question three is no longer asked" in told(plan)
    assert "v_three = None" in after
    namespace: dict[str, Any] = {}
    exec(after, namespace)
    with pytest.raises(NotImplementedError, match="not done yet"):
        namespace["h_two"](1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"    {STUB}\n", f"    # idea: use a sum\n    {STUB}\n"),
        (f"    {STUB}\n", f"    {STUB}  # ask on Monday\n"),
        (f"    {STUB}\n", f"    half = x / 2\n    {STUB}\n"),
        ("    x: any.\n", "    x: any.\n    (note to self: positive)\n"),
        ("def f_one", "import functools\n\n\n@functools.cache\ndef f_one"),
        ("def f_one", "# note to self\ndef f_one"),
    ],
)
def test_a_stub_with_a_beginning_in_it_stays(mine: Path, old: str, new: str) -> None:
    edit(mine / "ps9/ps9.py", old, new)
    plan = bring(mine, NEW)
    assert new in (mine / "ps9/ps9.py").read_text()
    assert "`f_one`" in told(plan)


@pytest.mark.parametrize(
    "answered",
    [
        "from os.path import join as f_one\n",
        "try:\n    f_one = abs\nexcept NameError:\n    f_one = None\n",
        "f_one = v_other = None\n",
        "f_one = None; own = 1\n",
        "async def f_one(x):\n    return x\n",
        "class f_one:\n    pass\n",
    ],
)
def test_an_answer_may_be_any_statement(mine: Path, answered: str) -> None:
    edit(mine / "ps9/ps9.py", BASE[0].stub("f_one"), answered)
    bring(mine, NEW)
    after = (mine / "ps9/ps9.py").read_text()
    assert answered in after
    assert "def f_one" not in after.replace("async def", "")


def test_a_deleted_stub_is_told_and_not_put_back(mine: Path) -> None:
    # Its answer may be defined in a way that cannot be seen, and a stub behind it would undo it.
    edit(mine / "ps9/ps9.py", BASE[0].stub("f_one"), 'globals()["f_one"] = abs\n')
    plan = bring(mine, NEW)
    assert "def f_one" not in (mine / "ps9/ps9.py").read_text()
    assert "`f_one` of question one is not in your file" in told(plan)


def test_given_code_that_changed_becomes_new(mine: Path) -> None:
    bring(mine, template(version="1.1.0", set_up=SET_UP.replace("SIZE = 8", "SIZE = 9")))
    assert "SIZE = 9  # given\n" in (mine / "ps9/ps9.py").read_text()
    assert "SIZE = 9  # given" in text_of(cells_of(mine)[1])


def test_given_code_that_both_changed_stays_and_the_change_is_shown(mine: Path) -> None:
    edit(mine / "ps9/ps9.py", "SIZE = 8", "SIZE = 10")
    plan = bring(mine, template(version="1.1.0", set_up=SET_UP.replace("SIZE = 8", "SIZE = 9")))
    assert "SIZE = 10" in (mine / "ps9/ps9.py").read_text()
    assert "`SIZE` stays as it is in your file; the template changed here:" in told(plan)
    assert "-SIZE = 8  # given" in told(plan)
    assert "+SIZE = 9  # given" in told(plan)


def test_given_code_that_the_student_changed_and_the_template_did_not_stays_without_a_word(mine: Path) -> None:
    edit(mine / "ps9/ps9.py", "import os\n", "")
    edit(mine / "ps9/ps9.py", "SIZE = 8", "SIZE = 10")
    plan = bring(mine, template(version="1.1.0"))
    assert "import os" not in (mine / "ps9/ps9.py").read_text()
    assert "SIZE = 10" in (mine / "ps9/ps9.py").read_text()
    assert not plan.look


def test_a_call_of_the_template_is_replaced_and_never_made_twice(mine: Path) -> None:
    def seeded(seed: str) -> dict[str, bytes]:
        return template(version=f"1.{seed}", set_up=f"{SET_UP}\n# loose\n\nprint({seed})\n")

    bring(mine, seeded("1"))
    bring(mine, seeded("2"))
    for text in ((mine / "ps9/ps9.py").read_text(), text_of(cells_of(mine)[1])):
        assert re.findall(r"print\(.\)", text) == ["print(2)"]
        assert text.count("# loose") == 1
    bring(mine, template(version="1.3"))
    assert "print" not in (mine / "ps9/ps9.py").read_text()


def test_a_stub_that_was_only_laid_out_anew_becomes_new(mine: Path) -> None:
    edit(mine / "ps9/ps9.py", "def f_one(x: float, y: float = 1.0)", "def f_one(\n    x: float,\n    y: float = 1.0,\n)")
    plan = bring(mine, NEW)
    assert "Do f_one, better." in (mine / "ps9/ps9.py").read_text()
    assert "updated  one" in told(plan)


def test_what_was_shown_is_not_shown_again(mine: Path) -> None:
    edit(mine / "ps9/ps9.py", f'"""\n    {STUB}', '"""\n    return x')
    assert bring(mine, NEW).look
    later = replace(NEW_TASKS[2], says="best")
    plan = bring(mine, template((*NEW_TASKS[:2], later, *NEW_TASKS[3:]), "1.2.0"))
    assert not plan.look
    assert "return x" in (mine / "ps9/ps9.py").read_text()
    assert "Do f_two, best" in (mine / "ps9/ps9.py").read_text()


def test_a_future_import_comes_first(mine: Path) -> None:
    new = template(
        version="1.1.0", set_up=SET_UP.replace("import math\n", "from __future__ import annotations\n\nimport math\n")
    )
    bring(mine, new)
    compile((mine / "ps9/ps9.py").read_text(), "ps9.py", "exec")


@pytest.mark.parametrize("content", [b"def f(:\n", b"x = '\xff'\n", b"x = 1\n\0", b"# coding: nonsense\n", b"(" * 5000])
def test_a_file_that_cannot_be_read_stays_and_the_new_one_lies_beside_it(mine: Path, content: bytes) -> None:
    (mine / "ps9/ps9.py").write_bytes(content)
    plan = bring(mine, NEW)
    assert (mine / "ps9/ps9.py").read_bytes() == content
    assert (mine / "ps9/ps9.new.py").read_bytes() == NEW["ps9/ps9.py"]
    assert "ps9/ps9.new.py" in told(plan)
    assert not update.make_plan(mine, NEW).writes


def test_a_file_that_can_be_read_again_is_merged_with_the_template_it_was_made_from(mine: Path) -> None:
    path = mine / "ps9/ps9.py"
    edit(path, "# mine", "def f(:")
    bring(mine, NEW)
    edit(path, "def f(:", "# mine")
    plan = bring(mine, NEW)
    assert "Do f_one, better." in path.read_text()
    assert "updated  one" in told(plan)
    assert not update.make_plan(mine, NEW).writes


def test_a_folder_without_a_base_keeps_its_work_and_the_new_one_lies_beside_it(mine: Path) -> None:
    (mine / base_name("ps9")).unlink()
    before = tree(mine)
    plan = bring(mine, NEW)
    after = tree(mine)
    for form in ("ps9.py", "ps9.ipynb"):
        assert after[f"ps9/{form}"] == before[f"ps9/{form}"]
        assert after[f"ps9/{form.replace('.', '.new.')}"] == NEW[f"ps9/{form}"]
    assert plan.look
    assert "run this again with --base" in told(plan)
    assert not update.make_plan(mine, NEW).writes


@pytest.mark.parametrize("content", [b"", b"[]", b'{"ps9/ps9.py": 1}', b"[" * 99999, b"\xff"])
def test_a_base_that_was_damaged_is_none(mine: Path, content: bytes) -> None:
    (mine / base_name("ps9")).write_bytes(content)
    before = (mine / "ps9/ps9.py").read_bytes()
    bring(mine, NEW)
    assert (mine / "ps9/ps9.py").read_bytes() == before
    assert (mine / "ps9/ps9.new.py").is_file()


def test_without_a_base_the_earlier_release_can_be_given(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mine / base_name("ps9")).unlink()
    edit(mine / "ps9/ps9.py", STUB, "return x")
    bring(mine, NEW)
    monkeypatch.chdir(mine)
    old, new = zipped(template(), tmp_path / "old.zip"), zipped(NEW, tmp_path / "new.zip")
    assert update.main([str(new), "--base", str(old)]) == 1
    text = (mine / "ps9/ps9.py").read_text()
    assert "return x" in text
    assert "def f_extra" in text
    assert "Do f_two, better" in text
    assert not update.make_plan(mine, NEW).writes


def test_a_file_in_another_encoding_keeps_it(mine: Path) -> None:
    path = mine / "ps9/ps9.py"
    text = "# -*- coding: latin-1 -*-\n" + path.read_text() + "\nown = 'é'\n"
    path.write_bytes(text.encode("latin-1"))
    bring(mine, NEW)
    assert "\nown = 'é'\n" in path.read_bytes().decode("latin-1")
    assert "def f_extra" in path.read_bytes().decode("latin-1")


# --- the notebook


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"nbformat": 3, "worksheets": []}', '{"nbformat": 4, "cells": [{}]}', "[" * 99999]
)
def test_a_damaged_notebook_stays_and_the_new_one_lies_beside_it(mine: Path, content: str) -> None:
    (mine / "ps9/ps9.ipynb").write_text(content)
    bring(mine, NEW)
    assert (mine / "ps9/ps9.ipynb").read_text() == content
    assert (mine / "ps9/ps9.new.ipynb").read_bytes() == NEW["ps9/ps9.ipynb"]


def test_cells_that_were_cut_or_joined_are_known_by_what_they_define(mine: Path) -> None:
    def work(cells: list[dict[str, Any]]) -> None:
        two = next(cell for cell in cells if cell["id"] == "answer-two-parts")
        head, tail = text_of(two).split("\n\n\ndef g_two")
        two["source"] = head
        cells.insert(cells.index(two) + 1, code("cut", "def g_two" + tail.replace(STUB, "return y")))
        four = next(cell for cell in cells if cell["id"] == "answer-four")
        one = next(cell for cell in cells if cell["id"] == "answer-one")
        one["source"] = text_of(one).replace(STUB, "return 1") + "\n\n\n" + text_of(four)
        cells.remove(four)

    change_cells(mine, work)
    bring(mine, NEW)
    text = "\n\n".join(text_of(cell) for cell in cells_of(mine) if cell["cell_type"] == "code")
    assert [text.count(f"def {name}(") for name in ("f_one", "f_two", "g_two", "h_two", "f_four", "f_extra")] == [1] * 6
    assert "return 1" in text
    assert "return y" in text
    assert "Do f_two, better" in text


def test_a_cell_that_does_not_parse_stays_and_the_new_text_stands_behind_it(mine: Path) -> None:
    def work(cells: list[dict[str, Any]]) -> None:
        cells[3]["source"] = ["def f_one(x:\n", "    return x"]

    change_cells(mine, work)
    plan = bring(mine, NEW)
    cells = cells_of(mine)
    place = next(at for at, cell in enumerate(cells) if text_of(cell) == "def f_one(x:\n    return x")
    assert cells[place + 1]["cell_type"] == "markdown"
    assert "Do f_one, better" in text_of(cells[place + 1])
    assert "does not parse" in told(plan)
    assert sum("def f_one" in text_of(cell) for cell in cells if cell["cell_type"] == "code") == 1


def test_a_timed_cell_holds_an_answer_like_any_other(mine: Path) -> None:
    answered = "%%time\n!ls\ndef f_one(x, y=1.0):\n    return x"

    def work(cells: list[dict[str, Any]]) -> None:
        cells[3]["source"] = answered.splitlines(keepends=True)
        cells[1]["source"].insert(0, "def broken(:\n")

    change_cells(mine, work)
    plan = bring(mine, NEW)
    cells = cells_of(mine)
    assert answered in [text_of(cell) for cell in cells]
    assert "`f_one` stays as it is" in told(plan)
    assert "the cell that begins with 'def broken(" in told(plan)
    assert "import re" in text_of(cells[2])
    assert cells[2]["cell_type"] == "markdown"
    assert text_of(cells[1]).startswith("def broken(:\nimport math\nimport os\n")


def test_notes_written_into_the_lesson_stay(mine: Path) -> None:
    def work(cells: list[dict[str, Any]]) -> None:
        cells[0]["source"].append("\n\nI wrote this.")

    change_cells(mine, work)
    plan = bring(mine, NEW)
    texts = [text_of(cell) for cell in cells_of(mine)]
    assert texts[:2] == ["## Part one\n\nText, better.", "## Part one\n\nText, as ever.\n\nI wrote this."]
    assert "the cell that begins with '## Part one" in told(plan)


def test_notes_in_a_part_of_the_lesson_that_did_not_change_stay_without_a_word(mine: Path) -> None:
    change_cells(mine, lambda cells: cells[0]["source"].append("\n\nI wrote this."))
    plan = bring(mine, template(version="1.1.0"))
    assert text_of(cells_of(mine)[0]).endswith("I wrote this.")
    assert sum("Part one" in text_of(cell) for cell in cells_of(mine)) == 1
    assert not plan.look


def test_a_cell_that_was_deleted_comes_back_only_if_the_lesson_changed(mine: Path) -> None:
    change_cells(mine, lambda cells: cells.__delitem__(0))
    before = [text_of(cell) for cell in cells_of(mine)]
    bring(mine, template(version="1.1.0"))
    assert [text_of(cell) for cell in cells_of(mine)] == before
    bring(mine, NEW)
    assert text_of(cells_of(mine)[0]) == "## Part one\n\nText, better."


def test_a_notebook_of_a_format_without_ids_gets_none(mine: Path) -> None:
    def work(cells: list[dict[str, Any]]) -> None:
        for cell in cells:
            del cell["id"]

    change_cells(mine, work, nbformat_minor=4)
    bring(mine, NEW)
    cells = cells_of(mine)
    assert not any("id" in cell for cell in cells)
    assert sum("def f_extra" in text_of(cell) for cell in cells) == 1
    assert not update.make_plan(mine, NEW).writes


# --- all other files


def test_other_files_become_the_new_ones_and_edited_ones_are_kept_beside(mine: Path) -> None:
    (mine / "ps9/test_public.py").write_text("# my tests\n")
    (mine / "notes.txt").write_text("mine")
    before = tree(mine)
    bring(mine, NEW)
    after = tree(mine)
    for name in NEW:
        assert name.startswith("ps9/ps9.") or after[name] == NEW[name]
    assert after["ps9/test_public.py.mine"] == b"# my tests\n"
    assert after["notes.txt"] == b"mine"
    backup = {name.removeprefix("backup-1.0.0/"): data for name, data in after.items() if name.startswith("backup-1.0.0/")}
    assert backup == {name: data for name, data in before.items() if after[name] != data}
    assert "conftest.py" not in backup


def test_with_a_manifest_only_what_was_edited_is_kept_beside(tmp_path: Path) -> None:
    def with_manifest(files: dict[str, bytes]) -> dict[str, bytes]:
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        return {**files, "ps9/manifest.json": json.dumps({"files": hashes}).encode()}

    mine = put(with_manifest(template()), tmp_path)
    (mine / "ps9/README.md").write_text("my README")
    edit(mine / "ps9/ps9.py", STUB, "return 1")
    new = with_manifest(NEW)
    plan = bring(mine, new)
    after = tree(mine)
    assert [name for name in after if name.endswith(".mine")] == ["ps9/README.md.mine"]
    assert "you had changed ps9/README.md" in told(plan)
    # A form that was left alone becomes the new one as it is.
    assert after["ps9/ps9.ipynb"] == new["ps9/ps9.ipynb"]
    assert b"return 1" in after["ps9/ps9.py"]


def test_modules_that_left_the_kit_are_removed_and_stay_in_the_backup(mine: Path) -> None:
    put({"autograder/guest/loading.py": b"# old\n", "autograder/kit/values.py": b"# old\n", "own.py": b"# mine\n"}, mine)
    plan = bring(mine, NEW)
    after = tree(mine)
    assert [name for name in after if name.endswith(("loading.py", "values.py", "own.py"))] == [
        "backup-1.0.0/autograder/guest/loading.py",
        "backup-1.0.0/autograder/kit/values.py",
        "own.py",
    ]
    assert "removed  autograder/guest/loading.py, autograder/kit/values.py" in told(plan)
    assert not update.make_plan(mine, NEW).removes


def test_a_second_backup_has_a_name_of_its_own(mine: Path) -> None:
    bring(mine, NEW)
    edit(mine / "ps9/problem_set.json", "1.1.0", "1.0.0")
    bring(mine, NEW)
    assert (mine / "backup-1.0.0-2/ps9/problem_set.json").is_file()


def test_a_form_that_was_deleted_does_not_come_back(mine: Path) -> None:
    (mine / "ps9/ps9.ipynb").unlink()
    bring(mine, NEW)
    assert not (mine / "ps9/ps9.ipynb").exists()


def test_a_problem_set_that_is_new_comes_as_a_whole(mine: Path) -> None:
    more = {name.replace("ps9/", "ps10/"): content for name, content in NEW.items()}
    bring(mine, more)
    after = tree(mine)
    assert {name: after[name] for name in more} == more


def test_a_disk_that_is_full_changes_nothing(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(mine)
    written: list[int] = []

    def full(number: int) -> None:
        written.append(number)
        if len(written) == 4:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        bring(mine, NEW)
    assert {name: data for name, data in tree(mine).items() if not name.startswith("backup-")} == before


def test_a_link_stays_a_link(mine: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.py"
    shutil.move(mine / "ps9/ps9.py", kept)
    (mine / "ps9/ps9.py").symlink_to(kept)
    bring(mine, NEW)
    assert (mine / "ps9/ps9.py").is_symlink()
    assert "def f_extra" in kept.read_text()


# --- releases


def zipped(files: dict[str, bytes], path: Path, prefix: str = "") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(prefix + name, content)
    return path


@pytest.mark.parametrize("prefix", ["", "student_template/"])
def test_a_release_is_a_zip_or_a_folder_and_may_have_a_folder_around_it(tmp_path: Path, prefix: str) -> None:
    assert read_release(zipped(NEW, tmp_path / "new.zip", prefix)) == NEW
    put(NEW, tmp_path / "new" / prefix)
    put(
        {".git/config": b"x", "autograder/__pycache__/a.pyc": b"x", "backup-1/x": b"x", ".venv/x": b"x"},
        tmp_path / "new" / prefix,
    )
    assert read_release(tmp_path / "new") == NEW


@pytest.mark.parametrize(
    "name", ["../evil.py", "/evil.py", "ps9/../../evil.py", "ps9\\..\\..\\evil.py", "C:/evil.py", "ps9//evil.py"]
)
def test_a_name_that_points_outside_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(update.Refused, match="points outside"):
        read_release(zipped({**NEW, name: b"evil"}, tmp_path / "new.zip"))


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    path = zipped(NEW, tmp_path / "new.zip")
    with zipfile.ZipFile(path, "a") as archive:
        entry = zipfile.ZipInfo("ps9/link")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(update.Refused, match="is a link"):
        read_release(path)


def test_a_zip_that_holds_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_files, "MAX_BYTES", 100)
    with pytest.raises(update.Refused, match="more than a release does"):
        read_release(zipped(NEW, tmp_path / "new.zip"))


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "does not exist"), (b"no zip", "cannot be read"), ({"a.py": b""}, "is not a release")],
)
def test_what_is_no_release_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "new.zip"
    if isinstance(content, dict):
        zipped(content, path)
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(update.Refused, match=message):
        read_release(path)


def test_a_release_whose_description_is_damaged_is_refused(mine: Path) -> None:
    before = tree(mine)
    with pytest.raises(update.Refused, match="damaged"):
        bring(mine, {**NEW, "ps9/problem_set.json": b"{}"})
    assert tree(mine) == before


# --- the command


def test_check_writes_nothing(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(mine)
    before = tree(mine)
    assert update.main([str(zipped(NEW, tmp_path / "new.zip")), "--check"]) == 1
    assert tree(mine) == before
    assert "Nothing was changed" in capsys.readouterr().out


def test_the_wrong_folder_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = zipped(NEW, tmp_path / "new.zip")
    monkeypatch.chdir(tmp_path)
    assert update.main([str(path)]) == 2
    assert "is not the folder of your template" in capsys.readouterr().err
    monkeypatch.chdir(put(NEW, tmp_path / "new"))
    assert update.main(["."]) == 2


def test_the_real_template_is_updated_by_itself_and_still_runs(course_copy: Path, tmp_path: Path) -> None:
    # What surrounds the questions would have to change with them.
    folder = course_copy / "assignments/ps1_weighted_average"
    for name in ("explanations.md", "payoffs.py"):
        (folder / name).unlink(missing_ok=True)

    def released(to: Path) -> Path:
        course = load_course(course_copy)
        return put({**template_files(course), **problem_set_files(course, course.problem_set("ps1"))}, to)

    mine = released(tmp_path / "mine")
    solution = course_copy / "solutions/ps1_weighted_average.py"
    work = mine / "ps1/ps1.py"
    reference = {piece.split("(")[0]: piece for piece in pieces(solution.read_text(encoding="utf-8"))}
    for name in ("mix", "attention", "causal_mask", "heatmap"):
        stub = next(piece for piece in pieces(work.read_text(encoding="utf-8")) if piece.startswith(f"def {name}("))
        edit(work, stub, reference[f"def {name}"])
    edit(work, "# --- Question 3", "def helper():\n    return 3\n\n\n# --- Question 3")
    answers = pieces(work.read_text(encoding="utf-8"))

    edit(folder / "assignment.yml", "version: 2.0.0", "version: 2.1.0")
    edit(folder / "assignment.yml", "A blend of values", "A mix of values")
    edit(solution, "Turn scores into weights: exp", "Make weights of scores: exp")
    new = "  - {id: half, title: Half, points: 1, tier: core, kind: code, names: [half]}\n  - id: softmax"
    edit(folder / "assignment.yml", "  - id: softmax", new)
    body = "    # BEGIN SOLUTION\n    return x / 2\n    # END SOLUTION\n"
    half = f"# === question: half ===\ndef half(x: float) -> float:\n    '''Half of x.'''\n{body}\n\n"
    edit(solution, "# === question: softmax ===", f"{half}# === question: softmax ===")
    edit(
        folder / "handout.md", "<!-- question: softmax -->", "<!-- question: half -->\n\nMore.\n\n<!-- question: softmax -->"
    )
    # Without the question of the heatmap.
    for path, begin, end in (
        (folder / "assignment.yml", "  - id: heatmap", "  - id: reading"),
        (solution, "# === question: heatmap", "# === question: reading"),
        (folder / "handout.md", "<!-- question: heatmap -->", "\n"),
    ):
        text = path.read_text(encoding="utf-8")
        at = text.index(begin)
        path.write_text(text[:at] + text[text.index(end, at) :], encoding="utf-8")
    tests = folder / "test_public.py"
    parts = re.split(r"(?m)^(?=@graded)", tests.read_text(encoding="utf-8"))
    tests.write_text("".join(part for part in parts if not part.startswith('@graded("heatmap"')), encoding="utf-8")
    release = released(tmp_path / "new")
    put({"autograder/kit/__init__.py": (release / "autograder/kit/__init__.py").read_bytes() + b"# newer\n"}, release)

    def run(*arguments: str, where: Path = mine) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", *arguments]
        return subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)

    updated = run("autograder.kit.update", str(release))
    assert updated.returncode == 1, updated.stderr
    assert "ps1, Attention is a weighted average: 2.0.0 -> 2.1.0" in updated.stdout
    assert "question heatmap is no longer asked" in updated.stdout
    now = pieces(work.read_text(encoding="utf-8"))
    assert in_order([piece for piece in answers if STUB not in piece], now)
    assert any(piece.startswith("def half(") for piece in now)
    assert any("Make weights of scores" in piece for piece in now)
    notebook = json.loads((mine / "ps1/ps1.ipynb").read_text(encoding="utf-8"))["cells"]
    fresh = json.loads((release / "ps1/ps1.ipynb").read_text(encoding="utf-8"))["cells"]
    assert in_order([text_of(cell) for cell in fresh], [text_of(cell) for cell in notebook])
    again = run("autograder.kit.update", str(release))
    assert "Nothing to do" in again.stdout
    tested = run("pytest", where=mine / "ps1")
    lines = re.findall(r"(\w+) +(\d) of (\d) points(.*not done yet)?", tested.stdout)
    earned = {name: int(points) for name, points, _, _ in lines}
    assert (earned["mix"], earned["softmax"], earned["masking"]) == (2, 0, 1), tested.stdout
    assert "heatmap" not in earned
