"""A workbook as a release: the sheet of its own table, or its first."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sdcdsl.bind.readers.file_kinds import kind_of
from sdcdsl.bind.readers.libraries import missing_library
from sdcdsl.bind.readers.records import ROW, Records
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.released.columns import find_roles
from sdcdsl.released.delimited import rows_in
from sdcdsl.released.from_parquet import kinds
from sdcdsl.released.rows import ReleasedRows
from sdcdsl.released.statements import Layout, PublishedStatements


def is_workbook(path: Path) -> bool:
    return kind_of(path) == "workbook"


def read_excel_release(
    path: Path, table: BoundTable, layout: Layout, statements: PublishedStatements
) -> tuple[ReleasedRows | None, list[Diagnostic]]:
    name = str(path)
    try:
        import fastexcel  # noqa: PLC0415
    except ImportError:
        return None, [missing_library("fastexcel", "excel", "workbooks", None)]
    try:
        book = fastexcel.read_excel(name)
        sheet = table.name if table.name in book.sheet_names else book.sheet_names[0]
        frame = book.load_sheet(sheet, schema_sample_rows=None).to_polars()
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError, pl.exceptions.PanicException, IndexError, ValueError):
        return None, [diagnostic("SDC302", f"cannot read {name}: it is not a whole workbook", FilePlace(name))]
    if not frame.height:
        return None, [diagnostic("SDC308", f"{name} has no rows", FilePlace(name))]
    roles, problems = find_roles(name, None, frame.columns, table, layout)
    if roles is None:
        return None, problems
    frame, problems = kinds(frame.select(roles.all), name, roles)
    if problems:
        return None, problems
    frame = frame.with_row_index(ROW, offset=2)
    return rows_in(frame, Records(name, frame.lazy(), lines=False), roles, table, layout, statements)
