"""postgres: what a query finds in a PostgreSQL database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcdsl.formats.duckdb import QueryOptions
from sdcdsl.vocabulary.formats import Reader

if TYPE_CHECKING:
    from sdcdsl.bind.readers.records import ColumnSelection, Reading, Records
    from sdcdsl.diagnostics import Diagnostic


def read(name: str, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.postgres_data import read_postgres

    return read_postgres(name, selection, reading)


READER = Reader(
    "postgres",
    "what a query finds in a PostgreSQL database; the environment says where it is",
    QueryOptions,
    read,
    no_file=True,
    digest_of_records=True,
)
