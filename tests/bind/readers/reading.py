"""Records from a file or a text, by what they look like."""

from __future__ import annotations

from pathlib import Path

from sdcdsl.bind.readers.csv_records import read_csv
from sdcdsl.bind.readers.parquet_records import read_parquet
from sdcdsl.bind.readers.records import ColumnSelection, Records
from sdcdsl.diagnostics import Diagnostic, Source


def read_records(
    source: Path | Source, selection: ColumnSelection, *, delimiter: str | None = None, encoding: str | None = None
) -> tuple[Records | None, list[Diagnostic]]:
    if isinstance(source, Path) and source.suffix.lower() in (".parquet", ".pq"):
        return read_parquet(source, selection)
    return read_csv(source, selection, delimiter=delimiter, encoding=encoding)
