"""Zip files that depend on their content only."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Mapping

# The oldest date a zip file can hold.
DATE = (1980, 1, 1, 0, 0, 0)


def archive(files: Mapping[str, bytes], executable: Collection[str] = ()) -> bytes:
    """A zip of `files`, by path: the same bytes for the same content. Those named in `executable` can be run."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, so that the mode is kept
            entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
            zipped.writestr(entry, files[name])
    return buffer.getvalue()
