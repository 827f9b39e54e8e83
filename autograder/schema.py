"""What the models of the course's YAML files are made of."""

from __future__ import annotations

import platform
import re
import sys
import zoneinfo
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

# Ids name folders and files in the journal, in nbgrader and on platforms: plain letters, and nothing that looks like a file.
STUDENT_ID = re.compile(r"(?!.*\.\.)(?!.*\.(?:py|ipynb|zip)$)[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?")
ID_RULE = "an id is letters, digits, `-`, `_` and single dots"


def _student_id(text: str) -> str:
    if not STUDENT_ID.fullmatch(text):
        raise ValueError(f"{text!r} is not a student id; {ID_RULE}")
    return text


def _time_zone(name: str) -> str:
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        raise ValueError(f"{name!r} is not a time zone; write a name such as Europe/Berlin") from None
    return name


def _python_version(text: str) -> str:
    if tuple(map(int, text.split("."))) > sys.version_info[:2]:
        raise ValueError(f"students are told that the grader has Python {text}, but this is {platform.python_version()}")
    return text


StudentId = Annotated[str, AfterValidator(_student_id)]
TimeZone = Annotated[str, AfterValidator(_time_zone)]
PythonVersion = Annotated[str, Field(pattern=r"^3\.(1[1-9]|[2-9]\d)$"), AfterValidator(_python_version)]

Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
Text = Annotated[str, Field(min_length=1)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0)]


class Strict(BaseModel):
    """A model that knows all its keys and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)
