"""Cells that must move together or against each other, and the relations among what is left.

A relation in which only two cells can move says z_j = f z_i: both directions are chosen at once. Such cells form a
*group* with one deviation D, and so do cells that are tied to each other once groups stand in the relations:

    z_i = turn_i · D_group(i)

A group has a level upwards and one downwards, the largest of its cells, and a direction is open to it if it is open to
all of them. Relations that follow from others are left out of `matrix` and kept in `every`: they say nothing new about
D, but cuts are made of them. Lengths are in units of a typical level and costs in units of a typical cost (powers of
two, so that no digit is lost): a table in other units is the same problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.methods.cta.adjustment import Adjustment
from sdcdsl.methods.instance import DOWN, UP
from sdcdsl.numerics.nearest.solved import power_of_two
from sdcdsl.numerics.null_space import Matrix, echelon
from sdcdsl.numerics.sparse_null_space import size

STILL = -1
ROUNDING = 1e-12
FILL = 50  # elimination may grow to this many times the entries of the relations


class Groups:
    def __init__(self, adjustment: Adjustment, unit: float | None = None):
        self.adjustment = adjustment
        self.of, self.turn = tied(adjustment.M, adjustment.high > adjustment.low)
        self.count = int(self.of.max(initial=STILL)) + 1
        self.every = _distinct(adjustment.M @ self._spread())
        self.matrix = _independent(self.every)
        a = adjustment
        of, turn = self.of[a.cells], self.turn[a.cells]
        self.hopeless = np.flatnonzero(of == STILL)  # cells with a level that cannot move at all
        moves = of != STILL
        self.place = of  # int64 [p]: the group of each cell with a level
        self.same = turn > 0  # bool [p]: up in the cell is up in the group
        low, high = self._ends()
        levels = np.zeros((2, self.count))  # DOWN, UP
        open_ = np.ones((self.count, 2), dtype=bool)
        for side, level in ((DOWN, a.lpl), (UP, a.upl)):
            for way, mine in ((side, moves & self.same), (1 - side, moves & ~self.same)):
                length = level[mine] / np.abs(turn[mine])
                np.maximum.at(levels[way], of[mine], np.where(np.isfinite(length), length, 0.0))
                np.logical_and.at(open_[:, way], of[mine], a.open[mine, side])
        open_[:, DOWN] &= levels[DOWN] <= -low * (1 + ROUNDING)
        open_[:, UP] &= levels[UP] <= high * (1 + ROUNDING)
        # An end that a level only misses by rounding is met by it: cells of a group have ends from different sums.
        low = np.where(open_[:, DOWN], np.minimum(low, -levels[DOWN]), low)
        high = np.where(open_[:, UP], np.maximum(high, levels[UP]), high)
        self.sensitive = np.unique(of[moves])  # int64 [k]: groups with a level
        self.open = open_[self.sensitive]  # bool [k, 2]
        self.at = np.full(self.count, -1)  # the other way round
        self.at[self.sensitive] = np.arange(len(self.sensitive))
        some = levels[levels > 0]
        if unit is None:
            unit = power_of_two(float(np.median(some))) if len(some) else 1.0
        self.unit = unit
        self.low, self.high = low / self.unit, high / self.unit
        self.down, self.up = levels[DOWN] / self.unit, levels[UP] / self.unit  # [group]: levels

    def _spread(self) -> csr_array:
        """[cell, group]: z = spread D."""
        cells = np.flatnonzero(self.of != STILL)
        return csr_array((self.turn[cells], (cells, self.of[cells])), shape=(len(self.of), self.count))

    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The narrowest ends of their cells."""
        a = self.adjustment
        low, high = np.full(self.count, -np.inf), np.full(self.count, np.inf)
        cells = np.flatnonzero(self.of != STILL)
        of, turn = self.of[cells], self.turn[cells]
        ends = np.stack([a.low[cells] / turn, a.high[cells] / turn])
        np.maximum.at(low, of, ends.min(axis=0))
        np.minimum.at(high, of, ends.max(axis=0))
        return low, high

    def prices(self, w_down: np.ndarray, w_up: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """What a unit of D costs down and up, in units of the third: Σ w |z| of the group's cells."""
        cells = np.flatnonzero(self.of != STILL)
        of, turn = self.of[cells], np.abs(self.turn[cells])
        same = self.turn[cells] > 0
        down = np.bincount(of, np.where(same, w_down[cells], w_up[cells]) * turn, self.count)
        up = np.bincount(of, np.where(same, w_up[cells], w_down[cells]) * turn, self.count)
        some = np.concatenate([down[down > 0], up[up > 0]])
        price = power_of_two(float(np.exp(np.log(some).mean()))) if len(some) else 1.0
        return down / price, up / price, price

    def squares(self, w: np.ndarray) -> np.ndarray:
        """Σ w z² = Σ squares D², in natural units."""
        cells = np.flatnonzero(self.of != STILL)
        return np.bincount(self.of[cells], w[cells] * self.turn[cells] ** 2, self.count)

    def to_cells(self, D: np.ndarray) -> np.ndarray:
        """z of all cells, in natural units."""
        moves = self.of != STILL
        D = np.append(D, 0.0)
        return np.where(moves, self.turn * D[np.where(moves, self.of, self.count)] * self.unit, 0.0)

    def moves(self, z: np.ndarray) -> np.ndarray:
        """D of all groups, from the cells of a table."""
        D = np.zeros(self.count)
        cells = np.flatnonzero(self.of != STILL)
        D[self.of[cells]] = z[cells] / self.turn[cells] / self.unit
        return D

    def senses(self, up: np.ndarray) -> np.ndarray:
        """int8 [p] from bool [k]: which groups go up."""
        sense = np.zeros(len(self.place), dtype=np.int8)
        moves = self.place != STILL
        sense[moves] = np.where(up[self.at[self.place[moves]]] == self.same[moves], 1, -1)
        return sense

    def box(self, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends of D with the levels of these directions in them."""
        l, u = self.low.copy(), self.high.copy()
        s = self.sensitive
        l[s[up]] = self.up[s[up]]
        u[s[~up]] = -self.down[s[~up]]
        return l, u


# ---- folding ----------------------------------------------------------------------------------------------------


def tied(M: csr_array, may_move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The group of every cell, STILL where it cannot move, and its turn."""
    n = len(may_move)
    of, turn = np.where(may_move, np.arange(n), STILL), np.ones(n)
    while True:
        cells = np.flatnonzero(of != STILL)
        spread = csr_array((turn[cells], (cells, of[cells])), shape=(n, n))
        rows = _cleaned(M @ spread)
        length = np.diff(rows.indptr)
        alone = rows.indices[rows.indptr[:-1][length == 1]]
        first = rows.indptr[:-1][length == 2]
        links = _Links()
        for i, j, a, b in zip(
            rows.indices[first].tolist(),
            rows.indices[first + 1].tolist(),
            rows.data[first].tolist(),
            rows.data[first + 1].tolist(),
            strict=True,
        ):
            links.tie(i, j, -a / b)
        for i in alone.tolist():
            links.stop(i)
        if not links.parent:
            break
        roots = {i: links.find(i) for i in links.parent}
        to, by = np.arange(n), np.ones(n)
        for i, (root, factor) in roots.items():
            to[i], by[i] = (STILL if root in links.still else root), factor
        moves = of != STILL
        turn[moves] *= by[of[moves]]
        of[moves] = to[of[moves]]
    of[of != STILL] = np.unique(of[of != STILL], return_inverse=True)[1]
    return of, turn


class _Links:
    """Which groups are tied to which, D_i = factor · D_root, as a forest."""

    def __init__(self):
        self.parent: dict[int, tuple[int, float]] = {}
        self.still: set[int] = set()  # roots that cannot move

    def find(self, i: int) -> tuple[int, float]:
        chain, factor = [], 1.0
        while (up := self.parent.setdefault(i, (i, 1.0)))[0] != i:
            chain.append((i, factor))
            factor *= up[1]
            i = up[0]
        for j, before in chain:
            self.parent[j] = (i, factor / before)
        return i, factor

    def tie(self, i: int, j: int, factor: float) -> None:
        """D_j = factor · D_i."""
        (a, by_a), (b, by_b) = self.find(i), self.find(j)
        if a != b:
            self.parent[b] = (a, factor * by_a / by_b)
            if b in self.still:
                self.still.add(a)
        elif abs(by_b - factor * by_a) > 1e-9 * abs(by_b):
            self.still.add(a)

    def stop(self, i: int) -> None:
        self.still.add(self.find(i)[0])


def _cleaned(matrix: csr_array) -> csr_array:
    out = csr_array(matrix)
    out.sum_duplicates()
    out.data[np.abs(out.data) < 1e-9] = 0.0
    out.eliminate_zeros()
    return out


def _distinct(matrix: csr_array) -> csr_array:
    """Rows that are not empty, each once, whatever they are multiplied by."""
    rows: Any = _cleaned(matrix)
    rows.sort_indices()
    seen: set[tuple[bytes, bytes]] = set()
    kept = []
    for r in range(size(rows)[0]):
        span = slice(rows.indptr[r], rows.indptr[r + 1])
        if span.start == span.stop:
            continue
        value = rows.data[span] / rows.data[span.start]
        key = rows.indices[span].tobytes(), value.tobytes()
        if key not in seen:
            seen.add(key)
            kept.append(r)
    return csr_array(rows[np.array(kept, dtype=np.int64)])


def _independent(rows: csr_array) -> csr_array:
    matrix = Matrix(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data, size(rows)[1])
    made = echelon(matrix, fill=FILL * rows.nnz + 1000) if rows.nnz else None
    return rows if made is None else csr_array(rows[np.sort(made.row)])
