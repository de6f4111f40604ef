"""parquet: Apache Parquet, of data and of releases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sdcdsl.formats.csv import LabelledOptions
from sdcdsl.vocabulary.formats import Reader, Writer

if TYPE_CHECKING:
    from sdcdsl.bind.readers.records import ColumnSelection, Reading, Records
    from sdcdsl.diagnostics import Diagnostic


def read(path: Path, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.parquet_records import read_parquet

    return read_parquet(path, selection)


READER = Reader("parquet", "Apache Parquet", read=read, suffix=".parquet", late=True, holds=("parquet",))
WRITER = Writer("parquet", "Apache Parquet", LabelledOptions, "sdcdsl.released.write:write_release_parquet")
