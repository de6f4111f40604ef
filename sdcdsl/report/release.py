"""Released tables on their way to a file: staged within its folder, renamed into place when everything is there."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from sdcdsl.bind.options import option_values
from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.ordinary_files import sha256
from sdcdsl.pattern import Pattern
from sdcdsl.policy import document as d
from sdcdsl.registry import PluginFailed, load
from sdcdsl.report import journal, staging
from sdcdsl.report.journal import BACK, FOLDERS, FORWARD, OF, FileMove, is_folder, settle
from sdcdsl.report.staging import Busy, Staging, folder_to_disk, to_disk
from sdcdsl.vocabulary.formats import WRITERS

INTERNAL = "internal"  # the folder, within that of a release, for what is not to be published
NOT_FOR_GIT = ".gitignore"


def write_table(problem: TableProblem, pattern: Pattern, table: str, file: d.FileReference, path: Path) -> None:
    """One table into `path`; some formats put more files beside it (`companions`)."""
    writer = WRITERS[file.format]
    options = option_values(file.options, writer.options)
    WRITERS.call(writer.name, load(writer.write), problem, pattern, table, path, **options)
    if not path.is_file():
        raise PluginFailed(f"the plug-in `{writer.name}` (writers) wrote no file")


def companions(format: str, path: Path, dimensions: Sequence[str]) -> list[Path]:
    """Files that a release in this format may put beside `path`."""
    beside = WRITERS[format].beside
    return WRITERS.call(format, load(beside), path, list(dimensions)) if beside is not None else []


def leads_out(path: Path, folder: Path) -> bool:
    """Whether a file that a policy names would stand somewhere else than below `folder`: through links, since a policy
    cannot climb. A link in the place of the file itself is replaced, not followed."""
    try:
        return not path.parent.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # links in a circle lead nowhere, which shows when something is written
        return False


def keep_from_git(staged: Staged, folder: Path) -> None:
    """`git add` takes nothing of it, unless somebody has said otherwise there."""
    if not os.path.lexists(folder / NOT_FOR_GIT):
        staged.beside(folder / NOT_FOR_GIT).write_text("*\n", encoding="utf-8")


@dataclass
class _Slot:
    """A folder of its own within a staging folder: one file with what its writer puts beside it, or a new folder."""

    folder: Path  # where its entries go
    number: int
    new_folder: str | None
    last_used: int = 0

    @property
    def path(self) -> Path:
        return self.folder / staging.NAME / str(self.number)


class Staged:
    """Files that are written and do not have their names yet: all get them, or none, also if the process is killed.

    What will be `folder/name` is written into the staging folder of `folder`, under its own name: names have a largest
    length, writers look at endings, and whatever a writer puts beside its file comes along. Folders that are not there
    yet are made in the staging folder of the nearest one above them that is.
    """

    def __init__(self) -> None:
        self._held: dict[Path, Staging] = {}  # by folder; the first has the journal
        self._slots: list[_Slot] = []
        self._files = 0
        self.settled: list[Diagnostic] = []  # about releases that were interrupted before

    def reserve(self, paths: Iterable[Path]) -> None:
        """What will be written, as far as it is known: releases to the same folders then wait for each other in good
        order. The journal will lie in the folder of the first."""
        self._hold([_existing(path.parent) for path in paths])

    def beside(self, path: Path, *, confidential: bool = False) -> Path:
        """Where to write what will be `path`. What is confidential gets a mode that lets only its owner read it."""
        folder = _existing(path.parent)
        below = path.relative_to(folder)
        self._hold([folder])
        part = self._slot(folder.resolve(), below).path / below
        part.parent.mkdir(parents=True, exist_ok=True)
        if confidential:
            part.touch(mode=0o600)  # whoever writes to it keeps the mode
        return part

    def files(self) -> list[tuple[Path, Path]]:
        """Every file that was written so far: where it is now, and where it will stand."""
        return [
            (file, slot.folder / file.relative_to(slot.path))
            for slot in self._slots
            for file in sorted(slot.path.rglob("*"))
            if not is_folder(file)
        ]

    def rename(self) -> None:
        """Either all files have their names afterwards, or the folders are as they were and there is an OSError."""
        moves = list(self._moves())
        if not moves:
            return
        base, *others = self._held.values()
        for move in moves:
            if is_folder(move.final):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(move.final))
        for slot in self._slots:
            _to_disk_with_all_below(slot.path)
        for held in (base, *others):
            folder_to_disk(held.path)
        try:
            journal.write(base, others, moves)
            journal.put_in_place(moves)
        except BaseException:
            if self.unfinished:
                journal.turn(base)
                journal.take_back(moves)  # if that fails, too, the next command tries
                journal.close(base)
            raise
        with suppress(OSError):  # all is done, and whoever finds the journal sees that
            journal.close(base)
        self.discard()

    @property
    def unfinished(self) -> bool:
        """Whether there is a journal, which the next command has to deal with."""
        return any(os.path.lexists(held.path / name) for held in self._held.values() for name in (FORWARD, BACK))

    def discard(self) -> None:
        """Takes away what has no name yet."""
        keep = self.unfinished
        for held in reversed(self._held.values()):  # the first one knows of the others
            with suppress(OSError):
                held.let_go() if keep else held.remove()
        self._held.clear()
        self._slots.clear()

    # ---- staging folders -----------------------------------------------------------------------------

    def _hold(self, folders: Iterable[Path]) -> None:
        """All of them or none: who holds some and waits for others may wait for somebody who waits for him."""
        needed = [folder for folder in dict.fromkeys(f.resolve() for f in folders) if folder not in self._held]
        until = monotonic() + staging.PATIENCE
        while needed:
            for folder in needed:
                self._settle(folder)
            taken: list[Path] = []
            try:
                for folder in needed:
                    self._take(folder)
                    taken.append(folder)
                return
            except Busy:
                for folder in reversed(taken):
                    self._held.pop(folder).remove()
                if monotonic() > until:
                    raise
            sleep(random.uniform(0.01, 0.1))

    def _settle(self, folder: Path) -> None:
        found = settle(folder)
        self.settled += found
        if has_errors(found):
            raise OSError(errno.EBUSY, found[-1].headline, str(folder))

    def _take(self, folder: Path) -> None:
        base = next(iter(self._held.values()), None)
        if base is not None:  # said before it is made, so that it is found after a kill
            others = [other for other in self._held if other != base.folder]
            base.write(FOLDERS, [_way(base.folder, other) for other in (*others, folder)])
        found = staging.hold(folder, make=True, wait=False)
        assert found is not None
        if not found.empty:  # somebody was killed there a moment ago
            found.let_go()
            raise Busy(errno.EBUSY, "an unfinished release is there", str(folder))
        self._held[folder] = found
        if base is not None:
            found.write(OF, {"base": _way(folder, base.folder), "inode": base.inode})

    def _slot(self, folder: Path, below: Path) -> _Slot:
        """Files of a folder that is not there yet share one."""
        new_folder = below.parts[0] if len(below.parts) > 1 else None
        known = (slot for slot in self._slots if new_folder and (slot.folder, slot.new_folder) == (folder, new_folder))
        slot = next(known, None)
        if slot is None:
            slot = _Slot(folder, len(self._slots), new_folder)
            slot.path.mkdir(mode=0o700)
            self._slots.append(slot)
        self._files += 1
        slot.last_used = self._files
        return slot

    def _moves(self) -> Iterator[FileMove]:
        """Where the last file goes is the last of them."""
        number = 0
        for slot in sorted(self._slots, key=lambda slot: slot.last_used):
            for entry in sorted(slot.path.iterdir()):
                below = sorted(p for p in entry.rglob("*") if not is_folder(p)) if is_folder(entry) else [entry]
                digests = {"" if p == entry else p.relative_to(entry).as_posix(): sha256(p) for p in below}
                yield FileMove(number, slot.folder, slot.number, entry.name, digests)
                number += 1


def _existing(folder: Path) -> Path:
    """The folder itself, or the nearest above it that is there."""
    return next((p for p in (folder, *folder.parents) if p.exists()), folder)


def _way(start: Path, to: Path) -> str:
    """So that both can be moved together; on another drive there is no such way."""
    try:
        return os.path.relpath(to, start)
    except ValueError:
        return str(to)


def _to_disk_with_all_below(path: Path) -> None:
    if not is_folder(path):
        to_disk(path)
        return
    for entry in path.iterdir():
        _to_disk_with_all_below(entry)
    folder_to_disk(path)
