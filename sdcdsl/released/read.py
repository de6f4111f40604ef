"""From released files and the bound problem to the pattern that an audit looks at."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.readers.csv_text import Header, all_rows, find_header, not_delimited
from sdcdsl.bind.readers.text_files import open_text
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic, has_errors
from sdcdsl.pattern import Pattern
from sdcdsl.released.checks import contradicts_sums, excluded
from sdcdsl.released.closeness import closeness
from sdcdsl.released.columns import names_dimensions, usual_names
from sdcdsl.released.from_argus import first_row, read_argus
from sdcdsl.released.from_cross_table import looks_like_cross_table, read_cross_table
from sdcdsl.released.from_csv import read_csv_release
from sdcdsl.released.from_excel import is_workbook, read_excel_release
from sdcdsl.released.from_jj import looks_like_jj, read_jj_release
from sdcdsl.released.from_parquet import is_parquet, read_parquet_release
from sdcdsl.released.from_sdctable import has_sdc_status, read_sdctable
from sdcdsl.released.from_sdmx import looks_like_sdmx, read_sdmx
from sdcdsl.released.merging import merge
from sdcdsl.released.pattern_building import make_pattern
from sdcdsl.released.released_cells import ReleasedCells, no_file, read_cells
from sdcdsl.released.rows import ReleasedRows, cells_by_table
from sdcdsl.released.statements import Absent, Format, Layout, PublishedStatements

_PLAIN, _USUAL = PublishedStatements(), Layout()


def read_release(
    problem: TableProblem,
    files: Mapping[str, Path],
    statements: PublishedStatements = _PLAIN,
    *,
    format: Format | None = None,
    absent: Absent = "error",
    layout: Layout = _USUAL,
    even_if_wrong: bool = False,
) -> tuple[Pattern | None, list[Diagnostic]]:
    """What the files of a release say about the cells of the problem, and what is wrong with them.

    `files` has a file for each table, by the table's name; a table without one is an error, or hidden altogether if
    absent cells are. `format` is recognised from the content unless it is given. A release that excludes the truth or
    does not add up is no pattern, unless it is required `even_if_wrong`, to see what readers can tell from it.
    """
    strangers = set(files) - {t.name for t in problem.tables}
    if strangers:
        raise ValueError(f"files for tables that the problem does not have: {sorted(strangers)}")
    close, maps, a = closeness(problem), cells_by_table(problem), problem.dataset["a"].values
    released: dict[str, ReleasedCells] = {}
    found: list[Diagnostic] = []
    for table in problem.tables:
        if table.name not in files:
            found += [] if absent == "hidden" and files else [no_file(table)]
            continue
        rows, problems = read_rows(files[table.name], table, layout, statements, format)
        found += problems
        if rows is not None:
            cells = maps[table.name]
            mine, problems = read_cells(rows, table, a[cells], close.take(cells), statements, absent)
            found += problems
            if mine is not None:
                released[table.name] = mine
    if has_errors(found):
        return None, found
    merged, problems = merge(problem, released, maps)
    found += problems
    if has_errors(problems):
        return None, found
    pattern, problems = make_pattern(problem, merged, close, statements)
    found += problems
    if pattern is not None:
        # A cell whose true value is excluded mostly breaks its sums as well: one complaint is enough.
        found += excluded(problem, pattern, close) or contradicts_sums(problem, pattern, merged)
    return (None if has_errors(found) and not even_if_wrong else pattern), found


def read_rows(
    path: Path, table: BoundTable, layout: Layout, statements: PublishedStatements, format: Format | None
) -> tuple[ReleasedRows | None, list[Diagnostic]]:
    """One file, whatever its format, row by row."""
    if format == "parquet" or (format is None and is_parquet(path)):
        return read_parquet_release(path, table, layout, statements)
    if format == "excel" or (format is None and is_workbook(path)):
        return read_excel_release(path, table, layout, statements)
    source, problems = open_text(path, layout.encoding)
    if source is None:
        return None, problems
    if "\r" in source.text and "\n" not in source.text:
        source = Source(source.name, source.text.replace("\r", "\n"))
    if not source.text.strip():
        return None, [diagnostic("SDC308", f"{source.name} is empty", FilePlace(source.name))]
    if format == "jj" or (format is None and looks_like_jj(source.text)):
        return read_jj_release(source, table)
    if format == "cross_table" or (format is None and looks_like_cross_table(source.text)):
        try:
            return read_cross_table(source, table, layout, statements)
        except csv.Error as error:
            return None, [not_delimited(source.name, error)]
    try:
        row = first_row(source.text, table, layout.delimiter)
        header = _header(source.text, table, layout)
    except csv.Error as error:
        return None, [not_delimited(source.name, error)]
    if header is None:  # nothing but quotes and delimiters
        return None, [diagnostic("SDC308", f"{source.name} is empty", FilePlace(source.name))]
    if format in ("argus", "code_value") or (
        format is None and row is not None and not names_dimensions(header.names, table)
    ):
        return read_argus(source, row, table, layout, statements)
    if format == "sdmx" or (format is None and looks_like_sdmx(header)):
        return read_sdmx(source, header, table, layout, statements)
    if format == "sdctable" or (format is None and has_sdc_status(header)):
        return read_sdctable(source, header, table, layout, statements)
    return read_csv_release(source, header, table, layout, statements)


def _header(text: str, table: BoundTable, layout: Layout) -> Header | None:
    header = find_header(text, usual_names(table, layout), layout.delimiter)
    if header is None or header.names[-1] != f"column {len(header.names)}":
        return header
    # Some versions of τ-ARGUS end the header, and no other line, with a delimiter.
    first = next((row for _, row in all_rows(text, header) if any(row)), [])
    shorter = Header(header.names[:-1], header.delimiter, header.last_line)
    return shorter if len(first) == len(shorter.names) else header
