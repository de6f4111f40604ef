"""Attacks by linear programming, for components with too many dimensions for a tableau.

One HiGHS model, of which only the objective changes: primal simplex starts where the last question ended. Questions
about many cells have little to start from, and the dual method is faster there: where all slacks end, any basis with
the cells at the right ends will do for it. Rows that the others imply are left out. Lengths are measured in a typical
slack of the component, since HiGHS's tolerances are absolute.
"""

from __future__ import annotations

from math import inf

import numpy as np

from sdcdsl.attack.engine import Bounds, EngineAnswer
from sdcdsl.numerics.lp import DUAL, PRIMAL, LinearProgram
from sdcdsl.numerics.null_space import RelationMatrix
from sdcdsl.numerics.simplex.tableau import typical_slack
from sdcdsl.status import INFEASIBLE_OR_UNBOUNDED, OPTIMAL, UNBOUNDED, SolverFailed

NOTHING = 1e-9  # moves below this, in units of a typical slack, are rounding errors


class LpEngine:
    def __init__(self, matrix: RelationMatrix, rows: np.ndarray, l: np.ndarray, u: np.ndarray):
        """`rows` are equations that imply all others."""
        self.matrix, self.rows, self.l, self.u = matrix, rows, l, u
        self.unit = typical_slack(l, u)
        self._program = LinearProgram(
            matrix.sparse[rows],
            bounds=(l / self.unit, u / self.unit),
            maximise=True,
            primal_tolerance=1e-10,
            dual_tolerance=1e-9,
        )
        self._priced = np.zeros(0, dtype=np.int32)
        self._new = True
        self._ending = bool(np.isfinite(l).all() and np.isfinite(u).all())

    def push(self, cell: int, sign: int, need: float = inf, bounds: Bounds | None = None) -> EngineAnswer:
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
        algorithm = DUAL if self._new or self._ending else PRIMAL
        try:
            made = self._solved(int(cells[0]), int(signs[0]), cells, signs * self.unit / needs, algorithm)
        finally:
            self._bound(cells, self.l[cells], self.u[cells])
        return made.cells, made.move

    def still(self, cells: np.ndarray) -> np.ndarray:
        return np.zeros(len(cells), dtype=bool)

    def _bound(self, cells: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        self._program.change_bounds(low / self.unit, high / self.unit, cells)

    def _solved(
        self, cell: int, sign: int, priced: np.ndarray, cost: np.ndarray, algorithm: str = PRIMAL
    ) -> EngineAnswer:
        program = self._program
        if len(self._priced):
            program.change_costs(np.zeros(len(self._priced)), self._priced)
        self._priced = priced.astype(np.int32)
        program.change_costs(cost, self._priced)
        status = program.solve(algorithm=algorithm)
        self._new = False
        if status in (UNBOUNDED, INFEASIBLE_OR_UNBOUNDED):
            return self._ray(cell)
        if status != OPTIMAL:
            raise SolverFailed(program.message)
        x, gamma = program.x, program.dual
        used = np.flatnonzero(np.abs(gamma) > 1e-12)
        identity = self.rows[used], gamma[used]
        return EngineAnswer(max(sign * x[cell] * self.unit, 0.0), *self._moves(x), True, lambda: identity)

    def _ray(self, cell: int) -> EngineAnswer:
        ray = self._program.primal_ray()
        if ray is None:
            raise SolverFailed("unbounded without a ray")
        self._program.forget()  # HiGHS does not go on well from a ray
        cells, move = self._moves(ray / abs(ray[cell]))
        return EngineAnswer(inf, cells, move / self.unit, True)

    def _moves(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cells = np.flatnonzero(np.abs(x) > NOTHING)
        return cells, x[cells] * self.unit
