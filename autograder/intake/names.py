"""One normal form for names, so that what a platform wrote and what a roster says can be compared."""

from __future__ import annotations

import unicodedata

# Moodle takes these out of a name before it makes a file name of it (`clean_filename`); the other apostrophes are what
# people, spreadsheets and keyboards write for the first.
_TAKEN_OUT = frozenset("'\"`&<>|:\\/" + "\u2018\u2019\u201b\u02b9\u02bb\u02bc\u00b4\uff07")
# Invisible, but not of the category of format characters: the grapheme joiner and the variation selectors.
_INVISIBLE_MARKS = frozenset("\u034f" + "".join(map(chr, range(0xFE00, 0xFE10))))
# Joiners, soft hyphens and marks of direction stand in names of many scripts. What overrides the order of letters does not.
_HARMLESS = frozenset("\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")


def exact(name: str) -> str:
    """A name in composed letters, without regard to case and to white space around it."""
    return _composed(name.strip())


def normal(name: str) -> str:
    """A name as all platforms would write it alike.

    Composed letters (NFC), no case, no invisible characters, nothing that Moodle takes out; `_` and any run of white space
    are one space. Two people's names may have the same normal form.
    """
    kept = (
        character
        for character in unicodedata.normalize("NFC", name)
        if not is_invisible(character) and character not in _TAKEN_OUT and unicodedata.category(character) != "Cc"
    )
    return " ".join(_composed("".join(kept)).replace("_", " ").split())


def is_invisible(character: str) -> bool:
    """Whether a character joins, selects or directs others and shows nothing itself."""
    return unicodedata.category(character) == "Cf" or character in _INVISIBLE_MARKS


def is_harmless(name: str) -> bool:
    """Whether a name holds only what prints, spaces and joiners: nothing that steers a terminal or turns text around."""
    return all(
        character.isprintable() or character in _HARMLESS or unicodedata.category(character) == "Zs" for character in name
    )


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
