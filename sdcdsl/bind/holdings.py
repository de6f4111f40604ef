"""Who contributes what to chosen cells, at any level: from the leaves' contributions, looking only where it matters."""

from __future__ import annotations

import numpy as np

from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.ranking import run_starts
from sdcdsl.bind.rules.cells import RuleCells
from sdcdsl.bind.tabulation import Contributions, Leaves, Tabulation


def contributions_to(lattice: Lattice, leaves: Leaves, chosen: np.ndarray) -> Contributions:
    """Contributions of holdings to the cells marked in `chosen`, each pair once, sorted by cell and holding.

    Dimension by dimension, every leaf contribution is copied to the codes above it, but only on the way to a chosen
    cell: `wanted[d]` marks the places, final in dimensions < d and leaves from d on, below a chosen cell. The
    work is proportional to the contributions that reach one.
    """
    required = [chosen]
    for d in reversed(range(len(lattice.shape))):
        down = required[0].copy()
        slabs = down.reshape(-1, lattice.shape[d], lattice.stride[d])
        for parents, children, _ in reversed(lattice.compositions[d].steps):
            for parent, child in zip(parents, children, strict=True):  # a code may be a child in two trees
                slabs[:, child] |= slabs[:, parent]
        required.insert(0, down)
    current = leaves.at(required[0])
    for d, composition in enumerate(lattice.compositions):
        reached = [_where(current, required[d + 1][current.cell])]
        moving = current
        for step in composition.rounds:
            if step.first:
                covered = step.move[lattice.codes_at(current.cell, d)] >= 0
                moving = _where(current, covered)
            code = lattice.codes_at(moving.cell, d)
            cell = moving.cell + (step.move[code] - code) * lattice.stride[d]
            moving = Contributions(cell, moving.holding, moving.amount * step.sign[code])
            reached.append(_where(moving, step.reached[step.move[code]] & required[d + 1][cell]))
        current = Contributions(
            np.concatenate([part.cell for part in reached]),
            np.concatenate([part.holding for part in reached]),
            np.concatenate([part.amount for part in reached]),
        )
    return Contributions(*summed(current.cell, current.holding, current.amount))


def _where(part: Contributions, chosen: np.ndarray) -> Contributions:
    return part if chosen.all() else Contributions(part.cell[chosen], part.holding[chosen], part.amount[chosen])


def summed(owner: np.ndarray, holding: np.ndarray, amount: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Amounts of one holding at one owner added up; sorted by owner and holding."""
    if not len(owner):
        return owner, holding, amount
    order = np.lexsort((holding, owner))
    owner, holding, amount = owner[order], holding[order], amount[order]
    first = run_starts(owner * (1 + np.int64(holding.max())) + holding)
    return owner[first], holding[first], np.add.reduceat(amount, first)


def cells_from(value: np.ndarray, owner: np.ndarray, holding: np.ndarray, amount: np.ndarray, k: int) -> RuleCells:
    """What rules see of cells 0..n-1 whose contributors are listed by `owner`; a holding may occur repeatedly."""
    n = len(value)
    owner, holding, amount = summed(owner, holding, amount)
    size = np.abs(amount)
    largest = np.zeros((n, k))
    order = np.lexsort((-size, owner))
    first = run_starts(owner[order])
    place = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
    top = place < k
    largest[owner[order][top], place[top]] = size[order][top]
    return RuleCells(
        value=value,
        count=np.bincount(owner, minlength=n),
        nonzero=np.bincount(owner[size > 0], minlength=n),
        absolute=np.bincount(owner, weights=size, minlength=n),
        largest=largest,
    )


def cells_of(table: Tabulation, *, requested: np.ndarray | None = None, frequency: bool = False) -> RuleCells:
    """What rules see of a tabulation; `requested` [cell, 1]: the largest contribution of those who asked for
    protection."""
    return RuleCells(
        value=table.value,
        count=table.count,
        nonzero=table.nonzero,
        absolute=table.absolute,
        largest=table.largest,
        requested=None if requested is None else requested[:, 0],
        frequency=frequency,
    )
