"""The closest table in L∞ with a maximum for sensitive cells and one for the others (paper 004 (6)):

    min t_P + t_N,   M z = 0,   l ≤ z ≤ u,   w_i |z_i| ≤ t_P (i sensitive),   w_i |z_i| ≤ t_N (others)

Cutting planes find the least t (`maxima`) where relations are few beside the cells. Where tables say the same sums over
and over, programs without rows for t are hard as well, and one with all of them is as good: two columns more than there
are cells, and rows w z ≤ t and -w z ≤ t only for directions that can matter: levels force some t from the start, and a
cell whose ends keep w |z| below it needs none.

The bound follows from the multipliers y of M z = 0 alone: with t given, every cell is best off at an end of
max(l, -t / w) .. min(u, t / w), so that

    min { t_P + t_N - Σ_i max { (Mᵀy)_i z : z in the ends of t } }

is a convex, piecewise linear problem in t_P and t_N, one at a time.
"""

from __future__ import annotations

from math import inf

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack, vstack

from sdcdsl.deadline import Deadline
from sdcdsl.numerics.lp import DUAL, INTERIOR_POINT, LinearProgram
from sdcdsl.numerics.nearest.additive import additive
from sdcdsl.numerics.nearest.feasible import infeasible, proves
from sdcdsl.numerics.nearest.maxima import maxima
from sdcdsl.numerics.nearest.solved import CLOSE, Solved, crossed, power_of_two, residual, sides, typical, unit_rows
from sdcdsl.numerics.nearest.tuning import LINEAR
from sdcdsl.status import FAILED, INFEASIBLE, INFEASIBLE_OR_UNBOUNDED, LIMIT, OPTIMAL


def linf(
    M: csr_array,
    w: np.ndarray,
    l: np.ndarray,
    u: np.ndarray,
    sensitive: np.ndarray,
    deadline: Deadline | None = None,
) -> Solved:
    if crossed(l, u):
        return Solved(INFEASIBLE)
    M, rows = unit_rows(csr_array(M))
    unit = power_of_two(typical(l, u))
    forced = w * _apart(l, u)
    least = np.array([forced[~sensitive].max(initial=0.0), forced[sensitive].max(initial=0.0)])
    made = _by_cuts(M, w, l, u, sensitive, least, unit, deadline) if _few_relations(M) else None
    if made is not None:
        return made.with_rows(rows)
    prices = w[w > 0]
    # t in units of what the levels force: the same for a table in thousands.
    price = power_of_two(float(least.sum() or (np.median(prices) * unit if len(prices) else 1.0)))
    program = _program(M, w * unit / price, l / unit, u / unit, sensitive.astype(np.int64), least / price)
    status = FAILED
    # An interior point with a crossover is faster than the simplex method on every table at hand, up to 3.5 times.
    for algorithm, patience in (
        (INTERIOR_POINT, LINEAR.patience),
        (DUAL, LINEAR.patience),
        (INTERIOR_POINT, inf),
        (DUAL, inf),
    ):
        left = patience if deadline is None else min(deadline.remaining, patience)
        status = program.solve(seconds=left, algorithm=algorithm)
        if deadline is not None:
            deadline.mark_time_dependent(program.timed)
        if deadline is not None and deadline.expired and status != OPTIMAL:
            return Solved(LIMIT)
        if status in (INFEASIBLE, INFEASIBLE_OR_UNBOUNDED):
            proof = infeasible(M, l, u, deadline)
            if proof is not None:
                return proof.with_rows(rows)
        if status == OPTIMAL:
            z, y = program.x[: len(l)] * unit, program.dual[: len(rows)] * price / unit
            made = _checked(M, w, l, u, sensitive, z, y, unit)
            if made is not None:
                return made.with_rows(rows)
        program.forget()
    return Solved(LIMIT if status == LIMIT else FAILED)


def _few_relations(M: csr_array) -> bool:
    """10 201 cells in 202 relations take 0.07 s by cuts and 2.6 by rows; 5 681 in 9 629 take 8.0 s and 0.8."""
    m, n = sides(M)
    return m < n


def _by_cuts(
    M: csr_array,
    w: np.ndarray,
    l: np.ndarray,
    u: np.ndarray,
    sensitive: np.ndarray,
    least: np.ndarray,
    unit: float,
    deadline: Deadline | None,
) -> Solved | None:
    found = maxima(M, w, l, u, sensitive.astype(np.int64), least, deadline)
    if found is None:
        return None
    if found.z is None:
        return Solved(INFEASIBLE, y=found.y) if proves(M, l, u, found.y) else None
    return _checked(M, w, l, u, sensitive, found.z, found.y, unit)


def _program(
    M: csr_array, w: np.ndarray, l: np.ndarray, u: np.ndarray, group: np.ndarray, least: np.ndarray
) -> LinearProgram:
    """`group`: 1 for sensitive cells, 0 for others; `least`: what t has to be in any case."""
    m, n = sides(M)
    counts = (w > 0) & (l < u)
    most = least[group] / np.where(counts, w, 1.0)
    up, down = np.flatnonzero(counts & (u > most)), np.flatnonzero(counts & (-l > most))
    cells, sign = np.concatenate([up, down]), np.repeat([1.0, -1.0], [len(up), len(down)])
    k = len(cells)
    at = np.arange(k)
    # z - t / w ≤ 0 rather than w z - t ≤ 0: tolerances are lengths then, whatever the weights.
    own = csr_array((sign, (at, cells)), shape=(k, n))
    shared = csr_array((-1 / w[cells], (at, group[cells])), shape=(k, 2))
    matrix = vstack([hstack([M, csr_array((m, 2))]), hstack([own, shared])])
    return LinearProgram(
        csc_array(matrix),
        cost=np.concatenate([np.zeros(n), [1.0, 1.0]]),
        bounds=(np.concatenate([l, least]), np.concatenate([u, [inf, inf]])),
        rows=(np.repeat([0.0, -inf], [m, k]), np.zeros(m + k)),
        presolve=True,
        primal_tolerance=1e-9,
        dual_tolerance=1e-9,
    )


def _checked(
    M: csr_array,
    w: np.ndarray,
    l: np.ndarray,
    u: np.ndarray,
    sensitive: np.ndarray,
    z: np.ndarray,
    y: np.ndarray,
    unit: float,
) -> Solved | None:
    z = additive(M, z, l, u, unit)
    if residual(M, z, unit) > 1e-9:
        return None
    far = w * np.abs(z)
    objective = float(far[sensitive].max(initial=0.0) + far[~sensitive].max(initial=0.0))
    g = M.T @ y
    bound = 0.0
    sets = [np.flatnonzero(sensitive), np.flatnonzero(~sensitive)]
    for cells in sets:
        bound += _least(g[cells], w[cells], l[cells], u[cells], objective)
    if objective - bound > CLOSE * objective:
        return None
    mu_low, mu_high = np.where((z <= l) & (g < 0), -g, 0.0), np.where((z >= u) & (g > 0), g, 0.0)
    # What holds a cell at t / w is no end of its own.
    for cells in sets:
        t = far[cells].max(initial=0.0)
        tight = cells[(far[cells] >= t * (1 - 1e-9)) & (np.sign(z[cells]) == np.sign(g[cells]))]
        mu_low[tight] = mu_high[tight] = 0.0
    return Solved(OPTIMAL, z, objective, min(bound, objective), mu_low, mu_high, y)


def _least(g: np.ndarray, w: np.ndarray, l: np.ndarray, u: np.ndarray, most: float) -> float:
    """min over t of t - Σ max { g z : max(l, -t / w) ≤ z ≤ min(u, t / w) }, for t from what the ends force to `most`,
    which no better solution exceeds."""
    forced = float((w * _apart(l, u)).max(initial=0.0))
    high = max(most, forced)

    def value(t: float) -> float:
        with np.errstate(divide="ignore"):
            reach = np.where(w > 0, t / np.where(w > 0, w, 1.0), inf)
        z = np.where(g > 0, np.minimum(u, np.maximum(reach, l)), np.maximum(l, np.minimum(-reach, u)))
        with np.errstate(invalid="ignore"):
            return t - float(np.where(g == 0, 0.0, g * z).sum())

    # Bends: where t / w meets an end.
    with np.errstate(invalid="ignore"):
        bends = w * np.where(g > 0, u, -l)
    bends = np.unique(np.concatenate([[forced, high], bends[(bends > forced) & (bends < high)]]))
    # Convex, since every term of the sum is concave in t: halving the bends finds the least.
    a, b = 0, len(bends) - 1
    while b - a > 2:
        c = (a + b) // 2
        if value(float(bends[c])) <= value(float(bends[c + 1])):
            b = c + 1
        else:
            a = c
    return min(value(float(bends[i])) for i in range(a, b + 1))


def _apart(l: np.ndarray, u: np.ndarray) -> np.ndarray:
    """How far from 0 the ends keep a cell."""
    return np.maximum(np.maximum(l, -u), 0.0)
