"""Small notebooks, each with one thing that Jupyter does, executed by a real kernel and by a guest to compare the two.

`difference` is the reason why the two differ, with the names that only one of them defines; without a reason they must not.
"""

from __future__ import annotations

import inspect
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import numpy as np
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from autograder.course import Course, load_course
from autograder.runtime.ledger import Ledger
from autograder.sandbox.runner import GuestRunner
from autograder.sandbox.zygote import Zygote
from autograder.suite import import_file
from autograder.testing.student import Student

ROOT = Path(__file__).resolve().parents[2]
SOFTMAX = (
    "import numpy as np\n"
    "def softmax(scores, axis=-1):\n"
    "    e = np.exp(scores - scores.max(axis=axis, keepdims=True))\n"
    "    return e / e.sum(axis=axis, keepdims=True)\n"
)
WRONG = SOFTMAX.replace("return e", "return 2 * e")


@dataclass(frozen=True)
class Case:
    """The code cells of a notebook, and how kernel and guest differ, if they do."""

    cells: tuple[str, ...]
    difference: str = ""
    only_kernel: frozenset[str] = field(default_factory=frozenset)
    only_guest: frozenset[str] = field(default_factory=frozenset)


class Seen(NamedTuple):
    """What came of a notebook: the names it defined, and the public tests of `softmax` that passed."""

    names: frozenset[str]
    passed: int


def _(*cells: str) -> Case:
    return Case(cells)


CASES: Mapping[str, Case] = {
    # displays
    "display": _("from IPython.display import display, Markdown, HTML\ndisplay(HTML('<b>x</b>'), Markdown('*x*'))", SOFTMAX),
    "display-builtin": _(SOFTMAX, "display(softmax(np.zeros(3)), metadata={})"),
    "display-handle": _("handle = display('a', display_id=True)\nhandle.update('b')", SOFTMAX),
    "last-expression": _("1 + 1", "x = _\ny = Out[1]", SOFTMAX),
    "semicolon": _("x = 3\nx;", "y = 4;", SOFTMAX),
    "interactivity": _(
        "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.ast_node_interactivity = 'all'",
        "1\n2", f"{SOFTMAX}3",
    ),
    "last-or-assign": _("%config InteractiveShell.ast_node_interactivity = 'last_expr_or_assign'",
        f"{SOFTMAX}x = 1",),
    "own-repr": _("class A:\n    def _repr_html_(self): return 'x'\nA()", SOFTMAX),
    "failing-repr": _("class A:\n    def __repr__(self): raise ValueError\nA()\n", f"A()\n{SOFTMAX}"),
    "clear-output": _("from IPython.display import clear_output\nclear_output(wait=True)", SOFTMAX),
    # the shell object
    "get-ipython": _("shell = get_ipython()\nkind = type(shell).__name__ != ''", SOFTMAX),
    "run-line-magic": _("get_ipython().run_line_magic('matplotlib', 'inline')", SOFTMAX),
    "run-cell-magic": _("get_ipython().run_cell_magic('time', '', 'x = 1')", SOFTMAX),
    "run-cell": _("result = get_ipython().run_cell('y = 2')", SOFTMAX),
    "user-ns": _("get_ipython().user_ns['z'] = 3", SOFTMAX),
    "push": _("get_ipython().push({'pushed': 1})", SOFTMAX),
    "in-and-out": _("x = 1", "n = len(In)\nfirst = In[1]", SOFTMAX),
    "events": _("seen = []\nget_ipython().events.register('post_run_cell', lambda _: seen.append(1))", "x = 1", SOFTMAX),
    "own-magics": _(
        "from IPython.core.magic import register_line_magic, register_cell_magic\n"
        "@register_line_magic\ndef twice(line):\n    return 2 * int(line)\n"
        "@register_cell_magic\ndef keep(line, cell):\n    get_ipython().user_ns[line] = cell",
        "x = %twice 21", "%%keep text\nwords", SOFTMAX,
    ),
    "own-transformer": _(
        "def upper(lines):\n    return [line.replace('ZERO', '0') for line in lines]\n"
        "get_ipython().input_transformers_cleanup.append(upper)", "x = ZERO", SOFTMAX,
    ),
    "ast-transformer": _(
        "import ast\nclass Double(ast.NodeTransformer):\n    def visit_Constant(self, node):\n"
        "        return ast.Constant(node.value * 2) if type(node.value) is int else node\n"
        "get_ipython().ast_transformers.append(Double())",
        "x = 21", "get_ipython().ast_transformers.clear()", SOFTMAX,
    ),
    # magics
    "matplotlib-inline": _("%matplotlib inline", SOFTMAX),
    "matplotlib-middle": _(f"{SOFTMAX}%matplotlib inline\nx = 1"),
    "retina": _("%matplotlib inline\n%config InlineBackend.figure_format = 'retina'", SOFTMAX),
    "pylab": Case(
        ("%pylab inline", SOFTMAX, "x = arange(3)"),
    ),
    "time-cell": _(f"%%time\n{SOFTMAX}"),
    "time-line": _("%time x = 1\ny = %time 2", SOFTMAX),
    "time-in-loop": _("for i in range(2):\n    %time j = i", SOFTMAX),
    "timeit-cell": _("%%timeit -n 1 -r 1\nx = 1", SOFTMAX),
    "timeit-line": _("r = %timeit -o -q -n 1 -r 1 len([])\nbest = r.best >= 0", SOFTMAX),
    "capture": _(f"%%capture out\nprint(1)\n{SOFTMAX}", "text = out.stdout"),
    "prun": _("%prun -q x = 1", SOFTMAX),
    "who": _("x = 1\n%who\nnames = %who_ls", SOFTMAX),
    "env": _("%env COURSE_X=1\nimport os\nx = os.environ['COURSE_X']", SOFTMAX),
    "pwd": _("here = %pwd", SOFTMAX),
    "precision": _("%precision 3\n3.14159", SOFTMAX),
    "reset": _("x = 1\n%reset -f", SOFTMAX),
    "xdel": _("x = 1\n%xdel x", SOFTMAX),
    "alias-magic": _("%alias_magic t time\n%t x = 1", SOFTMAX),
    "autocall-off": _("%autocall 0", SOFTMAX),
    "html-cell": _("%%html\n<b>x</b>", SOFTMAX),
    "latex-cell": _("%%latex\n$x$", SOFTMAX),
    "javascript-cell": _("%%javascript\nalert(1)", SOFTMAX),
    "help": _("print?\n", "?print", "str.join??", SOFTMAX),
    "writefile-import": _(f"%%writefile my_helper.py\n{SOFTMAX}", "from my_helper import softmax"),
    "writefile-run": _(f"%%writefile my_script.py\n{SOFTMAX}", "%run my_script.py"),
    # the outside
    "shell": _("!echo hello", SOFTMAX),
    "shell-continued": _("!echo hello \\\n    again\nx = 1", SOFTMAX),
    "shell-assigned": _("files = !true\nd = {}\nd['x'] = 1", SOFTMAX),
    "shell-item": _(f"{SOFTMAX}d = {{}}\nd['files'] = !true"),
    "shell-lines": Case(("lines = !echo one\nfirst = lines[0]", SOFTMAX), "no command is run", frozenset({"first"})),
    "bash-cell": _("%%bash\ntrue", SOFTMAX),
    "load-ext": _("%load_ext autoreload\n%autoreload 2", SOFTMAX),
    "unknown-magic": Case(
        ("%nowhere 1\nx = 1", SOFTMAX), "a magic that is not there is ignored, as it may come from a package", frozenset(),
        frozenset({"x"}),
    ),
    "missing-package": Case(
        (f"import nowhere_at_all as pd\n{SOFTMAX}",), "a cell goes on after a package that only the author's machine has",
        frozenset(), frozenset({"np", "softmax"}),
    ),
    "missing-file": Case(
        (f"x = open('nowhere.csv')\n{SOFTMAX}",), "a cell goes on after a file that only the author's machine has",
        frozenset(), frozenset({"np", "softmax"}),
    ),
    # code
    "percent-operator": _("print('row %d'\n      % 1)\nx = (7\n% 2)", SOFTMAX),
    "text-with-magics": _("text = '''\n%matplotlib inline\n!ls\nprint?\n'''", SOFTMAX),
    "await": _("import asyncio\nawait asyncio.sleep(0.001)", SOFTMAX),
    "await-value": _("async def f(x):\n    return x\ny = await f(3)", f"{SOFTMAX}z = await f(4)"),
    "async-for": _("async def f():\n    yield 1\nxs = [x async for x in f()]\nasync for y in f():\n    pass", SOFTMAX),
    "task": _("import asyncio\nt = asyncio.create_task(asyncio.sleep(0, 5))", "x = await t", SOFTMAX),
    "asyncio-run": _("import asyncio\nc = asyncio.sleep(0)\nasyncio.run(c)\nafter = 1", f"c.close()\n{SOFTMAX}"),
    "future": _("from __future__ import annotations", f"def f(x: Nowhere) -> Nowhere: ...\n{SOFTMAX}"),
    "indented": _("    x = 1\n    y = 2", SOFTMAX),
    "prompts": _(">>> x = 1\n>>> def f():\n...     return x\n", SOFTMAX),
    "ipython-prompts": _("In [1]: x = 1\n   ...: y = 2", SOFTMAX),
    "main": _("name = __name__\nimport __main__\nsame = __main__.name", SOFTMAX),
    "pickle": _("import pickle\nclass P: ...\np = pickle.loads(pickle.dumps(P()))", SOFTMAX),
    "dataclass": _("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: 'int' = 1\np = P()", SOFTMAX),
    "inspect": _("import inspect\ndef f():\n    return 1\nsource = inspect.getsource(f)", SOFTMAX),
    "failing-cell": _("x = 1\ny = 1 / 0\nz = 2", SOFTMAX),
    "syntax-error": _("x = 1\nif True print(1)", SOFTMAX),
    "system-exit": _("x = 1\nimport sys\nsys.exit(0)\ny = 2", SOFTMAX),
    "warnings": _("import warnings\nwarnings.warn('careful')\nwarnings.filterwarnings('ignore')", SOFTMAX),
    "figures": _("import matplotlib.pyplot as plt\nplt.plot([1])", "plt.plot([2])\nlines = len(plt.gca().lines)", SOFTMAX),
    "savefig": _("from matplotlib.pyplot import *\nplot([1])\nsavefig('a.png')", "x = open('a.png', 'rb').read()", SOFTMAX),
    "wrong": _(WRONG),
    "redefined": _(WRONG, SOFTMAX),
    "in-pieces": _("import numpy as np", SOFTMAX.partition("\n")[2], "x = softmax(np.zeros(3))\nassert x.sum() == 1"),
    "empty-cells": _("", "\n\n", "# only a comment", SOFTMAX),
    "blank-lines": _(f"\n\n\n%%time\n{SOFTMAX}"),
    # as students write them
    "tqdm-missing": _(
        "try:\n    from tqdm.notebook import tqdm\nexcept ImportError:\n    tqdm = lambda xs, **kw: xs",
        f"{SOFTMAX}for i in tqdm(range(3), desc='row'):\n    pass",
    ),
    "widget-backend": _("%matplotlib widget", SOFTMAX),
    "notebook-backend": _("%matplotlib notebook\nimport matplotlib.pyplot as plt\nfig = plt.figure()", SOFTMAX),
    "gui-backend": _("import matplotlib\nmatplotlib.use('Qt5Agg')", SOFTMAX),
    "plot-style": _(
        "import matplotlib.pyplot as plt\nplt.style.use('ggplot')\nplt.rcParams['figure.figsize'] = (8, 4)\n"
        "fig, ax = plt.subplots(1, 2, sharey=True)\nax[0].imshow([[0, 1]], cmap='viridis')\nplt.tight_layout()\nplt.show()",
        SOFTMAX,
    ),
    "seaborn-style": _("import matplotlib.pyplot as plt\nplt.style.use('seaborn-v0_8')", SOFTMAX),
    "xkcd": _("import matplotlib.pyplot as plt\nwith plt.xkcd():\n    plt.plot([1, 2])\nplt.show()", SOFTMAX),
    "inline-formats": _(
        "from matplotlib_inline.backend_inline import set_matplotlib_formats\nset_matplotlib_formats('svg')", SOFTMAX,
    ),
    "versions": _(
        "import sys, platform, numpy, matplotlib, IPython\n"
        "print(sys.version, platform.platform(), numpy.__version__, matplotlib.__version__, IPython.__version__)", SOFTMAX,
    ),
    "show-config": _("import numpy as np\nnp.show_config()", SOFTMAX),
    "print-options": _("import numpy as np\nnp.set_printoptions(suppress=True)\nnp.seterr(all='raise')", SOFTMAX),
    "seed": _("import random, numpy as np\nrandom.seed(0)\nnp.random.seed(0)\nx = float(np.random.rand())", SOFTMAX),
    "type-hints": _(
        "from typing import Optional, Union, List, Tuple, Callable, TypeVar\nfrom numpy.typing import NDArray\n"
        "import numpy as np\nArray = NDArray[np.float64]\ndef f(x: Optional[Array] = None) -> Tuple[Array, ...]: ...",
        SOFTMAX,
    ),
    "main-guard": _(f"{SOFTMAX}\nif __name__ == '__main__':\n    ran = True"),
    "arguments": _("import argparse\nargs = argparse.ArgumentParser().parse_args([])", SOFTMAX),
    "chdir": _("import os\nbefore = os.getcwd()\nos.chdir('..')\nos.chdir(before)", SOFTMAX),
    "folders": _(
        "import os\nos.makedirs('figures', exist_ok=True)\nfrom pathlib import Path\nPath('out').mkdir(exist_ok=True)\n"
        "Path('out/a.txt').write_text('x')\nx = Path('out/a.txt').read_text()", SOFTMAX,
    ),
    "sys-path": _("import sys\nsys.path.append('..')\nsys.path.insert(0, '.')", SOFTMAX),
    "other-form": Case(("from ps1 import mix", SOFTMAX), "only the notebook is handed in", frozenset({"mix"})),
    "shell-cd": _("!cd ..\n!pwd", SOFTMAX),
    "cd-magic": _("%cd ..\n%cd -", SOFTMAX),
    "ls-magic": _("%ls", SOFTMAX),
    "conda-magic": _("%conda --version", SOFTMAX),
    "pip-magic": _("%pip --version", SOFTMAX),
    "assert-fails": _(f"{SOFTMAX}assert softmax(np.zeros(2))[0] == 1, 'should be a half'\nafter = 1", "x = 1"),
    "assert-close": _(f"{SOFTMAX}np.testing.assert_allclose(softmax(np.zeros(2)), [.5, .5])\nafter = 1"),
    "unittest": _(
        "import unittest\nclass T(unittest.TestCase):\n    def test_x(self): self.assertTrue(True)\n"
        "result = unittest.main(argv=[''], exit=False)", SOFTMAX,
    ),
    "doctest": _(
        "def f():\n    '''\n    >>> f()\n    1\n    '''\n    return 1\nimport doctest\nr = doctest.testmod()", SOFTMAX,
    ),
    "functools": _("from functools import lru_cache, partial\n@lru_cache\ndef f(n):\n    return n\nx = f(3)", SOFTMAX),
    "lambda": _(
        "import numpy as np\nsoftmax = lambda s, axis=-1: np.exp(s - s.max(axis, keepdims=True)) / "
        "np.exp(s - s.max(axis, keepdims=True)).sum(axis, keepdims=True)",
    ),
    "threads": _(
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as pool:\n"
        "    xs = list(pool.map(abs, [1]))", SOFTMAX,
    ),
    "subprocess": Case(
        ("import subprocess\nout = subprocess.run(['true'], capture_output=True)\nafter = 1", SOFTMAX),
        "no process can be started, and the cell goes on", frozenset({"out"}),
    ),
    "os-system": _("import os\nx = os.system('true')\nafter = 1", SOFTMAX),
    "logging": _(
        "import logging\nlogging.basicConfig(level=logging.INFO)\nlog = logging.getLogger(__name__)\nlog.info('x')", SOFTMAX,
    ),
    "clock": _("import time\nstart = time.time()\ntime.sleep(.01)\nt = time.perf_counter() > 0", SOFTMAX),
    "time-zone": _(
        "import datetime as dt, zoneinfo\nd = dt.datetime.now().astimezone()\nz = zoneinfo.ZoneInfo('Europe/Berlin')",
        SOFTMAX,
    ),
    "temporary-files": _(
        "import tempfile\nwith tempfile.TemporaryDirectory() as d:\n    open(d + '/x', 'w').close()\n"
        "with tempfile.NamedTemporaryFile() as f:\n    n = f.write(b'x')", SOFTMAX,
    ),
    "pickle-file": _(
        "import pickle\nwith open('x.pkl', 'wb') as f:\n    pickle.dump([1], f)\n"
        "with open('x.pkl', 'rb') as f:\n    xs = pickle.load(f)", SOFTMAX,
    ),
    "json-csv": _(
        "import json, csv\nwith open('a.json', 'w') as f:\n    json.dump({}, f)\nd = json.load(open('a.json'))\n"
        "with open('a.csv', 'w', newline='') as f:\n    n = csv.writer(f).writerow([1])\n"
        "rows = list(csv.reader(open('a.csv')))",
        SOFTMAX,
    ),
    "numpy-files": _(
        "import numpy as np\nnp.savez('w.npz', a=np.eye(2))\na = np.load('w.npz')['a']\nnp.savetxt('a.txt', a)\n"
        "b = np.loadtxt('a.txt')", SOFTMAX,
    ),
    "animation": _(
        "import matplotlib.pyplot as plt\nfrom matplotlib.animation import FuncAnimation\nfig = plt.figure()\n"
        "anim = FuncAnimation(fig, lambda i: [], frames=2)\nfrom IPython.display import HTML\nhtml = HTML(anim.to_jshtml())",
        SOFTMAX,
    ),
    "images": _(
        "from PIL import Image\nimg = Image.new('RGB', (2, 2))\nimg.save('i.png')\n"
        "from IPython.display import Image as Show\nshown = Show('i.png')\n"
        "import matplotlib.pyplot as plt\na = plt.imread('i.png')",
        SOFTMAX,
    ),
    "question": Case(
        ("name = input('name? ')\nafter = 1", SOFTMAX), "`input()` answers with nothing; an unattended kernel raises",
        frozenset(), frozenset({"name", "after"}),
    ),
    "match": _("x = 3\nmatch x:\n    case 3: y = 'three'", SOFTMAX),
    "walrus": _("if (n := 3) > 2:\n    m = n", SOFTMAX),
    "star-imports": _("from numpy import *\nfrom math import *", SOFTMAX),
    "del": _("x = y = 1\ndel x", SOFTMAX),
    "globals": _("globals()['made'] = 1\nn = len(locals()) > 0\nexec('z = 1')\ne = eval('z')", SOFTMAX),
    "callable-object": _(
        "import numpy as np\nclass Layer:\n    def __call__(self, scores, axis=-1):\n"
        "        e = np.exp(scores - scores.max(axis=axis, keepdims=True))\n"
        "        return e / e.sum(axis=axis, keepdims=True)\nsoftmax = Layer()",
    ),
    "decorator-missing": _("from numba import njit", "@njit\ndef f(x):\n    return x\ny = f(1)", SOFTMAX),
    "core-display": _("from IPython.core.display import HTML as H", SOFTMAX),
    "ipywidgets": _("try:\n    import ipywidgets as w\nexcept ImportError:\n    w = None", SOFTMAX),
    "debug-off": _("%xmode Minimal\n%pdb off", SOFTMAX),
    "store-magic": _("x = 1\n%store x", SOFTMAX),
    "history-magic": _("x = 1", "%history -n 1", SOFTMAX),
    "save-magic": _("x = 1", "%save -f session.py 1", SOFTMAX),
    "lsmagic": _("%lsmagic", SOFTMAX),
    "home": _("import os\nhere = os.path.abspath('')\nhome = os.environ['HOME']\np = os.path.expanduser('~')", SOFTMAX),
    "dunder-file": _("x = __file__", SOFTMAX),
    "python-cell": _("%%python3\nprint(1)", SOFTMAX),
    "sh-cell": _("%%sh\necho hello", SOFTMAX),
    "script-cell": _("%%script true\nbad code here", SOFTMAX),
    "nest-asyncio": _("import nest_asyncio\nnest_asyncio.apply()", SOFTMAX),
    "magic-in-function": _("def f():\n    %time x = 1\n    return 3\ny = f()", SOFTMAX),
    "magic-in-try": _("try:\n    %load_ext nowhere_at_all\nexcept Exception:\n    pass", SOFTMAX),
    "question-in-comment": _("x = 1  # really?\n# what is x?\ny = x", SOFTMAX),
    "auto-magic": _("matplotlib inline\nx = 1", "pwd", SOFTMAX),
    "auto-call": _("/print 1\n,print a b\n;print a b", SOFTMAX),
    "warnings-as-errors": _("import warnings\nwarnings.simplefilter('error')", SOFTMAX),
    "carriage-returns": _(SOFTMAX.replace("\n", "\r\n")),
    "tabs": _(
        "import numpy as np\ndef softmax(scores, axis=-1):\n\te = np.exp(scores - scores.max(axis=axis, keepdims=True))\n"
        "\treturn e / e.sum(axis=axis, keepdims=True)",
    ),
    "no-break-space": _("x\u00a0= 1", SOFTMAX),
    "leading-mark": _("\ufeffx = 1", SOFTMAX),
    "raises-in-finally": _("try:\n    1 / 0\nfinally:\n    x = 1", SOFTMAX),
    "keyboard-interrupt": _("raise KeyboardInterrupt", SOFTMAX),
    "exit": _("x = 1\nexit", SOFTMAX),
    "os-exit-handlers": _("import atexit\natexit.register(print, 'bye')", SOFTMAX),
    "signal": _("import signal\nold = signal.signal(signal.SIGINT, signal.SIG_DFL)", SOFTMAX),
    "recursion-limit": _("import sys\nsys.setrecursionlimit(10_000)", SOFTMAX),
    "cpu-count": _("import os\nn = os.cpu_count() > 0", SOFTMAX),
    "multiprocessing": _("import multiprocessing as mp\nn = mp.cpu_count() > 0", SOFTMAX),
    "unicode": _("π = 3\nnaïve = 'ü'", SOFTMAX),
}  # fmt: skip


SHELLS_OWN = {"In", "Out", "get_ipython", "exit", "quit", "open"}
# The features of `__future__` are no names that anybody means.
PROBE = """
import json as _json
print(_json.dumps([name for name, value in globals().items() if name[:1] != "_" and type(value).__name__ != "_Feature"]))
"""


def in_kernel(cells: tuple[str, ...], folder: Path) -> Seen:
    """Execute the cells in a kernel of their own, in a copy of the problem set's folder at `folder`."""
    work = folder / "ps1"
    if not work.exists():
        shutil.copytree(ROOT / "student_template", folder, dirs_exist_ok=True)
    kit = "import sys as _sys\n_sys.path.insert(0, '..')\nfrom autograder.kit import check as _check\n_check('softmax')"
    codes = [*cells, PROBE, kit]
    notebook = new_notebook(cells=[new_code_cell(code) for code in codes])
    place = {"metadata": {"path": str(work)}}
    quiet = ["--log-level=ERROR"]
    NotebookClient(notebook, timeout=120, allow_errors=True, resources=place, extra_arguments=quiet).execute()
    names = frozenset(json.loads(_printed(notebook.cells[-2])))
    points = _printed(notebook.cells[-1]).split()
    return Seen(names - SHELLS_OWN, int(points[points.index("of") - 1]))


def _printed(cell: nbformat.NotebookNode) -> str:
    return "".join(output["text"] for output in cell["outputs"] if output["output_type"] == "stream")


def in_guest(cells: tuple[str, ...], zygote: Zygote, course: Course | None = None) -> Seen:
    """Run the cells in a guest, and the public tests of `softmax` on them."""
    course = course or load_course(ROOT)
    problem_set = course.problem_set("ps1")
    content = {"nbformat": 4, "cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    tests = vars(import_file(problem_set.folder / "test_public.py")).values()
    with GuestRunner(zygote, "ps1.ipynb", json.dumps(content).encode(), problem_set.limits) as runner:
        runner.load()
        passed = sum(_passes(test, Student(runner), course.ledger) for test in tests if _grades_softmax(test))
        return Seen(frozenset(runner.report["names"]), passed)


def _grades_softmax(test: Any) -> bool:
    return any(mark.name == "graded" and mark.args[0].question == "softmax" for mark in getattr(test, "pytestmark", []))


def _passes(test: Any, student: Student, ledger: Ledger) -> bool:
    fixtures = {"student": student, "ledger": ledger, "rng": np.random.default_rng(7)}
    try:
        test(**{name: fixtures[name] for name in inspect.signature(test).parameters})
    except Exception:
        return False
    return True


def unexplained(case: Case, kernel: Seen, guest: Seen) -> list[str]:
    """How kernel and guest differ beyond what the case says, as sentences."""
    problems = []
    only_kernel, only_guest = kernel.names - guest.names, guest.names - kernel.names
    if only_kernel != case.only_kernel:
        problems.append(f"only the kernel defines {sorted(only_kernel)}")
    if only_guest != case.only_guest:
        problems.append(f"only the guest defines {sorted(only_guest)}")
    if kernel.passed != guest.passed and "softmax" not in case.only_guest:
        problems.append(f"of the public tests, {kernel.passed} pass in the kernel and {guest.passed} in the guest")
    return problems
