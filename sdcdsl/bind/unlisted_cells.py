"""Leaves of a table of ready-made cells that the file does not mention: empty cells, or holes in the data?

The file itself can tell. Where no value is negative and nothing is subtracted, a total in the file that is the sum of
the leaves in the file leaves nothing for the others: they are zero, and are named (SDC343). Where no total says so, or
a total counts more contributors than its leaves, nobody knows what is missing, and the table is not bound (SDC309). The
policy can say that such cells are empty: `value COLUMN { absent zero }`.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.bind import naming
from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.tabulation import roll_sum
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic

HELP = "add the rows, with the value 0 for an empty cell; or say that they are all empty: value COLUMN { absent zero }"


def absent_leaves(
    row: np.ndarray, value: np.ndarray, counts: np.ndarray | None, cells: Lattice, place: FilePlace
) -> list[Diagnostic]:
    """What is to be said about leaves without a row; `value` and `counts` are those of the file, nan where it has none.
    The totals of the file are known to add up without these leaves."""
    absent = (row < 0) & cells.is_leaf
    if not absent.any():
        return []
    holes = absent & ~_below(cells, (row >= 0) & ~cells.is_leaf)
    if (value < 0).any() or any((c.sign < 0).any() for c in cells.compositions):
        holes = absent
    if holes.any():
        return [_said("SDC309", holes, "that no total shows to be empty", cells, place)]
    if counts is not None and (peopled := _counted(row, counts, cells, absent)).any():
        return [_said("SDC309", peopled, "below totals that count more contributors", cells, place)]
    return [_said("SDC343", absent, "taken as zero, since its totals leave nothing for them", cells, place)]


def _said(code: str, which: np.ndarray, what: str, cells: Lattice, place: FilePlace) -> Diagnostic:
    at = np.flatnonzero(which)
    headline = f"{naming.cells(at)} without a row in {place.name}, {what}"
    return diagnostic(code, headline, place, notes=[naming.first_cells(at, cells.label)], help=HELP)


def _counted(row: np.ndarray, counts: np.ndarray, cells: Lattice, absent: np.ndarray) -> np.ndarray:
    """Absent leaves below a total with more contributors than all its leaves together: some are in the absent ones.
    The other way round says nothing, since somebody may contribute to several leaves."""
    stated = np.where(cells.is_leaf, np.nan_to_num(counts), 0.0)
    reached = roll_sum(cells, stated, signed=False)
    more = (row >= 0) & ~cells.is_leaf & (np.nan_to_num(counts) > reached + 0.5)
    return absent & _below(cells, more)


def _below(cells: Lattice, marked: np.ndarray) -> np.ndarray:
    """Cells that are part of a marked one."""
    down = marked.copy()
    for d, composition in enumerate(cells.compositions):
        slabs = down.reshape(-1, cells.shape[d], cells.stride[d])
        for parents, children, _ in reversed(composition.steps):
            for parent, child in zip(parents, children, strict=True):  # a code may be a child in two trees
                slabs[:, child] |= slabs[:, parent]
    return down
