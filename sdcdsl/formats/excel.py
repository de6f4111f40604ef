"""excel: a sheet of a workbook, of data and of releases; and a workbook for reviewers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.formats.csv import LabelledOptions
from sdcdsl.record import Record, record
from sdcdsl.vocabulary.formats import Reader, Review, Writer
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.readers.records import ColumnSelection, Reading, Records
    from sdcdsl.diagnostics import Diagnostic


@record
class ExcelOptions(Record):
    sheet: Any = option(Kind.TEXT, "the sheet; the first if not given", None)
    header: Any = option(Kind.WHOLE, "the row that has the names of the columns, counted from 1", 1, least=1)
    decimal: Any = option(Kind.TEXT, "the decimal sign of numbers that are held as text", ".")
    missing: Any = option(Kind.TEXT, "what a missing value looks like", "")


def read(path: Path, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.workbooks import read_workbook

    return read_workbook(path, selection, reading)


READER = Reader("excel", "a sheet of an Excel or OpenDocument workbook", ExcelOptions, read, holds=("workbook",))
WRITER = Writer("excel", "a workbook of one sheet", LabelledOptions, "sdcdsl.released.to_excel:write_release_excel")
REVIEW = Review(
    "excel",
    "a workbook: what is published, and on another sheet why, with the true values",
    ".xlsx",
    "sdcdsl.report.review.workbook:write_workbook",
)
