"""The files in a folder or an archive, listed and read within bounds. Nothing is unpacked to disk, run or parsed.

Whoever handed in a file chose its name and its bytes, so both are an enemy's until shown otherwise. An entry that breaks a
rule costs itself alone.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import zipfile
import zlib
from collections import Counter
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
HOUSEKEEPING = {".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX", "__pycache__", ".git", ".ipynb_checkpoints"}


class Refused(Exception):
    """An entry is not read; the message says why."""


@dataclass(frozen=True)
class Entry:
    """One file in a folder or an archive, not read yet.

    `refusal` says why it will not be read, and `objection` why it is no submission although it can be read. A folder is an
    entry only if nothing in it is one.
    """

    name: str  # as it may be shown
    parts: tuple[str, ...]
    fetch: Callable[[], bytes]
    refusal: str = ""
    objection: str = ""
    folder: bool = False
    path: Path | None = None  # where it lies, if it lies on disk

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


def shown(name: str) -> str:
    """A name as a terminal may print it: what the terminal would obey is written out."""
    printable = repr(name)[1:-1]
    return printable if len(printable) <= 2 * MAX_NAME else printable[: 2 * MAX_NAME] + "…"


# --- on disk


def folder_entries(root: Path) -> list[Entry]:
    """What lies in a folder, `DEPTH` levels deep, in the order of names. What begins with a dot is passed over."""
    return [entry for entry in _walk(root, ()) if not entry.parts[0].startswith(".")]


def file_entry(path: Path, parts: tuple[str, ...]) -> Entry:
    """One file on disk."""
    try:
        status = path.lstat()
    except OSError as error:
        return _unread(path, parts, f"cannot be read: {error.strerror}")
    refusal = ""
    if stat.S_ISLNK(status.st_mode):
        refusal = LINK
    elif not stat.S_ISREG(status.st_mode):
        refusal = "neither a file nor a folder"
    elif status.st_size > MAX_BYTES:
        refusal = _too_large()
    return Entry(shown("/".join(parts)), parts, lambda: _read_file(path), refusal, path=path)


def _unread(path: Path, parts: tuple[str, ...], refusal: str = "", *, folder: bool = False) -> Entry:
    return Entry(shown("/".join(parts)), parts, bytes, refusal, folder=folder, path=path)


def _walk(folder: Path, parts: tuple[str, ...]) -> Iterator[Entry]:
    try:
        with os.scandir(folder) as listing:
            children = sorted(listing, key=lambda child: child.name)
    except OSError as error:
        yield _unread(folder, parts or (folder.name,), f"cannot be read: {error.strerror}")
        return
    empty = True
    for child in children:
        if _is_housekeeping(child.name):
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


def _read_file(path: Path) -> bytes:
    try:
        # Neither a link nor a pipe that took the file's place meanwhile is followed or waited for.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Refused("neither a file nor a folder")
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise Refused(_too_large())
    return content


def _too_large() -> str:
    return f"larger than {MAX_BYTES // 2**20} MB"


# --- in an archive

_BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError, ValueError, OverflowError)


class _Bounded(io.FileIO):
    """A file that is never read in one piece larger than the list of an archive may be."""

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = MAX_DIRECTORY_BYTES + 1 if size is None or size < 0 else size
        content = super().read(min(wanted, MAX_DIRECTORY_BYTES + 1)) or b""
        if len(content) > MAX_DIRECTORY_BYTES:
            raise zipfile.BadZipFile("the list of its entries is too long")
        return content


@contextlib.contextmanager
def archive_entries(path: Path) -> Iterator[list[Entry]]:
    """What is in a zip archive, in the order of names. Raises `Refused` if its list of entries cannot be trusted."""
    with contextlib.ExitStack() as stack:
        try:
            archive = stack.enter_context(zipfile.ZipFile(stack.enter_context(_Bounded(path))))
        except (*_BROKEN, MemoryError) as error:
            raise Refused(f"not an archive that can be read: {shown(str(error))}") from None
        members = archive.infolist()
        if len(members) > MAX_ENTRIES:
            raise Refused(f"the archive has {len(members)} entries; more than {MAX_ENTRIES} are not read")
        yield _members(archive, members)


def _members(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> list[Entry]:
    budget = _Budget()
    copies = Counter(member.filename.rstrip("/") for member in members)
    filled = {parent for member in members for parent in _parents(member.filename)}
    entries = []
    for member in members:
        name = member.filename.rstrip("/")
        folder = member.filename.endswith("/")
        objection = _name_objection(member.orig_filename.removesuffix("/"))
        if folder and member.file_size:
            objection = objection or "a folder that holds bytes"
        if not objection and ((folder and name in filled) or _is_housekeeping(name)):
            continue
        if copies[name] > 1:
            objection = objection or f"the archive has {copies[name]} entries of this name"
        parts = (name,) if objection else tuple(name.split("/"))
        fetch, refusal = _fetcher(archive, member, budget), _member_refusal(member)
        entries.append(Entry(shown(member.orig_filename), parts, fetch, refusal, objection, folder and not objection))
    return sorted(entries, key=lambda entry: entry.parts)


def _parents(name: str) -> Iterator[str]:
    parts = name.rstrip("/").split("/")
    for end in range(1, min(len(parts), 50)):
        yield "/".join(parts[:end])


def _is_housekeeping(name: str) -> bool:
    return any(part in HOUSEKEEPING or part.startswith("._") for part in name.split("/"))


def _name_objection(name: str) -> str:
    if len(name) > MAX_NAME:
        return f"its name is longer than {MAX_NAME} characters"
    if not name.isprintable():
        return "its name holds characters that do not print"
    if "\\" in name or re.match(r"[A-Za-z]:", name) or any(part in ("", ".", "..") for part in name.split("/")):
        return "its name leads out of the archive"
    return ""


def _member_refusal(member: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return LINK
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "neither a file nor a folder"
    if member.flag_bits & 0x1:
        return "encrypted"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "packed by a method that is not supported"
    if member.file_size > MAX_BYTES:
        return _too_large()
    if member.file_size > SMALL and member.file_size > MAX_RATIO * member.compress_size:
        return f"unpacks to more than {MAX_RATIO} times its size"
    return ""


@dataclass
class _Budget:
    spent: int = 0


def _fetcher(archive: zipfile.ZipFile, member: zipfile.ZipInfo, budget: _Budget) -> Callable[[], bytes]:
    def fetch() -> bytes:
        if budget.spent + member.file_size > MAX_TOTAL_BYTES:
            raise Refused(f"the archive holds more than {MAX_TOTAL_BYTES // 2**20} MB")
        try:
            with archive.open(member) as file:
                # The size in the list is a claim; what is read is counted.
                content = file.read(MAX_BYTES + 1)
        except (*_BROKEN, MemoryError) as error:
            raise Refused(f"damaged: {shown(str(error))}") from None
        budget.spent += len(content)
        if len(content) != member.file_size:
            raise Refused("damaged: its size is not what the archive says")
        return content

    return fetch
