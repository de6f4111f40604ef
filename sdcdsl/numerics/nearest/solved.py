"""What every solver of a closest table gives back, and the separable costs they all share.

    f_i(z) = w_up_i z⁺ + w_down_i z⁻ + w2_i z²       paper 004 (4), (5), (10): what a deviation costs

With multipliers y of M z = 0, whatever they are and wherever they come from,

    Σ_i min { f_i(z) - (Mᵀy)_i z : l_i ≤ z ≤ u_i }   ≤   the optimum

which is the bound given here: it needs nothing of a solver but y, and is computed by arithmetic alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.sparse import csr_array, diags_array

from sdcdsl.status import OPTIMAL

CLOSE = 1e-7  # a gap, relative to the objective, at which a solution counts as optimal
ADDS_UP = 1e-9  # residuals, relative to what a relation adds up
NOISE = 1e-11  # deviations below this, in units of a typical one, are rounding errors
ROUNDING = 1e-10  # of a sum, relative to its terms
SAFE = 1 + 1e-9  # ends that follow from an objective are put so much further out


@dataclass(frozen=True, eq=False)
class Solved:
    """Multipliers say how the objective changes: d / d l_i = mu_low_i, d / d u_i = -mu_high_i."""

    status: str  # OPTIMAL | INFEASIBLE | LIMIT | FAILED of methods.result
    z: np.ndarray | None = None
    objective: float | None = None
    bound: float | None = None
    mu_low: np.ndarray | None = None
    mu_high: np.ndarray | None = None
    y: np.ndarray | None = None  # of the relations; where infeasible: a direction that proves it, if one was found

    def with_rows(self, rows: np.ndarray) -> Solved:
        """The same for relations that were taken so many times."""
        return self if self.y is None else replace(self, y=self.y * rows)


@dataclass(frozen=True, eq=False)
class SeparableCost:
    w_down: np.ndarray
    w_up: np.ndarray
    w2: np.ndarray

    def each(self, z: np.ndarray) -> np.ndarray:
        return self.w_up * np.maximum(z, 0.0) + self.w_down * np.maximum(-z, 0.0) + self.w2 * z * z

    def of(self, z: np.ndarray) -> float:
        return float(self.each(z).sum())

    def usual(self, length: float) -> float:
        """What a deviation of this length costs in a typical cell."""
        prices = self.each(np.full(len(self.w2), length))
        prices = prices[prices > 0]
        return float(np.median(prices)) if len(prices) else 1.0

    def cheapest(self, g: np.ndarray, l: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Where f(z) - g z is least within the ends."""
        pull = np.where(g > self.w_up, g - self.w_up, np.where(g < -self.w_down, g + self.w_down, 0.0))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            far = pull / (2 * self.w2)  # ± inf where nothing is bent
        return np.clip(np.where(pull == 0.0, 0.0, far), l, u)

    def slopes(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest subgradient of f."""
        bent = 2 * self.w2 * z
        return bent + np.where(z > 0, self.w_up, -self.w_down), bent + np.where(z < 0, -self.w_down, self.w_up)


def lower_bound(
    M: csr_array, cost: SeparableCost, l: np.ndarray, u: np.ndarray, y: np.ndarray, objective: float, unit: float = 1.0
) -> tuple[float, np.ndarray]:
    """The bound that y gives, and Mᵀy. `objective` is that of some solution: ends that any better one has to keep
    stand in for those that are open, where the least error in y would make the bound minus infinity."""
    low, high = within(M, cost, l, u, objective)
    g = M.T @ y
    # At a cell that nothing holds, all that can be wrong with Mᵀy = f' is rounding.
    held = np.isfinite(low) & np.isfinite(high)
    if not held.all():
        small = ROUNDING * (abs(M).T @ np.abs(y) + cost.usual(unit) / unit)
        g = np.where(~held & (np.abs(g) <= small), 0.0, g)
    z = cost.cheapest(g, low, high)
    with np.errstate(invalid="ignore"):
        terms = np.where(z == 0.0, 0.0, cost.each(z) - g * z)
    total = float(terms.sum())
    return (total if np.isfinite(total) else -np.inf), g


def within(
    M: csr_array, cost: SeparableCost, l: np.ndarray, u: np.ndarray, objective: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends that every solution no worse than `objective` keeps: no cell may cost more than what the others leave, and
    a cell that costs nothing is held by the relations it stands in."""
    least = cost.each(np.clip(0.0, l, u))
    left = np.maximum(objective - (least.sum() - least), 0.0) * SAFE
    with np.errstate(divide="ignore", invalid="ignore"):
        bent = np.where(cost.w2 > 0, np.sqrt(left / cost.w2), np.inf)
        up = np.fmin(np.where(cost.w_up > 0, left / cost.w_up, np.inf), bent)
        down = np.fmin(np.where(cost.w_down > 0, left / cost.w_down, np.inf), bent)
    low, high = np.maximum(l, -down * SAFE), np.minimum(u, up * SAFE)
    low, high = np.minimum(low, u), np.maximum(high, l)
    for _ in range(10):
        open_cells = np.isinf(low) | np.isinf(high)
        if not open_cells.any():
            break
        before = int(np.isinf(low).sum() + np.isinf(high).sum())
        _tighten(M, open_cells, low, high)
        if int(np.isinf(low).sum() + np.isinf(high).sum()) == before:
            break
    return low, high


def _tighten(M: csr_array, cells: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Ends of open cells from the relations in which all other cells have ends, in place."""
    rows = np.unique(M.tocsc()[:, np.flatnonzero(cells)].indices)
    part = csr_array(M[rows])
    row, col, v = np.repeat(np.arange(len(rows)), np.diff(part.indptr)), part.indices, part.data
    least, most = np.where(v > 0, v * low[col], v * high[col]), np.where(v > 0, v * high[col], v * low[col])
    for side, ends in ((0, least), (1, most)):
        endless = np.isinf(ends)
        count = np.bincount(row, endless, len(rows))
        total = np.bincount(row, np.where(endless, 0.0, ends), len(rows))
        others = total[row] - np.where(endless, 0.0, ends)
        known = cells[col] & (count[row] - endless == 0)
        # v z = -Σ others: the least of the others is the most of v z, and the other way round.
        end = -others[known] / v[known]
        at, upper = col[known], (v[known] > 0) == (side == 0)
        np.minimum.at(high, at[upper], end[upper] + 1e-9 * np.abs(end[upper]))
        np.maximum.at(low, at[~upper], end[~upper] - 1e-9 * np.abs(end[~upper]))


def multipliers(
    cost: SeparableCost, g: np.ndarray, z: np.ndarray, l: np.ndarray, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of the ends: what the slope of f lacks there, beside Mᵀy. Cells strictly between their ends have none."""
    least, greatest = cost.slopes(z)
    noise = 1e-9 * (np.abs(g) + np.abs(least) + np.abs(greatest))
    low, high = least - g, g - greatest
    return (
        np.where((z <= l) & (low > noise), low, 0.0),
        np.where((z >= u) & (high > noise), high, 0.0),
    )


def proved(
    M: csr_array, cost: SeparableCost, z: np.ndarray, y: np.ndarray, l: np.ndarray, u: np.ndarray, unit: float
) -> Solved | None:
    """z as an optimal solution, if it adds up and y proves it."""
    if residual(M, z, unit) > ADDS_UP or not np.isfinite(y).all():
        return None
    objective = cost.of(z)
    bound, g = lower_bound(M, cost, l, u, y, objective, unit)
    # Where nothing has to be paid, what is paid is measured by what a typical deviation costs. A bound above what is
    # paid is rounding: of multipliers so large that they prove nothing.
    if abs(objective - bound) > CLOSE * max(abs(objective), 1e-3 * cost.usual(unit)):
        return None
    return Solved(OPTIMAL, z, objective, min(bound, objective), *multipliers(cost, g, z, l, u), y)


def typical(l: np.ndarray, u: np.ndarray) -> float:
    """A length of the data: levels if there are any, else whatever ends there are."""
    levels = np.concatenate([l[(l > 0) & np.isfinite(l)], -u[(u < 0) & np.isfinite(u)]])
    if not len(levels):
        ends = np.abs(np.concatenate([l, u]))
        levels = ends[(ends > 0) & np.isfinite(ends)]
    return float(np.median(levels)) if len(levels) else 1.0


def power_of_two(length: float) -> float:
    """As a unit it changes no digit of what is measured in it."""
    return float(2.0 ** np.round(np.log2(length)))


def sides(M: csr_array) -> tuple[int, int]:
    """How many relations, and among how many cells."""
    rows, columns = cast("tuple[int, int]", M.shape)
    return rows, columns


def unit_rows(M: csr_array) -> tuple[csr_array, np.ndarray]:
    """Relations with coefficients of about 1, and how often each was taken."""
    largest = abs(M).max(axis=1).toarray().ravel()
    if (largest == 1).all():
        return M, np.ones(len(largest))
    rows = 2.0 ** -np.round(np.log2(np.where(largest > 0, largest, 1.0)))
    return csr_array(diags_array(rows) @ M), rows


def without_noise(z: np.ndarray, l: np.ndarray, u: np.ndarray, unit: float) -> np.ndarray:
    """Deviations that are rounding errors of 0 are 0."""
    return np.where((np.abs(z) <= NOISE * unit) & (l <= 0) & (u >= 0), 0.0, z)


def residual(M: csr_array, z: np.ndarray, unit: float) -> float:
    """How far the relations are from holding: of the worst one, relative to what it adds up or to a typical length."""
    return float((np.abs(M @ z) / np.maximum(abs(M) @ np.abs(z), unit)).max(initial=0.0))


def crossed(l: np.ndarray, u: np.ndarray) -> bool:
    return bool((l > u).any() or (l == np.inf).any() or (u == -np.inf).any())
