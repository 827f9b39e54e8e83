"""Text that anybody may have written, made safe to show and bounded in length; and points as people write them."""

from __future__ import annotations

CUT = "…"
MARK = "\N{REPLACEMENT CHARACTER}"


def visible(text: str) -> str:
    """Text in which every character that a terminal or a page would obey rather than show is a replacement mark.

    These are control characters, escapes, lone surrogates, and marks that turn the direction of writing. Tabs and line
    ends stay.
    """
    if text.isprintable():
        return text
    lines = text.replace("\r\n", "\n")
    if lines.replace("\n", "").replace("\t", "").isprintable():
        return lines
    return "".join(character if character.isprintable() or character in "\n\t" else MARK for character in lines)


def one_line(text: str, most: int) -> str:
    """The first line of a text, visible, of at most `most` characters."""
    return bounded(text.lstrip().partition("\n")[0], most)


def bounded(text: str, most: int) -> str:
    """Text made visible and cut to at most `most` characters; the last of them says that there was more.

    The cost grows with `most`, not with the length of the text. Doing it again changes nothing.
    """
    return visible(text) if len(text) <= most else visible(text[: most - len(CUT)]) + CUT


def points_text(value: float) -> str:
    """Points without needless decimals, to a cent: 3, 2.5, 0.25."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
