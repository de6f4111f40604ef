"""Several files as one: a folder of partitions, or all that a pattern matches.

Each file is read and checked by itself, so that what is wrong with it is said with its name, and gives the columns that
were required with the same types. A folder called `year=2025` says what stands in column `year` of the files below it
(the partitions of Hive); what the path says wins over a column of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from sdcdsl.bind.readers.records import ROW, ColumnSelection, Records
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic

Read = Callable[[Path, ColumnSelection], tuple[Records | None, list[Diagnostic]]]
NO_ENTRY = "__HIVE_DEFAULT_PARTITION__"


def read_several(
    paths: Sequence[Path], name: str, selection: ColumnSelection, read: Read, folder: Path | None = None
) -> tuple[Records | None, list[Diagnostic]]:
    """`name` is what the policy calls them, `folder` the one whose folders below say something about their files."""
    parts: list[Records] = []
    files: list[tuple[int, str]] = []
    found: list[Diagnostic] = []
    empty: list[Diagnostic] = []
    before = 0
    for path in paths:
        records, problems = _read_one(path, selection, read, folder)
        if records is None:
            # A partition without rows is nothing to worry about beside others.
            (empty if all(p.code == "SDC308" for p in problems) else found).extend(problems)
            continue
        found += problems
        parts.append(replace(records, frame=records.frame.with_columns(pl.col(ROW).cast(pl.UInt64) + before)))
        files.append((before, records.name))
        before += int(records.frame.select(pl.col(ROW).max()).collect(engine="streaming").item())
    if found:
        return None, found
    if not parts:
        return None, empty[:1] or [diagnostic("SDC308", f"{name} has no rows", FilePlace(name))]
    if len(paths) == 1:
        return replace(parts[0], name=files[0][1]), []
    return Records(name, pl.concat([part.frame for part in parts]), parts[0].lines, tuple(files)), []


def _read_one(
    path: Path, selection: ColumnSelection, read: Read, folder: Path | None
) -> tuple[Records | None, list[Diagnostic]]:
    said = {key: entry for key, entry in _said_by(path, folder).items() if key in selection.columns}
    if not said:
        return read(path, selection)
    rest = replace(
        selection,
        codes=[c for c in selection.codes if c not in said],
        numbers=[c for c in selection.numbers if c not in said],
    )
    records, problems = read(path, rest)
    if records is None:
        return None, problems
    columns: list[pl.Expr] = []
    for key, entry in said.items():
        if key in selection.codes:
            columns.append(pl.lit(entry, dtype=pl.String).alias(key))
            continue
        try:
            columns.append(pl.lit(None if entry is None else float(entry), dtype=pl.Float64).alias(key))
        except ValueError:
            headline = f"text where a number belongs, in the folder `{key}={entry}` of {path}"
            return None, [diagnostic("SDC306", headline, FilePlace(str(path)))]
    return replace(records, frame=records.frame.with_columns(columns).select(ROW, *selection.columns)), problems


def _said_by(path: Path, folder: Path | None) -> dict[str, str | None]:
    if folder is None or not path.is_relative_to(folder):
        return {}
    pairs = (part.split("=", 1) for part in path.relative_to(folder).parts[:-1] if "=" in part)
    return {unquote(key): None if entry == NO_ENTRY else unquote(entry) for key, entry in pairs}
