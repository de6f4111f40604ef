"""Which cell of one problem is which cell of another: by table and codes, or by table and number.

A table without a dimension stands at that dimension's total, as when tables are linked. Codes are known by their text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.evaluate import View
from sdcdsl.bind.problem import TableProblem


@dataclass(frozen=True, eq=False)
class Alignment:
    """Cells that both problems have, and those that only one has."""

    old: np.ndarray  # int64 [both]
    new: np.ndarray  # int64 [both]: the same cells in the other problem
    only_old: np.ndarray
    only_new: np.ndarray


def align(old: TableProblem, new: TableProblem) -> Alignment:
    to_new = np.full(old.n, -1, dtype=np.int64)
    tables = {view.table: view for view in new.views if view.is_table}
    for view in old.views:
        other = tables.get(view.table)
        if not view.is_table or other is None:
            continue
        local = _local(view, other)
        there = np.flatnonzero((local >= 0) & (to_new[view.cells] < 0))
        to_new[view.cells[there]] = other.cells[local[there]]
    _sums(old, new, to_new)
    both = np.flatnonzero(to_new >= 0)
    # Two cells of one problem never mean the same; should tables disagree about that, the first one counts.
    _, first = np.unique(to_new[both], return_index=True)
    both = both[np.sort(first)]
    alone = np.ones(old.n, dtype=bool)
    alone[both] = False
    fresh = np.ones(new.n, dtype=bool)
    fresh[to_new[both]] = False
    return Alignment(both, to_new[both], np.flatnonzero(alone), np.flatnonzero(fresh))


def _local(old: View, new: View) -> np.ndarray:
    """For every cell of the old table its number in the new one, -1 where there is none."""
    if old.numbers is not None and new.numbers is not None:
        order = np.argsort(new.numbers, kind="stable")
        if not len(order):
            return np.full(len(old.numbers), -1)
        at = order[np.minimum(np.searchsorted(new.numbers, old.numbers, sorter=order), len(order) - 1)]
        return np.where(new.numbers[at] == old.numbers, at, -1)
    if old.lattice is None or new.lattice is None:
        return np.full(len(old.cells), -1)
    cells = np.arange(len(old.cells))
    out, missing = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=bool)
    before = {codes.name: place for place, codes in enumerate(old.lattice.dimensions)}
    for place, codes in enumerate(new.lattice.dimensions):
        if codes.name in before:
            was = before.pop(codes.name)
            names = old.lattice.dimensions[was].codes
            number = np.array([codes.index.get(name, -1) for name in names])[old.lattice.codes_at(cells, was)]
        else:
            number = np.full(len(cells), codes.index[codes.total])
        missing |= number < 0
        out += number * new.lattice.stride[place]
    for place in before.values():
        codes = old.lattice.dimensions[place]
        missing |= old.lattice.codes_at(cells, place) != codes.index[codes.total]
    return np.where(missing, -1, out)


def _sums(old: TableProblem, new: TableProblem, to_new: np.ndarray) -> None:
    """Sums that exist only to be protected are the same if their members are."""
    known = {new.label(int(cell)): int(cell) for cell in np.flatnonzero(~new.dataset["published"].values)}
    for cell in np.flatnonzero(~old.dataset["published"].values) if known else ():
        to_new[cell] = known.get(old.label(int(cell)), -1)
