"""Sums of whole numbers times given ones are multiples of what those are multiples of: a bound rises to the next."""

from __future__ import annotations

from math import ceil, isfinite

import numpy as np

STEPS = 10.0 ** np.arange(2, -7, -1)
NEAR = 1e-9  # of a step: a cost that is no further off is a multiple of it
NOISE = 1e-6  # of a step: what solvers' tolerances and rounding errors may add to a bound
MOST = 2.0**40  # steps


def step_of(cost: np.ndarray, whole: np.ndarray) -> float:
    """A number of which the cost of every solution is a multiple; 0 if there is none. `whole`: columns that are."""
    some = cost[cost != 0]
    if (cost[~whole] != 0).any() or not len(some):
        return 0.0
    for step in STEPS.tolist():
        times = some / step
        if (np.abs(times - np.round(times)) <= NEAR).all() and np.abs(times).max() < MOST:
            return step
    return 0.0


def common_step(values: np.ndarray) -> float:
    """The largest number of which all of these are multiples, as far as decimals tell; 0 if there is none."""
    some = np.abs(values[values != 0])
    if not len(some):
        return 0.0
    unit = float(some.min())
    times = some / unit
    if times.max() < MOST and (np.abs(times - np.round(times)) <= NEAR).all():
        return unit
    unit = step_of(some, np.ones(len(some), dtype=bool))
    return unit * int(np.gcd.reduce(np.round(some / unit).astype(np.int64))) if unit > 0 else 0.0


def on_grid(bound: float, step: float) -> float:
    """The least multiple that is not below the bound."""
    if step <= 0 or not isfinite(bound):
        return bound
    return max(step * ceil(bound / step - NOISE), bound)
