"""The cheapest way to give a requirement what it lacks, and the cut that says so: separation for tables in many
dimensions.

For one side, with z what the release leaves already:

    min Σ w⁺ e⁺ + w⁻ e⁻    M D = 0,   sign · D_p = level,   -(z⁻ + e⁻) ≤ D ≤ z⁺ + e⁺,   within the viewer's slack

At 0 the requirement is protected. Otherwise z + e protects it, and the multipliers γ are an identity whose coefficients
are at most the costs, times one factor: of all violated cuts it is the one that raises the objective most on its own.
Only bounds change between questions about a side, so its last basis is dual feasible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.sparse import hstack

from sdcdsl.accelerate.cutting.attacks import HUGE, TIGHT, AttackFailed
from sdcdsl.numerics.lp import Basis, LinearProgram
from sdcdsl.numerics.null_space import RelationMatrix, independent_rows
from sdcdsl.status import INFEASIBLE, LIMIT, OPTIMAL

SMALL = 1e-10  # moves below this share of the level are rounding errors of a solver


class OutOfTime(AttackFailed):
    """A question that was not answered in the time that was left."""


@dataclass(frozen=True, eq=False)
class MinCostCut:
    price: float  # 0 if nothing is lacking
    moved: np.ndarray
    move: np.ndarray  # takes the class to its level
    cells: np.ndarray  # the identity; empty if there is none
    coefficients: np.ndarray


class MinCostSeparation:
    def __init__(self, matrix: RelationMatrix, cost_down: np.ndarray, cost_up: np.ndarray):
        self.relations = m = matrix.sparse[independent_rows(matrix)].tocsr()
        self.steps = 0  # of the simplex method, in all
        self.seconds_left: Callable[[], float] = lambda: inf
        self._transposed = m.T.tocsr()
        self._n = n = matrix.columns
        self._cost = np.concatenate([np.zeros(n), cost_up, cost_down])
        self._program = LinearProgram(hstack([m, m, -m]), cost=self._cost, **TIGHT)
        self._basis: dict[tuple[int, int], Basis] = {}

    def ask(
        self,
        cell: int,
        sign: int,
        need: float,
        z: tuple[np.ndarray, np.ndarray],
        slack: tuple[np.ndarray, np.ndarray],
    ) -> MinCostCut | None:
        """None if even the whole slack does not take the class to its level."""
        n, program = self._n, self._program
        slack = np.minimum(slack[0] / need, 2 * HUGE), np.minimum(slack[1] / need, 2 * HUGE)
        down, up = np.minimum(z[0] / need, slack[0]), np.minimum(z[1] / need, slack[1])
        more_down, more_up = slack[0] - down, slack[1] - up
        low = np.concatenate([-down, np.zeros(2 * n)])
        high = np.concatenate([up, more_up, more_down])
        low[low < -HUGE], high[high > HUGE] = -inf, inf
        low[cell] = high[cell] = sign
        high[n + cell] = high[2 * n + cell] = 0.0
        program.change_bounds(low, high)
        basis = self._basis.get((cell, sign))
        if basis is not None:
            program.basis = basis
        status = self._solved()
        if status not in (OPTIMAL, INFEASIBLE, LIMIT):
            program.forget()
            status = self._solved()
        if status == LIMIT:
            raise OutOfTime("the time was up")
        if status == INFEASIBLE:
            return None
        if status != OPTIMAL:
            raise AttackFailed(program.message)
        self._basis[cell, sign] = program.basis
        x = program.x
        d = x[:n] + x[n : 2 * n] - x[2 * n :]
        moved = np.flatnonzero(np.abs(d) > SMALL)
        g = self._transposed @ program.dual
        cells = np.zeros(0, dtype=np.int64)
        c = np.zeros(0)
        if abs(g[cell]) > 1e-12:
            c = -sign * g / g[cell]
            c[cell] = 0.0
            cells = np.flatnonzero(np.abs(c) > 1e-12)
            c = c[cells]
        return MinCostCut(float(self._cost @ x), moved, d[moved] * need, cells, c)

    def _solved(self) -> str:
        status = self._program.solve(seconds=self.seconds_left())
        self.steps += self._program.iterations
        return status
