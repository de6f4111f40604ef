"""duckdb: what a query finds in a DuckDB database, or in a Parquet or CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.record import Record, record
from sdcdsl.vocabulary.formats import Reader
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.readers.records import ColumnSelection, Reading, Records
    from sdcdsl.diagnostics import Diagnostic


@record
class QueryOptions(Record):
    query: Any = option(Kind.TEXT, "the query in SQL, which may only select", None)
    table: Any = option(Kind.TEXT, "the table, instead of a query", None)
    decimal: Any = option(Kind.TEXT, "the decimal sign of numbers that are held as text", ".")
    missing: Any = option(Kind.TEXT, "what a missing value looks like in a text", "")


def read(path: Path, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.duckdb_data import read_duckdb

    return read_duckdb(path, selection, reading)


READER = Reader(
    "duckdb",
    "what a query finds in a DuckDB database, or in a Parquet or CSV file",
    QueryOptions,
    read,
    holds=("duckdb", "parquet", "text", "gzip", "zstd"),
    digest_of_records=True,
)
