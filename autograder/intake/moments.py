"""Times as platforms write them."""

from __future__ import annotations

import datetime
import functools
import re
import zoneinfo
from dataclasses import dataclass
from typing import Any

MAX_TEXT = 100
_OFFSET = re.compile(r"\s*(?:Z|UTC|GMT)?\s*([+-][0-9]{2}:?[0-9]{2})$")
_NAME = re.compile(r"\s*([A-Za-z][A-Za-z0-9_+/-]*)$")


@dataclass(frozen=True)
class When:
    """When something was handed in.

    `remark` says how that is known where its author could have set it; `problem` why a time that should be there is not
    known, and `remedy` what to do.
    """

    moment: datetime.datetime | None = None
    remark: str = ""
    problem: str = ""
    remedy: str = ""


UNKNOWN = When()


def read_moment(text: Any, zone: datetime.tzinfo = datetime.UTC) -> datetime.datetime | None:
    """A time such as `2026-09-20 12:00:00.000000 UTC`, in UTC; `None` if it is none.

    Behind the time stands an offset, the name of a zone (`Europe/Berlin`), its abbreviation (`CEST`), or nothing, which is
    UTC. An abbreviation is that of `zone`, the course's own, if it has it; otherwise all zones that have it must agree on
    what it means, as those with `IST` do not.
    """
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        return None
    text = text.strip()
    try:
        if offset := _OFFSET.search(text):
            return datetime.datetime.fromisoformat(text[: offset.start()] + offset[1]).astimezone(datetime.UTC)
        named = _NAME.search(text)
        local = datetime.datetime.fromisoformat(text[: named.start()] if named else text)
        if named is None or named[1].upper() in ("Z", "UTC", "GMT"):
            return local.replace(tzinfo=datetime.UTC)
        if "/" in named[1]:
            return local.replace(tzinfo=zoneinfo.ZoneInfo(named[1])).astimezone(datetime.UTC)
        return _abbreviated(local, named[1], zone)
    except (ValueError, OverflowError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return None


def _abbreviated(local: datetime.datetime, name: str, zone: datetime.tzinfo) -> datetime.datetime | None:
    meant = _meanings(local, name, zone)
    if not meant:
        meant = {time for other in _regions() for time in _meanings(local, name, other)}
    return meant.pop() if len(meant) == 1 else None


def _meanings(local: datetime.datetime, name: str, zone: datetime.tzinfo) -> set[datetime.datetime]:
    """The moments at which clocks in a zone show this time under this name; in the hour that repeats, the name decides."""
    both = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    return {time.astimezone(datetime.UTC) for time in both if time.tzname() == name}


@functools.cache
def _regions() -> tuple[zoneinfo.ZoneInfo, ...]:
    """Every zone that is named after a place. Others, such as `EST5EDT`, are other names of these."""
    return tuple(zoneinfo.ZoneInfo(name) for name in sorted(zoneinfo.available_timezones()) if "/" in name)
