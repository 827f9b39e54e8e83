"""What runs on a student's own machine runs for the grader: small submissions, each graded by the real engine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from autograder import record
from autograder.record import Reason, Record

ROOT = Path(__file__).resolve().parents[1]
SOFTMAX = """
def softmax(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
ATTENTION = """
def attention(queries, keys, values, mask=None):
    if queries.shape[-1] != keys.shape[-1] or keys.shape[-2] != values.shape[-2]:
        raise ValueError("shapes")
    weights = softmax(queries @ np.swapaxes(keys, -1, -2) / np.sqrt(queries.shape[-1]))
    return {}
"""
ESSAY = "A weight is a coefficient in one average; it says nothing of causes."
FULL = {"softmax": 6.0}


class Case(NamedTuple):
    """A submission, the points of some questions, and what the record says of it: all texts, or none."""

    source: Any
    points: dict[str, float] = FULL
    said: tuple[str, ...] = ()


def module(*lines: str) -> bytes:
    return "\n".join(lines).encode()


def notebook(*cells: str | tuple[str, str]) -> bytes:
    """A notebook of code cells; a pair is a cell of another kind."""
    pairs = [cell if isinstance(cell, tuple) else ("code", cell) for cell in cells]
    content = [{"cell_type": kind, "metadata": {}, "source": text} for kind, text in pairs]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": content}).encode()


def with_numpy(*cells: str) -> bytes:
    """The cells, the last with a right `softmax` at its end."""
    return notebook(*cells[:-1], f"{cells[-1]}\n{SOFTMAX}")


FOLDERS = """
import glob, os, shutil, tempfile
from pathlib import Path
here = os.getcwd()
os.makedirs("figures/old")
os.chdir("figures")
open("a.txt", "w").write("x")
os.chdir("old")
assert Path("../a.txt").read_text() == "x" and sorted(os.listdir("..")) == ["a.txt", "old"]
os.chdir("../../..")
os.chdir(here)
assert glob.glob("figures/*.txt") == [os.path.join("figures", "a.txt")]
assert [names for _, _, names in os.walk("figures")] == [["a.txt"], []]
assert sorted(path.name for path in Path("figures").rglob("*")) == ["a.txt", "old"]
shutil.copy("figures/a.txt", "figures/b.txt")
shutil.rmtree("figures")
assert not os.path.exists("figures")
Path("figures").mkdir()
Path("figures").rmdir()
with tempfile.TemporaryDirectory() as folder:
    open(os.path.join(folder, "x"), "w").close()
assert not os.path.exists(folder)
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
    print("text", file=file)
    file.seek(0)
    assert file.read() == "text\\n" and file.name.endswith(".txt")
assert Path(".").resolve(strict=True).is_dir()
"""
NUMPY = f"import numpy as np\n{SOFTMAX}"
NOTEBOOKS = {
    "display": Case(with_numpy("from IPython.display import display, Markdown", "import numpy as np\ndisplay(np.eye(2))")),
    "line-magic": Case(with_numpy("get_ipython().run_line_magic('matplotlib', 'inline')\nimport numpy as np", "")),
    "pip": Case(
        with_numpy("!pip install -q \\\n    numpy\nimport numpy as np", ""), said=("ignored in cell 1: shell commands",)
    ),
    "percent": Case(notebook("import numpy as np", f"%matplotlib inline\n{SOFTMAX}\nprint('row %d'\n      % 1)")),
    "await": Case(notebook("import numpy as np, asyncio", f"{SOFTMAX}\nawait asyncio.sleep(0.001)")),
    "future": Case(with_numpy("from __future__ import annotations\nimport numpy as np", "def f(x: Array) -> Array: ...")),
    "shell-item": Case(
        notebook(f"{NUMPY}\nd = {{}}\nd['files'] = !ls\nassert d['files'] == []"),
        said=("ignored in cell 1: shell commands",),
    ),
    "writefile": Case(notebook(f"%%writefile helper.py\n{NUMPY}", "from helper import softmax"), said=()),
    "run-file": Case(notebook(f"%%writefile helper.py\n{NUMPY}", "%run helper.py")),
    "savefig": Case(
        with_numpy(
            "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig('a.png')\nopen('a.png', 'rb').read(4)",
            "import numpy as np\nnp.save('x.npy', np.eye(2))\nassert np.load('x.npy').shape == (2, 2)",
        )
    ),
    "folders": Case(
        with_numpy(FOLDERS, "import numpy as np\nnp.savetxt('a.txt', np.eye(2))\nassert np.loadtxt('a.txt').any()")
    ),
    "capture": Case(notebook(f"%%capture out\n{NUMPY}\nprint(1)", "assert out.stdout == '1\\n'")),
    "pandas": Case(notebook(f"import pandas as pd\nimport numpy as np\n{SOFTMAX}"), said=("No module named 'pandas'",)),
    "indented": Case(notebook("import numpy as np", "\n".join("    " + line for line in SOFTMAX.splitlines()))),
    "prompts": Case(notebook(">>> import numpy as np\n>>> x = 1\n", SOFTMAX)),
}
MODULES = {
    "plain": Case(module(NUMPY)),
    "tk": Case(module("import matplotlib", "matplotlib.use('TkAgg')", NUMPY)),
    "file": Case(
        module("from pathlib import Path", "HERE = Path(__file__).parent", "TEXT = Path(__file__).read_text()", NUMPY)
    ),
    "exported": Case(
        module("get_ipython().run_line_magic('matplotlib', 'inline')", NUMPY),
        said=("name 'get_ipython' is not defined (line 1",),
    ),
    "pandas": Case(module("import pandas as pd", NUMPY), said=("No module named 'pandas'",)),
    "newer-syntax": Case(module(NUMPY, 'd = {"a": 1}', "if True print(d)"), {"softmax": 0.0}, ("SyntaxError",)),
    "python-3.12": Case(
        module(NUMPY, 'd = {"a": 1}', 'print(f"{d["a"]}")'),
        *(({"softmax": 0.0}, ("(in Python 3.11) (line",)) if sys.version_info < (3, 12) else ()),
    ),
    "namedtuple": Case(
        module(
            NUMPY,
            "from typing import NamedTuple",
            "class Read(NamedTuple):\n    output: object\n    weights: object",
            ATTENTION.format("Read(weights @ values, weights)"),
        ),
        {"softmax": 6.0, "attention": 5.0},
    ),
    "matrix": Case(module("import numpy as np", SOFTMAX.replace("return e /", "return np.ma.masked_array(e) /"))),
    "masked": Case(
        module("import numpy as np", SOFTMAX.replace("return e /", "return np.ma.masked_less(e, 1) /")),
        {"softmax": 0.0},
        ("return `.filled(0)` instead",),
    ),
    "raises-on-purpose": Case(
        module(
            NUMPY,
            ATTENTION.replace(
                'raise ValueError("shapes")',
                'raise ValueError("shapes")\n    if queries.ndim != 2:\n        raise ValueError("one sequence only")',
            ).format("weights @ values, weights"),
        ),
        {"softmax": 6.0, "attention": 4.0},
    ),
    "machine": Case(
        module(
            "import getpass, locale, os, sys",
            "from pathlib import Path",
            "assert getpass.getuser() == os.getlogin()",
            "locale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')",
            "sys.stdout.reconfigure(encoding='utf-8')",
            "assert not sys.stdout.seekable()",
            "assert Path.home().exists()",
            "import pwd",
            "pwd.getpwuid(os.getuid()).pw_name",
            "assert sys.modules[__name__].__file__ == __file__",
            "os.chdir(os.path.dirname(os.path.abspath(__file__)))",
            "assert input('name? ') == ''",
            "breakpoint()",
            "import matplotlib.pyplot as plt",
            "plt.plot([1]); plt.show()",
            "assert not Path('/no/such/folder').exists()",
            "import matplotlib, PIL, matplotlib_inline",
            "print(matplotlib.__version__)",
            NUMPY,
        ),
    ),
}
WRITTEN = {
    "in-place": Case(notebook("import numpy as np", f'causation = """{ESSAY}"""'), {}),
    "markdown": Case(notebook("import numpy as np", "causation = None\n", ("markdown", ESSAY)), {}, ("found in cell 3",)),
    "magic": Case(
        notebook(f'%matplotlib inline\ncausation = """\n%age points.\n!important: {ESSAY}\n"""'), {}, ("%age", "!imp")
    ),
    "wrong-name": Case(module("causation = None", f"cuasation = {ESSAY!r}"), {}, ("found in the variable `cuasation`",)),
    "comment": Case(module("causation = None", f"# {ESSAY}"), {}, ("found in comments beside the variable",)),
    "tuple": Case(module(f"causation = {ESSAY!r},"), {}, ("found in a tuple",)),
}
GROUPS = {"notebook": NOTEBOOKS, "module": MODULES, "written": WRITTEN}
CASES = {f"{group}-{name}": case for group, cases in GROUPS.items() for name, case in cases.items()}
BACKENDS = ["bubblewrap", "sandlock"]


@pytest.fixture(scope="module", params=BACKENDS)
def records(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    """All cases, graded in one run by one backend."""
    folder, results = tmp_path_factory.mktemp("cases"), tmp_path_factory.mktemp("results")
    for name, case in CASES.items():
        (folder / name).mkdir()
        (folder / name / f"ps1.{'ipynb' if case.source[:1] == b'{' else 'py'}").write_bytes(case.source)
    course = Path(sys.executable).with_name("course")
    command = [course, "grade", "ps1", folder, "--results", results, "--backend", request.param]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if "no sandbox works here" in answer.stderr:
        pytest.skip(f"{request.param} does not work here")
    assert answer.returncode in (0, 1), answer.stderr
    return {name: record.read(results / "ps1" / name / "001.json") for name in CASES}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_it_earns_what_it_earns_elsewhere(records: dict[str, Record], name: str) -> None:
    graded, case = records[name], CASES[name]
    points = {question.id: question.score for question in graded.questions}
    assert {question: points[question] for question in case.points} == case.points, graded.problems
    text = record.to_json(graded).decode()
    assert all(said in text for said in case.said), text
    assert len(graded.problems) <= len(case.said), graded.problems


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN)
def test_an_essay_is_shown_to_its_reader(records: dict[str, Record], name: str) -> None:
    question = records[f"written-{name}"].question("causation")
    assert question is not None
    assert ESSAY in question.answer
    assert not question.undone
    assert bool(question.place) == (name not in ("in-place", "magic"))
    assert bool(question.place) == any(look.reason is Reason.MISPLACED for look in records[f"written-{name}"].look)


@pytest.mark.slow
def test_an_exception_raised_on_purpose_is_no_slip(records: dict[str, Record]) -> None:
    assert not any(verdict.slip for verdict in records["module-raises-on-purpose"].verdicts)
