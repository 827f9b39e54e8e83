"""How a submission becomes a namespace: modules and notebooks, whole, broken and odd."""

from __future__ import annotations

import asyncio
import builtins
import json
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from autograder import kit
from autograder.runtime import loading, wire
from autograder.runtime.notebook import process_unchanged
from autograder.runtime.time_limit import time_limit

NAME = "handed_in"
Loaded = tuple[dict[str, Any], loading.Report]


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    with process_unchanged():
        yield
    sys.modules.pop(NAME, None)


def module(source: str | bytes, **options: Any) -> Loaded:
    return loading.load(f"{NAME}.py", source.encode() if isinstance(source, str) else source, **options)


def code(*cells: str | list[str]) -> dict[str, Any]:
    return {"nbformat": 4, "cells": [{"cell_type": "code", "source": cell} for cell in cells]}


def notebook(content: Any, **options: Any) -> Loaded:
    """Loads a notebook given as bytes, as JSON data, or (a list) as the sources of its code cells."""
    if isinstance(content, list):
        content = code(*content)
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return loading.load(f"{NAME}.ipynb", raw, **options)


def problem(loaded: Loaded) -> loading.Report:
    (only,) = loaded[1]["problems"]
    return dict(only)


# --- modules


def test_a_module_defines_its_names() -> None:
    namespace, report = module("import math\nx = 1\ndef f(): return math.pi\n_own = 2\n")
    assert namespace["f"]() == pytest.approx(3.14159, abs=1e-4)
    assert report == {"problems": [], "names": ["math", "x", "f"]}


def test_a_module_is_named_after_its_file() -> None:
    namespace, _ = module("name = __name__\nif __name__ == '__main__': ran = True\n")
    assert namespace["name"] == NAME
    assert "ran" not in namespace


def test_a_statement_that_fails_costs_only_itself() -> None:
    loaded = module("def before(): return 1\nx = 1 / 0\ndef after(): return 2\n")
    assert (loaded[0]["before"](), loaded[0]["after"]()) == (1, 2)
    assert "x" not in loaded[0]
    assert problem(loaded)["type"] == "ZeroDivisionError"
    assert problem(loaded)["where"] == ["line 2, in <module>: x = 1 / 0"]


def test_an_import_that_fails_is_reported_once_and_what_depends_on_it_is_not() -> None:
    source = (
        "import nowhere as pd\nfrom nowhere.special import softmax, other\nframe = pd.DataFrame()\nframe.head()\n"
        "x = softmax\ny = missing\n@pd.cached\ndef f(): ...\ndef g(): return 3\n"
    )
    _, report = module(source)
    assert [problem["message"] for problem in report["problems"]] == [
        "No module named 'nowhere'",
        "No module named 'nowhere'",
        "name 'missing' is not defined",
    ]
    assert report["names"] == ["g"]


@pytest.mark.parametrize(
    "source",
    [
        "a = 1; b = 1 / 0; c = 3",
        "a = 1\nfor number in [1, 0]:\n    b = 1 / number\nc = 3",
        "def div(x):\n    return 1 / x\na = 1\n@(lambda f: div(0))\ndef b(): ...\nc = 3",
        "def div(x):\n    return 1 / x\na = 1\n@div(\n    0)\nclass B:\n    x = 1\nc = 3",
        "a = 1\nwith open('nowhere') as file:\n    b = 2\nc = 3",
        "a = 1\nb = [\n    1,\n    1 / 0,\n]; c = 3",
        "\x0c\na = 1\nraise ValueError('ä') ; c = 3",
        "a = 1\ne = ValueError(); e.__traceback__ = None\nraise e.with_traceback(None)\nc = 3",
        "from __future__ import annotations\na = 1\n1 / 0\ndef f(x: nowhere): ...\nc = 3",
    ],
)
def test_what_follows_a_failed_statement_runs_and_nothing_runs_twice(source: str) -> None:
    namespace, report = module(f"{source}\norder = [1]\norder.append(2)\n")
    assert (namespace["a"], namespace["c"], namespace["order"]) == (1, 3, [1, 2])
    assert len(report["problems"]) == 1


def test_a_text_behind_a_failure_is_not_the_docstring() -> None:
    assert module('"""first"""\n1 / 0\n"""second"""\n')[0]["__doc__"] == "first"


def test_seconds_bound_all_statements_together() -> None:
    start = time.monotonic()
    busy = "import time\nuntil = time.monotonic() + 0.2\nwhile time.monotonic() < until: pass\n1 / 0\n"
    loaded = module(busy * 50 + "after = 1\n", seconds=0.5)
    assert time.monotonic() - start < 5
    assert loaded[1]["problems"][-1]["type"] == "TimeUp"
    assert "after" not in loaded[0]


@pytest.mark.parametrize("leaves", ["raise SystemExit", "import sys; sys.exit(1)", "while True: pass"])
def test_nothing_runs_after_a_statement_that_leaves_or_hangs(leaves: str) -> None:
    loaded = module(f"x = 1\n1 / 0\n{leaves}\ny = 2\n", seconds=0.3)
    assert loaded[1]["problems"][1]["type"] in {"SystemExit", "TimeUp"}
    assert "y" not in loaded[0]


def test_a_module_knows_its_file_and_no_command_line() -> None:
    namespace, report = module("import sys\nfrom pathlib import Path\nhere = Path(__file__).parent\nargv = sys.argv[1:]\n")
    assert report["problems"] == []
    assert (namespace["here"], namespace["argv"]) == (Path.cwd(), [])


@pytest.mark.parametrize("backend", ["TkAgg", "Qt5Agg", "macosx", "nbAgg", "WebAgg", "inline"])
def test_a_backend_with_windows_draws_in_memory(backend: str) -> None:
    source = (
        f"import matplotlib\nmatplotlib.use({backend!r})\nimport matplotlib.pyplot as plt\n"
        f"plt.switch_backend({backend!r})\nfigure = plt.figure()\nplt.show()\nleft = plt.get_fignums()\n"
    )
    namespace, report = module(source)
    assert report["problems"] == []
    assert namespace["left"] == []


def test_a_misspelled_backend_is_an_error_as_anywhere() -> None:
    assert problem(module("import matplotlib\nmatplotlib.use('TkAg')\n"))["type"] == "ValueError"


def test_a_debugger_does_not_wait_and_a_password_is_empty() -> None:
    namespace, report = module("breakpoint()\nimport getpass\nsecret = getpass.getpass()\n")
    assert (namespace["secret"], report["problems"]) == ("", [])


def test_a_syntax_error_names_its_line() -> None:
    loaded = module("x = 1\n\ndef f(:\n    return 1\n")
    assert problem(loaded)["type"] == "SyntaxError"
    assert problem(loaded)["where"] == ["line 3: def f(:"]
    assert loaded[1]["names"] == []


def test_an_indentation_error_names_its_line() -> None:
    loaded = module("def f():\n    x = 1\n  return x\n")
    assert problem(loaded)["type"] == "IndentationError"
    assert problem(loaded)["where"] == ["line 3: return x"]


def test_an_empty_module_is_a_module() -> None:
    assert module(b"")[1] == {"problems": [], "names": []}


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbfword = 'caf\xc3\xa9'\n",
        b"\xef\xbb\xbfword = 'caf\xc3\xa9'\r\n",
        b"word = 'caf\xc3\xa9'\r\nother = 1\r\n",
        b"# -*- coding: latin-1 -*-\nword = 'caf\xe9'\n",
        b"#!/usr/bin/env python\n# coding: cp1252\nword = 'caf\xe9'\n",
        b"\n\nword = 'caf\xc3\xa9'",
    ],
    ids=["BOM", "BOM and CRLF", "CRLF", "latin-1", "cp1252", "no newline at the end"],
)
def test_a_module_in_any_encoding_it_declares_is_read(source: bytes) -> None:
    namespace, report = module(source)
    assert report["problems"] == []
    assert namespace["word"] == "café"


def test_lines_are_counted_right_with_carriage_returns() -> None:
    assert problem(module(b"x = 1\r\n\r\ny = 1 / 0\r\n"))["where"] == ["line 3, in <module>: y = 1 / 0"]


def test_the_line_that_is_shown_is_the_line_that_failed_after_a_form_feed() -> None:
    assert problem(module("x = 1\n\x0c\ny = 1 / 0\n"))["where"] == ["line 3, in <module>: y = 1 / 0"]


@pytest.mark.parametrize(
    "source",
    [
        b"x = 1\n\0y = 2\n",
        b"word = 'caf\xe9'\n",
        b"# coding: no-such-code\n",
        b"\xff\xfex\0",
        bytes(100),
        b"\x89PNG\r\n\x1a\n",
    ],
    ids=["NUL", "latin-1 undeclared", "unknown encoding", "UTF-16", "NULs", "a picture"],
)
def test_what_is_no_python_text_is_a_problem_of_the_submission(source: bytes) -> None:
    loaded = module(source)
    assert problem(loaded)["type"] in {"SyntaxError", "ValueError"}
    assert problem(loaded)["message"]
    assert loaded[1]["names"] == []


@pytest.mark.parametrize("source", ["(" * 10_000, "x = " + "-" * 100_000 + "1", "x = " + "[" * 90 + "]" * 90 + " + 1"])
def test_source_nested_too_deep_is_a_problem_of_the_submission(source: str) -> None:
    loaded = module(source)
    assert problem(loaded)["type"] in {"SyntaxError", "RecursionError", "MemoryError", "TypeError"}


@pytest.mark.parametrize("raised", ["SystemExit(0)", "KeyboardInterrupt()", "GeneratorExit()", "BaseException('odd')"])
def test_a_module_that_leaves_is_a_problem_of_the_submission(raised: str) -> None:
    loaded = module(f"x = 1\nraise {raised}\n")
    assert problem(loaded)["type"] == raised.partition("(")[0]
    assert loaded[0]["x"] == 1


def test_an_own_exception_is_reported_with_its_builtin_bases() -> None:
    report = problem(module("class Odd(KeyError): pass\nraise Odd('here')\n"))
    assert report["type"] == "Odd"
    assert report["bases"][:2] == ["KeyError", "LookupError"]


def test_long_messages_and_deep_tracebacks_are_cut() -> None:
    report = problem(module("def f(n):\n    if n: return f(n - 1)\n    raise ValueError('x' * 10_000)\nf(100)\n"))
    assert len(report["message"]) == loading.MAX_TEXT
    assert len(report["where"]) == loading.MAX_FRAMES
    assert report["where"][-1].startswith("line 3, in f: raise ValueError")


def test_an_error_in_a_library_names_the_submissions_own_line() -> None:
    report = problem(module("import json\n\njson.loads('{')\n"))
    assert report["type"] == "JSONDecodeError"
    assert report["where"] == ["line 3, in <module>: json.loads('{')"]


def test_nobody_answers_input() -> None:
    namespace, report = module("answer = input('your name? ')\nother = builtins = __import__('builtins').input()\n")
    assert report["problems"] == []
    assert (namespace["answer"], namespace["other"]) == ("", "")


def test_input_is_given_back_after_loading() -> None:
    before = builtins.input
    module("x = 1\n")
    assert builtins.input is before


def test_annotations_of_a_submission_mean_what_python_says() -> None:
    namespace, _ = module("def f(x: int) -> float: ...\n")
    assert namespace["f"].__annotations__ == {"x": int, "return": float}


def test_a_dataclass_and_a_pickle_find_the_module_they_live_in() -> None:
    source = (
        "import dataclasses, sys\n@dataclasses.dataclass\nclass P:\n    x: int\nhome = sys.modules[P.__module__].P is P\n"
    )
    namespace, report = module(source)
    assert report["problems"] == []
    assert namespace["home"] is True


# --- time


def test_a_unit_that_does_not_end_is_stopped_and_keeps_what_it_had() -> None:
    start = time.monotonic()
    loaded = module("x = 1\nwhile True: pass\n", seconds=0.3)
    assert time.monotonic() - start < 5
    assert problem(loaded)["type"] == "TimeUp"
    assert problem(loaded)["message"] == "did not finish within 0.3 s"
    assert loaded[0]["x"] == 1


@pytest.mark.parametrize("caught", ["Exception", "(ValueError, Exception)"])
def test_a_loop_that_catches_every_exception_is_stopped_too(caught: str) -> None:
    source = f"while True:\n    try:\n        while True: pass\n    except {caught}: pass\n"
    assert problem(module(source, seconds=0.3))["type"] == "TimeUp"


def test_code_that_catches_everything_once_is_stopped_by_the_second_alarm() -> None:
    source = (
        "import time\nend = time.monotonic() + 10\ntry:\n    while True: pass\nexcept: pass\n"
        "while time.monotonic() < end: pass\nnever = True\n"
    )
    loaded = module(source, seconds=0.3)
    assert problem(loaded)["type"] == "TimeUp"
    assert "never" not in loaded[0]


def test_an_alarm_that_comes_while_the_limit_is_left_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    set_timer = signal.setitimer

    def late(which: int, seconds: float, interval: float = 0.0) -> None:
        if seconds == 0:
            signal.raise_signal(signal.SIGALRM)
        set_timer(which, seconds, interval)

    monkeypatch.setattr(signal, "setitimer", late)
    with time_limit(60):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_alarm_is_off_afterwards() -> None:
    before = signal.getsignal(signal.SIGALRM)
    module("x = 1\n", seconds=5)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_each_cell_has_time_of_its_own() -> None:
    loaded = notebook(["while True: pass", "x = 1", "while True: pass", "y = 2"], seconds=0.3)
    assert [report["unit"] for report in loaded[1]["problems"]] == ["cell 1", "cell 3"]
    assert (loaded[0]["x"], loaded[0]["y"]) == (1, 2)


# --- what only defines is run of a unit that ended the process before


def test_definitions_only_runs_what_cannot_hang() -> None:
    source = (
        "import math\nfrom math import pi\nx = 1\ny: int = 2\nz = print('ran')\nw = [1]\nraise SystemExit\n"
        "def f(): return x\nasync def g(): ...\nclass C: ...\nwhile True: pass\n"
    )
    namespace, report = module(source, definitions_only=[""], seconds=1)
    assert report == {"problems": [], "names": ["math", "pi", "x", "y", "f", "g", "C"]}
    assert namespace["f"]() == 1


def test_definitions_only_holds_for_the_named_cells_alone() -> None:
    namespace, report = notebook(["a = len('x')\nb = 1", "c = len('xy')"], definitions_only=["cell 1"])
    assert report["names"] == ["b", "c"]
    assert namespace["c"] == 2


def test_lines_stay_right_when_only_definitions_run() -> None:
    namespace, _ = module("print()\n\n\ndef f():\n    return 1 / 0\n", definitions_only=[""])
    with pytest.raises(ZeroDivisionError) as caught:
        namespace["f"]()
    assert loading.describe_error(caught.value)["where"] == ["line 5, in f: return 1 / 0"]


# --- notebooks


def test_cells_share_one_namespace_and_run_in_order() -> None:
    namespace, report = notebook(["x = 1", "x += 1", ["def f():\n", "    return x\n"]])
    assert namespace["f"]() == 2
    assert report == {"problems": [], "names": ["x", "f"]}


def test_a_future_import_holds_for_the_cells_behind_it_and_is_no_name() -> None:
    _, report = notebook(["from __future__ import annotations", "def f(x: nowhere) -> nowhere: ..."])
    assert report == {"problems": [], "names": ["f"]}


def test_a_notebook_is_main() -> None:
    assert notebook(["name = __name__"])[0]["name"] == "__main__"


def test_a_failing_cell_fails_only_itself() -> None:
    loaded = notebook(["x = 1", "y = 2\nz = 1 / 0\nw = 3", "v = x + y"])
    report = problem(loaded)
    assert (report["unit"], report["type"]) == ("cell 2", "ZeroDivisionError")
    assert report["where"] == ["cell 2, line 2, in <module>: z = 1 / 0"]
    assert loaded[1]["names"] == ["x", "y", "v"]


def test_a_syntax_error_in_a_cell_names_cell_and_line() -> None:
    loaded = notebook(["x = 1", "y = 2\ndef f(:", "z = 3"])
    assert problem(loaded)["where"] == ["cell 2, line 2: def f(:"]
    assert loaded[1]["names"] == ["x", "z"]


@pytest.mark.parametrize("leave", ["raise SystemExit", "import sys; sys.exit('bye')", "raise KeyboardInterrupt"])
def test_leaving_in_a_cell_ends_only_the_cell(leave: str) -> None:
    loaded = notebook([leave, "x = 1"])
    assert problem(loaded)["unit"] == "cell 1"
    assert loaded[0]["x"] == 1


def test_cells_are_counted_as_a_reader_counts_them() -> None:
    content = code("x = 1", "1 / 0")
    content["cells"].insert(0, {"cell_type": "markdown", "source": "# Title"})
    content["cells"].insert(1, {"cell_type": "raw", "source": "1 / 0"})
    assert problem(notebook(content))["unit"] == "cell 4"


def test_units_are_announced_before_they_run() -> None:
    units: list[str] = []
    notebook(["x = 1", "1 / 0", "y = 2"], on_unit=units.append)
    assert units == ["cell 1", "cell 2", "cell 3"]


def test_a_notebook_may_display_and_ask_for_ipython() -> None:
    namespace, report = notebook(["display(1, metadata={})\nimport IPython\nsame = get_ipython() is IPython.get_ipython()"])
    assert report["problems"] == []
    assert namespace["same"] is True


def test_a_notebook_with_a_byte_order_mark_is_read() -> None:
    assert notebook(b"\xef\xbb\xbf" + json.dumps(code("x = 1")).encode())[1]["names"] == ["x"]


def test_text_beyond_ascii_survives() -> None:
    assert notebook(["π = 'ü 漢'"])[0]["π"] == "ü 漢"


# --- what only IPython understands


@pytest.mark.parametrize(
    "cell",
    [
        "%matplotlib inline\nx = 1",
        "x = 1\n%timeit x\n%config InlineBackend.figure_format = 'svg'",
        "!pip install numpy\nx = 1",
        "x = 1\n!ls",
        "for x in [1]:\n    %time x\n",
        "if True:\n    !ls\nx = 1",
        "%load_ext autoreload\n%autoreload 2\nx = 1",
        "?print\nx = 1",
        "print?\nx = 1",
        "str.join??\nx = 1",
        "%%time\nx = 1",
        "%timeit -n 100000000 len([])\nx = 1",
        "%%capture output\nx = 1",
        "\n%%time\nx = 1",
    ],
)
def test_magics_are_passed_over_and_the_python_around_them_runs(cell: str) -> None:
    namespace, report = notebook([cell])
    assert {problem["type"] for problem in report["problems"]} <= {loading.IGNORED}
    assert namespace["x"] == 1


@pytest.mark.parametrize(
    "cell", ["files = !ls", "  files = !ls -l\n", "files, more = [1, 2]\nfiles = !ls", "files = %sx ls"]
)
def test_a_shell_gives_no_lines(cell: str) -> None:
    loaded = notebook([cell])
    assert problem(loaded)["type"] == loading.IGNORED
    assert loaded[0]["files"] == []


@pytest.mark.parametrize("magic", ["%%bash", "%%sh", "%%html", "%%javascript", "%%latex", "%%script bash -e"])
def test_a_cell_in_another_language_is_passed_over(magic: str) -> None:
    namespace, report = notebook([f"{magic}\nx = 1\nthis is no python", "y = 2"])
    assert {problem["type"] for problem in report["problems"]} <= {loading.IGNORED}
    assert report["names"] == ["y"]
    assert namespace["y"] == 2


def test_what_is_ignored_is_said_once() -> None:
    _, report = notebook(["!ls\n!pwd", "%load_ext autoreload\n%autoreload 2", "%autoreload 2\n!ls", "!!ls", "x = !ls"])
    assert [problem["message"] for problem in report["problems"]] == [
        "ignored in cell 1: shell commands, such as lines with `!`",
        "ignored in cell 2: the magic `%load_ext`",
        "ignored in cell 2: the magic `%autoreload`",
    ]


def test_help_is_passed_over_in_silence() -> None:
    assert notebook(["print?\nx = 1", "?print", "str.join??"])[1] == {"problems": [], "names": ["x"]}


def test_a_cell_of_only_timed_code_defines_nothing_as_in_jupyter() -> None:
    assert notebook(["%%timeit -n 1\nx = 1"])[1] == {"problems": [], "names": []}


def test_a_cell_that_lacks_a_package_or_a_file_goes_on() -> None:
    cells = ["import nowhere as pd\nx = open('no file')\ny = pd.z + x\nz = 1", "y\nw = 2", "1 / 0\nv = 3"]
    _, report = notebook(cells)
    assert [problem["type"] for problem in report["problems"]] == [
        "ModuleNotFoundError",
        "FileNotFoundError",
        "ZeroDivisionError",
    ]
    assert report["names"] == ["z", "w"]


def test_a_cell_has_an_event_loop() -> None:
    cells = [
        "import asyncio\nasync def f(x):\n    await asyncio.sleep(0.01)\n    return x",
        "first = await f(1)",
        "task = asyncio.create_task(f(2))",
        "second = await task\nboth = await asyncio.gather(f(3), f(4))",
        "try:\n    asyncio.run(asyncio.sleep(0))\nexcept RuntimeError as error:\n    said = str(error)",
    ]
    namespace, report = notebook(cells)
    assert report["problems"] == []
    assert (namespace["first"], namespace["second"], namespace["both"]) == (1, 2, [3, 4])
    assert "running event loop" in namespace["said"]


def test_a_notebook_is_loaded_where_another_loop_is_running() -> None:
    async def kernel() -> Loaded:
        return notebook(["import asyncio\nx = 1", "await asyncio.sleep(0)\ny = 2"])

    # In a thread of its own, for tests with a browser leave a loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        namespace, report = pool.submit(lambda: asyncio.run(kernel())).result()
    assert (namespace["x"], namespace["y"], report["problems"]) == (1, 2, [])


def test_a_cell_that_waits_for_ever_is_stopped() -> None:
    loaded = notebook(["import asyncio\nx = 1\nawait asyncio.sleep(100)\ny = 2", "z = 3"], seconds=0.3)
    assert problem(loaded)["type"] == "TimeUp"
    assert loaded[1]["names"] == ["asyncio", "x", "z"]


def test_each_cell_draws_a_figure_of_its_own() -> None:
    cells = ["import matplotlib.pyplot as plt\nplt.plot([1])", "plt.plot([2])\nlines = len(plt.gca().lines)"]
    assert notebook(cells)[0]["lines"] == 1


def test_a_notebook_finds_itself_as_main() -> None:
    cell = "import __main__, pickle\nclass P: ...\nsame = type(pickle.loads(pickle.dumps(P()))) is P and __main__.P is P"
    assert notebook([cell])[0]["same"] is True


def test_a_file_that_a_cell_writes_can_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace, report = notebook(["%%writefile handed_in_helper.py\nx = 1", "from handed_in_helper import x"])
    sys.modules.pop("handed_in_helper", None)
    assert (namespace.get("x"), report["problems"]) == (1, [])


def test_results_are_kept_and_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    namespace, _ = notebook(["41 + 1", "x = _\ny = Out[1]"])
    assert (namespace["x"], namespace["y"]) == (42, 42)
    assert capsys.readouterr().out == ""


def test_magics_of_the_students_own_run() -> None:
    cells = [
        "from IPython.core.magic import register_line_magic, register_cell_magic\n"
        "@register_line_magic\ndef twice(line):\n    return 2 * int(line)\n"
        "@register_cell_magic\ndef keep(line, cell):\n    get_ipython().user_ns[line] = cell",
        "x = %twice 21",
        "%%keep text\nany words",
    ]
    namespace, report = notebook(cells)
    assert report["problems"] == []
    assert (namespace["x"], namespace["text"]) == (42, "any words\n")


def test_a_module_runs_as_if_there_were_no_ipython(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(builtins, "__IPYTHON__", raising=False)  # a notebook of an earlier test may have left it
    source = "import builtins, IPython\nshell = IPython.get_ipython()\nflag = hasattr(builtins, '__IPYTHON__')\n"
    namespace, _ = module(source)
    assert (namespace["shell"], namespace["flag"]) == (None, False)
    assert problem(module("get_ipython().run_line_magic('matplotlib', 'inline')\nx = 1\n"))["type"] == "NameError"


@pytest.mark.parametrize(
    "cell",
    [
        "text = '''\n%matplotlib inline\n!ls\nprint?\n'''",
        "text = '%d' \\\n% 1",
        "text = (7\n% 2)",
    ],
)
def test_plain_python_that_looks_like_magic_stays_as_it_is(cell: str) -> None:
    expected: dict[str, Any] = {}
    exec(cell, expected)
    assert notebook([cell])[0]["text"] == expected["text"]


def test_lines_are_counted_right_after_magics() -> None:
    assert problem(notebook(["%matplotlib inline\n%time 1\n\n1 / 0"]))["where"] == ["cell 1, line 4, in <module>: 1 / 0"]
    assert problem(notebook(["%%time\nx = 1\n1 / 0"]))["where"] == ["cell 1, line 3, in <module>: 1 / 0"]


def test_a_cell_magic_and_line_magics_go_together() -> None:
    namespace, report = notebook(["%%time\n%matplotlib inline\nx = 1"])
    assert report["problems"] == []
    assert namespace["x"] == 1


def test_a_cell_magic_may_end_in_a_carriage_return() -> None:
    assert notebook(["%%time\r\nx = 1"])[0].get("x") == 1


def test_a_statement_that_is_timed_is_run() -> None:
    assert notebook(["%time x = 1"])[0].get("x") == 1


# --- check cells


@pytest.mark.parametrize(
    "imported", ["from autograder.kit import check\n", "import autograder.kit\ncheck = autograder.kit.check\n"]
)
def test_check_does_nothing_while_a_submission_is_loaded(imported: str, capsys: pytest.CaptureFixture[str]) -> None:
    namespace, report = notebook([imported, 'check("softmax")', "check('no such question')\nx = 1"])
    assert report["problems"] == []
    assert namespace["x"] == 1
    assert capsys.readouterr().out == ""


def test_check_works_again_after_a_submission_that_failed() -> None:
    notebook(["1 / 0"])
    # There is no problem set here; a check that did nothing would not notice.
    with pytest.raises(FileNotFoundError, match=r"problem_set\.json"):
        kit.check("softmax")


# --- files that are no notebook


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x = 1\n",
        b"{",
        b"\xff\xfe{\0}\0",
        b"\0\0\0\0",
        b'{"nbformat": 4, "cells": [}',
        b"[]",
        b"null",
        b"4",
        b'"notebook"',
        b"NaN",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        {},
        {"nbformat": 4},
        {"cells": []},
        {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": "x = 1"}]}]},
        {"nbformat": "4", "cells": []},
        {"nbformat": 5, "cells": []},
        {"nbformat": 4, "cells": None},
        {"nbformat": 4, "cells": 5},
        {"nbformat": 4, "cells": [None]},
        {"nbformat": 4, "cells": ["x = 1"]},
        {"nbformat": 4, "cells": [{}]},
        {"nbformat": 4, "cells": [{"cell_type": "code"}]},
        {"nbformat": 4, "cells": [{"cell_type": "code", "source": 5}]},
        {"nbformat": 4, "cells": [{"cell_type": "code", "source": [1, 2]}]},
        {"nbformat": 4, "cells": [{"cell_type": "code", "source": None}]},
    ],
    ids=lambda content: repr(content)[:60],
)
def test_what_is_no_notebook_is_one_problem_in_plain_words(content: Any) -> None:
    loaded = notebook(content)
    assert problem(loaded)["message"].startswith("this is not a notebook that can be read: ")
    assert loaded[1]["names"] == []


def test_an_old_notebook_is_told_what_to_do() -> None:
    assert "save it again" in problem(notebook({"nbformat": 3, "worksheets": []}))["message"]


def test_a_cell_with_a_lone_surrogate_fails_only_itself() -> None:
    loaded = notebook(b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x = \'\\ud800\'"},'
                      b' {"cell_type": "code", "source": "y = 1"}]}')  # fmt: skip
    assert problem(loaded)["unit"] == "cell 1"
    assert loaded[0]["y"] == 1


def test_a_cell_with_a_nul_byte_fails_only_itself() -> None:
    loaded = notebook(["x = 1\0", "y = 1"])
    assert problem(loaded)["unit"] == "cell 1"
    assert loaded[0]["y"] == 1


@pytest.mark.parametrize("stars", ["from numpy import *\nfrom matplotlib.pyplot import *\n", "from pylab import *\n"])
def test_a_name_is_not_lost_among_those_of_libraries(stars: str) -> None:
    assert "softmax" in module(f"{stars}def softmax(x): return x\n")[1]["names"]


def test_reports_are_bounded() -> None:
    _, report = notebook(["1 / 0"] * 200 + [f"{'n' * 500}{number} = 1" for number in range(6000)])
    assert len(report["problems"]) == 50
    assert len(report["names"]) == loading.MAX_NAMES
    assert max(map(len, report["names"])) == 100


# --- calls


def test_invoke_gives_the_value_and_the_warnings() -> None:
    import warnings

    def function(x: int, *, y: int) -> int:
        warnings.warn("careful", stacklevel=1)
        return x + y

    arguments: tuple[tuple[Any, ...], dict[str, Any]] = ((1,), {"y": 2})
    answers, warned = loading.invoke(lambda: (function, *arguments), bytes(wire.encode(arguments)[0]), 5.0, repeat=True)
    assert [answer.decode() for answer in answers] == [3]
    assert warned == ["UserWarning: careful"]


def test_invoke_lets_exceptions_through() -> None:
    with pytest.raises(ZeroDivisionError):
        loading.invoke(lambda: (lambda: 1 / 0, (), {}), b"", 5.0, repeat=False)
