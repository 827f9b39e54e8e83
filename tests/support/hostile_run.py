"""Grades the corpus of attacks: copies of the courses with something planted to find, and submissions made of the files."""

from __future__ import annotations

import platform
import random
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from autograder import run as engine
from autograder.course import ProblemSet, load_course
from autograder.graders.local import LocalGrader
from autograder.intake import Submission
from autograder.journal import Journal, Stored
from autograder.messages import Conditions
from tests.support.hostile_table import Attack

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
TINY_COURSE = TESTS / "tiny_course"
HONEST = (TINY_COURSE / "solutions/tiny.py").read_bytes().replace(b"@BAIT@", b"nothing")
PLANTED = "# @PLANTED@"  # ends the line by which the real course's files hold the bait

_REPEATED = re.compile(rb"^(.*)  # @TIMES (\d+)@\n", re.MULTILINE)  # a line that is handed in so many times

# Appended to an attack on `tiny` that is handed in for another problem set: each name that is asked for and not there stands
# for the attack's function for a call of that form.
_STAND_INS = """

def _stand_in(_name):
    def answer(*arguments, **keywords):
        if len(arguments) > 1 and callable(arguments[0]) and "apply" in globals():
            return apply(*arguments[:2])
        return globals()[_name](*arguments[:1])
    return answer


for _number, _asked in enumerate({names!r}):
    globals().setdefault(_asked, _stand_in(("double", "softmax")[_number % 2]))
"""


def plant(root: Path, token: str, mark: int) -> None:
    """Put the bait wherever a submission might look in a copy of a course."""
    for path in [*root.glob("solutions/*.py"), *root.glob("assignments/*/test_hidden.py")]:
        text = path.read_text()
        text = text.replace("@BAIT@", token) if "@BAIT@" in text else f"{text}\nBAIT = {token!r}  {PLANTED}\n"
        path.write_text(re.sub(r"MARK = .*@MARK@", f"MARK = {mark}.0", text))
    (root / "gradebook.db").write_text(token)
    (root / ".git").mkdir()
    (root / ".git/HEAD").write_text(token)
    (root / "submissions").mkdir()
    (root / "submissions/neighbour.py").write_bytes(HONEST + f"\nSECRET = {token!r}\n".encode())


def course_copies(folder: Path, token: str, mark: int) -> list[Path]:
    """The tiny course and the real one, with bait."""
    tiny, real = folder / "course", folder / "real_course"
    for source, root in ((TINY_COURSE, tiny), (ROOT, real)):
        root.mkdir()
        shutil.copy(source / "course.yml", root)
        for name in ("assignments", "solutions"):
            shutil.copytree(source / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "*.svg"))
        plant(root, token, mark)
    return [tiny, real]


def problem_sets(roots: Iterable[Path]) -> dict[str, tuple[Path, ProblemSet]]:
    """All problem sets of some courses by their slug, each with its course's folder."""
    found = {}
    for root in roots:
        course = load_course(root)
        found |= {listing.slug: (root, course.problem_set(listing.slug)) for listing in course.settings.problem_sets}
    return found


def submission(attack: Attack, problem_set: ProblemSet, fill: dict[str, str]) -> Submission:
    """The attack as it is handed in, with `fill` put in; one on `tiny` gets stand-ins for what another problem set asks."""
    source = _REPEATED.sub(lambda line: (line[1] + b"\n") * int(line[2]), attack.path.read_bytes())
    for name, value in fill.items():
        source = source.replace(name.encode(), value.encode())
    if attack.problem_set != problem_set.slug:
        names = [name for question in problem_set.assignment.questions if question.kind == "code" for name in question.names]
        source += _STAND_INS.format(names=names).encode()
    return Submission(attack.name, problem_set.assignment.module + attack.path.suffix, source)


def plain(problem_set: ProblemSet) -> Submission:
    """The honest answers to `tiny`, handed in for another problem set: the honest parts of an attack earn no more there."""
    answers = Attack(TINY_COURSE / "solutions/tiny.py", "", "tiny", 0, "", "", "")
    return replace(submission(answers, problem_set, {}), student="plain")


def fits(attack: Attack) -> bool:
    """Whether an attack on `tiny` can be handed in for another problem set, and on this machine."""
    return attack.problem_set == "tiny" and attack.path.suffix == ".py" and attack.machine in ("", platform.machine())


def sample(attacks: Sequence[Attack], count: int, seed: int) -> list[Attack]:
    """Some of the attacks that fit, the same for the same seed; none that tries the limits, which are wider elsewhere."""
    fitting = [attack for attack in attacks if fits(attack) and attack.kind != "exhaust"]
    return random.Random(seed).sample(fitting, min(count, len(fitting)))


def grade_in_turn(
    root: Path,
    problem_set: ProblemSet,
    attacks: Sequence[Submission],
    journal: Path,
    backend: str,
    *,
    neutral: bytes,
    share: float = 1.0,
    every: int = 1,
    on_done: Callable[[Stored], None] = lambda stored: None,
) -> list[Stored]:
    """Grade attacks in one worker, each followed by `neutral`, an honest submission, which meets the very same process.

    With `share`, under that share of the limits; with `every`, the honest one comes after so many attacks, and at the end.
    """
    filename = f"{problem_set.assignment.module}.py"
    order = []
    for number, attack in enumerate(attacks, start=1):
        order.append(attack)
        if number % every == 0 or number == len(attacks):
            order.append(Submission(f"honest-{attack.student}"[:64], filename, neutral))
    kept = Journal(journal)
    attempts = [kept.add(submitted) for submitted in order]
    conditions = Conditions(backend=backend, share=share)
    return engine.grade(
        root,
        problem_set,
        attempts,
        kept,
        lambda attempt: None,
        grader=LocalGrader(1),
        conditions=conditions,
        on_done=on_done,
    )
