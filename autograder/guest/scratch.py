"""Files in memory for a guest that can write nowhere, which is one without a root of its own.

What Python code opens for writing in its own folder is kept here, and found again by `open`, `os.stat`, `os.listdir` and
`import`. Such a guest cannot move to another folder either, so the folder it is in is noted here. This is a convenience and
protects nothing: the bounds of the guest's memory hold for these files too.
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
from collections.abc import Callable, Iterator
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


class _Entry:
    """What `os.scandir` gives of a file or folder in a scratch."""

    def __init__(self, scratch: Scratch, folder: str, shown: str, name: str) -> None:
        self.name, self.path = name, os.path.join(shown, name)
        self._stat = scratch.stat(os.path.join(folder, name))

    def __fspath__(self) -> str:
        return self.path

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return self._stat

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISDIR(self._stat.st_mode)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISREG(self._stat.st_mode)

    def is_symlink(self) -> bool:
        return False

    is_junction = is_symlink


class _Scan:
    """What `os.scandir` gives of a folder in a scratch: an iterator that can be closed."""

    def __init__(self, scratch: Scratch, folder: str, shown: str) -> None:
        self._entries = iter([_Entry(scratch, folder, shown, name) for name in scratch.names(folder)])

    def __iter__(self) -> Iterator[_Entry]:
        return self._entries

    def __next__(self) -> _Entry:
        return next(self._entries)

    def __enter__(self) -> _Scan:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    close = __exit__


class Scratch(importlib.abc.MetaPathFinder):
    """The files of one guest, by their absolute paths, all in the folder `home`. `here` is where it thinks it is."""

    def __init__(self, home: str, max_bytes: int, max_files: int) -> None:
        self.home = self.here = home
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
        path = self.absolute(name)
        return path if path == self.home or path.startswith(f"{self.home}/") else None

    def absolute(self, name: Any) -> str:
        """The absolute path of a name."""
        return os.path.normpath(os.path.join(self.here, os.fsdecode(name)))

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

    def shows(self, name: Any) -> bool:
        """Whether `stat` knows this: what the scratch holds, and the folders above it, which the guest may not look into."""
        if not isinstance(name, str | bytes | os.PathLike):
            return False
        return self.holds(name) or self.home.startswith(f"{self.absolute(name).rstrip('/')}/")

    def stat(self, path: str) -> os.stat_result:
        content = self._contents.get(path)
        kind = stat.S_IFDIR | 0o755 if content is None else stat.S_IFREG | 0o644
        return os.stat_result((kind, hash(path) & 0xFFFF, 0, 1, os.getuid(), os.getgid(), len(content or b""), 0, 0, 0))

    def names(self, path: str) -> list[str]:
        """The names in a folder."""
        return sorted(os.path.basename(name) for name in self._contents if os.path.dirname(name) == path and name != path)

    def remove(self, path: str) -> None:
        """Remove a file or an empty folder."""
        if self.names(path):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        del self._contents[path]

    def move(self, name: Any) -> None:
        """Be in another folder from now on."""
        path = self.absolute(name)
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
        self.here = path

    def rename(self, path: str, target: str) -> None:
        self.add(target, self._contents.pop(path))

    def find_spec(self, fullname: str, path: Any = None, target: types.ModuleType | None = None) -> Any:
        """The module that a file of the scratch is."""
        place = os.path.join(self.here, *fullname.split(".")) + ".py"
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
        return original(_real(file), mode, buffering, encoding, errors, newline, closefd, opener)

    builtins.open = io.open = open_anywhere
    for name in ("stat", "lstat"):
        setattr(os, name, _looking(getattr(os, name), Scratch.stat, Scratch.shows))
    for name in ("remove", "unlink", "rmdir"):
        setattr(os, name, _looking(getattr(os, name), Scratch.remove))
    for name in ("chmod", "utime"):
        setattr(os, name, _looking(getattr(os, name), lambda *_: None))
    os.listdir = _looking(os.listdir, Scratch.names, default=".")
    make_folder, rename, scan, move, where = os.mkdir, os.rename, os.scandir, os.chdir, os.getcwd

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

    def scandir(path: Any = ".") -> Any:
        if _current and (place := _current[0].path(path)) is not None and _current[0].holds(place):
            return _Scan(_current[0], place, os.fsdecode(path))
        return scan(_real(path))

    def chdir(path: Any) -> None:
        if _current:
            _current[0].move(path)
        else:
            move(path)

    def getcwd() -> str:
        return _current[0].here if _current else where()

    functions = {
        **{"mkdir": mkdir, "rename": rename_anywhere, "replace": rename_anywhere, "scandir": scandir},
        **{"chdir": chdir, "getcwd": getcwd},
    }
    for name, function in functions.items():
        setattr(os, name, function)
    # On import these decide by the functions they find how to remove folders.
    for name in ("shutil", "tempfile"):
        sys.modules.pop(name, None)


def _looking(
    original: Callable[..., Any],
    use: Callable[[Scratch, str], Any],
    applies: Callable[[Scratch, Any], bool] = Scratch.holds,
    default: str | None = None,
) -> Callable[..., Any]:
    """`original`; for a path where `applies` says so, `use` instead."""

    @functools.wraps(original)
    def look(path: Any = default, *arguments: Any, **options: Any) -> Any:
        if _current and applies(_current[0], path):
            return use(_current[0], _current[0].absolute(path))
        return original(_real(path), *arguments, **options)

    return look


def _real(path: Any) -> Any:
    """A path as the kernel is to see it, which knows nothing of moves to other folders."""
    moved = _current and _current[0].here != _current[0].home
    return _current[0].absolute(path) if moved and isinstance(path, str | bytes | os.PathLike) else path


def _temporary_file(
    mode: str = "w+b", buffering: int = -1, encoding: str | None = None, newline: str | None = None,
    suffix: str | None = None, prefix: str | None = None, dir: Any = None, *_: Any, **__: Any,
) -> Any:  # fmt: skip
    """Like those of `tempfile`, but the file stays until the guest ends."""
    import tempfile

    path = os.path.join(tempfile.mkdtemp(dir=dir), f"{prefix or 'tmp'}{suffix or ''}")
    return open(path, mode, buffering, encoding, None, newline)


def begin(max_bytes: int, max_files: int) -> None:
    """In a guest: keep files in memory from now on."""
    scratch = Scratch(os.getcwd(), max_bytes, max_files)
    _current[:] = [scratch]
    sys.meta_path.insert(0, scratch)
    import tempfile

    tempfile.tempdir = scratch.home
    tempfile.NamedTemporaryFile = tempfile.TemporaryFile = _temporary_file  # type: ignore[assignment]
