"""A pattern as the canonical table of a release: the dimensions, then `value`, `low`, `high`, `status`.

`low` and `high` stand where the value alone does not say it, so that the file reads back as the same pattern.

Where nothing is published about changes, the file must not tell which cells did not change either: whoever knows that
works with exact figures. All cells are called adjusted there, but for those that the policy wants published as they
are.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN, INTERVAL
from sdcdsl.released.columns import code_columns
from sdcdsl.released.rows import cells_by_table

FIGURES = ("value", "low", "high")
WORDS = {EXACT: "published", HIDDEN: "hidden", INTERVAL: "interval", CHANGED: "changed"}


def write_release_csv(
    problem: TableProblem, pattern: Pattern, table: str, path: Path, *, delimiter: str = ",", decimal: str = "."
) -> None:
    """One table of the problem, every cell a row. A pattern that claims nothing about its changes writes none."""
    frame = _frame(problem, pattern, table)
    figures = [_figures(frame[name].to_numpy(), decimal).alias(name) for name in FIGURES]
    frame.with_columns(figures).write_csv(path, separator=delimiter, line_terminator="\n")


def write_release_parquet(problem: TableProblem, pattern: Pattern, table: str, path: Path) -> None:
    """The same table; figures are numbers there, and null where none is printed."""
    frame = _frame(problem, pattern, table)
    frame.with_columns([pl.col(name).fill_nan(None) for name in FIGURES]).write_parquet(path)


def _frame(problem: TableProblem, pattern: Pattern, table: str) -> pl.DataFrame:
    """A row for every cell of the table; nan where nothing is printed."""
    bound = next(t for t in problem.tables if t.name == table)
    cells = cells_by_table(problem)[table]
    names = code_columns(bound)
    if bound.lattice is not None:
        numbers = np.unravel_index(np.arange(len(cells)), bound.lattice.shape)
        codes = {
            name: pl.Series(dimension.codes, dtype=pl.String).gather(number)
            for name, dimension, number in zip(names, bound.lattice.dimensions, numbers, strict=True)
        }
    else:
        assert bound.given is not None
        [name] = names
        codes = {name: pl.Series(bound.given.index.tolist()).cast(pl.String)}
    value, low, high, status = (x[cells] for x in (pattern.value, pattern.low, pattern.high, pattern.status))
    unsaid = np.isneginf(low) & np.isposinf(high) & ((status != CHANGED) | (not pattern.claims))
    clear = (low == high) & (low == value) & (status == EXACT) & pattern.claims
    bare = unsaid | clear
    figures = {"value": value, "low": np.where(bare, np.nan, low), "high": np.where(bare, np.nan, high)}
    return pl.DataFrame({**codes, **figures, "status": _words(problem, pattern, cells)})


def _words(problem: TableProblem, pattern: Pattern, cells: np.ndarray) -> np.ndarray:
    status = pattern.status[cells]
    if pattern.claims:
        return np.select([status == word for word in WORDS], list(WORDS.values()), default="")
    kept = problem.dataset["status"].values[cells] == "z"
    return np.where(status == HIDDEN, "hidden", np.where(kept, "published", "adjusted"))


def _figures(values: np.ndarray, decimal: str) -> pl.Series:
    """As text: whole numbers without a point, others with all the digits that tell them apart."""
    none = np.isnan(values)
    whole = ~none & (np.rint(values) == values) & (np.abs(values) < 1e15)
    out = pl.Series(np.where(whole, values, np.nan)).fill_nan(None).cast(pl.Int64).cast(pl.String)
    odd = np.flatnonzero(~whole & ~none)
    texts = [_figure(value, decimal) for value in values[odd].tolist()]
    return out.scatter(odd, pl.Series(texts, dtype=pl.String)) if len(odd) else out


def _figure(value: float, decimal: str) -> str:
    """`repr` says inf as it is."""
    return repr(value).replace(".", decimal)
