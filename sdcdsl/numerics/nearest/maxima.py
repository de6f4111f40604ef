"""The least maxima t for which a table fits: closest tables in L∞ by cutting planes.

With t given the problem is one of ends alone, max(l, -t / w) ≤ z ≤ min(u, t / w), and a linear program with nothing but
the relations says whether a table fits. If none does, it gives y with

    φ(t) = Σ_i max { (Mᵀy)_i z : z in the ends of t } < 0     where every table has Σ_i (Mᵀy)_i z_i = 0

φ is concave in t, one maximum at a time: its tangent is a cut, φ(t̂) + φ'(t̂)·(t - t̂) ≥ 0. The least t_P + t_N that
keeps all cuts is asked about next. What a proof points at is local, some relation whose cells need more slack; a few of
them decide, where rows w |z| ≤ t for all cells make linear programs that grow faster than tables do. The multipliers of
the cuts add their y up to one that proves the optimum.

Programs have the cost of L1, which keeps their pivots where something has to move: without any cost the last one takes
7.1 s in place of 0.2 for a cube of 32 768 cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sdcdsl.deadline import Deadline
from sdcdsl.numerics.nearest.l1 import L1
from sdcdsl.numerics.nearest.solved import sides
from sdcdsl.numerics.nearest.tuning import LINEAR
from sdcdsl.status import INFEASIBLE, OPTIMAL

BROKEN = 1e-10  # of its terms: a cut is broken
ROOM, MORE_ROOM = 1e-13, 2e-8  # t is asked about so much further out; more if solvers cannot tell what fits there


@dataclass(frozen=True, eq=False)
class Fitting:
    """A table whose maxima are the least there are, or next to them, and y that proves it; without a table, y that
    proves that none fits anywhere."""

    z: np.ndarray | None
    y: np.ndarray


@dataclass(frozen=True, eq=False)
class _Problem:
    M: csr_array
    w: np.ndarray
    l: np.ndarray
    u: np.ndarray
    group: np.ndarray  # int [cell]: which maximum

    def ends(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(self.w > 0, t[self.group] / self.w, np.inf)
        return np.maximum(self.l, -reach), np.minimum(self.u, reach)

    def terms(self, g: np.ndarray, t: np.ndarray) -> np.ndarray:
        low, high = self.ends(t)
        with np.errstate(invalid="ignore"):
            return np.where(g == 0, 0.0, g * np.where(g > 0, high, low))

    def slope(self, g: np.ndarray, t: np.ndarray) -> np.ndarray:
        """φ' by maximum: of cells that t holds, and not an end of their own."""
        low, high = self.ends(t)
        held = (self.w > 0) & np.where(g > 0, high < self.u, low > self.l)
        each = np.where(held, np.abs(g) / np.where(self.w > 0, self.w, 1.0), 0.0)
        return np.bincount(self.group, each, 2)


def maxima(
    M: csr_array,
    w: np.ndarray,
    l: np.ndarray,
    u: np.ndarray,
    group: np.ndarray,
    least: np.ndarray,
    deadline: Deadline | None,
) -> Fitting | None:
    """`group`: 0 or 1 for every cell; `least`: what each maximum has to be in any case. None if that is not the way."""
    of, cuts = _Problem(M, w, l, u, group), _Cuts(least, sides(M)[0])
    solver = L1(M)
    t, rays = least, []
    for _ in range(LINEAR.cuts):
        solved = solver.solve(w, w, *of.ends(t * (1 + ROOM)), deadline)
        if solved.status not in (OPTIMAL, INFEASIBLE):
            solved = solver.solve(w, w, *of.ends(t * (1 + MORE_ROOM)), deadline)
        if solved.status == OPTIMAL:
            return Fitting(solved.z, cuts.y)
        if solved.status != INFEASIBLE or solved.y is None:
            return None
        y = solved.y if of.terms(M.T @ solved.y, t).sum() < 0 else -solved.y
        if of.terms(M.T @ y, np.full(2, np.inf)).sum() < 0:
            return Fitting(None, y)
        rays.append(y)
        moved = cuts.kept_by(of, rays, t)
        if moved is None or (deadline is not None and deadline.expired):
            return None
        t = moved
    return None


class _Cuts:
    """Tangents, and the least t_P + t_N that keeps them."""

    def __init__(self, least: np.ndarray, relations: int):
        self.least = least
        self.y = np.zeros(relations)  # what proves it
        self._slopes: list[np.ndarray] = []
        self._rights: list[float] = []
        self._of: list[np.ndarray] = []  # whose tangents

    def kept_by(self, of: _Problem, rays: list[np.ndarray], t: np.ndarray) -> np.ndarray | None:
        """Tangents where rays are broken at t, until none is; None if they lead nowhere."""
        for _ in range(LINEAR.cuts):
            before = len(self._of)
            for y in rays:
                g = of.M.T @ y
                terms = of.terms(g, t)
                value, slope = float(terms.sum()), of.slope(g, t)
                if value < -BROKEN * np.abs(terms).sum() and slope.any():
                    size = float(np.abs(slope).max())
                    self._slopes.append(slope / size)
                    self._rights.append(float(slope @ t - value) / size)
                    self._of.append(y / size)
            if len(self._of) == before:
                return t
            moved = self._least()
            if moved is None:
                return None
            t = moved
        return None

    def _least(self) -> np.ndarray | None:
        scale = max(float(self.least.max()), *self._rights)  # solvers' tolerances are absolute
        bounds = [(float(end) / scale, None) for end in self.least]
        made = linprog(
            np.ones(2),
            A_ub=-np.array(self._slopes),
            b_ub=-np.array(self._rights) / scale,
            bounds=bounds,
            method="highs-ds",
        )
        if made.status != 0:
            return None
        self.y = -np.array(made.ineqlin.marginals) @ np.array(self._of)
        return made.x * scale
