"""What the corpus of attacks costs the grader: the most memory a worker held, and the longest time an attack took.

    python benchmarks/hostile_costs.py [--backend bubblewrap] [--on ps1 [--share 0.2]]

Grades every file of tests/hostile in one worker a problem set, each followed by an honest submission, and prints for each
kind of attack the worker's largest resident memory (not the guest's), the largest of a guest, the longest grading, and the
longest honest grading after an attack. With `--on` the attacks on the tiny course are handed in for a real problem set, with
an honest submission after every twenty, and with `--share` under that share of its limits on time and memory. The exit
status is 1 if an attack made the grader call itself at fault, cost an honest submission a point, or earned more on a real
problem set than the honest answers to `tiny` do.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import math
import platform
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from autograder.journal import Stored
from tests.support import hostile_run, hostile_table

MB = 2**20
NOBODY = 4_000_000  # the pid of no process here: above the kernel's default largest


@dataclass
class Cost:
    """The worst of one kind of attack, in bytes and seconds, each with the attack that it belongs to."""

    attacks: int = 0
    worker: tuple[float, str] = (0.0, "")
    guest: tuple[float, str] = (0.0, "")
    seconds: tuple[float, str] = (0.0, "")
    honest_after: tuple[float, str] = (0.0, "")
    faults: list[str] = field(default_factory=list)


def workers() -> list[Path]:
    """The /proc folders of the grading workers that this process started."""
    rows = []
    for folder in Path("/proc/self/task").glob("*/children"):
        for pid in folder.read_text().split():
            with contextlib.suppress(OSError):
                if b"autograder.worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    rows.append(Path(f"/proc/{pid}"))
    return rows


def peak_memory() -> int:
    """The most memory that a worker held at once since this was asked last."""
    peak = 0
    for worker in workers():
        with contextlib.suppress(OSError):
            lines = dict(line.split(":", 1) for line in (worker / "status").read_text().splitlines())
            peak = max(peak, int(lines["VmHWM"].split()[0]) * 1024)
            (worker / "clear_refs").write_text("5")  # starts the count anew
    return peak


def costs(backend: str, real: str | None, share: float) -> dict[str, Cost]:
    """Grade the corpus, and collect the worst of each kind."""
    kinds: dict[str, Cost] = collections.defaultdict(Cost)
    attacks = [attack for attack in hostile_table.attacks() if attack.machine in ("", platform.machine())]
    if real:
        attacks = [attack for attack in attacks if hostile_run.fits(attack)]
    kind_of = {attack.name: attack.kind for attack in attacks}
    last, most = "", math.inf

    def note(stored: Stored) -> None:
        nonlocal last, most
        record = stored.record
        name = record.provenance.student
        worker = peak_memory()
        sys.stderr.write(f"{name}: {record.score:g} points, {record.seconds:.2f} s, worker {worker / MB:.0f} MB\n")
        if name in kind_of:
            last, cost = name, kinds[kind_of[name]]
            cost.attacks += 1
            cost.worker = max(cost.worker, (worker, name))
            cost.guest = max(cost.guest, (record.peak_memory, name))
            cost.seconds = max(cost.seconds, (record.seconds, name))
            if record.is_sound and record.score > most:
                cost.faults.append(f"{name} earned {record.score:g} points, honest answers to `tiny` {most:g}")
        elif name == "plain":
            most = record.score
        elif last:
            cost = kinds[kind_of[last]]
            cost.honest_after = max(cost.honest_after, (record.seconds, last))
            if record.score < full:
                cost.faults.append(f"an honest submission after {last} earned {record.score:g} of {full:g}")
        if not record.is_sound:
            kinds[kind_of[last]].faults.append(f"{name}: {record.fault.strip().splitlines()[-1]}")

    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        roots = hostile_run.course_copies(folder, "bait_0123456789abcdef", 7_654_321)
        for slug, (root, problem_set) in hostile_run.problem_sets(roots).items():
            own = [attack for attack in attacks if slug == (real or attack.problem_set)]
            fill = {"@COURSE@": str(root), "@JOURNAL@": str(folder / "results"), "@HOSTPID@": str(NOBODY), "@PORT@": "9"}
            submissions = [hostile_run.submission(attack, problem_set, fill) for attack in own]
            full = sum(question.points for question in problem_set.assignment.questions if question.kind != "written")
            if submissions:
                if real:
                    submissions.insert(0, hostile_run.plain(problem_set))
                neutral = problem_set.solution.read_bytes()
                journal = folder / "results"
                hostile_run.grade_in_turn(
                    root,
                    problem_set,
                    submissions,
                    journal,
                    backend,
                    neutral=neutral,
                    share=share,
                    every=20 if real else 1,
                    on_done=note,
                )
    return kinds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--backend", default="")
    parser.add_argument("--on", metavar="PROBLEM_SET", help="hand the attacks on the tiny course in for this one")
    parser.add_argument("--share", type=float, default=1.0, help="of the limits on time and memory")
    options = parser.parse_args()
    kinds = costs(options.backend, options.on, options.share)
    print(f"{'kind':<16} {'attacks':>7} {'worker MB':>10} {'guest MB':>9} {'seconds':>8} {'honest after':>13}  worst")
    for kind in hostile_table.KINDS:
        cost = kinds[kind]
        numbers = (
            f"{cost.worker[0] / MB:>10.0f} {cost.guest[0] / MB:>9.0f} {cost.seconds[0]:>8.2f} {cost.honest_after[0]:>13.2f}"
        )
        print(f"{kind:<16} {cost.attacks:>7} {numbers}  {cost.worker[1]}, {cost.seconds[1]}")
    faults = [fault for cost in kinds.values() for fault in cost.faults]
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
