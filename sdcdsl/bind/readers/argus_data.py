"""Data files of τ-ARGUS (`.asc`, `.tab`), read as their metadata say: fixed columns or a separator, no header.

Blanks around a code are padding: τ-ARGUS itself pads codes to their width before comparing them. A code that means
missing is a code like any other in a dimension, where it has a cell of its own; where it stands for who contributes it
says that nobody knows, and such records are not one contributor.
"""

from __future__ import annotations

import csv
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import polars as pl

from sdcdsl.bind.readers.csv_records import text_frame
from sdcdsl.bind.readers.csv_text import Header, not_delimited
from sdcdsl.bind.readers.rda import Metadata, Variable, read_rda
from sdcdsl.bind.readers.records import (
    ROW,
    ColumnSelection,
    Reading,
    Records,
    code_of_text,
    number_of_text,
    number_problems,
)
from sdcdsl.bind.readers.text_files import lines, open_text
from sdcdsl.bind.readers.wording import clip, offenders, plural
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic, did_you_mean


def read_argus_data(
    source: Path | Source,
    metadata: Metadata,
    *,
    contributors: Collection[str] = (),
    decimal: str | None = None,
    encoding: str | None = None,
) -> tuple[Records | None, list[Diagnostic]]:
    """All variables that have a role; `contributors` are those that say who contributes, beside the one that is
    <HOLDING>. Without a decimal mark, a comma in any number means that it is the comma."""
    opened, problems = open_text(source, encoding)
    if opened is None:
        return None, problems
    used = [v for v in metadata.variables if v.roles]
    if not opened.text or opened.text.isspace():
        return None, [diagnostic("SDC308", f"{opened.name} is empty", FilePlace(opened.name))]
    if metadata.separator is None:
        frame, problems = _fixed(opened, used)
    else:
        frame, problems = _free(opened, metadata, used, metadata.separator)
    if frame is None:
        return None, problems
    frame = frame.with_columns(pl.exclude(ROW).str.strip_chars())
    numbers = [v.name for v in used if v.is_number]
    if decimal is None:
        decimal = "," if _any_comma(frame, numbers) else "."
    selection = ColumnSelection([v.name for v in used if not v.is_number], numbers, decimal)
    for column in numbers:
        problems += number_problems(frame.lazy(), opened.name, column, selection, lines=True, is_text=True)
    if problems:
        return None, problems
    unknown = {
        v.name: [code.strip() for code in v.missing] for v in used if "holding" in v.roles or v.name in contributors
    }
    codes = (code_of_text(c, replace(selection, missing=unknown.get(c, ()))) for c in selection.codes)
    frame = frame.select(ROW, *codes, *(number_of_text(c, selection) for c in numbers))
    return Records(opened.name, frame.lazy(), lines=True), []


def read_argus(path: Path, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    """With the metadata file that the policy names."""
    if reading.options["metadata"] is None:
        headline = "τ-ARGUS data needs its metadata file"
        return None, [diagnostic("SDC314", headline, reading.span, help='argus "x.asc" { metadata "x.rda" }')]
    described, missing = reading.find(f"{path.stem}.rda", reading.options["metadata"])
    if described is None:
        return None, missing
    # Metadata of a table may hold no word that only tables have; then the policy tells.
    is_table = True if reading.ready_made else None
    metadata, found = read_rda(described, is_table=is_table, encoding=reading.encoding)
    if metadata is None:
        return None, found
    known = [v.name for v in metadata.variables]
    for column in sorted(selection.columns):
        if column not in known:
            label = did_you_mean(column, known)
            place = FilePlace(str(described))
            found.append(diagnostic("SDC303", f"there is no variable `{column}`", place, label))
    if found:
        return None, found
    return read_argus_data(path, metadata, contributors=reading.contributors, encoding=reading.encoding)


def _free(
    source: Source, metadata: Metadata, used: list[Variable], separator: str
) -> tuple[pl.DataFrame | None, list[Diagnostic]]:
    header = Header([v.name for v in metadata.variables], separator, 0)
    try:
        return text_frame(source.text, source.name, header, [v.name for v in used])
    except csv.Error as error:
        return None, [not_delimited(source.name, error)]


def _fixed(source: Source, used: list[Variable]) -> tuple[pl.DataFrame | None, list[Diagnostic]]:
    text = pl.DataFrame({"text": pl.Series(lines(source.text), dtype=pl.String)}).with_row_index(ROW, offset=1)
    text = text.filter(pl.col("text").str.strip_chars() != "")
    # Editors trim blanks from the end of lines, which costs a code nothing but may cost a number its last digits.
    end = max(((v.start or 0) + (v.width or 0) - 1 for v in used if v.is_number), default=0)
    short = text.filter(pl.col("text").str.len_chars() < end)
    if short.height:
        found = (
            (FilePlace(source.name, line=row), plural(len(line), "character"))
            for row, line in short.head(10).iter_rows()
        )
        headline = f"{clip(source.name)} has lines that end before column {end}, where its numbers do"
        return None, [offenders("SDC302", headline, found, short.height)]
    return text.select(ROW, *(pl.col("text").str.slice((v.start or 1) - 1, v.width).alias(v.name) for v in used)), []


def _any_comma(frame: pl.DataFrame, numbers: list[str]) -> bool:
    return (
        bool(numbers)
        and frame.select(pl.any_horizontal(pl.col(c).str.contains(",", literal=True).any() for c in numbers)).item()
        is True
    )
