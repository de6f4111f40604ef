"""Whether M z = 0, l ≤ z ≤ u has a solution at all; that it has none is believed only with a direction that proves it.

max { (Mᵀy)·z : l ≤ z ≤ u } < 0    while every solution has (Mᵀy)·z = y·M z = 0
"""

from __future__ import annotations

from math import inf

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.deadline import Deadline
from sdcdsl.numerics.lp import LinearProgram
from sdcdsl.numerics.nearest.solved import Solved, power_of_two, typical
from sdcdsl.status import INFEASIBLE

NOTHING = 1e-9  # slopes below this, beside the largest, are rounding errors
ROUNDING = 1e-14  # of a term of a sum


def infeasible(M: csr_array, l: np.ndarray, u: np.ndarray, deadline: Deadline | None = None) -> Solved | None:
    """A proof that nothing satisfies the relations within these ends; None if there is none, or none was found."""
    unit = power_of_two(typical(l, u))
    program = LinearProgram(M, bounds=(l / unit, u / unit), primal_tolerance=1e-9)
    if program.solve(seconds=inf if deadline is None else deadline.remaining) != INFEASIBLE:
        return None
    y = ray(program, len(M.indptr) - 1)
    return Solved(INFEASIBLE, y=y) if y is not None and proves(M, l, u, y) else None


def ray(program: LinearProgram, rows: int) -> np.ndarray | None:
    """HiGHS's direction in which the dual grows without end, the largest multiplier 1."""
    y = program.dual_ray()
    if y is None or len(y) != rows or not np.abs(y).max(initial=0.0) > 0:
        return None
    return y / np.abs(y).max()


def proves(M: csr_array, l: np.ndarray, u: np.ndarray, y: np.ndarray) -> bool:
    """Whether y or -y is a direction as above, by arithmetic."""
    g = M.T @ y
    g = np.where(np.abs(g) <= NOTHING * np.abs(g).max(initial=0.0), 0.0, g)
    for sign in (1.0, -1.0):
        at = np.flatnonzero(g)
        terms = np.where(sign * g[at] > 0, u[at], l[at]) * sign * g[at]
        if len(at) and np.isfinite(terms).all() and terms.sum() < -NOTHING * np.abs(terms).sum():
            return True
    return False


def rules_out(M: csr_array, l: np.ndarray, u: np.ndarray, y: np.ndarray) -> bool:
    """The same for multipliers that were growing without end when an interior point method gave up. Their small slopes
    are meant: only at a cell without an end can one be a rounding error, and it has to be."""
    g = M.T @ y
    noise = ROUNDING * (abs(M).T @ np.abs(y))
    end = np.where(g > 0, u, l)
    counted = np.isfinite(end) | (np.abs(g) > noise)
    terms = np.where(counted & (g != 0), end, 0.0) * g
    return bool(np.isfinite(terms).all() and terms.sum() < -NOTHING * np.abs(terms).sum())
