"""Parquet as records, kept lazy: the file is scanned for what is wrong with it, but never held in memory."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sdcdsl.bind.readers.records import ROW, ColumnSelection, Records, code_of_text, number_of_text, number_problems
from sdcdsl.bind.readers.text_files import unopenable
from sdcdsl.bind.readers.wording import clip
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, did_you_mean, listed

# A damaged file can also make the Rust side panic, which arrives as a BaseException of its own.
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def read_parquet(path: Path, asked: ColumnSelection) -> tuple[Records | None, list[Diagnostic]]:
    name = str(path)
    if problems := unopenable(path):
        return None, problems
    try:
        # Without glob, or `a[1].parquet` would be a pattern.
        scan = pl.scan_parquet(path, glob=False, hive_partitioning=False, row_index_name=ROW, row_index_offset=1)
        return _checked(scan, name, asked)
    except UNREADABLE:
        return None, [diagnostic("SDC302", f"cannot read {name}: it is not a whole Parquet file", FilePlace(name))]


def _checked(scan: pl.LazyFrame, name: str, asked: ColumnSelection) -> tuple[Records | None, list[Diagnostic]]:
    schema = scan.collect_schema()
    names = [c for c in schema.names() if c != ROW]
    problems = [
        diagnostic(
            "SDC303",
            f"no column `{clip(column)}` in {name}",
            FilePlace(name),
            did_you_mean(column, names),
            notes=[f"its columns: {listed(clip(c) for c in names)}"],
        )
        for column in asked.columns
        if column not in names
    ]
    if problems:
        return None, problems
    problems = [*_wrong_kinds(schema, name, asked)]
    if problems:
        return None, problems
    if not scan.select(pl.len()).collect().item():
        return None, [diagnostic("SDC308", f"{name} has no rows", FilePlace(name))]
    for column in asked.numbers:
        kind = schema[column]
        if kind.is_float() or kind == pl.String:
            problems += number_problems(scan, name, column, asked, lines=False, is_text=kind == pl.String)
    if problems:
        return None, problems
    codes = (
        code_of_text(c, asked) if schema[c] == pl.String else pl.col(c).cast(pl.String).alias(c) for c in asked.codes
    )
    numbers = (
        number_of_text(c, asked) if schema[c] == pl.String else pl.col(c).cast(pl.Float64) for c in asked.numbers
    )
    return Records(name, scan.select(ROW, *codes, *numbers), lines=False), []


def _wrong_kinds(schema: pl.Schema, name: str, asked: ColumnSelection):
    for column in asked.columns:
        kind = schema[column]
        fits = kind.is_numeric() or kind in (pl.String, pl.Boolean, pl.Null)
        if column in asked.codes:
            fits = fits or kind in (pl.Categorical, pl.Enum, pl.Date)
        if not fits:
            place = FilePlace(name, f"column {clip(column)}")
            what = "codes" if column in asked.codes else "numbers"
            yield diagnostic("SDC306", f"column `{clip(column)}` of {name} holds no {what}", place, f"it holds {kind}")
