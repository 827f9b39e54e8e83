"""The corpus of attacks, and the table of it in docs/security.md, which `python -m tests.support.hostile_table` writes anew.

To add an attack, put one file into tests/hostile/<kind>/. Its first line says what it tries. The lines after it may say
which problem set it is handed in for and how it must end:

    # problem set: layers  `tiny` if not given. `tiny` and `layers` are those of tests/tiny_course: `layers` has verdicts
                           about the tests' own functions, calls with earlier answers as arguments, functions handed in by
                           name, and nested lists. `ps1` and the other real ones are graded by their own tests.
    # expect: 3 points     what its honest parts earn; nothing if not given
    # reason: text         a regular expression that the record must contain: why the grader stopped it; `{time}` in it is
                           any limit on time, for which one is reached first depends on how busy the machine is
    # never: text          a regular expression that nothing a student reads may contain
    # machine: x86_64      the only machine on which it makes sense

In what an attack prints, a line `probe NAME: ok` is a success that fails its test; a line `probe NAME: anything else` is a
refusal. Then write the table anew and run the attack on both backends:

    python -m tests.support.hostile_table
    pytest tests/test_hostile.py -k NAME

where NAME is the file's name; only what is selected is graded. `@COURSE@`, `@JOURNAL@`, `@HOME@`, `@HOSTPID@` and the like
in a file are replaced by what they are in the run; see `bait` in test_hostile.py. A line that ends in `  # @TIMES 3000@` is
handed in so many times. `MARK` in a hidden test of `tiny` and `layers` is replaced by a number of seven digits that is
looked for in all that a student may read.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
DOCUMENT = TESTS.parent / "docs" / "security.md"
BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"
DIRECTIVE = re.compile(r"# (problem set|expect|reason|never|machine): (.+)")
# How a record says that a limit on time was reached: CPU or wall-clock time, by the guest's timer, the host's or the kernel.
TIME = (
    "did not finish within|did not return in time|time for one submission is used up|used up its CPU time"
    "|was killed, probably for its memory or CPU time"
)

# In the order of the table: what each kind is called there, and what stops it.
KINDS = {
    "read_answers": (
        "read the answers, or carry hidden inputs out",
        "the guest's root (bubblewrap) holds no course, or each path is judged and Landlock refuses the rest (sandlock); a "
        "clean environment; no /proc; nothing that a submission says after its first hidden input is shown to students",
    ),
    "find_in_memory": (
        "find the answers in memory",
        "tests, reference and expected values live in another process; the zygote never held them",
    ),
    "change_judge": (
        "change the judge",
        "patches stay in the guest, which judges nothing; no writable file is ever read by the grader",
    ),
    "lie_with_values": (
        "lie with values",
        "answers cross as plain data, of a subclass only what it holds; dtype, shape and finiteness "
        "are checked; every call is made twice",
    ),
    "forge_report": (
        "forge the report",
        "the host writes the record; frames are bounded and checked, and an answer is only a value to be tested",
    ),
    "exhaust": (
        "exhaust the machine",
        "wall-clock and CPU time, memory, threads, files, scratch space, output and message size, each with its own limit",
    ),
    "outlive": (
        "outlive the run",
        "no process can be made; each guest has a scratch folder and namespaces of its own and is killed as a whole",
    ),
    "reach_out": (
        "reach out",
        "an allowlist of system calls without sockets, tracing, namespaces and mounts; no network; no capabilities",
    ),
    "poison_intake": (
        "poison the intake",
        "names must be plain ids, links and oversized files are refused, archives are never unpacked, and files are run in "
        "the guest only",
    ),
    "poison_reader": (
        "poison the reader",
        "texts are bounded and stay texts; the table shows a replacement mark for what a terminal would obey",
    ),
    "follow_through": (
        "abuse follow-through marks",
        "the guest holds handles, bound after loading; the reference answers from a guest of its own under the submission's "
        "limits; nothing that such a run prints or raises is shown",
    ),
    "cheat": (
        "cheat by other means",
        "hidden tests with inputs of their own; no course file, library or network to take an answer from",
    ),
}

# Attacks on the intake that are names or bytes, which test_hostile.py makes; see INTAKE_FILES and INTAKE_NAMES there.
INTAKE_CASES = 36


@dataclass(frozen=True)
class Attack:
    """One file of the corpus with what its first lines say."""

    path: Path
    tries: str
    problem_set: str
    points: float
    reason: str
    never: str
    machine: str

    @property
    def kind(self) -> str:
        return self.path.parent.name

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.path.stem}"


def attacks() -> list[Attack]:
    """The corpus, by kind and name."""
    attacks_found = []
    for kind in KINDS:
        for path in sorted((TESTS / "hostile" / kind).iterdir()):
            if path.suffix in (".py", ".ipynb"):
                attacks_found.append(read_attack(path))
    return attacks_found


def read_attack(path: Path) -> Attack:
    """Read an attack's first lines; `ValueError` for one that does not say what it tries."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"])
    first, *rest = text.splitlines()
    if not first.startswith("# "):
        raise ValueError(f"{path}: the first line must be a comment that says what it tries")
    said: dict[str, str] = {}
    for line in rest:
        match = DIRECTIVE.fullmatch(line)
        if match is None:
            break
        said[match[1]] = match[2]
    points = float(said.get("expect", "0").split()[0])
    return Attack(
        path,
        tries=first[2:],
        problem_set=said.get("problem set", "tiny"),
        points=points,
        reason=said.get("reason", "").replace("{time}", TIME),
        never=said.get("never", ""),
        machine=said.get("machine", ""),
    )


def table() -> str:
    """The table of docs/security.md: kind, number of attacks, what stops it."""
    attacks_found = attacks()
    lines = ["| kind | attacks | what stops it |", "|---|---:|---|"]
    total = 0
    for kind, (title, stops) in KINDS.items():
        count = sum(attack.kind == kind for attack in attacks_found) + (INTAKE_CASES if kind == "poison_intake" else 0)
        total += count
        lines.append(f"| {title} | {count} | {stops} |")
    lines.append(f"| all | {total} | |")
    return "\n".join(lines)


def document(text: str) -> str:
    """`text`, the document, with its table brought up to date."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(document(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(table() + "\n")
