"""Files that are there whole or not at all, and outlast a power cut, on file systems with hard links and without."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

UNFINISHED = ".writing-"
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def write_new(path: Path, data: bytes) -> bool:
    """Write a file and tell whether its name was free. After a crash it is there whole, or not at all."""
    make_folder(path.parent)
    temporary = path.parent / f"{UNFINISHED}{secrets.token_hex(8)}"
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(temporary, path)  # unlike a rename, this fails if the name is taken
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # Some file systems have no hard links. Writers of a journal hold its lock, so nobody takes the name meanwhile.
            if path.exists():
                return False
            temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)
    return True


def make_folder(folder: Path) -> None:
    """Make a folder and all above it that are missing, each entered in its parent for good."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


def sync(folder: Path) -> None:
    """Make a folder's entries outlast a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # file systems that cannot do this for a folder say so
            raise
    finally:
        os.close(handle)
