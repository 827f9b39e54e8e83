"""What a notebook's file gives from top to bottom in a fresh process, as when it is graded.

A running notebook remembers cells that were changed, deleted or run in another order since.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from autograder.kit.local import run_public_tests
from autograder.kit.own_run import OwnRun

SECONDS = 300.0
PROBLEMS = 3  # that are shown


def compared(run: OwnRun) -> list[str]:
    """Lines that compare the saved notebook with what the `run` in its kernel gave."""
    work = run.folder / f"{run.description['module']}.ipynb"
    if not work.is_file():
        return []
    saved = f"{work.name}, as saved at {datetime.fromtimestamp(work.stat().st_mtime):%H:%M}"
    paths = [str(Path(__file__).resolve().parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "autograder.kit.fresh", str(work.resolve())],
            capture_output=True, text=True, encoding="utf-8", timeout=SECONDS, check=False, cwd=run.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"},
        )  # fmt: skip
        fresh = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return [f"{saved}, does not run to its end within {SECONDS:g} s in a fresh process."]
    except ValueError:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return [f"{saved}, ended its process when it was run from top to bottom: {last}"]
    here = run.points()
    lost = {name: points for name, points in fresh["points"].items() if points < here.get(name, 0.0)}
    if not lost:
        return [f"{saved}, gives the same from top to bottom in a fresh process."]
    told = ", ".join(f"`{name}` {points:g} points, not {here[name]:g}" for name, points in lost.items())
    return [f"{saved}, gives less from top to bottom in a fresh process, as when it is graded: {told}.",
            *(f"  {problem}" for problem in fresh["problems"][:PROBLEMS]),
            "Restart the kernel, run all cells, and save."]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """The process: prints the points by question, and what went wrong while the file was loaded."""
    [path] = arguments if arguments is not None else sys.argv[1:]
    with contextlib.redirect_stdout(io.StringIO()):
        run = OwnRun(Path(path).parent, work=Path(path))
        run_public_tests(run)
    print(json.dumps({"points": run.points(), "problems": run.problems}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
