"""Patterns from boxes: valid ones within seconds in tables of any size, and better ones at a cost a step that does not
grow with the table.

A vector over one hierarchy that adds up is, say, +1 along the chain from a leaf upwards and -1 along another one, up to
where both meet. The product of one such vector a dimension adds up in the whole table: with siblings in three
dimensions it moves eight cells. Given the requirements in all other dimensions, the cheapest requirement in one is a
shortest path in its tree; going round the dimensions until nothing changes, from a few random starts, gives a cheap box
through a cell. Where it has not enough slack, further boxes are added to it within what is left, until the cell is
where it must go: one *move*, a witness. Every requirement has one at every moment, so that the pattern is valid
throughout.

1. *Complete*: a move for each requirement that no move certifies yet; hide what it touches.
2. *Prune*: drop moves that others make superfluous, dearest first.
3. *Improve*: publish a few cells again, or forget a few moves; certify anew what relied on them; keep what is cheaper.

Moves know their cells, cells the moves that need them, and requirements the moves that certify them, in linked lists,
so that all of it is undone at no more than it took.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array

from sdcdsl.accelerate.csp.box_arrays import LATTICE, cell_array, requirement_array, table_arrays, work_arrays
from sdcdsl.accelerate.csp.box_neighbourhoods import complete
from sdcdsl.accelerate.csp.box_state import BoxState, Move
from sdcdsl.accelerate.csp.box_through_cell import BIG
from sdcdsl.accelerate.csp.product_table import ProductTable
from sdcdsl.accelerate.csp.tuning import BOXES
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance, Requirements
from sdcdsl.numerics.sparse_null_space import size


class BoxSearch(BoxState):
    """`weight` are the costs of cells; those that are hidden in any case cost nothing here."""

    def __init__(
        self, instance: Instance, table: ProductTable, requirements: Requirements, weight: np.ndarray, seed: int
    ):
        self.instance, self.requirements, self.w, self.table, self._seed = instance, requirements, weight, table, seed
        positive = weight[weight > 0]
        self.unit = float(np.median(positive)) if len(positive) else 1.0
        must = instance.sensitive | instance.open_anyway
        weight = np.where(must, 0.0, weight / self.unit + BOXES.tie)
        arrays, view = table_arrays(instance, table, requirements)
        wanted = requirement_array(requirements, view)
        cells = cell_array(instance, table, must, weight, requirements.cell[wanted["at"]])
        super().__init__(arrays, cells, wanted, table.size, work_arrays(table, len(arrays[3])), seed)

    def again(self) -> BoxSearch:
        """Another search of the same, with no moves yet."""
        return BoxSearch(self.instance, self.table, self.requirements, self.w, self._seed)

    @property
    def state(self) -> BoxState:
        """What improves the pattern, without the problem."""
        return BoxState(self._table, self._cells, self._requirements, int(self._counts[LATTICE]), self._work, 0)

    def certifies(self, requirement: int) -> bool:
        return bool(self._requirements["count"][requirement] > 0)

    def complete(self, deadline: Deadline, price: np.ndarray | None = None) -> bool:
        """Moves for all requirements; whether every one has one now. `failed` are those that boxes cannot serve."""
        self._set_prices(self.weight if price is None else price)
        order = np.argsort(-self.requirements.need, kind="stable")
        for effort in BOXES.efforts:
            self._requirements["failed"] = 0
            self._serve(order, effort, deadline)
            order = order[self._requirements["count"][order] == 0]
        return self.valid

    def complete_within(self, deadline: Deadline) -> bool:
        """Moves for requirements among the cells that are hidden now, wherever there are any; whether every requirement
        was looked at. Nothing more is hidden."""
        self._set_prices(np.where(self.hidden, BOXES.free, BIG))
        self._requirements["failed"] = 0
        self._serve(self.uncertified, BOXES.efforts[0], deadline)
        everywhere = bool((self.failed | (self._requirements["count"] > 0)).all())
        self._set_prices(self.weight)
        return everywhere

    def _serve(self, order: np.ndarray, effort: float, deadline: Deadline) -> None:
        at = 0
        while at < len(order) and not deadline.expired:
            self._draw()
            at = complete.at(self.n)(
                order, at, BOXES.slice, BOXES.starts_first, effort, self._table, self._pattern, self._pool, self._work
            )
            self._make_space()

    def proved(self) -> bool:
        """Whether every requirement has its witness, by arithmetic that does not rest on how moves were found."""
        return self.valid and adds_up(self.instance.M, self.moves())


def adds_up(M: csr_array, moves: list[Move]) -> bool:
    """Whether each move keeps all relations, up to rounding errors."""
    if not moves:
        return True
    d = np.concatenate([move[1] for move in moves])
    start = np.cumsum([0, *(len(cells) for cells, _ in moves)])
    whole = csc_array((d, np.concatenate([cells for cells, _ in moves]), start), shape=(size(M)[1], len(moves)))
    off = csc_array(M @ whole)
    far = np.maximum.reduceat(np.abs(d), start[:-1])
    return bool((np.abs(off.data) <= BOXES.true * np.repeat(far, np.diff(off.indptr))).all())
