"""CSV and Parquet: the canonical table of a release (`frame`), as text or as numbers."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.released.columns import written_columns
from sdcdsl.released.formula_guard import guarded, may_be_cut
from sdcdsl.released.frame import FIGURES, bound_table, release_frame, texts
from sdcdsl.released.labels import with_labels


def write_release_csv(
    problem: TableProblem,
    pattern: Pattern,
    table: str,
    path: Path,
    *,
    delimiter: str = ",",
    decimal: str = ".",
    decimals: int | None = None,
    spreadsheet_safe: bool | None = None,
    labels: Sequence[str] | None = None,
) -> None:
    """One table of the problem, every cell a row. A pattern that claims nothing about its changes writes none.

    `spreadsheet_safe`: None guards codes where a spreadsheet would find a formula, True puts every field in quotation
    marks as well, False leaves codes as they are.
    """
    frame = release_frame(problem, pattern, table, decimals)
    frame = frame.with_columns([texts(frame[name].to_numpy(), decimal).alias(name) for name in FIGURES])
    bound = bound_table(problem, table)
    frame, words = with_labels(frame, bound, labels)
    quoted = bool(spreadsheet_safe)
    if spreadsheet_safe is not False:
        said = [*written_columns(bound), *words]
        quoted |= any(may_be_cut(frame[name]) for name in said)
        frame = frame.with_columns([guarded(frame[name]).alias(name) for name in said])
    path.write_bytes(csv_bytes(frame, delimiter, quoted=quoted))


def write_release_parquet(
    problem: TableProblem,
    pattern: Pattern,
    table: str,
    path: Path,
    *,
    decimals: int | None = None,
    labels: Sequence[str] | None = None,
) -> None:
    """The same table; figures are numbers there, and null where none is printed."""
    frame, _ = with_labels(release_frame(problem, pattern, table, decimals), bound_table(problem, table), labels)
    made = io.BytesIO()
    frame.with_columns([pl.col(name).fill_nan(None) for name in FIGURES]).write_parquet(made)
    path.write_bytes(made.getvalue())


def csv_bytes(frame: pl.DataFrame, delimiter: str = ",", header: bool = True, quoted: bool = False) -> bytes:
    """In memory: what a full disk says to Python is one kind of error, whoever made the text. `quoted`: every field
    stands in quotation marks, so that a spreadsheet that expects another delimiter cuts nothing out of a code."""
    made = io.BytesIO()
    style = "always" if quoted else "necessary"
    frame.write_csv(made, separator=delimiter, line_terminator="\n", include_header=header, quote_style=style)
    return made.getvalue()
