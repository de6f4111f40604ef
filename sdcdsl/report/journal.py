"""The journal of a release: what stands between all of the old files and all of the new ones.

New files lie in staging folders, on disk. The journal lists them; when it has its name, the release is decided. Then
the old files go, their lock first, and the new ones get their names, their lock last; then the journal goes. Whoever is
killed on the way leaves old files or new ones, some of them missing, and never both; the next command that comes to one
of the folders finds the journal and finishes the release, or takes it back (`settle`).

A journal acts on nothing but names in a folder whose own staging folder says that it belongs to it, and only where both
were made: a journal that came along with a copy is not followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.ordinary_files import sha256
from sdcdsl.report import staging
from sdcdsl.report.staging import Staging, folder_to_disk

FORM = 1
UNSETTLED = "SDC518"
FORWARD, BACK = "journal", "undo"  # the name of the journal says which way it goes
FOLDERS = "folders"  # all other folders with a staging folder of the same release; written before they are made
OF = "of"  # in each of these: the folder that has the journal


class MalformedJournal(ValueError):
    """A journal that nobody follows; says why."""


@dataclass(frozen=True)
class FileMove:
    """One name: a file, or a folder that is new with all that is in it."""

    number: int
    folder: Path
    slot: int
    name: str
    files: Mapping[str, str]  # sha256 by the path below the name; by "" of a file

    @property
    def staged(self) -> Path:
        return self.folder / staging.NAME / str(self.slot) / self.name

    @property
    def final(self) -> Path:
        return self.folder / self.name

    @property
    def before(self) -> Path:
        """Where the old file is kept until the new one is safe."""
        return self.folder / staging.NAME / f"before-{self.number}"

    @property
    def waits(self) -> bool:
        return os.path.lexists(self.staged)

    def is_new(self, at: Path) -> bool:
        """Whether what stands at `at` is what was staged."""
        try:
            return all(_ordinary(at / path) and sha256(at / path) == digest for path, digest in self.files.items())
        except OSError:
            return False

    @property
    def can_be_finished(self) -> bool:
        if not self.waits:  # it has its name; what somebody did to it since is not ours to judge
            return os.path.lexists(self.final)
        return self.is_new(self.staged) and not is_folder(self.final)


def _ordinary(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


# ---- both ways -------------------------------------------------------------------------------------------


def put_in_place(moves: Sequence[FileMove]) -> None:
    """Old names go, then new ones come. The last move, which is that of the lock, is the first to go and the last to
    come: no lock ever stands beside files of another release. May be done again after it was interrupted."""
    pending = [move for move in moves if move.waits]
    last, others = pending[-1:], pending[:-1]
    for group in (last, others):
        for move in group:
            _clear(move)
        _folders_to_disk(group)
    for group in (others, last):
        for move in group:
            os.rename(move.staged, move.final)
        _folders_to_disk(group)


def take_back(moves: Sequence[FileMove]) -> None:
    """The other way: new names go, then old ones come."""
    for move in reversed(moves):
        if not move.waits and move.is_new(move.final):
            os.rename(move.final, move.staged)
    _folders_to_disk(moves)
    for move in moves:
        if os.path.lexists(move.before) and not os.path.lexists(move.final):
            os.rename(move.before, move.final)
    _folders_to_disk(moves)


def _clear(move: FileMove) -> None:
    if is_folder(move.final):
        raise IsADirectoryError(21, "a folder has that name", str(move.final))
    if os.path.lexists(move.final):
        os.rename(move.final, move.before)


def _folders_to_disk(moves: Sequence[FileMove]) -> None:
    for folder in dict.fromkeys(move.folder for move in moves):
        folder_to_disk(folder)


# ---- the file --------------------------------------------------------------------------------------------


def write(base: Staging, others: Sequence[Staging], moves: Sequence[FileMove]) -> None:
    """When this returns the release is decided."""
    folders = [base.folder, *(other.folder for other in others)]
    content = {
        "form": FORM,
        "inodes": [base.inode, *(other.inode for other in others)],
        "moves": [
            {"folder": folders.index(m.folder), "slot": m.slot, "name": m.name, "files": dict(m.files)} for m in moves
        ],
    }
    base.write(FORWARD, content)


def turn(base: Staging) -> None:
    """From here on the release is taken back, whoever does it."""
    os.replace(base.path / FORWARD, base.path / BACK)
    folder_to_disk(base.path)


def close(base: Staging) -> None:
    """Nothing is left to do but to tidy up."""
    for name in (FORWARD, BACK):
        (base.path / name).unlink(missing_ok=True)
    folder_to_disk(base.path)


def _moves(content: Any, held: Sequence[Staging | None]) -> Iterator[FileMove]:
    """What a journal says, as far as it is one of ours."""
    if not isinstance(content, dict) or content.get("form") != FORM:
        raise MalformedJournal(f"it is no journal of the form {FORM}")
    inodes, moves = content.get("inodes"), content.get("moves")
    if not isinstance(inodes, list) or len(inodes) != len(held) or not isinstance(moves, list):
        raise MalformedJournal("it does not say where it belongs")
    for number, move in enumerate(moves):
        required = {"folder": int, "slot": int, "name": str, "files": dict}
        if not isinstance(move, dict) or any(type(move.get(key)) is not kind for key, kind in required.items()):
            raise MalformedJournal(f"its entry {number} is no file")
        if not (0 <= move["folder"] < len(held) and move["slot"] >= 0 and _plain(move["name"])):
            raise MalformedJournal(f"its entry {number} leads out of its folder")
        own = held[move["folder"]]
        if own is None or own.inode != inodes[move["folder"]]:
            raise MalformedJournal("it was not made in this place: a copy of a folder is not followed")
        for path, digest in move["files"].items():
            if not isinstance(digest, str) or (path and not all(_plain(part) for part in path.split("/"))):
                raise MalformedJournal(f"its entry {number} leads out of its folder")
        yield FileMove(number, own.folder, move["slot"], move["name"], move["files"])


def _plain(name: str) -> bool:
    """One name in a folder."""
    return name not in ("", ".", "..", staging.NAME) and not any(sign in name for sign in "/\0")


# ---- after a kill ----------------------------------------------------------------------------------------


def settle_around(files: Iterable[Path]) -> list[Diagnostic]:
    """What is read and written next to be whole: in the folders of these files; and above them, as far as it can be
    done, since folders that were new had their files staged there."""
    found: list[Diagnostic] = []
    for folder in dict.fromkeys(path.absolute().parent for path in files):
        found += settle(folder)
        for above in folder.parents:
            found += [one for one in settle(above, wait=False) if one.code != UNSETTLED]
    return found


def settle(folder: Path, *, wait: bool = True) -> list[Diagnostic]:
    """Finishes or takes back a release to `folder` whose process was killed; waits for one that is under way."""
    if not staging.stands(folder):
        return []
    try:
        return _settled(folder.resolve(), wait)
    except staging.Busy as error:
        return [_unsettled(folder, error.strerror or "busy", "wait for it, and try again")]
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        help = f"look into {staging.NAME} there, remove it, and release again"
        return [_unsettled(folder, why, help)]


def _unsettled(folder: Path, why: str, help: str) -> Diagnostic:
    headline = f"a release to {folder.name or folder} is not finished: {why}"
    return diagnostic(UNSETTLED, headline, FilePlace(str(folder / staging.NAME)), help=help)


def _settled(folder: Path, wait: bool) -> list[Diagnostic]:
    base, others = _common_folder(folder)
    held: dict[Path, Staging] = {}
    try:
        for place in dict.fromkeys((base, *others)):
            if (found := staging.hold(place, make=False, wait=wait)) is not None:
                held[place] = found
        if not all(found.locked for found in held.values()):
            raise OSError(0, "the file system has no locks, so that nobody knows whether its process still runs")
        if _common_folder(folder) != (base, others):  # somebody was faster
            return []
        return _decided(folder, held.get(base), [held.get(other) for other in others])
    finally:
        for found in held.values():
            found.let_go()


def _common_folder(folder: Path) -> tuple[Path, list[Path]]:
    """The folder with the journal, and all others of the same release; alone, where they do not know of each other."""
    said = staging.read(folder / staging.NAME / OF)
    base = folder if said is None else _near(folder, said.get("base") if isinstance(said, dict) else None)
    if not base.is_dir():
        raise MalformedJournal(f"the folder with its journal, {base}, is not here")
    listed = staging.read(base / staging.NAME / FOLDERS) or []
    if not isinstance(listed, list):
        raise MalformedJournal(f"{FOLDERS} is no list")
    others = [_near(base, one) for one in listed]
    return (base, others) if said is None or folder in others else (folder, [])


def _near(folder: Path, path: Any) -> Path:
    if not isinstance(path, str):
        raise MalformedJournal("it does not say where it belongs")
    return Path(os.path.normpath(folder / path))


def _decided(folder: Path, base: Staging | None, others: Sequence[Staging | None]) -> list[Diagnostic]:
    if base is None:
        return []
    mine = [other if other is not None and _is_of(other, base) else None for other in others]
    forward, back = base.read(FORWARD), base.read(BACK)
    found = [] if base.empty else [_said(folder, "what was left of it is removed, nothing of it had its name", [])]
    if forward is not None or back is not None:
        moves = list(_moves(forward if forward is not None else back, [base, *mine]))
        names = [move.name for move in moves]
        if forward is not None and all(move.can_be_finished for move in moves):
            put_in_place(moves)
            found = [_said(folder, "it is finished now", names)]
        else:
            if forward is not None:
                turn(base)
            take_back(moves)
            found = [_said(folder, "it is taken back", names)]
        close(base)
    for staged in (*mine, base):
        if staged is not None:
            staged.remove()
    return found


def _is_of(other: Staging, base: Staging) -> bool:
    """Each says that it belongs to the other; or its process was killed before it could say anything."""
    said = other.read(OF)
    if said is None:
        return not any(os.path.lexists(other.path / name) for name in (FORWARD, BACK, FOLDERS))
    return isinstance(said, dict) and said.get("inode") == base.inode


def _said(folder: Path, what: str, names: Sequence[str]) -> Diagnostic:
    headline = f"a release to {folder.name or folder} was interrupted: {what}"
    return diagnostic("SDC517", headline, FilePlace(str(folder)), notes=[", ".join(names)] if names else [])
