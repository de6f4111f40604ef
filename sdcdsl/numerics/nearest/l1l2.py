"""The closest table in L1 and L2 together (paper 004 (10)):

    min Σ w1_up z⁺ + w1_down z⁻ + Σ w2 z²,   M z = 0,   l ≤ z ≤ u

ω₁, ω₂ and the subset S of cells that the squares are summed over are in the weights. L2 alone is the case w1 = 0.

The dual Newton method does it where every cell has a square; cells without one take proximal steps. If it does not get
there, an interior point method does; from its multipliers Newton's method has few steps left. Where large tables move
in few directions its steps cost little, and its multipliers prove it if nothing fits: there it comes first if many
problems are to be solved. Elsewhere a linear program says whether anything fits before it begins. Whatever is given is
checked: deviations add up and keep their ends, and the multipliers prove the objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.deadline import Deadline
from sdcdsl.numerics.nearest.additive import additive
from sdcdsl.numerics.nearest.feasible import infeasible, rules_out
from sdcdsl.numerics.nearest.interior_point import Inside, interior, sharper
from sdcdsl.numerics.nearest.newton import Direct, Newton
from sdcdsl.numerics.nearest.solved import (
    SeparableCost,
    Solved,
    crossed,
    power_of_two,
    proved,
    typical,
    unit_rows,
    without_noise,
)
from sdcdsl.numerics.nearest.tuning import NEWTON
from sdcdsl.status import FAILED, INFEASIBLE, LIMIT


def mixed(
    M: csr_array,
    w1_down: np.ndarray,
    w1_up: np.ndarray,
    w2: np.ndarray,
    l: np.ndarray,
    u: np.ndarray,
    deadline: Deadline | None = None,
) -> Solved:
    return MixedNormProblem(M).solve(w1_down, w1_up, w2, l, u, deadline)


@dataclass(frozen=True, eq=False)
class _ScaledProblem:
    """Costs and ends as they were given, and in units that make typical ones about 1: lengths in `unit`, costs of a
    unit of square in `price`."""

    cost: SeparableCost
    l: np.ndarray
    u: np.ndarray

    @cached_property
    def unit(self) -> float:
        return power_of_two(typical(self.l, self.u))

    @cached_property
    def price(self) -> float:
        prices = np.concatenate([self.cost.w_down / self.unit, self.cost.w_up / self.unit, self.cost.w2])
        return power_of_two(float(np.median(prices[prices > 0]))) if (prices > 0).any() else 1.0

    @cached_property
    def small(self) -> SeparableCost:
        slope = self.unit * self.price
        return SeparableCost(self.cost.w_down / slope, self.cost.w_up / slope, self.cost.w2 / self.price)

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        return self.l / self.unit, self.u / self.unit


class MixedNormProblem:
    def __init__(self, M: csr_array, many: bool = False):
        """`many` problems will follow, or hard ones: then it pays to look for directions before anything else."""
        self.M, self._rows = unit_rows(csr_array(M))
        self._newton = Newton(self.M)
        self._inside = Inside(self.M)
        self._many = many

    def solve(
        self,
        w1_down: np.ndarray,
        w1_up: np.ndarray,
        w2: np.ndarray,
        l: np.ndarray,
        u: np.ndarray,
        deadline: Deadline | None = None,
    ) -> Solved:
        if crossed(l, u):
            return Solved(INFEASIBLE)
        problem = _ScaledProblem(SeparableCost(w1_down, w1_up, w2), l, u)
        made = self._by_directions(problem, deadline) if self._many else None
        if made is not None:
            return made
        made = self._by_newton(problem, deadline)
        if made.status != FAILED:
            return made
        if not self._many:
            made, self._many = self._by_directions(problem, deadline), True  # the next one will be no easier
            if made is not None:
                return made
        proof = infeasible(self.M, l, u, deadline)
        if proof is not None:
            return proof.with_rows(self._rows)
        reached = interior(self.M, problem.small, *problem.ends, self._newton.enough, deadline)
        made = None if reached is None else self._ended(problem, reached.z, reached.y, deadline)
        return made or Solved(LIMIT if deadline is not None and deadline.expired else FAILED)

    def _by_directions(self, problem: _ScaledProblem, deadline: Deadline | None) -> Solved | None:
        """None if there are too many of them, or if that is not the way."""
        reached = self._inside.solve(problem.small, *problem.ends, deadline)
        if reached is None:
            return None
        if reached.towards is not None and rules_out(self.M, problem.l, problem.u, reached.towards):
            return Solved(INFEASIBLE, y=reached.towards).with_rows(self._rows)
        return self._ended(problem, reached.z, reached.y, deadline, self._inside.direct)

    @property
    def tells_what_fits(self) -> bool:
        """Whether it is quickly told that nothing fits."""
        return self._many and self._inside.worth_trying

    def _by_newton(self, problem: _ScaledProblem, deadline: Deadline | None) -> Solved:
        small, (low, high) = problem.small, problem.ends
        eps = self._newton.softness(small, low, high)
        soft = eps > 0
        centre, y = np.clip(np.zeros(len(low)), low, high), None
        for _ in range(NEWTON.proximal if soft.any() else 1):
            ended = self._newton.minimise(small, low, high, y, (eps, centre), deadline)
            if deadline is not None and deadline.expired:
                return Solved(LIMIT)
            if not ended.done:
                return Solved(FAILED)
            moved = float(np.abs((ended.z - centre)[soft]).max(initial=0.0))
            centre, y = ended.z, ended.y
            if moved <= 1e-7 * max(float(np.abs(centre).max(initial=0.0)), 1.0):
                made = self._checked(problem, centre, y)
                if made is not None:
                    return made
        made = self._checked(problem, centre, y) if y is not None else None
        return Solved(FAILED) if made is None else made

    def _ended(
        self,
        problem: _ScaledProblem,
        z: np.ndarray,
        y: np.ndarray,
        deadline: Deadline | None,
        direct: Direct | None = None,
    ) -> Solved | None:
        """What came from the inside, with the last digits."""
        small, (low, high) = problem.small, problem.ends
        if (small.w2 > 0)[low < high].all():
            ended = self._newton.minimise(small, low, high, y, deadline=deadline, direct=direct)
            made = self._checked(problem, ended.z, ended.y) if ended.done else None
            if made is not None:
                return made
        for prices in (sharper(self.M, small, z, y, low, high), y):
            made = self._checked(problem, z, prices)
            if made is not None:
                return made
        return None

    def _checked(self, problem: _ScaledProblem, z: np.ndarray, y: np.ndarray) -> Solved | None:
        """z and y in units of the asked."""
        l, u, unit = problem.l, problem.u, problem.unit
        z = additive(self.M, without_noise(z * unit, l, u, unit), l, u, unit)
        made = proved(self.M, problem.cost, z, y * unit * problem.price, l, u, unit)
        return None if made is None else made.with_rows(self._rows)
