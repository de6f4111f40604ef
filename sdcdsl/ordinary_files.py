"""Opening files that others have named: ordinary ones only.

A pipe would keep the program waiting, `/dev/zero` would fill its memory. What was opened is asked, not the name:
whatever stands there a moment later makes no difference.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_ordinary(path: Path | str) -> BinaryIO:
    """As `open(path, "rb")`; OSError for folders, pipes, sockets and devices."""
    # Without O_NONBLOCK the opening of a pipe alone waits for somebody to write.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    kind = os.fstat(handle).st_mode
    if stat.S_ISREG(kind):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "Not an ordinary file", str(path))


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
