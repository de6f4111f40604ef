"""SDMX-CSV as releases, 1.0 and 2.0, from this or any other program.

The value is OBS_VALUE. A value whose CONF_STATUS is not F (free) stands there for privileged readers only, and is read
as the letters of τ-ARGUS are: it was to be hidden. Other columns, such as STRUCTURE, ACTION or TIME_PERIOD, say nothing
about a cell of the table.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from sdcdsl.bind.readers.csv_text import Header
from sdcdsl.bind.readers.records import Records
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, Source
from sdcdsl.released import sdmx
from sdcdsl.released.columns import Roles, code_columns, missing_column
from sdcdsl.released.delimited import frame_of, rows_in
from sdcdsl.released.rows import ReleasedRows
from sdcdsl.released.statements import Layout, PublishedStatements
from sdcdsl.released.status_words import CHANGED, STATUS_WORDS, TOOL_HIDDEN, UNSAID

_FREE = ("", "F")


def looks_like_sdmx(header: Header) -> bool:
    return _named(header, sdmx.VALUE) is not None


def read_sdmx(
    source: Source, header: Header, table: BoundTable, layout: Layout, statements: PublishedStatements
) -> tuple[ReleasedRows | None, list[Diagnostic]]:
    roles, problems = _roles(source.name, header, table, layout)
    if roles is None:
        return None, problems
    beside = {name: column for name in (sdmx.CONFIDENTIAL, sdmx.COMMENT) if (column := _named(header, name))}
    frame, problems = frame_of(source, header, [*roles.all, *beside.values()])
    if frame is None:
        return None, problems
    records = Records(source.name, frame.lazy(), lines=True)
    rows, problems = rows_in(frame, records, roles, table, layout, statements)
    if rows is None:
        return None, problems
    return replace(rows, status=_status(frame, beside)), []


def _roles(name: str, header: Header, table: BoundTable, layout: Layout) -> tuple[Roles | None, list[Diagnostic]]:
    found: list[Diagnostic] = []

    def column(*candidates: str | None) -> str:
        candidates_left = [c for c in candidates if c is not None]
        there = next((there for c in candidates_left if (there := _named(header, c)) is not None), None)
        if there is None:
            found.append(missing_column(name, header.last_line, candidates_left[0], header.names))
        return there or ""

    dimensions = zip(code_columns(table), sdmx.dimension_columns(table), strict=True)
    codes = tuple(column(layout.columns.get(dim), usual, dim) for dim, usual in dimensions)
    given = None if "value" in code_columns(table) else layout.columns.get("value")
    value = column(given, sdmx.VALUE)
    roles = Roles(codes, value, low=_named(header, sdmx.LOW), high=_named(header, sdmx.HIGH))
    return (None if found else roles), found


def _status(frame: pl.DataFrame, beside: dict[str, str]) -> np.ndarray:
    status = np.full(len(frame), UNSAID)
    if sdmx.COMMENT in beside:
        words = frame[beside[sdmx.COMMENT]].str.strip_chars().str.to_lowercase().to_list()
        status[[STATUS_WORDS.get(word or "") == CHANGED for word in words]] = CHANGED
    if sdmx.CONFIDENTIAL in beside:
        letter = frame[beside[sdmx.CONFIDENTIAL]].str.strip_chars().str.to_uppercase().fill_null("")
        status[~letter.is_in(_FREE).to_numpy()] = TOOL_HIDDEN
    return status


def _named(header: Header, name: str) -> str | None:
    return next((column for column in header.names if column.casefold() == name.casefold()), None)
