"""A pattern as the canonical table of a release: the dimensions, then `value`, `low`, `high`, `status`.

`low` and `high` stand where the value alone does not say it, so that the file reads back as the same pattern.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN, INTERVAL
from sdcdsl.released.columns import code_columns
from sdcdsl.released.rows import cells_by_table

WORDS = {EXACT: "published", HIDDEN: "hidden", INTERVAL: "interval", CHANGED: "changed"}


def write_release_csv(
    problem: TableProblem, pattern: Pattern, table: str, path: Path, *, delimiter: str = ",", decimal: str = "."
) -> None:
    """One table of the problem, every cell a row. A pattern that claims nothing about its changes writes none."""
    columns = _columns(problem, pattern, table)
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        out.writerow(columns)
        *codes, values, lows, highs, statuses = columns.values()
        for *code, value, low, high, status in zip(*codes, values, lows, highs, statuses, strict=True):
            out.writerow([*code, *(_figure(x, decimal) for x in (value, low, high)), status])


def write_release_parquet(problem: TableProblem, pattern: Pattern, table: str, path: Path) -> None:
    """The same table; figures are numbers there, and null where none is printed."""
    columns = _columns(problem, pattern, table)
    frame = pl.DataFrame(columns)
    figures = [pl.col(name).cast(pl.Float64).fill_nan(None) for name in ("value", "low", "high")]
    frame.with_columns(figures).write_parquet(path)


def _columns(problem: TableProblem, pattern: Pattern, table: str) -> dict[str, Sequence]:
    """By name, a row for every cell of the table; nan where nothing is printed."""
    bound = next(t for t in problem.tables if t.name == table)
    cells = cells_by_table(problem)[table]
    if bound.lattice is not None:
        rows = [list(bound.lattice.codes(local).values()) for local in range(len(cells))]
        codes = {name: [row[i] for row in rows] for i, name in enumerate(code_columns(bound))}
    else:
        assert bound.given is not None
        [name] = code_columns(bound)
        codes = {name: [str(index) for index in bound.given.index.tolist()]}
    value, low, high, status = (x[cells] for x in (pattern.value, pattern.low, pattern.high, pattern.status))
    unsaid = np.isneginf(low) & np.isposinf(high) & ((status != CHANGED) | (not pattern.claims))
    clear = (low == high) & (low == value) & (status == EXACT) & pattern.claims
    bare = unsaid | clear
    return {
        **codes,
        "value": value.tolist(),
        "low": np.where(bare, np.nan, low).tolist(),
        "high": np.where(bare, np.nan, high).tolist(),
        "status": [WORDS[word] for word in status.tolist()],
    }


def _figure(value: float, decimal: str) -> str:
    if np.isnan(value):
        return ""
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value).replace(".", decimal)
