"""The staging folder: where files lie that do not have their names yet, within the folder they are for.

It has one fixed name, so that whoever comes next finds it, and a file in it that the process at work locks (`flock`):
the lock goes when the process ends, however it ends. What lies in an unlocked staging folder was left behind.
"""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from sdcdsl.ordinary_files import open_ordinary

try:
    import fcntl
except ImportError:  # a system without `flock`: two releases to one folder at a time are not kept apart
    fcntl = None

NAME = ".sdcdsl-release"
PATIENCE = 300.0  # seconds to wait for somebody else's release to the same folder
LARGEST = 16_000_000  # bytes of a file about a release
_UNSUPPORTED = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOLCK)


class Busy(OSError):
    """Another process works in this folder."""


class Staging:
    """The staging folder of `folder`, held by this process until `remove` or `let_go`."""

    def __init__(self, folder: Path, handle: int, *, locked: bool) -> None:
        self.folder, self._handle, self.locked = folder, handle, locked

    @property
    def path(self) -> Path:
        return self.folder / NAME

    @property
    def inode(self) -> int:
        return self.path.stat().st_ino

    @property
    def empty(self) -> bool:
        return [entry.name for entry in os.scandir(self.path)] == ["lock"]

    def read(self, name: str) -> Any:
        """A file about the release; None if there is none. ValueError if it is no JSON."""
        return read(self.path / name)

    def write(self, name: str, content: Any) -> None:
        """Whole or not at all, also if the power fails."""
        new = self.path / f"{name}.new"
        with new.open("w", encoding="utf-8") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.path / name)
        folder_to_disk(self.path)

    def remove(self) -> None:
        """With all that is in it; the lock goes last."""
        try:
            for entry in list(os.scandir(self.path)):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                elif entry.name != "lock":
                    os.unlink(entry.path)
            (self.path / "lock").unlink(missing_ok=True)
            with suppress(OSError):  # the next one is waiting in it
                self.path.rmdir()
        finally:
            self.let_go()

    def let_go(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1


def stands(folder: Path) -> bool:
    return os.path.lexists(folder / NAME)


def hold(folder: Path, *, make: bool, wait: bool = True) -> Staging | None:
    """Makes or takes the staging folder of `folder`; None if there is none and none is to be made."""
    path, until = folder / NAME, monotonic() + PATIENCE
    while True:
        if make:
            with suppress(FileExistsError):
                path.mkdir(mode=0o700)  # what is not released yet is for nobody else
        elif not os.path.lexists(path):
            return None
        try:
            _ours(path)
            handle = os.open(path / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except FileNotFoundError:
            if make and not folder.is_dir():
                raise
            continue  # somebody has just removed it
        locked = _lock(handle)
        if locked is None or (locked and _still(handle, path / "lock")):
            return Staging(folder, handle, locked=bool(locked))
        os.close(handle)
        if not locked and (not wait or monotonic() > until):
            raise Busy(errno.EBUSY, "another process is writing a release there", str(folder))
        sleep(random.uniform(0.01, 0.05))


def _ours(path: Path) -> None:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, f"{NAME} is no folder", str(path))
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "another user's release is under way there, or was interrupted", str(path))


def _lock(handle: int) -> bool | None:
    """Whether nobody else has it; None where the file system cannot tell."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return None
        os.close(handle)
        raise
    return True


def _still(handle: int, path: Path) -> bool:
    """Whoever held it before may have removed it: then there is another one, or none."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def read(path: Path) -> Any:
    try:
        with open_ordinary(path) as file:
            raw = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    if len(raw) > LARGEST:
        raise ValueError(f"{path.name} is larger than {LARGEST:,} bytes")
    try:
        return json.loads(raw)
    except RecursionError:
        raise ValueError(f"{path.name} is nested too deeply") from None


def to_disk(path: Path) -> None:
    """A name must not stand for a file whose content a power failure took away."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def folder_to_disk(path: Path) -> None:
    """Names of a folder; file systems and systems that cannot do that are left to their own ways."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # a folder that may be written and not read; or a system that opens no folders
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(handle)
