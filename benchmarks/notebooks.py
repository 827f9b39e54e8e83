"""Whether notebooks run in a guest as in Jupyter: those of `tests/support/notebook_corpus.py`, in a kernel and a guest.

    python benchmarks/notebooks.py [--backend sandlock] [--only NAME ...] [--jobs 2]

Prints a line for each notebook as soon as it is done: how many names both define and how many public tests pass, or how the
two differ and why. Each needs a kernel of its own, about two seconds of CPU time. Exit code 1 if a reason is missing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder.course import load_course  # noqa: E402
from autograder.sandbox.guest import open_zygote  # noqa: E402
from tests.support import notebook_corpus as corpus  # noqa: E402


def kernel_result(name: str) -> corpus.Seen | str:
    """What a kernel makes of a notebook, or why it could not be executed."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            return corpus.in_kernel(corpus.CASES[name].cells, Path(folder))
    except Exception as error:
        return f"the kernel failed: {type(error).__name__}: {error}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend")
    parser.add_argument("--only", nargs="+", choices=corpus.CASES, default=list(corpus.CASES))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="kernels at the same time")
    arguments = parser.parse_args()
    zygote, course = open_zygote(arguments.backend), load_course(ROOT)
    wrong, seconds, explained, begun = 0, [], 0, time.perf_counter()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for name, kernel in zip(arguments.only, pool.map(kernel_result, arguments.only), strict=True):
            case, before = corpus.CASES[name], time.perf_counter()
            guest = corpus.in_guest(case.cells, zygote, course)
            seconds.append(time.perf_counter() - before)
            problems = [kernel] if isinstance(kernel, str) else corpus.unexplained(case, kernel, guest)
            wrong += bool(problems)
            explained += bool(case.difference and not problems)
            same = f"{len(guest.names)} names, {guest.passed} of 2 tests"
            print(f"{len(seconds):>3} {name:<20} {'; '.join(problems) or case.difference or same}", flush=True)
    zygote.close()
    equal = len(seconds) - wrong - explained
    print(f"{len(seconds)} notebooks: {equal} equal, {explained} differ for the reason given, {wrong} without a reason")
    print(f"{time.perf_counter() - begun:.0f} s in all; in a guest a notebook with its tests takes "
          f"{1e3 * statistics.median(seconds):.0f} ms (median)")  # fmt: skip
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
