"""Records from PostgreSQL. A policy names a connection, the environment says what it is: `SDCDSL_POSTGRES_NAME`.

The query runs in a transaction that only reads, and sees one state of the database. Rows arrive as text, as the
database prints them, so that codes stay what they are.
"""

from __future__ import annotations

import io
import os
import re
from typing import Any

import polars as pl

from sdcdsl.bind.readers.libraries import missing_library
from sdcdsl.bind.readers.queries import columns_of, no_query, query_failed
from sdcdsl.bind.readers.records import ROW, ColumnSelection, Reading, Records, missing_columns, records_of
from sdcdsl.diagnostics import Diagnostic, diagnostic

VARIABLE = "SDCDSL_POSTGRES_"


def read_postgres(name: str, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    try:
        import psycopg  # noqa: PLC0415
    except ImportError:
        return None, [missing_library("psycopg", "postgres", "databases of PostgreSQL", reading.span)]
    query, wrong = no_query(reading)
    if query is None:
        return None, wrong
    variable = VARIABLE + re.sub(r"\W", "_", name).upper()
    said = os.environ.get(variable)
    if not said:
        help = f"set {variable}=postgresql://USER@HOST/DATABASE; a password belongs into ~/.pgpass"
        headline = f'nothing says what the connection "{name}" is'
        return None, [diagnostic("SDC302", headline, reading.span, help=help)]
    try:
        connection = psycopg.connect(said, connect_timeout=30, application_name="sdcdsl")
    except psycopg.Error as error:
        # The text may have the address and the user, and of a malformed setting the password.
        headline = f'the connection "{name}" cannot be made: {type(error).__name__}'
        return None, [diagnostic("SDC302", headline, reading.span, help=f"look at {variable}")]
    try:
        with connection:
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            return _selected(connection, query, name, selection, reading)
    except psycopg.Error as error:
        told = isinstance(error, psycopg.ProgrammingError) and not isinstance(error, psycopg.errors.DataException)
        return None, [query_failed(f'the connection "{name}"', _reason(error), told, reading)]


def _reason(error: Any) -> str:
    return str(getattr(error.diag, "message_primary", None) or type(error).__name__)


def _selected(
    connection: Any, query: str, name: str, selection: ColumnSelection, reading: Reading
) -> tuple[Records | None, list[Diagnostic]]:
    what = f'the query on the connection "{name}"'
    with connection.cursor() as cursor:
        # By itself and prepared the query must be one statement, and one that a cursor can go through: what stands in
        # parentheses below is then that query, whatever is in it.
        cursor.execute(f"DECLARE of_the_policy NO SCROLL CURSOR FOR {query}".encode(), prepare=True)
        cursor.execute("FETCH FORWARD 0 FROM of_the_policy")
        names = [column.name for column in cursor.description or ()]
        cursor.execute("CLOSE of_the_policy")
        if missing := missing_columns(names, what, selection):
            return None, missing
        text = io.BytesIO()
        copied = (
            f"COPY (SELECT {columns_of(selection, names)} FROM ({query}\n) AS of_the_policy) TO STDOUT (FORMAT csv)"
        )
        with cursor.copy(copied.encode()) as rows:
            for part in rows:
                text.write(part)
    columns = selection.columns or names[:1]
    frame = _frame(text.getbuffer(), columns)
    return records_of(frame.lazy().with_row_index(ROW, offset=1), what, selection)


def _frame(text: memoryview, columns: list[str]) -> pl.DataFrame:
    schema = dict.fromkeys(columns, pl.String)
    if not text.nbytes:
        return pl.DataFrame(schema=schema)
    return pl.read_csv(bytes(text), has_header=False, schema=schema)
