"""What is in a zip or tar archive, listed and read within bounds. Nothing is unpacked to a file that has a name.

What an archive says of itself is a claim. Sizes are checked while bytes are read, and a name counts as it would be unpacked:
two entries that would become one file are both refused.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import stat
import tarfile
import tempfile
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from autograder.intake import entries as bounds
from autograder.intake.entries import LINK, NO_FILE, Contents, Entry, Refused, shown, too_large
from autograder.intake.names import is_harmless

_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError,
           ValueError, OverflowError, MemoryError)  # fmt: skip
_ZIP, _TAR = (".zip",), (".tar.gz", ".tgz", ".tar")
_CHUNK = 2**20


@dataclass(frozen=True)
class _Member:
    """One entry of an archive, as the archive describes it. `path` is its name with `/` between folders."""

    name: str
    path: str
    folder: bool
    size: int
    refusal: str
    fetch: Callable[[], bytes]


def archive_name(path: Path) -> str | None:
    """The name of an archive without its ending; `None` for what is no archive by its name."""
    ending = next((ending for ending in (*_ZIP, *_TAR) if path.name.lower().endswith(ending)), None)
    return path.name[: -len(ending)] if ending else None


@contextlib.contextmanager
def archive_contents(path: Path) -> Iterator[Contents]:
    """What is in an archive, in the order of names. Raises `Refused` if its list of entries cannot be trusted."""
    with contextlib.ExitStack() as stack:
        try:
            is_zip = path.name.lower().endswith(_ZIP)
            members = _zip_members(path, stack) if is_zip else _tar_members(path, stack)
        except _BROKEN as error:
            raise Refused(f"not an archive that can be read: {shown(str(error))}") from None
        if len(members) > bounds.MAX_ENTRIES:
            raise Refused(f"the archive has more than {bounds.MAX_ENTRIES} entries")
        yield _contents(members)


def _contents(members: Sequence[_Member]) -> Contents:
    copies = Counter(unicodedata.normalize("NFC", member.path) for member in members)
    filled = {parent for member in members for parent in _parents(member.path)}
    entries = []
    for member in members:
        objection = _objection(member.path)
        if member.folder and member.size:
            objection = objection or "a folder that holds bytes"
        parts = tuple(member.path.split("/"))
        if not objection and ((member.folder and member.path in filled) or any(map(bounds.is_housekeeping, parts))):
            continue
        count = copies[unicodedata.normalize("NFC", member.path)]
        if count > 1:
            objection = objection or f"the archive has {count} entries of this name"
        folder = member.folder and not objection
        entries.append(Entry(shown(member.name), (member.path,) if objection else parts, member.fetch, member.refusal,
                           objection, folder))  # fmt: skip
    repositories = {parts[:place] for member in members for parts in [tuple(member.path.split("/"))]
                    for place, part in enumerate(parts) if part == ".git"}  # fmt: skip
    return Contents(sorted(entries, key=lambda entry: entry.parts), frozenset(repositories))


def _parents(path: str) -> Iterator[str]:
    parts = path.split("/")
    for end in range(1, min(len(parts), 50)):
        yield "/".join(parts[:end])


def _objection(path: str) -> str:
    if len(path) > bounds.MAX_NAME:
        return f"its name is longer than {bounds.MAX_NAME} characters"
    if not is_harmless(path):
        return "its name holds characters that do not print"
    if re.match(r"[A-Za-z]:", path) or any(part in ("", ".", "..") for part in path.split("/")):
        return "its name points outside the archive"
    return ""


def _path(name: str) -> str:
    """A name with `/` between folders: some programs on Windows write `\\`, and `tar` of a folder puts `./` in front."""
    path = name.replace("\\", "/")
    while path.startswith("./") and path != "./":
        path = path[2:]
    return path.removesuffix("/")


def _refusal(mode: int, size: int) -> str:
    kind = stat.S_IFMT(mode)
    if kind == stat.S_IFLNK:
        return LINK
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return NO_FILE
    return too_large() if size > bounds.MAX_BYTES else ""


class _Budget:
    """How much may be read of an archive altogether."""

    def __init__(self) -> None:
        self._spent = 0

    def read(self, member: IO[bytes], size: int) -> bytes:
        """The bytes of a member, which claims to have this size. Raises `Refused` if that is not true."""
        # The size in the list is a claim; what is read is counted.
        content = member.read(bounds.MAX_BYTES + 1)
        self._spent += len(content)
        if len(content) != size:
            raise Refused("damaged: its size is not what the archive says")
        return content

    def check(self, size: int) -> None:
        """Raise `Refused` if so much more is too much."""
        if self._spent + size > bounds.MAX_TOTAL_BYTES:
            raise Refused(f"the archive holds more than {bounds.MAX_TOTAL_BYTES // 2**20} MB")


# --- zip


class _Bounded(io.FileIO):
    """A file that is never read in one piece larger than the list of an archive may be."""

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = bounds.MAX_DIRECTORY_BYTES + 1 if size is None or size < 0 else size
        content = super().read(min(wanted, bounds.MAX_DIRECTORY_BYTES + 1)) or b""
        if len(content) > bounds.MAX_DIRECTORY_BYTES:
            raise zipfile.BadZipFile("the list of its entries is too long")
        return content


def _zip_members(path: Path, stack: contextlib.ExitStack) -> list[_Member]:
    archive = stack.enter_context(zipfile.ZipFile(stack.enter_context(_Bounded(path))))
    budget = _Budget()
    members = []
    for info in archive.infolist():
        name = _zip_name(info)
        folder = name.replace("\\", "/").endswith("/")
        refusal = _refusal(info.external_attr >> 16, info.file_size) or _zip_refusal(info)
        members.append(_Member(name, _path(name), folder, info.file_size, refusal, _zip_fetch(archive, info, budget)))
    return members


def _zip_name(info: zipfile.ZipInfo) -> str:
    """A name in UTF-8 although the flag that says so is missing, as the zip programs of macOS and many servers write it."""
    if not info.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            return info.orig_filename.encode("cp437").decode("utf-8")
    return info.orig_filename


def _zip_refusal(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & 0x1:
        return "encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "packed by a method that is not supported"
    if info.file_size > bounds.SMALL and info.file_size > bounds.MAX_RATIO * info.compress_size:
        return f"unpacks to more than {bounds.MAX_RATIO} times its size"
    return ""


def _zip_fetch(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: _Budget) -> Callable[[], bytes]:
    def fetch() -> bytes:
        budget.check(info.file_size)
        try:
            with archive.open(info) as file:
                return budget.read(file, info.file_size)
        except _BROKEN as error:
            raise Refused(f"damaged: {shown(str(error))}") from None

    return fetch


# --- tar


class _BoundedHeaders(tarfile.TarInfo):
    """A member whose extended headers are bounded: tarfile reads each of them into memory whole."""

    @classmethod
    def frombuf(cls, buffer: bytes | bytearray, encoding: str, errors: str) -> _BoundedHeaders:
        header = super().frombuf(buffer, encoding, errors)
        extended = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME,
                    tarfile.GNUTYPE_LONGLINK)  # fmt: skip
        if header.type in extended and header.size > bounds.SMALL:
            raise tarfile.ReadError("one of its headers is too long")
        return header


def _tar_members(path: Path, stack: contextlib.ExitStack) -> list[_Member]:
    file = stack.enter_context(path.open("rb"))
    plain = file if path.name.lower().endswith(".tar") else _decompressed(file, path.stat().st_size, stack)
    archive = stack.enter_context(tarfile.TarFile(fileobj=plain, tarinfo=_BoundedHeaders, encoding="utf-8"))
    budget = _Budget()
    members: list[_Member] = []
    for info in archive:
        if len(members) > bounds.MAX_ENTRIES:
            break
        path_inside = _path(info.name)
        if info.isdir() and path_inside in ("", "."):
            continue  # the folder that was packed
        refusal = LINK if info.issym() or info.islnk() else "" if info.isreg() or info.isdir() else NO_FILE
        refusal = refusal or ("sparse; pack it again" if info.issparse() else _refusal(0, info.size))
        size = 0 if info.isdir() else info.size
        members.append(_Member(info.name, path_inside, info.isdir(), size, refusal, _tar_fetch(archive, info, budget)))
    return members


def _decompressed(file: IO[bytes], packed: int, stack: contextlib.ExitStack) -> IO[bytes]:
    """The tar archive in a gzip file, in a temporary file without a name: a stream cannot be read out of order."""
    plain = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
    size = 0
    with gzip.GzipFile(fileobj=file) as stream:
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            if size > bounds.MAX_TOTAL_BYTES:
                raise tarfile.ReadError(f"it unpacks to more than {bounds.MAX_TOTAL_BYTES // 2**20} MB")
            if size > bounds.SMALL and size > bounds.MAX_RATIO * packed:
                raise tarfile.ReadError(f"it unpacks to more than {bounds.MAX_RATIO} times its size")
            plain.write(chunk)
    plain.seek(0)
    return plain


def _tar_fetch(archive: tarfile.TarFile, info: tarfile.TarInfo, budget: _Budget) -> Callable[[], bytes]:
    def fetch() -> bytes:
        budget.check(info.size)
        try:
            file = archive.extractfile(info)
            return budget.read(file, info.size) if file else b""
        except _BROKEN as error:
            raise Refused(f"damaged: {shown(str(error))}") from None

    return fetch
