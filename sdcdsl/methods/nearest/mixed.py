"""The closest table in L1 and L2 together (paper 004 (10)):

    min Σ w1_up z⁺ + w1_down z⁻ + Σ w2 z²,   M z = 0,   l ≤ z ≤ u

ω₁, ω₂ and the subset S of cells that the squares are summed over are in the weights. L2 alone is the case w1 = 0.

The dual Newton method does it where every cell has a square; cells without one take proximal steps. What it gives is
checked: deviations add up and keep their ends, and the multipliers prove the objective. If it does not get there, a
linear program says whether anything does, and an interior point method goes there; from its multipliers Newton's method
has few steps left.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.methods.nearest.additive import additive
from sdcdsl.methods.nearest.feasible import infeasible
from sdcdsl.methods.nearest.interior import interior, sharper
from sdcdsl.methods.nearest.newton import Newton
from sdcdsl.methods.nearest.solved import (
    Cost,
    Solved,
    crossed,
    power_of_two,
    proved,
    typical,
    unit_rows,
    without_noise,
)
from sdcdsl.methods.result import FAILED, INFEASIBLE, LIMIT, Clock

ROUNDS = 60  # of proximal steps


def mixed(
    M: csr_array,
    w1_down: np.ndarray,
    w1_up: np.ndarray,
    w2: np.ndarray,
    l: np.ndarray,
    u: np.ndarray,
    clock: Clock | None = None,
) -> Solved:
    return Mixed(M).solve(w1_down, w1_up, w2, l, u, clock)


class Mixed:
    def __init__(self, M: csr_array):
        self.M, self._rows = unit_rows(csr_array(M))
        self._newton = Newton(self.M)

    def solve(
        self,
        w1_down: np.ndarray,
        w1_up: np.ndarray,
        w2: np.ndarray,
        l: np.ndarray,
        u: np.ndarray,
        clock: Clock | None = None,
    ) -> Solved:
        if crossed(l, u):
            return Solved(INFEASIBLE)
        unit = power_of_two(typical(l, u))
        cost = Cost(w1_down, w1_up, w2)
        prices = np.concatenate([w1_down / unit, w1_up / unit, w2])
        price = power_of_two(float(np.median(prices[prices > 0]))) if (prices > 0).any() else 1.0
        small = Cost(w1_down / (unit * price), w1_up / (unit * price), w2 / price)
        made = self._by_newton(cost, small, l, u, unit, price, clock)
        if made.status != FAILED:
            return made
        proof = infeasible(self.M, l, u, clock)
        if proof is not None:
            return proof.with_rows(self._rows)
        made = self._through_the_inside(cost, small, l, u, unit, price, clock)
        return made or Solved(LIMIT if clock is not None and clock.over else FAILED)

    def _by_newton(
        self,
        cost: Cost,
        small: Cost,
        l: np.ndarray,
        u: np.ndarray,
        unit: float,
        price: float,
        clock: Clock | None,
    ) -> Solved:
        low, high = l / unit, u / unit
        eps = self._newton.softness(small, low, high)
        soft = eps > 0
        centre, y = np.clip(np.zeros(len(l)), low, high), None
        for _ in range(ROUNDS if soft.any() else 1):
            ended = self._newton.minimise(small, low, high, y, (eps, centre), clock)
            if clock is not None and clock.over:
                return Solved(LIMIT)
            if not ended.done:
                return Solved(FAILED)
            moved = float(np.abs((ended.z - centre)[soft]).max(initial=0.0))
            centre, y = ended.z, ended.y
            if moved <= 1e-7 * max(float(np.abs(centre).max(initial=0.0)), 1.0):
                made = self._checked(cost, centre * unit, y * unit * price, l, u, unit)
                if made is not None:
                    return made
        made = self._checked(cost, centre * unit, y * unit * price, l, u, unit) if y is not None else None
        return Solved(FAILED) if made is None else made

    def _through_the_inside(
        self,
        cost: Cost,
        small: Cost,
        l: np.ndarray,
        u: np.ndarray,
        unit: float,
        price: float,
        clock: Clock | None,
    ) -> Solved | None:
        found = interior(self.M, small, l / unit, u / unit, self._newton.enough, clock)
        if found is None:
            return None
        z, y = found
        if (small.w2 > 0)[l < u].all():
            ended = self._newton.minimise(small, l / unit, u / unit, y, clock=clock)
            made = self._checked(cost, ended.z * unit, ended.y * unit * price, l, u, unit) if ended.done else None
            if made is not None:
                return made
        for prices in (sharper(self.M, small, z, y, l / unit, u / unit), y):
            made = self._checked(cost, z * unit, prices * unit * price, l, u, unit)
            if made is not None:
                return made
        return None

    def _checked(
        self, cost: Cost, z: np.ndarray, y: np.ndarray, l: np.ndarray, u: np.ndarray, unit: float
    ) -> Solved | None:
        z = additive(self.M, without_noise(z, l, u, unit), l, u, unit)
        made = proved(self.M, cost, z, y, l, u, unit)
        return None if made is None else made.with_rows(self._rows)
