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

from sdcdsl.accelerate.csp.box_arrays import (
    COST,
    COVERS,
    ENTRIES,
    FREE,
    HIDDEN,
    LATTICE,
    SLOTS,
    cell_array,
    pool_arrays,
    requirement_array,
    table_arrays,
    work_arrays,
)
from sdcdsl.accelerate.csp.box_neighbourhoods import complete, improve, take_move
from sdcdsl.accelerate.csp.box_pool import drop, gains, link_all
from sdcdsl.accelerate.csp.box_through_cell import BIG
from sdcdsl.accelerate.csp.product_table import ProductTable
from sdcdsl.accelerate.csp.tuning import BOXES
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance, Requirements
from sdcdsl.numerics.sparse_null_space import size

Move = tuple[np.ndarray, np.ndarray]  # cells, and how far they go
ENOUGH = 1 - 1e-9


class BoxSearch:
    """`weight` are the costs of cells; those that are hidden in any case cost nothing here."""

    def __init__(
        self, instance: Instance, table: ProductTable, requirements: Requirements, weight: np.ndarray, seed: int
    ):
        self.instance, self.requirements, self.w, self._of, self._seed = instance, requirements, weight, table, seed
        positive = weight[weight > 0]
        self.unit = float(np.median(positive)) if len(positive) else 1.0
        self.must = instance.sensitive | instance.open_anyway
        self.weight = np.where(self.must, 0.0, weight / self.unit + BOXES.tie)
        self.random = np.random.default_rng(seed)
        self._table, view = table_arrays(instance, table, requirements)
        self._requirements = requirement_array(requirements, view)
        at = requirements.cell[self._requirements["at"]]
        self._cells = cell_array(instance, table, self.must, self.weight, at)
        self._counts = np.zeros(9, dtype=np.int64)
        self._counts[LATTICE] = table.size
        self._amounts = np.zeros(2)
        self._amounts[FREE] = BOXES.free
        self._pattern = self._cells, self._requirements, self._counts, self._amounts
        self._pool = pool_arrays(BOXES.entries + BOXES.per_cell * instance.n)
        self._work = work_arrays(table, len(self._table[3]))

    def again(self) -> BoxSearch:
        """Another search of the same, with no moves yet."""
        return BoxSearch(self.instance, self._of, self.requirements, self.w, self._seed)

    # ---- the pattern -------------------------------------------------------------------------------------

    @property
    def users(self) -> np.ndarray:
        """How many moves need each cell."""
        return self._cells["users"][:-1]

    @property
    def failed(self) -> np.ndarray:
        """Requirements that boxes cannot serve."""
        return self._requirements["failed"] > 0

    @property
    def hidden(self) -> np.ndarray:
        return self.must | (self.users > 0)

    @property
    def cost(self) -> float:
        """Of what is hidden beyond what must be, in typical weights."""
        return float(self._amounts[COST])

    @property
    def uncertified(self) -> np.ndarray:
        """Numbers of the requirements without a move."""
        return np.flatnonzero(self._requirements["count"] == 0)

    @property
    def valid(self) -> bool:
        return bool((self._requirements["count"] > 0).all())

    def certifies(self, requirement: int) -> bool:
        return bool(self._requirements["count"][requirement] > 0)

    @property
    def secondary(self) -> int:
        return int(self._counts[HIDDEN])

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

    def _set_prices(self, price: np.ndarray) -> None:
        cells = self._cells[:-1]
        cells["price"] = price
        cells["now"] = np.where(self.hidden, BOXES.free, price)
        cells["now"][cells["barred"] > 0] = BIG

    def _serve(self, order: np.ndarray, effort: float, deadline: Deadline) -> None:
        at = 0
        while at < len(order) and not deadline.expired:
            self._draw()
            at = complete.at(self.instance.n)(
                order, at, BOXES.slice, BOXES.starts_first, effort, self._table, self._pattern, self._pool, self._work
            )
            self._make_space()

    def take(self, moves: list[Move]) -> None:
        """Moves that were found elsewhere, of cells of the lattice alone: sums of them follow."""
        size = int(self._counts[LATTICE])
        for cells, d in moves:
            own = cells < size
            self._make_space()
            take_move.at(self.instance.n)(
                cells[own].astype(np.int64), d[own].astype(float), self._table, self._pattern, self._pool, self._work
            )

    def prune(self) -> None:
        """Drops moves that others make superfluous, dearest first."""
        gains.at(self.instance.n)(self._pattern, self._pool)
        gained = self._pool[2]["gain"][: self._counts[SLOTS]]
        slots = np.flatnonzero(gained >= 0)
        drop.at(self.instance.n)(slots[np.argsort(-gained[slots], kind="stable")], self._pattern, self._pool)

    def clear(self) -> None:
        """No moves at all."""
        self._forget()
        self._set_prices(self.weight)

    def _forget(self) -> None:
        self._cells["users"], self._cells["head"], self._cells["place"] = 0, -1, -1
        self._requirements["count"], self._requirements["head"] = 0, -1
        self._counts[[SLOTS, ENTRIES, COVERS, HIDDEN]] = 0
        self._amounts[COST] = 0.0

    def improve(self, rounds: int, warmth: float, most: float = np.inf) -> None:
        """`warmth`: how much dearer than before a round may end, in typical weights; none ends dearer than `most`."""
        left = rounds
        while left > 0 and self.secondary > 0:
            self._draw()
            part = min(left, BOXES.slice)
            sigma = BOXES.noise * self.random.random()
            self._set_prices(self.weight * np.exp(self.random.normal(0, sigma, len(self.weight))))
            improve.at(self.instance.n)(
                part, warmth, most, BOXES.starts, BOXES.efforts[0], self._table, self._pattern, self._pool, self._work
            )
            self._make_space()
            left -= part

    def moves(self) -> list[Move]:
        """Those of the pattern."""
        entries, _, moves = self._pool
        at = np.flatnonzero(moves["alive"][: self._counts[SLOTS]])
        spans = zip(moves["start"][at].tolist(), moves["start"][at + 1].tolist(), strict=True)
        cell, d = entries["cell"], entries["d"]
        return [(cell[begin:end].astype(np.int64), d[begin:end].copy()) for begin, end in spans]

    def proved(self) -> bool:
        """Whether every requirement has its witness, by arithmetic that does not rest on how moves were found."""
        return self.valid and adds_up(self.instance.M, self.moves())

    def _draw(self) -> None:
        self._work[6][:] = self.random.random(BOXES.draws)

    def _make_space(self) -> None:
        """Forgets moves that are not in the pattern where space gets short."""
        entries, covers, moves = self._pool
        used = max(self._counts[ENTRIES], self._counts[COVERS])
        most, least = len(entries), len(self._work[0])
        if used + 4 * least < most and self._counts[SLOTS] + 1000 < len(moves):
            return
        kept = np.flatnonzero(moves["alive"][: self._counts[SLOTS]])
        start, at = _gathered(moves["start"], kept)
        cover_start, cover_at = _gathered(moves["cover_start"], kept)
        if 2 * max(len(at), len(cover_at), len(kept) * BOXES.shortest) + 8 * least > most:
            most *= 2
        self._pool = pool_arrays(most)
        for old, new, begin, mine in zip(
            (entries, covers), self._pool[:2], (start, cover_start), (at, cover_at), strict=True
        ):
            new[: len(mine)] = old[mine]
            new["move"][: len(mine)] = np.repeat(np.arange(len(kept)), np.diff(begin))
        moves = self._pool[2]
        moves["start"][: len(kept) + 1], moves["cover_start"][: len(kept) + 1] = start, cover_start
        self._forget()
        self._counts[[SLOTS, ENTRIES, COVERS]] = len(kept), len(at), len(cover_at)
        link_all.at(self.instance.n)(np.arange(len(kept)), self._pattern, self._pool)


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


def _gathered(start: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where lists begin when only these are kept, and their entries."""
    width = start[kept + 1] - start[kept]
    begin = np.concatenate([[0], np.cumsum(width)])
    return begin, np.repeat(start[kept] - begin[:-1], width) + np.arange(begin[-1])
