"""Deviations that add up to the last digits, where a solver left residuals.

    min Σ (d_i / s_i)²,   M d = -M z,   d_i = 0 where z_i is at one of its ends

A cell strictly inside its ends takes part of what is missing, in proportion to s_i², s_i being its deviation or the
slack it has; cells at their ends, levels among them, stay exactly where they are. Cells that do not deviate are asked
only if the others cannot do it. Whole deviations that add up are taken as they are: exact.

Conjugate gradients on the normal equations M S² Mᵀ: the residuals are small already, so a few digits more are all that
is asked of each pass.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.numerics.nearest.tuning import NEWTON

EXACT = 2e-15  # of what a relation adds up: nothing better can be asked of doubles
ENOUGH = 1e-13  # cells that do not deviate are left alone when the others have got so far
NEAR = 1e-7  # a deviation so close to a whole number is meant to be one


def additive(M: csr_array, z: np.ndarray, l: np.ndarray, u: np.ndarray, unit: float = 1.0) -> np.ndarray:
    """z within its ends, with the relations as exact as cells inside their ends allow; `unit`: a typical deviation."""
    z = np.clip(z, l, u)
    whole = _whole(M, z, l, u)
    if whole is not None:
        return whole
    absolute, off = abs(M), np.inf
    for least in (0.0, 1e-6 * unit):
        for _ in range(NEWTON.additive):
            r = M @ z
            size = np.maximum(absolute @ np.abs(z), 1e-6 * unit)
            off = float((np.abs(r) / size).max(initial=0.0))
            if off <= EXACT:
                return z
            d = _correction(M, z, l, u, r, least)
            moved = z if d is None else np.clip(z + d, l, u)
            if not float((np.abs(M @ moved) / size).max(initial=0.0)) < 0.5 * off:
                break
            z = moved
        if off <= ENOUGH:
            break
    return z


def _whole(M: csr_array, z: np.ndarray, l: np.ndarray, u: np.ndarray) -> np.ndarray | None:
    """Whole deviations, if all are but for rounding errors, and so small that their sums are exact."""
    whole = np.rint(z)
    largest = float(np.abs(z).max(initial=0.0))
    if largest >= 2.0**45 or (np.abs(z - whole) > NEAR * np.clip(np.abs(z), 1e-2, 1e3)).any():
        return None
    fits = (whole >= l).all() and (whole <= u).all() and not (M @ whole).any()
    return whole if fits else None


def _correction(
    M: csr_array, z: np.ndarray, l: np.ndarray, u: np.ndarray, r: np.ndarray, least: float
) -> np.ndarray | None:
    s = np.minimum(np.maximum(np.abs(z), least), np.minimum(z - l, u - z))
    s2 = np.where(s > 0, s, 0.0)
    largest = s2.max(initial=0.0)
    if not largest > 0:
        return None
    s2 = (s2 / largest) ** 2
    diagonal = M.multiply(M) @ s2
    p_inv = np.where(diagonal > 0, 1.0 / np.where(diagonal > 0, diagonal, 1.0), 0.0)
    Mt = M.T
    return -s2 * (Mt @ conjugate(lambda v: M @ (s2 * (Mt @ v)), r, p_inv, 1e-4, 300))


def conjugate(
    product: Callable[[np.ndarray], np.ndarray], r: np.ndarray, p_inv: np.ndarray, tolerance: float, most: int
) -> np.ndarray:
    """H x = r with H positive semidefinite, known by its products; where x stands after at most so many steps."""
    x = np.zeros_like(r)
    r = r.copy()
    q = p_inv * r
    p, rq = q.copy(), float(r @ q)
    goal = tolerance**2 * rq
    for _ in range(most):
        if rq <= goal:
            break
        h = product(p)
        bent = float(p @ h)
        if not bent > 0.0:
            break
        step = rq / bent
        x += step * p
        r -= step * h
        q = p_inv * r
        rq, before = float(r @ q), rq
        p *= rq / before
        p += q
    return x
