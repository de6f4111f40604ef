"""What adjusting a table requires (papers 004 (3), 000 (5)): numbers only, as deviations z = x - a.

    M z = 0,    low_i ≤ z_i ≤ high_i,    z_p ≤ -lpl_p  or  z_p ≥ upl_p    for every cell p with a level

The bounds are those of every table and of every view an attacker has: a table outside them would be seen through at
once. Against several attackers the largest level counts: an attacker without a level in a direction requires nothing
there. A direction that no attacker has a level for is not open to the cell, since the truth itself is zero above and
zero below the truth. Levels require a distance here; sliding levels ask how wide an attacker's interval stays, and an
adjusted table publishes none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.instance import DOWN, UP, Instance


@dataclass(frozen=True, eq=False)
class Adjustment:
    M: csr_array
    a: np.ndarray  # [cell]
    w_down: np.ndarray  # [cell]: cost of a unit downwards, upwards
    w_up: np.ndarray
    low: np.ndarray  # [cell]: ends of z before any level, with 0 inside; 0 .. 0 where the cell stays as it is
    high: np.ndarray
    cells: np.ndarray  # int64 [p]: cells with a level, P in the papers
    lpl: np.ndarray  # [p]; inf: nobody requires this direction, and it does not protect
    upl: np.ndarray
    sense: np.ndarray  # int8 [p]: -1 down, 1 up, 0 free

    @property
    def n(self) -> int:
        return len(self.a)

    @property
    def p(self) -> int:
        return len(self.cells)

    @cached_property
    def open(self) -> np.ndarray:
        """bool [p, 2]: which directions the bounds, the levels and the given senses leave to a cell."""
        slack = np.stack([-self.low[self.cells] >= self.lpl, self.high[self.cells] >= self.upl], axis=1)
        slack &= np.isfinite(np.stack([self.lpl, self.upl], axis=1))
        slack[self.sense > 0, DOWN] = False
        slack[self.sense < 0, UP] = False
        return slack

    def box(self, sense: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """l and u of (5) in paper 002, with the levels of these senses in them; cells of sense 0 only have bounds."""
        l, u = self.low.copy(), self.high.copy()
        up, down = sense > 0, sense < 0
        l[self.cells[up]] = self.upl[up]
        u[self.cells[down]] = -self.lpl[down]
        return l, u

    def with_sense(self, sense: np.ndarray) -> Adjustment:
        return replace(self, sense=sense)

    def length(self, z: np.ndarray) -> float:
        """Σ w |z|."""
        return float(self.w_up @ np.maximum(z, 0.0) + self.w_down @ np.maximum(-z, 0.0))


def adjustment(
    problem: TableProblem,
    *,
    sense: np.ndarray | None = None,
    stay: np.ndarray | None = None,
    adjust: tuple[np.ndarray, np.ndarray] | None = None,
) -> Adjustment:
    """`sense` int8 [cell]; `stay` bool [cell]: published as they are; `adjust`: how far a cell may move, down and up
    as ends of z (nan where nothing is said)."""
    instance = Instance(problem)
    d = problem.dataset
    a = instance.a
    # Low and high of a view contain the truth, up to rounding.
    low = np.minimum(np.maximum(d["lb"].values, d["low"].values.max(axis=0, initial=-np.inf)) - a, 0.0)
    high = np.maximum(np.minimum(d["ub"].values, d["high"].values.min(axis=0, initial=np.inf)) - a, 0.0)
    union = ~d["published"].values
    low[union], high[union] = -np.inf, np.inf  # their members keep the bounds
    if adjust is not None:
        down, up = adjust
        low = np.maximum(low, np.where(np.isnan(down), -np.inf, np.minimum(down, 0.0)))
        high = np.minimum(high, np.where(np.isnan(up), np.inf, np.maximum(up, 0.0)))
    fixed = ~instance.may_open if stay is None else ~instance.may_open | (stay & ~union)
    low[fixed] = high[fixed] = 0.0
    free_of_charge = instance.open_anyway
    cells, lpl, upl = _levels(instance)
    return Adjustment(
        instance.M,
        a,
        np.where(free_of_charge, 0.0, instance.w_down),
        np.where(free_of_charge, 0.0, instance.w_up),
        low,
        high,
        cells,
        lpl,
        upl,
        np.zeros(len(cells), dtype=np.int8) if sense is None else sense[cells].astype(np.int8),
    )


def _levels(instance: Instance) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest levels of every cell; inf in a direction that none of its attackers has one for."""
    required = (instance.level > 0).any(axis=0)
    cells, at = np.unique(instance.pair_cell[required], return_inverse=True)
    sides = []
    for side in (DOWN, UP):
        most = np.zeros(len(cells))
        np.maximum.at(most, at, instance.level[side, required])
        sides.append(np.where(most > 0, most, np.inf))
    return cells.astype(np.int64), sides[DOWN], sides[UP]
