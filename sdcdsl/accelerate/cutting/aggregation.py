"""Cells that move together, and the relations among what is left: the size that attacks and masters work at.

Published cells never move (d = 0), so a relation may be left with few cells. With one, that cell cannot move either.
With two, d_i = ±d_j: both move together, and neither is worth opening without the other. Such cells form a *class*, and
relations are rewritten in terms of classes D until nothing more follows:

    d_i = turn_i · D_class(i),    turn_i = ±1

A relation in D is a combination of relations in d, so multipliers of the former are multipliers of the latter. Tables
that are networks are left as they are, but for cells that cannot move: rewriting could hide what they are.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.numerics.flow.network import Network, as_network
from sdcdsl.numerics.null_space import Matrix

STILL = -1


@dataclass(frozen=True, eq=False)
class Classes:
    of: np.ndarray  # int64 [cell]: the class, STILL for cells that cannot move whatever is opened
    turn: np.ndarray  # float64 [cell]: 1 or -1
    matrix: Matrix  # relations among classes
    network: Network | None

    @property
    def count(self) -> int:
        return self.matrix.columns

    def least(self, down: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rooms of cells as rooms of their classes: the narrowest counts."""
        low, high = np.full(self.count, np.inf), np.full(self.count, np.inf)
        cells = np.flatnonzero(self.of >= 0)
        of, same = self.of[cells], self.turn[cells] > 0
        np.minimum.at(low, of, np.where(same, down[cells], up[cells]))
        np.minimum.at(high, of, np.where(same, up[cells], down[cells]))
        return low, high

    def total(self, down: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs of cells added up: what one step of a class down and up costs."""
        cells = np.flatnonzero(self.of >= 0)
        of, same = self.of[cells], self.turn[cells] > 0
        low = np.bincount(of, weights=np.where(same, down[cells], up[cells]), minlength=self.count)
        high = np.bincount(of, weights=np.where(same, up[cells], down[cells]), minlength=self.count)
        return low, high

    def to_cells(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rooms of classes as rooms of their cells."""
        moves = self.of >= 0
        same = self.turn > 0
        of = np.where(moves, self.of, 0)
        down, up = np.where(same, low[of], high[of]), np.where(same, high[of], low[of])
        return np.where(moves, down, 0.0), np.where(moves, up, 0.0)


def classes_of(M: csr_array, may_open: np.ndarray) -> Classes:
    """Classes of the cells that may be opened."""
    rows = _Rows(M, may_open)
    rows.fold(pairs=False)
    plain = rows.classes()
    network = _network(plain.matrix)
    if network is not None:
        return Classes(plain.of, plain.turn, plain.matrix, network)
    rows.fold(pairs=True)
    return rows.classes()


def _network(m: Matrix) -> Network | None:
    row = np.repeat(np.arange(m.rows), np.diff(m.start))
    return as_network(m.value, m.index, row, m.columns, m.rows)


class _Rows:
    """Relations as rows of {class: coefficient}, rewritten until none is left with one class, or with two."""

    def __init__(self, M: csr_array, may_open: np.ndarray):
        equations, self.n = cast("tuple[int, int]", M.shape)
        self.of = np.where(may_open, np.arange(self.n), STILL)
        self.turn = np.ones(self.n)
        self.members: dict[int, list[int]] = {}
        self.rows: list[dict[int, float]] = []
        self.places: defaultdict[int, set[int]] = defaultdict(set)
        indptr, indices, data = (cast(Any, part).tolist() for part in (M.indptr, M.indices, M.data))
        opens = may_open.tolist()
        for r in range(equations):
            row: dict[int, float] = {}
            for e in range(indptr[r], indptr[r + 1]):
                if opens[indices[e]] and data[e] != 0:
                    row[indices[e]] = row.get(indices[e], 0.0) + data[e]
            for i in row:
                self.places[i].add(r)
            self.rows.append(row)

    def fold(self, pairs: bool) -> None:
        most = 2 if pairs else 1
        waiting = [r for r, row in enumerate(self.rows) if 0 < len(row) <= most]
        while waiting:
            row = self.rows[waiting.pop()]
            if len(row) == 1:
                changed = self._stop(next(iter(row)))
            elif len(row) == 2 and pairs:
                (i, a), (j, b) = row.items()
                if abs(a) != abs(b):
                    continue
                changed = self._join(i, j, -a / b)
            else:
                continue
            waiting += [r for r in changed if 0 < len(self.rows[r]) <= most]

    def _stop(self, i: int) -> set[int]:
        for cell in self.members.pop(i, [i]):
            self.of[cell] = STILL
        places = self.places.pop(i)
        for r in places:
            del self.rows[r][i]
        return places

    def _join(self, i: int, j: int, turn: float) -> set[int]:
        """D_j = turn · D_i: class j is taken into class i."""
        mine, other = self.members.setdefault(i, [i]), self.members.pop(j, [j])
        for cell in other:
            self.of[cell] = i
            self.turn[cell] *= turn
        mine += other
        places = self.places.pop(j)
        for r in places:
            row = self.rows[r]
            value = row.get(i, 0.0) + turn * row.pop(j)
            if value != 0:
                row[i] = value
                self.places[i].add(r)
            else:
                row.pop(i, None)
                self.places[i].discard(r)
        return places

    def classes(self) -> Classes:
        names, of = np.unique(self.of[self.of >= 0], return_inverse=True)
        number = np.full(self.n, STILL)
        number[self.of >= 0] = of
        place = np.full(self.n, STILL)
        place[names] = np.arange(len(names))
        seen: set[tuple[tuple[int, float], ...]] = set()
        kept = []
        for row in self.rows:
            if not row:
                continue
            items = sorted(row.items())
            sign = 1.0 if items[0][1] > 0 else -1.0
            key = tuple((i, sign * v) for i, v in items)  # the same relation over again, or its negative
            if key not in seen:
                seen.add(key)
                kept.append(items)
        start = np.cumsum([0, *(len(items) for items in kept)]).astype(np.int64)
        index = place[np.array([i for items in kept for i, _ in items], dtype=np.int64)]
        value = np.array([v for items in kept for _, v in items], dtype=float)
        return Classes(number, self.turn.copy(), Matrix(start, index, value, len(names)), None)
