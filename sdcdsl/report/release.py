"""Released tables on their way to a file: written beside it, renamed into place when everything is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sdcdsl.bind.options import option_values
from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.policy import document as d
from sdcdsl.released.write import write_release_csv, write_release_parquet
from sdcdsl.vocabulary.formats import RELEASES

WRITERS: MappingProxyType[str, Callable[..., None]] = MappingProxyType(
    {"csv": write_release_csv, "parquet": write_release_parquet}
)


def write_table(problem: TableProblem, pattern: Pattern, table: str, file: d.FileReference, path: Path) -> None:
    options: dict[str, Any] = option_values(file.options, RELEASES[file.format].options)
    WRITERS[file.format](problem, pattern, table, path, **options)


class Staged:
    """Files that are written and do not have their names yet. What is not renamed is taken away again."""

    def __init__(self) -> None:
        self._waiting: dict[Path, Path] = {}

    def beside(self, path: Path) -> Path:
        """Where to write what will be `path`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        # The ending stays: writers look at it (`.gz`).
        part = path.with_name(f".{os.getpid()}.{path.name}")
        self._waiting[part] = path
        return part

    def rename(self) -> None:
        for part in self._waiting:
            _to_disk(part)
        for part, path in list(self._waiting.items()):
            os.replace(part, path)
            del self._waiting[part]

    def discard(self) -> None:
        for part in self._waiting:
            with suppress(OSError):  # what could not be written is not there
                part.unlink()
        self._waiting.clear()


def _to_disk(path: Path) -> None:
    """A name must not stand for a file whose content a power failure took away."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
