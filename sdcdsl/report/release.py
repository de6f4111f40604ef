"""Released tables on their way to a file: written beside it, renamed into place when everything is there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sdcdsl.bind.options import option_values
from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.policy import document as d
from sdcdsl.released.to_argus import files_beside, write_release_argus
from sdcdsl.released.to_jj import write_release_jj
from sdcdsl.released.to_sdmx import write_release_sdmx
from sdcdsl.released.write import write_release_csv, write_release_parquet
from sdcdsl.vocabulary.formats import RELEASES

WRITERS: MappingProxyType[str, Callable[..., None]] = MappingProxyType(
    {
        "csv": write_release_csv,
        "parquet": write_release_parquet,
        "sdmx": write_release_sdmx,
        "jj": write_release_jj,
        "argus": write_release_argus,
    }
)


def write_table(problem: TableProblem, pattern: Pattern, table: str, file: d.FileReference, path: Path) -> None:
    """One table into `path`; some formats put more files beside it (`companions`)."""
    options: dict[str, Any] = option_values(file.options, RELEASES[file.format].options)
    WRITERS[file.format](problem, pattern, table, path, **options)


def companions(format: str, path: Path, dimensions: Sequence[str]) -> list[Path]:
    """Files that a release in this format may put beside `path`."""
    return files_beside(path, list(dimensions)) if format == "argus" else []


def leads_out(path: Path, folder: Path) -> bool:
    """Whether a file that a policy names would stand somewhere else than below `folder`: through links, since a policy
    cannot climb. A link in the place of the file itself is replaced, not followed."""
    try:
        return not path.parent.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # links in a circle lead nowhere, which shows when something is written
        return False


@dataclass(frozen=True)
class _Move:
    """One file that has its name: what stood there before, if anything did."""

    path: Path
    before: Path | None


class Staged:
    """Files that are written and do not have their names yet: all get them, or none.

    What will be `folder/name` is written to a folder of its own within `folder`, under its own name: names have a
    largest length, writers look at endings, and whatever a writer puts beside its file comes along.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[Path, Path]] = []  # where it is written, where it goes
        self._made: list[Path] = []  # folders that were not there

    def beside(self, path: Path, *, confidential: bool = False) -> Path:
        """Where to write what will be `path`. What is confidential gets a mode that lets only its owner read it."""
        for folder in [p for p in (path.parent, *path.parent.parents) if not p.exists()][::-1]:
            folder.mkdir(exist_ok=True)
            self._made.append(folder)
        room = path.parent / f".{os.getpid()}-{len(self._waiting)}.part"
        shutil.rmtree(room, ignore_errors=True)  # of a process that had the same number and ended badly
        room.mkdir(mode=0o700)  # others have no business with what is not released yet
        part = room / path.name
        if confidential:
            part.touch(mode=0o600)  # whoever writes to it keeps the mode
        self._waiting.append((part, path))
        return part

    def files(self) -> list[tuple[Path, Path]]:
        """Every file that was written so far: where it is now, and where it will stand."""
        rooms = ((part.parent, path.parent) for part, path in self._waiting)
        return [(file, folder / file.name) for room, folder in rooms for file in sorted(room.iterdir())]

    def rename(self) -> None:
        """Either all files have their names afterwards, or the folders are as they were and there is an OSError."""
        files = self.files()
        for part, _ in files:
            _to_disk(part)
        done: list[_Move] = []
        try:
            for number, (part, path) in enumerate(files):
                before = _put_aside(path, part.parent / f".before-{number}")
                done.append(_Move(path, before))
                os.replace(part, path)
        except OSError:
            for move in reversed(done):
                _undo(move)
            raise
        self._made.clear()
        self.discard()

    def discard(self) -> None:
        """Takes away what has no name yet, and folders that were made for it."""
        for part, _ in self._waiting:
            shutil.rmtree(part.parent, ignore_errors=True)
        self._waiting.clear()
        for folder in reversed(self._made):
            with suppress(OSError):  # somebody else has put something there
                folder.rmdir()
        self._made.clear()


def _put_aside(path: Path, kept: Path) -> Path | None:
    """A second name for what stands at `path`, so that it can come back; the first one stays."""
    if not os.path.lexists(path) or (path.is_dir() and not path.is_symlink()):
        return None  # nobody renames a file onto a folder
    try:
        os.link(path, kept, follow_symlinks=False)
    except OSError:  # file systems without second names
        shutil.copy2(path, kept, follow_symlinks=False)
    return kept


def _undo(move: _Move) -> None:
    with suppress(OSError):
        if move.before is not None:
            os.replace(move.before, move.path)
        elif not move.path.is_dir():
            move.path.unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    """A name must not stand for a file whose content a power failure took away."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
