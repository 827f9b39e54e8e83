"""Files in memory for a guest that can write nowhere, which is one without a root of its own.

What Python code opens for writing in its own folder is kept here, and found again by `open`, `os.stat`, `os.listdir` and
`import`. This is a convenience and protects nothing: the bounds of the guest's memory hold for these files too.
"""

from __future__ import annotations

import builtins
import errno
import functools
import importlib.abc
import importlib.util
import io
import os
import stat
import sys
import types
from collections.abc import Callable
from typing import Any

Content = bytearray | None  # of a file; None for a folder


class _File(io.RawIOBase):
    """An open file of a scratch."""

    def __init__(self, scratch: Scratch, content: bytearray, mode: str) -> None:
        self._scratch, self._content = scratch, content
        self._reads, self._writes = bool(set(mode) & set("r+")), bool(set(mode) & set("wax+"))
        self._at = len(content) if "a" in mode else 0

    def readable(self) -> bool:
        return self._reads

    def writable(self) -> bool:
        return self._writes

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._content[self._at : self._at + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def write(self, data: Any) -> int:
        piece = bytes(data)
        end = self._at + len(piece)
        self._scratch.grow(end - len(self._content))
        self._content.extend(bytes(max(0, self._at - len(self._content))))
        self._content[self._at : end] = piece
        self._at = end
        return len(piece)

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + (0, self._at, len(self._content))[whence])
        return self._at

    def truncate(self, size: int | None = None) -> int:
        end = self._at if size is None else size
        self._scratch.grow(end - len(self._content))
        self._content.extend(bytes(max(0, end - len(self._content))))
        del self._content[end:]
        return end


class Scratch(importlib.abc.MetaPathFinder):
    """The files of one guest, by their absolute paths, all in the folder `home`."""

    def __init__(self, home: str, max_bytes: int, max_files: int) -> None:
        self._home = home
        self._contents: dict[str, Content] = {home: None}
        self._max_bytes, self._max_files = max_bytes, max_files

    def grow(self, count: int) -> None:
        """Make sure that `count` more bytes fit; raises `OSError` like a full disk."""
        if count > 0 and count + sum(len(content or b"") for content in self._contents.values()) > self._max_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def path(self, name: Any) -> str | None:
        """The absolute path of a name that lies in the scratch's folder; None for others, and for descriptors."""
        if not isinstance(name, str | bytes | os.PathLike):
            return None
        path = os.path.normpath(os.path.join(self._home, os.fsdecode(name)))
        return path if path == self._home or path.startswith(f"{self._home}/") else None

    def holds(self, name: Any) -> bool:
        return self.path(name) in self._contents

    def add(self, path: str, content: Content) -> None:
        if self._contents.get(os.path.dirname(path), b"") is not None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if len(self._contents) > self._max_files:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        self._contents[path] = content

    def open(
        self, path: str, mode: str, buffering: int, encoding: str | None, errors: str | None, newline: str | None
    ) -> Any:
        """Like the built-in `open`."""
        content = self._contents.get(path)
        if path in self._contents and content is None:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if "x" in mode and content is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        writes = bool(set(mode) & set("wax"))
        if content is None:
            if not writes:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            content = bytearray()
            self.add(path, content)
        elif "w" in mode:
            content.clear()
        file = _File(self, content, mode)
        file.name = path  # type: ignore[attr-defined]
        if buffering == 0 and "b" in mode:
            return file
        kind: Any = io.BufferedRandom if "+" in mode else io.BufferedWriter if writes else io.BufferedReader
        binary = kind(file)
        if "b" in mode:
            return binary
        return io.TextIOWrapper(binary, encoding or "utf-8", errors, newline, line_buffering=buffering == 1)

    def stat(self, path: str) -> os.stat_result:
        content = self._contents[path]
        kind = stat.S_IFDIR | 0o755 if content is None else stat.S_IFREG | 0o644
        return os.stat_result((kind, hash(path) & 0xFFFF, 0, 1, os.getuid(), os.getgid(), len(content or b""), 0, 0, 0))

    def names(self, path: str) -> list[str]:
        """The names in a folder."""
        return sorted(os.path.basename(name) for name in self._contents if os.path.dirname(name) == path and name != path)

    def remove(self, path: str) -> None:
        del self._contents[path]

    def rename(self, path: str, target: str) -> None:
        self.add(target, self._contents.pop(path))

    def find_spec(self, fullname: str, path: Any = None, target: types.ModuleType | None = None) -> Any:
        """The module that a file of the scratch is."""
        place = os.path.join(self._home, *fullname.split(".")) + ".py"
        content = self._contents.get(place)
        if content is None:
            return None
        return importlib.util.spec_from_file_location(fullname, place, loader=_Loader(fullname, place, bytes(content)))


class _Loader(importlib.abc.SourceLoader):
    def __init__(self, name: str, path: str, source: bytes) -> None:
        self._path, self._source = path, source

    def get_filename(self, fullname: str) -> str:
        return self._path

    def get_data(self, path: str | bytes) -> bytes:
        if path != self._path:
            raise FileNotFoundError(path)
        return self._source


_current: list[Scratch] = []


def install() -> None:
    """In the zygote, before other modules keep these functions: let them look into a scratch, once there is one."""
    original = io.open

    @functools.wraps(original)
    def open_anywhere(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        path = _current[0].path(file) if _current and opener is None else None
        if path is not None and (set(mode) & set("wax+") or _current[0].holds(path)):
            return _current[0].open(path, mode, buffering, encoding, errors, newline)
        return original(file, mode, buffering, encoding, errors, newline, closefd, opener)

    builtins.open = io.open = open_anywhere
    for name, use in {
        "stat": Scratch.stat,
        "lstat": Scratch.stat,
        "remove": Scratch.remove,
        "unlink": Scratch.remove,
    }.items():
        setattr(os, name, _looking(getattr(os, name), use))
    os.listdir = _looking(os.listdir, Scratch.names, default=".")
    make_folder, rename, move = os.mkdir, os.rename, os.chdir

    def mkdir(path: Any, mode: int = 0o777, **options: Any) -> None:
        place = _current[0].path(path) if _current else None
        if place is None:
            make_folder(path, mode, **options)
        elif _current[0].holds(place):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        else:
            _current[0].add(place, None)

    def rename_anywhere(source: Any, target: Any, **options: Any) -> None:
        place = _current[0].path(target) if _current else None
        if place is not None and _current[0].holds(source):
            _current[0].rename(str(_current[0].path(source)), place)
        else:
            rename(source, target, **options)

    def chdir(path: Any) -> None:
        # A guest that can write nowhere cannot move either; to stay where it is does no harm.
        if not _current or _current[0].path(path) != os.getcwd():
            move(path)

    functions = {"mkdir": mkdir, "rename": rename_anywhere, "replace": rename_anywhere, "chdir": chdir}
    for name, function in functions.items():
        setattr(os, name, function)


def _looking(
    original: Callable[..., Any], use: Callable[[Scratch, str], Any], default: str | None = None
) -> Callable[..., Any]:
    """`original`, for a path in the scratch `use` instead."""

    @functools.wraps(original)
    def look(path: Any = default, *arguments: Any, **options: Any) -> Any:
        if _current and (place := _current[0].path(path)) is not None and _current[0].holds(place):
            return use(_current[0], place)
        return original(path, *arguments, **options)

    return look


def begin(max_bytes: int, max_files: int) -> None:
    """In a guest: keep files in memory from now on."""
    scratch = Scratch(os.getcwd(), max_bytes, max_files)
    _current[:] = [scratch]
    sys.meta_path.insert(0, scratch)
