"""Delimited text as records: polars reads it; what polars refuses is read row by row, to name the rows or to get by."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from sdcdsl.bind.readers.csv_text import (
    LONGEST_HEADER,
    Header,
    all_rows,
    find_header,
    header_problems,
    not_delimited,
    uneven_rows,
)
from sdcdsl.bind.readers.records import ROW, ColumnSelection, Records, code_of_text, number_of_text, number_problems
from sdcdsl.bind.readers.text_files import LOOKED_AT, decode, open_bytes
from sdcdsl.bind.readers.unpacking import is_packed, unpacked
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic

NEWLINE = 10
BLOCK = 1 << 18  # bytes that stay in the cache


def read_csv(
    source: Path | Source, selection: ColumnSelection, *, delimiter: str | None = None, encoding: str | None = None
) -> tuple[Records | None, list[Diagnostic]]:
    name = str(source) if isinstance(source, Path) else source.name
    data, problems = _utf8(source, name, encoding)
    if data is None:
        return None, problems
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii()):
        return None, [diagnostic("SDC302", "a delimiter is a single ASCII character", FilePlace(name))]
    try:
        header = find_header(data[:LONGEST_HEADER].decode(errors="ignore"), selection.columns, delimiter)
        if header is None:
            return None, [diagnostic("SDC308", f"{name} is empty", FilePlace(name))]
        if problems := header_problems(name, header, selection.columns):
            return None, problems
        plain = selection.decimal == "." and selection.missing_words == [""]
        numbers = selection.numbers if plain else ()
        frame, problems = frame_of_utf8(data, name, header, selection.columns, numbers)
    except csv.Error as error:
        return None, [not_delimited(name, error)]
    if frame is None:
        return None, problems
    texts = [column for column in selection.numbers if frame[column].dtype == pl.String]
    for column in texts:
        problems += number_problems(frame.lazy(), name, column, selection, lines=True, is_text=True)
    if problems:
        return None, problems
    frame = frame.select(
        ROW,
        *(code_of_text(c, selection) for c in selection.codes),
        *(number_of_text(c, selection) if c in texts else pl.col(c) for c in selection.numbers),
    )
    return Records(name, frame.lazy(), lines=True), []


def _utf8(source: Path | Source, name: str, encoding: str | None) -> tuple[bytes | None, list[Diagnostic]]:
    """The text as UTF-8, without a mark. Of plain ASCII no text is made: that takes as long as reading it."""
    raw, problems = None, []
    if isinstance(source, Source):
        text = source.text
    else:
        raw, problems = open_bytes(source)
        if raw is not None and is_packed(raw):
            raw, problems = unpacked(raw, name, encoding)
        if raw is None:
            return None, problems
        if encoding is None and raw.isascii() and b"\0" not in raw[:LOOKED_AT] and (b"\n" in raw or b"\r" not in raw):
            return raw, []
        text, problems = decode(raw, name, encoding)
        if text is None:
            return None, problems
    if "\n" not in text and "\r" in text:  # the line ends of old Macs, and of some that still export so
        text = text.replace("\r", "\n")
    return text.encode(), problems


def text_frame(
    text: str, name: str, header: Header, columns: Sequence[str]
) -> tuple[pl.DataFrame | None, list[Diagnostic]]:
    """Columns as text, one row a record, with line numbers."""
    return frame_of_utf8(text.encode(), name, header, columns)


def frame_of_utf8(
    data: bytes, name: str, header: Header, columns: Sequence[str], numbers: Sequence[str] = ()
) -> tuple[pl.DataFrame | None, list[Diagnostic]]:
    """The same; `numbers` come as Float64, if all of them are finite numbers, and no text is made of any: as texts they
    would come out the same."""
    at = {column: str(header.names.index(column)) for column in columns}
    last = str(len(header.names) - 1)
    kinds = dict.fromkeys((at[column] for column in numbers), pl.Float64)
    scan = pl.scan_csv(
        data,
        has_header=False,
        skip_lines=header.last_line,
        separator=header.delimiter,
        schema={str(i): kinds.get(str(i), pl.String) for i in range(len(header.names))},
        row_index_name=ROW,
        row_index_offset=header.last_line + 1,
        raise_if_empty=False,
    )
    try:
        frame = scan.select(
            ROW, pl.col(last).is_null().alias("suspect?"), *(pl.col(i).alias(c) for c, i in at.items())
        ).collect()
    except pl.exceptions.PolarsError:
        if numbers:
            return frame_of_utf8(data, name, header, columns)
        return _row_by_row(data.decode(), name, header, columns)
    if any(not frame[column].is_finite().all() for column in numbers):
        return frame_of_utf8(data, name, header, columns)
    # A line break inside quotes: rows are not lines.
    if (len(header.names) == 1 or b'"' in data) and frame.height != _lines_below(data, header):
        return _row_by_row(data.decode(), name, header, columns)
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
    delimiter, numbers = ord(header.delimiter), np.frombuffer(data, dtype=np.uint8)[start:]
    if all_there and _count(numbers, delimiter) == each * all_there:
        return np.zeros(0, dtype=np.int64)
    line = np.searchsorted(np.flatnonzero(numbers == NEWLINE), np.flatnonzero(numbers == delimiter))
    return np.flatnonzero(np.bincount(line) > each) + header.last_line + 1


def _count(numbers: np.ndarray, wanted: int) -> int:
    """As `bytes.count` of one sign, in a quarter of its time where there are many."""
    parts = (numbers[i : i + BLOCK] for i in range(0, len(numbers), BLOCK))
    return sum(int(np.count_nonzero(part == wanted)) for part in parts)


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
