"""The primal–dual hybrid gradient method (Chambolle and Pock 2011), preconditioned, and restarted from means
(Applegate et al. 2021).

    min  c x + Σ_r g_r((A x)_r),   l ≤ x ≤ u,      g_r(s) = over (s - high)⁺ + under (low - s)⁺,   least ≤ s ≤ most

Nothing is factorised: a step is two products with A, so that tables of a million cells take seconds. Multipliers y of
any quality prove

    Σ_j min over l ≤ x ≤ u of (c + Aᵀy)_j x_j  +  Σ_r min over least ≤ s ≤ most of g_r(s) - y_r s

so the bound needs no convergence; the point is near the optimum and keeps the rows roughly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.numerics.tuning import TUNING


@dataclass(frozen=True, eq=False)
class Rows:
    A: csr_array
    least: np.ndarray
    low: np.ndarray
    high: np.ndarray
    most: np.ndarray
    over: np.ndarray
    under: np.ndarray


@dataclass(frozen=True, eq=False)
class Relaxed:
    x: np.ndarray
    bound: float
    steps: int
    price: np.ndarray  # [row]: the multipliers that prove the bound


def relaxed(
    cost: np.ndarray, lower: np.ndarray, upper: np.ndarray, of: Rows, steps: int, over: Callable[[], bool]
) -> Relaxed:
    """Restarted from the mean of the steps whenever so many more have been made as in the round before."""
    A, At = of.A, csr_array(of.A.T)
    price = float(np.median(np.abs(cost[cost != 0]))) if (cost != 0).any() else 1.0
    width = np.maximum(np.asarray(abs(A).sum(axis=1)).ravel(), 1e-12)
    height = np.maximum(np.asarray(abs(At).sum(axis=1)).ravel(), 1e-12)
    tau, sigma = 1.0 / (height * price), price / width
    x, y = np.where(cost > 0, lower, upper), np.zeros(len(of.least))
    pull = At @ y
    x_sum, y_sum, count, length = np.zeros_like(x), np.zeros_like(y), 0, 2 * TUNING.look
    best, price, bound, history = x, y, -np.inf, []
    step = 0
    while step < steps and not over():
        before = x
        x = np.clip(x - tau * (cost + pull), lower, upper)
        w = y / sigma + A @ (2 * x - before)
        y = sigma * (w - _nearest(of, w, sigma))
        pull = At @ y
        x_sum, y_sum, count, step = x_sum + x, y_sum + y, count + 1, step + 1
        if step % TUNING.look and step < steps:
            continue
        mean = y_sum / count
        for multipliers in (y, mean):
            if (proved := proof(cost, lower, upper, of, At, multipliers)) > bound:
                bound, best, price = proved, x_sum / count, multipliers
        history.append(bound)
        if len(history) > TUNING.looks and bound - history[-1 - TUNING.looks] <= TUNING.progress * abs(bound):
            break
        if count >= length:
            x, y = x_sum / count, mean
            pull, x_sum, y_sum, count, length = At @ y, np.zeros_like(x), np.zeros_like(y), 0, 2 * length
    return Relaxed(best, bound, step, price)


def _nearest(of: Rows, w: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """The s that is best by g(s) + σ/2 (s - w)²."""
    above = np.where(w > of.high, np.maximum(w - of.over / sigma, of.high), w)
    s = np.where(w < of.low, np.minimum(w + of.under / sigma, of.low), above)
    return np.clip(s, of.least, of.most)


def proof(cost: np.ndarray, lower: np.ndarray, upper: np.ndarray, of: Rows, At: csr_array, y: np.ndarray) -> float:
    """The bound that these multipliers prove."""
    y = np.where(np.isfinite(of.most), y, np.minimum(y, np.where(np.isfinite(of.high), of.over, 0.0)))
    y = np.where(np.isfinite(of.least), y, np.maximum(y, np.where(np.isfinite(of.low), -of.under, 0.0)))
    g = cost + At @ y
    columns = np.minimum(g * lower, g * upper)
    rows = np.full(len(y), np.inf)
    for end in (of.least, of.low, of.high, of.most):
        s = np.where(np.isfinite(end), end, 0.0)
        worth = of.over * np.maximum(s - of.high, 0.0) + of.under * np.maximum(of.low - s, 0.0) - y * s
        rows = np.where(np.isfinite(end), np.minimum(rows, worth), rows)
    total = float(columns.sum() + np.where(np.isfinite(rows), rows, 0.0).sum())
    return total - 1e-12 * float(np.abs(columns).sum() + np.abs(y).sum())
