"""Rows of delimited text, placed on the cells of a table; the formats differ in which column says what."""

from __future__ import annotations

import csv
from collections.abc import Sequence

import numpy as np
import polars as pl

from sdcdsl.bind.from_cells import _cells_of
from sdcdsl.bind.hierarchy import DimensionCodes
from sdcdsl.bind.readers.csv_records import text_frame
from sdcdsl.bind.readers.csv_text import Header, header_problems, not_delimited
from sdcdsl.bind.readers.records import ROW, Records
from sdcdsl.bind.readers.wording import clip, offenders
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source
from sdcdsl.released.columns import Roles
from sdcdsl.released.figures import BLANK, NUMBER, RANGE, STRANGE, Figures, with_decimal_mark
from sdcdsl.released.formula_guard import unguarded
from sdcdsl.released.rows import ReleasedRows
from sdcdsl.released.statements import Layout, PublishedStatements
from sdcdsl.released.status_words import STATUS_WORDS, UNSAID

FIGURES = ("value", "low", "high", "base", "deviation")


def rows_of(
    source: Source,
    header: Header,
    roles: Roles,
    table: BoundTable,
    layout: Layout,
    statements: PublishedStatements,
    padded: bool = False,
) -> tuple[ReleasedRows | None, list[Diagnostic]]:
    """`padded`: blanks around a code mean nothing, and a code left blank is the total."""
    frame, problems = frame_of(source, header, roles.all)
    if frame is None:
        return None, problems
    records = Records(source.name, frame.lazy(), lines=True)
    return rows_in(frame, records, roles, table, layout, statements, padded)


def frame_of(source: Source, header: Header, columns: Sequence[str]) -> tuple[pl.DataFrame | None, list[Diagnostic]]:
    """These columns of a text, as text."""
    problems = header_problems(source.name, header, columns)
    if problems:
        return None, problems
    try:
        return text_frame(source.text, source.name, header, columns)
    except csv.Error as error:
        return None, [not_delimited(source.name, error)]


def rows_in(
    frame: pl.DataFrame,
    records: Records,
    roles: Roles,
    table: BoundTable,
    layout: Layout,
    statements: PublishedStatements,
    padded: bool = False,
) -> tuple[ReleasedRows | None, list[Diagnostic]]:
    """The rows of a frame. Figures are texts, or numbers that have all their digits."""
    at, found = _placed(frame, records, table, roles, padded)
    figures, strange = _figures(frame, records, roles, layout, statements)
    status, unknown = _status(frame, records, roles)
    found = [*found, *strange, *unknown]
    if at is None or found:
        return None, found
    lines = frame[ROW].to_numpy()

    def place(row: int, what: str = "") -> FilePlace:
        return records.place(int(lines[row]), getattr(roles, what) or "" if what else "")

    return ReleasedRows(records.name, place, at, status=status, **figures), []


def _placed(
    frame: pl.DataFrame, records: Records, table: BoundTable, roles: Roles, padded: bool
) -> tuple[np.ndarray | None, list[Diagnostic]]:
    if table.lattice is not None:
        frame = frame.with_columns(
            _codes(frame[column], dimension, padded).alias(column)
            for column, dimension in zip(roles.codes, table.lattice.dimensions, strict=True)
        )
        return _cells_of(frame, records, table.lattice, roles.codes)
    assert table.given is not None
    [column] = roles.codes
    return _numbered(frame[column].to_list(), frame[ROW].to_list(), column, records, table)


def _codes(words: pl.Series, dimension: DimensionCodes, padded: bool) -> pl.Series:
    words = unguarded(words, dimension.codes)
    if not padded or words.is_in(dimension.codes).all():
        return words
    return words.str.strip_chars().fill_null("").replace("", dimension.total)


def _numbered(
    words: list[str | None], lines: list[int], column: str, records: Records, table: BoundTable
) -> tuple[np.ndarray | None, list[Diagnostic]]:
    assert table.given is not None
    number = {str(index): at for at, index in enumerate(table.given.index.tolist())}
    at = [number.get((word or "").strip(), -1) for word in words]
    strange = [i for i, cell in enumerate(at) if cell < 0]
    if strange:
        marks = ((records.place(lines[i], column), f"`{clip(words[i] or '')}`") for i in strange)
        return None, [offenders("SDC304", f"cells that table `{table.name}` does not have", marks, len(strange))]
    cells = np.array(at, dtype=np.int64)
    again = np.setdiff1d(np.arange(len(cells)), np.unique(cells, return_index=True)[1])
    if len(again):
        marks = ((records.place(lines[i]), table.label(at[i])) for i in again)
        return None, [offenders("SDC305", "cells that appear twice", marks, len(again))]
    return cells, []


def _figures(
    frame: pl.DataFrame, records: Records, roles: Roles, layout: Layout, statements: PublishedStatements
) -> tuple[dict[str, Figures], list[Diagnostic]]:
    hidden = frozenset(word.casefold() for word in statements.hidden_words)
    columns = {role: column for role in FIGURES if (column := getattr(roles, role)) is not None}
    spoken = [c for c in columns.values() if frame.schema[c] == pl.String]
    read = dict(zip(spoken, with_decimal_mark([frame[c] for c in spoken], layout.decimal, hidden), strict=True))
    out = {role: Figures.blank(len(frame)) for role in FIGURES}
    out |= {role: read[c] if c in read else Figures.of_numbers(_numbers(frame[c])) for role, c in columns.items()}
    found = []
    for role, column in columns.items():
        figures = out[role]
        bad = figures.kind == STRANGE
        if role in ("value", "base", "deviation"):
            bad |= (figures.kind == NUMBER) & ~np.isfinite(figures.number)
        if role != "value":
            bad |= figures.kind == RANGE
            figures.kind[(figures.kind != NUMBER) & ~bad] = BLANK
        at = np.flatnonzero(bad)
        if len(at):
            words, lines = frame[column].gather(at[:10]).cast(pl.String).to_list(), frame[ROW].gather(at[:10]).to_list()
            marks = [(records.place(n, column), f"found `{clip(w)}`") for n, w in zip(lines, words, strict=True)]
            headline = f"text where a number belongs, in column `{clip(column)}` of {records.name}"
            help = "a word that means hidden in this file can be named" if role == "value" else None
            found.append(offenders("SDC306", headline, marks, len(at), help=help))
    return out, found


def _numbers(column: pl.Series) -> np.ndarray:
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy()


def _status(frame: pl.DataFrame, records: Records, roles: Roles) -> tuple[np.ndarray, list[Diagnostic]]:
    if roles.status is None:
        return np.full(len(frame), UNSAID), []
    words = frame[roles.status].str.strip_chars().fill_null("").str.to_lowercase()
    known = {"": UNSAID, "na": UNSAID, **STATUS_WORDS}
    strange = sorted(set(words.unique().to_list()) - set(known))
    if strange:
        at = np.flatnonzero(words.is_in(strange).to_numpy())
        said, lines = frame[roles.status].gather(at[:10]).to_list(), frame[ROW].gather(at[:10]).to_list()
        marks = [(records.place(n, roles.status), f"`{clip(w)}`") for n, w in zip(lines, said, strict=True)]
        help = "published, hidden, interval and changed are known, and the letters of τ-ARGUS and sdcTable"
        return np.zeros(0), [offenders("SDC322", "statuses with no known meaning", marks, len(at), help=help)]
    return words.replace_strict(known, return_dtype=pl.UInt8).to_numpy(), []
