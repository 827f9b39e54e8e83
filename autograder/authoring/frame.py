"""What surrounds a question in the handout: time and difficulty, folded hints, the error museum, a prediction's prompt."""

from __future__ import annotations

import ast
import functools
import textwrap
from pathlib import Path

from autograder.assignment import Assignment, Question
from autograder.authoring.columns import COLUMNS
from autograder.course import CourseError, ProblemSet

HINT_TITLES = ("a direction", "a method", "almost the answer")
WIDTH = COLUMNS - len("# ")
SOUVENIR = "souvenir"  # the function of `payoffs.py` that draws a page to keep


def banner(question: Question, place: int) -> str:
    """The heading of a question: number, title, tier, points, minutes and difficulty."""
    facts = [question.tier, count(question.points, "point")]
    if question.minutes:
        facts.append(count(question.minutes, "minute"))
    if question.difficulty:
        facts.append(question.difficulty)
    if question.kind == "written":
        facts.append("read by a person")
    return f"Question {place}: {question.title} ({', '.join(facts)})"


def banners(problem_set: ProblemSet) -> dict[str, str]:
    """The line that stands above each question's stub, by question."""
    return {question.id: banner(question, place) for place, question in enumerate(problem_set.assignment.questions, start=1)}


def overview(assignment: Assignment) -> str:
    """How long the problem set takes, in a line of Markdown; empty unless every question says it."""
    minutes = [question.minutes or 0 for question in assignment.questions]
    if not all(minutes):
        return ""
    tiers = {tier: sum(question.minutes or 0 for question in assignment.questions if question.tier == tier)
             for tier in ("core", "deepen", "research")}  # fmt: skip
    parts = ", ".join(f"{tier} {_duration(total)}" for tier, total in tiers.items() if total)
    points = sum(question.points for question in assignment.questions)
    return f"*{count(points, 'point')}, about {_duration(sum(minutes))} in all: {parts}.*"


def folded(problem_set: ProblemSet, question: Question) -> str:
    """The hints and the error museum of a question as folded Markdown; empty if it has neither."""
    blocks = [
        _details(f"Hint {place} of {len(HINT_TITLES)}: {title}", hint)
        for place, (title, hint) in enumerate(zip(HINT_TITLES, question.hints or (), strict=False), start=1)
    ]
    if entry := museum(problem_set).get(question.id):
        blocks.append(_details("Error museum: the most frequent wrong version", entry))
    return "\n\n".join(blocks)


def prompt_comment(question: Question) -> str:
    """What a prediction asks, as the comment above its variable."""
    assert question.prediction is not None
    prediction = question.prediction
    lines = textwrap.wrap(" ".join(prediction.prompt.split()), WIDTH)
    for letter, text in prediction.options.items():
        lines += textwrap.wrap(f'  "{letter}" {text}', WIDTH, subsequent_indent="      ")
    form = "one letter in quotes" if prediction.options else "a number"
    lines += textwrap.wrap(f"Any answer earns the point, as long as it is {form}. Commit to one before you read on.", WIDTH)
    return "".join(f"# {line}\n" for line in lines)


def prompt_text(question: Question) -> str:
    """What a prediction asks, in Markdown."""
    assert question.prediction is not None
    options = [f'- `"{letter}"` {text}' for letter, text in question.prediction.options.items()]
    return "\n".join([question.prediction.prompt.strip(), *([""] if options else []), *options])


def museum(problem_set: ProblemSet) -> dict[str, str]:
    """The error museum's entries, by question, as the decorators of `mutants.py` give them."""
    path = problem_set.folder / "mutants.py"
    return _museum(path, path.stat().st_mtime_ns) if path.is_file() else {}


@functools.lru_cache(maxsize=8)
def _museum(path: Path, _changed: int) -> dict[str, str]:
    """The entries in a file; kept, because each question asks for them."""
    entries: dict[str, str] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if not isinstance(decorator, ast.Call) or ast.unparse(decorator.func) != "mutant":
                continue
            for keyword in decorator.keywords:
                if keyword.arg == "museum":
                    question = str(ast.literal_eval(decorator.args[0]))
                    if question in entries:
                        raise CourseError(f"{path}: {question} has two entries in the error museum")
                    entries[question] = str(ast.literal_eval(keyword.value))
    return entries


def payoffs(problem_set: ProblemSet) -> list[str]:
    """The questions for which `payoffs.py` draws something, in the order of its text."""
    return [name for name in _drawn(problem_set) if name != SOUVENIR]


def has_souvenir(problem_set: ProblemSet) -> bool:
    """Whether `payoffs.py` draws a page to keep, from the work on the whole problem set."""
    return SOUVENIR in _drawn(problem_set)


def _drawn(problem_set: ProblemSet) -> list[str]:
    path = problem_set.folder / "payoffs.py"
    if not path.is_file():
        return []
    names = [node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]
    return [name for name in names if not name.startswith("_")]


def _details(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text.strip()}\n\n</details>"


def count(number: float, noun: str) -> str:
    """A number with its noun, such as "1 point" and "2 points"."""
    return f"{number:g} {noun}{'s' if number != 1 else ''}"


def _duration(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return " ".join(part for part in (count(hours, "hour") if hours else "", count(rest, "minute") if rest else "") if part)
