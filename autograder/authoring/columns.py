"""Fits what students receive into the width of a notebook's cell, where a longer line is cut at the edge."""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator

COLUMNS = 88  # what a cell of JupyterLab shows in a window of 1280 pixels
# Where a line ends before this column although the next word would have fitted, its author meant it to end.
FULL = 100

# A line that begins an entry of its own: `scores: array ...`, `- item`, `1. item`, `Returns ...`, or an option
# such as `"a" ...`.
_ENTRY = re.compile(r"\s*(?:\w+(?:, \w+)*: |Returns |Raises |[-*] |\d+\. |\"\w\" )")
_HANGING = re.compile(r"\s*(?!Returns |Raises )" + _ENTRY.pattern)
_OPTION = re.compile(r'\s*"\w" ')
NEXT_OPTION = re.compile(r'\s{2,}(?="\w" )')
_SIGNATURE = re.compile(r"(\s*)def (\w+)\((.+)\)( -> [^#]+)?:")
_ARGUMENTS = re.compile(r"(\s*)(\w+: .+)")
_REMARKED = re.compile(r"(\s*)(\S.*?)  (# .+)")


def fitted(code: str) -> str:
    """Python code with comments, docstrings and signatures within `COLUMNS`; other code, and what is short enough, stays."""
    lines = code.splitlines()
    changes = [(first, last, _fit(lines[first:last])) for first, last in _stretches(code)]
    changes += [(number, number + 1, _split(lines[number])) for number in _splittable(code) if len(lines[number]) > COLUMNS]
    for first, last, replacement in sorted(changes, reverse=True):
        lines[first:last] = replacement
    return "\n".join(lines) + "\n" * code.endswith("\n")


def _splittable(code: str) -> set[int]:
    """The numbers, from 0, of lines with a function's signature, and of whole assignments in one line."""
    numbers: set[int] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef):
            numbers.update(range(node.lineno - 1, node.body[0].lineno - 1))
        elif isinstance(node, ast.Assign) and node.lineno == node.end_lineno:
            numbers.add(node.lineno - 1)
    return numbers


def _stretches(code: str) -> Iterator[tuple[int, int]]:
    """Where comments and docstrings stand, as half-open ranges of line numbers from 0."""
    inside = {
        number
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for number in range(node.lineno - 1, node.end_lineno or node.lineno)
    }
    comments = {
        token.start[0] - 1
        for token in tokenize.generate_tokens(io.StringIO(code).readline)
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
    }
    for numbers in (inside, comments):
        ordered = sorted(numbers)
        starts = [number for number in ordered if number - 1 not in numbers]
        ends = [number + 1 for number in ordered if number + 1 not in numbers]
        yield from zip(starts, ends, strict=True)


def _split(line: str) -> list[str]:
    """A long line of code as several: a signature at its arguments, and a remark behind code above it."""
    if match := _REMARKED.fullmatch(line):
        margin, code, remark = match.groups()
        return [*_filled([margin + remark]), margin + code]
    if match := _SIGNATURE.fullmatch(line):
        margin, name, arguments, returns = match.groups()
        return [f"{margin}def {name}(", *_split_arguments(f"{margin}    {arguments}"), f"{margin}){returns or ''}:"]
    return _split_arguments(line) if _ARGUMENTS.fullmatch(line) else [line]


def _split_arguments(line: str) -> list[str]:
    """Arguments on one line, or each on a line of its own."""
    if len(line) <= COLUMNS:
        return [line]
    margin, depth, parts = line[: len(line) - len(line.lstrip())], 0, [""]
    for character in line.strip():
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [f"{margin}{part.strip()}," for part in parts if part.strip()]


def _fit(lines: list[str]) -> list[str]:
    """The lines of one comment or docstring, with paragraphs that hold a long line filled anew."""
    result: list[str] = []
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if paragraph and not _continues(paragraph[-1], line):
            result += _filled(paragraph)
            paragraph = []
        if _body(line):
            paragraph.append(line)
        else:
            result.append(line)
    return result[:-1]


def _continues(before: str, line: str) -> bool:
    """Whether a line goes on with the sentence of the one before it."""
    words = _body(line).split()
    if not words or words[0].strip("\"'") == "" or _indent(line) < _indent(before):
        return False
    # A word with a colon may stand in the middle of a sentence too.
    if _OPTION.match(_body(line)) or (_ENTRY.match(_body(line)) and before.rstrip()[-1] in ".:;),?"):
        return False
    if _indent(line) > _indent(before) and not _ENTRY.match(_body(before)):
        return False
    return len(before) + 1 + len(words[0]) > FULL


def _filled(paragraph: list[str]) -> list[str]:
    if all(len(line) <= COLUMNS for line in paragraph):
        return paragraph
    if _OPTION.match(_body(paragraph[0])) and (rest := NEXT_OPTION.split(" ".join(map(_body, paragraph)).strip()))[1:]:
        lead = paragraph[0][: _indent(paragraph[0])]
        return [line for option in rest for line in _filled([lead + option])]
    mark = "# " if paragraph[0].lstrip().startswith("#") else ""
    first = _indent(paragraph[0])
    hanging = _indent(paragraph[1]) if len(paragraph) > 1 else first + 4 * bool(_HANGING.match(_body(paragraph[0])))
    margin = len(paragraph[0]) - len(paragraph[0].lstrip())
    lead = " " * margin + mark
    return textwrap.wrap(
        " ".join(map(_body, paragraph)),
        COLUMNS,
        initial_indent=lead.ljust(first),
        subsequent_indent=lead.ljust(hanging),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _body(line: str) -> str:
    """What a line says, without its margin and the # of a comment."""
    return line.strip().removeprefix("#").strip()


def _indent(line: str) -> int:
    """The column at which a line's text begins."""
    text = line.lstrip()
    margin = len(line) - len(text)
    if not text.startswith("#"):
        return margin
    return margin + 1 + len(text[1:]) - len(text[1:].lstrip())
