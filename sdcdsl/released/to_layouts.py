"""The layouts that τ-ARGUS writes of a safe table: the cross table, the list for pivot tables, and code–value.

    cross table    for each combination of the first dimensions a table of the last two: `Var 1,"A"`, a line of the
                   codes of the last dimension, a line for each code of the last but one, and an empty line
    pivot          a line with the names of the dimensions and of the value, then a line for each cell
    code–value     the same lines of cells, without the line of names

Codes stand in quotation marks, fields are separated by commas, and every figure has as many decimals as the one that
needs most. A hidden cell is `x`, an interval `5..30`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.released.columns import written_columns
from sdcdsl.released.formula_guard import guarded
from sdcdsl.released.frame import FIGURES, bound_table, release_frame, texts

HIDDEN, SAFE, UNSAFE = "x", "S", "U"


def write_cross_table(
    problem: TableProblem,
    pattern: Pattern,
    table: str,
    path: Path,
    *,
    decimals: int | None = None,
    quotes: bool = True,
    spreadsheet_safe: bool | None = None,
) -> None:
    bound = bound_table(problem, table)
    frame, said, _ = _cells(problem, pattern, table, decimals, spreadsheet_safe)
    names = written_columns(bound)
    codes = [frame[name].unique(maintain_order=True).to_list() for name in names]
    figures = said.to_list()
    out = io.StringIO()
    write = _lines(out, quotes)
    if len(names) == 1:
        write(["", *codes[0]])
        write([""], figures)
        path.write_bytes(out.getvalue().encode())
        return
    rows, columns = codes[-2:]
    at = 0
    for layer in product(*codes[:-2]):
        if layer:
            out.write(", ".join(f"Var {i},{_field(code, quotes)}" for i, code in enumerate(layer, 1)) + "\n")
        write(["", *columns])
        for row in rows:
            write([row], figures[at : at + len(columns)])
            at += len(columns)
        out.write("\n")
    path.write_bytes(out.getvalue().encode())


def write_pivot(problem: TableProblem, pattern: Pattern, table: str, path: Path, **options: Any) -> None:
    _list(problem, pattern, table, path, ListLayout(**options, names=True))


def write_code_value(problem: TableProblem, pattern: Pattern, table: str, path: Path, **options: Any) -> None:
    _list(problem, pattern, table, path, ListLayout(**options))


@dataclass(frozen=True)
class ListLayout:
    decimals: int | None = None
    quotes: bool = True
    status: bool = False
    leave_out_zeros: bool = False
    names: bool = False
    spreadsheet_safe: bool | None = None


def _list(problem: TableProblem, pattern: Pattern, table: str, path: Path, layout: ListLayout) -> None:
    bound = bound_table(problem, table)
    frame, said, shown = _cells(problem, pattern, table, layout.decimals, layout.spreadsheet_safe)
    # τ-ARGUS leaves out cells to which nobody contributes. Which of the zeros these are is not published.
    zero = shown & (frame["value"].to_numpy() == 0) if layout.leave_out_zeros else np.zeros(len(frame), dtype=bool)
    columns = written_columns(bound)
    out = io.StringIO()
    write = _lines(out, layout.quotes)
    if layout.names:
        write([*columns, _free("value", columns), *(["status"] if layout.status else [])])
    letters = [SAFE if safe else UNSAFE for safe in shown.tolist()]
    for row, figure, letter, gone in zip(frame.select(columns).rows(), said.to_list(), letters, zero, strict=True):
        if not gone:
            write(list(row), [figure, letter] if layout.status else [figure])
    path.write_bytes(out.getvalue().encode())


def _free(name: str, taken: Sequence[str]) -> str:
    return name if name not in taken else _free(f"{name}_", taken)


def _cells(
    problem: TableProblem, pattern: Pattern, table: str, decimals: int | None, spreadsheet_safe: bool | None
) -> tuple[pl.DataFrame, pl.Series, np.ndarray]:
    """The codes of all cells, what is printed of each, and whether that is a figure."""
    bound = bound_table(problem, table)
    frame = release_frame(problem, pattern, table, decimals)
    value, low, high = (texts(frame[name].to_numpy()) for name in FIGURES)
    interval = frame["status"] == "interval"
    shown = (value.is_not_null() & ~interval).to_numpy()
    figures = _even(value, shown)
    ends = _end(low) + ".." + _end(high)
    printed = pl.when(pl.Series(shown)).then(figures).otherwise(pl.lit(HIDDEN))
    said = pl.select(pl.when(interval).then(ends).otherwise(printed)).to_series()
    if spreadsheet_safe is not False:
        frame = frame.with_columns(guarded(frame[name]).alias(name) for name in written_columns(bound))
    return frame, said, shown


def _even(figures: pl.Series, shown: np.ndarray) -> pl.Series:
    """All with as many decimals as the one that needs most; figures with an exponent stay as they are."""
    plain = figures.str.contains(r"^-?[0-9]+(\.[0-9]+)?$").fill_null(False) & pl.Series(shown)
    places = figures.str.split(".").list.get(1, null_on_oob=True).str.len_chars().fill_null(0)
    most = int(places.filter(plain).max() or 0)  # type: ignore[arg-type]
    if not most:
        return figures
    dotted = pl.when(places == 0).then(figures + ".").otherwise(figures)
    padded = pl.select(dotted).to_series() + pl.Series(["0" * (most - p) for p in places.to_list()])
    return pl.select(pl.when(plain).then(padded).otherwise(figures)).to_series()


def _end(figure: pl.Series) -> pl.Series:
    """Open ends are left out."""
    return figure.fill_null("").replace(["inf", "-inf"], ["", ""])


def _field(code: str, quotes: bool) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="", quoting=csv.QUOTE_ALL if quotes else csv.QUOTE_MINIMAL).writerow([code])
    return out.getvalue()


def _lines(out: io.StringIO, quotes: bool) -> Callable[..., None]:
    def write(codes: list[str], figures: list[str] | None = None) -> None:
        fields = [_field(code, quotes) if code else "" for code in codes]
        out.write(",".join([*fields, *(figures or [])]) + "\n")

    return write
