"""What a student's own run says of what the grader will not have."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.kit.portability import Grader, newer_syntax, warnings_for
from autograder.runtime import loading
from autograder.testing.errors import Stopped
from autograder.testing.student import LocalRunner, Student

ROOT = Path(__file__).resolve().parents[1]
GRADER = Grader("3.11", ["numpy", "matplotlib", "ipython"], ["numpy", "matplotlib", "mpl_toolkits", "IPython", "PIL"])


def warned(text: str, folder: Path) -> list[str]:
    return warnings_for([("", text)], folder, "ps1", GRADER)


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np, os.path, matplotlib.pyplot as plt\nimport mpl_toolkits.mplot3d\nimport IPython.display",
        "from __future__ import annotations\nfrom . import nothing",
        "from autograder.kit import check\nimport ps1",
        "try:\n    import pandas\nexcept ImportError:\n    pandas = None",
        "try:\n    open('notes.txt')\nexcept OSError:\n    pass",
        "'''A text of /home/somebody/ and of C:/things.'''\nx = 'a/b'\ny = '/kcal/'\nz = 'C: the key'",
        "plt.savefig('a.png')\nopen('a.png', 'rb')\nwith open('b.txt', mode='w') as f: ...\nopen('b.txt').read()",
        "%%writefile helper.py\nx = 1",
        "import numpy as np\nnp.save('x.npy', 1)\nnp.load('x.npy')",
        "this is no python",
        "(" * 10_000,
        "\0",
    ],
)
def test_what_the_grader_has_gives_no_warning(text: str, tmp_path: Path) -> None:
    assert warned(text, tmp_path) == []


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            "x = 1\nimport pandas as pd",
            "has no `pandas`, only numpy, matplotlib, ipython and the standard library",
        ),
        ("def f():\n    from scipy.special import softmax", "line 2: the grader has no `scipy`"),
        ("import helper", "line 1: `helper` lies beside your file, and only ps1 is handed in"),
        ("from package.inner import x", "line 1: `package` lies beside your file"),
        ("p = '/Users/me/data.csv'", "line 1: the grader has no '/Users/me/data.csv'; a path on your own machine"),
        ("p = r'C:\\me\\data.csv'", "a path on your own machine"),
        ("open('~/data.csv')", "a path on your own machine"),
        ("import numpy as np\nnp.load('weights.npy')", "line 2: the grader has no file 'weights.npy'"),
        ("from pathlib import Path\nPath('notes.txt').read_text()", "the grader has no file 'notes.txt'"),
        ("import numpy as np\nnp.loadtxt(open('x.csv'))", "the grader has no file 'x.csv'"),
        ("try:\n    import pandas\nexcept ValueError:\n    pass", "the grader has no `pandas`"),
        ("%matplotlib inline\nimport pandas", "line 2: the grader has no `pandas`"),
        ("!pip install pandas\nimport pandas", "line 2: the grader has no `pandas`"),
        ("import msvcrt", "line 1: `msvcrt` is there on Windows only"),
        ("from itertools import batched", "line 1: `itertools.batched` is new in Python 3.12, and the grader has 3.11"),
        ("import itertools as it\nit.batched('abc', 2)", "line 2: `itertools.batched` is new"),
        ("import collections.abc\ncollections.abc.Buffer", "line 2: `collections.abc.Buffer` is new"),
        ("from collections import abc\nabc.Buffer", "line 2: `collections.abc.Buffer` is new"),
        ("from compression import zstd", "line 1: `compression` is new in Python 3.14"),
    ],
)
def test_what_the_grader_lacks_gives_one_warning(text: str, warning: str, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("x = 1\n")
    (tmp_path / "package").mkdir()
    (said,) = warned(text + "\n" + text.splitlines()[-1], tmp_path) if "\n" not in text else warned(text, tmp_path)
    assert warning in said


def test_what_a_later_python_has_no_more_is_named(tmp_path: Path) -> None:
    grader = Grader("3.13", ["numpy"], ["numpy"])
    text = "import imp, cgi\nfrom itertools import batched\nimport numpy"
    assert warnings_for([("", text)], tmp_path, "ps1", grader) == [
        "line 1: `imp` was removed in Python 3.12, and the grader has 3.13",
        "line 1: `cgi` was removed in Python 3.13, and the grader has 3.13",
    ]


def test_what_a_notebook_writes_itself_it_may_import(tmp_path: Path) -> None:
    cells = [("cell 1", "%%writefile helper.py\nx = 1"), ("cell 2", "import helper\nimport pandas")]
    assert [line.partition(",")[0] for line in warnings_for(cells, tmp_path, "ps1", GRADER)] == ["cell 2"]


@pytest.mark.parametrize(
    ("text", "version", "line"),
    [
        ("x = 1\nmatch x:\n    case 1: pass", (3, 9), 2),
        ("try: pass\nexcept* ValueError: pass", (3, 10), 1),
        ("match = 1\nprint(match)", (3, 9), None),
        ("f'{x!r:>{width}}' f\"{y['a']}\"", (3, 10), None),
        ("this is no python", (3, 9), None),
    ],
)
def test_newer_syntax_is_found(text: str, version: tuple[int, int], line: int | None) -> None:
    syntax = newer_syntax(text, version)
    assert (syntax[0] if syntax else None) == line or (syntax is not None and line is not None)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="this Python cannot read them either")
@pytest.mark.parametrize(
    "text",
    [
        'd = {"a": 1}\nf"{d["a"]}"',
        "x = 1\nf'{\"\\n\".join([])}'",
        "x = 1\nf'''{'''a'''}'''",
        "x = 1\nf'{x # a comment\n}'",
        "x = 1\nf'{\nx}'",
        "x = 1\nf'{f\"{f'{x}'}\"}'",
        "x = 1\ntype Pair = tuple[int, int]",
        "x = 1\ndef f[T](x: T) -> T: ...",
    ],
)
def test_what_only_python_312_reads_is_found(text: str) -> None:
    syntax = newer_syntax(text, (3, 11))
    assert syntax is not None
    assert syntax[0] >= 2


@pytest.mark.parametrize(
    "text",
    [
        "f'{x}'",
        "f\"{d['a']}\"",
        "f'''{d[\"a\"]}\n{\nx\n}'''",
        "f'{x:{width}.2f}' '\\n'",
        "f'\\n{x}'",
        "rf'\\d{x}'",
        "f'{{\"a\"}}'",
    ],
)
def test_f_strings_that_every_python_reads_are_let_through(text: str) -> None:
    assert newer_syntax(text, (3, 11)) is None


@pytest.mark.slow
def test_a_students_own_run_says_so(tmp_path: Path) -> None:
    template = tmp_path / "template"
    shutil.copytree(ROOT / "student_template", template)
    work = template / "ps1" / "ps1.py"
    work.write_text("import nowhere_at_all as pd\nTABLE = open('/Users/me/table.csv')\n" + work.read_text())
    answer = subprocess.run(
        [sys.executable, "-m", "pytest"], cwd=work.parent, capture_output=True, text=True, check=False, timeout=300
    )
    assert "before you hand in: line 1: the grader has no `nowhere_at_all`" in answer.stdout
    assert "before you hand in: line 2: the grader has no '/Users/me/table.csv'" in answer.stdout
    assert answer.stdout.count("No module named 'nowhere_at_all'") == 1


def test_a_function_that_hangs_is_stopped_where_signals_have_no_timers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("signal.setitimer")
    namespace, report = loading.load("ps1.py", b"def f():\n    while True: pass\ndef g(): return 1\n")
    student = Student(LocalRunner(namespace, report, seconds=0.2))
    with pytest.raises(Stopped, match=r"`f` did not finish within 0\.2 s"):
        student.f()
    assert student.g() == 1
    _, report = loading.load("ps1.py", b"while True: pass\n", seconds=0.2)
    assert [problem["type"] for problem in report["problems"]] == ["TimeUp"]


# What Windows lacks, taken away after the libraries, which know it, are loaded; then a student's commands.
ON_WINDOWS = """
import os, signal, sys
import numpy, matplotlib.pyplot, pytest, IPython.core.interactiveshell, _pytest.capture, _pytest.faulthandler
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix"):
    sys.modules[name] = None
for name in ("setitimer", "SIGALRM", "SIGPROF", "alarm"):
    delattr(signal, name)
for name in ("fork", "getuid", "geteuid", "getgid", "chown", "mkfifo", "register_at_fork"):
    delattr(os, name)
sys.path.insert(0, ".")
from autograder.kit import carry, command, embedded, exchange, fresh, race, submit, update
assert command.main(["ps4"]) == 1
assert command.main(["ps1", "softmax"]) == 0
assert command.main(["ps1", "mix", "--form", "notebook"]) == 1
assert command.main(["ps1", "softmax", "--hint", "1"]) == 0
assert command.main(["ps1", "--draw", "softmax"]) == 0
assert submit.main(["ps4"]) == 2
assert submit.main(["ps1", "--to", "in box"]) == 0
assert update.main([sys.argv[1], "--check"]) == 0
"""


@pytest.mark.slow
def test_a_student_on_windows_meets_nothing_that_is_not_there(tmp_path: Path) -> None:
    template = tmp_path / "a student" / "my course"
    shutil.copytree(ROOT / "student_template", template)
    release = shutil.make_archive(str(tmp_path / "release"), "zip", template)
    solution = next((ROOT / "solutions").glob("ps1_*.py"))
    # As git leaves a working tree there.
    for path in template.rglob("*"):
        if path.suffix in {".py", ".json", ".ini", ".md", ".ipynb", ".txt"}:
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (template / "ps1" / "ps1.py").write_bytes(solution.read_bytes().replace(b"\n", b"\r\n"))
    (template / "in box").mkdir()
    answer = subprocess.run(
        [sys.executable, "-c", ON_WINDOWS, release], cwd=template, capture_output=True, check=False, timeout=300,
        env={**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONPATH": ""},
    )  # fmt: skip
    said = answer.stdout.decode("cp1252")
    assert answer.returncode == 0, said + answer.stderr.decode("cp1252")
    assert "What dividing by ?d prevents" in said, "the console has no root sign"
    assert "neither ps4.py nor ps4.ipynb has been begun" in said
    assert "Delivered: in box" in said
