"""A cross table, as τ-ARGUS and the format `cross_table` write it, read back cell by cell."""

from __future__ import annotations

import csv
import io

import polars as pl

from sdcdsl.bind.readers.records import ROW, Records
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic
from sdcdsl.released.columns import Roles, code_columns
from sdcdsl.released.delimited import rows_in
from sdcdsl.released.rows import ReleasedRows
from sdcdsl.released.statements import Layout, PublishedStatements

LAYER = "Var "


def looks_like_cross_table(text: str) -> bool:
    """A layer, or a line of codes that begins with an empty field."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    return line.startswith((LAYER, ',"')) or (line.startswith(",") and not line.startswith(",,"))


def read_cross_table(
    source: Source, table: BoundTable, layout: Layout, statements: PublishedStatements
) -> tuple[ReleasedRows | None, list[Diagnostic]]:
    names = code_columns(table)
    width = len(names)
    cells: list[tuple[int, list[str], str]] = []
    layer: list[str] = []
    columns: list[str] | None = None
    reader = csv.reader(io.StringIO(source.text), delimiter=layout.delimiter or ",", skipinitialspace=True)
    for row in reader:
        line = reader.line_num
        if not any(field.strip() for field in row):
            columns = None
        elif row[0].startswith(LAYER):
            layer, columns = [code for at, code in enumerate(row) if at % 2], None
        elif columns is None:
            columns = row[1:]
        elif len(row) != len(columns) + 1:
            what = f"a row of {len(row) - 1} figures below a line of {len(columns)} codes"
            headline = f"{source.name} is no cross table: {what}"
            return None, [diagnostic("SDC302", headline, FilePlace(source.name, line=line))]
        else:
            here = [*layer, row[0]] if width > 1 else []
            cells += [(line, [*here, code], figure) for code, figure in zip(columns, row[1:], strict=True)]
    wrong = next((line for line, codes, _ in cells if len(codes) != width), None)
    if not cells or wrong is not None:
        headline = f"{source.name} is no cross table of {width} dimension{'s' if width > 1 else ''}"
        return None, [diagnostic("SDC302", headline, FilePlace(source.name, line=wrong))]
    codes = {f"code {i}": [c[1][i] for c in cells] for i in range(width)}
    frame = pl.DataFrame(
        {ROW: pl.Series([c[0] for c in cells], dtype=pl.UInt32), **codes, "value": [c[2] for c in cells]},
    )
    records = Records(source.name, frame.lazy(), lines=True)
    return rows_in(frame, records, Roles(tuple(codes), "value"), table, layout, statements)
