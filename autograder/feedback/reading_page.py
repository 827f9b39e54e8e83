"""The page on which a person reads written answers, question by question across students."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from markupsafe import Markup

from autograder.assignment import Question
from autograder.feedback.html import render
from autograder.grades import Manual
from autograder.reading import Essay
from autograder.reading.desk import MOST_COMMENT, Desk, version

RUBRIC_KEYS = "123456789"
COMMENT_KEYS = "qwertyuio"  # the row below the digits


@dataclass(frozen=True)
class Page:
    """A page, and the policy that allows its own script and style and nothing else."""

    html: str
    policy: str


@dataclass(frozen=True)
class Row:
    """One answer on the page, with what people gave by now."""

    essay: Essay
    given: Manual
    version: str


@dataclass(frozen=True)
class Part:
    """One question with its answers; `comments` are those given before, the most frequent first."""

    question: Question
    model_answer: str
    rows: Sequence[Row]
    comments: Sequence[str]


def reading_page(desk: Desk, *, named: bool) -> Page:
    """The page for what is on a desk; it names students only if `named`."""
    given, models = desk.given(), desk.problem_set.model_answers()
    parts = []
    for question in desk.problem_set.assignment.questions:
        rows = [
            Row(essay, now := given.get(essay.student, {}).get(question.id, Manual()), version(now))
            for essay in desk.answers
            if essay.question.id == question.id
        ]
        if rows:
            parts.append(Part(question, models.get(question.id, ""), rows, _comments(question, given)))
    script, style = _asset("reading.js"), _asset("style.css") + _asset("reading.css")
    html = render(
        "reading.html",
        assignment=desk.problem_set.assignment,
        parts=parts,
        named=named,
        most_comment=MOST_COMMENT,
        rubric_keys=RUBRIC_KEYS,
        comment_keys=COMMENT_KEYS,
        script=Markup(script),
        style=Markup(style),
    )
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return Page(html, policy)


def _comments(question: Question, given: Mapping[str, Mapping[str, Manual]]) -> list[str]:
    """The comments that the gradebook has for a question."""
    counts = Counter(own[question.id].comment for own in given.values() if question.id in own)
    return sorted((text for text in counts if text), key=lambda text: (-counts[text], text))


def _asset(name: str) -> str:
    return files("autograder.feedback").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
