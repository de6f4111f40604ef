"""Records from DuckDB, in process: of a database file, or of a Parquet or CSV file that DuckDB reads.

A policy may come from anybody. So the file is opened for reading only, nothing else on the disk or on the network can
be reached, the query is one that selects, and nothing is written to disk for want of memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from sdcdsl.bind.readers.file_kinds import kind_of
from sdcdsl.bind.readers.libraries import missing_library
from sdcdsl.bind.readers.queries import columns_of, no_query, query_failed
from sdcdsl.bind.readers.records import ROW, ColumnSelection, Reading, Records, missing_columns, records_of
from sdcdsl.bind.readers.text_files import unopenable
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic

TABLE = "records"  # what a file that is no database is called in queries


def read_duckdb(path: Path, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    name = str(path)
    if problems := unopenable(path):
        return None, problems
    try:
        import duckdb  # noqa: PLC0415
    except ImportError:
        return None, [missing_library("duckdb", "duckdb", "databases of DuckDB", reading.span)]
    query, wrong = no_query(reading, TABLE if kind_of(path) != "duckdb" else None)
    if query is None:
        return None, wrong
    connection = duckdb.connect()
    try:
        try:
            _open(connection, path)
        except duckdb.Error:
            return None, [diagnostic("SDC302", f"cannot open {name}: it is not a whole database", FilePlace(name))]
        return _selected(connection, query, name, selection, reading)
    finally:
        connection.close()


class _Stream:
    """What polars reads by Arrow's own way. A relation itself it knows by another, which leaves objects of DuckDB
    behind that it complains about when the program ends."""

    def __init__(self, relation: Any):
        self._relation = relation

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._relation.__arrow_c_stream__(requested_schema)


def _open(connection: Any, path: Path) -> None:
    """The only file that there is, from here on."""
    place = "'" + str(path.resolve()).replace("'", "''") + "'"
    connection.execute("SET temp_directory = ''")
    connection.execute("SET autoinstall_known_extensions = false")
    kind = kind_of(path)
    if kind == "duckdb":
        connection.execute(f"ATTACH {place} AS the_database (READ_ONLY)")
        connection.execute("USE the_database")
    else:
        connection.execute(f"SET allowed_paths = [{place}]")
        # Codes are text: 01 is not 1.
        source = f"read_parquet({place})" if kind == "parquet" else f"read_csv({place}, all_varchar = true)"
        connection.execute(f"CREATE VIEW {TABLE} AS SELECT * FROM {source}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _selected(
    connection: Any, query: str, name: str, selection: ColumnSelection, reading: Reading
) -> tuple[Records | None, list[Diagnostic]]:
    import duckdb  # noqa: PLC0415

    try:
        statements = connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            headline = "the query is more than one that selects"
            return None, [diagnostic("SDC302", headline, reading.span, help='query "select … from …"')]
        names = connection.sql(query).columns
        if missing := missing_columns(names, f"the query on {name}", selection):
            return None, missing
        wanted = columns_of(selection, names)
        frame = pl.DataFrame(_Stream(connection.sql(f"SELECT {wanted} FROM ({query}\n)")))
    except duckdb.Error as error:
        # What names things of the policy may be read by everybody; what names entries of the data may not.
        said = isinstance(error, duckdb.CatalogException | duckdb.BinderException | duckdb.ParserException)
        return None, [query_failed(name, str(error), said or isinstance(error, duckdb.PermissionException), reading)]
    return records_of(frame.lazy().with_row_index(ROW, offset=1), f"the query on {name}", selection)
