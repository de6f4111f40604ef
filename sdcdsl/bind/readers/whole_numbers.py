"""Codes in columns that can only hold floating point numbers.

SAS, Stata and spreadsheets know no whole numbers, and a column of pandas with gaps has none: there 4711.0 is the code
4711. In files that could have said 4711, such as CSV and Parquet, 4711.0 stays what it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sdcdsl.bind.readers.records import ROW, row_place
from sdcdsl.bind.readers.wording import clip, offenders
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.diagnostics.confidential import secret_figure


def whole_numbers_as_codes(
    frame: pl.LazyFrame, name: str, codes: Sequence[str]
) -> tuple[pl.LazyFrame | None, list[Diagnostic]]:
    """The same with texts in place of floating point numbers in the columns `codes`; or which of them are no codes."""
    schema = frame.collect_schema()
    floats = [column for column in codes if column in schema and schema[column].is_float()]
    found: list[Diagnostic] = []
    for column in floats:
        here = pl.col(column)
        broken = frame.filter(here.is_not_null() & here.is_not_nan() & (~here.is_finite() | (here != here.floor())))
        number = int(broken.select(pl.len()).collect(engine="streaming").item())
        if number:
            rows = broken.select(ROW, here).head(10).collect().rows()
            marks = [(row_place(name, row, column, False), secret_figure(f"found `{value}`")) for row, value in rows]
            headline = f"numbers with decimals where a code belongs, in column `{clip(column)}` of {name}"
            found.append(offenders("SDC306", headline, marks, number, help="hold codes as text, or as whole numbers"))
    if found:
        return None, found
    return frame.with_columns(
        pl.col(column).fill_nan(None).cast(pl.Int64, strict=False).cast(pl.String) for column in floats
    ), []
