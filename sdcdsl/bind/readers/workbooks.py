"""A sheet of a workbook as records, by fastexcel. Only one sheet is read, and what formulas came to, not formulas."""

from __future__ import annotations

import zipfile
from pathlib import Path

import polars as pl

from sdcdsl.bind.readers.libraries import missing_library
from sdcdsl.bind.readers.records import ROW, ColumnSelection, Reading, Records, missing_columns, records_of
from sdcdsl.bind.readers.text_files import unopenable
from sdcdsl.bind.readers.whole_numbers import whole_numbers_as_codes
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, did_you_mean, listed

LARGEST = 4 << 30  # bytes of all sheets unpacked: a full sheet of numbers has a tenth of it


def read_workbook(path: Path, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    name = str(path)
    if problems := unopenable(path):
        return None, problems
    try:
        import fastexcel  # noqa: PLC0415
    except ImportError:
        return None, [missing_library("fastexcel", "excel", "workbooks", reading.span)]
    if (size := _unpacked(path)) > LARGEST:
        headline = f"cannot read {name}: it unpacks to {size:,} bytes, more than {LARGEST:,}"
        return None, [diagnostic("SDC302", headline, FilePlace(name), help="hold large data as Parquet")]
    header = reading.options["header"]
    try:
        book = fastexcel.read_excel(name)
        sheet = reading.options["sheet"] or book.sheet_names[0]
        if sheet not in book.sheet_names:
            label, notes = did_you_mean(sheet, book.sheet_names), [f"its sheets: {listed(book.sheet_names)}"]
            return None, [diagnostic("SDC302", f"{name} has no sheet `{sheet}`", reading.span, label, notes=notes)]
        # All rows decide the type of a column, not the first thousand.
        read = book.load_sheet(sheet, header_row=header - 1, schema_sample_rows=None, whitespace_as_null=True)
        frame = read.to_polars()
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError, pl.exceptions.PanicException, IndexError, ValueError):
        return None, [diagnostic("SDC302", f"cannot read {name}: it is not a whole workbook", FilePlace(name))]
    if missing := missing_columns(frame.columns, name, selection):
        return None, missing
    # Rows as the spreadsheet numbers them; of those without an entry nothing is left.
    lazy = frame.lazy().with_row_index(ROW, offset=header + 1)
    lazy = lazy.filter(~pl.all_horizontal(pl.exclude(ROW).is_null()))
    coded, found = whole_numbers_as_codes(lazy, name, selection.codes)
    return records_of(coded, name, selection) if coded is not None else (None, found)


def _unpacked(path: Path) -> int:
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return 0  # an old workbook, which is not packed, or no workbook
