"""A pattern as the canonical CSV of a released table: the dimensions, then `value`, `low`, `high`, `status`.

`low` and `high` stand where the value alone does not say it, so that the file reads back as the same pattern.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN, INTERVAL
from sdcdsl.released.columns import code_columns
from sdcdsl.released.rows import cells_by_table

WORDS = {EXACT: "published", HIDDEN: "hidden", INTERVAL: "interval", CHANGED: "changed"}


def write_release_csv(problem: TableProblem, pattern: Pattern, table: str, path: Path) -> None:
    """One table of the problem, every cell a row. A pattern that claims nothing about its changes writes none."""
    bound = next(t for t in problem.tables if t.name == table)
    cells = cells_by_table(problem)[table]
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow([*code_columns(bound), "value", "low", "high", "status"])
        for local, cell in enumerate(cells.tolist()):
            if bound.lattice is not None:
                codes = list(bound.lattice.codes(local).values())
            else:
                assert bound.given is not None
                codes = [str(bound.given.index[local])]
            out.writerow([*codes, *_figures(pattern, cell), WORDS[str(pattern.status[cell])]])


def _figures(pattern: Pattern, cell: int) -> tuple[str, str, str]:
    value, low, high = float(pattern.value[cell]), float(pattern.low[cell]), float(pattern.high[cell])
    printed = "" if np.isnan(value) else _figure(value)
    unsaid = low == -np.inf and high == np.inf and (pattern.status[cell] != CHANGED or not pattern.claims)
    clear = low == high == value and pattern.status[cell] == EXACT and pattern.claims
    return (printed, "", "") if unsaid or clear else (printed, _figure(low), _figure(high))


def _figure(value: float) -> str:
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
