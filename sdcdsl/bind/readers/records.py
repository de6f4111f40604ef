"""Records of units or of ready-made cells, from CSV or Parquet, restricted to the columns somebody asked for.

Codes stay the text that stands in the file: `01` never becomes 1, `10100.0` never 10100. Numbers become Float64 or a
diagnostic. A column of row numbers travels along, so that later stages can name the row they object to.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from sdcdsl.bind.options import encoding_of
from sdcdsl.bind.readers.wording import clip, offenders
from sdcdsl.diagnostics import Diagnostic, FilePlace, Place, Span, diagnostic, did_you_mean, listed
from sdcdsl.diagnostics.confidential import secret_figure

ROW = "row of the file"
USUAL_MISSING = {"na", "n/a", "null", "none", "nan", ".", "..", "-", ":", "x", "c"}


@dataclass(frozen=True)
class ColumnSelection:
    """The columns wanted, by kind, and how the file writes a number and a missing value (empty is always missing)."""

    codes: Sequence[str] = ()
    numbers: Sequence[str] = ()
    decimal: str = "."
    missing: Iterable[str] = field(default=())

    def __post_init__(self):
        both = set(self.codes) & set(self.numbers)
        if both or self.decimal not in (".", ","):
            raise ValueError(f"columns asked for as code and number: {both}; decimal mark {self.decimal!r}")

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys([*self.codes, *self.numbers]))

    @property
    def missing_words(self) -> list[str]:
        return list({*self.missing, ""})


@dataclass(frozen=True)
class Reading:
    """What the policy says about data beside the file and its columns."""

    options: dict[str, Any]  # of the format, with defaults
    span: Span | None  # where the policy names the file
    find: Callable[[str, str], tuple[Path | None, list[Diagnostic]]]  # another file that it names: what it is, its path
    contributors: frozenset[str] = frozenset()  # columns that say who contributes
    ready_made: bool = False  # records are cells that somebody has tabulated

    @property
    def encoding(self) -> str | None:
        """None for UTF-8."""
        return encoding_of(self.options)


@dataclass(frozen=True, eq=False)
class Records:
    """`frame` has the selected columns and `ROW`: the line of a text file, the row of a Parquet file, both from 1; of
    several files, counted through."""

    name: str
    frame: pl.LazyFrame
    lines: bool  # whether ROW counts lines of a text
    files: tuple[tuple[int, str], ...] = ()  # of several: rows before each, and its name

    def place(self, row: int, column: str = "") -> FilePlace:
        name = self.name
        if self.files:
            before, name = self.files[bisect_left([start for start, _ in self.files], row) - 1]
            row -= before
        return row_place(name, row, column, self.lines)


def malformed(records: Records, selection: ColumnSelection) -> str | None:
    """What is wrong with the form of records, in words."""
    schema = records.frame.collect_schema()
    for column in (ROW, *selection.columns):
        if column not in schema:
            return f"its reader gives no column `{clip(column)}`"
    for column in selection.codes:
        if schema[column] != pl.String:
            return f"its reader gives codes of type {schema[column]} in column `{clip(column)}`, and codes are text"
    for column in selection.numbers:
        if schema[column] != pl.Float64:
            return f"its reader gives numbers of type {schema[column]} in column `{clip(column)}`, and not Float64"
    return None if schema[ROW].is_integer() else f"its reader gives rows of type {schema[ROW]}, and they are counted"


def row_place(name: str, row: int, column: str, lines: bool) -> FilePlace:
    detail = f"column {clip(column)}" if column else ""
    if lines:
        return FilePlace(name, detail, line=row)
    return FilePlace(name, f"row {row}, {detail}" if detail else f"row {row}")


def code_of_text(column: str, selection: ColumnSelection) -> pl.Expr:
    text = pl.col(column)
    return pl.when(~text.is_in(selection.missing_words)).then(text).alias(column)


def number_of_text(column: str, selection: ColumnSelection) -> pl.Expr:
    """NULL for what is missing and for what is no number; `number_problems` tells them apart."""
    text = _spoken(column, selection)
    if selection.decimal == ",":
        text = pl.when(~text.str.contains(".", literal=True)).then(text.str.replace(",", ".", literal=True))
    return text.cast(pl.Float64, strict=False).alias(column)


def _spoken(column: str, selection: ColumnSelection) -> pl.Expr:
    text = pl.col(column).str.strip_chars()
    return pl.when(~text.is_in(selection.missing_words)).then(text)


def number_problems(
    frame: pl.LazyFrame, name: str, column: str, selection: ColumnSelection, lines: bool, is_text: bool
) -> list[Diagnostic]:
    """Text and infinities among the numbers of one column, still as the file has it."""
    number = number_of_text(column, selection) if is_text else pl.col(column).cast(pl.Float64, strict=False)
    spoken = _spoken(column, selection) if is_text else pl.col(column)
    text = spoken.is_not_null() & number.is_null()
    infinite = number.is_not_null() & ~number.is_finite()
    counts = frame.select(text=text.sum(), infinite=infinite.sum()).collect(engine="streaming")
    problems = []
    for code, headline, mask, count in (
        ("SDC306", f"text where a number belongs, in column `{clip(column)}` of {name}", text, counts["text"].item()),
        (
            "SDC307",
            f"numbers that are not finite, in column `{clip(column)}` of {name}",
            infinite,
            counts["infinite"].item(),
        ),
    ):
        if count:
            first = frame.filter(mask).select(ROW, pl.col(column).cast(pl.String)).head(10).collect()
            words = first[column].to_list()
            found: list[tuple[Place, str]] = [
                (row_place(name, row, column, lines), secret_figure(f"found `{clip(word)}`"))
                for row, word in zip(first[ROW].to_list(), words, strict=True)
            ]
            short, advice = (_advice(words, selection) if code == "SDC306" else None) or ("", None)
            if short:  # it stands before anything else, and ten rows show no more than one
                short, found = f": {short}", found[:1]
            problems.append(offenders(code, headline + short, found, count, help=advice))
    return problems


def _advice(words: Sequence[str], selection: ColumnSelection) -> tuple[str, str] | None:
    """What may be behind it, and what to write then."""
    bare = [w.strip() for w in words]
    other = "," if selection.decimal == "." else "."
    if all(w.count(other) == 1 and w.replace(other, "").lstrip("+-").isdecimal() for w in bare):
        write = f'if `{other}` is the decimal mark of this file: {{ decimal "{other}" }} after its name'
        return f"decimals with `{other}`", write
    if all(w.lower() in USUAL_MISSING for w in bare):
        word = clip(bare[0])
        return f"`{word}`", f'if `{word}` means that the value is missing: {{ missing "{word}" }} after its name'
    return None


def missing_columns(names: Sequence[str], name: str, selection: ColumnSelection) -> list[Diagnostic]:
    return [
        diagnostic(
            "SDC303",
            f"no column `{clip(column)}` in {name}",
            FilePlace(name),
            did_you_mean(column, names),
            notes=[f"its columns: {listed(clip(c) for c in names)}"],
        )
        for column in selection.columns
        if column not in names
    ]


def records_of(
    scan: pl.LazyFrame, name: str, selection: ColumnSelection, *, lines: bool = False
) -> tuple[Records | None, list[Diagnostic]]:
    """The selected columns of a frame that counts its rows in `ROW`, checked: texts and numbers as they are there."""
    schema = scan.collect_schema()
    problems = missing_columns([c for c in schema.names() if c != ROW], name, selection)
    if problems:
        return None, problems
    problems = [*_wrong_kinds(schema, name, selection)]
    if problems:
        return None, problems
    if not scan.select(pl.len()).collect().item():
        return None, [diagnostic("SDC308", f"{name} has no rows", FilePlace(name))]
    for column in selection.numbers:
        kind = schema[column]
        if kind.is_float() or kind == pl.String:
            problems += number_problems(scan, name, column, selection, lines=lines, is_text=kind == pl.String)
    if problems:
        return None, problems
    codes = (
        code_of_text(c, selection) if schema[c] == pl.String else pl.col(c).cast(pl.String).alias(c)
        for c in selection.codes
    )
    numbers = (
        number_of_text(c, selection) if schema[c] == pl.String else pl.col(c).cast(pl.Float64)
        for c in selection.numbers
    )
    return Records(name, scan.select(ROW, *codes, *numbers), lines=lines), []


def _wrong_kinds(schema: pl.Schema, name: str, selection: ColumnSelection):
    for column in selection.columns:
        kind = schema[column]
        fits = kind.is_numeric() or kind in (pl.String, pl.Boolean, pl.Null)
        if column in selection.codes:
            fits = fits or kind in (pl.Categorical, pl.Enum, pl.Date)
        if not fits:
            place = FilePlace(name, f"column {clip(column)}")
            what = "codes" if column in selection.codes else "numbers"
            yield diagnostic("SDC306", f"column `{clip(column)}` of {name} holds no {what}", place, f"it holds {kind}")
