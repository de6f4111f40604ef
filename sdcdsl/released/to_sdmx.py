"""A release as SDMX-CSV (`sdmx` says what the columns are).

Which of the hidden cells are sensitive and which only hide them helps attackers: they know where to
look, and that the others mostly are ordinary. All hidden cells are N, therefore, unless somebody wants C and D.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.released import sdmx
from sdcdsl.released.columns import written_columns
from sdcdsl.released.frame import bound_table, release_frame, texts
from sdcdsl.released.rows import cells_by_table
from sdcdsl.released.write import csv_bytes

NOT_SHOWN = ("hidden", "interval")
COMMENTS = ("interval", "changed", "adjusted")


def write_release_sdmx(
    problem: TableProblem,
    pattern: Pattern,
    table: str,
    path: Path,
    *,
    dataflow: str | None = None,
    decimals: int | None = None,
    version: int = 1,
    mark_primary: bool = False,
) -> None:
    bound = bound_table(problem, table)
    frame = release_frame(problem, pattern, table, decimals)
    words = frame["status"]
    shown = ~words.is_in(NOT_SHOWN).to_numpy()
    columns = sdmx.structure_columns(dataflow or default_dataflow(table), len(frame), version)
    names = zip(sdmx.dimension_columns(bound), written_columns(bound), strict=True)
    columns |= {ours: frame[name] for ours, name in names}
    columns[sdmx.VALUE] = texts(frame["value"].to_numpy())
    columns[sdmx.STATUS] = pl.Series(np.where(shown, sdmx.NORMAL, sdmx.SUPPRESSED))
    columns[sdmx.CONFIDENTIAL] = pl.Series(np.where(shown, sdmx.FREE, _reason(problem, table, mark_primary)))
    columns |= {sdmx.LOW: texts(frame["low"].to_numpy()), sdmx.HIGH: texts(frame["high"].to_numpy())}
    columns[sdmx.COMMENT] = pl.select(pl.when(words.is_in(COMMENTS)).then(words)).to_series()
    path.write_bytes(csv_bytes(pl.DataFrame(columns)))


def default_dataflow(table: str) -> str:
    """Agency, identifier and version; nobody's, so that it is seen to want a better one."""
    return f"SDC:{sdmx.identifier(table)}(1.0)"


def _reason(problem: TableProblem, table: str, mark_primary: bool) -> np.ndarray:
    cells = cells_by_table(problem)[table]
    if not mark_primary:
        return np.full(len(cells), sdmx.NOT_PUBLISHED)
    sensitive = problem.dataset["status"].values[cells] == "u"
    return np.where(sensitive, sdmx.PRIMARY, sdmx.SECONDARY)
