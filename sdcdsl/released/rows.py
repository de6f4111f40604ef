"""What one file says, row by row, whatever its format; and what a table must have for a file to be placed on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.linking import NamedTable, link
from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import FilePlace
from sdcdsl.released.figures import Figures


@dataclass(frozen=True, eq=False)
class ReleasedRows:
    """One row a cell; `cell` counts within the table. Nothing is said where a figure is blank."""

    name: str
    place: Callable[[int, str], FilePlace]  # of a row, counted from 0, and one of `value`, `low` … or ""
    cell: np.ndarray
    value: Figures
    low: Figures
    high: Figures
    status: np.ndarray  # kinds of `words`
    base: Figures
    deviation: Figures


def cells_by_table(problem: TableProblem) -> dict[str, np.ndarray]:
    """The problem's number of every cell of every table, in the order of the table's own cells."""
    tables = problem.tables
    if any(t.lattice is None for t in tables):  # cells that have numbers and no codes are shared by nobody
        starts = np.cumsum([0, *(t.size for t in tables)])
        return {t.name: np.arange(s, s + t.size) for t, s in zip(tables, starts[:-1], strict=True)}
    linked = link([NamedTable(t.name, t.measure, t.lattice) for t in tables if t.lattice is not None])
    return {t.name: cells for t, cells in zip(tables, linked.maps, strict=True)}
