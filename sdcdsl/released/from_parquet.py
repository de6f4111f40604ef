"""Parquet: the columns of a CSV file, where figures may be numbers. A number has all its digits."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sdcdsl.bind.readers.parquet_records import UNREADABLE
from sdcdsl.bind.readers.records import ROW, Records
from sdcdsl.bind.readers.text_files import unopenable
from sdcdsl.bind.readers.wording import clip
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.ordinary_files import open_ordinary
from sdcdsl.released.columns import Roles, find_roles
from sdcdsl.released.delimited import FIGURES, rows_in
from sdcdsl.released.rows import ReleasedRows
from sdcdsl.released.statements import Layout, PublishedStatements

MAGIC = b"PAR1"


def is_parquet(path: Path) -> bool:
    try:
        with open_ordinary(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_parquet_release(
    path: Path, table: BoundTable, layout: Layout, statements: PublishedStatements
) -> tuple[ReleasedRows | None, list[Diagnostic]]:
    name = str(path)
    if problems := unopenable(path):
        return None, problems
    try:
        header = list(pl.read_parquet_schema(path))
        roles, problems = find_roles(name, None, header, table, layout)
        if roles is None:
            return None, problems
        frame = pl.read_parquet(path, columns=roles.all, glob=False, hive_partitioning=False)
    except UNREADABLE:
        return None, [diagnostic("SDC302", f"cannot read {name}: it is not a whole Parquet file", FilePlace(name))]
    if not frame.height:
        return None, [diagnostic("SDC308", f"{name} has no rows", FilePlace(name))]
    frame, problems = kinds(frame, name, roles)
    if problems:
        return None, problems
    frame = frame.with_row_index(ROW, offset=1)
    return rows_in(frame, Records(name, frame.lazy(), lines=False), roles, table, layout, statements)


def kinds(frame: pl.DataFrame, name: str, roles: Roles) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """Codes and statuses as text; figures as numbers where they are numbers, else as text."""
    figures = {column for role in FIGURES if (column := getattr(roles, role)) is not None}
    found, columns = [], []
    for column, kind in frame.schema.items():
        number = kind.is_numeric() and not kind.is_nested()
        if column in figures and number:
            columns.append(pl.col(column).cast(pl.Float64))
        elif number or kind in (pl.String, pl.Null, pl.Categorical, pl.Enum, pl.Date, pl.Boolean):
            columns.append(pl.col(column).cast(pl.String))
        else:
            place = FilePlace(name, f"column {clip(column)}")
            found.append(diagnostic("SDC306", f"column `{clip(column)}` of {name} cannot be read", place, f"{kind}"))
    return frame.with_columns(columns), found
