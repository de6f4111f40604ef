"""A release as a workbook of one sheet. Codes are texts, so that none of them is a formula."""

from __future__ import annotations

import datetime
import errno
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import xlsxwriter

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.released.columns import written_columns
from sdcdsl.released.frame import STATUS, bound_table, release_frame
from sdcdsl.released.labels import with_labels

ROWS = (1 << 20) - 1  # of a sheet, below its head
MADE = datetime.datetime(2000, 1, 1)  # the same release is the same file, whenever it is made
WORD = 31  # characters that the name of a sheet may have


def write_release_excel(
    problem: TableProblem,
    pattern: Pattern,
    table: str,
    path: Path,
    *,
    decimals: int | None = None,
    labels: Sequence[str] | None = None,
) -> None:
    with workbook(path) as book:
        published_sheet(book, problem, pattern, table, decimals, labels=labels)


def workbook(path: Path) -> Any:
    # In memory: its parts are written nowhere else.
    book = xlsxwriter.Workbook(path, {"in_memory": True, "nan_inf_to_errors": False, "strings_to_formulas": False})
    book.set_properties({"created": MADE})
    return book


def published_sheet(
    book: Any,
    problem: TableProblem,
    pattern: Pattern,
    table: str,
    decimals: int | None = None,
    name: str = "",
    labels: Sequence[str] | None = None,
) -> None:
    bound = bound_table(problem, table)
    frame, words = with_labels(release_frame(problem, pattern, table, decimals), bound, labels)
    check_rows(table, len(frame))
    codes = [*written_columns(bound), *words]
    sheet = book.add_worksheet(name or sheet_name(table))
    head = book.add_format({"bold": True, "bottom": 1})
    figures = book.add_format({"num_format": "#,##0.###############", "align": "right"})
    for column, title in enumerate(frame.columns):
        sheet.write_string(0, column, title, head)
        values = frame[title].to_list()
        if title in codes or title == STATUS:
            write_texts(sheet, column, values)
        else:
            write_numbers(sheet, column, values, figures)
    finish(sheet, frame.columns, len(codes), len(frame))


def check_rows(table: str, cells: int) -> None:
    if cells > ROWS:
        raise OSError(errno.EFBIG, f"a sheet of a workbook holds {ROWS:,} cells, and table {table} has {cells:,}", "")


def write_texts(sheet: Any, column: int, values: list[str | None], style: Any = None) -> None:
    for row, value in enumerate(values, 1):
        if value:
            sheet.write_string(row, column, value, style)


def write_numbers(sheet: Any, column: int, values: list[float | None], style: Any) -> None:
    """Infinite ends as words; nothing where nothing is said."""
    for row, value in enumerate(values, 1):
        if value is None or math.isnan(value):
            continue
        if value in (float("inf"), float("-inf")):
            sheet.write_string(row, column, "inf" if value > 0 else "-inf", style)
        else:
            sheet.write_number(row, column, value, style)


def finish(sheet: Any, columns: list[str], codes: int, rows: int) -> None:
    """Codes and head stay in sight; columns can be filtered."""
    sheet.freeze_panes(1, codes)
    sheet.autofilter(0, 0, rows, len(columns) - 1)
    sheet.set_column(0, len(columns) - 1, 14)


def sheet_name(text: str) -> str:
    return "".join("_" if sign in "[]:*?/\\'" else sign for sign in text)[:WORD] or "table"
