"""Attacks by linear programming, for components with too many dimensions for a dictionary.

One HiGHS model, of which only the objective changes: primal simplex starts where the last question ended. Questions
about many cells have little to start from, and the dual method is faster there: where all rooms end, any basis with the
cells at the right ends will do for it. Rows that the others imply are left out. Lengths are measured in a typical room
of the component, since HiGHS's tolerances are absolute.
"""

from __future__ import annotations

from math import inf

import highspy
import numpy as np

from sdcdsl.attack.engine import Bounds, Found
from sdcdsl.numerics.lp import DUAL, PRIMAL, handle
from sdcdsl.numerics.null_space import Matrix
from sdcdsl.numerics.simplex.tableau import typical_room

NOTHING = 1e-9  # moves below this, in units of a typical room, are rounding errors


class SolverFailed(RuntimeError):
    """HiGHS ended with something that is not an answer."""


class LpEngine:
    def __init__(self, matrix: Matrix, rows: np.ndarray, l: np.ndarray, u: np.ndarray):
        """`rows` are equations that imply all others."""
        self.matrix, self.rows, self.l, self.u = matrix, rows, l, u
        self.unit = typical_room(l, u)
        self._highs = handle(
            matrix.sparse[rows],
            ends=(l / self.unit, u / self.unit),
            maximise=True,
            simplex_strategy=PRIMAL,
            primal_feasibility_tolerance=1e-10,
            dual_feasibility_tolerance=1e-9,
        )
        self._priced = np.zeros(0, dtype=np.int32)
        self._new = True
        self._ending = bool(np.isfinite(l).all() and np.isfinite(u).all())

    def push(self, cell: int, sign: int, need: float = inf, bounds: Bounds | None = None) -> Found:
        cost = np.array([float(sign)])
        if bounds is None:
            return self._solved(cell, sign, np.array([cell]), cost)
        cells = np.asarray(bounds[0], dtype=np.int32)
        self._bound(cells, bounds[1], bounds[2])
        try:
            return self._solved(cell, sign, np.array([cell]), cost)
        finally:
            self._bound(cells, self.l[cells], self.u[cells])

    def joint(self, cells: np.ndarray, signs: np.ndarray, needs: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Maximises Σ share of its need that each cell gets, none more than all of it."""
        low, high = self.l[cells].copy(), self.u[cells].copy()
        up = signs > 0
        high[up], low[~up] = np.minimum(high[up], needs[up]), np.maximum(low[~up], -needs[~up])
        self._bound(cells, low, high)
        if self._new or self._ending:
            self._highs.setOptionValue("simplex_strategy", DUAL)
        try:
            made = self._solved(int(cells[0]), int(signs[0]), cells, signs * self.unit / needs)
        finally:
            self._highs.setOptionValue("simplex_strategy", PRIMAL)
            self._bound(cells, self.l[cells], self.u[cells])
        return made.cells, made.move

    def still(self, cells: np.ndarray) -> np.ndarray:
        return np.zeros(len(cells), dtype=bool)

    def _bound(self, cells: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        self._highs.changeColsBounds(len(cells), cells.astype(np.int32), low / self.unit, high / self.unit)

    def _solved(self, cell: int, sign: int, priced: np.ndarray, cost: np.ndarray) -> Found:
        if len(self._priced):
            self._highs.changeColsCost(len(self._priced), self._priced, np.zeros(len(self._priced)))
        self._priced = priced.astype(np.int32)
        self._highs.changeColsCost(len(priced), self._priced, cost.astype(float))
        self._highs.run()
        self._new = False
        status = self._highs.getModelStatus()
        if status in (highspy.HighsModelStatus.kUnbounded, highspy.HighsModelStatus.kUnboundedOrInfeasible):
            return self._ray(cell)
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolverFailed(self._highs.modelStatusToString(status))
        solution = self._highs.getSolution()
        x = np.array(solution.col_value)
        gamma = np.array(solution.row_dual)
        used = np.flatnonzero(np.abs(gamma) > 1e-12)
        identity = self.rows[used], gamma[used]
        return Found(max(sign * x[cell] * self.unit, 0.0), *self._moves(x), True, lambda: identity)

    def _ray(self, cell: int) -> Found:
        _, found, ray = self._highs.getPrimalRay()  # pyright: ignore[reportAttributeAccessIssue]
        if not found:
            raise SolverFailed("unbounded without a ray")
        ray = np.array(ray)
        self._highs.clearSolver()  # HiGHS does not go on well from a ray
        cells, move = self._moves(ray / abs(ray[cell]))
        return Found(inf, cells, move / self.unit, True)

    def _moves(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cells = np.flatnonzero(np.abs(x) > NOTHING)
        return cells, x[cells] * self.unit
