"""The pattern of a search by boxes, its moves, and how they are exchanged for better ones: all that this takes, without
the problem, so that copies of it may do so side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdcdsl.accelerate.csp.box_arrays import (
    COST,
    COVERS,
    ENTRIES,
    FREE,
    HIDDEN,
    LATTICE,
    SLOTS,
    Arrays,
    pool_arrays,
)
from sdcdsl.accelerate.csp.box_neighbourhoods import improve, take
from sdcdsl.accelerate.csp.box_pool import drop, gains, link_all
from sdcdsl.accelerate.csp.box_through_cell import BIG
from sdcdsl.accelerate.csp.tuning import BOXES

Move = tuple[np.ndarray, np.ndarray]  # cells, and how far they go
PackedMoves = tuple[np.ndarray, np.ndarray, np.ndarray]  # where each begins, and where the last ends; cells; how far
EVERYWHERE = -1


class BoxState:
    """The arrays of `box_arrays`; `lattice`: how many cells it has."""

    def __init__(
        self, table: Arrays, cells: np.ndarray, requirements: np.ndarray, lattice: int, work: Arrays, seed: int
    ):
        self.n = len(cells) - 1
        self.weight, self.must = cells["weight"][:-1].copy(), cells["must"][:-1] > 0
        self.random = np.random.default_rng(seed)
        self._table, self._cells, self._requirements, self._work = table, cells, requirements, work
        self._counts = np.zeros(9, dtype=np.int64)
        self._counts[LATTICE] = lattice
        self._amounts = np.zeros(2)
        self._amounts[FREE] = BOXES.free
        self._pool: Arrays = pool_arrays(BOXES.entries + BOXES.per_cell * self.n)

    def fresh(self, seed: list[int]) -> BoxState:
        """A copy of its own, without moves."""
        table, work = tuple(array.copy() for array in self._table), tuple(array.copy() for array in self._work)
        made = BoxState(table, self._cells.copy(), self._requirements.copy(), int(self._counts[LATTICE]), work, 0)
        made.random = np.random.default_rng(seed)
        made.clear()
        return made

    def __getstate__(self) -> dict[str, Any]:
        """A copy for others has no moves: they are given to it."""
        return self.__dict__ | {"_pool": pool_arrays(0)}

    @property
    def _pattern(self) -> Arrays:
        return self._cells, self._requirements, self._counts, self._amounts

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

    @property
    def secondary(self) -> int:
        return int(self._counts[HIDDEN])

    def _set_prices(self, price: np.ndarray) -> None:
        cells = self._cells[:-1]
        cells["price"] = price
        cells["now"] = np.where(self.hidden, BOXES.free, price)
        cells["now"][cells["barred"] > 0] = BIG

    def prune(self) -> None:
        """Drops moves that others make superfluous, dearest first."""
        gains.at(self.n)(self._pattern, self._pool)
        gained = self._pool[2]["gain"][: self._counts[SLOTS]]
        slots = np.flatnonzero(gained >= 0)
        drop.at(self.n)(slots[np.argsort(-gained[slots], kind="stable")], self._pattern, self._pool)

    def clear(self) -> None:
        """No moves at all."""
        self._forget()
        self._set_prices(self.weight)

    def _forget(self) -> None:
        self._cells["users"], self._cells["head"], self._cells["place"] = 0, -1, -1
        self._requirements["count"], self._requirements["head"] = 0, -1
        self._counts[[SLOTS, ENTRIES, COVERS, HIDDEN]] = 0
        self._amounts[COST] = 0.0

    def take(self, moves: PackedMoves) -> None:
        """Moves that were found elsewhere, of cells of the lattice alone: sums of them follow."""
        start, cell, d = moves
        at = 0
        while at < len(start) - 1:
            self._make_space()
            at = take.at(self.n)(at, start, cell, d, self._table, self._pattern, self._pool, self._work)

    def in_parts(self, part: np.ndarray) -> None:
        """Numbers of parts, for cells of the lattice: neighbourhoods may begin in one of them alone."""
        self._cells["part"][: len(part)] = part

    def improve(self, rounds: int, warmth: float, most: float = np.inf, where: int = EVERYWHERE) -> None:
        """`warmth`: how much dearer than before a round may end, in typical weights; none ends dearer than `most`."""
        left = rounds
        while left > 0 and self.secondary > 0:
            self._draw()
            part = min(left, BOXES.slice)
            sigma = BOXES.noise * self.random.random()
            self._set_prices(self.weight * np.exp(self.random.normal(0, sigma, len(self.weight))))
            improve.at(self.n)(
                part,
                np.int64(where),
                warmth,
                most,
                BOXES.starts,
                BOXES.efforts[0],
                self._table,
                self._pattern,
                self._pool,
                self._work,
            )
            self._make_space()
            left -= part

    def packed(self) -> PackedMoves:
        """The moves of the pattern, without the sums of their cells."""
        entries, _, moves = self._pool
        start, at = _gathered(moves["start"], np.flatnonzero(moves["alive"][: self._counts[SLOTS]]))
        cell, d = entries["cell"][at].astype(np.int64), entries["d"][at]
        own = cell < self._counts[LATTICE]
        return np.append(0, np.cumsum(own))[start], cell[own], d[own]

    def moves(self) -> list[Move]:
        """The same, one by one, with the sums of their cells."""
        entries, _, moves = self._pool
        at = np.flatnonzero(moves["alive"][: self._counts[SLOTS]])
        spans = zip(moves["start"][at].tolist(), moves["start"][at + 1].tolist(), strict=True)
        cell, d = entries["cell"], entries["d"]
        return [(cell[begin:end].astype(np.int64), d[begin:end].copy()) for begin, end in spans]

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
        link_all.at(self.n)(np.arange(len(kept)), self._pattern, self._pool)


def packed(moves: Sequence[Move], cells: int) -> PackedMoves:
    """Of moves one by one, within the first so many cells."""
    count = [0, *(np.count_nonzero(cell < cells) for cell, _ in moves)]
    cell = np.concatenate([np.zeros(0, dtype=np.int64), *(cell for cell, _ in moves)])
    d = np.concatenate([np.zeros(0), *(d for _, d in moves)])
    return np.cumsum(count), cell[cell < cells], d[cell < cells]


def _gathered(start: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where lists begin when only these are kept, and their entries."""
    width = start[kept + 1] - start[kept]
    begin = np.concatenate([[0], np.cumsum(width)])
    return begin, np.repeat(start[kept] - begin[:-1], width) + np.arange(begin[-1])
