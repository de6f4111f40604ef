"""Files of SAS, SPSS and Stata as records, by pyreadstat. Codes are the values, not their labels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from sdcdsl.bind.readers.file_kinds import is_transport_file
from sdcdsl.bind.readers.libraries import missing_library
from sdcdsl.bind.readers.records import ROW, ColumnSelection, Reading, Records, missing_columns, records_of
from sdcdsl.bind.readers.text_files import unopenable
from sdcdsl.bind.readers.whole_numbers import whole_numbers_as_codes
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic

Answer = tuple[Records | None, list[Diagnostic]]


def read_sas(path: Path, selection: ColumnSelection, reading: Reading) -> Answer:
    return _read(path, selection, reading, "read_xport" if is_transport_file(path) else "read_sas7bdat", "SAS")


def read_spss(path: Path, selection: ColumnSelection, reading: Reading) -> Answer:
    return _read(path, selection, reading, "read_sav", "SPSS")


def read_stata(path: Path, selection: ColumnSelection, reading: Reading) -> Answer:
    return _read(path, selection, reading, "read_dta", "Stata")


def _read(path: Path, selection: ColumnSelection, reading: Reading, function: str, what: str) -> Answer:
    name = str(path)
    if problems := unopenable(path):
        return None, problems
    try:
        import pyreadstat  # noqa: PLC0415
    except ImportError:
        return None, [missing_library("pyreadstat", "statistical", f"{what} files", reading.span)]
    read: Callable[..., Any] = getattr(pyreadstat, function)
    said = {"encoding": reading.options["encoding"]} if reading.options["encoding"] else {}
    try:
        described = read(name, metadataonly=True, output_format="dict", **said)[1]
        if missing := missing_columns(described.column_names, name, selection):
            return None, missing
        # Dates stay numbers, and missing values that say why are missing: no code and no figure.
        columns, _ = read(
            name,
            usecols=selection.columns or described.column_names[:1],
            output_format="dict",
            disable_datetime_conversion=True,
            **said,
        )
        frame = pl.DataFrame({column: _series(column, values) for column, values in columns.items()})
    except Exception as error:  # pyreadstat raises errors of its own and bare ones; what they say may be data
        return None, [_unreadable(name, what, said, error)]
    lazy = frame.lazy().with_row_index(ROW, offset=1)
    coded, found = whole_numbers_as_codes(lazy, name, selection.codes)
    return records_of(coded, name, selection) if coded is not None else (None, found)


def _series(column: str, values: Any) -> pl.Series:
    made = pl.Series(column, values, nan_to_null=True, strict=False)
    # Texts have the width of their column in these files.
    return made.str.strip_chars_end() if made.dtype == pl.String else made


def _unreadable(name: str, what: str, said: dict[str, str], error: Exception) -> Diagnostic:
    if isinstance(error, UnicodeError) or "encoding" in str(error).lower() or "invalid byte" in str(error).lower():
        encoding = said.get("encoding", "")
        headline = f"the texts of {name} are not in the encoding {encoding or 'that it says'}"
        return diagnostic("SDC317", headline, FilePlace(name), help='say the encoding, often { encoding "cp1252" }')
    return diagnostic("SDC302", f"cannot read {name}: it is not a whole {what} file", FilePlace(name))
