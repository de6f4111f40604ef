"""csv: comma- or otherwise separated text, with a header. Of data, of cell lists and of releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.record import Record, record
from sdcdsl.vocabulary.formats import Reader, Writer
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.cell_lists import CellEntry
    from sdcdsl.bind.readers.records import ColumnSelection, Reading, Records
    from sdcdsl.diagnostics import Diagnostic


@record
class CsvOptions(Record):
    delimiter: Any = option(Kind.TEXT, "what stands between two fields; detected if not given", None)
    decimal: Any = option(Kind.TEXT, "the decimal sign", ".")
    encoding: Any = option(Kind.TEXT, "the text encoding", "utf-8")
    missing: Any = option(Kind.TEXT, "what a missing value looks like", "")


@record
class ReleaseOptions(Record):
    """What formats with printed figures take."""

    decimals: Any = option(
        Kind.WHOLE, "at most this many decimals; all that are needed, if not given", None, least=0, most=15
    )


@record
class LabelledOptions(ReleaseOptions):
    """Of formats with a column for each dimension."""

    labels: Any = option(
        Kind.NAMES,
        "labels beside codes, in these languages; without a language in the one that is declared first",
        None,
    )


@record
class CsvReleaseOptions(LabelledOptions):
    delimiter: Any = option(Kind.TEXT, "what stands between two fields", ",")
    decimal: Any = option(Kind.TEXT, "the decimal sign", ".")
    spreadsheet_safe: Any = option(
        Kind.SWITCH,
        "an apostrophe before codes that a spreadsheet would take for formulas, which is the rule, and every field in "
        "quotation marks; no: codes as they are",
        None,
    )


def read(path: Path, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.csv_records import read_csv

    return read_csv(path, selection, delimiter=reading.options["delimiter"], encoding=reading.encoding)


def read_cells(
    path: Path, dimensions: Sequence[str], options: Mapping[str, Any]
) -> tuple[list[CellEntry], list[Diagnostic]]:
    from sdcdsl.bind.cell_lists import CellEntry
    from sdcdsl.bind.readers.csv_records import read_csv
    from sdcdsl.bind.readers.records import ROW, ColumnSelection

    selection = ColumnSelection(codes=dimensions, decimal=options["decimal"])
    records, problems = read_csv(path, selection, delimiter=options["delimiter"])
    if records is None:
        return [], problems
    rows = records.frame.collect().iter_rows(named=True)
    return [
        CellEntry(tuple(row[name] or "" for name in dimensions), "unsafe", records.place(row[ROW])) for row in rows
    ], []


READER = Reader(
    "csv",
    "comma- or otherwise separated text, also gzip or zstd",
    CsvOptions,
    read,
    suffix=".csv",
    holds=("text", "gzip", "zstd"),
)
CELL_LIST = Reader("csv", "one row per cell: a column for each dimension", CsvOptions, read_cells)
WRITER = Writer("csv", "comma-separated text", CsvReleaseOptions, "sdcdsl.released.write:write_release_csv")
