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

from autograder.intake.entries import shown

_COMMIT = re.compile(r"[0-9a-f]{40}")
_BRANCH = re.compile(r"refs/heads/[A-Za-z0-9][A-Za-z0-9._/+-]{0,200}")
SECONDS = 10
MAX_BYTES = 2**20


class TimeUnknown(Exception):
    """A repository does not tell when a file was committed: why, and what to do."""

    def __init__(self, problem: str, remedy: str = "clone it again") -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


def commit_time(repository: Path, file: str) -> datetime.datetime:
    """The time of the last commit that changed `file`, as the commit says. Raises `TimeUnknown` if git cannot tell."""
    git = repository / ".git"
    objects = git / "objects"
    if any(path.is_symlink() or not path.is_dir() for path in (git, objects)):
        raise TimeUnknown("the clone's .git is no folder with objects of its own")
    head = _head(git)
    if head is None:
        raise TimeUnknown("the clone's HEAD names no commit")
    ends = _shallow(git)
    with tempfile.TemporaryDirectory(prefix="course-git-") as own:
        for folder in ("objects", "refs"):
            (Path(own) / folder).mkdir()
        (Path(own) / "HEAD").write_text("ref: refs/heads/none\n")
        if ends:
            (Path(own) / "shallow").write_text("".join(f"{commit}\n" for commit in ends))
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{_quoted(objects)}"',
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }

        def git_says(*arguments: str) -> bytes:
            command = ["git", f"--git-dir={own}", "--no-pager", *arguments]
            return subprocess.run(
                command, cwd=own, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=True
            ).stdout

        try:
            said = git_says("log", "-1", "--format=%H %ct", "--no-show-signature", head, "--", file).decode()
            if not said.strip():
                raise TimeUnknown(f"no commit of the clone holds {shown(file)}")
            commit, seconds = said.split()
            # Where history is cut off, a commit seems to have made all its files; so does one that truly has no parent.
            is_cut = commit in ends and b"\nparent " in git_says("cat-file", "commit", commit).partition(b"\n\n")[0]
            moment = datetime.datetime.fromtimestamp(int(seconds), datetime.UTC)
        except FileNotFoundError:
            raise TimeUnknown("there is no git here to read the clone", "install git") from None
        except (OSError, subprocess.SubprocessError, ValueError, OverflowError):
            raise TimeUnknown("git cannot read the clone") from None
    if is_cut:
        raise TimeUnknown("the clone is shallow and does not tell the time", "run `git fetch --unshallow` in it")
    return moment


def _shallow(git: Path) -> list[str]:
    """The commits at which a shallow clone ends, as far as they are commits."""
    return [line for line in _small_text(git / "shallow").split() if _COMMIT.fullmatch(line)]


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
