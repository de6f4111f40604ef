"""From a point near the furthest one to the corner itself.

An interior point near the end shows which rows stop the move: those with large prices and hardly any slack. As many of
them as there are dimensions, independent of each other, meet in one point. If that point is inside all ends, and the
target's coefficients on those rows have the signs of the ends they are at, it is the furthest one: nothing else needs
to be known about how it was found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from sdcdsl.numerics.compiled import reordering_kernel
from sdcdsl.numerics.interior_point.active_set import AT_ITS_END
from sdcdsl.numerics.interior_point.box import InteriorPath
from sdcdsl.numerics.simplex.tableau import OUTSIDE, SMALL

INDEPENDENT = 1e-6  # share of a row that must be left when it is reduced by the others


@dataclass(frozen=True, eq=False)
class Corner:
    point: np.ndarray
    rows: np.ndarray
    coefficient: np.ndarray  # row of the target = Σ coefficient · rows


def supporting(rows: np.ndarray, path: InteriorPath) -> np.ndarray | None:
    """Independent rows, as many as there are dimensions, those with most weight first."""
    k = rows.shape[1]
    order = np.argsort(-path.weight, kind="stable")
    chosen = np.zeros(k, dtype=np.int64)
    found = _independent.at(rows.size)(rows, order, chosen)
    return order[chosen] if found == k else None


def corner(
    rows: np.ndarray, lo: np.ndarray, hi: np.ndarray, path: InteriorPath, chosen: np.ndarray, target: int, sign: float
):
    """The corner where the chosen rows meet, if it is the furthest point; None if it is not."""
    price, there = path.price[chosen], path.weight[chosen] > AT_ITS_END
    inside = rows[chosen] @ path.point
    end = np.where(there, np.where(price > 0, hi[chosen], lo[chosen]), inside)
    if not np.isfinite(end).all():
        return None
    factors = lu_factor(rows[chosen], check_finite=False)
    point = lu_solve(factors, end, check_finite=False)
    x = rows @ point
    off = np.maximum(x - hi, lo - x)
    if not off.max() <= OUTSIDE:
        return None
    coefficient = lu_solve(factors, rows[target], trans=1, check_finite=False)
    way = sign * coefficient
    stops = there & (np.abs(way) > SMALL)
    if (~there & (np.abs(way) > SMALL)).any() or ((way > 0) != (price > 0))[stops].any():
        return None
    used = np.flatnonzero(np.abs(coefficient) > SMALL)
    return Corner(point, chosen[used], coefficient[used])


def corner_at_end(
    rows: np.ndarray, lo: np.ndarray, hi: np.ndarray, path: InteriorPath, target: int, sign: float
) -> Corner | None:
    """The corner where a path has ended, if it is one in these coordinates as well."""
    chosen = np.flatnonzero(np.abs(path.price) > SMALL)
    coefficient = sign * path.price[chosen]
    x = rows @ path.point
    off = np.maximum(x - hi, lo - x).max()
    left = np.abs(rows[target] - coefficient @ rows[chosen]).max()
    if not (off <= OUTSIDE and left <= SMALL * np.abs(rows[target]).max()):
        return None
    return Corner(path.point, chosen, coefficient)


@reordering_kernel
def _independent(rows, order, chosen):
    """Goes through the rows in order and takes those that are no combination of the ones before."""
    k = rows.shape[1]
    reduced = np.zeros((k, k))
    pivot = np.zeros(k, np.int64)
    found = 0
    for i in range(len(order)):
        row = rows[order[i]].copy()
        size = 0.0
        for j in range(k):
            size = max(size, abs(row[j]))
        for r in range(found):
            f = row[pivot[r]]
            if f != 0.0:
                other = reduced[r]
                for j in range(k):
                    row[j] -= f * other[j]
        best = 0
        for j in range(k):
            if abs(row[j]) > abs(row[best]):
                best = j
        if abs(row[best]) <= INDEPENDENT * size:
            continue
        inverse = 1.0 / row[best]
        for j in range(k):
            reduced[found, j] = row[j] * inverse
        pivot[found] = best
        chosen[found] = i
        found += 1
        if found == k:
            break
    return found
