"""Which submissions share code that is neither the template's nor everyone's.

Submissions are compared as text, by runs of `RUN` tokens; nothing is run, imported or parsed. A variable's name and a
string's content do not matter, a called function's and an attribute's name do.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from keyword import kwlist

from autograder.runtime.loading import code_cells

RUN = 16  # tokens; about two lines of code
# A run that more students have than this share of them is the obvious answer rather than a copied one. The bounds keep small
# classes from having no copies, and the pairs of large ones few: 30 students who share a run are 435 of them.
COMMON_SHARE, FEWEST_COMMON, MOST_COMMON = 0.1, 10, 30
FEWEST_RUNS = 40  # in a submission of which anything is said
MAX_TEXT = 500_000

# Each alternative takes time in proportion to what it matches, whatever a file holds.
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<text>[A-Za-z]{0,2}(?:\"\"\"(?:[^\\"]|\\.|"(?!""))*+(?:\"\"\"|\Z)|'''(?:[^\\']|\\.|'(?!''))*+(?:'''|\Z)
        |"(?:[^\\"\n]|\\.)*+"?|'(?:[^\\'\n]|\\.)*+'?))
    |(?P<fixed>\.\s*[^\W\d]\w*+|[^\W\d]\w*+(?=\s*\())
    |(?P<name>[^\W\d]\w*+)
    |(?P<other>\d[\w.]*+|\S)""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS = frozenset(kwlist)


@dataclass(frozen=True)
class Pair:
    """Two students, and the share of each one's own code that the other one has too."""

    one: str
    other: str
    of_one: float
    of_other: float

    @property
    def share(self) -> float:
        return max(self.of_one, self.of_other)


def similar_pairs(
    sources: Mapping[str, tuple[str, bytes]], template: Iterable[tuple[str, bytes]], *, share: float = 0.5
) -> list[Pair]:
    """The pairs of students that share at least `share` of either one's own code, most first.

    `sources` gives each student's file name and bytes, `template` those of the files that all students received.
    """
    numbers: dict[str, int] = {}
    given = {run for file in template for run in _runs(*file, numbers)}
    own = {student: _runs(*sources[student], numbers) - given for student in sorted(sources)}
    holders: dict[int, list[str]] = defaultdict(list)
    for student, runs in own.items():
        for run in runs:
            holders[run].append(student)
    most = min(max(FEWEST_COMMON, COMMON_SHARE * len(own)), MOST_COMMON)
    left: Counter[str] = Counter()
    shared: Counter[tuple[str, str]] = Counter()
    for students in holders.values():
        if len(students) <= most:
            left.update(students)
            shared.update(combinations(students, 2))
    pairs = [
        Pair(one, other, count / left[one], count / left[other])
        for (one, other), count in shared.items()
        if min(left[one], left[other]) >= FEWEST_RUNS
    ]
    return sorted((pair for pair in pairs if pair.share >= share), key=lambda pair: (-pair.share, pair.one, pair.other))


def shared_lines(
    one: tuple[str, bytes], other: tuple[str, bytes], template: Iterable[tuple[str, bytes]]
) -> tuple[set[int], set[int]]:
    """The numbers, from 1, of the lines of `code_of` either file that the other has too and the template has not.

    What many others wrote as well is among them, although it makes no pair.
    """
    numbers: dict[str, int] = {}
    given = {run for file in template for run in _runs(*file, numbers)}
    placed = [_placed(_tokens(code_of(*file)[:MAX_TEXT]), numbers) for file in (one, other)]
    both = (placed[0].keys() & placed[1].keys()) - given
    of_one, of_other = ({line for run in both for line in own[run]} for own in placed)
    return of_one, of_other


def _placed(tokens: Iterable[tuple[str, int]], numbers: dict[str, int]) -> dict[int, set[int]]:
    """The lines on which the tokens of each run begin."""
    known = [(numbers.setdefault(token, len(numbers)), line) for token, line in tokens]
    lines: dict[int, set[int]] = defaultdict(set)
    for start in range(len(known) - RUN + 1):
        run = known[start : start + RUN]
        lines[hash(tuple(token for token, _ in run))].update(line for _, line in run)
    return lines


def _runs(filename: str, source: bytes, numbers: dict[str, int]) -> set[int]:
    """All runs of `RUN` tokens of a file, each as a number that is the same in every file of one comparison."""
    tokens = [numbers.setdefault(token, len(numbers)) for token, _ in _tokens(code_of(filename, source)[:MAX_TEXT])]
    # Not of strings: their hashes are others in every process.
    return {hash(tuple(tokens[start : start + RUN])) for start in range(len(tokens) - RUN + 1)}


def code_of(filename: str, source: bytes) -> str:
    """The code of a file, empty if it is none."""
    if not filename.endswith(".ipynb"):
        return source.decode("utf-8", "replace")
    try:
        return "\n".join(text for _, text in code_cells(source))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ""


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """The tokens that are compared, each with the number of the line on which it begins."""
    line, place = 1, 0
    for match in _TOKEN.finditer(text):
        line, place = line + text.count("\n", place, match.start()), match.start()
        kind = match.lastgroup
        if kind == "text":
            yield "'", line
        elif kind == "name" and match[0] not in _KEYWORDS:
            yield "x", line
        elif kind != "comment":
            yield match[0], line
