"""Where the files of a policy lie: beside the policy, unless the person who runs it says otherwise."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from sdcdsl.diagnostics import Diagnostic, Span, diagnostic, did_you_mean

PACKED = ("", ".gz", ".zst")  # what a file of a folder may end in behind the ending of its format


@dataclass(frozen=True)
class Content:
    """Records that no file holds."""

    origin: str  # a data frame, or the database: in words, and without secrets
    sha256: str  # of what was read


@dataclass(frozen=True)
class FileLocations:
    """`instead` maps names of data, dimensions and tables to files given on the command line (`--data NAME=PATH`),
    `frames` names of data to data frames given in Python."""

    folder: Path
    instead: Mapping[str, Path] = field(default_factory=dict)
    allow_outside: bool = False
    frames: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def note(self, name: str, content: Content) -> None:
        """What was read for `name`, where it was no file."""

    def find(self, name: str, path: str, span: Span | None) -> tuple[Path | None, list[Diagnostic]]:
        """The file to read for `name`, which the policy calls `path`."""
        if name in self.instead:
            return self.instead[name], []
        target = self.folder / path
        if not self.allow_outside and not target.resolve().is_relative_to(self.folder.resolve()):
            outside = diagnostic(
                "SDC140",
                f'"{path}" leads out of the policy\'s folder',
                span,
                help=f"name the file when running: --data {name}=PATH",
            )
            return None, [outside]
        if not target.is_file():
            siblings = [p.name for p in target.parent.iterdir()] if target.parent.is_dir() else []
            near = did_you_mean(target.name, siblings)
            headline = f'there is no file "{path}"'
            help = f"name another file when running: --data {name}=PATH"
            return None, [diagnostic("SDC302", headline, span, near, help=help)]
        return target, []

    def called(self, name: str, path: str) -> str:
        """What the files of `name` are called, by the policy or by who runs it."""
        return str(self.instead[name]) if name in self.instead else path

    def folder_of(self, name: str, path: str) -> Path:
        """The folder itself, or the one before the first part of a pattern that is one."""
        target = self.instead.get(name, self.folder / path)
        before = list(target.parts)
        first = next((i for i, part in enumerate(before) if is_pattern(part)), len(before))
        return Path(*before[:first])

    def find_all(self, name: str, path: str, span: Span | None, suffix: str) -> tuple[list[Path], list[Diagnostic]]:
        """The files to read for `name`: one; all that a pattern with `*`, `?` or `[…]` matches; or, of a folder, all in
        it and below that end in `suffix`. In the order of their paths, whatever order the system lists them in."""
        target = self.instead.get(name, self.folder / path)
        if name in self.instead:
            path = str(target)
        if target.is_dir():
            named = (file for packed in PACKED for file in target.rglob(f"*{suffix}{packed}"))
            files = [file for file in named if not _put_aside(file, target)]
        elif is_pattern(path) and not target.is_file():
            files = _matching(target)
        else:
            found, problems = self.find(name, path, span)
            return ([found] if found is not None else []), problems
        files = sorted((file for file in files if file.is_file()), key=lambda file: file.parts)
        home = self.folder.resolve()
        free = self.allow_outside or name in self.instead
        outside = [file for file in files if not free and not file.resolve().is_relative_to(home)]
        if outside or not (free or target.resolve().is_relative_to(home)):
            headline = f'"{path}" leads out of the policy\'s folder'
            help = f"name the files when running: --data {name}=PATH"
            return [], [diagnostic("SDC140", headline, span, notes=[str(file.name) for file in outside[:3]], help=help)]
        if not files:
            headline = f'no file in "{path}" ends in {suffix}' if target.is_dir() else f'no file matches "{path}"'
            help = f"name other files when running: --data {name}=PATH"
            return [], [diagnostic("SDC302", headline, span, help=help)]
        return files, []

    def would_find(self, name: str, path: str, file: Path, suffix: str) -> bool:
        """Whether `file`, once it is there, is among the files of a folder or of a pattern."""
        target, file = self.instead.get(name, self.folder / path).absolute(), file.absolute()
        if target.is_dir():
            return (
                file.is_relative_to(target)
                and file.name.endswith(tuple(suffix + packed for packed in PACKED))
                and not _put_aside(file, target)
            )
        if not is_pattern(path) or target.is_file():
            return False
        if "**" in path:
            return fnmatch(str(file), str(target))
        pairs = zip(file.parts, target.parts, strict=False)
        return len(file.parts) == len(target.parts) and all(fnmatch(part, sign) for part, sign in pairs)


def is_pattern(path: str) -> bool:
    return any(sign in path for sign in "*?[")


def _matching(pattern: Path) -> list[Path]:
    """Files that a pattern matches; of the folders before its first sign nothing has to be listed."""
    parts = pattern.parts
    first = next(i for i, part in enumerate(parts) if is_pattern(part))
    try:
        return list(Path(*parts[:first]).glob(str(Path(*parts[first:]))))
    except (ValueError, OSError):  # `a**b` is no pattern
        return []


def _put_aside(file: Path, folder: Path) -> bool:
    """What programs leave beside the data, such as `_temporary/…` and `.part.parquet.crc`."""
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


@dataclass(frozen=True)
class RecordedLocations(FileLocations):
    """Keeps in mind which data files were read, for certificates and locks."""

    read: dict[str, Path] = field(default_factory=dict)
    digests: dict[Path, str] = field(default_factory=dict)
    contents: dict[str, Content] = field(default_factory=dict)

    def note(self, name: str, content: Content) -> None:
        self.contents[name] = content
        self.read.pop(name, None)  # of a database, the rest of it is nobody's business

    def digest(self) -> None:
        """Takes the sha256 of every file that was read. A search may take hours, and files change meanwhile."""
        for path in self.read.values():
            with path.open("rb") as file:
                self.digests[path] = hashlib.file_digest(file, "sha256").hexdigest()

    def find(self, name: str, path: str, span: Span | None) -> tuple[Path | None, list[Diagnostic]]:
        found, problems = super().find(name, path, span)
        if found is not None:
            self.read[name] = found
        return found, problems

    def find_all(self, name: str, path: str, span: Span | None, suffix: str) -> tuple[list[Path], list[Diagnostic]]:
        found, problems = super().find_all(name, path, span, suffix)
        if len(found) > 1 or name not in self.read:
            self.read.update({f"{name} {number}": file for number, file in enumerate(found, 1)})
        return found, problems
