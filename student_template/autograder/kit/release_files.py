"""The files of a release: of its zip or folder, and what a student's folder keeps of the one it was made from.

That part is the base of an update: one file per problem set, `autograder/base/ps1.json`. It is neither hidden, as some
tools leave hidden files behind, nor named like the student's work, so that nobody edits it or hands it in.
"""

from __future__ import annotations

import json
import re
import stat
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

DESCRIPTION = "problem_set.json"
# What belongs to a release although its name hides it.
REPOSITORY = (".github", ".vscode", ".gitignore")
MAX_FILES, MAX_BYTES = 5_000, 200_000_000


class Refused(Exception):
    """Nothing was done; the message says why, and what to do."""


@dataclass(frozen=True)
class Description:
    """What an update needs of a `problem_set.json`: `questions` holds the names that each question asks for."""

    title: str
    version: str
    module: str
    questions: dict[str, list[str]]

    @classmethod
    def of(cls, content: bytes | str) -> Description:
        """Raises `ValueError` if the content is damaged."""
        try:
            fields = json.loads(content)
            questions = {str(question["id"]): [str(name) for name in question["names"]] for question in fields["questions"]}
            version = re.sub(r"[^\w.+-]", "_", str(fields["version"])).lstrip(".")[:40]
            return cls(str(fields["title"]), version, str(fields["module"]), questions)
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"not a description of a problem set: {error}") from None


def base_name(slug: str) -> str:
    """Where a student's folder keeps the base of a problem set."""
    return f"autograder/base/{slug}.json"


def dump_base(files: Mapping[str, bytes], slug: str) -> bytes:
    """The base of a problem set: of a release's files, those that students work in, and their description."""
    work = f"{slug}/{Description.of(files[f'{slug}/{DESCRIPTION}']).module}"
    kept = {name: files[name].decode() for name in (f"{slug}/{DESCRIPTION}", f"{work}.py", f"{work}.ipynb") if name in files}
    return json.dumps(kept, indent=1, ensure_ascii=False).encode() + b"\n"


def load_base(folder: Path, slug: str) -> dict[str, bytes]:
    """The files that a student's folder keeps as the base; none if it was made before there were any."""
    try:
        kept = json.loads((folder / base_name(slug)).read_text(encoding="utf-8"))
        return {name: text.encode() for name, text in kept.items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def problem_sets(files: Mapping[str, bytes]) -> list[str]:
    """The folders of problem sets among these files."""
    paths = (PurePosixPath(name) for name in files)
    return sorted(path.parts[0] for path in paths if path.name == DESCRIPTION and len(path.parts) == 2)


def read_release(path: Path) -> dict[str, bytes]:
    """The files of a release, a zip or a folder, by their names in the template. Raises `Refused`."""
    if not path.exists():
        raise Refused(f"{path} does not exist. Give the release's zip, or the folder you unpacked it to.")
    try:
        files = dict(_of_folder(path) if path.is_dir() else _of_zip(path))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise Refused(f"{path} cannot be read: {error}. Download it again.") from None
    for prefix in ("", *sorted({f"{name.split('/')[0]}/" for name in files if "/" in name})):
        inside = {name.removeprefix(prefix): content for name, content in files.items() if name.startswith(prefix)}
        if "autograder/kit/__init__.py" in inside and problem_sets(inside):
            shared = re.compile(
                r"[^/]+|(?:{})/.+".format("|".join(map(re.escape, ("autograder", *REPOSITORY, *problem_sets(inside)))))
            )
            return {name: content for name, content in inside.items() if shared.fullmatch(name)}
    raise Refused(f"{path} is not a release of this course: it has no folder autograder/ beside a problem set.")


def _of_folder(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.is_file() and not path.is_symlink() and _wanted(name.parts):
            yield name.as_posix(), path.read_bytes()


def _of_zip(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if len(entries) > MAX_FILES or sum(entry.file_size for entry in entries) > MAX_BYTES:
            raise Refused(f"{path} holds more than a release does. Download it again.")
        for entry in entries:
            parts = entry.filename.split("/")
            strange = re.search(r'[\\:*?"<>|\x00-\x1f]', entry.orig_filename)
            if strange or not all(parts) or {".", ".."} & set(parts) or stat.S_ISLNK(entry.external_attr >> 16):
                raise Refused(f"{path} holds {entry.filename!r}, which points outside or is a link. Nothing was changed.")
            if _wanted(parts):
                # The stated size bounds what is unpacked: zipfile stops there.
                yield entry.filename, archive.read(entry)


def _wanted(parts: Sequence[str]) -> bool:
    hidden = any(part.startswith(".") for part in parts) and parts[0] not in REPOSITORY
    return not hidden and not any(part.startswith("backup-") or part == "__pycache__" for part in parts)
