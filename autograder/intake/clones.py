"""When a file in a git repository was last committed, read without trusting the repository.

A repository's own configuration can make git run programs. So git is pointed at an empty repository of ours, which only
borrows the objects of the other: no configuration, hook or attribute of it is ever read.
"""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import tempfile
from pathlib import Path

_COMMIT = re.compile(r"[0-9a-f]{40}")
_BRANCH = re.compile(r"refs/heads/[A-Za-z0-9][A-Za-z0-9._/+-]{0,200}")
SECONDS = 10
MAX_BYTES = 2**20


def commit_time(repository: Path, file: str) -> datetime.datetime | None:
    """The time of the last commit that changed `file`, as the commit says; `None` if git cannot tell."""
    git = repository / ".git"
    objects = git / "objects"
    if any(path.is_symlink() or not path.is_dir() for path in (git, objects)):
        return None
    head = _head(git)
    if head is None:
        return None
    with tempfile.TemporaryDirectory(prefix="course-git-") as own:
        for folder in ("objects", "refs"):
            (Path(own) / folder).mkdir()
        (Path(own) / "HEAD").write_text("ref: refs/heads/none\n")
        command = ["git", f"--git-dir={own}", "--no-pager", "log", "-1", "--format=%ct", "--no-show-signature", head]
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{_quoted(objects)}"',
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }
        try:
            answer = subprocess.run(
                [*command, "--", file], cwd=own, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=SECONDS, check=True,
            )  # fmt: skip
            return datetime.datetime.fromtimestamp(int(answer.stdout), datetime.UTC)
        except (OSError, subprocess.SubprocessError, ValueError, OverflowError):
            return None


def _quoted(path: Path) -> str:
    """A path as git reads it between double quotes."""
    return str(path.resolve()).replace("\\", "\\\\").replace('"', '\\"')


def _head(git: Path) -> str | None:
    """The commit that is checked out."""
    said = _small_text(git / "HEAD").strip()
    branch = said.removeprefix("ref: ")
    if branch != said:
        if not _BRANCH.fullmatch(branch) or ".." in branch:
            return None
        said = _small_text(git / branch).strip()
        for line in _small_text(git / "packed-refs").splitlines() if not said else ():
            if line.endswith(f" {branch}"):
                said = line.partition(" ")[0]
    return said if _COMMIT.fullmatch(said) else None


def _small_text(path: Path) -> str:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
        return ""
    return path.read_text(encoding="utf-8", errors="replace")
