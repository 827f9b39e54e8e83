"""Pages put where a platform or a program fetches them, in folders that others may write to: no link there is followed."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path, PurePosixPath

FOLDER_FLAGS = os.O_DIRECTORY | os.O_NOFOLLOW


def put(folder: Path, name: PurePosixPath, content: bytes, mode: int = 0o640) -> Path:
    """Write a file below `folder`, whole or not at all, in place of an earlier one. Raises `OSError`, also for a link.

    A new folder lets others open files whose names they know, and list none.
    """
    if not folder.is_dir():
        folder.mkdir(parents=True)
        folder.chmod(0o711)
    here = os.open(folder, os.O_DIRECTORY)
    try:
        for part in name.parts[:-1]:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o750, dir_fd=here)
            inner = os.open(part, FOLDER_FLAGS, dir_fd=here)
            os.close(here)
            here = inner
        unfinished = f".{secrets.token_hex(8)}"
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=here)
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, mode)
                file.write(content)
            # A link of that name is replaced, not followed.
            os.rename(unfinished, name.name, src_dir_fd=here, dst_dir_fd=here)
        except BaseException:
            os.unlink(unfinished, dir_fd=here)
            raise
    finally:
        os.close(here)
    return folder / name
