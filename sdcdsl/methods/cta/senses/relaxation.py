"""How good any directions can be: the linear relaxation with cuts, and the bound its multipliers prove.

Rounds of cuts are added where they are violated, until none is or the time is up. The bound of every round is computed
from the multipliers alone,

    y_r ≥ 0 where a row is only bounded below, ≤ 0 above:    Σ y_r b_r + Σ_j min { (c - Aᵀy)_j x_j : l_j ≤ x_j ≤ u_j }

so that it holds whatever the solver's tolerances were. Ends that are open are replaced by those that any solution no
worse than the one known has to keep.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, Protocol

import highspy
import numpy as np

from sdcdsl.attack.leaves import size
from sdcdsl.methods.cta.senses.groups import Groups
from sdcdsl.methods.cta.senses.mip import Model, passed, timed
from sdcdsl.methods.nearest.solved import Cost, within
from sdcdsl.methods.result import Clock

VIOLATED = 1e-6  # in typical levels
SLOW = 1e-5  # of the bound: rounds that bring less are not worth their time


class Curved(Protocol):
    """A model whose objective is bent, and stands in it by tangents."""

    def tangents(self, x: np.ndarray) -> bool:
        """Adds those that x is below; False if there are none."""
        ...


class Relaxation:
    def __init__(self, model: Model, curved: Curved | None = None):
        self.model, self.curved = model, curved
        self.bound = -inf
        self.entries = np.zeros(0, dtype=np.int64)  # of `every`: the cuts
        self.tight = self.entries  # those without slack in the last round
        self._highs = passed(model.matrix, model.cost, (model.low, model.high), (model.row_low, model.row_high), 0)

    def run(self, clock: Clock, tell: Callable[[float], None] = lambda bound: None) -> bool:
        """True if no cut is missing any more, or further ones bring little."""
        while True:
            highs = self._highs
            timed(highs, clock)
            highs.run()
            if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                return False
            answer = highs.getSolution()
            before = self.bound
            self.bound = max(self.bound, self._proved(np.array(answer.row_dual)))
            tell(self.bound)
            slack = np.array(answer.row_value)[len(self.model.row_low) :] - self._least
            self.tight = self.entries[slack <= VIOLATED]
            x = np.array(answer.col_value)
            found = self._missing(x)
            bent = self.curved is not None and self.curved.tangents(x)
            if (not len(found) and not bent) or self.bound - before <= SLOW * abs(self.bound):
                return True
            if clock.over:
                return False
            self._add(found)
            if bent:
                self._renewed()

    def _renewed(self) -> None:
        """The model has more rows: all anew, but for the basis of the columns."""
        model = self.model
        matrix, rows = model.all(self.entries)
        self._highs = passed(matrix, model.cost, (model.low, model.high), rows, 0)

    @property
    def _least(self) -> np.ndarray:
        return self.model.cuts(self.entries)[1]

    def _missing(self, x: np.ndarray) -> np.ndarray:
        model, rows = self.model, self.model.groups.every
        r = np.abs(model.outside)
        r[model.free] = x[: model.n] + x[model.n : 2 * model.n]
        row = np.repeat(np.arange(size(rows)[0]), np.diff(rows.indptr))
        each = np.abs(rows.data) * r[rows.indices]
        off = 2 * each - np.bincount(row, each, size(rows)[0])[row]
        return np.setdiff1d(np.flatnonzero(off > VIOLATED), self.entries)

    def _add(self, entries: np.ndarray) -> None:
        cuts, least = self.model.cuts(entries)
        rows: Any = cuts
        self._highs.addRows(
            len(entries), least, np.full(len(entries), inf), rows.nnz, rows.indptr[:-1], rows.indices, rows.data
        )
        self.entries = np.concatenate([self.entries, entries])

    def _proved(self, y: np.ndarray) -> float:
        model = self.model
        if model.capped:
            return -inf
        matrix, (low, high) = model.all(self.entries)
        y = np.where(np.isinf(low), np.minimum(y, 0.0), np.where(np.isinf(high), np.maximum(y, 0.0), y))
        at = np.where(np.isinf(low), high, low)
        reduced = model.cost - matrix.T @ y
        with np.errstate(invalid="ignore"):
            ends = np.where(reduced > 0, model.low, np.where(reduced < 0, model.high, 0.0))
            total = float(np.where(y == 0.0, 0.0, y * at).sum() + np.where(ends == 0.0, 0.0, reduced * ends).sum())
        # The sums above are of numbers with rounding errors of their own.
        terms = float(np.abs(np.where(y == 0.0, 0.0, y * at)).sum())
        return total + model.rest - 1e-12 * terms if np.isfinite(total) else -inf


def worth_having(
    groups: Groups, prices: tuple[np.ndarray, np.ndarray], objective: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of D that every solution no worse than `objective` keeps: a group can cost no more than what the levels of
    the others leave of it."""
    c_down, c_up = prices
    s = groups.sensitive
    each = np.zeros(groups.count)
    each[s] = np.minimum(
        np.where(groups.open[:, 0], c_down[s] * groups.down[s], inf),
        np.where(groups.open[:, 1], c_up[s] * groups.up[s], inf),
    )
    left = (objective - each.sum()) * (1 + 1e-9) + 1e-9 * abs(objective)
    cost = Cost(c_down, c_up, np.zeros(groups.count))
    low, high = within(groups.matrix, cost, groups.low, groups.high, max(left, 0.0) + float(each.max(initial=0.0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        down = np.where(c_down > 0, (max(left, 0.0) + each) / c_down, inf)
        up = np.where(c_up > 0, (max(left, 0.0) + each) / c_up, inf)
    return np.maximum(low, -down), np.minimum(high, up)
