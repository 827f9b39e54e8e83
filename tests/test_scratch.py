"""Files in memory, where a guest has no place to write: what Python code finds there is what a disk would give."""

from __future__ import annotations

import errno
import importlib.util
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.guest.scratch import Scratch

HOME = "/home/nobody"


@pytest.fixture
def scratch() -> Scratch:
    return Scratch(HOME, max_bytes=1000, max_files=5)


def opened(scratch: Scratch, name: str, mode: str = "r", buffering: int = -1, newline: str | None = None) -> Any:
    path = scratch.path(name)
    assert path is not None
    return scratch.open(path, mode, buffering, None, None, newline)


def test_the_same_calls_give_the_same_as_on_a_disk(scratch: Scratch, tmp_path: Path) -> None:
    def use(start: Any) -> list[Any]:
        said: list[Any] = []
        with start("a.txt", "w") as file:
            said += [file.write("eins\nzwei\n"), file.tell(), file.readable(), file.writable()]
        with start("a.txt", "a") as file:
            said += [file.write("drei"), file.tell()]
        with start("a.txt") as file:
            said += [file.readline(), list(file), file.seekable()]
        with start("a.txt", "r+") as file:
            said += [file.read(4), file.seek(0), file.write("EINS"), file.seek(0), file.read()]
        with start("a.txt", "rb+") as file:
            said += [file.seek(-4, 2), file.truncate(), file.seek(0), file.read(), file.seek(15), file.write(b"end")]
        with start("a.txt", "rb") as file:
            said += [file.read()]
        with start("a.txt", "w+b") as file:
            said += [file.read(), file.write(b"new"), file.seek(0), file.read()]
        for name, mode in (("a.txt", "x"), ("absent.txt", "r"), ("no/folder.txt", "w")):
            try:
                start(name, mode)
            except OSError as error:
                said += [error.errno]
        return said

    def on_disk(name: str, mode: str = "r") -> Any:
        return open(tmp_path / name, mode, encoding=None if "b" in mode else "utf-8")

    assert use(lambda *arguments: opened(scratch, *arguments)) == use(on_disk)


def test_numpy_saves_and_loads(scratch: Scratch) -> None:
    with opened(scratch, "x.npy", "wb") as file:
        np.save(file, np.eye(3))
    with opened(scratch, "x.npy", "rb") as file:
        assert np.array_equal(np.load(file), np.eye(3))


@pytest.mark.parametrize("size", [1001, 10**9])
def test_its_bytes_are_bounded_like_a_full_disk(scratch: Scratch, size: int) -> None:
    with pytest.raises(OSError, match="No space left") as caught, opened(scratch, "a", "wb", 0) as file:
        file.truncate(size)
    assert caught.value.errno == errno.ENOSPC
    with opened(scratch, "a", "wb", 0) as file:
        assert file.write(bytes(1000)) == 1000


def test_its_files_are_bounded(scratch: Scratch) -> None:
    for number in range(5):
        opened(scratch, f"{number}", "w").close()
    with pytest.raises(OSError, match="No space left"):
        opened(scratch, "one more", "w")


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", f"{HOME}er/x", 3, None])
def test_what_lies_elsewhere_is_not_its_own(scratch: Scratch, name: Any) -> None:
    assert scratch.path(name) is None


@pytest.mark.parametrize("name", ["x", b"x", Path("x"), f"{HOME}/x", "./y/../x", f"{HOME}/../nobody/x"])
def test_a_file_has_one_path_whatever_it_is_called(scratch: Scratch, name: Any) -> None:
    assert scratch.path(name) == f"{HOME}/x"


def test_folders_are_listed_and_files_are_told_from_them(scratch: Scratch) -> None:
    scratch.add(f"{HOME}/figures", None)
    opened(scratch, "figures/a.png", "wb").close()
    assert scratch.names(HOME) == ["figures"]
    assert scratch.names(f"{HOME}/figures") == ["a.png"]
    assert stat.S_ISDIR(scratch.stat(f"{HOME}/figures").st_mode)
    assert stat.S_ISREG(scratch.stat(f"{HOME}/figures/a.png").st_mode)
    with pytest.raises(IsADirectoryError):
        opened(scratch, "figures", "w")
    scratch.rename(f"{HOME}/figures/a.png", f"{HOME}/b.png")
    assert scratch.names(f"{HOME}/figures") == []
    scratch.remove(f"{HOME}/b.png")
    assert not scratch.holds(os.fspath(f"{HOME}/b.png"))


def test_a_module_written_there_is_imported(scratch: Scratch) -> None:
    with opened(scratch, "written_helper.py", "w") as file:
        file.write("x = 41 + 1\n")
    spec = scratch.find_spec("written_helper")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (module.x, module.__file__) == (42, f"{HOME}/written_helper.py")
    assert scratch.find_spec("absent_helper") is None
