"""The files in a folder, listed and read within bounds; nothing is run or parsed. `archives` does the same for archives.

Whoever handed in a file chose its name and its bytes, so both are an enemy's until shown otherwise. An entry that breaks a
rule costs itself alone.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 20 * 2**20
MAX_TOTAL_BYTES = 2**30
MAX_ENTRIES = 50_000
MAX_DIRECTORY_BYTES = 8 * 2**20
MAX_NAME = 500
MAX_RATIO = 200  # of what is unpacked to what is packed, for all that is larger than SMALL
SMALL = 2**20
DEPTH = 4  # submitted/s001/ps1/ps1.py

LINK = "a link; links are not followed"
NO_FILE = "neither a file nor a folder"
HOUSEKEEPING = {".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX", "__pycache__", ".git", ".ipynb_checkpoints"}


Parts = tuple[str, ...]


class Refused(Exception):
    """An entry is not read; the message says why."""


@dataclass(frozen=True)
class Entry:
    """One file in a folder or an archive, not read yet.

    `refusal` says why it will not be read, and `objection` why it is no submission although it can be read. A folder is an
    entry only if nothing in it is one. `stamp` changes with the file: size, date and inode.
    """

    name: str  # as it may be shown
    parts: Parts
    fetch: Callable[[], bytes]
    refusal: str = ""
    objection: str = ""
    folder: bool = False
    path: Path | None = None  # where it lies, if it lies on disk
    stamp: tuple[int, ...] = ()

    def read(self) -> bytes:
        """Its bytes. Raises `Refused`."""
        if self.refusal:
            raise Refused(self.refusal)
        return self.fetch()

    def kept(self) -> bytes | None:
        """Its bytes, if they can be read safely."""
        try:
            return None if self.folder else self.read()
        except Refused:
            return None


@dataclass(frozen=True)
class Contents:
    """What a folder or an archive holds. `repositories` are the folders of git repositories in it; its own is `()`."""

    entries: list[Entry]
    repositories: frozenset[Parts] = frozenset()


def is_housekeeping(name: str) -> bool:
    """Whether a program made a file or folder of this name for itself."""
    return name in HOUSEKEEPING or name.startswith("._")


def shown(name: str) -> str:
    """A name as a terminal may print it: what the terminal would obey is written out."""
    printable = repr(name)[1:-1]
    return printable if len(printable) <= 2 * MAX_NAME else printable[: 2 * MAX_NAME] + "…"


# --- on disk


def folder_entries(root: Path) -> list[Entry]:
    """What lies in a folder, `DEPTH` levels deep, in the order of names. What begins with a dot is passed over."""
    return [entry for entry in _walk(root, ()) if not entry.parts[0].startswith(".")]


def folder_contents(root: Path) -> Contents:
    """The same, with the repositories at its top. A `README.md` beside submissions is somebody's note on them."""
    entries = [entry for entry in folder_entries(root) if entry.parts != ("README.md",)]
    tops = {entry.parts[:1] for entry in entries}
    repositories = {top for top in tops if os.path.lexists(os.path.join(root, *top, ".git"))}
    return Contents(entries, frozenset(repositories | ({()} if os.path.lexists(root / ".git") else set())))


def top_stamps(root: Path) -> dict[str, int]:
    """A number for each name in a folder, which changes when anything below that name does; faster than listing all."""
    seen: dict[str, list[tuple[str, int, int, int]]] = {}
    folders = [(os.fspath(root), "", 1)]
    while folders:
        folder, top, depth = folders.pop()
        try:
            with os.scandir(folder) as listing:
                for child in listing:
                    if is_housekeeping(child.name) or (depth == 1 and child.name.startswith(".")):
                        continue
                    status = child.stat(follow_symlinks=False)
                    own = top or child.name
                    seen.setdefault(own, []).append((child.path, status.st_size, status.st_mtime_ns, status.st_ino))
                    if depth < DEPTH and child.is_dir(follow_symlinks=False):
                        folders.append((child.path, own, depth + 1))
        except OSError:
            continue  # listing says what is wrong
    return {top: hash(tuple(own)) for top, own in seen.items()}


def file_entry(path: Path, parts: Parts) -> Entry:
    """One file on disk; `parts` is the end of its path, which others may have made."""
    try:
        status = path.lstat()
    except OSError as error:
        return _unread(path, parts, f"cannot be read: {error.strerror}")
    refusal = ""
    if stat.S_ISLNK(status.st_mode):
        refusal = LINK
    elif not stat.S_ISREG(status.st_mode):
        refusal = NO_FILE
    elif status.st_size > MAX_BYTES:
        refusal = too_large()
    stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
    return Entry(shown("/".join(parts)), parts, lambda: _read_file(path, len(parts)), refusal, path=path, stamp=stamp)


def _unread(path: Path, parts: Parts, refusal: str = "", *, folder: bool = False) -> Entry:
    return Entry(shown("/".join(parts)), parts, bytes, refusal, folder=folder, path=path)


def _walk(folder: Path, parts: Parts) -> Iterator[Entry]:
    try:
        with os.scandir(folder) as listing:
            children = sorted(listing, key=lambda child: child.name)
    except OSError as error:
        yield _unread(folder, parts or (folder.name,), f"cannot be read: {error.strerror}")
        return
    empty = True
    for child in children:
        if is_housekeeping(child.name):
            continue
        inner = (*parts, child.name)
        if not child.is_dir(follow_symlinks=False):
            yield file_entry(Path(child.path), inner)
        elif len(inner) < DEPTH:
            yield from _walk(Path(child.path), inner)
        else:
            yield _unread(Path(child.path), inner, folder=True)
        empty = False
    if empty and parts:
        yield _unread(folder, parts, folder=True)


def _read_file(path: Path, depth: int) -> bytes:
    try:
        with open(open_beneath(path, depth, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Refused(NO_FILE)
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise Refused(too_large())
    return content


def open_beneath(path: Path, depth: int, flags: int) -> int:
    """Open a path, and follow no link in the last `depth` parts of it; returns the descriptor.

    A link that took the place of a file or a folder meanwhile is an error; nor is a pipe waited for, with `O_NONBLOCK`.
    """
    folder = os.open(path.parents[depth - 1], os.O_PATH | os.O_DIRECTORY)
    try:
        for name in path.parts[-depth:-1]:
            inner = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(path.name, flags | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def too_large() -> str:
    """Why a file is not read that is larger than any that is."""
    return f"larger than {MAX_BYTES // 2**20} MB"
