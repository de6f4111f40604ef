"""What single relations say about single cells, passed on a few times.

In a relation that leaves the others little slack a cell has little slack, too. That exposes most cells that a release
leaves exposed, and costs a few sums over the relations instead of a linear program each. The reason is a handful of
relations: those that the slack of the cell was found by, and where they rely on slacks that were found before, theirs.
"""

from __future__ import annotations

import heapq

import numpy as np

from sdcdsl.attack.engine import Identity
from sdcdsl.attack.tuning import TUNING
from sdcdsl.numerics.null_space import RelationMatrix

LESS = 1 - 1e-9  # share of a slack below which it counts as narrower


class Propagated:
    """Rooms l ≤ d ≤ u of all cells, as far as relations narrow them one at a time."""

    def __init__(self, matrix: RelationMatrix, l: np.ndarray, u: np.ndarray):
        self.matrix = matrix
        self.l, self.u = l.copy(), u.copy()
        self._row = np.repeat(np.arange(matrix.rows), np.diff(matrix.start))
        self._by: list[tuple[np.ndarray, np.ndarray]] = []  # of each round: the relation of each cell, down and up
        for _ in range(TUNING.rounds):
            before = self.l, self.u
            self._by.append(self._narrow())
            if all((relation < 0).all() for relation in self._by[-1]):
                break
            self.l, self.u = np.maximum(before[0], self.l), np.minimum(before[1], self.u)

    def _narrow(self) -> tuple[np.ndarray, np.ndarray]:
        value, index = self.matrix.value, self.matrix.index
        low, high = value * self.l[index], value * self.u[index]
        low, high = np.where(value > 0, low, high), np.where(value > 0, high, low)
        most = -_rest(self._row, low, self.matrix.rows)  # of value · d, in this relation
        least = -_rest(self._row, high, self.matrix.rows)
        up, down = np.where(value > 0, most, least) / value, np.where(value > 0, least, most) / value
        relation_up, u = self._tightest(np.maximum(up, 0.0), self.u)
        relation_down, l = self._tightest(np.maximum(-down, 0.0), -self.l)
        self.l, self.u = -l, u
        return relation_down, relation_up

    def _tightest(self, found: np.ndarray, slack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The narrowest slack of each cell, and the relation that it comes from: -1 if it is none."""
        index = self.matrix.index
        narrowest = slack.copy()
        np.minimum.at(narrowest, index, found)
        narrower = narrowest < slack * LESS
        relation = np.full(len(slack), -1)
        mine = np.flatnonzero((found == narrowest[index]) & narrower[index])
        relation[index[mine]] = self._row[mine]
        return relation, np.where(narrower, narrowest, slack)

    def multipliers(self, cell: int, sign: int) -> Identity | None:
        """γ with which the coefficients sign · e_cell - Mᵀγ show the slack; None if that takes too many relations."""
        m = self.matrix
        left = {cell: float(sign)}
        gamma: dict[int, float] = {}
        pending = [(-(len(self._by) - 1), cell)]
        steps = 0
        while pending:
            minus, at = heapq.heappop(pending)
            amount = left.get(at, 0.0)
            found = self._relation(at, amount > 0, -minus) if amount else None
            if found is None:
                continue
            steps += 1
            if steps > TUNING.most_reasons:
                return None
            when, relation = found
            if when < -minus:  # others come first
                heapq.heappush(pending, (-when, at))
                continue
            span = slice(m.start[relation], m.start[relation + 1])
            cells, values = m.index[span].tolist(), m.value[span].tolist()
            factor = amount / values[cells.index(at)]
            gamma[relation] = gamma.get(relation, 0.0) + factor
            for other, value in zip(cells, values, strict=True):
                left[other] = left.get(other, 0.0) - factor * value
                if other != at and when > 0:
                    heapq.heappush(pending, (1 - when, other))
            left[at] = 0.0
        used = [e for e, g in gamma.items() if g]
        return np.array(used, dtype=np.int64), np.array([gamma[e] for e in used])

    def _relation(self, cell: int, up: bool, last: int) -> tuple[int, int] | None:
        for when in range(last, -1, -1):
            relation = int(self._by[when][1 if up else 0][cell])
            if relation >= 0:
                return when, relation
        return None


def _rest(row: np.ndarray, term: np.ndarray, rows: int) -> np.ndarray:
    """For each entry the sum of the other terms of its row."""
    infinite = np.isinf(term)
    finite = np.where(infinite, 0.0, term)
    others = np.bincount(row, infinite, rows)[row] - infinite
    rest = np.bincount(row, finite, rows)[row] - finite
    sign = np.where(infinite, np.sign(term), 0.0)
    unbounded = np.bincount(row, sign, rows)[row] - sign
    return np.where(others > 0, np.copysign(np.inf, unbounded), rest)
