"""Cells that a chain of relations determines: alone in a relation, or alone once such cells are known.

They cannot move, and the chain says why. What is left is smaller, and a table in two dimensions with some cells hidden
is recognised as a network only without them.
"""

from __future__ import annotations

from functools import partial
from math import inf

import numpy as np

from sdcdsl.attack.engine import Answer, Bounds, EngineAnswer, Identity, nothing, stands_still
from sdcdsl.attack.flow_engine import FlowEngine
from sdcdsl.numerics.null_space import RelationMatrix


class SingletonPresolve:
    """`cells` and `equations` are those that are left, `rest` the relations among them."""

    def __init__(self, matrix: RelationMatrix):
        self.matrix = matrix
        row = np.repeat(np.arange(matrix.rows), np.diff(matrix.start))
        left = np.ones(matrix.columns, dtype=bool)
        self.order: list[tuple[int, int]] = []  # cell and the equation that determines it, first to last
        entry = np.arange(len(row))
        while len(entry):
            alone = entry[np.bincount(row[entry], minlength=matrix.rows)[row[entry]] == 1]
            if not len(alone):
                break
            cells, first = np.unique(matrix.index[alone], return_index=True)
            self.order += zip(cells.tolist(), row[alone[first]].tolist(), strict=True)
            left[cells] = False
            entry = entry[left[matrix.index[entry]]]
        self.cells = np.flatnonzero(left)
        self.local = np.cumsum(left) - 1
        self.local[~left] = -1
        self.equations, at = np.unique(row[entry], return_inverse=True)
        start = np.searchsorted(at, np.arange(len(self.equations) + 1)).astype(np.int64)
        self.rest = RelationMatrix(start, self.local[matrix.index[entry]], matrix.value[entry], len(self.cells))

    def chain(self, cell: int, sign: int) -> Identity:
        """γ with sign · e_cell = Mᵀγ: the equation that determines the cell, and those of the cells it refers to."""
        goal = {cell: float(sign)}
        gamma: dict[int, float] = {}
        m = self.matrix
        for other, equation in reversed(self.order):
            amount = goal.pop(other, 0.0)
            if amount == 0:
                continue
            span = slice(m.start[equation], m.start[equation + 1])
            row = dict(zip(m.index[span].tolist(), m.value[span].tolist(), strict=True))
            factor = amount / row.pop(other)
            gamma[equation] = factor
            for j, value in row.items():
                goal[j] = goal.get(j, 0.0) - factor * value
        return np.array(list(gamma), dtype=np.int64), np.array(list(gamma.values()))


class PresolvedEngine:
    """Flows for what is left after presolve."""

    def __init__(self, presolved: SingletonPresolve, inner: FlowEngine):
        self.presolved, self.inner = presolved, inner

    def push(self, cell: int, sign: int, need: float = inf, bounds: Bounds | None = None) -> Answer:
        local = int(self.presolved.local[cell])
        if local < 0:
            return stands_still(partial(self.presolved.chain, cell, sign))
        if bounds is not None:
            at = self.presolved.local[bounds[0]]
            bounds = at[at >= 0], bounds[1][at >= 0], bounds[2][at >= 0]
        inner = self.inner.push(local, sign, need, bounds)
        cells = self.presolved.cells[inner.cells]
        return EngineAnswer(
            inner.reached, cells, inner.move, inner.closed, partial(self._why, inner) if inner.closed else None
        )

    def _why(self, inner: Answer) -> Identity:
        """The cut of the rest holds for tables without the determined cells; each of those goes by its chain."""
        m, presolved = self.presolved.matrix, self.presolved
        gamma = np.zeros(m.rows)
        identity = inner.multipliers() or nothing()
        gamma[presolved.equations[identity[0]]] = identity[1]
        off = -(m.sparse.T @ gamma)
        for cell in np.flatnonzero((presolved.local < 0) & (off != 0)):
            equations, more = presolved.chain(int(cell), 1)
            gamma[equations] += off[cell] * more
        used = np.flatnonzero(gamma)
        return used, gamma[used]

    def still(self, cells: np.ndarray) -> np.ndarray:
        return self.presolved.local[cells] < 0

    def joint(self, cells: np.ndarray, signs: np.ndarray, needs: np.ndarray) -> None:
        """Flows answer one question at a time, quickly enough."""
