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

from math import prod

import numpy as np
from scipy.sparse import csc_array, csr_array

from sdcdsl.accelerate.csp import box_loops as loops
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
        self.instance, self.requirements = instance, requirements
        positive = weight[weight > 0]
        self.unit = float(np.median(positive)) if len(positive) else 1.0
        self.must = instance.sensitive | instance.open_anyway
        self.weight = np.where(self.must, 0.0, weight / self.unit + BOXES.tie)
        self.random = np.random.default_rng(seed)
        self.failed = np.zeros(len(requirements), dtype=bool)
        self._table(table)
        self._slacks()
        self._pattern()
        self._pool(BOXES.entries + BOXES.per_cell * instance.n)
        self._space(table)

    # ---- the pattern -------------------------------------------------------------------------------------

    @property
    def hidden(self) -> np.ndarray:
        return self.must | (self.users > 0)

    @property
    def cost(self) -> float:
        """Of what is hidden beyond what must be, in typical weights."""
        return float(self._amounts[loops.COST])

    @property
    def valid(self) -> bool:
        return bool((self._count > 0).all())

    def certifies(self, requirement: int) -> bool:
        return bool(self._count[requirement] > 0)

    @property
    def secondary(self) -> int:
        return int(self._counts[loops.HIDDEN])

    def complete(self, deadline: Deadline, price: np.ndarray | None = None) -> bool:
        """Moves for all requirements; whether every one has one now. `failed` are those that boxes cannot serve."""
        self._set_prices(self.weight if price is None else price)
        need = self.requirements.need
        order = np.argsort(-need, kind="stable")
        for effort in BOXES.efforts:
            self.failed[:] = False
            self._serve(order, effort, deadline)
            order = order[self._count[order] == 0]
        return self.valid

    def _set_prices(self, price: np.ndarray) -> None:
        self._price[:] = price
        self._now[:] = np.where(self.hidden, BOXES.free, price)
        self._now[self._barred > 0] = loops.BIG

    def _serve(self, order: np.ndarray, effort: float, deadline: Deadline) -> None:
        at = 0
        while at < len(order) and not deadline.expired:
            self._draw()
            at = loops.complete.at(self.instance.n)(
                order, at, BOXES.slice, BOXES.starts_first, effort, *self._inputs, self._state, self._pool_of,
                self._work, self._random, self._counts, self._amounts, self.failed,
            )  # fmt: skip
            self._make_space()

    def add(self, cells: np.ndarray, d: np.ndarray) -> None:
        """A move that was found elsewhere."""
        self._make_space()
        loops.add_move.at(self.instance.n)(
            cells.astype(np.int64), d.astype(float), *self._inputs[3:], self._state, self._pool_of, self._work,
            self._counts, self._amounts,
        )  # fmt: skip

    def prune(self) -> None:
        loops.prune.at(self.instance.n)(self._state, self._pool_of, self._counts, self._amounts)

    def clear(self) -> None:
        """No moves at all."""
        for array, nothing in ((self.users, 0), (self._count, 0), (self._place, -1)):
            array[:] = nothing
        entries, covers, slots = self._pool_of
        entries[-1][:], covers[-1][:], slots[2][:] = -1, -1, 0
        self._counts[:] = 0
        self._amounts[loops.COST] = 0.0
        self._set_prices(self.weight)

    def improve(self, rounds: int, warmth: float, most: float = np.inf) -> None:
        """`warmth`: how much dearer than before a round may end, in typical weights; none ends dearer than `most`."""
        left = rounds
        while left > 0 and self.secondary > 0:
            self._draw()
            part = min(left, BOXES.slice)
            sigma = BOXES.noise * self.random.random()
            self._set_prices(self.weight * np.exp(self.random.normal(0, sigma, len(self.weight))))
            loops.improve.at(self.instance.n)(
                part, warmth, most, BOXES.starts, BOXES.efforts[0], *self._inputs, self._state, self._pool_of,
                self._work, self._random, self._counts, self._amounts,
            )  # fmt: skip
            self._make_space()
            left -= part

    def moves(self) -> list[Move]:
        """Those of the pattern."""
        (cell, d, *_), _, (start, _, alive, *_) = self._pool_of
        slots = np.flatnonzero(alive[: self._counts[loops.SLOTS]])
        return [(cell[start[s] : start[s + 1]].astype(np.int64), d[start[s] : start[s + 1]].copy()) for s in slots]

    def proved(self) -> bool:
        """Whether every requirement has its witness, by arithmetic that does not rest on how moves were found."""
        return self.valid and adds_up(self.instance.M, self.moves())

    # ---- arrays for the loops ----------------------------------------------------------------------------

    def _table(self, table: ProductTable) -> None:
        trees = tuple(
            np.ascontiguousarray(v, dtype=np.int64) for v in (table.parent, table.part_start, table.part, table.stride)
        )
        shape = tuple(np.ascontiguousarray(v, dtype=np.int64) for v in (table.first, table.codes, table.step))
        by_member = csr_array(table.sums.T)
        sums = (*_lists(table.sums), *_lists(by_member))
        # Cells beyond the lattice are members of nothing.
        start = np.concatenate([sums[3], np.full(self.instance.n - table.size, sums[3][-1])])
        self._structure = trees, shape, (*sums[:3], start, *sums[4:])

    def _slacks(self) -> None:
        one, r = self.instance, self.requirements
        attackers, who = np.unique(r.attacker, return_inverse=True)
        views, view = np.unique(one.view_of[attackers], return_inverse=True)
        shut = ~one.may_open
        up, down = (np.where(shut, 0.0, side[views]) for side in (one.UB, one.LB))
        known = [one.known(int(k)) for k in attackers]
        start = np.cumsum([0, *(len(cells) for cells, _, _ in known)])
        cell, LB, UB = (np.concatenate([k[i] for k in known] or [np.zeros(0)]) for i in range(3))
        self._longest_known = int(np.diff(start).max(initial=0))
        order = np.argsort(r.cell, kind="stable")
        at_start = np.searchsorted(r.cell[order], np.arange(one.n + 1))
        requirements = (
            r.cell.astype(np.int64), r.sign.astype(float), r.need.astype(float), view[who].astype(np.int64),
            who.astype(np.int64), at_start.astype(np.int64), order.astype(np.int64),
        )  # fmt: skip
        slacks = np.ascontiguousarray(up), np.ascontiguousarray(down)
        self._inputs = (
            *self._structure, slacks,
            (start.astype(np.int64), cell.astype(np.int64), LB.astype(float), UB.astype(float)), requirements,
        )  # fmt: skip
        self._views = len(views)

    def _pattern(self) -> None:
        n = self.instance.n
        self.users = np.zeros(n, dtype=np.int64)
        self._price, self._now = self.weight.copy(), self.weight.copy()
        self._barred = (~self.instance.may_open).astype(np.int64)
        self._count = np.zeros(len(self.requirements), dtype=np.int64)
        self._place = np.full(n, -1, dtype=np.int64)
        listed = np.zeros(n, dtype=np.int64)
        self._state = (
            self.users, self.must, self.weight, self._now, self._barred, self._count, listed, self._place, self._price,
        )  # fmt: skip
        self._counts = np.zeros(7, dtype=np.int64)
        self._amounts = np.array([0.0, BOXES.free])

    def _pool(self, entries: int) -> None:
        slots = entries // BOXES.shortest
        self._pool_of = (
            (
                np.zeros(entries, dtype=np.int32), np.zeros(entries), np.zeros(entries, dtype=np.int32),
                np.full(entries, -1, dtype=np.int32), np.full(entries, -1, dtype=np.int32),
                np.full(self.instance.n, -1, dtype=np.int32),
            ),
            (
                *(np.zeros(entries, dtype=np.int32) for _ in range(4)),
                np.full(len(self.requirements), -1, dtype=np.int32),
            ),
            (
                np.zeros(slots + 1, dtype=np.int64), np.zeros(slots + 1, dtype=np.int64),
                *(np.zeros(slots, dtype=np.int8) for _ in range(3)),
            ),
        )  # fmt: skip

    def _space(self, table: ProductTable) -> None:
        n = self.instance.n
        longest = int(2 * table.depth.max() + 2)
        many, dimensions = prod(int(2 * d) for d in table.depth), len(table.depth)

        def sides() -> tuple[np.ndarray, ...]:
            shape = dimensions, longest
            return np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(dimensions, dtype=np.int64)

        def pairs() -> tuple[np.ndarray, np.ndarray]:
            return np.zeros(many, dtype=np.int64), np.zeros(many)

        walk = (
            np.zeros(longest, dtype=np.int64), np.zeros(longest), np.zeros(longest, dtype=np.int64),
            np.zeros(longest, dtype=np.int64), np.zeros(1, dtype=np.int64),
        )  # fmt: skip
        lists = BOXES.undone
        self._work = (
            np.zeros(n), np.zeros(max(BOXES.touched, 4 * many), dtype=np.int64), sides(), sides(), pairs(), walk,
            np.zeros(0), np.zeros(self._longest_known), np.zeros(self._longest_known), pairs(),
            (np.zeros(self._views), np.zeros(self._views)),
            (np.zeros(lists, dtype=np.int64), np.zeros(lists)),
            (
                np.zeros(lists, dtype=np.int64), np.zeros(2 * lists, dtype=np.int64),
                np.zeros(4 * lists, dtype=np.int64), np.zeros(4 * lists),
            ),
            np.zeros(16, dtype=np.int64),
        )  # fmt: skip
        self._random = np.zeros(BOXES.draws)

    def _draw(self) -> None:
        self._random[:] = self.random.random(BOXES.draws)

    def _make_space(self) -> None:
        """Forgets moves that are not in the pattern where space gets short."""
        used = max(self._counts[loops.ENTRIES], self._counts[loops.COVERS])
        entries = len(self._pool_of[0][0])
        slots = len(self._pool_of[2][2])
        least = len(self._work[1])
        if used + 4 * least < entries and self._counts[loops.SLOTS] + 1000 < slots:
            return
        (cell, d, *_), (cover, *_), (start, cover_start, alive, *_) = self._pool_of
        kept = np.flatnonzero(alive[: self._counts[loops.SLOTS]])
        new = _gathered(start, kept), _gathered(cover_start, kept)
        longest = max(len(new[0][1]), len(new[1][1]), len(kept) * BOXES.shortest)
        cells, way, covers = cell[new[0][1]], d[new[0][1]], cover[new[1][1]]
        if 2 * longest + 8 * least > entries:
            entries *= 2
        self._pool(entries)
        (cell, d, slot, *_), (cover, cover_slot, *_), (start, cover_start, *_) = self._pool_of
        cell[: len(cells)], d[: len(cells)], cover[: len(covers)] = cells, way, covers
        slot[: len(cells)] = np.repeat(np.arange(len(kept)), np.diff(new[0][0]))
        cover_slot[: len(covers)] = np.repeat(np.arange(len(kept)), np.diff(new[1][0]))
        start[: len(kept) + 1], cover_start[: len(kept) + 1] = new[0][0], new[1][0]
        self.users[:], self._count[:], self._place[:] = 0, 0, -1
        self._counts[:] = 0
        self._counts[[loops.SLOTS, loops.ENTRIES, loops.COVERS]] = len(kept), len(cells), len(covers)
        self._amounts[loops.COST] = 0.0
        loops.link_all.at(self.instance.n)(
            np.arange(len(kept)), self._state, self._pool_of, self._counts, self._amounts
        )


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


def _lists(matrix: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(float)
