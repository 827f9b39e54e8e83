"""What the examples score, as READMEs show it: the tables of examples/submissions/*/README.md, and the screen in README.md.

`python -m tests.support.example_tables [ps1 …]` grades the examples and writes points and screen anew. What an example
shows, the third column, is written by hand; a new example needs a row with its first three columns.
"""

from __future__ import annotations

import dataclasses
import io
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from autograder.course import load_course
from autograder.journal import Journal
from autograder.table import grades_table

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "submissions"
WIDTH = 80  # of the terminal in README.md
COURSE = Path(sys.executable).parent / "course"
_ROW = re.compile(r"^(\| (s\d+) \|[^|]*\|[^|]*\|)(.*)$", re.MULTILINE)
_HEADING = re.compile(r"^(\| id \|[^|]*\|[^|]*\|).*\n\|.*\|$", re.MULTILINE)


def grade(slug: str, results: Path, *arguments: str) -> list[dict[str, Any]]:
    """The records of a problem set's examples, as `course grade --json` prints them."""
    command = [COURSE, "grade", slug, EXAMPLES / slug, "--json", "--results", results, *arguments]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert answer.returncode == 0, answer.stderr
    records: list[dict[str, Any]] = json.loads(answer.stdout)["results"]
    return records


def said(slug: str) -> dict[str, list[str]]:
    """The points of each example by the table."""
    rows = _ROW.findall((EXAMPLES / slug / "README.md").read_text(encoding="utf-8"))
    return {student: [cell.strip() for cell in cells.strip("|").split("|")] for _, student, cells in rows}


def scored(records: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The same by records. Of a written answer: whether there is one to read."""
    return {
        record["provenance"]["student"]: [*map(_cell, record["questions"]), f"{record['score']:g}"] for record in records
    }


_SCREEN = re.compile(r"(<!-- screen: (\w+)((?: s\d+)+) -->\n\n)(?:    .*\n)+")


def with_screens(text: str, slug: str, results: Path) -> str:
    """A page with the rows that `course grade` shows in a terminal where `<!-- screen: ps1 s001 s008 -->` stands."""

    def screen(match: re.Match[str]) -> str:
        return match[0] if match[2] != slug else match[1] + _table(slug, match[3].split(), results)

    return _SCREEN.sub(screen, text)


def _table(slug: str, students: list[str], results: Path) -> str:
    journal = Journal(results / slug)
    stored = [journal.in_force(student)[1] for student in students]
    console = Console(record=True, force_terminal=True, width=WIDTH, file=io.StringIO())
    sheet = grades_table(load_course(ROOT).problem_set(slug), stored, [])
    console.print(dataclasses.replace(sheet, legend=Text()))
    _title, *lines = console.export_text().splitlines()
    return "".join(f"    {line}".rstrip() + "\n" for line in lines)


def _cell(question: dict[str, Any]) -> str:
    if question["kind"] == "written":
        return "–" if question["undone"] else "read"
    return f"{question['score']:g}"


def write_table(slug: str) -> None:
    """Grade a problem set's examples, and write their points and the heading into the README."""
    with tempfile.TemporaryDirectory() as results:
        records = grade(slug, Path(results))
        page = ROOT / "README.md"
        page.write_text(with_screens(page.read_text(encoding="utf-8"), slug, Path(results)), encoding="utf-8")
    cells, questions = scored(records), records[0]["questions"]
    written = [question["kind"] == "written" for question in questions]
    total = sum(question["points"] for question, by_person in zip(questions, written, strict=True) if not by_person)
    names = [
        question["id"] if by_person else f"{question['id']} /{question['points']:g}"
        for question, by_person in zip(questions, written, strict=True)
    ]
    heading = f" {' | '.join([*names, f'total /{total:g}'])} |"
    rule = "|".join(["|---|---|---", *("---" if by_person else "---:" for by_person in written), "---:|"])
    path = EXAMPLES / slug / "README.md"
    text = _HEADING.sub(lambda found: f"{found[1]}{heading}\n{rule}", path.read_text(encoding="utf-8"))
    text = _ROW.sub(lambda found: f"{found[1]} {' | '.join(cells[found[2]])} |", text)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.name for path in EXAMPLES.iterdir()):
        write_table(name)
