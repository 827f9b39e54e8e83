"""Whether notebooks run in a guest as in Jupyter: those of `tests/support/notebook_corpus.py`, in a kernel and a guest.

    python benchmarks/notebooks.py [--backend sandlock] [--only NAME]

Prints a line for each notebook: how many names both define and how many public tests pass, or how the two differ and why.
Exit code 1 if they differ without a reason.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder.course import load_course  # noqa: E402
from autograder.sandbox.guest import open_zygote  # noqa: E402
from tests.support import notebook_corpus as corpus  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend")
    parser.add_argument("--only")
    arguments = parser.parse_args()
    zygote, course = open_zygote(arguments.backend), load_course(ROOT)
    wrong, seconds = 0, []
    for name, case in corpus.CASES.items():
        if arguments.only not in (None, name):
            continue
        begun = time.perf_counter()
        guest = corpus.in_guest(case.cells, zygote, course)
        seconds.append(time.perf_counter() - begun)
        with tempfile.TemporaryDirectory() as folder:
            kernel = corpus.in_kernel(case.cells, Path(folder))
        problems = corpus.unexplained(case, kernel, guest)
        wrong += bool(problems)
        same = f"{len(kernel.names & guest.names)} names, {guest.passed} of 2 tests"
        print(f"{name:<20} {'; '.join(problems) or case.difference or same}", flush=True)
    zygote.close()
    listed = sum(bool(case.difference) for case in corpus.CASES.values())
    print(f"{len(seconds)} notebooks, {wrong} differ without a reason; {listed} differ for the reason given")
    print(f"in a guest a notebook with its tests takes {1e3 * sorted(seconds)[len(seconds) // 2]:.0f} ms (median)")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
