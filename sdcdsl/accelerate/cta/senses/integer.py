"""Whole numbers: for tables of counts every deviation is whole, and a level of 2.4 requires 3.

A mixed-integer problem over groups (`Groups`), with D itself whole. First with the directions that are given, and D
near the continuous optimum: costs of separable norms are exact there, since between two whole numbers a convex cost may
be replaced by a line,

    D = ⌊D*⌋ - 1 + s₁ + s₂ + s₃,   0 ≤ s ≤ 1,   Σ_j (f(⌊D*⌋ - 1 + j) - f(⌊D*⌋ - 2 + j)) s_j

with increasing steps. Tables in two dimensions are networks, where the linear relaxation is whole already. If there is
nothing so near, anywhere in the directions; in L1 then the whole problem, directions and all, in what time is left.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, hstack

from sdcdsl.accelerate.cta.senses.groups import Groups
from sdcdsl.accelerate.cta.senses.mip import Model, Part, SenseSolution, seconds_on_wall
from sdcdsl.accelerate.cta.senses.relaxation import worth_having
from sdcdsl.accelerate.cta.senses.sense_choice import Chosen, ReservedShare
from sdcdsl.accelerate.cta.tuning import SEARCH
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.settings import L1, LINF, Settings
from sdcdsl.methods.result import gap as gap_of
from sdcdsl.numerics.aggregation import FIXED
from sdcdsl.numerics.milp import MixedIntegerProgram
from sdcdsl.numerics.nearest.solved import SeparableCost
from sdcdsl.status import FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

NOISE = 1e-9  # of a level or an end: how far beyond a whole number it still counts as that
HALF = 0.5


def whole(of: Settings, sense: np.ndarray, z: np.ndarray, gap: float, deadline: Deadline, seed: int = 0) -> Chosen:
    """A whole-numbered table near z in these senses; `bound` where the search was of all tables."""
    return _Whole(of, sense, z, gap, deadline).run()


class _Whole:
    def __init__(self, of: Settings, sense: np.ndarray, z: np.ndarray, gap: float, deadline: Deadline):
        self.gap, self.deadline = gap, ReservedShare(deadline)
        self.of = replace(of, of=_rounded(of))
        self.groups = g = Groups(self.of.of, unit=1.0)
        self.sense, self.z = sense, z
        cells = np.flatnonzero(g.of != FIXED)
        self.D = np.zeros(g.count)
        self.D[g.of[cells]] = z[cells] / g.factor[cells]
        self.up = np.zeros(len(g.sensitive), dtype=bool)
        moves = g.place != FIXED
        self.up[g.at[g.place[moves]]] = (sense[moves] > 0) == g.same[moves]
        self.best: np.ndarray | None = None  # z

    def run(self) -> Chosen:
        g = self.groups
        if len(g.hopeless) or not g.open.any(axis=1).all():
            return Chosen(INFEASIBLE)
        self._take(self._near(ReservedShare(self.deadline, HALF)))
        bound = None
        proved = False  # of the tables there are, none is
        if self.of.norm == L1:
            bound, proved = self._anywhere()
        elif self.best is None:
            self._anywhere()
        if self.best is None:
            return Chosen(INFEASIBLE if proved else LIMIT)
        objective = self.of.objective(self.best)
        sense = np.where(self.best[self.of.of.cells] > 0, 1, -1).astype(np.int8)
        if bound is not None:
            bound = min(bound, objective)
        status = OPTIMAL if bound is not None and gap_of(objective, bound) <= self.gap else FEASIBLE
        return Chosen(status, sense, self.best, objective, bound)

    def _take(self, D: np.ndarray | None) -> None:
        """A table only if it is one: whole, adding up exactly, within its ends and far enough away."""
        if D is None:
            return
        a = self.of.of
        z = np.rint(self.groups.to_cells(np.rint(D)))
        p = z[a.cells]
        good = (
            not (a.M @ z).any()
            and bool(((z >= a.low) & (z <= a.high)).all())
            and bool(((p <= -a.lpl) & (a.sense <= 0) | (p >= a.upl) & (a.sense >= 0)).all())
        )
        if good and (self.best is None or self.of.objective(z) < self.of.objective(self.best)):
            self.best = z

    # ---- near the continuous optimum ---------------------------------------------------------------------------

    def _near(self, deadline: Deadline) -> np.ndarray | None:
        g = self.groups
        l, u = g.box(self.up)
        if (l > u).any():
            return None
        base = np.clip(np.floor(self.D + NOISE) - 1, l, u)
        slack = np.clip(u - base, 0, SEARCH.nearby)
        columns, ends, cost = [], [], []
        for j in range(SEARCH.nearby):
            columns.append(g.matrix)
            ends.append(np.clip(slack - j, 0, 1))
            cost.append(self._cost(base + j + 1) - self._cost(base + j))
        matrix, price, high = hstack(columns), np.concatenate(cost), np.concatenate(ends)
        equal = -(g.matrix @ base)
        scale = float(np.abs(price).max(initial=0.0)) or 1.0
        none, every = np.zeros(len(high)), np.ones(len(high), dtype=bool)
        solved = MixedIntegerProgram(price / scale, none, high, every, csr_array(matrix), equal, equal).solve(
            gap=self.gap, seconds=seconds_on_wall(deadline), over=lambda: deadline.expired, in_programs=True
        )
        return None if solved.x is None else base + np.rint(solved.x).reshape(SEARCH.nearby, -1).sum(axis=0)

    def _cost(self, D: np.ndarray) -> np.ndarray:
        """Of every group; in L∞ what it goes beyond the continuous optimum, which has the maxima."""
        of, g = self.of, self.groups
        cells = np.flatnonzero(g.of != FIXED)
        z = g.factor[cells] * D[g.of[cells]]
        if of.norm == LINF:
            size_ = of.w * np.abs(self.z)
            most = np.where(of.sensitive, size_[of.sensitive].max(initial=0.0), size_[~of.sensitive].max(initial=0.0))
            each = of.w[cells] * np.abs(z) + 1e3 * np.maximum(of.w[cells] * np.abs(z) - most[cells], 0.0)
            return np.bincount(g.of[cells], each, g.count)
        none = np.zeros(len(cells))
        linear = (none, none) if of.norm == "L2" else (of.w_down[cells], of.w_up[cells])
        square = none if of.norm == L1 else of.w_square[cells]
        return np.bincount(g.of[cells], SeparableCost(*linear, square).each(z), g.count)

    # ---- anywhere ----------------------------------------------------------------------------------------------

    def _anywhere(self) -> tuple[float | None, bool]:
        """In L1 a bound over all tables; whether there is none at all."""
        g, of = self.groups, self.of
        down, up, price = g.prices(of.w_down, of.w_up)
        D, ends = self.D, None
        if self.best is not None:
            if of.norm == L1:
                ends = worth_having(g, (down, up), of.objective(self.best) / price)
            cells = np.flatnonzero(g.of != FIXED)
            D = D.copy()
            D[g.of[cells]] = self.best[cells] / g.factor[cells]
            self.up = D[g.sensitive] > 0
        part = Part(np.ones(g.count, dtype=bool), np.ones(len(g.sensitive), dtype=bool))
        made: SenseSolution = Model(g, (down, up), part, self.up, D, ends).solve(
            self.deadline, 0.5 * self.gap, whole=True
        )
        self._take(made.D)
        if made.status == INFEASIBLE:
            return None, self.best is None
        return (made.bound * price if np.isfinite(made.bound) else None), False


def _rounded(of: Settings):
    """Levels up, ends inwards."""
    a = of.of
    with np.errstate(invalid="ignore"):
        return replace(
            a,
            lpl=_up(a.lpl),
            upl=_up(a.upl),
            low=-np.floor(-a.low + NOISE * np.abs(a.low)),
            high=np.floor(a.high + NOISE * np.abs(a.high)),
        )


def _up(level: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(level), level, np.ceil(np.where(np.isinf(level), 0.0, level) * (1 - NOISE)))
