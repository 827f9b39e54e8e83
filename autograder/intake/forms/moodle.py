"""Moodle's "Download all submissions", named by `mod/assign`: `Full Name_1500001_assignsubmission_file_`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograder.intake.entries import Entry
from autograder.intake.handed import Form, Handed, Sorted

# Moodle takes underscores out of the name. With "download in folders" the rest is a folder's content, else a file's name.
_NAME = re.compile(r"(?P<name>[^_]*)_(?P<user>[0-9]+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?", re.ASCII)


def _count(entries: Sequence[Entry]) -> int:
    names = {entry.parts[0] for entry in entries}
    matches = [match for name in names if (match := _NAME.fullmatch(name))]
    # A student may have chosen a name like that by chance, but not the others too.
    return len({match["user"] for match in matches}) if len(matches) * 2 > len(names) else 0


def _sort(entries: Sequence[Entry]) -> Sorted:
    result = Sorted()
    users: dict[str, Handed] = {}
    matches = [(entry, _NAME.fullmatch(entry.parts[0])) for entry in entries]
    # With team submission Moodle puts the team in front of every name, "Default group" if there is none.
    teams = all("-" in match["name"] for _, match in matches if match)
    for entry, match in matches:
        if match is None:
            result.strays.append(
                (entry, "not named as Moodle names files; if it is a submission, name it after its student")
            )
            continue
        user, name = match["user"], match["name"].strip()
        if user not in users:
            keys = [user, name, *(_without_team(name) if teams else ())]
            users[user] = Handed(entry.name, keys, "moodle", alone=f"moodle-{user}", cleaned=True)
            result.handed.append(users[user])
        if not entry.folder:
            users[user].files.append((entry.parts[1:] or (match["file"] or "",), entry))
    return result


def _without_team(name: str) -> list[str]:
    """What may be the name behind a team's, which may hold hyphens, as may the name."""
    parts = name.split("-")
    return ["-".join(parts[start:]).strip() for start in range(1, len(parts))]


FORM = Form("moodle", "a Moodle download", _count, _sort)
