"""Templates in which nothing a student wrote can be anything but text."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from autograder.text import points_text, visible

_CODE = re.compile(r"`([^`\n]+)`")
# Course text only. Images would be requests, and raw HTML is refused by this preset.
_MARKDOWN = MarkdownIt("js-default").disable("image")


# The course's texts are the same on every page, so what is made of them is kept.
@functools.lru_cache(maxsize=2048)
def with_code(text: str) -> Markup:
    """Text in which `such` words are set as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(visible(text)))))


@functools.lru_cache(maxsize=512)
def markdown(text: str) -> Markup:
    """The course's own Markdown."""
    return Markup(_MARKDOWN.render(text))


def numbered(lines: Sequence[str], first: int) -> Markup:
    """Lines of code, each with its number."""
    shown = str(escape(visible("\n".join(lines)))).split("\n")
    return Markup("".join(f'<span data-n="{number}">{line}\n</span>' for number, line in enumerate(shown, start=first)))


def moment(when: datetime.datetime) -> str:
    """A time as people write it, in UTC, for all readers alike."""
    there = when.astimezone(datetime.UTC)
    return f"{there.day} {there:%B %Y, %H:%M} UTC"


def _printed(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def render(template: str, **values: Any) -> str:
    """Fill one of the package's templates."""
    return _ENVIRONMENT.get_template(template).render(values)


_ENVIRONMENT = Environment(
    loader=PackageLoader("autograder.feedback"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_printed,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters.update(code=with_code, markdown=markdown, moment=moment, numbered=numbered, number=points_text)
