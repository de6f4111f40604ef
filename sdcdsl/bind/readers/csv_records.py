"""Delimited text as records: polars reads it; what polars refuses is read row by row, to name the rows or to get by."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from sdcdsl.bind.readers.csv_text import Header, all_rows, find_header, header_problems, not_delimited, uneven_rows
from sdcdsl.bind.readers.records import ROW, ColumnSelection, Records, code_of_text, number_of_text, number_problems
from sdcdsl.bind.readers.text_files import decode, open_bytes
from sdcdsl.bind.readers.unpacking import is_packed, unpacked
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic

NEWLINE = 10


def read_csv(
    source: Path | Source, selection: ColumnSelection, *, delimiter: str | None = None, encoding: str | None = None
) -> tuple[Records | None, list[Diagnostic]]:
    name = str(source) if isinstance(source, Path) else source.name
    text, problems = _text(source, name, encoding)
    if text is None:
        return None, problems
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii()):
        return None, [diagnostic("SDC302", "a delimiter is a single ASCII character", FilePlace(name))]
    try:
        header = find_header(text, selection.columns, delimiter)
        if header is None:
            return None, [diagnostic("SDC308", f"{name} is empty", FilePlace(name))]
        if problems := header_problems(name, header, selection.columns):
            return None, problems
        frame, problems = text_frame(text, name, header, selection.columns)
    except csv.Error as error:
        return None, [not_delimited(name, error)]
    if frame is None:
        return None, problems
    for column in selection.numbers:
        problems += number_problems(frame.lazy(), name, column, selection, lines=True, is_text=True)
    if problems:
        return None, problems
    frame = frame.select(
        ROW,
        *(code_of_text(c, selection) for c in selection.codes),
        *(number_of_text(c, selection) for c in selection.numbers),
    )
    return Records(name, frame.lazy(), lines=True), []


def _text(source: Path | Source, name: str, encoding: str | None) -> tuple[str | None, list[Diagnostic]]:
    if isinstance(source, Source):
        text, problems = source.text, []
    else:
        raw, problems = open_bytes(source)
        if raw is not None and is_packed(raw):
            raw, problems = unpacked(raw, name, encoding)
        if raw is None:
            return None, problems
        text, problems = decode(raw, name, encoding)
        if text is None:
            return None, problems
    if "\r" in text and "\n" not in text:  # the line ends of old Macs, and of some that still export so
        text = text.replace("\r", "\n")
    return text, problems


def text_frame(
    text: str, name: str, header: Header, columns: Sequence[str]
) -> tuple[pl.DataFrame | None, list[Diagnostic]]:
    """Columns as text, one row a record, with line numbers."""
    at = {column: str(header.names.index(column)) for column in columns}
    last = str(len(header.names) - 1)
    data = text.encode()
    scan = pl.scan_csv(
        data,
        has_header=False,
        skip_lines=header.last_line,
        separator=header.delimiter,
        schema={str(i): pl.String for i in range(len(header.names))},
        row_index_name=ROW,
        row_index_offset=header.last_line + 1,
        raise_if_empty=False,
    )
    try:
        frame = scan.select(
            ROW, pl.col(last).is_null().alias("suspect?"), *(pl.col(i).alias(c) for c, i in at.items())
        ).collect()
    except pl.exceptions.PolarsError:
        return _row_by_row(text, name, header, columns)
    if frame.height != _lines_below(data, header):  # a line break inside quotes: rows are not lines
        return _row_by_row(text, name, header, columns)
    suspects = frame.filter("suspect?")[ROW].to_numpy()
    all_there = frame.height if not len(suspects) else 0
    widths = _widths(data, header, np.union1d(suspects, _too_long(data, header, all_there)))
    uneven = [(line, width) for line, width in widths if width not in (0, len(header.names))]
    if uneven:
        return None, [uneven_rows(name, header, uneven)]
    blank = [line for line, width in widths if not width]
    frame = frame.filter(~pl.col(ROW).is_in(blank)).drop("suspect?") if blank else frame.drop("suspect?")
    return (frame, []) if frame.height else (None, [_no_rows(name, header)])


def _lines_below(data: bytes, header: Header) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n")) - header.last_line


def _too_long(data: bytes, header: Header, all_there: int) -> np.ndarray:
    """Lines with more delimiters than fit, in quotes or not: of fields behind the last column polars says nothing,
    unless all columns are required. `all_there`: so many lines have a last field, if all have: then one count of all
    delimiters says whether some line has too many."""
    start, each = 0, len(header.names) - 1
    if data.count(b"\n") < header.last_line:  # a header, and nothing below it
        return np.zeros(0, dtype=np.int64)
    for _ in range(header.last_line):
        start = data.index(b"\n", start) + 1
    delimiter = header.delimiter.encode()
    if all_there and data.count(delimiter, start) == each * all_there:
        return np.zeros(0, dtype=np.int64)
    numbers = np.frombuffer(data, dtype=np.uint8)[start:]
    line = np.searchsorted(np.flatnonzero(numbers == NEWLINE), np.flatnonzero(numbers == delimiter[0]))
    return np.flatnonzero(np.bincount(line) > each) + header.last_line + 1


def _widths(data: bytes, header: Header, suspects: np.ndarray) -> list[tuple[int, int]]:
    """Polars fills short rows and blank lines up with NULL; so lines that end in NULL have their fields counted."""
    if not len(suspects):
        return []
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == NEWLINE)
    starts = np.concatenate([[0], ends + 1])[suspects - 1].tolist()
    stops = np.append(ends, len(data))[suspects - 1].tolist()
    padding = "\r" if header.delimiter == " " else "\r "
    lines = (data[a:b].decode().strip(padding) for a, b in zip(starts, stops, strict=True))
    reader = csv.reader(lines, delimiter=header.delimiter)
    return list(zip(suspects.tolist(), map(len, reader), strict=True))


def _row_by_row(
    text: str, name: str, header: Header, columns: Sequence[str]
) -> tuple[pl.DataFrame | None, list[Diagnostic]]:
    width = len(header.names)
    rows = [(line, row) for line, row in all_rows(text, header) if len(row) > 1 or any(row) or len(row) == width]
    uneven = [(line, len(row)) for line, row in rows if len(row) != width]
    if uneven:
        return None, [uneven_rows(name, header, uneven)]
    if not rows:
        return None, [_no_rows(name, header)]
    at = {column: header.names.index(column) for column in columns}
    texts = {c: pl.Series([row[i] for _, row in rows], dtype=pl.String) for c, i in at.items()}
    return pl.DataFrame({ROW: pl.Series([line for line, _ in rows], dtype=pl.UInt32), **texts}), []


def _no_rows(name: str, header: Header) -> Diagnostic:
    return diagnostic("SDC308", f"{name} has no rows", FilePlace(name, line=header.last_line or None))
