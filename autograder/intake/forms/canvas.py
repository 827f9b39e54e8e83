"""Canvas's "Download Submissions", named by its `content_zipper.rb`: `name_LATE_user_file_original`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from autograder.intake.entries import Entry
from autograder.intake.handed import Form, Handed, Sorted
from autograder.intake.names import is_invisible

# Canvas strips numbers between underscores from the name, so the first pair is the ids; if a name got one past Canvas, what
# is left over is no file name that is asked for, and the file is listed.
_NAME = re.compile(
    r"(?:(?P<name>[^/]*?)_)??(?P<late>late_)?(?P<user>[0-9]+|anon_[A-Za-z0-9]+)_"
    r"(?:[0-9]+_(?P<file>.+)|(?P<typed>(?:text|link)\.html))",
    re.IGNORECASE | re.ASCII,
)


def _match(entry: Entry) -> re.Match[str] | None:
    match = _NAME.fullmatch(entry.parts[0])
    if match is None or len(entry.parts) > 1 or entry.folder:
        return None
    # Ruby's word characters, which Canvas keeps of a name: Python's own hold no combining marks.
    words = all(
        character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M" or is_invisible(character)
        for character in match["name"] or ""
    )
    return match if words else None


def _count(entries: Sequence[Entry]) -> int:
    users = [match["user"] for entry in entries if (match := _match(entry))]
    # A student may have chosen a name like that by chance, but not the others too.
    return len(set(users)) if len(users) * 2 > len({entry.parts[0] for entry in entries}) else 0


def _sort(entries: Sequence[Entry]) -> Sorted:
    result = Sorted()
    users: dict[str, Handed] = {}
    for entry in entries:
        match = _match(entry)
        if match is None:
            result.strays.append(
                (entry, "not named as Canvas names files; if it is a submission, name it after its student")
            )
            continue
        user = match["user"]
        if user not in users:
            users[user] = Handed(entry.name, [user], "canvas", alone=f"canvas-{user.replace('_', '-')}")
            result.handed.append(users[user])
        users[user].files.append(((match["file"] or match["typed"],), entry))
        users[user].late |= bool(match["late"])
    return result


# "submissions" is what unpacking Canvas's submissions.zip makes.
FORM = Form("canvas", "a Canvas download", _count, _sort, re.compile(r"submissions(?: ?\(?[0-9]{1,3}\)?)?"))
