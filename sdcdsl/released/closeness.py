"""When a printed figure is the true value: the same, but for digits that the file does not print.

A figure with fewer decimals than the true values have stands for all values that round to it; half a unit of its last
digit then separates it from another value. A figure with as many decimals stands for itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.from_cells import ROUNDING
from sdcdsl.bind.problem import TableProblem

LAST_BITS = 1e-9  # of the value: what sums in floating point may differ by
MOST_DECIMALS = 8


@dataclass(frozen=True, eq=False)
class Closeness:
    decimals: int  # that the true values have; more than any file prints where they have no end
    within: np.ndarray  # per cell, whatever is printed

    def take(self, cells: np.ndarray) -> Closeness:
        return Closeness(self.decimals, self.within[cells])

    def printed(self, half: np.ndarray) -> np.ndarray:
        """Half a unit of the last printed digit, or nothing where all digits are printed."""
        return np.where(half < 0.6 * 10.0**-self.decimals, 0.0, half)

    def equal(self, truth: np.ndarray, figure: np.ndarray, half: np.ndarray | float = 0.0) -> np.ndarray:
        return np.abs(truth - figure) <= np.maximum(half, 0) * (1 + 1e-9) + self.within


def closeness(problem: TableProblem) -> Closeness:
    a = problem.dataset["a"].values
    rounded = any(t.rounded for t in problem.tables)  # totals that were replaced by the sum of their parts
    within = (ROUNDING if rounded else LAST_BITS) * np.abs(a) + LAST_BITS
    return Closeness(decimals_of(a[problem.dataset["published"].values]), within)


def decimals_of(a: np.ndarray) -> int:
    """Of the one with most; 99 where they have no end."""
    for digits in range(MOST_DECIMALS + 1):
        scaled = a * 10.0**digits
        if (np.abs(scaled - np.round(scaled)) <= np.minimum(1e-12 * np.abs(scaled) + 1e-7, 0.05)).all():
            return digits
    return 99
