"""What a guest without a root of its own can learn of the host's files: nothing but what it may read anyway."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.backends import SandboxError
from autograder.backends.sandlock import Sandlock
from autograder.limits import Limits
from autograder.sandbox.guest import Guest
from autograder.sandbox.runner import GuestRunner
from autograder.sandbox.zygote import Zygote
from autograder.testing.errors import Stopped
from autograder.testing.student import Student

# `posix` makes the system calls themselves; `os` has the files in memory of guest/scratch.py before them.
SOURCE = b"""
import ctypes, posix as os, signal
def attempt(function, *arguments):
    try:
        return 0, str(function(*arguments))
    except OSError as error:
        return error.errno, ""
def stat(paths):
    return [attempt(lambda: os.stat(path).st_ino) for path in paths]
def lstat(paths):
    return [attempt(lambda: os.lstat(path).st_ino) for path in paths]
def ways(path):
    calls = {
        "stat": os.stat, "lstat": os.lstat, "readlink": os.readlink, "listdir": os.listdir, "statvfs": os.statvfs,
        "open": lambda path: os.open(path, os.O_RDONLY), "path only": lambda path: os.open(path, os.O_PATH | os.O_NOFOLLOW),
        "chdir": os.chdir, "truncate": lambda path: os.truncate(path, 0), "mkdir": os.mkdir, "rmdir": os.rmdir,
        "unlink": os.unlink, "rename": lambda path: os.rename(path, "x"), "link": lambda path: os.link(path, "x"),
        "symlink": lambda path: os.symlink("x", path), "chmod": lambda path: os.chmod(path, 0o600), "utime": os.utime,
        "create": lambda path: os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY),
        "access": lambda path: os.access(path, os.F_OK) or os.open(path, os.O_RDONLY),
        "real id access": lambda path: os.access(path, os.F_OK, effective_ids=True) or os.open(path, os.O_RDONLY),
    }
    return {name: attempt(call, path) for name, call in calls.items()}
def relative(folder, name):
    descriptor = os.open(folder, os.O_RDONLY)
    return attempt(lambda: os.stat(name, dir_fd=descriptor)), attempt(os.fchdir, descriptor)
def descriptor_itself(path):
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor, room = os.open(path, os.O_RDONLY), ctypes.create_string_buffer(512)
    return [libc.fstatat(descriptor, b"", room, 0x1000), os.fstat(descriptor).st_size > 0]
def imports():
    import colorsys, wave, matplotlib.sankey
    return colorsys.rgb_to_hsv(1, 0, 0)
def bad_pointer(address):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.access(ctypes.c_void_p(address), 0), ctypes.get_errno()
def for_ever(path):
    while True:
        try: os.stat(path)
        except OSError: pass
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`shown` may be read, `hidden` may not, and links lead from one to the other and around."""
    root = tmp_path_factory.mktemp("tree").resolve()
    for folder in ("shown/a/b", "hidden/a"):
        (root / folder).mkdir(parents=True)
    for file in ("shown/file", "shown/a/file", "shown/a/b/file", "hidden/file", "hidden/a/file"):
        (root / file).write_text(file)
    for link, target in {
        "shown/inner": "a/b",
        "shown/a/up": "..",
        "shown/a/self": "self",
        "shown/whole": str(root / "shown/a"),
        "shown/out": "../hidden",
        "shown/secret": str(root / "hidden/file"),
        "shown/back": "../hidden/in",
        "hidden/in": str(root / "shown"),
        "shown/gone": "nowhere",
    }.items():
        (root / link).symlink_to(target)
    return root


@pytest.fixture(scope="module")
def zygote(tree: Path) -> Iterator[Zygote]:
    try:
        launch = Sandlock.launch()
        started = Zygote(Sandlock, replace(launch, readable=[*launch.readable, str(tree / "shown")]))
        started.ready()
        Guest(started, Limits()).close()
    except SandboxError as error:
        pytest.skip(str(error))
    yield started
    started.close()


@pytest.fixture(scope="module")
def student(zygote: Zygote) -> Iterator[Student]:
    with GuestRunner(zygote, "ps1.py", SOURCE, Limits(call_seconds=20.0)) as runner:
        runner.load()
        yield Student(runner).once


def test_no_call_tells_a_file_that_is_there_from_one_that_is_not(student: Student, tree: Path) -> None:
    there, absent = student.ways(str(tree / "hidden/file")), student.ways(str(tree / "hidden/no_such_file"))
    assert there == absent
    assert {name for name, (number, _) in there.items() if number == 0} == set()
    assert student.ways(str(tree / "hidden/a")) == student.ways("/no/such/folder") == absent


def test_what_may_be_read_is_seen_as_it_is_and_cannot_be_changed(student: Student, tree: Path) -> None:
    before = {path: path.lstat().st_mtime_ns for path in tree.rglob("*")}
    seen = student.ways(str(tree / "shown/inner"))
    assert f"st_ino={(tree / 'shown/a/b').stat().st_ino}," in seen["stat"][1]
    assert seen["readlink"] == (0, "a/b")
    assert seen["listdir"] == (0, "['file']")
    changes = ("truncate", "mkdir", "rmdir", "unlink", "rename", "link", "symlink", "chmod", "utime")
    assert {seen[name][0] for name in changes} == {errno.EROFS}
    assert seen["create"][0] in (errno.EACCES, errno.EEXIST)
    assert seen["chdir"][0] == errno.EPERM
    assert {path: path.lstat().st_mtime_ns for path in tree.rglob("*")} == before


@pytest.mark.parametrize(
    "path", ["out/file", "secret", "out", "out/a/../file", "back/file", "../hidden/file", "..", "a/../.."]
)
def test_links_and_dots_lead_nowhere_else(student: Student, tree: Path, path: str) -> None:
    assert student.stat([str(tree / "shown" / path)]) == [(errno.ENOENT, "")]


@pytest.mark.parametrize("path", ["out/", "out/.", "out//", "back/..", "secret/", "inner/../../../out/"])
def test_a_link_before_a_slash_is_followed_by_whatever_call(student: Student, tree: Path, path: str) -> None:
    # `lstat` stops at a last link, but with a slash behind it the kernel goes on.
    whole = str(tree / "shown") + "/" + path
    assert student.lstat([whole]) == [(errno.ENOENT, "")]
    assert student.ways(whole)["readlink"][0] == errno.ENOENT


def test_of_a_link_that_leads_out_only_the_link_is_seen(student: Student, tree: Path) -> None:
    assert student.lstat([str(tree / "shown/secret")]) == [(0, str((tree / "shown/secret").lstat().st_ino))]
    assert student.ways(str(tree / "shown/secret"))["readlink"] == (0, str(tree / "hidden/file"))


names = st.sampled_from(["a", "b", "file", "inner", "up", "self", "whole", "gone", "absent", "x" * 300])
wild = names | st.sampled_from(["..", ".", "", "out", "back", "secret", "in", "shown", "hidden"])


def told(way: str, path: str) -> tuple[int, str]:
    """What the host itself says of a path."""
    try:
        return 0, str(getattr(os, way)(path).st_ino)
    except OSError as error:
        return error.errno or 0, ""


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(names, max_size=6).map("/".join), min_size=1, max_size=20), st.sampled_from(["stat", "lstat"]))
def test_within_what_may_be_read_all_is_as_without_a_watch(student: Student, tree: Path, paths: list[str], way: str) -> None:
    whole = [f"{tree}/shown/{path}" for path in paths]
    assert getattr(student, way)(whole) == [told(way, path) for path in whole]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(wild, max_size=8).map("/".join), min_size=1, max_size=20), st.sampled_from(["stat", "lstat"]))
def test_whatever_is_seen_may_be_read(student: Student, tree: Path, paths: list[str], way: str) -> None:
    whole = [f"{tree}/shown/{path}" for path in paths]
    shown = {str(entry.lstat().st_ino) for entry in [tree / "shown", *(tree / "shown").rglob("*")]}
    for path, (number, inode) in zip(whole, getattr(student, way)(whole), strict=True):
        assert number or inode in shown, path
        assert number in (0, errno.ENOENT) or number == told(way, path)[0], path


def test_paths_relative_to_a_folder_are_refused_and_an_open_file_is_known(student: Student, tree: Path) -> None:
    assert student.relative(str(tree / "shown"), "file") == ((errno.ENOENT, ""), (errno.EPERM, ""))
    assert student.relative(str(tree / "shown"), "../hidden/file")[0] == (errno.ENOENT, "")
    assert student.descriptor_itself(str(tree / "shown/file")) == [0, True]


def test_relative_paths_start_in_the_empty_home(student: Student) -> None:
    assert student.stat(["file", "../site"]) == [(errno.ENOENT, ""), (0, student.stat(["../site"])[0][1])]
    assert student.stat(["../../../../../etc/passwd"]) == [(errno.ENOENT, "")]


def test_modules_that_are_not_loaded_yet_can_be_imported(student: Student) -> None:
    assert student.imports() == (0.0, 1.0, 1.0)
    assert student.stat([np.__file__]) == [(0, str(os.stat(np.__file__).st_ino))]


@pytest.mark.parametrize("address", [0, 1, 2**47, 2**63 - 1, 2**63, 2**64 - 1])
def test_a_pointer_to_nowhere_is_an_error(student: Student, address: int) -> None:
    result, number = student.bad_pointer(address)
    assert result == -1
    assert number in (errno.EFAULT, errno.ENOENT)


@pytest.mark.parametrize("length", [4095, 4096, 100_000])
def test_a_path_that_is_too_long_is_an_error(student: Student, length: int) -> None:
    assert student.stat(["/" * length])[0][0] in (errno.ENAMETOOLONG, errno.ENOENT)


def test_a_guest_that_asks_for_ever_is_stopped_and_holds_nobody_up(zygote: Zygote) -> None:
    with GuestRunner(zygote, "ps1.py", SOURCE, Limits(call_seconds=0.3)) as runner:
        runner.load()
        with pytest.raises(Stopped, match=r"`for_ever` did not finish within 0\.[39] s"):
            Student(runner).for_ever("/etc/passwd")
        assert Student(runner).stat(["/etc/passwd"]) == [(errno.ENOENT, "")]
