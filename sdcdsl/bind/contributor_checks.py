"""Contributors of ready-made cells: numbers and largest contributions that no contributors could have (SDC323).

Largest contributions of other cells than those of the values, or in another unit, would be judged by the rules all the
same. In a table without negative values no contribution is negative, none is larger than the cell, all that are given
together are not, and there are at least as many contributors as contributions; in any table the second is not larger
than the first. Where values are negative so may contributions be, and only their order is known.

Files carry rounded figures. Rounding keeps the order of two figures, and moves each term of a sum by half of a unit of
the last digit at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.readers.records import ROW, Records
from sdcdsl.bind.readers.wording import clip, figure, offenders
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.diagnostics.confidential import secret

ROUNDING = 1e-6
MOST_DECIMALS = 6


def contributors_fit(
    value: np.ndarray,
    counts: Mapping[str, np.ndarray],
    largest: Mapping[str, np.ndarray],
    row: np.ndarray,
    frame: pl.DataFrame,
    records: Records,
    cells: Lattice,
) -> list[Diagnostic]:
    """All figures as the file gives them, by cell and column, nan where it has none; `largest` from the first on."""

    def reported(bad: np.ndarray, what: str, column: str, *others: tuple[str, np.ndarray]) -> Iterator[Diagnostic]:
        at = np.flatnonzero(bad & (row >= 0))
        if len(at):
            lines = frame[ROW].gather(row[at[:10]]).to_list()
            marks = [
                (records.place(line, column), f"{cells.label(int(c))}: {_figures(int(c), others)}")
                for line, c in zip(lines, at[:10], strict=False)
            ]
            yield offenders("SDC323", f"column `{clip(column)}` of {records.name}: {what}", marks, len(at))

    found: list[Diagnostic] = []
    signed = bool((value < 0).any())
    slack = ROUNDING * np.abs(value)
    for column, given in counts.items():
        found += reported(given < 0, "less than no contributors", column, (column, given))
    before: tuple[str, np.ndarray] | None = None
    for column, given in largest.items():
        if not signed:
            found += reported(given < 0, "contributions below zero", column, (column, given))
            found += reported(
                given > value + slack, "contributions larger than the cell", column, (column, given), ("value", value)
            )
        if before is not None:
            above = np.abs(given) > np.abs(before[1]) + ROUNDING * np.abs(before[1])
            found += reported(
                above, f"contributions larger than those of `{clip(before[0])}`", column, (column, given), before
            )
        before = column, given
    if found or not largest:
        return found
    columns = list(largest)
    known = np.stack([np.nan_to_num(given) for given in largest.values()])
    if not signed:
        tolerance = slack + 0.5 * (len(columns) + 1) * _unit([value, *largest.values()])
        bad = known.sum(axis=0) > value + tolerance
        found += reported(
            bad, "contributions that are larger together than the cell", columns[-1], *largest.items(), ("value", value)
        )
    for column, given in counts.items():
        fewer = given < (known != 0).sum(axis=0)
        found += reported(fewer, "fewer contributors than contributions", column, (column, given), *largest.items())
    return found


def _figures(cell: int, columns: Sequence[tuple[str, np.ndarray]]) -> str:
    return ", ".join(f"{clip(name)} {secret(figure(float(x[cell])))}" for name, x in columns)


def _unit(columns: Sequence[np.ndarray]) -> float:
    """What the last digit of the figures counts: 1 where all are whole, 0.1 where they have one decimal; 0 where they
    have so many that they were hardly rounded."""
    figures = np.concatenate([x[np.isfinite(x)] for x in columns])
    for decimals in range(MOST_DECIMALS):
        scaled = figures * 10.0**decimals
        if np.allclose(scaled, np.rint(scaled), rtol=1e-12, atol=1e-9):
            return 10.0**-decimals
    return 0.0
