"""Parquet as records, kept lazy: the file is scanned for what is wrong with it, but never held in memory."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sdcdsl.bind.readers.records import ROW, ColumnSelection, Records, records_of
from sdcdsl.bind.readers.text_files import unopenable
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic

# A damaged file can also make the Rust side panic, which arrives as a BaseException of its own.
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def read_parquet(path: Path, selection: ColumnSelection) -> tuple[Records | None, list[Diagnostic]]:
    name = str(path)
    if problems := unopenable(path):
        return None, problems
    try:
        # Without glob, or `a[1].parquet` would be a pattern.
        scan = pl.scan_parquet(path, glob=False, hive_partitioning=False, row_index_name=ROW, row_index_offset=1)
        return records_of(scan, name, selection)
    except UNREADABLE:
        return None, [diagnostic("SDC302", f"cannot read {name}: it is not a whole Parquet file", FilePlace(name))]
