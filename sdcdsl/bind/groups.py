"""What a table of counts tells of the members of a group: those of a group who are not in one category.

`attribute illness` divides the dimensions of a table: the others identify. A cell with a code of the attribute below
its total is a category of a group, and the cell with the same identifying codes and the attribute's total is the group.
Rules that judge groups say for which of them too few people are elsewhere; that number is a quantity of its own, group
minus category, which needs to stay uncertain (`bind.unions`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sdcdsl.bind.rules.cells import Judgement, RuleCells
from sdcdsl.bind.table import BoundTable
from sdcdsl.bind.tabulation import roll_sum


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """Those of `group[i]` who are not in `category[i]`, local cells of a table, and how uncertain they must stay."""

    group: np.ndarray
    category: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def group_cells(table: BoundTable) -> RuleCells | None:
    """What rules for groups see, cell by cell; None for tables that say nothing of attributes."""
    if table.lattice is None or not table.attributes:
        return None
    none = np.zeros((table.size, 0))
    seen = table.judged or RuleCells(table.value, table.value, table.value, np.abs(table.value), none)
    return replace(seen, value=table.value, group=table.value[_groups(table)])


def disclosing(table: BoundTable, judged: Judgement, chosen: np.ndarray, known: np.ndarray) -> Elsewhere:
    """Categories that are `chosen` and judged sensitive, without those that need nothing beyond another one, and those
    of which everybody knows beforehand that nobody is elsewhere: all of it is `known` to be so [cell]."""
    assert table.lattice is not None
    group = _groups(table)
    category = group != np.arange(table.size)
    told = judged.sensitive & chosen & category
    if told.any() and known.any():  # leaves that are no secret to anybody
        secret = roll_sum(table.lattice, (table.lattice.is_leaf & ~known).astype(float), signed=False)
        told &= (secret[group] > secret) | (table.value[group] != table.value)
    inside = np.zeros(table.size, dtype=bool)
    for outer, inner in _containing(table):
        needs = told[outer] & told[inner] & (outer != group[inner]) & (judged.upper[outer] >= judged.upper[inner])
        inside[inner[needs]] = True
    at = np.flatnonzero(told & ~inside)
    return Elsewhere(group[at], at, judged.lower[at], judged.upper[at])


def _groups(table: BoundTable) -> np.ndarray:
    """The cell of everybody in the group of each cell."""
    lattice = table.lattice
    assert lattice is not None
    cells = np.arange(lattice.size)
    group = cells.copy()
    for d, dimension in enumerate(lattice.dimensions):
        if dimension.name in table.attributes:
            total = dimension.index[dimension.total]
            group += (total - lattice.codes_at(cells, d)) * lattice.stride[d]
    return group


def _containing(table: BoundTable) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of cells, the first with a code that sums up that of the second, attribute by attribute and child by child.

    Where a code is subtracted from a sum it is not contained in it. A chain of categories, each inside the next, is
    looked at link by link: the outermost of them is inside none.
    """
    lattice = table.lattice
    assert lattice is not None
    cells = np.arange(lattice.size).reshape(-1)
    for d, dimension in enumerate(lattice.dimensions):
        if dimension.name not in table.attributes:
            continue
        composition = lattice.compositions[d]
        slabs = cells.reshape(-1, lattice.shape[d], lattice.stride[d])
        for entry in np.flatnonzero(composition.sign > 0):
            row = composition.row_of[entry]
            if (composition.sign[composition.row_of == row] > 0).all():
                outer, inner = int(composition.parent[row]), int(composition.child[entry])
                yield slabs[:, outer].ravel(), slabs[:, inner].ravel()
