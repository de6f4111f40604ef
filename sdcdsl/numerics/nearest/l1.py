"""The closest table in L1 (paper 004 (4)): min Σ w_up z⁺ + w_down z⁻,  M (z⁺ - z⁻) = 0,  l ≤ z⁺ - z⁻ ≤ u.

Dual simplex on one linear program that stays warm while ends and weights change: every cell has a column for each
direction it may move in, one column if it costs nothing. HiGHS's tolerances are absolute, so lengths are in units of
a typical level and costs in units of a typical weight.

A solution counts only when it adds up, keeps its ends, and its multipliers prove it. If not, the same problem is asked
again with reduced costs, magnified, so that what the tolerances hid comes out; then the interior point method has a
try. It also takes over where the simplex method is slow.
"""

from __future__ import annotations

from math import inf

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack

from sdcdsl.deadline import Deadline
from sdcdsl.numerics.lp import DUAL, INTERIOR_POINT, LinearProgram
from sdcdsl.numerics.nearest.additive import additive
from sdcdsl.numerics.nearest.feasible import infeasible, proves, ray
from sdcdsl.numerics.nearest.solved import (
    SeparableCost,
    Solved,
    crossed,
    power_of_two,
    proved,
    sides,
    typical,
    unit_rows,
    without_noise,
)
from sdcdsl.numerics.nearest.tuning import LINEAR
from sdcdsl.status import FAILED, INFEASIBLE, INFEASIBLE_OR_UNBOUNDED, LIMIT, OPTIMAL


class L1:
    """min Σ w_up z⁺ + w_down z⁻ for one M, again and again."""

    def __init__(self, M: csr_array):
        self.M, self._rows = unit_rows(csr_array(M))
        m, n = sides(self.M)
        # Presolve pays where relations imply each other; on a few long relations it only costs time.
        self._presolve = 2 * m >= n
        self._up, self._down = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        self._unit = self._price = 0.0
        self._program: LinearProgram | None = None
        self._columns = csc_array(self.M)
        self._cell, self._sign = np.zeros(0, dtype=np.int64), np.zeros(0)
        self._given: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # costs and bounds of the program

    def solve(
        self,
        w_down: np.ndarray,
        w_up: np.ndarray,
        l: np.ndarray,
        u: np.ndarray,
        deadline: Deadline | None = None,
        scale: float | None = None,
    ) -> Solved:
        """`scale`: a typical length, where the caller knows better than the levels in l and u."""
        if crossed(l, u):
            return Solved(INFEASIBLE)
        cost = SeparableCost(w_down, w_up, np.zeros(len(w_up)))
        self._unit = _steady(self._unit, typical(l, u) if scale is None else scale)
        self._price = _steady(self._price, _typical_price(w_down, w_up))
        status, unit = FAILED, self._unit
        # Where levels differ by orders of magnitude, a longer unit may do what a typical one does not.
        longer = _steady(unit, float(np.sqrt(unit * _longest(l, u, unit))))
        for algorithm, patience, self._unit in (
            (DUAL, LINEAR.patience, unit),
            (INTERIOR_POINT, inf, unit),
            (DUAL, inf, longer),
        ):
            program = self._prepared(w_down, w_up, l, u)
            status = self._run(program, algorithm, deadline, patience)
            if deadline is not None and deadline.expired and status != OPTIMAL:
                return Solved(LIMIT)
            if status == INFEASIBLE:
                proof = self._proof(program, l, u, deadline)
                if proof is not None:
                    return proof
            if status == OPTIMAL:
                made = self._believed(program, cost, l, u, deadline)
                if made is not None:
                    return made
            if status != LIMIT:
                program.forget()
        return Solved(LIMIT if status == LIMIT else FAILED)

    # ---- the program ---------------------------------------------------------------------------------------------

    def _prepared(self, w_down: np.ndarray, w_up: np.ndarray, l: np.ndarray, u: np.ndarray) -> LinearProgram:
        """The program with these costs and bounds; built anew when cells move in directions it has no columns for."""
        free = (w_up == 0) & (w_down == 0)  # one column, and not two that could grow together
        up, down = (u > 0) | (free & ((l < u) | (l != 0))), (l < 0) & ~free
        if self._program is None or (up & ~self._up).any() or (down & ~self._down).any():
            self._program = self._built(up, down)
        cell, forth = self._cell, self._sign > 0
        free, l, u = free[cell], l[cell] / self._unit, u[cell] / self._unit
        low = np.where(free, np.where(forth, l, 0.0), np.maximum(np.where(forth, l, -u), 0.0))
        high = np.where(free, np.where(forth, u, 0.0), np.maximum(np.where(forth, u, -l), 0.0))
        self._give(self._program, np.where(forth, w_up[cell], w_down[cell]) / self._price, low, high)
        return self._program

    def _built(self, up: np.ndarray, down: np.ndarray) -> LinearProgram:
        self._up, self._down = self._up | up, self._down | down
        ups, downs = np.flatnonzero(self._up), np.flatnonzero(self._down)
        self._cell = np.concatenate([ups, downs])
        self._sign = np.repeat([1.0, -1.0], [len(ups), len(downs)])
        columns = self.M.tocsc()
        self._columns = csc_array(hstack([columns[:, ups], -columns[:, downs]]))
        self._given = None
        return LinearProgram(self._columns, primal_tolerance=1e-9, dual_tolerance=1e-9, presolve=self._presolve)

    def _give(self, program: LinearProgram, cost: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        """Only what changed: from call to call that is little."""
        before = self._given
        every = np.arange(len(cost), dtype=np.int32)
        priced = every if before is None else every[before[0] != cost]
        moved = every if before is None else every[(before[1] != low) | (before[2] != high)]
        if len(priced):
            program.change_costs(cost[priced], priced)
        if len(moved):
            program.change_bounds(low[moved], high[moved], moved)
        self._given = cost, low, high

    def _run(self, program: LinearProgram, algorithm: str, deadline: Deadline | None, patience: float) -> str:
        left = patience if deadline is None else min(deadline.remaining, patience)
        status = program.solve(seconds=left, algorithm=algorithm)
        if deadline is not None:
            deadline.mark_time_dependent(program.timed)
        return INFEASIBLE if status == INFEASIBLE_OR_UNBOUNDED else status  # costs are not negative

    # ---- what it says --------------------------------------------------------------------------------------------

    def _believed(
        self, program: LinearProgram, cost: SeparableCost, l: np.ndarray, u: np.ndarray, deadline: Deadline | None
    ) -> Solved | None:
        x, y = program.x, program.dual
        if len(y) != len(self._rows):  # nothing may move
            x, y = np.zeros(len(self._cell)), np.zeros(len(self._rows))
        for again in (True, True, False):
            made = self._checked(cost, x, y, l, u)
            if made is not None or not again:
                return made
            around = self._magnified(program, x, y, deadline)
            if around is None:
                return None
            x, y = around
        return None

    def _checked(
        self, cost: SeparableCost, x: np.ndarray, y: np.ndarray, l: np.ndarray, u: np.ndarray
    ) -> Solved | None:
        z = without_noise(np.bincount(self._cell, self._sign * x, len(l)) * self._unit, l, u, self._unit)
        made = proved(self.M, cost, additive(self.M, z, l, u, self._unit), y * self._price, l, u, self._unit)
        return None if made is None else made.with_rows(self._rows)

    def _magnified(
        self, program: LinearProgram, x: np.ndarray, y: np.ndarray, deadline: Deadline | None
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The same problem with costs as they are seen from y, which differ by nothing where M z = 0, in smaller units:
        tolerances that were large beside a small weight are not any more."""
        assert self._given is not None
        cost, low, high = self._given
        self._give(program, LINEAR.magnified * (cost - self._columns.T @ y), low, high)
        status = self._run(program, DUAL, deadline, LINEAR.patience)
        x, y = program.x, y + program.dual / LINEAR.magnified
        self._give(program, cost, low, high)
        return (x, y) if status == OPTIMAL else None

    def _proof(self, program: LinearProgram, l: np.ndarray, u: np.ndarray, deadline: Deadline | None) -> Solved | None:
        y = ray(program, len(self._rows))
        if y is not None and proves(self.M, l, u, y):
            return Solved(INFEASIBLE, y=y * self._rows)
        made = infeasible(self.M, l, u, deadline)
        return None if made is None else made.with_rows(self._rows)


def _steady(now: float, length: float) -> float:
    return now if now and 1 / LINEAR.steady <= length / now <= LINEAR.steady else power_of_two(length)


def _longest(l: np.ndarray, u: np.ndarray, unit: float) -> float:
    """The longest level."""
    levels = np.concatenate([l[np.isfinite(l)], -u[np.isfinite(u)]])
    return max(float(levels.max(initial=unit)), unit)


def _typical_price(w_down: np.ndarray, w_up: np.ndarray) -> float:
    prices = np.concatenate([w_down, w_up])
    prices = prices[prices > 0]
    return float(np.median(prices)) if len(prices) else 1.0
