"""What several files say about the cells their tables share: the same, or the release contradicts itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.readers.wording import figure
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.released.released_cells import ReleasedCells


def merge(
    problem: TableProblem, released: Mapping[str, ReleasedCells], maps: Mapping[str, np.ndarray]
) -> tuple[ReleasedCells, list[Diagnostic]]:
    """By cell of the problem; of cells in two tables, what the first of them says."""
    out = ReleasedCells.nothing(problem.n)
    source = np.full(problem.n, -1)
    found: list[Diagnostic] = []
    names = list(released)
    for at, (name, mine) in enumerate(released.items()):
        here = maps[name]
        again = source[here] >= 0
        differ = np.flatnonzero(again & ~_alike(out.take(here), mine))
        if len(differ):
            headline = f"{cells(differ)} shared by two tables, and published differently in them"

            def says(i: int, here=here, mine=mine, name=name) -> str:
                cell = int(here[i])
                first = f"{names[source[cell]]} {_said(out, cell)}"
                return f"{problem.label(cell)}: {first}, {name} {_said(mine, i)}"

            found.append(diagnostic("SDC406", headline, notes=[first_cells(differ, says)]))
        fresh = ~again
        for field in ReleasedCells.__dataclass_fields__:
            getattr(out, field)[here[fresh]] = getattr(mine, field)[fresh]
        source[here[fresh]] = at
    return out, found


def _alike(one: ReleasedCells, other: ReleasedCells) -> np.ndarray:
    tolerance = one.half + other.half + 1e-9 * np.maximum(np.abs(one.number), np.abs(other.number))
    alike = np.isnan(one.number) == np.isnan(other.number)
    alike &= ~(np.abs(one.number - other.number) > tolerance)
    alike &= one.changed == other.changed
    for field in ("low", "high", "base", "deviation"):
        a, b = getattr(one, field), getattr(other, field)
        with np.errstate(invalid="ignore"):
            alike &= (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= 1e-9 * np.abs(a))
    return alike


def _said(released: ReleasedCells, cell: int) -> str:
    if not np.isnan(released.number[cell]):
        return f"says {figure(released.number[cell])}"
    if np.isnan(released.low[cell]):
        return "hides it"
    return f"says {figure(released.low[cell])} to {figure(released.high[cell])}"
