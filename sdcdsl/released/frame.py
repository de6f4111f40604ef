"""A pattern as the canonical table of a release: the dimensions, then `value`, `low`, `high`, `status`.

`low` and `high` stand where the value alone does not say it, so that the file reads back as the same pattern.

Where nothing is published about changes, the file must not tell which cells did not change either: whoever knows that
works with exact figures. All cells are called adjusted there, but for those that the policy wants published as they
are.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.table import BoundTable
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN, INTERVAL
from sdcdsl.released.columns import written_columns
from sdcdsl.released.printing import as_printed
from sdcdsl.released.rows import cells_by_table

FIGURES = ("value", "low", "high")
STATUS = "status"
WORDS = {EXACT: "published", HIDDEN: "hidden", INTERVAL: "interval", CHANGED: "changed"}


def bound_table(problem: TableProblem, table: str) -> BoundTable:
    return next(t for t in problem.tables if t.name == table)


def codes_of(table: BoundTable) -> list[pl.Series]:
    """A column for each dimension, or one with the numbers of the cells."""
    if table.lattice is None:
        assert table.given is not None
        return [pl.Series(table.given.index.tolist()).cast(pl.String)]
    numbers = np.unravel_index(np.arange(table.size), table.lattice.shape)
    return [
        pl.Series(dimension.codes, dtype=pl.String).gather(number)
        for dimension, number in zip(table.lattice.dimensions, numbers, strict=True)
    ]


def release_frame(problem: TableProblem, pattern: Pattern, table: str, decimals: int | None = None) -> pl.DataFrame:
    """A row for every cell of the table; nan where nothing is printed."""
    bound = bound_table(problem, table)
    cells = cells_by_table(problem)[table]
    codes = dict(zip(written_columns(bound), codes_of(bound), strict=True))
    printed = as_printed(problem, pattern, decimals)
    value, low, high, status = (x[cells] for x in (printed.value, printed.low, printed.high, printed.status))
    unsaid = np.isneginf(low) & np.isposinf(high) & ((status != CHANGED) | (not pattern.claims))
    clear = (low == high) & (low == value) & (status == EXACT) & pattern.claims
    bare = unsaid | clear
    figures = {"value": value, "low": np.where(bare, np.nan, low), "high": np.where(bare, np.nan, high)}
    return pl.DataFrame({**codes, **figures, STATUS: _words(problem, pattern, cells)})


def _words(problem: TableProblem, pattern: Pattern, cells: np.ndarray) -> np.ndarray:
    status = pattern.status[cells]
    if pattern.claims:
        return np.select([status == word for word in WORDS], list(WORDS.values()), default="")
    kept = problem.dataset["status"].values[cells] == "z"
    return np.where(status == HIDDEN, "hidden", np.where(kept, "published", "adjusted"))


def texts(values: np.ndarray, decimal: str = ".") -> pl.Series:
    """Whole numbers without a point, others with all the digits that tell them apart; null for nan."""
    none = np.isnan(values)
    whole = ~none & (np.rint(values) == values) & (np.abs(values) < 1e15)
    out = pl.Series(np.where(whole, values, np.nan)).fill_nan(None).cast(pl.Int64).cast(pl.String)
    odd = np.flatnonzero(~whole & ~none)
    figures = [repr(value).replace(".", decimal) for value in values[odd].tolist()]  # `repr` says inf as it is
    return out.scatter(odd, pl.Series(figures, dtype=pl.String)) if len(odd) else out
